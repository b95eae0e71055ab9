import { builtin } from "./builtin.mjs";

/** Content codings that can be undone, by the names of RFC 9110 §8.4.1 and RFC 7932. */
const STREAMS = {
  gzip: (zlib) => zlib.createGunzip(),
  "x-gzip": (zlib) => zlib.createGunzip(),
  br: (zlib) => zlib.createBrotliDecompress(),
  // RFC 9110 §8.4.1.2: meant is the zlib format, and some servers send the bare one. They differ in the first byte.
  deflate: (zlib, first) => ((first & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw()),
};

/** The content coding that a response names, in lower case; empty if there is none. @param {string | undefined} header */
export function contentCoding(header) {
  const coding = (header ?? "").trim().toLowerCase();
  return coding === "identity" ? "" : coding;
}

/** Whether a coding can be undone. One coding only: a stack of them is a way to make a small body huge. */
export function isKnown(coding) {
  return Object.hasOwn(STREAMS, coding);
}

/**
 * The decoded bytes of a response, as they come: the zlib streams hand on what a server flushed.
 *
 * @param {import("node:stream").Readable} response
 * @param {string} coding a known one
 * @param {{ data: (bytes: Buffer) => void, end: () => void, error: (error: Error) => void }} sink
 */
export function decode(response, coding, sink) {
  let decoder;
  response.once("readable", () => {
    const first = response.read();
    if (first === null) {
      response.once("end", sink.end); // an empty answer has nothing to decode
      return;
    }
    decoder = STREAMS[coding](builtin("node:zlib"), first[0]);
    decoder.on("data", sink.data);
    decoder.on("end", sink.end);
    decoder.on("error", sink.error);
    decoder.write(first);
    response.pipe(decoder);
  });
}
