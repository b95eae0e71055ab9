const TERMINAL = new Set(["COMPLETED", "FAILED", "CANCELED", "REJECTED"]);

/** A task of a pretend agent, in the A2A 1.0 form, with those who follow it. */
export class Task {
  artifacts = [];
  #history = [];
  #followers = new Set();

  /** @param {{ id: string, contextId: string, stamp: () => string }} options */
  constructor({ id, contextId, stamp }) {
    Object.assign(this, { id, contextId, stamp, state: "SUBMITTED", words: undefined, messages: 0 });
  }

  get isTerminal() {
    return TERMINAL.has(this.state);
  }

  get isInterrupted() {
    return this.state === "INPUT_REQUIRED";
  }

  get status() {
    const message = this.words === undefined ? {} : { message: this.#message() };
    return { state: `TASK_STATE_${this.state}`, ...message, timestamp: this.stamp() };
  }

  get snapshot() {
    return { id: this.id, contextId: this.contextId, status: this.status, artifacts: this.artifacts, history: this.#history };
  }

  /** A message of the user. @param {object} message */
  receive(message) {
    this.#history.push({ ...message, taskId: this.id, contextId: this.contextId });
  }

  /** A new state, with words about it. @param {string} state @param {string} [words] */
  become(state, words) {
    if (this.isTerminal) return;
    this.state = state;
    this.words = words;
    this.messages += 1;
    this.#tell({ statusUpdate: { taskId: this.id, contextId: this.contextId, status: this.status } });
  }

  /** A part of an artifact. @param {string} artifactId @param {object} part @param {boolean} lastChunk */
  write(artifactId, part, lastChunk) {
    if (this.isTerminal) return;
    const known = this.artifacts.find((artifact) => artifact.artifactId === artifactId);
    if (known) known.parts.push(part);
    else this.artifacts.push({ artifactId, parts: [part] });
    const artifact = { artifactId, parts: [part] };
    this.#tell({
      artifactUpdate: { taskId: this.id, contextId: this.contextId, artifact, append: known !== undefined, lastChunk },
    });
  }

  /** Hands on every event from now on, until the returned function is called. @param {(event: object) => void} take */
  follow(take) {
    this.#followers.add(take);
    return () => this.#followers.delete(take);
  }

  #message() {
    const messageId = `${this.id}-m${this.messages}`;
    return { messageId, role: "ROLE_AGENT", taskId: this.id, contextId: this.contextId, parts: [{ text: this.words }] };
  }

  #tell(event) {
    for (const take of [...this.#followers]) take(event);
  }
}

/** The same in the 0.3 form, whose names are in kebab case and whose objects say their kind. @param {Task} task */
export function asVersion03(task) {
  const { status, ...rest } = task.snapshot;
  const message = (given) => ({
    kind: "message",
    messageId: given.messageId,
    role: given.role === "ROLE_AGENT" || given.role === "agent" ? "agent" : "user",
    parts: given.parts.map((part) => ("text" in part ? { kind: "text", text: part.text } : part)),
    taskId: task.id,
    contextId: task.contextId,
  });
  return {
    kind: "task",
    id: rest.id,
    contextId: rest.contextId,
    status: {
      state: task.state.toLowerCase().replaceAll("_", "-"),
      timestamp: status.timestamp,
      ...(status.message && { message: message(status.message) }),
    },
    history: rest.history.map(message),
  };
}
