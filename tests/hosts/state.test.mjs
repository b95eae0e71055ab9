// What a command keeps in a directory, and takes up again.
import assert from "node:assert/strict";
import fs, { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync, mkdirSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { Gateway } from "../../pkg/node.mjs";
import { DemoAgent } from "../../pkg/node/demo-agent.mjs";
import { StateFile } from "../../pkg/node/state-file.mjs";
import { State } from "../../pkg/node/state.mjs";
import { Command } from "./process.mjs";

function directory(t) {
  const folder = mkdtempSync(join(tmpdir(), "narrows-state-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "state");
}

const mode = (path) => (statSync(path).mode & 0o777).toString(8);

const piece = (key, text) => JSON.stringify({ narrows: 1, key, records: [{ text }] });

test("a key is replaced as a whole, and goes with all that is below it", (t) => {
  const folder = directory(t);
  const state = new State(folder);
  assert.deepEqual(state.pieces(), []);
  state.keep("a", [piece("a", "1")]);
  state.keep("a/b", [piece("a/b", "1"), piece("a/b", "2")]);
  state.keep("ab", [piece("ab", "ü\u2028")]);
  state.keep("a", [piece("a", "3")]);
  writeFileSync(join(folder, `${"0".repeat(64)}.json.new`), "half of");
  const kept = () => {
    rmSync(join(folder, "lock"));
    return new State(folder).pieces().sort();
  };
  assert.deepEqual(kept(), [piece("a", "3"), piece("a/b", "1"), piece("a/b", "2"), piece("ab", "ü\u2028")].sort());
  state.keep("a", []);
  assert.deepEqual(kept(), [piece("ab", "ü\u2028")]);
  assert.deepEqual(readdirSync(folder).map((name) => mode(join(folder, name))), ["600", "600", "600"]);
  assert.equal(mode(folder), "700");
});

test("whenever the process ends, all that was kept is there", async (t) => {
  const folder = directory(t);
  const [limits, copy] = [{ keys: 6, journal_bytes: 2000, most_bytes: 3000, late_characters: 900, whole_characters: 300, step: 1 }, `${folder}-copy`];
  t.after(() => rmSync(copy, { recursive: true, force: true }));
  let seed = 7;
  const below = (count) => (seed = (seed * 1103515245 + 12345) % 2147483648) % count;
  const state = new State(folder, limits);
  let kept = new Map();
  state.pieces();
  /** What a process finds that starts where this one was killed, with the journal cut off by so many bytes. */
  const found = (missing) => {
    rmSync(copy, { recursive: true, force: true });
    cpSync(folder, copy, { recursive: true });
    rmSync(join(copy, "lock"));
    const journal = readFileSync(join(copy, "journal"));
    if (missing > 0) writeFileSync(join(copy, "journal"), journal.subarray(0, -missing));
    new State(copy).pieces();
    rmSync(join(copy, "lock"));
    assert.equal(statSync(join(copy, "journal")).size, 0);
    return new State(copy).pieces().sort();
  };
  const wanted = (map) => [...map.values()].flat().sort();
  for (let step = 0; step < 300; step += 1) {
    const key = ["a", "a/b", "a/b/c", "ab", "d", "d/e", `f/${below(9)}`, `f/${below(9)}/g`][below(8)];
    const pieces = below(5) === 0 ? [] : [piece(key, String(step)), piece(key, "x".repeat([3, 30, 500][below(3)]))];
    const next = new Map(kept);
    if (pieces.length > 0) next.set(key, pieces);
    else for (const known of kept.keys()) if (known === key || known.startsWith(`${key}/`)) next.delete(known);
    const before = statSync(join(folder, "journal")).size;
    state.keep(key, pieces);
    const written = statSync(join(folder, "journal")).size - before;
    assert.deepEqual(found(0), wanted(next), `${step}`);
    // A line that was not written whole is one of which nobody was told.
    if (written > 0 && pieces.length > 0 && pieces[1].length < 300) assert.deepEqual(found(1 + below(written - 1)), wanted(kept), `${step}`);
    kept = next;
    if (below(4) === 0) await new Promise(setImmediate);
    assert.deepEqual(found(0), wanted(kept), `${step}, settled`);
  }
});

test("a burst of what is kept makes no files", (t) => {
  const folder = directory(t);
  const state = new State(folder);
  state.pieces();
  for (let number = 0; number < 1000; number += 1) state.keep(`task/${number}`, [piece(`task/${number}`, "x")]);
  state.keep("task", []);
  assert.deepEqual(readdirSync(folder), ["journal", "lock"]);
});

test("of many that find a lock whose holder is gone one takes it", async (t) => {
  const folder = directory(t);
  const state = join(folder, "state.jsonl");
  mkdirSync(folder);
  const unlinked = 'import fs from "node:fs";import{syncBuiltinESMExports}from"node:module";fs.linkSync=()=>{throw Object.assign(new Error("x"),{code:"EPERM"})};syncBuiltinESMExports()';
  const withoutLinks = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(unlinked)}` };
  // Ended long ago; a number that another program has by now; and where there are no links.
  for (const [holder, environment] of [["999999"], [`${process.ppid} 1`], ["999999", withoutLinks]]) {
    writeFileSync(`${state}.lock`, holder);
    const starts = Array.from({ length: 6 }, () => new Command(t, ["directory", "--port", "0", "--state", state], environment));
    const outcomes = starts.map((command) => Promise.race([command.until(() => /http:/.test(command.stdout)).then(() => "up"), command.exit()]));
    assert.deepEqual((await Promise.all(outcomes)).sort(), [2, 2, 2, 2, 2, "up"], starts.map(({ stderr }) => stderr).join(""));
    for (const { child } of starts) child.kill("SIGTERM");
    await Promise.all(starts.map((command) => command.exit()));
    assert.deepEqual(readdirSync(folder), ["state.jsonl"]);
  }
  writeFileSync(`${state}.lock`, String(process.ppid));
  const late = new Command(t, ["directory", "--port", "0", "--state", state]);
  assert.equal(await late.exit(), 2);
  assert.ok(late.stderr.includes(`in use by process ${process.ppid}. If that is no gateway, remove ${state}.lock`), late.stderr);
});

test("a holder of whom the system does not say when it began holds its lock", { skip: process.platform !== "linux" }, (t) => {
  const folder = directory(t);
  mkdirSync(folder);
  const { readFileSync: read } = fs;
  t.after(() => {
    fs.readFileSync = read;
    syncBuiltinESMExports();
  });
  fs.readFileSync = (file, ...options) => read(String(file).startsWith("/proc/") ? "/proc/none" : file, ...options);
  syncBuiltinESMExports();
  writeFileSync(join(folder, "lock"), `${process.ppid} 1`);
  assert.throws(() => new State(folder), /in use by process/);
});

test("what is no state is not taken for one", (t) => {
  const folder = directory(t);
  new State(folder);
  writeFileSync(join(folder, `${"0".repeat(64)}.json`), "not JSON\n");
  rmSync(join(folder, "lock"));
  assert.throws(() => new State(folder).pieces(), /no piece of a gateway's state/);
  assert.throws(() => new State("/dev/null/state"), /cannot be kept in/);
});

test("folders that cannot be made are refused", { skip: process.platform !== "linux" }, async (t) => {
  const folder = directory(t);
  for (const words of [["--state", "/proc/x"], ["--state", "/proc/x/y"], ["--state", "/dev/null/x"], ["--state", "/proc/x/y.jsonl"], ["--trace", "/proc/x"], ["page", "--out", "/proc/x"]]) {
    const command = new Command(t, words);
    const late = setTimeout(() => command.child.kill("SIGKILL"), 15_000);
    assert.equal(await command.exit(), 2, words.join(" "));
    clearTimeout(late);
    assert.match(command.stderr, /cannot be (kept in|written to) \/(proc|dev\/null)\/x\S*: (no such file or directory|not a directory)\.$/m);
  }
  new StateFile(join(folder, "a", "b", "state.jsonl"));
  assert.deepEqual(["a", "a/b"].map((name) => mode(join(folder, name))), ["700", "700"]);
});

test("over stdio, agents and conversations outlive the process", async (t) => {
  const agent = new DemoAgent({ pace_ms: 1 });
  t.after(() => agent.close());
  const [folder, url] = [directory(t), await agent.listen()];
  const first = new Command(t, ["--state", folder]);
  await first.initialize();
  await first.call(1, "connect_agent", { alias: "bistro", agent_url: url, headers: { "X-Key": "a-secret-of-mine" } });
  const asked = await first.call(2, "send_message", { agent: "bistro", message: "a table please" });
  const second = new Command(t, ["--state", folder]);
  assert.equal(await second.exit(), 2);
  assert.match(second.stderr, /in use by process/);
  first.child.kill("SIGKILL");
  await first.exit();
  const names = readdirSync(folder).filter((name) => name !== "lock");
  assert.ok(names.every((name) => mode(join(folder, name)) === "600"));
  assert.ok(names.some((name) => readFileSync(join(folder, name), "utf8").includes("a-secret-of-mine")));

  const third = new Command(t, ["--state", folder]);
  await third.initialize();
  assert.ok(readdirSync(folder).filter((name) => name.endsWith(".json") && mode(join(folder, name)) === "600").length > 3);
  const { structuredContent } = await third.call(1, "get_history", { agent: "bistro" });
  assert.deepEqual(structuredContent.entries.map(({ sent }) => sent), ["a table please"]);
  const again = await third.call(2, "send_message", { agent: "bistro", message: "and a window seat" });
  const context = ({ structuredContent: { task, message } }) => (task ?? message).contextId;
  assert.equal(context(again), context(asked));
  third.leave();
  assert.equal(await third.exit(), 0);
  assert.ok(!readdirSync(folder).includes("lock"));
});

test("over HTTP, a session outlives the process", async (t) => {
  const folder = directory(t);
  const start = async () => {
    const command = new Command(t, ["serve", "--port", "0", "--state", folder]);
    const [url] = await command.until(() => /http:\S+(?=\n)/.exec(command.stdout));
    return { command, url };
  };
  const post = (url, message, headers) =>
    fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
    });
  const first = await start();
  const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const begun = await post(first.url, { method: "initialize", params: hello });
  const session = { "Mcp-Session-Id": begun.headers.get("mcp-session-id") };
  const card = { name: "create_caller_card", arguments: { name: "me", description: "it is me" } };
  assert.equal((await post(first.url, { method: "tools/call", params: card }, session)).status, 200);
  first.command.child.kill("SIGKILL");
  await first.command.exit();
  const second = await start();
  const answer = await post(second.url, { method: "tools/call", params: { name: "view_caller_card" } }, session);
  assert.match(await answer.text(), /it is me/);
  assert.equal((await fetch(second.url, { method: "DELETE", headers: session })).status, 204);
  second.command.child.kill("SIGTERM");
  assert.equal(await second.command.exit(), 0);
  const third = await start();
  assert.equal((await post(third.url, { method: "tools/list" }, session)).status, 404);
});

test("what a program is told to keep is a snapshot to go on from", async (t) => {
  const agent = new DemoAgent({ pace_ms: 1 });
  t.after(() => agent.close());
  const kept = new Map();
  const onSave = (key, pieces) => {
    if (pieces.length > 0) kept.set(key, pieces);
    else for (const known of [...kept.keys()]) if (known === key || known.startsWith(`${key}/`)) kept.delete(known);
  };
  const first = await Gateway.open({ onSave });
  await first.connect({ alias: "bistro", agent_url: await agent.listen() });
  await first.connect({ alias: "other", agent_url: agent.url });
  await first.send({ agent: "bistro", message: "a table please" });
  await first.send({ agent: "other", message: "for two" });
  await first.disconnect({ alias: "other" });
  first.dispose();
  assert.ok(![...kept.keys()].some((key) => key.includes("other")), "nothing is kept of what is gone");
  const second = await Gateway.open({ onSave, snapshot: [...kept.values()].flat() });
  const { structured } = await second.agents();
  assert.deepEqual(structured.agents.map(({ alias }) => alias), ["bistro"]);
  assert.equal((await second.history({ agent: "bistro" })).structured.entries.length, 1);
  second.dispose();
});
