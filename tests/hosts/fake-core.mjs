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
  #told = undefined;
  #react;

  constructor(react = () => {}) {
    this.#react = react;
  }

  /** Queues outputs. */
  say(...outputs) {
    this.#outputs.push(...outputs);
  }

  /** The inputs of a type. */
  told(type) {
    return this.inputs.filter((input) => input.type === type);
  }

  input(now, json) {
    return this.#take(now, JSON.parse(json));
  }

  message(now, peer, text) {
    return this.#take(now, { type: "message", peer, text });
  }

  body(now, exchange, bytes) {
    return this.#take(now, { type: "body", exchange, text: Buffer.from(bytes).toString("utf8") });
  }

  requestBody(now, request, bytes) {
    return this.#take(now, { type: "request_body", request, text: Buffer.from(bytes).toString("utf8") });
  }

  next() {
    this.#alive();
    const output = this.#outputs.shift();
    switch (output?.type) {
      case undefined:
        return undefined;
      case "message":
        return [output.peer, undefined, output.text];
      case "response_body":
        return [undefined, output.request, output.text];
      default:
        return JSON.stringify(output);
    }
  }

  timeout() {
    this.#alive();
    this.#told = this.deadline;
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
    return (this.#outputs.length > 0 ? 1 : 0) + (this.deadline === this.#told ? 0 : 2);
  }

  #alive() {
    if (this.dead !== undefined || this.freed) throw new Error("the core is gone");
  }
}
