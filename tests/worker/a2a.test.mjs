// The example worker as an A2A agent in workerd: tasks in the objects of their callers, found again after these were lost.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";

import { Caller, events, textOf } from "../hosts/a2a.mjs";
import { Agents } from "./agents.mjs";
import { Client } from "./client.mjs";
import { Runtime } from "./runtime.mjs";

const TOKENS = [
  { token: "token-of-ann", principal: "ann" },
  { token: "token-of-bob", principal: "bob" },
];

/** A worker that is an agent, and the agents behind it. */
async function world(t, { a2a, relay, tokens = TOKENS, ...options }) {
  const agents = await Agents.start(t);
  const external_agents = relay ? [{ name: relay, url: agents.url(relay) }] : [];
  const config = { external_agents, ...(a2a && { a2a: { responder: relay ? `relay:${relay}` : "echo", ...a2a } }) };
  const runtime = await Runtime.start(t, { tokens, config, ...options });
  t.after(async () => {
    const seen = await runtime.seen().catch(() => ({ timers: 0, refused: 0 }));
    assert.deepEqual([seen.timers, seen.refused], [0, 0], "no timer but the alarm, no request over the limit");
  });
  const caller = (token) => new Caller(fetch, { url: `${runtime.url}/a2a`, headers: token ? { authorization: `Bearer ${token}` } : {} });
  return { runtime, agents, caller };
}

/** The last event of a stream. */
async function toTheEnd(stream) {
  let last;
  for await (const event of stream) last = event;
  return last;
}

const card = async (runtime) => fetch(`${runtime.url}/.well-known/agent-card.json`);

test("a caller's tasks are in its own object, and outlive it", async (t) => {
  const { runtime, caller } = await world(t, { a2a: {} });
  const [ann, bob] = [caller("token-of-ann"), caller("token-of-bob")];
  const shown = await card(runtime);
  assert.equal(shown.status, 200);
  const { supportedInterfaces, securitySchemes } = await shown.json();
  assert.equal(supportedInterfaces[0].url, `${runtime.url}/a2a`);
  assert.ok(securitySchemes.bearer);
  assert.equal((await runtime.seen()).events, 0, "the card needs no object");
  const { task } = await ann.send("hello");
  assert.deepEqual([task.status.state, textOf(task.artifacts[0])], ["TASK_STATE_COMPLETED", "hello"]);
  const streamed = [];
  for await (const event of ann.stream("again")) streamed.push(event);
  assert.equal(streamed.at(-1).statusUpdate.status.state, "TASK_STATE_COMPLETED");
  await runtime.lose({ principal: "ann" });
  assert.deepEqual(await ann.call("GetTask", { id: task.id }), task);
  assert.equal((await ann.call("ListTasks", {})).tasks.length, 2);
  await assert.rejects(bob.call("GetTask", { id: task.id }), { code: -32001 });
  assert.deepEqual((await bob.call("ListTasks", {})).tasks, []);
  const rest = await fetch(`${runtime.url}/a2a/rest/tasks/${task.id}`, { headers: { authorization: "Bearer token-of-ann", "a2a-version": "1.0" } });
  assert.equal((await rest.json()).id, task.id);
});

test("whoever shows no token is told so, and wakes no object", async (t) => {
  const { runtime, caller } = await world(t, { a2a: {} });
  for (const token of [undefined, "token-of-nobody"]) {
    assert.equal((await caller(token).ask("SendMessage", {})).status, 401);
    assert.equal((await fetch(`${runtime.url}/a2a/rest/tasks`)).status, 401);
  }
  assert.equal((await runtime.seen()).events, 0);
});

test("a task waits for an answer through MCP, by the same token", async (t) => {
  const { runtime, caller } = await world(t, { a2a: { responder: "inbox" } });
  const host = new Client(runtime, "token-of-ann");
  const sent = caller("token-of-ann").send("a table for four");
  let tasks;
  do ({ tasks } = await host.call("list_tasks"));
  while (tasks.length === 0);
  assert.deepEqual((await new Client(runtime, "token-of-bob").call("list_tasks")).tasks, []);
  await host.call("respond_task", { task_id: tasks[0].id, message: "by the window", state: "completed" });
  const { task } = await sent;
  assert.deepEqual([task.id, textOf(task.status.message)], [tasks[0].id, "by the window"]);
});

test("a function of the object's class does the work", async (t) => {
  const { runtime, caller } = await world(t, { a2a: { responder: "function", name: "Bistro" } });
  assert.deepEqual((await (await card(runtime)).json()).skills.map(({ id }) => id), ["function"]);
  const said = [];
  for await (const { statusUpdate } of caller("token-of-ann").stream("hello")) if (statusUpdate) said.push(textOf(statusUpdate.status.message));
  assert.deepEqual(said, ["for ann", "Bistro heard hello"]);
});

test("alarms poll for a caller that waits", async (t) => {
  const { agents, caller } = await world(t, { a2a: {}, relay: "poll" });
  const { task } = await caller("token-of-ann").send("work");
  assert.equal(task.status.state, "TASK_STATE_COMPLETED");
  assert.equal(agents.sent("poll", "GetTask").length, 2);
});

