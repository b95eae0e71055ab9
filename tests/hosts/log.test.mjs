import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";

import { Log } from "../../pkg/node/log.mjs";

/** A stream that holds what it was given; without `takes` nothing is ever taken from its queue. */
function stream({ isTTY = false, takes = true } = {}) {
  const lines = [];
  const writable = new Writable({
    write: (chunk, _, done) => {
      lines.push(String(chunk));
      if (takes) done();
    },
  });
  return Object.assign(writable, { isTTY, lines });
}

test("notices are lines of JSON, readable on a terminal, and ordinary life is not told", () => {
  const notice = { level: "warning", event: "call_ended", fields: { tool: "send_message", code: "timeout", ms: 7 } };
  const piped = stream();
  new Log(piped).notice(notice);
  for (const level of ["debug", "info"]) new Log(piped).notice({ ...notice, level });
  assert.deepEqual(
    piped.lines.map((line) => JSON.parse(line)),
    [{ level: "warning", event: "call_ended", ...notice.fields }],
  );
  const terminal = stream({ isTTY: true });
  new Log(terminal).notice(notice);
  assert.deepEqual(terminal.lines, ["narrows: warning: call_ended tool=send_message code=timeout ms=7\n"]);
});

test("a log that nobody reads takes bounded memory, and one that broke harms nothing", async () => {
  const unread = stream({ takes: false });
  const log = new Log(unread);
  for (let i = 0; i < 5000; i += 1) log.say("x".repeat(1000));
  assert.ok(unread.writableLength < 2 << 20);
  const broken = stream();
  const other = new Log(broken);
  broken.destroy(new Error("EPIPE"));
  await new Promise((resolve) => setImmediate(resolve));
  other.say("to nobody");
});
