import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Invitations } from "../../pkg/node/approval-page.mjs";
import { Command } from "./process.mjs";

const SERVER = fileURLToPath(new URL("mcp-server.mjs", import.meta.url));
const TOKENS = [{ token: "token-of-ada", principal: "ada" }, { token: "token-of-bob", principal: "bob", may_approve: true }];

/** A gateway with state, whose every call waits; killed and started again as often as is wanted. */
class Guarded {
  constructor(t, state, approval = {}) {
    this.t = t;
    this.folder = mkdtempSync(join(tmpdir(), "narrows-approvals-"));
    t.after(() => rmSync(this.folder, { recursive: true, force: true }));
    this.calls = join(this.folder, "calls");
    this.state = join(this.folder, state);
    this.config = join(this.folder, "narrows.json");
    const transport = { type: "stdio", command: process.execPath, args: [SERVER, "counting", this.calls] };
    const configuration = { auth: { tokens: TOKENS }, mcp_servers: [{ name: "s", transport }], approval: { require_approval: true, ...approval } };
    writeFileSync(this.config, JSON.stringify(configuration));
  }

  /** Callers have nothing to be told apart by: what decides is the code in the log. */
  withoutTokens() {
    const { auth, ...configuration } = JSON.parse(readFileSync(this.config, "utf8"));
    writeFileSync(this.config, JSON.stringify(configuration));
  }

  async start() {
    this.command = new Command(this.t, ["serve", "--port", "0", "--config", this.config, "--state", this.state]);
    [this.url] = await this.command.until(() => /http:\S+\/mcp(?=\n)/.exec(this.command.stdout));
  }

  async kill(signal = "SIGKILL") {
    this.command.child.kill(signal);
    await this.command.exit();
  }

