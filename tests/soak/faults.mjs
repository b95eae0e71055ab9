// What goes wrong with an agent's answer. Each takes the response and the answer that was meant, and spoils it.
import { setTimeout as pause } from "node:timers/promises";

const SSE = { "content-type": "text/event-stream" };
const JSON_TYPE = { "content-type": "application/json" };

const once = (status, headers, body) => (response) => response.writeHead(status, headers).end(body);

/** Answers of agents and of whatever stands before them that are no answers. */
const WRONG = [
  once(200, { "content-type": "text/html" }, "<!doctype html><p>Welcome</p>"),
  once(200, JSON_TYPE, '{"jsonrpc":"2.0","id":1,"result":'),
  once(200, JSON_TYPE, '{"jsonrpc":"2.0","id":"somebody else\'s","result":{"task":{"id":"t","status":{"state":"dreaming"}}}}'),
  once(200, JSON_TYPE, "null"),
  once(200, JSON_TYPE, "{}"),
  once(200, JSON_TYPE, `${'{"a":'.repeat(200)}1${"}".repeat(200)}`),
  once(200, { ...JSON_TYPE, "content-encoding": "gzip" }, "this is no gzip"),
  once(204, {}),
  once(307, { location: "http://127.0.0.1:1/elsewhere" }),
  once(401, { "www-authenticate": "Bearer" }, "who are you?"),
  once(404, { "content-type": "text/plain" }, "Not Found"),
  once(429, { "retry-after": "1" }, "slow down"),
  once(500, JSON_TYPE, '{"error":{"code":-32603,"message":"boom"}}'),
  once(503, { "retry-after": "0" }, "busy"),
  once(200, SSE, "data: {\n\ndata: no json\n\nevent: x\nid: 1\n\n"),
  once(200, SSE, ": nothing at all\n\n"),
  (response) => response.socket.end("HTTP/1.1 two hundred\r\n\r\n"),
];

/** @type {[number, (chance: object, response: object, meant: { status: number, type: string, pieces: string[] }) => unknown][]} */
const FAULTS = [
  [3, (_, response) => response.socket?.resetAndDestroy()],
  [2, (_, response) => response.socket?.end()],
  [3, cut],
  [2, drip],
  [1, flood],
  [2, endless],
  [3, late],
  [1, () => {}], // never says anything; the connection ends when the caller gives up
  [6, (chance, response) => chance.pick(WRONG)(response)],
];

/** Spoils an answer. */
export function spoil(chance, response, meant) {
  return chance.weighed(FAULTS)(chance, response, meant);
}

/** Answers as was meant. */
export async function give(response, { status, type, pieces, pace_ms = 0 }) {
  response.writeHead(status, { "content-type": type });
  for (const piece of pieces) {
    if (response.destroyed) return;
    response.write(piece);
    if (pace_ms > 0) await pause(pace_ms);
  }
  response.end();
}

/** Ends in the middle, with a promise of more. */
async function cut(chance, response, { status, type, pieces }) {
  const body = Buffer.from(pieces.join(""));
  const promised = chance.oneIn(2) ? { "content-length": body.length } : {};
  response.writeHead(status, { "content-type": type, ...promised });
  response.write(body.subarray(0, chance.between(0, body.length - 1)));
  await pause(chance.between(0, 50));
  response.socket?.destroy();
}

/** Byte by byte at first, in pieces later. */
async function drip(chance, response, { status, type, pieces }) {
  const body = Buffer.from(pieces.join(""));
  response.writeHead(status, { "content-type": type });
  const step = chance.pick([1, 7, 64]);
  for (let at = 0; at < body.length && !response.destroyed; at += step) {
    response.write(body.subarray(at, at + step));
    await pause(at < 40 * step ? 20 : 1);
  }
  response.end();
}

/** Far more than anybody asked for, in one body or in one stream. */
async function flood(chance, response, { type, pieces }) {
  const events = type === "text/event-stream";
  response.writeHead(200, { "content-type": type });
  const piece = events ? (pieces[1] ?? pieces[0] ?? "").repeat(50) : `{"jsonrpc":"2.0","result":{"message":{"parts":[{"text":"${"x".repeat(1 << 16)}`;
  for (let bytes = 0; bytes < chance.pick([1 << 20, 6 << 20]) && !response.destroyed; bytes += piece.length) {
    if (!response.write(piece)) await pause(5);
  }
  response.end();
}

/** A stream without an end. */
async function endless(chance, response, { type, pieces }) {
  if (type !== "text/event-stream") return late(chance, response, { status: 200, type, pieces });
  response.writeHead(200, SSE);
  const piece = pieces[1] ?? ": still here\n\n";
  response.write(pieces[0] ?? "");
  while (!response.destroyed) {
    response.write(piece);
    await pause(100);
  }
}

/** The right answer after most callers gave up. */
async function late(chance, response, meant) {
  await pause(chance.between(500, 9000));
  if (!response.destroyed) await give(response, meant);
}
