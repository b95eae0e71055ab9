/**
 * Stands in for the core: records what it is told and says what a test scripts.
 *
 * `react(input, core)` runs at each input, and may call `say`, set `deadline` or throw.
 */
export class FakeCore {
  inputs = [];
  deadline = undefined;
  dead = undefined;
  freed = false;
  tracing = false;
  traceLines = [];
  #outputs = [];
  #react;

  constructor(react = () => {}) {
    this.#react = react;
  }

  /** Queues outputs. */
  say(...outputs) {
    this.#outputs.push(...outputs.map((output) => JSON.stringify(output)));
  }

  /** The inputs of a type. */
  told(type) {
    return this.inputs.filter((input) => input.type === type);
  }

  input(now, json) {
    this.#take(now, JSON.parse(json));
  }

  message(now, peer, text) {
    this.#take(now, { type: "message", peer, text });
  }

  body(now, exchange, bytes) {
    this.#take(now, { type: "body", exchange, text: Buffer.from(bytes).toString("utf8") });
  }

  requestBody(now, request, bytes) {
    this.#take(now, { type: "request_body", request, text: Buffer.from(bytes).toString("utf8") });
  }

  output() {
    this.#alive();
    return this.#outputs.shift();
  }

  timeout() {
    this.#alive();
    return this.deadline === undefined ? undefined : JSON.stringify({ at: this.deadline, reason: "poll" });
  }

  trace(on) {
    this.tracing = on;
  }

  traceLine() {
    return this.traceLines.shift();
  }

  free() {
    this.freed = true;
  }

  #take(now, input) {
    this.#alive();
    this.inputs.push({ now, ...input });
    if (this.tracing) this.traceLines.push(JSON.stringify({ now, input: input.type }));
    this.#react(input, this);
  }

  #alive() {
    if (this.dead !== undefined || this.freed) throw new Error("the core is gone");
  }
}
