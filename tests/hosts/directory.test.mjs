// The directory of agents: as a server of its own, beside the gateway, kept in a file, and as programs write to it.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { Gateway } from "../../pkg/node.mjs";
import { StateFile } from "../../pkg/node/state-file.mjs";
import { Command } from "./process.mjs";

const card = (name, more = {}) => ({ name, description: "about", url: "https://a.test/", capabilities: {}, skills: [{ id: "s", tags: ["food"] }], ...more });

function folder(t) {
  const path = mkdtempSync(join(tmpdir(), "narrows-directory-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function started(t, words) {
  const command = new Command(t, [...words, "--port", "0"]);
  const [origin] = await command.until(() => /http:\/\/[^/\s]+(?=\/)/.exec(command.stdout));
  return { command, origin };
}

const put = (origin, value) =>
  fetch(`${origin}/agents/${encodeURIComponent(value.name)}`, { method: "PUT", body: JSON.stringify(value) });

const names = async (response) => (await response.json()).map(({ name }) => name);

test("narrows directory serves a directory and nothing else", async (t) => {
  const { command, origin } = await started(t, ["directory"]);
  assert.match(command.stdout, /a directory of agents at http:\S+\/agents\n/);
  assert.equal((await put(origin, card("Bistro à côté"))).status, 201);
  assert.equal((await put(origin, card("Bistro à côté", { version: "2" }))).status, 200);
  assert.equal((await put(origin, { name: "no card" })).status, 400);
  assert.deepEqual(await names(await fetch(`${origin}/agents?filter=FOOD`)), ["Bistro à côté"]);
  const head = await fetch(`${origin}/agents`, { method: "HEAD" });
  assert.equal((await fetch(`${origin}/agents`, { headers: { "If-None-Match": head.headers.get("etag") } })).status, 304);
  assert.equal(await (await fetch(`${origin}/healthz`)).text(), "ok");
  for (const path of ["/", "/mcp", "/a2a", "/.well-known/agent-card.json", "/agentsx"]) {
    assert.equal((await fetch(origin + path, { method: "POST", body: "{}" })).status, 404, path);
  }
  assert.equal((await fetch(`${origin}/agents/Bistro%20%C3%A0%20c%C3%B4t%C3%A9`, { method: "DELETE" })).status, 204);
  assert.equal((await fetch(`${origin}/agents`, { headers: { Origin: "http://evil.example.com" } })).status, 403);
});

test("what was registered is there after the process was killed", async (t) => {
  const state = join(folder(t), "cards.jsonl");
  const first = await started(t, ["directory", "--state", state]);
  await Promise.all(["a", "b", "c"].map((name) => put(first.origin, card(name))));
  await fetch(`${first.origin}/agents/b`, { method: "DELETE" });
  first.command.child.kill("SIGKILL");
  await first.command.exit();
  assert.equal((statSync(state).mode & 0o777).toString(8), "600");
  const second = await started(t, ["directory", "--state", state]);
  assert.deepEqual(await names(await fetch(`${second.origin}/agents`)), ["a", "c"]);
});

test("a file that ends anywhere holds all that was kept up to there", (t) => {
  const state = join(folder(t), "state.jsonl");
  const steps = [
    ["a", ["1"]],
    ["a/b", ["ü\u2028\n", "2"]],
    ["ab", ["3"]],
    ["a", ["4"]],
    ["a", []],
    ["c", ["5"]],
  ];
  const opened = () => {
    rmSync(`${state}.lock`, { force: true });
    return new StateFile(state);
  };
  const file = opened();
  const after = [[0, []]];
  for (const [key, pieces] of steps) {
    file.keep(key, pieces);
    after.push([statSync(state).size, file.pieces()]);
  }
  assert.deepEqual(after.at(-1)[1], ["3", "5"]);
  const whole = readFileSync(state);
  for (let size = 0; size <= whole.length; size += 1) {
    writeFileSync(state, whole);
    truncateSync(state, size);
    writeFileSync(`${state}.new`, "half of");
    const expected = after.filter(([end]) => end <= size).at(-1)[1];
    const again = opened();
    assert.deepEqual(again.pieces(), expected, `after ${size} bytes`);
    again.keep("later", ["6"]);
    assert.deepEqual(again.pieces(), [...expected, "6"]);
  }
  writeFileSync(state, "not JSON\n");
  assert.throws(opened, /is no state of a gateway/);
  assert.throws(() => new StateFile("/dev/null/state.jsonl"), /cannot be kept in/);
});

test("a file that grew is written anew, with what is kept", (t) => {
  const state = join(folder(t), "state.jsonl");
  const file = new StateFile(state);
  const piece = "x".repeat(1 << 20);
  let largest = 0;
  for (let turn = 0; turn < 40; turn += 1) {
    file.keep(`key-${turn % 2}`, [piece + turn]);
    largest = Math.max(largest, statSync(state).size);
  }
  assert.ok(largest < 16 << 20, `${largest} bytes`);
  rmSync(`${state}.lock`);
  assert.deepEqual(new StateFile(state).pieces().map((text) => text.slice(piece.length)), ["38", "39"]);
});

test("beside the gateway, its tools discover what is registered", async (t) => {
  const { command, origin } = await started(t, ["serve"]);
  assert.match(command.stdout, new RegExp(`Directory of agents: ${origin}/agents\n`));
  assert.equal((await put(origin, card("bistro"))).status, 201);
  const _meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };
  const response = await fetch(`${origin}/mcp`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": "tools/call",
      "Mcp-Name": "discover_agents",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { _meta, name: "discover_agents", arguments: {} } }),
  });
  const { result } = await response.json();
  assert.deepEqual(result.structuredContent.agents, [card("bistro")]);
});

