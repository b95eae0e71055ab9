import net from "node:net";

import { guardedLookup, isRefused, refusal } from "./address.mjs";
import { builtin } from "./builtin.mjs";
import { PROTOCOL, failure, isLost } from "./cause.mjs";
import { contentCoding, decode, isKnown } from "./coding.mjs";

/** What the core counts header fields at, where nothing else is configured. */
const HEADER_BYTES = 64 << 10;

/** The most that Node's parser can be told. */
const MOST_HEADER_BYTES = 2 ** 31 - 1;

/** Idle connections are closed before servers do it: the shortest habit of servers in use is 5 s. */
const IDLE_MS = 4000;

/** How long one of several addresses has to answer before the next is tried. Node's 250 ms give up on far hosts. */
const ATTEMPT_MS = 1000;

/** How long nothing may come before the system asks whether the other end is still there. */
const PROBE_MS = 30_000;

/** Headers that describe the body as it travelled, not as it is handed on. */
const TRAVEL = new Set(["content-encoding", "content-length"]);

/**
 * @typedef {{ method: string, url: string, headers: [string, string][], body?: string, public_only?: boolean }} HttpRequest
 *   `url` is absolute and normalised; `public_only` refuses private addresses whatever the configuration allows
 * @typedef {object} Report what became of a request: `head`, then `body` any number of times, then `end`; or `failed`
 *   at any point. Nothing is reported before `fetch` has returned, and nothing after an abort.
 * @property {(status: number, headers: [string, string][]) => void} head
 * @property {(bytes: Uint8Array) => void} body decoded bytes, as they come
 * @property {() => void} end
 * @property {(cause: string, detail: string) => void} failed
 */

/**
 * Outgoing HTTP on `node:http` and `node:https`.
 *
 * It has no deadline of its own, follows no redirect and keeps no cookie: the core decides when a round has lasted too
 * long and where to go next. GETs share connections that are kept alive, and are sent once more when a kept connection
 * turns out to be dead. A POST starts work, so it is never sent twice, and never on a kept connection, which its server
 * may be closing at that moment: each POST has a connection of its own.
 */
export class HttpClient {
  #allowsPrivate;
  #lookup;
  #publicLookup;
  #idle_ms;
  #tls;
  #agents = new Map();
  #header_bytes;

  /**
   * @param {object} options
   * @param {boolean} [options.allowPrivate] whether this machine and private networks may be reached
   * @param {string[]} [options.allowedHosts] hosts that may be reached although they are private
   * @param {number} [options.header_bytes] the most that the header fields of an answer may have; the core counts them
   * @param {number} [options.idle_ms] how long an unused connection is kept
   * @param {import("node:tls").ConnectionOptions} [options.tls] such as `ca`
   * @param {typeof import("node:dns").lookup} [options.resolve]
   */
  constructor({ idle_ms = IDLE_MS, tls = {}, resolve, ...options } = {}) {
    this.reach(options);
    const allowsPrivate = (host) => this.#allowsPrivate(host);
    this.#lookup = guardedLookup(allowsPrivate, resolve);
    this.#publicLookup = guardedLookup(allowsPrivate, resolve, true);
    this.#idle_ms = idle_ms;
    this.#tls = tls;
  }

