// Number the functions of a module in the order in which gzip packs them best: each after those that it has most in common
// with. `wasm-opt --reorder-functions-by-name` then puts them there.
//   node scripts/wasm-order.mjs FROM TO     TO is FROM with these numbers for names; the same bytes give the same order
import { readFileSync, writeFileSync } from "node:fs";

/** How far back gzip looks (RFC 1951 §2: 32 KiB). */
const WINDOW_BYTES = 32 << 10;
/** What is compared: every run of so many bytes. Shorter ones are found everywhere anyway. */
const RUN_BYTES = 7;
/** A run that more functions have than this is never far away. */
const COMMON = 200;
/** What keeps the shortest functions from winning by one run. */
const LEAST_BYTES = 16;
/** What a run counts for that so many functions have: few find it again later. Whole, so that it can be taken off again. */
const worth = (holders) => Math.round(1024 / (Math.sqrt(holders) * Math.sqrt(Math.sqrt(holders))));

const [IMPORTS, CODE, CUSTOM] = [2, 10, 0];

/** Reads a module's bytes one item after the other. */
class Reader {
  at = 8; // after magic and version

  constructor(bytes) {
    this.bytes = bytes;
  }

  number() {
    for (let [value, shift] = [0, 0]; ; shift += 7) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  }

  slice() {
    const length = this.number();
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
}

/** The number of functions in an import section that has nothing else. */
function importedFunctions(reader) {
  const count = reader.number();
  for (let left = count; left > 0; left -= 1) {
    reader.slice();
    reader.slice();
    if (reader.bytes[reader.at++] !== 0) throw new Error("an import is no function");
    reader.number();
  }
  return count;
}

/** The sections but for the names, the bodies of the functions, and how many functions come before them. */
function parts(bytes) {
  const reader = new Reader(bytes);
  const [sections, bodies] = [[], []];
  let imported = 0;
  while (reader.at < bytes.length) {
    const start = reader.at;
    const id = bytes[reader.at++];
    const end = reader.number() + reader.at;
    if (id === IMPORTS) imported = importedFunctions(reader);
    if (id === CODE) for (let left = reader.number(); left > 0; left -= 1) bodies.push(reader.slice());
    const isNames = id === CUSTOM && String(reader.slice()) === "name";
    reader.at = end;
    if (!isNames) sections.push(bytes.subarray(start, end));
  }
  return { sections, bodies, imported };
}

/** The runs of a body, as hashes. */
function runs(body) {
  const found = new Set();
  for (let at = 0; at + RUN_BYTES <= body.length; at += 1) {
    let hash = 0;
    for (let next = at; next < at + RUN_BYTES; next += 1) hash = (Math.imul(hash, 0x01000193) ^ body[next]) >>> 0;
    found.add(hash);
  }
  return [...found];
}

/** The numbers of the functions, beginning with the longest, each time the one that shares most with the window before. */
function ordered(bodies) {
  const runsOf = bodies.map(runs);
  const holders = new Map();
  runsOf.forEach((list, number) => list.forEach((run) => holders.get(run)?.push(number) ?? holders.set(run, [number])));
  for (const [run, list] of holders) if (list.length < 2 || list.length > COMMON) holders.delete(run);
  const [shared, inWindow] = [new Int32Array(bodies.length), new Map()];
  const count = (number, change, edge) => {
    for (const run of runsOf[number]) {
      const list = holders.get(run);
      if (!list) continue;
      const times = (inWindow.get(run) ?? 0) + change;
      inWindow.set(run, times);
      if (times === edge) for (const holder of list) shared[holder] += change * worth(list.length);
    }
  };
  const share = (number) => shared[number] / (bodies[number].length + LEAST_BYTES);
  const left = new Set(bodies.keys());
  const order = [];
  let [next, first, window] = [bodies.reduce((best, body, at) => (body.length > bodies[best].length ? at : best), 0), 0, 0];
  while (left.size > 0) {
    if (order.length > 0) [next] = left;
    if (order.length > 0) for (const number of left) if (share(number) > share(next)) next = number;
    left.delete(next);
    order.push(next);
    count(next, 1, 1);
    for (window += bodies[next].length; window > WINDOW_BYTES; first += 1) {
      count(order[first], -1, 0);
      window -= bodies[order[first]].length;
    }
  }
  return order;
}

function leb(value) {
  const bytes = [];
  for (; value > 127; value >>>= 7) bytes.push((value & 127) | 128);
  return Buffer.from([...bytes, value]);
}

const vector = (bytes) => Buffer.concat([leb(bytes.length), bytes]);

const [from, to] = process.argv.slice(2);
const bytes = readFileSync(from);
const { sections, bodies, imported } = parts(bytes);
const places = new Map(ordered(bodies).map((number, place) => [number, String(place).padStart(6, "0")]));
const names = bodies.map((_, number) => Buffer.concat([leb(imported + number), vector(Buffer.from(places.get(number)))]));
const functionNames = Buffer.concat([leb(names.length), ...names]);
const section = Buffer.concat([vector(Buffer.from("name")), Buffer.from([1]), vector(functionNames)]);
writeFileSync(to, Buffer.concat([bytes.subarray(0, 8), ...sections, Buffer.from([CUSTOM]), vector(section)]));
