import { GatewayError } from "./error.mjs";

/**
 * Logins at MCP servers behind the gateway, and the tokens that come of them, which a store keeps.
 */
export class Logins {
  #store;
  #input;
  #complain;
  #waiting = new Map();
  #states = new Map();

  /**
   * @param {object} [store] as `GatewayOptions.tokens`; without one they are kept as long as this gateway runs
   * @param {(input: object) => void} input
   * @param {(error: unknown) => void} complain takes what the store throws
   */
  constructor(store = inMemory(), input, complain) {
    this.#store = store;
    this.#input = input;
    this.#complain = complain;
  }

  /** An output about tokens is done. @param {object} output */
  async perform({ type, server, url, refresh, record }) {
    try {
      if (type === "save_tokens") return void (await this.#store.save(server, url, JSON.stringify(record)));
      const found = await this.#store.load(server, url, { refresh });
      this.#input({ type: "tokens", server, ...(typeof found === "string" && { record: found }) });
    } catch (error) {
      this.#complain(error);
      if (type === "load_tokens") this.#input({ type: "tokens", server });
    }
  }

  /** Begins a login. @returns {Promise<string>} where the person is to go */
  async begin(server, redirectUri) {
    const place = this.#next(server);
    this.#input({ type: "log_in", server, redirect_uri: redirectUri });
    const url = await place;
    this.#states.set(server, new URL(url).searchParams.get("state"));
    return url;
  }

  /** The person came back. @param {string} server @param {string} query of the address, without its question mark */
  async end(server, query) {
    if (!this.isExpected(server, query)) throw new GatewayError("misuse", "nobody waits for this answer: its `state` is another one");
    const outcome = this.#next(server);
    this.#states.delete(server);
    this.#input({ type: "came_back", server, query });
    await outcome;
  }

  /** Whether somebody waits for an answer. @param {string} server @param {string} query */
  isExpected(server, query) {
    const state = this.#states.get(server);
    return state !== undefined && new URLSearchParams(query).get("state") === state;
  }

  #next(server) {
    return new Promise((resolve, reject) => {
      this.#waiting.get(server)?.reject(new GatewayError("canceled", "another login was begun"));
      this.#waiting.set(server, { resolve, reject });
    });
  }

  /** A notice, which may be what a login waits for. @param {{ event: string, fields: object }} notice */
  told({ event, fields }) {
    const waiting = this.#waiting.get(fields.server);
    if (waiting === undefined) return;
    if (event === "authorization_url") waiting.resolve(fields.url);
    else if (event === "authorized") waiting.resolve();
    else if (event === "authorization_failed" || event === "link_lost") waiting.reject(failed(fields.server, fields.why));
    else if (event === "link_ready") waiting.reject(failed(fields.server, "wants no login"));
    else return;
    this.#waiting.delete(fields.server);
  }

  /** The gateway ended. @param {Error} error */
  stop(error) {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

const failed = (server, why) => new GatewayError("blocked", `MCP server '${server}' ${why}`);

function inMemory() {
  const kept = new Map();
  const key = (server, url) => JSON.stringify([server, url]);
  return { load: (server, url) => kept.get(key(server, url)), save: (server, url, record) => void kept.set(key(server, url), record) };
}
