/** Where the gateway takes tasks, and under which name it is reached here. */
export const GATEWAY_HOST = "gateway.test";
const PATH = "/a2a";

/** What is asked for, by how. */
const METHODS = {
  stream: "SendStreamingMessage",
  wait: "SendMessage",
  later: "SendMessage",
  watch: "SubscribeToTask",
  read: "GetTask",
  cancel: "CancelTask",
};

/**
 * An agent from elsewhere that sends tasks to the gateway: an A2A 1.0 client over JSON-RPC.
 *
 * @typedef {"stream" | "wait" | "later" | "watch" | "read" | "cancel"} How
 */
export class Visitor {
  /** the requests that have no whole answer yet, with how they were made */
  open = new Map();
  #count = 0;
  #messages = 0;
  #input;
  #after;

  /** @param {{ input: (input: object) => void, after: (run: () => void) => void }} options */
  constructor({ input, after }) {
    this.#input = input;
    this.#after = after;
  }

  /**
   * Sends a message: a new task, or one more word about one.
   *
   * @param {{ how: How, text: string, task?: string }} what
   * @returns {number} the request
   */
  send({ how, text, task }) {
    this.#messages += 1;
    const message = { messageId: `visitor-${this.#messages}`, role: "ROLE_USER", parts: [{ text }], ...(task && { taskId: task }) };
    const configuration = how === "later" ? { configuration: { returnImmediately: true } } : {};
    return this.#ask(how, { message, ...configuration });
  }

  /** Asks something about a task. @param {{ how: How, task: string }} what @returns {number} the request */
  ask({ how, task }) {
    return this.#ask(how, { id: task });
  }

  /** Leaves without waiting for the answer. @param {number} request */
  leave(request) {
    if (this.open.delete(request)) this.#input({ type: "request_gone", request });
  }

  /** What the gateway says. @param {{ type: string, request: number }} output */
  hear({ type, request }) {
    if (type === "response_end") this.open.delete(request);
  }

  #ask(how, params) {
    const request = (this.#count += 1);
    const method = METHODS[how];
    const body = JSON.stringify({ jsonrpc: "2.0", id: request, method, params });
    const headers = [
      ["Host", GATEWAY_HOST],
      ["Content-Type", "application/json"],
      ["Accept", "application/json, text/event-stream"],
      ["A2A-Version", "1.0"],
    ];
    this.open.set(request, how);
    this.#after(() => {
      if (!this.open.has(request)) return;
      this.#input({ type: "request", request, method: "POST", target: PATH, headers });
      this.#input({ type: "request_body", request, text: body });
      this.#input({ type: "request_end", request });
    });
    return request;
  }
}
