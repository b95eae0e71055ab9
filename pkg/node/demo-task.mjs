import { randomUUID } from "node:crypto";

/** States in which a task takes nothing more (A2A 1.0 §4.1.3). */
const TERMINAL = new Set(["TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_REJECTED"]);

/** A task of the example agent, in the A2A 1.0 form, with those who follow it. */
export class DemoTask {
  id = randomUUID();
  contextId;
  #status = { state: "TASK_STATE_SUBMITTED", timestamp: new Date().toISOString() };
  #artifacts = [];
  #history = [];
  #followers = new Set();
  #work = new AbortController();

  /** @param {string | undefined} contextId */
  constructor(contextId) {
    this.contextId = contextId ?? randomUUID();
  }

  get state() {
    return this.#status.state;
  }

  get isTerminal() {
    return TERMINAL.has(this.state);
  }

  /** Whether it waits for its user. */
  get isInterrupted() {
    return this.state === "TASK_STATE_INPUT_REQUIRED";
  }

  /** Aborted when the task is canceled. */
  get signal() {
    return this.#work.signal;
  }

  /** The task as it is sent. */
  get snapshot() {
    return { id: this.id, contextId: this.contextId, status: this.#status, artifacts: this.#artifacts, history: this.#history };
  }

  /** A message of the user. @param {object} message */
  receive(message) {
    this.#history.push({ ...message, taskId: this.id, contextId: this.contextId });
  }

  /** A new state, with words about it. @param {string} state without its prefix @param {string} [text] */
  become(state, text) {
    if (this.isTerminal) return;
    const message = {
      messageId: randomUUID(),
      role: "ROLE_AGENT",
      taskId: this.id,
      contextId: this.contextId,
      parts: [{ text }],
    };
    this.#status = { state: `TASK_STATE_${state}`, timestamp: new Date().toISOString(), ...(text !== undefined && { message }) };
    this.#tell({ statusUpdate: { taskId: this.id, contextId: this.contextId, status: this.#status } });
  }

  /** More text of an artifact. @param {string} artifactId @param {string} text @param {boolean} lastChunk */
  write(artifactId, text, lastChunk) {
    if (this.isTerminal) return;
    const parts = [{ text }];
    const known = this.#artifacts.find((artifact) => artifact.artifactId === artifactId);
    if (known) known.parts.push(...parts);
    else this.#artifacts.push({ artifactId, parts: [...parts] });
    this.#tell({
      artifactUpdate: {
        taskId: this.id,
        contextId: this.contextId,
        artifact: { artifactId, parts },
        append: known !== undefined,
        lastChunk,
      },
    });
  }

  /** Stops the work. */
  cancel() {
    this.become("CANCELED", "Called off.");
    this.#work.abort();
  }

  /**
   * Hands on every event from now on, until the returned function is called.
   * @param {(event: object) => void} take
   */
  follow(take) {
    this.#followers.add(take);
    return () => this.#followers.delete(take);
  }

  /** Settles when the task ends or waits for its user. */
  async settled() {
    if (this.isTerminal || this.isInterrupted) return;
    await new Promise((resolve) => {
      const leave = this.follow(() => {
        if (!this.isTerminal && !this.isInterrupted) return;
        leave();
        resolve();
      });
    });
  }

  #tell(event) {
    for (const take of [...this.#followers]) take(event);
  }
}
