// The example worker in workerd: callers apart, objects lost and found again, the limits of the runtime.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Agents } from "./agents.mjs";
import { Client, events, readUntil } from "./client.mjs";
import { Runtime } from "./runtime.mjs";

const TOKENS = [
  { token: "token-of-ann", principal: "ann" },
  { token: "token-of-bob", principal: "bob" },
];

async function world(t, options = { tokens: TOKENS }) {
  const [runtime, agents] = [await Runtime.start(t, options), await Agents.start(t)];
  t.after(async () => {
    const seen = await runtime.seen().catch(() => ({ timers: 0, refused: 0 }));
    assert.deepEqual([seen.timers, seen.refused], [0, 0], "no timer but the alarm, no request over the limit");
  });
  return { runtime, agents };
}

const aliases = async (client) => (await client.call("list_agents")).agents.map(({ alias }) => alias);

test("callers with tokens see their own agents, in either era, and nobody else's", async (t) => {
  const { runtime, agents } = await world(t);
  const [ann, bob] = TOKENS.map(({ token }) => new Client(runtime, token));
  await ann.connect(agents, "echo");
  assert.deepEqual(await aliases(ann), ["echo"]);
  assert.deepEqual(await aliases(bob), []);
  const session = await Client.shaken(runtime, "token-of-ann");
  assert.deepEqual(await aliases(session), [], "a session is a scope of its own");
  const stolen = new Client(runtime, "token-of-bob");
  stolen.session = session.session;
  assert.equal((await stolen.post({ method: "tools/list" })).status, 404);
  const answer = await ann.call("send_message", { agent: "echo", message: "hello" });
  assert.equal(answer.message.parts[0].text, "echo: hello");
});

test("whoever has no object is answered at the door", async (t) => {
  const { runtime } = await world(t);
  const stranger = new Client(runtime, "token-of-nobody");
  const refused = await stranger.post({ method: "tools/list" });
  assert.equal(refused.status, 401);
  assert.match(refused.headers.get("www-authenticate"), /^Bearer/);
  assert.equal((await new Client(runtime).post({ method: "initialize" })).status, 401);
  assert.equal(await (await stranger.request("GET", { path: "/healthz" })).text(), "ok");
  assert.equal((await stranger.request("GET", { path: "/elsewhere" })).status, 401);
  assert.equal((await runtime.seen()).events, 0, "no object was woken for them");
});

test("the directory is one for all callers, and outlives its object", async (t) => {
  const tokens = [{ ...TOKENS[0], may_register: true }, TOKENS[1]];
  const { runtime } = await world(t, { tokens, config: { network: { allow_private: true }, directory: { built_in: true } } });
  const [ann, bob, nobody] = ["token-of-ann", "token-of-bob", "token-of-nobody"].map((token) => new Client(runtime, token));
  const card = { name: "bistro", description: "cooks", url: "https://bistro.example/", skills: [] };
  const put = (client) => client.request("PUT", { path: "/agents/bistro", body: JSON.stringify(card) });
  assert.equal((await put(nobody)).status, 401);
  assert.equal((await runtime.seen()).events, 0, "no object was woken for nobody");
  assert.deepEqual([(await put(bob)).status, (await put(ann)).status], [403, 201]);
  await runtime.lose({ principal: "directory/" });
  const read = await new Client(runtime).request("GET", { path: "/agents?filter=COOK" });
  assert.deepEqual(await read.json(), [card]);
  assert.deepEqual((await bob.call("discover_agents", { filter: "cook" })).agents, [card]);
  assert.equal((await bob.call("discover_agents", { cursor: "x" })).isError, true);
  assert.equal((await ann.request("DELETE", { path: "/agents/bistro" })).status, 204);
  assert.deepEqual((await bob.call("discover_agents")).agents, []);
});

test("callers without tokens are their sessions", async (t) => {
  const { runtime, agents } = await world(t, {});
  const [one, two] = [await Client.shaken(runtime), await Client.shaken(runtime)];
  await one.connect(agents, "echo");
  assert.deepEqual(await aliases(one), ["echo"]);
  assert.deepEqual(await aliases(two), []);
  const [first, second] = [one, two].map(({ session }) => session.split("."));
  const names = [
    ["made-up", 0],
    [`${"0".repeat(64)}.${first[1]}`, 0],
    [`${first[0].slice(0, -1)}x.${first[1]}`, 0],
    [`${second[0]}.${first[1]}`, 1],
  ];
  for (const [name, woken] of names) {
    const thief = new Client(runtime);
    thief.session = name;
    const before = (await runtime.seen()).events;
    assert.equal((await thief.post({ method: "tools/list" })).status, 404, name);
    assert.equal((await runtime.seen()).events - before, woken, name);
  }
  const modern = await new Client(runtime).post({ method: "server/discover" });
  assert.equal(modern.status, 400, "a client of both eras goes on with the handshake");
  assert.match(await modern.text(), /initialize/);
  assert.equal((await one.request("DELETE")).status, 204);
  assert.equal((await one.post({ method: "tools/list" })).status, 404);
  assert.deepEqual(await aliases(two), []);
});

