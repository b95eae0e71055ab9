import { GatewayError, checkFunctions, checkOptions } from "./error.mjs";
import { textOf } from "./json-text.mjs";

/** What every request carries in its `_meta` (MCP 2026-07-28, which has no handshake). */
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "narrows", version: "0" },
};

/** JSON-RPC 2.0 §5.1 */
const INVALID_PARAMS = -32602;

/** The messages that results came in. */
const messages = new WeakMap();

/** The text of the structured content of a result of a tool. @param {object} result one that a client gave */
export const structuredText = (result) => textOf(messages.get(result), ["result", "structuredContent"]);

/** The gateway's own MCP client, for calls that are made by method. */
export class Client {
  #send;
  #waiting = new Map();
  #next = 1;

  /** @param {(text: string) => void} send */
  constructor(send) {
    this.#send = send;
  }

  /**
   * Asks, and gives the result.
   *
   * @param {string} method
   * @param {object} params
   * @param {{ signal?: AbortSignal, onProgress?: (progress: object) => void }} [options]
   * @returns {Promise<object>} rejects with a GatewayError, or with the signal's reason
   */
  async request(method, params, options) {
    const { signal, onProgress } = checkOptions(options, ["signal", "onProgress"], "a call");
    checkFunctions({ onProgress }, ["onProgress"]);
    if (signal !== undefined && typeof signal?.throwIfAborted !== "function") {
      throw new GatewayError("misuse", "`signal` must be an AbortSignal");
    }
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const id = this.#next;
      const _meta = onProgress ? { ...META, progressToken: id } : META;
      const text = written({ jsonrpc: "2.0", id, method, params: { ...params, _meta } });
      this.#next += 1;
      const aborted = () => {
        this.#waiting.delete(id);
        this.#send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, _meta: META } }));
        reject(signal.reason);
      };
      const settle = (done) => (value) => {
        this.#waiting.delete(id);
        signal?.removeEventListener("abort", aborted);
        done(value);
      };
      this.#waiting.set(id, { resolve: settle(resolve), reject: settle(reject), onProgress });
      signal?.addEventListener("abort", aborted, { once: true });
      this.#send(text);
    });
  }

  /** A message from the gateway. @param {string} text */
  take(text) {
    const { id, method, params, result, error } = JSON.parse(text);
    if (method === "notifications/progress") {
      const { progressToken, progress, total, message } = params;
      this.#waiting.get(progressToken)?.onProgress?.({ progress, ...(total !== undefined && { total }), ...(message !== undefined && { message }) });
      return;
    }
    const waiting = method === undefined ? this.#waiting.get(id) : undefined;
    if (error) waiting?.reject(new GatewayError(error.code === INVALID_PARAMS ? "invalid_argument" : "internal", error.message));
    else if (waiting) {
      messages.set(result, text);
      waiting.resolve(result);
    }
  }

  /** No answer will come any more. @param {GatewayError} error */
  end(error) {
    for (const { reject } of [...this.#waiting.values()]) reject(error);
  }
}

function written(message) {
  try {
    return JSON.stringify(message);
  } catch (error) {
    throw new GatewayError("invalid_argument", `the arguments have no form in JSON: ${error.message}`, { cause: error });
  }
}
