import { STREAM_BYTES } from "../lib/serving.mjs";
import { UNREAD_BYTES } from "./writer.mjs";

const http = process.getBuiltinModule("node:http");

/** So long may what waits to be read make no way at all. A reader that is slow has time, one that stands still has not. */
const STANDSTILL_MS = 30_000;

/** What is read in that time at least, where as much waits: whoever takes sips holds all the rest of a large answer here. */
const LEAST_BYTES = 512 << 10;

/** A large answer is written in pieces of so many characters. */
const PIECE = 128 << 10;

/** A head comes within this time, */
const HEAD_MS = 10_000;

/** and a body within this. */
const REQUEST_MS = 60_000;

/** Connections at once, some more than the requests that the core takes. */
const CONNECTIONS = 2048;

/** How long what was answered may take to be read at the end. */
const LAST_MS = 1000;

/** The core's own default of `limits.header_bytes`. */
const HEADER_BYTES = 64 << 10;

/** Incoming HTTP: `node:http` on one side, a driver on the other. Every check and every answer is the core's. */
export class HttpServer {
  #driver;
  #page;
  #server;
  #standstill_ms;
  #unread;
  /** what is to be done for the requests of a connection when it goes */
  #going = new WeakMap();

  /**
   * @param {import("../lib/driver.mjs").Driver} driver
   * @param {{ header_bytes?: number, stream_bytes?: number, unread_bytes?: number, standstill_ms?: number }} [limits]
   * @param {import("./page-files.mjs").PageFiles} [page] files that are the same for everybody and hold no secret
   */
  constructor(driver, { header_bytes = HEADER_BYTES, stream_bytes = STREAM_BYTES, unread_bytes = UNREAD_BYTES, standstill_ms = STANDSTILL_MS } = {}, page) {
    this.#driver = driver;
    this.#page = page;
    this.#standstill_ms = standstill_ms;
    this.#unread = new Unread(unread_bytes, stream_bytes, standstill_ms);
    // A little over the core's own limit, so that it is the core that refuses.
    const options = { maxHeaderSize: header_bytes + 4096, headersTimeout: HEAD_MS, requestTimeout: REQUEST_MS };
    this.#server = http.createServer({ ...options, connectionsCheckingInterval: 5000 });
    this.#server.maxConnections = CONNECTIONS;
    this.#server.on("connection", (socket) => this.#connected(socket));
    this.#server.on("request", (request, response) => this.#take(request, response));
    // Whoever asks before sending a large body is told before it does.
    this.#server.on("checkContinue", (request, response) => this.#take(request, response, () => response.writeContinue()));
  }