test("an object that belongs to a session goes when nobody asked for a day", async (t) => {
  const { runtime } = await world(t, {});
  const client = await Client.shaken(runtime);
  const [id] = client.session.split(".");
  const hour_ms = 3_600_000;
  await runtime.ring({ id }, 23 * hour_ms);
  assert.equal((await client.post({ method: "tools/list" })).status, 200);
  await runtime.lose({ id });
  await runtime.ring({ id }, 47 * hour_ms);
  assert.equal((await client.post({ method: "tools/list" })).status, 200, "its last request was less than a day ago");
  await runtime.ring({ id }, 73 * hour_ms);
  assert.equal((await client.post({ method: "tools/list" })).status, 404);
});

test("a conversation goes on after an eviction", async (t) => {
  const { runtime, agents } = await world(t);
  const ann = new Client(runtime, "token-of-ann");
  await ann.connect(agents, "echo", "ask");
  await ann.call("send_message", { agent: "echo", message: "one" });
  await ann.call("send_message", { agent: "ask", message: "a table" });
  await ann.call("send_message", { agent: "echo", message: "for later", async: true });
  await agents.until(() => agents.sent("echo", "SendMessage").length === 2 && agents.open === 0);
  while ((await ann.call("check_inbox")).pending.length > 0);

  await runtime.lose({ principal: "ann" });
  await ann.call("send_message", { agent: "echo", message: "two" });
  assert.equal(agents.sent("echo", "SendMessage").at(-1).params.message.contextId, "context-of-echo");
  await runtime.lose({ principal: "ann" });
  await ann.call("send_message", { agent: "ask", message: "for four" });
  assert.equal(agents.sent("ask", "SendMessage").at(-1).params.message.taskId, "task-of-ask");
  await runtime.lose({ principal: "ann" });
  const { entries: history } = await ann.call("get_history", { agent: "echo" });
  assert.deepEqual(history.map(({ sent }) => sent), ["one", "for later", "two"]);
  const { messages } = await ann.call("read_inbox", { alias: "echo" });
  assert.equal(messages[0].message.parts[0].text, "echo: for later");
  await runtime.lose({ principal: "ann" });
  assert.deepEqual((await ann.call("read_inbox", { alias: "echo" })).messages, [], "each outcome is read once");
});

test("killed in the middle of a stream, nothing is lost and nothing is sent again", async (t) => {
  const { runtime, agents } = await world(t, {});
  const client = await Client.shaken(runtime);
  await client.connect(agents, "echo", "stream-one", "stream-two");
  await client.call("send_message", { agent: "echo", message: "before" });
  await client.call("send_message", { agent: "stream-two", message: "in the background", async: true });
  const response = await client.begin("send_message", { agent: "stream-one", message: "work" }, { progress: true });
  const { text } = await readUntil(response, (text) => text.includes("notifications/progress"));
  await agents.until(() => agents.streams("stream-two"));
  while ((await client.call("check_inbox")).pending[0].task_id === undefined);

  await runtime.kill();
  const rest = await client.goOn(events(text).lastEventId);
  assert.equal(rest.status, 200);
  const [answer] = events(await rest.text()).filter(({ result }) => result);
  assert.equal(answer.result.structuredContent.error.code, "unreachable");
  assert.equal(answer.result.structuredContent.error.task_id, "task-of-stream-one");
  const { messages } = await client.call("read_inbox", { alias: "stream-two" });
  assert.equal(messages[0].error.task_id, "task-of-stream-two");
  const { task } = await client.call("get_task", { agent: "stream-two", task_id: "task-of-stream-two" });
  assert.equal(task.id, "task-of-stream-two");
  await client.call("send_message", { agent: "echo", message: "after" });
  assert.equal(agents.sent("echo", "SendMessage").at(-1).params.message.contextId, "context-of-echo");
  for (const name of ["stream-one", "stream-two"]) {
    assert.equal(agents.sent(name, "SendStreamingMessage").length + agents.sent(name, "SendMessage").length, 1, name);
  }
});

