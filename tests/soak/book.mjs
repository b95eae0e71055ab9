/** Buckets of latencies: each is a tenth longer than the one before. */
const GROWTH = Math.log(1.1);

/** Beyond its own deadline a call may take this long on a busy machine before it counts as unanswered. */
const SLACK_MS = 60_000;

/** What was asked and what came of it, in bounded memory. */
export class Book {
  faults = [];
  #open = new Map();
  #next = 1;
  #outcomes = new Map();
  #latencies = new Map();
  #worst = new Map();
  #unanswered = 0;
  #inFlight = { samples: 0, sum: 0, least: Infinity };

  get inFlight() {
    return this.#open.size;
  }

  /** A call begins. @returns {number} its number here */
  begin(tool, patience_ms) {
    const number = this.#next;
    this.#next += 1;
    const began = performance.now();
    this.#open.set(number, { tool, began, due: began + patience_ms + SLACK_MS });
    return number;
  }

  isOpen(number) {
    return this.#open.has(number);
  }

  /** A call ended as it may: answered, or without an answer that was still wanted. */
  end(number, outcome) {
    const call = this.#open.get(number);
    if (!call) return this.fault(`a second end: ${outcome}`);
    this.#open.delete(number);
    const key = `${call.tool}\t${outcome}`;
    this.#outcomes.set(key, (this.#outcomes.get(key) ?? 0) + 1);
    if (outcome === "left" || outcome === "cancelled") return;
    const ms = performance.now() - call.began;
    const bucket = Math.ceil(Math.log(Math.max(ms, 0.1)) / GROWTH);
    const buckets = this.#latencies.get(call.tool) ?? new Map();
    this.#latencies.set(call.tool, buckets.set(bucket, (buckets.get(bucket) ?? 0) + 1));
    this.#worst.set(call.tool, Math.max(this.#worst.get(call.tool) ?? 0, ms));
  }

  /** Something that must not be. */
  fault(text) {
    if (this.faults.length < 50) this.faults.push(text);
  }

  /** Looks for calls that nobody answers any more. */
  look() {
    const now = performance.now();
    this.#inFlight.samples += 1;
    this.#inFlight.sum += this.#open.size;
    this.#inFlight.least = Math.min(this.#inFlight.least, this.#open.size);
    for (const [number, call] of this.#open) if (call.due < now) this.#lose(number, call);
  }

  /** At the end: whatever is open is unanswered. */
  close() {
    for (const [number, call] of this.#open) this.#lose(number, call);
  }

  #lose(number, call) {
    this.#open.delete(number);
    this.#unanswered += 1;
    this.fault(`${call.tool} was not answered`);
  }

  get report() {
    const { samples, sum, least } = this.#inFlight;
    const outcomes = {};
    let calls = 0;
    for (const [key, count] of [...this.#outcomes].sort()) {
      const [tool, outcome] = key.split("\t");
      (outcomes[tool] ??= {})[outcome] = count;
      calls += count;
    }
    const latencies = {};
    for (const [tool, buckets] of [...this.#latencies].sort()) latencies[tool] = this.#percentiles(tool, buckets);
    return {
      calls,
      unanswered: this.#unanswered,
      in_flight: { mean: Math.round(sum / samples), least },
      outcomes,
      latency_ms: latencies,
      faults: this.faults,
    };
  }

  #percentiles(tool, buckets) {
    const sorted = [...buckets].sort(([a], [b]) => a - b);
    const total = sorted.reduce((all, [, count]) => all + count, 0);
    const at = (share) => {
      let rest = Math.ceil(total * share);
      const [bucket] = sorted.find(([, count]) => (rest -= count) <= 0);
      return Number(Math.exp(bucket * GROWTH).toPrecision(3));
    };
    return { calls: total, p50: at(0.5), p90: at(0.9), p99: at(0.99), most: Math.round(this.#worst.get(tool)) };
  }
}
