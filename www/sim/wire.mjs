/** What can be wrong with the way to an agent, with the words for it. */
export const MODES = {
  works: "works",
  refuses: "refuses every connection",
  fails: "answers with status 500",
  limits: "answers 429, come back in 4 s",
  babbles: "answers with nonsense",
  silent: "never answers",
  floods: "answers without end",
};

/** How long a way takes when nothing is wrong with it. */
const LATENCY_MS = 40;

/** A way with nothing wrong. */
export const HEALTHY = { latency_ms: LATENCY_MS, mode: "works", cut: false };

const FLOOD_BYTES = 64 << 10;
const FLOOD_PIECES = 64;
const FLOOD_MS = 25;

/** The ways between the gateway and the pretend agents, and what is wrong with them. */
export class Wire {
  #clock;
  #agents = new Map();
  #open = new Map();
  #report;

  /**
   * @param {import("./agents.mjs").Clock} clock
   * @param {{ origin: string, alias: string, serve(request: object, response: object): void }[]} agents
   * @param {(input: object) => void} report takes what became of an exchange
   */
  constructor(clock, agents, report) {
    this.#clock = clock;
    this.#report = report;
    for (const agent of agents) {
      this.#agents.set(agent.origin, { agent, ...HEALTHY });
    }
  }

  /** What is wrong with each way, by alias. */
  get faults() {
    const ways = [...this.#agents.values()];
    return Object.fromEntries(ways.map(({ agent, latency_ms, mode, cut }) => [agent.alias, { latency_ms, mode, cut }]));
  }

  /** Changes what is wrong. @param {string} alias @param {{ latency_ms?: number, mode?: string, cut?: boolean }} change */
  set(alias, change) {
    for (const way of this.#agents.values()) if (way.agent.alias === alias) Object.assign(way, change);
  }

  /** Whether somebody lives at this address. @param {string} url */
  leadsTo(url) {
    return this.#agents.has(new URL(url).origin);
  }

  /** Starts an exchange. @param {{ exchange: number, method: string, url: string, body?: string }} request */
  fetch(request) {
    const way = this.#agents.get(new URL(request.url).origin);
    const exchange = { number: request.exchange, way, last_at: 0, gone: () => {}, streams: false };
    this.#open.set(request.exchange, exchange);
    this.#clock.after(way.latency_ms, () => {
      if (this.#open.has(request.exchange)) this.#arrive(way, request, exchange);
    });
  }

  /** Ends an exchange from the gateway's side. @param {number} number */
  abort(number) {
    const exchange = this.#open.get(number);
    this.#open.delete(number);
    exchange?.gone();
  }

  #arrive(way, request, exchange) {
    const response = this.#response(exchange);
    const plain = [["content-type", "text/plain"]];
    const whole = (status, headers, text) => {
      response.head(status, headers);
      response.body(text);
      response.end();
    };
    switch (way.mode) {
      case "refuses":
        return this.#later(exchange, { type: "failed", cause: "refused" });
      case "fails":
        return whole(500, plain, "Internal Server Error");
      case "limits":
        return whole(429, [["retry-after", "4"], ...plain], "Too Many Requests");
      case "babbles":
        return whole(200, [["content-type", "text/html"]], "<!doctype html><title>Welcome!</title>");
      case "silent":
        return undefined;
      case "floods":
        response.head(200, [["content-type", "application/json"]]);
        return this.#flood(response, exchange, FLOOD_PIECES);
      default:
        return way.agent.serve(request, response);
    }
  }

  #flood(response, exchange, left) {
    if (!this.#open.has(exchange.number)) return;
    if (left === 0) return response.end();
    response.body("x".repeat(FLOOD_BYTES));
    this.#clock.after(FLOOD_MS, () => this.#flood(response, exchange, left - 1));
  }

  #response(exchange) {
    return {
      head: (status, headers) => {
        exchange.streams = headers.some(([, value]) => value === "text/event-stream");
        this.#later(exchange, { type: "head", status, headers });
      },
      body: (text) => this.#later(exchange, { type: "body", text }),
      end: () => this.#later(exchange, { type: "end" }),
      onGone: (leave) => (exchange.gone = leave),
    };
  }

  /** What is on its way stays in order, also when the way became shorter. */
  #later(exchange, input) {
    const at = Math.max(this.#clock.now() + exchange.way.latency_ms, exchange.last_at);
    exchange.last_at = at;
    this.#clock.after(at - this.#clock.now(), () => this.#deliver(exchange, input));
  }

  #deliver(exchange, input) {
    const { number, way } = exchange;
    if (!this.#open.has(number)) return;
    if (input.type === "body" && exchange.streams && way.cut) {
      way.cut = false;
      const half = input.text.slice(0, input.text.length >> 1);
      this.#report({ ...input, exchange: number, text: half });
      if (!this.#open.has(number)) return;
      input = { type: "failed", cause: "reset", detail: "the connection was cut" };
    }
    if (input.type === "end" || input.type === "failed") {
      this.#open.delete(number);
      exchange.gone();
    }
    this.#report({ ...input, exchange: number });
  }
}
