import assert from "node:assert/strict";
import { test } from "node:test";

import { DemoAgent } from "../../pkg/node/demo-agent.mjs";

async function agentAt(t, options) {
  const agent = new DemoAgent({ pace_ms: 1, ...options });
  t.after(() => agent.close());
  const url = await agent.listen();
  const call = async (method, params) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: "x", method, params });
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0" },
      body,
    });
    const text = await response.text();
    if (response.headers.get("content-type") !== "text/event-stream") return JSON.parse(text);
    return text
      .split("\n\n")
      .filter(Boolean)
      .map((event) => JSON.parse(event.slice("data: ".length)).result);
  };
  const message = (text, rest) => ({ message: { messageId: "m", role: "ROLE_USER", parts: [{ text }], ...rest } });
  return { url, call, message };
}

test("the card names the agent's own address", async (t) => {
  const { url } = await agentAt(t);
  const card = await (await fetch(`${url}.well-known/agent-card.json`)).json();
  assert.deepEqual([card.supportedInterfaces[0].url, card.capabilities.streaming], [url, true]);
});

test("the menu streams in pieces of one artifact", async (t) => {
  const { call, message } = await agentAt(t);
  const events = await call("SendStreamingMessage", message("hello"));
  assert.deepEqual(
    events.map((event) => Object.keys(event)[0]),
    ["task", "statusUpdate", "artifactUpdate", "artifactUpdate", "artifactUpdate", "artifactUpdate", "statusUpdate"],
  );
  const pieces = events.filter(({ artifactUpdate }) => artifactUpdate).map(({ artifactUpdate }) => artifactUpdate);
  assert.deepEqual(
    pieces.map(({ append, lastChunk }) => [append, lastChunk]),
    [
      [false, false],
      [true, false],
      [true, false],
      [true, true],
    ],
  );
  assert.match(pieces.map(({ artifact }) => artifact.parts[0].text).join(""), /^Tonight there is .*tart\.$/);
  assert.equal(events.at(-1).statusUpdate.status.state, "TASK_STATE_COMPLETED");
});

test("a table is booked in two turns of one task", async (t) => {
  const { call, message } = await agentAt(t);
  const { result: first } = await call("SendMessage", message("a table, please"));
  assert.equal(first.task.status.state, "TASK_STATE_INPUT_REQUIRED");
  const { id, contextId } = first.task;
  const { result: second } = await call("SendMessage", message("four at eight", { taskId: id, contextId }));
  assert.deepEqual([second.task.id, second.task.status.state], [id, "TASK_STATE_COMPLETED"]);
  assert.equal(second.task.status.message.parts[0].text, "A table is booked: four at eight");
});

test("a banquet can be followed, read and called off", async (t) => {
  const { url, call, message } = await agentAt(t, { pace_ms: 1000 });
  const { result } = await call("SendMessage", { ...message("a banquet"), configuration: { returnImmediately: true } });
  const { id } = result.task;
  const following = await fetch(url, {
    method: "POST",
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SubscribeToTask", params: { id } }),
  });
  assert.equal((await call("GetTask", { id })).result.id, id);
  assert.equal((await call("CancelTask", { id })).result.status.state, "TASK_STATE_CANCELED");
  assert.equal((await call("CancelTask", { id })).error.code, -32002);
  assert.equal((await call("SubscribeToTask", { id })).error.code, -32004);
  const events = (await following.text()).split("\n\n").filter(Boolean);
  assert.ok(events[0].includes('"result":{"task":') && events.at(-1).includes("TASK_STATE_CANCELED"));
});

test("what makes no sense is an error of its kind", async (t) => {
  const { url, call } = await agentAt(t);
  assert.equal((await call("NoSuchMethod", {})).error.code, -32601);
  assert.equal((await call("GetTask", { id: "none" })).error.code, -32001);
  assert.equal((await call("SendMessage", {})).error.code, -32602);
  const broken = await (await fetch(url, { method: "POST", body: "{" })).json();
  assert.equal(broken.error.code, -32700);
});
