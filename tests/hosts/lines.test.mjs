import assert from "node:assert/strict";
import { test } from "node:test";

import { Lines } from "../../pkg/node/lines.mjs";

/** What `Lines` makes of bytes that come in these pieces. */
function cut(pieces, limitBytes = 1000) {
  const seen = [];
  const lines = new Lines(
    limitBytes,
    (text) => seen.push(text),
    (start, end, bytes) => seen.push({ start, end, bytes }),
  );
  for (const piece of pieces) lines.push(Buffer.from(piece));
  lines.end();
  return seen;
}

/** All ways to hand over bytes that matter: whole, one by one, in two at every place. */
function everyCut(bytes) {
  const whole = Buffer.from(bytes);
  const ways = [[whole], [...whole].map((byte) => [byte])];
  for (let i = 1; i < whole.length; i += 1) ways.push([whole.subarray(0, i), whole.subarray(i)]);
  return ways;
}

test("lines end at LF, with or without CR, however the bytes are cut", () => {
  const text = '\uFEFF{"a":"é—🙂"}\r\n\n  \t\r\nb\u2028c\u2029d\u0085e\u000bf\u000cg\rh\n\uFEFFi\nj';
  for (const pieces of everyCut(text)) {
    assert.deepEqual(cut(pieces), ['{"a":"é—🙂"}', "b\u2028c\u2029d\u0085e\u000bf\u000cg\rh", "\uFEFFi", "j"]);
  }
});

test("bytes that are no UTF-8 are replaced, and the rest of the line stays", () => {
  assert.deepEqual(cut([[0x22, 0xff, 0xc3, 0x22, 0x0a]]), ['"\uFFFD\uFFFD"']);
});

test("a line of the limit passes, one byte more is counted and not kept", () => {
  for (const pieces of everyCut("1234567890\r\n12345678901\r\n\uFEFF\nok\n")) {
    assert.deepEqual(cut(pieces, 10), ["1234567890", { start: "12345678901", end: "12345678901", bytes: 11 }, "\uFEFF", "ok"]);
  }
});

test("the limit is in bytes, not in characters", () => {
  assert.deepEqual(cut(["漢漢漢漢\n", "漢漢漢\n"], 11), [{ start: "漢漢漢漢", end: "漢漢漢漢", bytes: 12 }, "漢漢漢"]);
});

test("of a line that is too long the first 4 KiB and the last KiB are told", () => {
  const long = `{"id":7,"x":"${"y".repeat(5000)}"}`;
  for (const size of [1, 100, 4096, 10_000]) {
    const bytes = Buffer.from(`${long}\nok\n`);
    const pieces = [];
    for (let i = 0; i < bytes.length; i += size) pieces.push(bytes.subarray(i, i + size));
    const told = { start: long.slice(0, 4096), end: long.slice(-1024), bytes: long.length };
    assert.deepEqual(cut(pieces), [told, "ok"], `pieces of ${size}`);
  }
});

test("a line without an end takes bounded memory", () => {
  const limitBytes = 1 << 20;
  const seen = [];
  const lines = new Lines(
    limitBytes,
    (text) => seen.push(text),
    (_start, _end, bytes) => seen.push(bytes),
  );
  const block = Buffer.alloc(1 << 20, "z");
  const before = process.memoryUsage();
  for (let i = 0; i < 512; i += 1) lines.push(block);
  const after = process.memoryUsage();
  assert.ok(after.arrayBuffers + after.heapUsed - before.arrayBuffers - before.heapUsed < 32 << 20);
  lines.push(Buffer.from("\nok\n"));
  assert.deepEqual(seen, [512 << 20, "ok"]);
});
