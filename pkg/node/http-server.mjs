const http = process.getBuiltinModule("node:http");

/** A reader that is this far behind is let go; what it missed of a session it can ask for again. */
const BEHIND_BYTES = 16 << 20;

/** So long may what waits to be read make no way at all. A reader that is slow has time, one that stands still has not. */
const STANDSTILL_MS = 30_000;

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

  /**
   * @param {import("../lib/driver.mjs").Driver} driver
   * @param {{ header_bytes?: number, standstill_ms?: number }} [limits]
   * @param {import("./page-files.mjs").PageFiles} [page] files that are the same for everybody and hold no secret
   */
  constructor(driver, { header_bytes = HEADER_BYTES, standstill_ms = STANDSTILL_MS } = {}, page) {
    this.#driver = driver;
    this.#page = page;
    this.#standstill_ms = standstill_ms;
    // A little over the core's own limit, so that it is the core that refuses.
    const options = { maxHeaderSize: header_bytes + 4096, headersTimeout: HEAD_MS, requestTimeout: REQUEST_MS };
    this.#server = http.createServer({ ...options, connectionsCheckingInterval: 5000 });
    this.#server.maxConnections = CONNECTIONS;
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

  #take(request, response, go = () => {}) {
    if (this.#page?.answer(request, response)) return;
    const answer = new Answer(response);
    const number = this.#driver.request(request.method, request.url, pairs(request.rawHeaders), answer);
    request.on("data", (bytes) => this.#driver.requestBody(number, bytes));
    request.on("end", () => this.#driver.requestEnd(number));
    request.on("error", () => {}); // its close says enough
    response.on("error", () => {});
    response.on("close", () => this.#driver.requestGone(number));
    // Node begins anew whenever some of it was taken. Where nothing waits, nobody is late.
    response.setTimeout(this.#standstill_ms, () => response.writableLength > 0 && response.destroy());
    if (!answer.begun) go();
  }
}

/** A response on its way. A complete one goes out with its length, a stream piece by piece. */
class Answer {
  begun = false;
  #response;
  #text = "";
  #flushed = false;

  constructor(response) {
    this.#response = response;
  }

  head(status, headers) {
    this.begun = true;
    this.#response.statusCode = status;
    for (const [name, value] of headers) this.#response.appendHeader(name, value);
  }

  body(text) {
    if (!this.#flushed) this.#text += text;
    else if (this.#response.writableLength > BEHIND_BYTES) this.#response.destroy();
    else this.#response.write(text);
  }

  end() {
    if (!this.#flushed && ![204, 304].includes(this.#response.statusCode)) {
      this.#response.setHeader("Content-Length", Buffer.byteLength(this.#text));
    }
    this.#response.end(this.#flushed ? undefined : this.#text);
    this.#flushed = true;
  }

  flush() {
    if (this.#flushed) return;
    this.#flushed = true;
    this.#response.flushHeaders();
    if (this.#text) this.#response.write(this.#text);
  }
}

function pairs(raw) {
  const list = [];
  for (let i = 0; i < raw.length; i += 2) list.push([raw[i], raw[i + 1]]);
  return list;
}
