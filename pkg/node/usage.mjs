/** What the person who started the command got wrong, in one sentence. */
export class UsageError extends Error {}

/** Why the system refused: Node's message without the code before it and the call behind it. @param {Error} error */
export function reason({ message }) {
  return message.replace(/^(?:[a-z]+ )?E[A-Z0-9]+: /, "").replace(/, [a-z]+ '.*$/s, "");
}
