// A Durable Object whose storage fails, which no runtime does on demand.
import assert from "node:assert/strict";
import { test } from "node:test";
import { GatewayObject } from "../../pkg/lib/worker/object.mjs";
import "../../pkg/node/core.mjs";
import { DemoAgent } from "../../pkg/node/demo-agent.mjs";
import { Gateway } from "../../pkg/node.mjs";
import { Caller } from "./a2a.mjs";
import { settled } from "./driven.mjs";

/** The part of a storage that keeps a value under a name. */
function values() {
  const kept = new Map();
  return { get: (key) => kept.get(key), put: (key, value) => void kept.set(key, value) };
}

test("an object that cannot keep its state ends before it answers", async () => {
  const aborted = [];
  let broken = false;
  const exec = (query) => {
    if (broken && query.startsWith("INSERT")) throw new Error("the database is full");
    return { toArray: () => [] };
  };
  const storage = { sql: { exec }, kv: values(), setAlarm() {}, deleteAlarm() {} };
  const object = new GatewayObject({ id: { name: "ann" }, storage, abort: (reason) => aborted.push(reason) }, {});
  const say = (name) => {
    const _meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };
    const params = { name: "create_caller_card", arguments: { name, description: "a person" }, _meta };
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    Object.assign(headers, { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": params.name, host: "localhost" });
    return object.fetch(new Request("http://localhost/mcp", { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }) }));
  };
  assert.equal((await say("ada")).status, 200);
  assert.deepEqual(aborted, []);
  broken = true;
  await assert.rejects(say("bob"));
  assert.deepEqual(aborted, ["the state could not be kept: the database is full"]);
});

test("what an object sends at its birth goes out with the event that woke it, and asks for no other", async (t) => {
  const agent = new DemoAgent({ pace_ms: 1000 });
  t.after(() => agent.close());
  const config = { external_agents: [{ name: "bistro", url: await agent.listen() }], a2a: { responder: "relay:bistro" } };
  const before = await Gateway.open({ config });
  const heard = new Caller(before.fetch).stream("Plan a banquet.");
  for await (const { statusUpdate } of heard) if (statusUpdate) break;
  const kept = before.snapshot();
  before.dispose();

  const { fetch } = globalThis;
  t.after(() => (globalThis.fetch = fetch));
  let sent = 0;
  globalThis.fetch = () => ((sent += 1), new Promise(() => {}));
  class Relay extends GatewayObject {
    static configure = () => config;
  }
  let alarm;
  const exec = (query) => ({ toArray: () => (query.startsWith("SELECT") ? kept.map((text) => ({ text })) : []) });
  const storage = { sql: { exec }, kv: values(), setAlarm: (at) => (alarm = at), deleteAlarm: () => (alarm = undefined) };
  const object = new Relay({ id: { name: "ann" }, storage, abort: (reason) => assert.fail(reason) }, {});
  await settled();
  assert.equal(sent, 0);
  assert.ok(alarm <= Date.now(), "where no event came it would bring one");
  assert.equal((await object.fetch(new Request("http://localhost/healthz"))).status, 200);
  await settled();
  assert.equal(sent, 1);
  assert.ok(alarm > Date.now(), "what is left is a deadline");
});
