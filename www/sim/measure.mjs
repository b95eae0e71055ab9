import { Core } from "../core.mjs";
import { Plain } from "./baseline.mjs";

/** How long each row is measured, and for how long at a stretch. */
const ROW_MS = 600;
const SLICE_MS = 40;

const CARD = {
  name: "Bench",
  version: "1",
  supportedInterfaces: [{ url: "https://bench.test/", protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  capabilities: {},
  skills: [],
};
const REPLY = {
  message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "The answer of an agent, about as long as a sentence." }] },
};
const HEAD = { status: 200, headers: [["content-type", "application/json"]] };

const encoder = new TextEncoder();
const call = (id, name, args) => JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } });
const bytesOf = (id) => encoder.encode(JSON.stringify({ jsonrpc: "2.0", id, result: REPLY }));

/** A gateway with one agent, driven without a network. */
class Gateway {
  #core = new Core({ seed: crypto.getRandomValues(new Uint8Array(32)), now: 0, unixMs: Date.now() });
  #now = 0;

  constructor() {
    this.#core.input(0, JSON.stringify({ type: "open", peer: 1, scope: "measure" }));
    const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "measure", version: "1" } };
    this.#message(JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params: initialize }));
    this.#message(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }));
    const { exchange } = this.#fetch(this.#message(call(1, "connect_agent", { alias: "bench", agent_url: "https://bench.test/" })));
    this.#reply(exchange, encoder.encode(JSON.stringify(CARD)));
  }

  list(id) {
    return this.#message(call(id, "list_agents", {}));
  }

  send(id) {
    const { exchange, body } = this.#fetch(this.#message(call(id, "send_message", { agent: "bench", message: "hello" })));
    return this.#reply(exchange, bytesOf(JSON.parse(body).id));
  }

  dispose() {
    this.#core.free();
  }

  #message(text) {
    this.#core.message((this.#now += 1), 1, text);
    return this.#drain();
  }

  #reply(exchange, bytes) {
    this.#core.input(this.#now, JSON.stringify({ type: "head", exchange, ...HEAD }));
    this.#core.body(this.#now, exchange, bytes);
    this.#core.input(this.#now, JSON.stringify({ type: "end", exchange }));
    return this.#drain();
  }

  #drain() {
    const outputs = [];
    for (let output; (output = this.#core.next()) !== undefined; ) outputs.push(output);
    return outputs;
  }

  #fetch(outputs) {
    return JSON.parse(outputs.find((output) => typeof output === "string" && output.startsWith('{"type":"fetch"')));
  }
}

/** The baseline, asked the same. */
class Baseline {
  #plain = new Plain();

  constructor() {
    this.#plain.connect("bench", "https://bench.test/");
  }

  list(id) {
    return this.#plain.message(call(id, "list_agents", {}));
  }

  send(id) {
    const { exchange, body } = JSON.parse(this.#plain.message(call(id, "send_message", { agent: "bench", message: "hello" })));
    this.#plain.body(exchange, bytesOf(JSON.parse(body).id));
    return this.#plain.end(exchange);
  }

  dispose() {}
}

/** What is measured. */
export const ROWS = [
  { task: "list", what: "List the agents", who: "gateway" },
  { task: "list", what: "List the agents", who: "plain" },
  { task: "send", what: "A whole send: message, request, answer", who: "gateway" },
  { task: "send", what: "A whole send: message, request, answer", who: "plain" },
];

/**
 * Measures a row, in slices between which the page can breathe.
 *
 * @param {{ task: "list" | "send", who: "gateway" | "plain" }} row
 * @returns {Promise<number>} rounds a second
 */
export async function measure({ task, who }) {
  const subject = who === "gateway" ? new Gateway() : new Baseline();
  let rounds = 0;
  let spent_ms = 0;
  try {
    for (let id = 2; id < 200; id += 1) subject[task](id); // warm
    while (spent_ms < ROW_MS) {
      const began = performance.now();
      let now = began;
      while (now - began < SLICE_MS) {
        for (let i = 0; i < 20; i += 1) subject[task](200 + (rounds += 1));
        now = performance.now();
      }
      spent_ms += now - began;
      await new Promise((resolve) => setTimeout(resolve));
    }
  } finally {
    subject.dispose();
  }
  return (rounds / spent_ms) * 1000;
}

/** The size of bytes under gzip, as this browser packs them. @param {Uint8Array} bytes @returns {Promise<number>} */
export async function gzipSize(bytes) {
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return (await new Response(packed).arrayBuffer()).byteLength;
}
