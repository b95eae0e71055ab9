import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Log } from "../../pkg/node/log.mjs";
import { table } from "../../pkg/node/table.mjs";
import { visible, visibleJson, visibleLines } from "../../pkg/node/visible.mjs";
import { Command } from "./process.mjs";

/** Clears, titles, rings, returns, turns, hides, and an 8-bit introducer. */
const NASTY = "a\u001b[2J\u001b]0;t\u0007\rb\u202ec\u200bd\u009b31m\u{e0041}\u3164";
const OBEYED = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202e\u3164\u{e0041}]/u;

test("what a terminal would obey or not show is written out", () => {
  assert.equal(visible("a\u001b[31m\r\nb\u{e0041} é"), "a\\u{1b}[31m\\u{d}\\u{a}b\\u{e0041} é");
  assert.equal(visibleLines("a\r\nb"), "a\\u{d}\nb");
  const json = visibleJson({ [NASTY]: NASTY }, 2);
  assert.doesNotMatch(json, OBEYED);
  assert.deepEqual(JSON.parse(json), { [NASTY]: NASTY });
});

test("the log writes out what others say, as words and as JSON", () => {
  for (const isTTY of [true, false]) {
    let written = "";
    const log = new Log({ isTTY, on: () => {}, write: (text) => (written += text) });
    log.say(`it ended: ${NASTY}`);
    log.notice({ level: "warn", event: "link_lost", fields: { why: NASTY, more: [NASTY] } });
    assert.doesNotMatch(written, OBEYED);
    assert.equal(written.split("\n").length, 3);
  }
});

test("a table fits a narrow terminal, and no cell of it is obeyed", () => {
  const rows = [["a-long-name-of-a-server", "stdio /usr/local/bin/some-long-command", "12", `failed: ${NASTY} and more words`]];
  for (const columns of [40, 60, 80, 120]) {
    const text = table(["NAME", "TRANSPORT", "TOOLS", "STATE"], rows, { columns, isTTY: true }).replace(/\u001b\[[01]m/g, "");
    for (const line of text.split("\n")) assert.ok(line.length <= columns, `${columns}: ${line}`);
    assert.doesNotMatch(text, OBEYED);
  }
  assert.match(table(["NAME", "STATE"], [["x".repeat(200), NASTY]], {}), /x{200} {2}a\\u\{1b\}/);
});

test("what a server says of itself and its last words are written out by mcp list and mcp test", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "narrows-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [said, file] = [join(folder, "said"), join(folder, "narrows.json")];
  const program = fileURLToPath(new URL("mcp-server.mjs", import.meta.url));
  const server = (name, ...args) => ({ name, transport: { type: "stdio", command: process.execPath, args } });
  const dies = `process.stderr.write(${JSON.stringify(`${NASTY}\rnarrows: all is well\n`)}); process.exit(1)`;
  writeFileSync(said, `${NASTY} said\nmore`);
  writeFileSync(file, JSON.stringify({ mcp_servers: [server("talks", program, "told", said), server("dies", "-e", dies)] }));
  for (const [words, want] of [
    [["test", "talks"], /b\\u\{202e\}c.* said$/m],
    [["test", "talks", "--json"], /said/],
    [["test", "dies"], /^ {2}\| a\\u\{1b\}\[2J.*narrows: all is well$/m],
    [["list"], /^dies /m],
    [["list", "--json"], /dies/],
  ]) {
    const command = new Command(t, ["mcp", ...words, "--config", file]);
    command.child.stdin.end();
    await command.exit();
    assert.match(command.stdout, want, command.stderr);
    assert.doesNotMatch(command.stdout + command.stderr, OBEYED, words.join(" "));
  }
});
