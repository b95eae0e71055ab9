import assert from "node:assert/strict";
import { PassThrough, Writable } from "node:stream";
import { test } from "node:test";

import { Driver } from "../../pkg/lib/driver.mjs";
import { serveStdio } from "../../pkg/node/stdio.mjs";
import { FakeCore } from "./fake-core.mjs";

/** Serves a fake core that answers every message with `echo`; `ended` settles when serving ends. */
function served({ echo = () => [], output = new PassThrough(), messageBytes = 1000, signal } = {}) {
  const core = new FakeCore((input) => {
    if (input.type === "message") for (const text of echo(input.text)) core.say({ type: "message", peer: 1, text });
  });
  const input = new PassThrough();
  const said = [];
  const host = new Driver(core, { fetch: () => ({ abort() {} }) });
  const ended = serveStdio(host, { input, output, messageBytes, signal, say: (text) => said.push(text) });
  return { core, input, output, said, ended };
}

const read = (stream) => String(stream.read() ?? "");

test("messages go in as they are and come out one a line", async () => {
  const { core, input, output, ended } = served({ echo: (text) => [`1:${text}`, `2:${text}`] });
  input.end('not json\n{"id":1}\n');
  await ended;
  assert.deepEqual(
    core.inputs.map(({ type, peer, scope, text }) => [type, peer, scope ?? text]),
    [
      ["open", 1, "stdio"],
      ["message", 1, "not json"],
      ["message", 1, '{"id":1}'],
      ["closed", 1, undefined],
    ],
  );
  assert.equal(read(output), '1:not json\n2:not json\n1:{"id":1}\n2:{"id":1}\n');
});

test("a message that is too long is told with its start, and the next one is read", async () => {
  const { core, input, ended } = served({ messageBytes: 8 });
  const text = `{"id":3,"x":"${"y".repeat(20)}"}`;
  input.end(`${text}\nnext\n`);
  await ended;
  const [{ now, ...tooLong }] = core.told("message_too_long");
  assert.deepEqual(tooLong, { type: "message_too_long", peer: 1, start: text, end: text, bytes: 35 });
  assert.deepEqual(
    core.told("message").map(({ text }) => text),
    ["next"],
  );
});

test("Content-Length framing is explained once, and the messages inside are read", async () => {
  const { core, input, said, ended } = served();
  input.write('Content-Length: 40\r\nContent-Type: application/json\r\n\r\n{"id":1}\n');
  input.end('content-length:40\r\n\r\n{"id":2}');
  await ended;
  assert.deepEqual(
    core.told("message").map(({ text }) => text),
    ['{"id":1}', '{"id":2}'],
  );
  assert.equal(said.length, 1);
  assert.match(said[0], /Content-Length.*one JSON message per line/);
});

test("the end of the input, its failure and a signal all end serving", async () => {
  const ways = [
    ({ input }) => input.end(),
    ({ input }) => input.destroy(new Error("EIO")),
    ({ input }) => input.destroy(),
    (_, ending) => ending.abort(),
    ({ output }) => output.destroy(Object.assign(new Error("write EPIPE"), { code: "EPIPE" })),
  ];
  for (const end of ways) {
    const ending = new AbortController();
    const serving = served({ signal: ending.signal });
    serving.input.write("x\n");
    await new Promise((resolve) => setImmediate(resolve));
    end(serving, ending);
    await serving.ended;
    assert.deepEqual(
      serving.core.inputs.map(({ type }) => type),
      // Whoever is told to end answers first what runs.
      ["open", "message", ...(ending.signal.aborted ? ["stop"] : []), "closed"],
    );
    assert.ok(serving.core.freed);
  }
});

test("a signal that came before serving ends it too", async () => {
  const { core, ended } = served({ signal: AbortSignal.abort() });
  await ended;
  assert.ok(core.freed);
});

/** A reader that takes nothing until it is told to. */
function slowReader() {
  const taken = [];
  const waiting = [];
  const output = new Writable({
    highWaterMark: 16,
    write: (chunk, _, done) => {
      taken.push(String(chunk));
      waiting.push(done);
    },
  });
  const take = () => {
    while (waiting.length > 0) waiting.shift()();
  };
  return { output, taken, take };
}

test("a reader that is slow gets everything in order", async () => {
  const { output, taken, take } = slowReader();
  const { input, ended } = served({ echo: (text) => [text], output });
  for (let i = 0; i < 100; i += 1) input.write(`message ${i}\n`);
  input.end();
  const timer = setInterval(take, 1);
  await ended;
  clearInterval(timer);
  assert.deepEqual(taken.join(""), Array.from({ length: 100 }, (_, i) => `message ${i}\n`).join(""));
});

test("a reader that takes nothing at all does not hold the end up", async () => {
  const { output } = slowReader();
  const { input, ended } = served({ echo: (text) => [text], output });
  input.end("x\ny\n");
  await ended;
});