  async ask(method, path, { name = "ada", body, headers = {}, signal } = {}) {
    const all = { Authorization: `Bearer token-of-${name}`, "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...headers };
    return fetch(new URL(path, this.url), { method, headers: all, signal, ...(body && { body: JSON.stringify(body) }) });
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

  /** A call of the era without sessions. @returns {Promise<object>} the message that answers it */
  async callAlone(id, args, { capabilities = {}, more = {}, signal } = {}) {
    const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": capabilities };
    const body = { jsonrpc: "2.0", id, method: "tools/call", params: { name: "mcp_s_echo", arguments: args, _meta: meta, ...more } };
    const headers = { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "mcp_s_echo" };
    const response = await this.ask("POST", "/mcp", { headers, body, signal });
    const text = await response.text();
    const [, data] = /^data: ?(\{.*"id":.+)$/m.exec(text) ?? [undefined, text];
    return JSON.parse(data);
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

for (const state of ["state", "state.jsonl"]) {
  test(`a call whose connection went with the gateway is approved all the same, and runs when it is made again (${state})`, async (t) => {
    const guarded = new Guarded(t, state);
    await guarded.start();
    await guarded.begin();
    const lost = guarded.callAlone(1, { text: "once" }).catch(() => "lost");
    let before;
    while (before === undefined) [before] = await guarded.pending();
    await guarded.kill();
    assert.equal(await lost, "lost");
    await guarded.start();
    await guarded.listed();
    const [request] = await guarded.pending();
    assert.deepEqual([request.id, request.arguments_digest], [before.id, before.arguments_digest]);
    assert.equal(await guarded.approve(request.id), 200);
    assert.equal(await guarded.approve(request.id), 409);
    await guarded.kill();
    await guarded.start();
    await guarded.listed();
    const told = await (await guarded.ask("GET", `/api/approvals/${request.id}`, { name: "bob" })).json();
    assert.deepEqual([told.state, told.decided_by], ["approved", "bob"]);
    assert.deepEqual(guarded.called(), []);
    const { result } = await guarded.callAlone(2, { text: "once" });
    assert.equal(result.content[0].text, "once");
    const again = guarded.callAlone(3, { text: "once" }).catch(() => "lost");
    while ((await guarded.pending()).length === 0);
    await guarded.kill();
    await again;
    assert.deepEqual(guarded.called(), ['echo {"text":"once"}']);
  });
}

test("what waits outlives a gateway that is told to end, and whoever decides is told of it by the next one", async (t) => {
  const guarded = new Guarded(t, "state");
  guarded.withoutTokens();
  await guarded.start();
  await guarded.begin();
  const lost = guarded.callAlone(1, { text: "once" }).catch(() => "lost");
  const [, place] = await guarded.command.until(() => /open (http:[^\s,]+)/.exec(guarded.command.stderr));
  await guarded.kill("SIGTERM");
  await lost;
  await guarded.start();
  await guarded.listed();
  const [, again] = await guarded.command.until(() => /open (http:[^\s,]+)/.exec(guarded.command.stderr));
  const [id, code] = again.split("#")[1].split(".");
  assert.equal(again.split("#")[1], place.split("#")[1]);
  const response = await guarded.ask("POST", `/api/approvals/${id}/approve`, { body: { code } });
  assert.equal(response.status, 200);
  const { result } = await guarded.callAlone(2, { text: "once" });
  assert.equal(result.content[0].text, "once");
  assert.deepEqual(guarded.called(), ['echo {"text":"once"}']);
});

test("a client that was asked by the result of its call brings the answer to the next process", async (t) => {
  const guarded = new Guarded(t, "state", { elicitation: true });
  await guarded.start();
  await guarded.begin();
  const capabilities = { elicitation: {} };
  const { result: asked } = await guarded.callAlone(1, { text: "once" }, { capabilities });
  assert.equal(asked.resultType, "input_required");
  await guarded.kill();
  await guarded.start();
  await guarded.listed();
  const [key] = Object.keys(asked.inputRequests);
  const more = { requestState: asked.requestState, inputResponses: { [key]: { action: "accept", content: { approve: true } } } };
  const { result } = await guarded.callAlone(2, { text: "once" }, { capabilities, more });
  assert.equal(result.content[0].text, "once");
  const { error } = await guarded.callAlone(3, { text: "once" }, { capabilities, more });
  assert.equal(error.code, -32602);
  assert.deepEqual(guarded.called(), ['echo {"text":"once"}']);
});

test("what waits since before the gateway had its address is told then, unless it is decided or over", () => {
  const told = [];
  const invitations = new Invitations((text) => told.push(text));
  const notice = (event, id, more) => invitations.notice({ event, fields: { id, tool: `mcp_s_${id}`, ...more } });
  for (const id of ["a", "b", "c"]) notice("approval_pending", id, { code: `code-of-${id}` });
  notice("approval_decided", "a");
  notice("approval_expired", "b");
  assert.deepEqual(told, []);
  invitations.open("http://127.0.0.1:1");
  notice("approval_proposed", "d", { code: "code-of-d" });
  notice("approval_decided", "d");
  assert.deepEqual(told.map((text) => /^(\S+) waits .*open (\S+),/.exec(text).slice(1)), [
    ["mcp_s_c", "http://127.0.0.1:1/approve#c.code-of-c"],
    ["mcp_s_d", "http://127.0.0.1:1/approve#d.code-of-d"],
  ]);
});

const ENDS = {
  "without a word": ({ child }) => child.kill("SIGKILL"),
  "as it was told to": ({ child }) => child.kill("SIGTERM"),
  "with its input": ({ child }) => child.stdin.end(),
};

for (const [how, end] of Object.entries(ENDS)) {
  test(`a client on stdio brings the answer to the next process, where one ended ${how}`, async (t) => {
    const guarded = new Guarded(t, "state.jsonl");
    const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };
    const ask = (command, id, method, params) => {
      command.send({ id, method, params: { ...params, _meta: meta } });
      return command.answer(id);
    };
    const start = async () => {
      const command = new Command(t, ["--config", guarded.config, "--state", guarded.state]);
      for (let id = 100; ; id += 1) {
        if (JSON.stringify(await ask(command, id, "tools/list", {})).includes("mcp_s_echo")) return command;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const call = { name: "mcp_s_echo", arguments: { text: "once" } };
    let command = await start();
    const { result: asked } = await ask(command, 1, "tools/call", call);
    assert.equal(asked.resultType, "input_required");
    end(command);
    await command.exit();
    command = await start();
    const [key] = Object.keys(asked.inputRequests);
    const more = { requestState: asked.requestState, inputResponses: { [key]: { action: "accept", content: { approve: true } } } };
    const { result } = await ask(command, 2, "tools/call", { ...call, ...more });
    assert.equal(result?.content[0].text, "once");
    const { error } = await ask(command, 3, "tools/call", { ...call, ...more });
    assert.equal(error.code, -32602);
    assert.deepEqual(guarded.called(), ['echo {"text":"once"}']);
  });
}
