// What the worker serves beside MCP, at the same paths as the command; and tasks between the two, through A2A and without it.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { Command } from "../hosts/process.mjs";
import { Runtime } from "./runtime.mjs";

const TOKEN = "token-of-ann";
const SHOWN = { Authorization: `Bearer ${TOKEN}` };
const CONFIG = { a2a: { responder: "echo" }, auth: { tokens: [{ token: TOKEN, principal: "ann", may_register: true }] } };

/** The command with a configuration. @returns {Promise<string>} its origin */
async function served(t, config) {
  const folder = mkdtempSync(join(tmpdir(), "narrows-worker-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "config.json"), JSON.stringify(config));
  const command = new Command(t, ["serve", "--port", "0", "--config", join(folder, "config.json")]);
  const [url] = await command.until(() => /http:\S+(?=\/mcp\n)/.exec(command.stdout));
  return url;
}

const workerOf = (t, config = {}) => Runtime.start(t, { tokens: CONFIG.auth.tokens, config: { a2a: CONFIG.a2a, ...config } });

/** Asks below `/api/a2a`. */
async function plain(origin, method, path, body, headers = SHOWN) {
  const init = { method, headers: { "Content-Type": "application/json", ...headers }, body: body && JSON.stringify(body) };
  const response = await fetch(`${origin}/api/a2a/${path}`, init);
  return { status: response.status, body: await response.json() };
}

const answered = ({ artifacts }) => artifacts?.[0].parts[0].text;

test("every path answers as it does at the command", async (t) => {
  const [there, here] = [(await workerOf(t)).url, await served(t, CONFIG)];
  const card = JSON.stringify({ name: "bistro", description: "cooks", url: "https://bistro.example/", skills: [] });
  const asked = [
    ["GET", "/.well-known/agent-card.json"],
    ["GET", "/.well-known/agent.json"],
    ["GET", "/mcp", SHOWN],
    ["POST", "/a2a", SHOWN, "{}"],
    ["POST", "/a2a/", SHOWN, "{}"],
    ["POST", "/api/a2a", SHOWN, "{}"],
    ["POST", "/a2a"],
    ["GET", "/a2a/rest/tasks", SHOWN],
    ["GET", "/a2a/rest/v1/tasks", SHOWN],
    ["POST", "/a2a/rest/v1/message:send", SHOWN, "{}"],
    ["GET", "/api/a2a/agents", SHOWN],
    ["GET", "/api/a2a/agents"],
    ["GET", "/api/a2a/tasks?state=completed&limit=5", SHOWN],
    ["GET", "/api/a2a/tasks/none", SHOWN],
    ["GET", "/api/a2a/tasks/none/events", SHOWN],
    ["POST", "/api/a2a/tasks/none/cancel", SHOWN],
    ["POST", "/api/a2a/send", SHOWN, '{"agent_url":"http://nobody.example","message":"x"}'],
    ["PUT", "/agents/bistro", {}, card],
    ["PUT", "/agents/bistro", SHOWN, card],
    ["PUT", "/agents/other", SHOWN, card],
    ["GET", "/agents?filter=cook&limit=1"],
    ["GET", "/agents?limit=0"],
    ["GET", "/agents?help=true"],
    ["GET", "/agents?cursor=x"],
    ["PATCH", "/agents/bistro", SHOWN],
    ["DELETE", "/agents/bistro", SHOWN],
    ["DELETE", "/agents/bistro", SHOWN],
    ["GET", "/api/approvals?state=pending", SHOWN],
    ["GET", "/api/approvals/none", SHOWN],
    ["GET", "/metrics", SHOWN],
    ["GET", "/metrics"],
    ["GET", "/healthz"],
    ["POST", "/healthz"],
    ["GET", "/nothing", SHOWN],
    ["OPTIONS", "/a2a"],
  ];
  const told = async (origin, [method, path, headers = {}, body]) => {
    const response = await fetch(origin + path, { method, headers: { ...(body && { "Content-Type": "application/json" }), ...headers }, body });
    const type = response.headers.get("content-type")?.split(";")[0];
    return [method, path, response.status, type, response.headers.get("allow"), (await response.text()).length > 0];
  };
  for (const one of asked) assert.deepEqual(await told(there, one), await told(here, one));
  const [metrics, health] = await Promise.all(["/metrics", "/healthz"].map((path) => fetch(there + path, { headers: SHOWN }).then((found) => found.text())));
  assert.match(metrics, /^narrows_http_requests_total\{route="\{listen_path\}",status="200"\} 2$/m);
  assert.equal(health, "ok");
});

test("the command sends a task to the worker, through A2A and through the plain API", async (t) => {
  const worker = (await workerOf(t)).url;
  const agent = { name: "edge", url: worker, headers: SHOWN };
  const here = await served(t, { external_agents: [agent], a2a: { responder: "relay:edge" } });
  const sent = await plain(here, "POST", "send", { agent_url: worker, message: "over the plain API" }, {});
  assert.deepEqual([sent.status, sent.body.status.state, answered(sent.body)], [200, "TASK_STATE_COMPLETED", "over the plain API"]);
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "over A2A" }] };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } });
  const headers = { "Content-Type": "application/json", "A2A-Version": "1.0" };
  const { result } = await (await fetch(`${here}/a2a`, { method: "POST", headers, body })).json();
  assert.equal(answered(result.task), "over A2A");
  const { body: known } = await plain(worker, "GET", "tasks");
  assert.equal(known.items.length, 2, "both are tasks of the worker");
});

test("the worker sends a task to the command, and tells how it stands", async (t) => {
  const worker = (await workerOf(t)).url;
  const here = await served(t, { a2a: { responder: "echo" } });
  const unknown = await plain(worker, "POST", "send", { agent_url: here, message: "too early" });
  assert.equal(unknown.status, 400);
  const found = await plain(worker, "POST", "discover", { url: here });
  assert.deepEqual([found.status, found.body.status], [200, "trusted"]);
  const { body: task } = await plain(worker, "POST", "send", { agent_url: here, message: "to the other side" });
  assert.equal(answered(task), "to the other side");
  const again = await plain(worker, "GET", `tasks/${task.id}/status`);
  assert.deepEqual([again.status, again.body.status.state], [200, "TASK_STATE_COMPLETED"]);
  const begun = await plain(worker, "POST", "tasks", { id: "task-456", message: { role: "user", parts: [{ type: "text", text: "of its own" }] } });
  assert.equal(begun.status, 202);
  assert.equal(answered((await plain(worker, "GET", "tasks/task-456")).body), "of its own");
  const events = await (await fetch(`${worker}/api/a2a/tasks/task-456/events`, { headers: SHOWN })).text();
  assert.match(events, /TASK_STATE_COMPLETED/);
});
