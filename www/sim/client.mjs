/** The revision of MCP that the pretend client speaks. */
export const REVISION = "2025-11-25";

/** The code of an answer that never came. JSON-RPC has none for it. */
export const LOST = 0;

/**
 * @typedef {object} Call a tool call, as the client sees it
 * @property {number} id
 * @property {string} tool
 * @property {object} arguments
 * @property {number} sent_at
 * @property {number} [ended_at]
 * @property {"running" | "done" | "failed" | "canceled"} state
 * @property {string[]} progress what was reported on the way
 * @property {string} [raw] the answer's bytes
 * @property {object} [result]
 * @property {boolean} byUser whether a person asked for it
 */

/** A small MCP client: it shakes hands, lists the tools and calls them. */
export class Client {
  tools = [];
  server;
  calls = new Map();
  #send;
  #now;
  #onReady;
  #lastId = 0;
  #waiting = new Map();

  /** @param {{ send: (text: string) => void, now: () => number, onReady?: () => void }} options */
  constructor({ send, now, onReady = () => {} }) {
    this.#send = send;
    this.#now = now;
    this.#onReady = onReady;
  }

  start() {
    const clientInfo = { name: "narrows-page", version: "1" };
    this.#ask("initialize", { protocolVersion: REVISION, capabilities: {}, clientInfo }, ({ result }) => {
      if (!result) return;
      this.server = result.serverInfo;
      this.#say({ jsonrpc: "2.0", method: "notifications/initialized" });
      this.#list(() => this.#onReady());
    });
  }

  #list(then = () => {}) {
    this.#ask("tools/list", {}, ({ result }) => {
      if (!result) return;
      this.tools = result.tools ?? [];
      then();
    });
  }

  /**
   * Calls a tool.
   *
   * @param {string} tool
   * @param {object} args
   * @param {{ byUser?: boolean, onEnd?: () => void }} [options]
   * @returns {Call}
   */
  call(tool, args, { byUser = true, onEnd = () => {} } = {}) {
    const id = this.#lastId + 1;
    const call = { id, tool, arguments: args, sent_at: this.#now(), state: "running", progress: [], byUser };
    this.calls.set(id, call);
    this.#ask("tools/call", { name: tool, arguments: args, _meta: { progressToken: id } }, (answer, raw) => {
      this.#end(call, answer, raw);
      onEnd();
    });
    return call;
  }

  /** Gives up on a call. @param {number} id */
  cancel(id) {
    const call = this.calls.get(id);
    if (call?.state !== "running") return;
    call.state = "canceled";
    call.ended_at = this.#now();
    this.#waiting.delete(id);
    this.#say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason: "The person changed their mind." } });
  }

  /** Sends a text as it is. @param {string} text */
  raw(text) {
    const message = readJson(text);
    if (typeof message?.id === "number") this.#lastId = Math.max(this.#lastId, message.id);
    if (message?.method === "tools/call" && message.id !== undefined) this.#adopt(message);
    this.#send(text);
  }

  /** What the gateway says. @param {string} text */
  receive(text) {
    const message = readJson(text);
    if (message === undefined) return;
    if (message.method === "notifications/progress") {
      const call = this.calls.get(message.params?.progressToken);
      if (call) call.progress.push(message.params.message ?? `step ${message.params.progress}`);
    } else if (message.method === "notifications/tools/list_changed") {
      this.#list();
    } else if (message.id !== undefined && message.method === undefined) {
      const take = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      take?.(message, text);
    }
  }

  /** Every call that runs ends: the way to the gateway is gone. @param {string} why */
  lose(why) {
    for (const [id, take] of [...this.#waiting]) {
      this.#waiting.delete(id);
      take({ id, error: { code: LOST, message: why } }, "");
    }
  }

  /** A call that was written by hand is a call like any other. */
  #adopt({ id, params }) {
    const call = {
      id,
      tool: String(params?.name),
      arguments: Object(params?.arguments),
      sent_at: this.#now(),
      state: "running",
      progress: [],
      byUser: true,
    };
    this.calls.set(id, call);
    this.#waiting.set(id, (answer, raw) => this.#end(call, answer, raw));
  }

  #end(call, { result, error }, raw) {
    call.raw = raw;
    call.ended_at = this.#now();
    call.result = result ?? { isError: true, content: [{ type: "text", text: error?.message }], error };
    call.state = call.result.isError ? "failed" : "done";
  }

  #ask(method, params, take) {
    const id = (this.#lastId += 1);
    this.#waiting.set(id, take);
    this.#say({ jsonrpc: "2.0", id, method, params });
  }

  #say(message) {
    this.#send(JSON.stringify(message));
  }
}

function readJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
