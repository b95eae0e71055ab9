import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Command } from "./process.mjs";

const SERVER = fileURLToPath(new URL("mcp-server.mjs", import.meta.url));
const TOKENS = [{ token: "token-of-ada", principal: "ada" }, { token: "token-of-bob", principal: "bob", may_approve: true }];

/** A gateway with state, whose every call waits; killed and started again as often as is wanted. */
class Guarded {
  constructor(t, state) {
    this.t = t;
    this.folder = mkdtempSync(join(tmpdir(), "narrows-approvals-"));
    t.after(() => rmSync(this.folder, { recursive: true, force: true }));
    this.calls = join(this.folder, "calls");
    this.state = join(this.folder, state);
    this.config = join(this.folder, "narrows.json");
    const transport = { type: "stdio", command: process.execPath, args: [SERVER, "counting", this.calls] };
    const configuration = { auth: { tokens: TOKENS }, mcp_servers: [{ name: "s", transport }], approval: { require_approval: true } };
    writeFileSync(this.config, JSON.stringify(configuration));
  }

  async start() {
    this.command = new Command(this.t, ["serve", "--port", "0", "--config", this.config, "--state", this.state]);
    [this.url] = await this.command.until(() => /http:\S+\/mcp(?=\n)/.exec(this.command.stdout));
  }

  async kill() {
    this.command.child.kill("SIGKILL");
    await this.command.exit();
  }

  async ask(method, path, { name = "ada", body, headers = {} } = {}) {
    const all = { Authorization: `Bearer token-of-${name}`, "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...headers };
    return fetch(new URL(path, this.url), { method, headers: all, ...(body && { body: JSON.stringify(body) }) });
  }

  async begin() {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "0" } };
    const response = await this.ask("POST", "/mcp", { body: { jsonrpc: "2.0", id: 0, method: "initialize", params } });
    this.session = { "Mcp-Session-Id": response.headers.get("mcp-session-id"), "MCP-Protocol-Version": "2025-11-25" };
    await response.text();
    await this.listed();
  }

  /** Waits until the server's tools are known. */
  async listed() {
    for (let id = 100; ; id += 1) {
      const response = await this.ask("POST", "/mcp", { headers: this.session, body: { jsonrpc: "2.0", id, method: "tools/list" } });
      if ((await response.text()).includes("mcp_s_echo")) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Calls a tool that waits. @returns {Promise<string>} the id of the event after which its answer comes */
  async call(id, tool, args) {
    const body = { jsonrpc: "2.0", id, method: "tools/call", params: { name: tool, arguments: args, _meta: { progressToken: id } } };
    const response = await this.ask("POST", "/mcp", { headers: this.session, body });
    let text = "";
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const last = [...text.matchAll(/^id: ?(.+)$/gm)].at(-1);
      if (last) return last[1];
    }
    throw new Error(`no event: ${text}`);
  }

  async pending() {
    const { items } = await (await this.ask("GET", "/api/approvals?state=pending", { name: "bob" })).json();
    return items;
  }

  async approve(id) {
    return (await this.ask("POST", `/api/approvals/${id}/approve`, { name: "bob", body: {} })).status;
  }

  /** The answer to a call, on the stream that goes on after an event. */
  async answer(id, after) {
    const response = await this.ask("GET", "/mcp", { headers: { ...this.session, "Last-Event-ID": after, Accept: "text/event-stream" } });
    let text = "";
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const messages = [...text.matchAll(/^data: ?(\{.+)$/gm)].map(([, data]) => JSON.parse(data));
      const found = messages.find((message) => message.id === id);
      if (found) return found;
    }
    throw new Error(`no answer: ${response.status} ${text}`);
  }

  /** What the server was called with, over all its lives. */
  called() {
    return readFileSync(this.calls, "utf8").split("\n").filter((line) => /^[a-z]/.test(line));
  }
}

for (const state of ["state", "state.jsonl"]) {
  test(`a call that waits for a person outlives the gateway, and goes out once (${state})`, async (t) => {
    const guarded = new Guarded(t, state);
    await guarded.start();
    await guarded.begin();
    const after = await guarded.call(1, "mcp_s_echo", { text: "once" });
    const [before] = await guarded.pending();
    await guarded.kill();
    await guarded.start();
    await guarded.listed();
    const [request] = await guarded.pending();
    assert.deepEqual([request.id, request.arguments_digest, request.expires_at], [before.id, before.arguments_digest, before.expires_at]);
    assert.deepEqual(guarded.called(), []);
    assert.equal(await guarded.approve(request.id), 200);
    const { result } = await guarded.answer(1, after);
    assert.equal(result.content[0].text, "once");
    assert.notEqual(await guarded.approve(request.id), 200);
    await guarded.kill();
    await guarded.start();
    await guarded.listed();
    assert.deepEqual(await guarded.pending(), []);
    assert.notEqual(await guarded.approve(request.id), 200);
    assert.deepEqual(guarded.called(), ['echo {"text":"once"}']);
  });
}

test("one that was approved and ran when the gateway was killed never runs again, and its caller hears of it", async (t) => {
  const guarded = new Guarded(t, "state");
  await guarded.start();
  await guarded.begin();
  const after = await guarded.call(1, "mcp_s_hang", { n: 1 });
  const [request] = await guarded.pending();
  assert.equal(await guarded.approve(request.id), 200);
  while (guarded.called().length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  await guarded.kill();
  await guarded.start();
  await guarded.listed();
  const { result } = await guarded.answer(1, after);
  assert.match(result.content[0].text, /the gateway was restarted while this call was running/);
  assert.notEqual(await guarded.approve(request.id), 200);
  assert.deepEqual([await guarded.pending(), guarded.called()], [[], ['hang {"n":1}']]);
});
