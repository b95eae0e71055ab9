import { Lines } from "../../pkg/node/lines.mjs";
import { Scope, outcome } from "./calls.mjs";

const MESSAGE_BYTES = 64 << 20;

/** One client over stdio. */
export class StdioClient {
  #child;
  #book;
  #chance;
  #scope;
  #pending = new Map();
  #dropped = new Map();
  #pings = new Map();
  #id = 0;

  constructor(child, world, book, chance) {
    Object.assign(this, { name: "stdio" });
    this.#child = child;
    this.#book = book;
    this.#chance = chance;
    this.#scope = new Scope(world, book, chance);
    const lines = new Lines(MESSAGE_BYTES, (text) => this.#take(JSON.parse(text)), () => book.fault("a line without end"));
    child.stdout.on("data", (chunk) => lines.push(chunk));
    child.stdin.on("error", () => {});
  }

  async begin() {
    const clientInfo = { name: "soak", version: "1" };
    await this.#request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    this.#write({ method: "notifications/initialized" });
    for (const call of this.#scope.furnish()) this.#start(call);
  }

  /** Begins a call by chance, which may be given up on the way. */
  one() {
    const call = this.#scope.any();
    const id = this.#start(call);
    if (!call.kept && this.#chance.oneIn(10)) setTimeout(() => this.#cancel(id), this.#chance.between(0, 1500));
  }

  /** Gives up whatever waits for an agent. */
  giveUp() {
    for (const [id, { patience_ms }] of this.#pending) if (patience_ms > 0) this.#cancel(id);
  }

  /** Reads what is still in the inbox, until it has everything that was dispatched. */
  async finish(patience_ms) {
    const deadline = performance.now() + patience_ms;
    while (this.#scope.dispatched.size > 0 && performance.now() < deadline) {
      for (const alias of new Set(this.#scope.dispatched.values())) await this.#call(this.#scope.reading(alias));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    for (const [id, alias] of this.#scope.dispatched) this.#book.fault(`the outcome of ${id} at ${alias} never came`);
  }

  /** Leaves with calls in flight, none of which gets an answer. */
  async leave() {
    for (let count = 0; count < 20; count += 1) this.#start(this.#scope.any());
    this.#child.stdin.end();
  }

  /** Counts what had no answer when the gateway ended. */
  left() {
    for (const { number } of this.#pending.values()) this.#book.end(number, "left");
    this.#pending.clear();
  }

  #write(message) {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  #request(method, params) {
    const id = (this.#id += 1);
    this.#write({ id, method, params });
    return new Promise((resolve) => this.#pings.set(id, resolve));
  }

  #call(call) {
    return new Promise((resolve) => this.#start({ ...call, done: resolve }));
  }

  #start(call) {
    const id = (this.#id += 1);
    const meta = call.progress ? { _meta: { progressToken: id } } : {};
    this.#pending.set(id, { ...call, number: this.#book.begin(call.tool, call.patience_ms), progressed: -1 });
    this.#write({ id, method: "tools/call", params: { name: call.tool.split(" ")[0], arguments: call.args, ...meta } });
    return id;
  }

  /** Gives a call up. Everything that the gateway said before it knew has come when a ping after it is answered. */
  async #cancel(id) {
    if (!this.#pending.has(id)) return;
    this.#write({ method: "notifications/cancelled", params: { requestId: id, reason: "enough" } });
    await this.#request("ping", {});
    const call = this.#pending.get(id);
    if (!call) return;
    this.#pending.delete(id);
    this.#book.end(call.number, "cancelled");
    this.#dropped.set(id, call.tool);
    if (this.#dropped.size > 1000) this.#dropped.delete(this.#dropped.keys().next().value);
  }

  #take(message) {
    if (message.method === "notifications/progress") return this.#progressed(message.params);
    if (message.method !== undefined) return;
    const pinged = this.#pings.get(message.id);
    if (pinged) {
      this.#pings.delete(message.id);
      return pinged(message.result);
    }
    const call = this.#pending.get(message.id);
    if (!call) return this.#book.fault(`an answer to ${this.#dropped.get(message.id) ?? "nothing"} that nobody waits for`);
    this.#pending.delete(message.id);
    this.#book.end(call.number, outcome(message));
    call.then?.(message.result?.structuredContent ?? {}, message.result?.isError);
    call.done?.();
  }

  #progressed({ progressToken, progress }) {
    const call = this.#pending.get(progressToken);
    if (!call) return this.#book.fault("progress of a call that has ended");
    if (progress <= call.progressed) this.#book.fault("progress that does not rise");
    call.progressed = progress;
  }
}
