import { Lines } from "./lines.mjs";
import { LineWriter } from "./writer.mjs";

const PEER = 1;
const SCOPE = "stdio";

/** How long the requests that cancel tasks may take after the client left. */
const GRACE_MS = 300;

/** How long a client that left may take to read what it was sent. */
const FLUSH_MS = 400;

/** Header lines of the framing that language servers use. JSON-RPC over MCP's stdio is one message per line. */
const HEADER_LINE = /^content-(length|type)\s*:/i;

const HEADER_HINT =
  "the client frames messages with Content-Length headers, as language servers do. " +
  "MCP over stdio is one JSON message per line: the header lines are ignored.";

/**
 * Serves MCP over stdio (MCP 2025-11-25, Transports, stdio): one message per line, until the client closes its end,
 * goes away, or the process is told to end.
 *
 * @param {import("../lib/driver.mjs").Driver} driver
 * @param {object} options
 * @param {import("node:stream").Readable} options.input
 * @param {import("node:stream").Writable} options.output
 * @param {number} options.messageBytes the longest message that is kept
 * @param {number} [options.unreadBytes] how much may wait to be read
 * @param {AbortSignal} [options.signal] ends it as the end of the input does
 * @param {(text: string) => void} [options.say] takes sentences for the person who set this up
 */
export async function serveStdio(driver, { input, output, messageBytes, unreadBytes, signal, say = () => {} }) {
  let left;
  const gone = new Promise((resolve) => {
    left = resolve;
  });
  const writer = new LineWriter(output, {
    unreadBytes,
    onFull: () => input.pause(),
    onDrained: () => input.resume(),
    onBroken: left,
  });
  driver.open(PEER, SCOPE, (text) => writer.write(text));

  let headerSeen = false;
  const lines = new Lines(
    messageBytes,
    (text) => {
      if (!HEADER_LINE.test(text)) return driver.message(PEER, text);
      if (!headerSeen) say(HEADER_HINT);
      headerSeen = true;
    },
    (start, end, bytes) => driver.messageTooLong(PEER, start, end, bytes),
  );
  input.on("data", (chunk) => lines.push(chunk));
  input.on("end", () => {
    lines.end();
    left();
  });
  input.on("error", left);
  input.on("close", left);
  // A client that is still there is told what became of its calls.
  const told = () => {
    driver.stopServing();
    left();
  };
  if (signal?.aborted) told();
  signal?.addEventListener("abort", told, { once: true });

  await gone;
  input.removeAllListeners("data");
  input.pause();
  await Promise.all([driver.stop(GRACE_MS), writer.flushed(FLUSH_MS)]);
}
