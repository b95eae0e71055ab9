import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { parseArguments } from "../../pkg/node/arguments.mjs";
import { Gateway } from "../../pkg/node.mjs";

const SERVER = fileURLToPath(new URL("mcp-server.mjs", import.meta.url));

/** Put together here, so that no token stands in this file in one piece. */
const TOKEN = ["gh", "p_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].join("");

test("a payload is looked through before it leaves", async () => {
  const check = (...args) => Gateway.checkOutboundText(...args);
  assert.deepEqual(await check(`use ${TOKEN}`), [{ path: "$", rule: "well_known_prefix" }]);
  assert.deepEqual(await check({ a: [TOKEN], password: "x" }, "agent_message"), [
    { path: "$.a[0]", rule: "well_known_prefix" },
    { path: "$.password", rule: "sensitive_key_name" },
  ]);
  assert.deepEqual(await check("ada@example.org", "agent_message"), []);
  assert.deepEqual(await check("ada@example.org", "net_fetch", ["PiiEmail"]), []);
  let deep = "x";
  for (let depth = 0; depth < 100; depth += 1) deep = { n: deep };
  assert.equal((await check(deep)).at(-1).rule, "depth");
  await assert.rejects(check("x", "elsewhere"), { code: "misuse" });
  await assert.rejects(check("x", "net_fetch", ["Nope"]), { code: "misuse", message: /Nope/ });
  await assert.rejects(check(undefined), { code: "misuse" });
});

/** A gateway with a server whose every call waits. */
async function guarded(t, options) {
  const servers = [{ name: "t", transport: { type: "stdio", command: process.execPath, args: [SERVER] } }];
  const config = { mcp_servers: servers, approval: { require_approval: true, timeout_secs: 10 } };
  const gateway = await Gateway.open({ config, ...options });
  t.after(() => gateway.dispose());
  for (;;) {
    const tool = (await gateway.tools()).find(({ name }) => name.startsWith("mcp_t_"));
    if (tool) return { gateway, tool: tool.name };
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("a function of the embedder's decides calls that wait", async (t) => {
  const asked = [];
  const answers = [{ approved: false, reason: "not today" }, Promise.resolve(true)];
  const onApproval = (request) => {
    asked.push(request);
    return answers.shift();
  };
  const { gateway, tool } = await guarded(t, { onApproval });
  await assert.rejects(gateway.call(tool, { text: "hi" }), { code: "approval_denied", message: /not today/ });
  assert.equal(asked[0].tool, tool);
  assert.match(asked[0].summary, / of t with /);
  await gateway.call(tool, { text: "hi" });
  assert.equal(asked.length, 2);
});

test("a caller is who the command line says", () => {
  const parsed = parseArguments(["--agent", "cron", "--sender=ada", "--channel", "chat"]);
  assert.deepEqual(parsed, { command: "stdio", agent: "cron", sender: "ada", channel: "chat" });
  assert.throws(() => parseArguments(["serve", "--agent", "cron"]), /token/);
});

test("the command's configuration has its caller", async (t) => {
  const { Command } = await import("./process.mjs");
  const folder = mkdtempSync(join(tmpdir(), "narrows-policy-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const config = join(folder, "narrows.json");
  const servers = [{ name: "t", transport: { type: "stdio", command: process.execPath, args: [SERVER] } }];
  writeFileSync(config, JSON.stringify({ mcp_servers: servers, agents: { cron: { mcp_servers: [] } } }));
  const command = new Command(t, ["--config", config, "--agent", "cron"]);
  await command.initialize();
  for (let id = 0; ; id += 1) {
    command.send({ id: `call-${id}`, method: "tools/call", params: { name: "mcp_t_echo", arguments: { text: "hi" } } });
    const { error, result } = await command.answer(`call-${id}`);
    // Until the server has said what it has, nobody knows the name.
    if (error) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      continue;
    }
    assert.equal(result.structuredContent.error.code, "blocked");
    command.send({ id: "list", method: "tools/list" });
    const { tools } = (await command.answer("list")).result;
    assert.ok(tools.every(({ name }) => !name.startsWith("mcp_t_")), "what a caller may not use it is not shown");
    return;
  }
});

test("a person decides over HTTP with what the caller is not told", async (t) => {
  const { Command } = await import("./process.mjs");
  const folder = mkdtempSync(join(tmpdir(), "narrows-policy-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const config = join(folder, "narrows.json");
  const servers = [{ name: "t", transport: { type: "stdio", command: process.execPath, args: [SERVER] } }];
  writeFileSync(config, JSON.stringify({ mcp_servers: servers, approval: { require_approval: true } }));
  const command = new Command(t, ["serve", "--port", "0", "--config", config]);
  const [url] = await command.until(() => /http:\S+(?=\/mcp\n)/.exec(command.stdout));
  const ask = (method, params) =>
    fetch(`${url}/mcp`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": method,
        ...(params.name && { "Mcp-Name": params.name }),
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method,
        params: {
          ...params,
          _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} },
        },
      }),
    });
  let tool;
  while (!tool) {
    const { result } = await (await ask("tools/list", {})).json();
    tool = result.tools.find(({ name }) => name.startsWith("mcp_t_"))?.name;
  }
  const answer = ask("tools/call", { name: tool, arguments: { text: "hi" } });
  const [, page, id, code] = await command.until(() => /open (\S+\/approve)#([\w-]+)\.(\w+), or/.exec(command.stderr));
  const decide = (body, headers = {}) => fetch(`${url}/api/approvals/${id}/approve`, { method: "POST", body, headers });
  assert.equal((await decide("{}")).status, 403);
  assert.equal((await decide(JSON.stringify({ code }), { Origin: "http://localhost:1" })).status, 403);
  const html = await fetch(page);
  assert.match(html.headers.get("content-security-policy"), /script-src 'sha256-[^']+'.*frame-ancestors 'none'/);
  assert.ok(!(await html.text()).includes(code));
  assert.ok(!(await (await fetch(`${url}/api/approvals`)).text()).includes(code));
  const decided = await decide(JSON.stringify({ code }));
  assert.equal((await decided.json()).decided_by, "(code)");
  assert.match(await (await answer).text(), /"content":/);
});
