/** Connections that an invocation may have open at once: one more, and the oldest is cancelled. */
const CONNECTIONS = 6;

/** Requests that an invocation may make, on the plan that allows the fewest. */
const PER_EVENT = 50;

/**
 * Outgoing requests within the limits of a worker. Those that find no connection wait for one; those that find the
 * event's share spent wait for the next event, which an alarm brings at once.
 */
export class Subrequests {
  #connections;
  #perEvent;
  #wake;
  #fetch;
  #left = 0;
  #open = 0;
  #waiting = new Set();

  /**
   * @param {object} options
   * @param {() => void} options.wake asks for another event as soon as possible
   * @param {number} [options.connections]
   * @param {number} [options.perEvent]
   * @param {typeof globalThis.fetch} [options.fetch]
   */
  constructor({ wake, connections = CONNECTIONS, perEvent = PER_EVENT, fetch = (...words) => globalThis.fetch(...words) }) {
    this.#connections = connections;
    this.#perEvent = perEvent;
    this.#wake = wake;
    this.#fetch = fetch;
  }

  /** An event of the object begins: a request or an alarm. It has a share of its own. */
  begin() {
    this.#left = this.#perEvent;
    this.#go();
  }

  /**
   * As a gateway's `host.fetch`.
   *
   * @param {{ method: string, url: string, headers: [string, string][], body?: string, signal: AbortSignal }} request
   */
  async fetch({ method, url, headers, body, signal }) {
    await this.#turn(signal);
    let open = true;
    const close = () => {
      if (open) this.#open -= 1;
      open = false;
      this.#go();
    };
    signal.addEventListener("abort", close, { once: true });
    try {
      const response = await this.#fetch(url, { method, headers, body, signal, redirect: "manual" });
      if (response.body) return { status: response.status, headers: response.headers, body: watched(response.body, close) };
      close();
      return response;
    } catch (error) {
      close();
      throw error;
    }
  }

  /** Waits until the request may go out; then it counts. */
  #turn(signal) {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      this.#waiting.add(resolve);
      signal.addEventListener("abort", () => this.#waiting.delete(resolve) && reject(signal.reason), { once: true });
      this.#go();
    });
  }

  #go() {
    for (const next of this.#waiting) {
      if (this.#open === this.#connections) return;
      if (this.#left === 0) return this.#wake();
      this.#waiting.delete(next);
      this.#open += 1;
      this.#left -= 1;
      next();
    }
  }
}

/** A body whose connection is free when it was read or given up. */
function watched(body, close) {
  const ended = (promise) => promise.finally(close);
  return {
    getReader() {
      const reader = body.getReader();
      return {
        async read() {
          try {
            const chunk = await reader.read();
            if (chunk.done) close();
            return chunk;
          } catch (error) {
            close();
            throw error;
          }
        },
        cancel: (reason) => ended(reader.cancel(reason)),
      };
    },
  };
}
