/**
 * The same rounds in plain JavaScript: parse, look up, write. No schema is checked, no limit kept, no deadline, no
 * conversation, no other dialect, and nothing is redacted. It is there to measure against, not to be used.
 */
export class Plain {
  #agents = new Map();
  #waiting = new Map();
  #exchanges = 0;

  connect(alias, url) {
    this.#agents.set(alias, { alias, url, health: "unknown", rate_limit: "unlimited" });
  }

  /** A message from the client. @param {string} text @returns {string | [number, undefined, string]} a request to make, or the answer */
  message(text) {
    const { id, params } = JSON.parse(text);
    const { name, arguments: args } = params;
    if (name === "list_agents") {
      const agents = [...this.#agents.values()];
      return this.#answer(id, agents.map(({ alias, url }) => `${alias}: ${url}`).join("\n"), { agents });
    }
    const agent = this.#agents.get(args.agent);
    const exchange = (this.#exchanges += 1);
    this.#waiting.set(exchange, { id, chunks: [] });
    const message = { messageId: crypto.randomUUID?.() ?? String(Math.random()), role: "ROLE_USER", parts: [{ text: args.message }] };
    const body = JSON.stringify({ jsonrpc: "2.0", id: exchange, method: "SendMessage", params: { message } });
    const headers = [
      ["Content-Type", "application/json"],
      ["Accept", "application/json"],
      ["A2A-Version", "1.0"],
    ];
    return JSON.stringify({ type: "fetch", exchange, method: "POST", url: agent.url, headers, body });
  }

  /** Some of an agent's answer. @param {number} exchange @param {Uint8Array} bytes */
  body(exchange, bytes) {
    this.#waiting.get(exchange).chunks.push(bytes);
  }

  /** Its end. @param {number} exchange @returns {[number, undefined, string]} the client's answer */
  end(exchange) {
    const { id, chunks } = this.#waiting.get(exchange);
    this.#waiting.delete(exchange);
    const decoder = new TextDecoder();
    const text = chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("");
    const { message } = JSON.parse(text).result;
    return this.#answer(id, message.parts.map((part) => part.text).join("\n"), { message });
  }

  #answer(id, text, structuredContent) {
    const result = { content: [{ type: "text", text }], structuredContent };
    return [1, undefined, JSON.stringify({ jsonrpc: "2.0", id, result })];
  }
}