  /** @param {number} port @param {string} host @returns {Promise<import("node:net").AddressInfo>} */
  listen(port, host) {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, host, () => {
        this.#server.off("error", reject);
        resolve(this.#server.address());
      });
    });
  }

  /** Answers what was asked, ends what streams, and closes. */
  async close() {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#driver.stopServing();
    this.#server.closeIdleConnections();
    const timer = setTimeout(() => this.#server.closeAllConnections(), LAST_MS);
    await closed;
    clearTimeout(timer);
  }

  /** A response that waits behind another one of its connection has no `close` of its own where the connection goes. */
  #connected(socket) {
    const going = new Set();
    this.#going.set(socket, going);
    socket.on("close", () => going.forEach((gone) => gone()));
  }

  #take(request, response, go = () => {}) {
    if (this.#page?.answer(request, response)) return;
    const answer = new Answer(response, this.#unread);
    const number = this.#driver.request(request.method, request.url, pairs(request.rawHeaders), answer);
    request.on("data", (bytes) => this.#driver.requestBody(number, bytes));
    request.on("end", () => this.#driver.requestEnd(number));
    request.on("error", () => {}); // its close says enough
    response.on("error", () => {});
    const going = this.#going.get(request.socket);
    const gone = () => {
      going?.delete(gone);
      answer.gone();
      this.#driver.requestGone(number);
    };
    response.on("close", gone);
    going?.add(gone);
    // Node begins anew whenever some of it was taken. Where nothing waits, nobody is late.
    response.setTimeout(this.#standstill_ms, () => response.writableLength > 0 && response.destroy());
    if (!answer.begun) go();
  }
}

/** The answers that are not read yet: in all they take no more than a limit, and each gets on. */
class Unread {
  #limit;
  #period_ms;
  #answers = new Set();
  #more = 0;
  #timer;

  /**
   * @param {number} limit what all may take
   * @param {number} most what one of a stream may take: whoever is let go may ask for the rest of a session again
   * @param {number} period_ms how often they are looked at
   */
  constructor(limit, most, period_ms) {
    this.#limit = limit;
    this.most = most;
    this.#period_ms = period_ms;
  }

  /** Some more of an answer waits to be read. Where all is too much, the slowest go, and of them those that take the most. */
  add(answer, length) {
    this.#answers.add(answer);
    this.#timer ??= setInterval(() => this.#look(), this.#period_ms).unref();
    this.#more += length;
    if (this.#more <= this.#limit / 16) return;
    this.#more = 0;
    const all = () => [...this.#answers].reduce((sum, { waiting }) => sum + waiting, 0);
    if (all() <= this.#limit) return;
    for (const slow of [...this.#answers].sort((one, other) => other.waited - one.waited || other.waiting - one.waiting)) {
      if (slow.waiting <= LEAST_BYTES) continue;
      slow.destroy();
      // With it went what waits behind it on its connection.
      if (all() <= this.#limit) return;
    }
  }

  remove(answer) {
    this.#answers.delete(answer);
    if (this.#answers.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look() {
    for (const answer of this.#answers) {
      const { waiting, waited, read } = answer;
      answer.waited = waiting > LEAST_BYTES;
      answer.read = answer.given - waiting;
      if (waited && answer.waited && answer.read - read < LEAST_BYTES) answer.destroy();
    }
  }
}

/**
 * A response on its way. A complete one goes out with its length, a stream piece by piece; a large piece as it is read, so
 * that no copy of it waits.
 */
class Answer {
  begun = false;
  /** how much of it there was to be read, and of that how much was read when it was last looked at */
  given = 0;
  read = 0;
  /** whether much of it waited then */
  waited = false;
  #response;
  #unread;
  #text = "";
  #flushed = false;
  #ended = false;
  #full = false;

  constructor(response, unread) {
    this.#response = response;
    this.#unread = unread;
  }

  /** How much of it waits to be read. What waits where a connection went waits for nobody. */
  get waiting() {
    return this.#response.req.socket.destroyed ? 0 : this.#text.length + this.#response.writableLength;
  }

  /** Its connection goes: a response that waits behind another one has none to destroy. */
  destroy() {
    this.#text = "";
    this.#response.req.socket.destroy();
  }

  head(status, headers) {
    this.begun = true;
    this.#response.statusCode = status;
    for (const [name, value] of headers) this.#response.appendHeader(name, value);
  }

  body(text) {
    if (this.#flushed && this.waiting > this.#unread.most) return this.destroy();
    this.#text += text;
    if (!this.#flushed) return;
    this.#add(text.length);
    this.#pump();
  }

  end() {
    this.#ended = true;
    if (this.#flushed) return this.#pump();
    this.#flushed = true;
    if (![204, 304].includes(this.#response.statusCode)) {
      this.#response.setHeader("Content-Length", Buffer.byteLength(this.#text));
    }
    this.#add(this.#text.length);
    this.#pump();
  }

  flush() {
    if (this.#flushed) return;
    this.#flushed = true;
    this.#response.flushHeaders();
    this.#add(this.#text.length);
    this.#pump();
  }

  /** Nobody reads it any more. */
  gone() {
    this.#text = "";
    this.#unread.remove(this);
  }

  #add(length) {
    this.given += length;
    if (length > 0) this.#unread.add(this, length);
  }

  #pump() {
    while (this.#text.length > PIECE && !this.#full) {
      // A character of two units stays whole.
      const end = PIECE + ((this.#text.charCodeAt(PIECE) & 0xfc00) === 0xdc00 ? 1 : 0);
      const piece = this.#text.slice(0, end);
      this.#text = this.#text.slice(end);
      this.#full = !this.#response.write(piece);
      if (this.#full) this.#response.once("drain", () => this.#drained());
    }
    if (this.#full) return;
    const last = this.#text;
    this.#text = "";
    if (this.#ended) this.#response.end(last === "" ? undefined : last);
    else if (last !== "") this.#response.write(last);
  }

  #drained() {
    this.#full = false;
    this.#pump();
  }
}

function pairs(raw) {
  const list = [];
  for (let i = 0; i < raw.length; i += 2) list.push([raw[i], raw[i + 1]]);
  return list;
}
