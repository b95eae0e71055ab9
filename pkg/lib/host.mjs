import { GatewayError, checkFunctions } from "./error.mjs";
import { Fetch } from "./module.mjs";

/** The functions that a host may bring. */
const FUNCTIONS = ["fetch", "now", "unixNow", "random", "setTimer"];

/** A clock that never goes back. */
export const monotonic = () => Math.floor(performance.now());

/** Calls back once, and returns what cancels it. @param {() => void} callback @param {number} ms */
export function startTimer(callback, ms) {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
}

/**
 * The world of one gateway: clocks, chance, timers and fetch, each the platform's own or replaced by its embedder.
 * What a replaced function throws goes to `complain` and never further.
 */
export class Host {
  #given;
  #complain;
  #latest = 0;
  /** Starts a request. @type {(request: object, report: object) => { abort(): void }} */
  fetch;

  /**
   * @param {object} [given] the five functions, or some of them
   * @param {(error: unknown) => void} complain
   * @throws {GatewayError} `misuse`: something that is no function
   */
  constructor(given = {}, complain) {
    if (typeof given !== "object" || given === null) throw new GatewayError("misuse", "`host` must be an object");
    checkFunctions(given, FUNCTIONS, "host.");
    this.#given = given;
    this.#complain = complain;
    const own = given.fetch && ((request) => given.fetch(request));
    this.fetch = (request, report) => fetched(request, report, own);
  }

  /** What a core is born with. */
  genesis() {
    const seed = new Uint8Array(32);
    this.#ask("random", (bytes) => crypto.getRandomValues(bytes), seed);
    this.#latest = time(this.#ask("now", monotonic), "host.now()");
    return { seed, now: this.#latest, unixMs: time(this.#ask("unixNow", Date.now), "host.unixNow()") };
  }

  /** What a function of the embedder's gives, or the platform's where there is none. */
  #ask(name, own, ...words) {
    if (this.#given[name] === undefined) return own(...words);
    try {
      return this.#given[name](...words);
    } catch (error) {
      throw new GatewayError("misuse", `\`host.${name}\` threw: ${error?.message ?? error}`, { cause: error });
    }
  }

  /** The time; a clock that fails or goes back stands still. */
  now() {
    try {
      const now = time(this.#given.now ? this.#given.now() : monotonic(), "host.now()");
      if (now > this.#latest) this.#latest = now;
    } catch (error) {
      this.#complain(error);
    }
    return this.#latest;
  }

  /** @param {() => void} callback @param {number} ms */
  setTimer(callback, ms) {
    return this.#given.setTimer ? this.#given.setTimer(callback, ms) : startTimer(callback, ms);
  }
}

function time(value, name) {
  const number = typeof value === "bigint" ? Number(value) : value;
  if (typeof number === "number" && number >= 0 && number <= Number.MAX_SAFE_INTEGER) return Math.floor(number);
  throw new GatewayError("misuse", `\`${name}\` must give milliseconds from 0 to 2^53 - 1`);
}

/** A request by the global fetch, or by one that the embedder brings; `Fetch` reads its response. */
function fetched(request, report, own) {
  let running;
  const release = (stop) => {
    const held = running;
    running = undefined;
    if (stop) held?.abort();
    held?.free();
  };
  const told = {
    head: (status, headers) => report.head(status, headers),
    body: (bytes) => report.body(bytes),
    end: () => {
      release(false);
      report.end();
    },
    failed: (cause, detail) => {
      release(false);
      report.failed(cause, detail);
    },
  };
  running = new Fetch(request, told, own);
  return { abort: () => release(true) };
}
