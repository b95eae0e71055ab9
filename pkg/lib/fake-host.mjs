/** How many turns of the event loop a settled world may take to say so. */
const TURNS = 5;

/**
 * A world under a test's control: a clock that moves when it is told to, chance that repeats, and a fetch that answers
 * as the test says.
 */
export class FakeHost {
  /** The requests so far. */
  requests = [];
  #now = 0;
  #unix_ms;
  #state;
  #timers = new Set();
  #answer;

  /** @param {{ answer?: (request: object) => unknown, unixMs?: number, seed?: number }} [options] */
  constructor({ answer = () => ({ status: 404 }), unixMs = Date.UTC(2026, 0, 1), seed = 1 } = {}) {
    this.#answer = answer;
    this.#unix_ms = unixMs;
    this.#state = seed >>> 0 || 1;
    for (const name of ["fetch", "now", "unixNow", "random", "setTimer"]) this[name] = this[name].bind(this);
  }

  now() {
    return this.#now;
  }

  unixNow() {
    return this.#unix_ms + this.#now;
  }

  /** Xorshift: the same seed gives the same bytes. */
  random(bytes) {
    for (let i = 0; i < bytes.length; i += 1) {
      this.#state ^= this.#state << 13;
      this.#state ^= this.#state >>> 17;
      this.#state ^= this.#state << 5;
      bytes[i] = this.#state;
    }
  }

  setTimer(callback, ms) {
    const timer = { callback, at: this.#now + ms };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  async fetch(request) {
    this.requests.push(request);
    const aborted = new Promise((_, reject) => {
      request.signal.addEventListener("abort", () => reject(request.signal.reason), { once: true });
    });
    aborted.catch(() => {});
    return Promise.race([this.#answer(request), aborted]);
  }

  /** How long each timer has still to run. */
  get timers() {
    return [...this.#timers].map(({ at }) => at - this.#now).sort((a, b) => a - b);
  }

  /** Lets that much time pass, timer by timer. @param {number} ms */
  async advance(ms) {
    const end = this.#now + ms;
    await this.settle();
    for (let next = this.#next(end); next; next = this.#next(end)) {
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
      await this.settle();
    }
    this.#now = end;
  }

  /** Lets everything happen that waits for no time. */
  async settle() {
    for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setTimeout(resolve, 0));
  }

  #next(end) {
    let first;
    for (const timer of this.#timers) if (timer.at <= end && (!first || timer.at < first.at)) first = timer;
    return first;
  }
}