  /** What may be reached from here on, as the constructor takes it. */
  reach({ allowPrivate = true, allowedHosts = [], header_bytes = HEADER_BYTES }) {
    // Twice that only keeps the parser from growing before the core can count.
    this.#header_bytes = Math.min(2 * header_bytes, MOST_HEADER_BYTES);
    const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()));
    this.#allowsPrivate = (host) => allowPrivate || allowed.has(host.toLowerCase());
  }

  /**
   * Starts a request.
   *
   * @param {HttpRequest} request
   * @param {Report} report
   * @returns {{ abort(): void }} `abort` closes the connection
   */
  fetch(request, report) {
    return new Exchange(() => this.#open(request), { body: request.body, repeatable: request.method === "GET" }, report);
  }

  /** Closes the connections that are kept. */
  close() {
    for (const agent of this.#agents.values()) agent.destroy();
  }

  #open({ method, url, headers, body, public_only: publicOnly = false }) {
    // The path stays as it is: a URL parser would resolve an escaped `..` that names a task.
    const [, origin, path] = /^([a-z]+:\/\/[^/?#]*)([^#]*)/i.exec(url) ?? [];
    const { protocol, hostname, host, port } = new URL(origin ?? url);
    const address = hostname.replace(/^\[|\]$/g, "");
    if (net.isIP(address) && isRefused(address, !publicOnly && this.#allowsPrivate(hostname))) throw refusal(hostname, publicOnly);
    return this.#transport(protocol).request({
      method,
      protocol,
      host: address,
      port,
      path: path.startsWith("/") ? path : `/${path}`,
      headers: withDefaults(headers, host, body),
      agent: this.#agent(protocol, method, publicOnly),
      lookup: publicOnly ? this.#publicLookup : this.#lookup,
      autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
      maxHeaderSize: this.#header_bytes,
    });
  }

  #transport(protocol) {
    return builtin(protocol === "https:" ? "node:https" : "node:http");
  }

  /** Rounds of either reach have connections of their own: a kept one was checked when it was made. */
  #agent(protocol, method, publicOnly) {
    const key = `${method} ${protocol} ${publicOnly}`;
    let agent = this.#agents.get(key);
    if (!agent) {
      const kept = method === "GET" ? { keepAlive: true, timeout: this.#idle_ms, scheduling: "lifo" } : { keepAlive: false };
      agent = new (this.#transport(protocol).Agent)({ ...this.#tls, ...kept });
      this.#agents.set(key, agent);
    }
    return agent;
  }
}

/**
 * The header fields as they are sent. A request for an event stream asks for no compression: many servers that
 * compress hold small events back until a block is full, and an answer that comes at once is worth more than its bytes.
 */
function withDefaults(headers, host, body) {
  const named = new Set();
  let stream = false;
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    named.add(lower);
    if (lower === "accept" && value.includes("text/event-stream")) stream = true;
  }
  const all = named.has("host") ? [...headers] : [["Host", host], ...headers];
  if (!named.has("user-agent")) all.push(["User-Agent", "narrows"]);
  if (!named.has("accept-encoding")) all.push(["Accept-Encoding", stream ? "identity" : "gzip, deflate"]);
  if (body !== undefined) all.push(["Content-Length", String(Buffer.byteLength(body))]);
  return all;
}

/** One round: a request, at most one repetition of it, and its response. */
class Exchange {
  #open;
  #body;
  #repeatable;
  #report;
  #request;
  #response;
  #done = false;

  constructor(open, { body, repeatable }, report) {
    this.#open = open;
    this.#body = body;
    this.#repeatable = repeatable;
    this.#report = report;
    this.#start();
  }

  abort() {
    this.#done = true;
    this.#request?.destroy();
  }

  #start() {
    let request;
    try {
      request = this.#open();
    } catch (error) {
      process.nextTick(() => this.#fail(error));
      return;
    }
    this.#request = request;
    request.maxHeadersCount = 0; // bounded by their bytes, and none is to vanish unseen
    // A peer that vanished without a word is noticed, however long an answer may take.
    request.on("socket", (socket) => socket.setKeepAlive(true, PROBE_MS));
    request.on("response", (response) => this.#answered(response));
    request.on("upgrade", () => this.#fail(protocolError("the agent switches to a protocol that was not asked for")));
    request.on("error", (error) => {
      const stale = request.reusedSocket && this.#response === undefined && isLost(error);
      if (stale && this.#repeatable && !this.#done) {
        this.#repeatable = false;
        this.#start();
      } else {
        this.#fail(error);
      }
    });
    request.end(this.#body);
  }

  #answered(response) {
    this.#response = response;
    // Three digits, the first of them not 0 (RFC 9110 §15); the parser takes less.
    if (response.statusCode < 100) return this.#fail(protocolError("the status is no HTTP status"));
    const coding = contentCoding(response.headers["content-encoding"]);
    response.on("error", (error) => this.#fail(error));
    this.#report.head(response.statusCode, headersOf(response, coding));
    if (coding === "") {
      response.on("data", (bytes) => this.#bytes(bytes));
      response.on("end", () => this.#end());
    } else if (isKnown(coding)) {
      decode(response, coding, {
        data: (bytes) => this.#bytes(bytes),
        end: () => this.#end(),
        error: (error) => this.#fail(error),
      });
    } else {
      this.#fail(protocolError("the content coding is not one that was offered"));
    }
  }

  #bytes(bytes) {
    if (!this.#done) this.#report.body(bytes);
  }

  #end() {
    if (this.#done) return;
    this.#done = true;
    this.#report.end();
  }

  #fail(error) {
    if (this.#done) return;
    this.#done = true;
    const handshaking = this.#request?.socket?.secureConnecting === true;
    // A connection that was closed in order, unlike one that broke, has no system call in its error.
    const short = this.#response?.headers["content-length"] !== undefined && error.syscall === undefined && isLost(error);
    const { cause, detail } = failure(error, { handshaking, short });
    this.#request?.destroy();
    this.#report.failed(cause, detail);
  }
}

function protocolError(message) {
  return Object.assign(new Error(message), { code: PROTOCOL });
}

/** The header fields of a response in their order, without those that a decoded body makes untrue. */
function headersOf({ rawHeaders }, coding) {
  const headers = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (coding !== "" && TRAVEL.has(rawHeaders[i].toLowerCase())) continue;
    headers.push([rawHeaders[i], rawHeaders[i + 1]]);
  }
  return headers;
}
