// A core in this process, driven as a host does: text in, all outputs done.
import { Core } from "../../pkg/node.mjs";

export const card = (url, streaming) => ({
  name: "Echo",
  description: "Answers at once.",
  version: "1.0.0",
  supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  capabilities: { streaming },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "echo", name: "Echo", description: "Repeats.", tags: ["echo"] }],
});

const now = () => Math.floor(performance.now());

/** What an input leaves to do. */
const OUTPUTS = 1;
const TIMEOUT = 2;

export class Gateway {
  core = new Core({ seed: new Uint8Array(32), now: now(), unixMs: 1_800_000_000_000 });
  #nextId = 1;

  constructor() {
    this.input({ type: "open", peer: 1, scope: "stdio" });
    const clientInfo = { name: "bench", version: "1" };
    this.ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    this.core.message(now(), 1, JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }));
  }

  input(value) {
    this.core.input(now(), JSON.stringify(value));
  }

  /** A request, and what comes out of it. */
  ask(method, params) {
    return this.message(JSON.stringify({ jsonrpc: "2.0", id: this.#nextId++, method, params }));
  }

  tool(name, args) {
    return this.ask("tools/call", { name, arguments: args });
  }

  message(text) {
    return this.outputs(this.core.message(now(), 1, text));
  }

  body(exchange, bytes) {
    return this.outputs(this.core.body(now(), exchange, bytes));
  }

  head(exchange, type) {
    this.input({ type: "head", exchange, status: 200, headers: [["Content-Type", type]] });
  }

  /** What is to be done after an input. */
  outputs(todo = OUTPUTS) {
    const seen = [];
    if (todo & TIMEOUT) this.core.timeout();
    if (!(todo & OUTPUTS)) return seen;
    for (let next = this.core.next(); next !== undefined; next = this.core.next()) {
      seen.push(typeof next === "string" ? JSON.parse(next) : { type: "message", peer: next[0], text: next[2] });
    }
    return seen;
  }

  /** Connects an agent and gives it its card. */
  connect(alias, url, streaming) {
    const [{ exchange }] = this.tool("connect_agent", { alias, agent_url: url }).filter(({ type }) => type === "fetch");
    this.head(exchange, "application/json");
    this.body(exchange, Buffer.from(JSON.stringify(card(url, streaming))));
    this.input({ type: "end", exchange });
    return this.outputs();
  }
}
