import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";

import { LineWriter } from "../../pkg/node/writer.mjs";

/** A reader that stands still until it reads everything. */
function standing() {
  const [taken, waiting] = [[], []];
  const stream = new Writable({
    highWaterMark: 1,
    write: (chunk, _, done) => {
      taken.push(String(chunk));
      waiting.push(done);
    },
  });
  const read = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      waiting.shift()();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return taken.join("").trim().split("\n");
  };
  return { stream, read };
}

test("too many waiting bytes are told, and so is their end", async () => {
  const waiting = [];
  const stream = new Writable({ highWaterMark: 16, write: (chunk, _, done) => waiting.push(done) });
  const told = [];
  const writer = new LineWriter(stream, {
    queueBytes: 100,
    onFull: () => told.push("full"),
    onDrained: () => told.push("drained"),
  });
  for (let i = 0; i < 10; i += 1) writer.write("x".repeat(19));
  assert.deepEqual(told, ["full"]);
  await new Promise((resolve) => setImmediate(resolve));
  while (waiting.length > 0) {
    waiting.shift()();
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(told, ["full", "drained"]);
});

test("messages of one turn leave together", async () => {
  const batches = [];
  const stream = new Writable({
    writev: (chunks, done) => {
      batches.push(chunks.map(({ chunk }) => String(chunk)));
      done();
    },
  });
  const writer = new LineWriter(stream);
  writer.write("a");
  writer.write("b");
  await writer.flushed(1000);
  assert.deepEqual(batches.flat().join(""), "a\nb\n");
  assert.deepEqual(batches[0].slice(0, 2), ["a\n", "b\n"]);
});

test("others who write to the stream afterwards do not get between the messages", async () => {
  const taken = [];
  const stream = new Writable({ write: (chunk, _, done) => done(void taken.push(String(chunk))) });
  const writer = new LineWriter(stream);
  stream.write = () => assert.fail("the writer uses the stream's own method");
  writer.write("a");
  await writer.flushed(1000);
  assert.equal(taken.join(""), "a\n");
});

test("a reader that is gone is told once, and writing to it is nothing", async () => {
  let broken = 0;
  const stream = new Writable({ write: (chunk, _, done) => done(Object.assign(new Error("EPIPE"), { code: "EPIPE" })) });
  const writer = new LineWriter(stream, { onBroken: () => (broken += 1) });
  writer.write("a");
  await new Promise((resolve) => setImmediate(resolve));
  writer.write("b");
  await writer.flushed(1000);
  assert.equal(broken, 1);
});

test("a reader that is far behind gets everything in order, and never very much in one call", async () => {
  const [taken, calls] = [[], []];
  const stream = new Writable({
    highWaterMark: 16,
    writev: (chunks, done) => {
      calls.push(chunks.reduce((bytes, { chunk }) => bytes + chunk.length, 0));
      taken.push(...chunks.map(({ chunk }) => String(chunk)));
      setImmediate(done);
    },
    write: (chunk, _, done) => {
      taken.push(String(chunk));
      setImmediate(done);
    },
  });
  const writer = new LineWriter(stream, { queueBytes: 1000 });
  const lines = Array.from({ length: 500 }, (_, i) => `${i} ${"x".repeat(90)}`);
  for (const line of lines) writer.write(line);
  await writer.flushed(5000);
  assert.deepEqual(taken.join("").trimEnd().split("\n"), lines);
  assert.ok(Math.max(...calls) < 1200, `${Math.max(...calls)} bytes in one call`);
});

test("of the progress of a call, the last waits for a reader that stands still", async () => {
  const { stream, read } = standing();
  const writer = new LineWriter(stream, { queueBytes: 10 });
  const progress = (token, progress) => JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: token, progress } });
  writer.write("the first is too much");
  for (let i = 0; i < 1000; i += 1) {
    writer.write(progress("a\"b", i));
    writer.write(progress(7, i));
  }
  writer.write("answer");
  writer.write(progress(7, 1000));
  writer.write("other");
  const lines = await read();
  assert.deepEqual(lines, ["the first is too much", progress("a\"b", 999), progress(7, 1000), "answer", "other"]);
});

test("where too much waits, a large answer is an error for its caller", async () => {
  const { stream, read } = standing();
  const writer = new LineWriter(stream, { queueBytes: 10, unreadBytes: 250_000 });
  const answer = (id) => JSON.stringify({ jsonrpc: "2.0", id, result: { text: "x".repeat(100_000) } });
  const ids = [1, 'a"b', 3, -4.5];
  writer.write("the first is too much");
  for (const id of ids) writer.write(answer(id));
  writer.write("small");
  const lines = await read();
  assert.deepEqual([lines[1], lines[2], lines[5]], [answer(1), answer('a"b'), "small"]);
  for (const [line, id] of [[lines[3], 3], [lines[4], -4.5]]) {
    const { error, ...rest } = JSON.parse(line);
    assert.deepEqual([rest, error.code], [{ jsonrpc: "2.0", id }, -32603]);
    assert.match(error.message, /limits\.unread_bytes \(250000\)/);
  }
});