const request = (path, init) => new Request(`http://localhost${path}`, init);

test("a program registers, and reads as everybody does", async (t) => {
  const saved = [];
  const gateway = await Gateway.open({ config: { directory: { built_in: true } }, onSave: (key) => saved.push(key) });
  t.after(() => gateway.dispose());
  const { register, unregister } = gateway.directory;
  register(card("Chef"));
  register(JSON.stringify(card("Driver")));
  assert.deepEqual(await names(await gateway.fetch(request("/agents"))), ["Chef", "Driver"]);
  assert.deepEqual((await gateway.discover({ filter: "chef" })).structured.agents, [card("Chef")]);
  unregister("Driver");
  assert.deepEqual(saved.filter((key) => key.startsWith("directory/")), ["directory/Chef", "directory/Driver", "directory/Driver"]);
  assert.throws(() => unregister("Driver"), { name: "GatewayError", code: "misuse" });
  assert.throws(() => register({ name: "x" }), { name: "GatewayError", code: "misuse" });
  assert.throws(() => register(undefined), { name: "GatewayError", code: "misuse" });
  gateway.dispose();
  assert.throws(() => register(card("Chef")), { name: "GatewayError", code: "disposed" });
});

test("a directory of the embedder's is asked in place of the gateway's", async (t) => {
  const told = [];
  const opened = async (directory) => {
    const gateway = await Gateway.open({ directory, onNotice: ({ event, fields }) => event === "host_error" && told.push(fields.message) });
    t.after(() => gateway.dispose());
    return gateway;
  };
  const listing = await opened({ list: () => ["c", "a", "b"].map((name) => card(name)) });
  const first = await listing.fetch(request("/agents?limit=2"));
  assert.deepEqual(await names(first.clone()), ["a", "b"]);
  const [, next] = /<([^>]+)>/.exec(first.headers.get("link"));
  assert.deepEqual(await names(await listing.fetch(request(next))), ["c"]);
  assert.deepEqual((await listing.discover({ limit: 1 })).structured.agents, [card("a")]);
  assert.throws(() => listing.directory.register(card("d")), { code: "misuse" });
  const asked = [];
  const querying = await opened({
    async query(question) {
      asked.push(question);
      if (question.cursor === "old") throw Object.assign(new Error("that page is gone"), { code: "bad_cursor" });
      if (question.filter === "broken") throw new Error("password hunter2 was refused");
      return { cards: [card("a")], next_token: "t2" };
    },
  });
  const page = await (await querying.fetch(request("/agents?cursor=&limit=1&filter=x"))).json();
  assert.deepEqual(page, { cards: [card("a")], next_token: "t2" });
  assert.deepEqual(asked, [{ filter: "x", limit: 1, cursor: undefined }]);
  const gone = await querying.fetch(request("/agents?cursor=old"));
  assert.deepEqual([gone.status, (await gone.json()).error.message], [400, "that page is gone"]);
  const broken = await querying.fetch(request("/agents?filter=broken"));
  assert.equal(broken.status, 502);
  assert.doesNotMatch(await broken.text(), /hunter2/);
  assert.deepEqual(told, ["password hunter2 was refused"]);
  const filtering = await opened({ filter: async (filter) => [card(`${filter}-2`), card(`${filter}-1`)] });
  assert.deepEqual(await names(await filtering.fetch(request("/agents?filter=any"))), ["any-1", "any-2"]);
  await assert.rejects(Gateway.open({ directory: {} }), { code: "misuse" });
});
