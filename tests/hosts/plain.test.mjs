import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { Command } from "./process.mjs";

const run = promisify(execFile);

/** The command as a server with a configuration. @returns {Promise<string>} its origin */
async function served(t, config, words, environment = {}) {
  const folder = mkdtempSync(join(tmpdir(), "narrows-plain-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "config.json");
  writeFileSync(file, JSON.stringify(config));
  const command = new Command(t, ["serve", "--config", file, ...words], environment);
  const [url] = await command.until(() => /http:\S+(?=\/mcp\n)/.exec(command.stdout));
  return url;
}

/** Two gateways: one here, whose agent echoes, and one called `other-agent`, whose agent passes on to the first. */
async function two(t) {
  const address = `127.45.${process.pid % 250}.${1 + Math.floor(Math.random() * 250)}`;
  const preload = `--import=${new URL("other-agent.mjs", import.meta.url)}`;
  const environment = { OTHER_AGENT: address, NODE_OPTIONS: preload };
  const here = await served(t, { a2a: { responder: "echo" } }, ["--port", "0"], environment);
  const other = {
    server: { hosts: ["other-agent"] },
    a2a: { responder: "relay:first", external_agents: [{ name: "first", url: here }] },
  };
  await served(t, other, ["--host", address, "--port", "4545"]);
  return here;
}

/** Runs lines of a shell, in which `localhost:4545` is the gateway, and gives what each printed. */
async function shell(origin, lines) {
  const { host } = new URL(origin);
  const curl = `curl() { command curl --silent --show-error --max-time 30 --connect-to "localhost:4545:${host}" "$@"; echo; echo ---; }`;
  const { stdout } = await run("bash", ["-c", `${curl}\n${lines}`]);
  return stdout.split("\n---\n").slice(0, -1);
}

// As the manual of a peer prints them.
const DISCOVER_AND_SEND = String.raw`
# Discover an external agent
curl -X POST http://localhost:4545/api/a2a/discover \
  -H "Content-Type: application/json" \
  -d '{"url": "http://other-agent:4545"}'

# Send a task to an external agent
curl -X POST http://localhost:4545/api/a2a/send \
  -H "Content-Type: application/json" \
  -d '{
    "agent_url": "http://other-agent:4545",
    "message": "Research AI trends and summarize"
  }'

# Check task status
curl http://localhost:4545/api/a2a/tasks/task-123/status
`;

const ACCEPT = String.raw`
# External agent sends a task to this instance
curl -X POST http://localhost:4545/api/a2a/tasks \
  -H "Content-Type: application/json" \
  -d '{
    "id": "task-456",
    "message": {
      "role": "user",
      "parts": [{ "type": "text", "text": "Research AI trends" }]
    }
  }'

# Poll for results
curl http://localhost:4545/api/a2a/tasks/task-456

# Or use SSE for streaming
curl -N http://localhost:4545/api/a2a/tasks/task-456/events
`;

test("the lines of the manual work as they stand, and two gateways pass a task on and back", async (t) => {
  const here = await two(t);
  const begun = `curl -X POST http://localhost:4545/api/a2a/tasks -H 'Content-Type: application/json' -d '{"id":"task-123","message":"x"}'`;
  const [, ...told] = await shell(here, `${begun}\n${DISCOVER_AND_SEND}`);
  const [discovered, sent, status] = told.map((text) => JSON.parse(text));
  assert.equal(discovered.status, "trusted");
  assert.equal(discovered.url, "http://other-agent:4545");
  assert.equal(discovered.agent.supportedInterfaces[0].url, "http://other-agent:4545/a2a");
  // To the other gateway over this API, from there over A2A to the first one's agent, and all the way back.
  assert.equal(sent.status.state, "TASK_STATE_COMPLETED", JSON.stringify(sent));
  assert.equal(sent.artifacts[0].parts[0].text, "Research AI trends and summarize");
  assert.equal(status.status.state, "TASK_STATE_COMPLETED");
  const known = await (await fetch(`${here}/api/a2a/tasks/${sent.id}/status`)).json();
  assert.deepEqual(known, sent);
  const { items } = await (await fetch(`${here}/api/a2a/tasks`)).json();
  assert.equal(items.length, 2, "the one that was begun, and the one that came back over A2A");
  assert.equal(items.filter((task) => task.history[0].parts[0].text.startsWith("Research")).length, 1);
});

test("tasks are taken in, polled and streamed", async (t) => {
  const here = await served(t, { a2a: { responder: "echo" } }, ["--port", "0"]);
  const [made, polled, streamed] = await shell(here, ACCEPT);
  assert.equal(JSON.parse(made).id, "task-456");
  assert.deepEqual(JSON.parse(polled), JSON.parse(made));
  assert.equal(JSON.parse(polled).artifacts[0].parts[0].text, "Research AI trends");
  assert.match(streamed, /^id: \d+\nevent: task\ndata: \{"id":"task-456"/);
  const refused = await fetch(`${here}/api/a2a/send`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ agent_url: "http://127.0.0.1:9/", message: "x" }),
  });
  assert.equal(refused.status, 400);
  assert.equal((await refused.json()).error.code, "not_discovered");
});

test("a task is followed while it goes on", async (t) => {
  const here = await served(t, { a2a: { responder: "inbox" } }, ["--port", "0"]);
  const post = (path, body) =>
    fetch(`${here}/api/a2a/${path}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const made = await post("tasks", { id: "t", message: "x" });
  assert.equal(made.headers.get("location"), "/api/a2a/tasks/t");
  const stream = await fetch(`${here}/api/a2a/tasks/t/events`);
  assert.equal(stream.headers.get("content-type"), "text/event-stream");
  assert.equal((await post("tasks/t/cancel", {})).status, 200);
  const text = await stream.text();
  assert.deepEqual([...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name), ["task", "status"]);
  const again = await fetch(`${here}/api/a2a/tasks/t/events`, { headers: { "Last-Event-ID": /.*^id: (\d+)/ms.exec(text)[1] } });
  assert.equal(again.status, 204);
  assert.equal((await post("tasks/t/cancel", {})).status, 409);
});
