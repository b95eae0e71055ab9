import { Core } from "../core.mjs";

/**
 * Plays a trace through a gateway of its own and compares all that it says, byte for byte.
 *
 * @param {string} text a trace: JSON lines, the first of them the birth
 * @returns {{ lines: number, inputs: number, bytes: number, difference?: { line: number, want: string, got: string },
 *   records: object[] }} the records have the deadlines too, which a trace leaves out
 * @throws {Error} the text is no trace
 */
export function replay(text) {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const birth = read(lines[0], 1);
  if (birth.genesis === undefined) throw new Error("A trace begins with the birth of its gateway; this file does not.");
  const { seed, now, unix_ms } = birth.genesis;
  const core = new Core({ seed: bytes(seed), now, unixMs: unix_ms }, birth.config);
  try {
    core.trace(true);
    return compare(core, lines);
  } finally {
    core.free();
  }
}

function compare(core, lines) {
  const records = [];
  const got = [];
  const wanted = [];
  let at = 0;
  let inputs = 0;
  let timeout = "null";
  const drain = () => {
    while (core.output() !== undefined);
    for (let line; (line = core.traceLine()) !== undefined; ) got.push(line);
  };
  // A trace leaves the deadlines out; they are told after what an input led to.
  const tellTimeout = () => {
    const due = core.timeout() ?? "null";
    if (due === timeout) return;
    timeout = due;
    records.push({ now: at, timeout: JSON.parse(due) });
  };
  for (const [index, line] of lines.entries()) {
    const parsed = read(line, index + 1);
    if ("timeout" in parsed) continue;
    if (parsed.input || parsed.note !== undefined) tellTimeout();
    at = parsed.now ?? at;
    if (parsed.note === undefined) wanted.push([line, index + 1]);
    if (!parsed.genesis) records.push({ now: at, ...parsed });
    if (!parsed.input) continue;
    inputs += 1;
    put(core, parsed);
    drain();
  }
  drain();
  tellTimeout();
  const bytes = wanted.reduce((sum, [line]) => sum + line.length, 0);
  return { lines: wanted.length, inputs, bytes, difference: difference(wanted, got, lines.length), records };
}

/** Where what was said is not what the trace has. */
function difference(wanted, got, last) {
  for (let i = 0; i < Math.max(wanted.length, got.length); i += 1) {
    const [want, line] = wanted[i] ?? ["(nothing)", last + 1];
    if (want !== got[i]) return { line, want, got: got[i] ?? "(nothing)" };
  }
  return undefined;
}

/** An input of a trace. One that the gateway refused then is refused again. */
export function put(core, { now, input }) {
  try {
    core.input(now, JSON.stringify(input));
  } catch (error) {
    if (error.code !== "misuse") throw error;
  }
}

/**
 * A test for `node --test` that plays a trace and fails where the gateway says anything else.
 *
 * @param {string[]} lines the trace
 * @param {string} title
 */
export function asTest(lines, title) {
  const trace = lines.map((line) => `  ${JSON.stringify(line)},`).join("\n");
  return `import assert from "node:assert/strict";
import test from "node:test";

import init, { Core } from "narrows";

// Recorded in the demo page. Each line is what went into the gateway or what it said.
const trace = [
${trace}
].map((line) => [line, JSON.parse(line)]).filter(([, { note }]) => note === undefined);

test(${JSON.stringify(title)}, async () => {
  await init();
  const { genesis, config } = trace[0][1];
  const seed = Uint8Array.from(genesis.seed.match(/../g), (byte) => Number.parseInt(byte, 16));
  const core = new Core({ seed, now: genesis.now, unixMs: genesis.unix_ms }, config);
  core.trace(true);
  for (const [, { now, input }] of trace) {
    if (input) core.input(now, JSON.stringify(input));
    while (core.output() !== undefined);
  }
  for (const [line] of trace) assert.equal(core.traceLine(), line);
  assert.equal(core.traceLine(), undefined);
});
`;
}

function read(line, number) {
  try {
    return JSON.parse(line ?? "");
  } catch {
    throw new Error(`Line ${number} is not JSON, so this is no trace.`);
  }
}

function bytes(hex) {
  return Uint8Array.from(String(hex).match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
