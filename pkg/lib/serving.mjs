import { GatewayError } from "./error.mjs";

/** The core's own default of `limits.stream_bytes`: a reader may be as far behind as an agent may run ahead. */
export const STREAM_BYTES = 64 << 20;

/** Responses that have no body (WHATWG Fetch §2.2.3, a null body status). */
const BODILESS = new Set([101, 204, 205, 304]);

/** Names the scheme of a request to the core. */
const SCHEME = "x-forwarded-proto";

/**
 * Answers a Request with a Response. Every check and every answer is the core's.
 *
 * @param {import("./driver.mjs").Driver} driver
 * @param {Request} request
 * @param {() => Error} ended why there is no answer when the gateway ends before it
 * @param {number} [behind_bytes] how far behind a reader may be: what it missed of a session it can ask for again
 * @returns {Promise<Response>}
 */
export function respond(driver, request, ended, behind_bytes = STREAM_BYTES) {
  return new Promise((resolve, reject) => {
    const { protocol, pathname, search, host } = addressOf(request);
    // What is told of the gateway's own address has the scheme under which it was asked, whatever a header says of it.
    const headers = [...request.headers].filter(([name]) => name !== SCHEME);
    if (!request.headers.has("host")) headers.push(["host", host]);
    if (protocol === "https:") headers.push([SCHEME, "https"]);
    let number;
    // The answer may come, and be too much, before the request has its number.
    const leave = () => (number === undefined ? queueMicrotask(() => driver.requestGone(number)) : driver.requestGone(number));
    const reply = new Reply({ resolve, reject, ended, leave }, behind_bytes);
    number = driver.request(request.method, pathname + search, headers, reply);
    if (request.signal?.aborted) return reply.fail(request.signal.reason);
    request.signal?.addEventListener("abort", () => reply.fail(request.signal.reason), { once: true });
    hand(request, reply, (bytes) => driver.requestBody(number, bytes)).then(
      () => driver.requestEnd(number),
      (error) => reply.fail(error),
    );
  });
}

function addressOf(request) {
  try {
    return new URL(request.url);
  } catch (error) {
    throw new GatewayError("misuse", "`fetch` takes a Request, whose URL is absolute", { cause: error });
  }
}

/** Hands the body over, as long as somebody wants it. */
async function hand(request, reply, take) {
  if (request.body === undefined && request.method !== "GET" && request.method !== "HEAD") {
    take(await request.arrayBuffer()); // an engine whose requests have no streams
    return;
  }
  if (!request.body) return;
  const reader = request.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    if (reply.complete) return reader.cancel();
    take(value);
  }
}

/** A response on its way: a complete one in one piece, a stream as it comes. */
class Reply {
  complete = false;
  #outcome;
  #head;
  #text = "";
  #stream;
  #behind_bytes;

  constructor(outcome, behind_bytes) {
    this.#outcome = outcome;
    this.#behind_bytes = behind_bytes;
  }

  head(status, headers) {
    this.#head = { status, headers };
  }

  body(text) {
    if (!this.#stream) {
      this.#text += text;
      return;
    }
    this.#stream.enqueue(new TextEncoder().encode(text));
    if (this.#stream.desiredSize < -this.#behind_bytes) this.fail(new GatewayError("too_large", "the reader is too far behind"));
  }

  flush() {
    if (this.#stream || this.complete) return;
    const strategy = new ByteLengthQueuingStrategy({ highWaterMark: 1 });
    const cancel = () => this.#leave();
    const body = new ReadableStream({ start: (stream) => (this.#stream = stream), cancel }, strategy);
    this.#outcome.resolve(new Response(body, this.#head));
    if (this.#text) this.body(this.#text);
  }

  end() {
    if (this.complete) return;
    this.complete = true;
    if (this.#stream) return this.#stream.close();
    const empty = this.#text === "" || BODILESS.has(this.#head.status);
    this.#outcome.resolve(new Response(empty ? null : new TextEncoder().encode(this.#text), this.#head));
  }

  /** The gateway ended. */
  gone() {
    this.fail(this.#outcome.ended());
  }

  /** Whoever asked left, or cannot be answered. */
  fail(error) {
    if (this.complete) return;
    this.#leave();
    if (this.#stream) this.#stream.error(error);
    else this.#outcome.reject(error);
  }

  #leave() {
    this.complete = true;
    this.#outcome.leave();
  }
}