// wrk-005
test("a broadcast keeps to six connections, and to fifty requests an event", async (t) => {
  const { runtime, agents } = await world(t);
  const ann = new Client(runtime, "token-of-ann");
  const names = Array.from({ length: 20 }, (_, number) => `bare-${number}`);
  for (const name of names) await ann.connect(agents, name);
  const before = await runtime.seen();
  agents.peak = 0;
  const sent = await ann.call("broadcast_message", { aliases: names, message: "hello" });
  assert.equal(sent.succeeded, 20, JSON.stringify(sent));
  assert.ok(agents.peak > 1 && agents.peak <= 6, `${agents.peak} at once`);
  // Of agents that have no card each is looked for in five places.
  const urls = names.map((name) => agents.url(`${name}/other`));
  agents.peak = 0;
  const calls = await Promise.all(urls.map((agent) => ann.call("send_message", { agent, message: "hello" })));
  assert.deepEqual(calls.map(({ isError }) => isError), urls.map(() => false));
  assert.ok(agents.peak <= 6, `${agents.peak} at once`);
  assert.ok((await runtime.seen()).events > before.events + 21, "what was over the limit waited for an alarm");
});

// wrk-004
test("a broadcast to more streams than connections gives every agent its time", async (t) => {
  const { runtime, agents } = await world(t);
  const ann = new Client(runtime, "token-of-ann");
  const names = Array.from({ length: 10 }, (_, number) => `stream-${number}`);
  await ann.connect(agents, ...names);
  agents.peak = 0;
  const broadcast = ann.call("broadcast_message", { aliases: names, message: "work" });
  const message = { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "done" }] };
  for (let told = 0; told < names.length; ) {
    await agents.until(() => names.some((name) => agents.streams(name)));
    for (const name of names.filter((name) => agents.streams(name))) {
      agents.complete(name, message);
      await agents.until(() => !agents.streams(name));
      told += 1;
    }
  }
  assert.equal((await broadcast).succeeded, 10);
  assert.ok(agents.peak <= 6, `${agents.peak} at once`);
});

test("an alarm polls a task for which nobody waits", async (t) => {
  const { runtime, agents } = await world(t);
  const ann = new Client(runtime, "token-of-ann");
  await ann.connect(agents, "poll");
  await ann.call("send_message", { agent: "poll", message: "work", async: true });
  await agents.until(() => agents.sent("poll", "GetTask").length === 2 && agents.open === 0);
  let box;
  do box = await ann.call("check_inbox");
  while (box.entries.length === 0);
  assert.equal(box.entries[0].state, "completed");
});

// wrk-005
test("a call whose time is up names its task", async (t) => {
  const { runtime, agents } = await world(t);
  const ann = new Client(runtime, "token-of-ann");
  await ann.connect(agents, "stream");
  const { error } = await ann.call("send_message", { agent: "stream", message: "work", poll_timeout_seconds: 1 });
  assert.deepEqual([error.code, error.task_id], ["timeout", "task-of-stream"]);
});

test("a stream ends when its client leaves, and cancels in the era where that means it", async (t) => {
  const { runtime, agents } = await world(t);
  const ann = new Client(runtime, "token-of-ann");
  await ann.connect(agents, "stream");
  const leaving = new AbortController();
  const options = { progress: true, signal: leaving.signal };
  const response = await ann.begin("send_message", { agent: "stream", message: "work" }, options);
  await readUntil(response, (text) => text.includes("notifications/progress"));
  leaving.abort();
  await agents.until(() => !agents.streams("stream") && agents.sent("stream", "CancelTask").length === 1);

  const session = await Client.shaken(runtime, "token-of-ann");
  await session.connect(agents, "stream-on");
  const parting = new AbortController();
  const work = { agent: "stream-on", message: "work" };
  const other = await session.begin("send_message", work, { progress: true, signal: parting.signal });
  const { text } = await readUntil(other, (text) => text.includes("notifications/progress"));
  parting.abort();
  const rest = await session.goOn(events(text).lastEventId);
  agents.complete("stream-on");
  assert.match(await rest.text(), /TASK_STATE_COMPLETED/);
  assert.equal(agents.sent("stream-on", "CancelTask").length, 0);
});

// wrk-002
test("one request may end what another one began", async (t) => {
  const { runtime, agents } = await world(t);
  const ann = new Client(runtime, "token-of-ann");
  await ann.connect(agents, "stream");
  const response = await ann.begin("send_message", { agent: "stream", message: "work" }, { progress: true });
  await agents.until(() => agents.streams("stream"));
  assert.equal((await ann.call("disconnect_agent", { alias: "stream" })).aborted, 1);
  const answer = events(await response.text()).at(-1);
  assert.equal(answer.result.structuredContent.error.code, "canceled");
  await agents.until(() => !agents.streams("stream"));
});