test("a webhook is told although its object was lost, and nobody asks", { timeout: 60_000 }, async (t) => {
  const { runtime, agents, caller } = await world(t, { a2a: {} });
  const told = [];
  let isReady = false;
  const hook = createServer((request, response) => {
    told.push(isReady);
    request.resume().on("end", () => response.writeHead(isReady ? 204 : 503).end());
  });
  await new Promise((resolve) => hook.listen(0, "127.0.0.1", resolve));
  t.after(() => hook.close());
  const taskPushNotificationConfig = { url: `http://127.0.0.1:${hook.address().port}/` };
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "hello" }] };
  const ann = caller("token-of-ann");
  const { task } = await ann.call("SendMessage", { message, configuration: { taskPushNotificationConfig } });
  while (told.length === 0) await setTimeout(20);
  await runtime.lose({ principal: "ann" });
  isReady = true;
  while (!told.includes(true)) await setTimeout(50);
  // Made by its alarm it knows whose it is, and is not taken for a session's that nobody asks for.
  assert.equal((await ann.call("GetTask", { id: task.id })).id, task.id);
  const host = new Client(runtime, "token-of-ann");
  await host.call("connect_agent", { alias: "echo", agent_url: agents.url("echo") });
  await runtime.ring({ principal: "ann" }, 26 * 3_600_000);
  await runtime.lose({ principal: "ann" });
  assert.equal((await host.call("list_agents", {})).agents.length, 1);
});

test("killed in the middle of a stream, the task goes on and nothing is sent again", async (t) => {
  const { runtime, agents, caller } = await world(t, { a2a: {}, relay: "stream" });
  const ann = caller("token-of-ann");
  const stream = ann.stream("work");
  const { task } = (await stream.next()).value;
  assert.equal((await stream.next()).value.statusUpdate.status.state, "TASK_STATE_WORKING");
  await runtime.kill();
  await assert.rejects(toTheEnd(stream));
  const revived = caller("token-of-ann");
  assert.equal((await revived.call("GetTask", { id: task.id })).status.state, "TASK_STATE_WORKING");
  const rest = events(await revived.ask("SubscribeToTask", { id: task.id }));
  assert.equal((await rest.next()).value.task.id, task.id);
  await agents.until(() => agents.streams("stream"));
  agents.complete("stream", { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "done" }] });
  const last = await toTheEnd(rest);
  assert.deepEqual([last.statusUpdate.status.state, textOf(last.statusUpdate.status.message)], ["TASK_STATE_COMPLETED", "done"]);
  assert.equal(agents.sent("stream", "SendStreamingMessage").length, 1);
  assert.equal((await revived.call("GetTask", { id: task.id })).status.state, "TASK_STATE_COMPLETED");
});

test("a caller that leaves a stream does not end its task", async (t) => {
  const { agents, caller } = await world(t, { a2a: {}, relay: "stream" });
  const ann = caller("token-of-ann");
  const leaving = new AbortController();
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "work" }] };
  const stream = events(await ann.ask("SendStreamingMessage", { message }, { signal: leaving.signal }));
  const { task } = (await stream.next()).value;
  leaving.abort();
  await assert.rejects(toTheEnd(stream), { name: "AbortError" });
  agents.complete("stream");
  let state;
  do ({ state } = (await ann.call("GetTask", { id: task.id })).status);
  while (state === "TASK_STATE_WORKING");
  assert.equal(state, "TASK_STATE_COMPLETED");
  assert.equal(agents.sent("stream", "CancelTask").length, 0);
});

test("without tokens one object may be everybody's agent, and its name says which", async (t) => {
  const { runtime, caller } = await world(t, { tokens: [], publicAgent: "front-desk", a2a: {} });
  assert.equal((await card(runtime)).status, 200);
  const { task } = await caller().send("hello");
  assert.equal(textOf(task.artifacts[0]), "hello");
  await runtime.lose({ principal: "front-desk" });
  assert.deepEqual(await caller().call("GetTask", { id: task.id }), task);
  const session = await Client.shaken(runtime);
  const { status } = await session.post({ method: "tools/call", params: { name: "list_tasks", arguments: {} } });
  assert.equal(status, 200);
  assert.equal((await fetch(`${runtime.url}/elsewhere`)).status, 404);
});

test("nobody is served as an agent where that is not asked for", async (t) => {
  const ways = [
    { tokens: [] }, // an agent, but neither tokens nor an object for everybody
    { tokens: [], publicAgent: "front-desk", a2a: undefined },
    { tokens: [], publicAgent: "front-desk", a2a: { enabled: false } },
    { a2a: undefined },
  ];
  for (const way of ways) {
    const { runtime, caller } = await world(t, { a2a: {}, ...way });
    const headers = { authorization: "Bearer token-of-ann" };
    for (const path of ["/.well-known/agent-card.json", "/a2a/rest/tasks"]) {
      assert.equal((await fetch(runtime.url + path, { headers })).status, 404, `${path} ${JSON.stringify(way)}`);
    }
    assert.equal((await caller("token-of-ann").ask("SendMessage", {})).status, 404, JSON.stringify(way));
  }
});

test("an inbox that nobody could read is refused", async (t) => {
  const { runtime } = await world(t, { tokens: [], publicAgent: "front-desk", a2a: { responder: "inbox" } });
  const refused = await card(runtime);
  assert.equal(refused.status, 500);
  assert.match(await refused.text(), /nobody could answer what comes to the inbox/);
});
