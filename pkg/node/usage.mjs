/** What the person who started the command got wrong, in one sentence. */
export class UsageError extends Error {}
