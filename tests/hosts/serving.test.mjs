// `gateway.fetch`: HTTP without a server, from Request to Response.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DemoAgent } from "../../pkg/node/demo-agent.mjs";
import { Gateway } from "../../pkg/node.mjs";
import { respond } from "../../pkg/lib/serving.mjs";
import { Gateway as PageGateway } from "../../pkg/web.mjs";
import { Caller } from "./a2a.mjs";
import { settled } from "./driven.mjs";

const META = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };
const ORIGIN = "http://localhost";

async function opened(t, options, Class = Gateway) {
  const gateway = await Class.open(options);
  t.after(() => gateway.dispose());
  return gateway;
}

/** A request of the era without sessions. */
function modern(method, params = {}, { id = 1, headers = {}, ...init } = {}) {
  const own = { "content-type": "application/json", accept: "application/json, text/event-stream", "mcp-protocol-version": "2026-07-28", "mcp-method": method };
  if (params.name) own["mcp-name"] = params.name;
  const body = JSON.stringify({ jsonrpc: "2.0", id: id ?? undefined, method, params: { ...params, _meta: { ...META, ...params._meta } } });
  return new Request(`${ORIGIN}/mcp`, { method: "POST", headers: { ...own, ...headers }, body, ...init });
}

/** The messages of an event stream, one at a time. */
async function* events(response) {
  let text = "";
  for await (const bytes of response.body) {
    text += Buffer.from(bytes).toString();
    for (let at; (at = text.indexOf("\n\n")) >= 0; text = text.slice(at + 2)) {
      const data = text.slice(0, at).split("\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6)).join("");
      if (data) yield JSON.parse(data);
    }
  }
}

async function bistro(t, options) {
  const agent = new DemoAgent({ pace_ms: 1, ...options });
  t.after(() => agent.close());
  return agent.listen();
}

test("a question that is answered at once is one piece of JSON", async (t) => {
  const gateway = await opened(t);
  const { fetch } = gateway;
  const response = await fetch(modern("tools/list"));
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "application/json");
  assert.equal((await response.json()).result.tools.length, 17);
  assert.equal(await (await fetch(new Request(`${ORIGIN}/healthz`))).text(), "ok");
});

test("answers without a body have none", async (t) => {
  const gateway = await opened(t, { config: { server: { cors_origins: ["https://app.example"] } } });
  const headers = { origin: "https://app.example", "access-control-request-method": "POST" };
  const preflight = await gateway.fetch(new Request(`${ORIGIN}/mcp`, { method: "OPTIONS", headers }));
  assert.equal(preflight.status, 204);
  assert.equal(preflight.body, null);
  assert.equal(preflight.headers.get("access-control-allow-origin"), "https://app.example");
  const noted = await gateway.fetch(modern("notifications/cancelled", { requestId: 5 }, { id: null }));
  assert.equal(noted.status, 202);
  assert.equal(noted.body, null);
  assert.equal(noted.headers.get("content-type"), null);
});

test("who may ask is checked by name, wherever that stands", async (t) => {
  const gateway = await opened(t);
  assert.equal((await gateway.fetch(new Request("http://evil.example/mcp", { method: "POST", body: "{}" }))).status, 403);
  const named = new Request(`${ORIGIN}/healthz`, { headers: { host: "evil.example" } });
  assert.equal((await gateway.fetch(named)).status, 403);
  const open = await opened(t, { config: { server: { loopback: false } } });
  assert.equal((await open.fetch(new Request("http://gateway.example/healthz"))).status, 200);
});

test("an agent is there only where one is asked for", async (t) => {
  const card = (gateway) => gateway.fetch(new Request(`${ORIGIN}/.well-known/agent-card.json`));
  const send = (gateway) => new Caller(gateway.fetch).ask("SendMessage", { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "x" }] } });
  const plain = await opened(t);
  for (const answer of [await card(plain), await send(plain), await plain.fetch(new Request(`${ORIGIN}/a2a/rest/tasks`))]) assert.equal(answer.status, 404);
  const off = await opened(t, { config: { a2a: { enabled: false } } });
  assert.equal((await card(off)).status, 404);
  const echo = new Map([["responder", "echo"]]);
  for (const options of [{ config: { a2a: { responder: "echo" } } }, { config: new Map([["a2a", echo]]) }, { onWork: () => "x" }]) {
    const gateway = await opened(t, options);
    assert.equal((await card(gateway)).status, 200);
    assert.equal((await send(gateway)).status, 200);
  }
});

test("the card has the scheme of the request, whatever a header says", async (t) => {
  const gateway = await opened(t, { config: { a2a: {} } });
  const url = async (scheme, headers = {}) => {
    const response = await gateway.fetch(new Request(`${scheme}://localhost/.well-known/agent-card.json`, { headers }));
    return (await response.json()).supportedInterfaces[0].url;
  };
  assert.equal(await url("https"), "https://localhost/a2a");
  assert.equal(await url("http"), "http://localhost/a2a");
  assert.equal(await url("http", { "x-forwarded-proto": "https" }), "http://localhost/a2a");
  assert.equal(await url("https", { "X-Forwarded-Proto": "http" }), "https://localhost/a2a");
  const named = await opened(t, { config: { a2a: { url: "https://agent.example/here" } } });
  const response = await named.fetch(new Request("http://localhost/.well-known/agent-card.json"));
  assert.equal((await response.json()).supportedInterfaces[0].url, "https://agent.example/here");
});

test("a page asks its own gateway under whatever name it has", async (t) => {
  const { load, defaults } = PageGateway.platform;
  assert.equal(typeof load, "function");
  const gateway = await opened(t, { config: { name: "n", server: { cors_origins: ["https://a.example"] } } }, class extends PageGateway {
    static platform = { defaults }; // the module is loaded already
  });
  assert.equal((await gateway.fetch(new Request("https://app.example/healthz"))).status, 200);
  const strict = await opened(t, { config: { server: { loopback: true } } }, class extends PageGateway {
    static platform = { defaults };
  });
  assert.equal((await strict.fetch(new Request("https://app.example/healthz"))).status, 403);
});

test("a call that goes on streams its progress and its answer", async (t) => {
  const url = await bistro(t, { pace_ms: 10 });
  const gateway = await opened(t);
  const params = { name: "send_message", arguments: { agent: url, message: "What is for dinner tonight?" }, _meta: { progressToken: "p" } };
  const response = await gateway.fetch(modern("tools/call", params));
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  const heard = [];
  for await (const message of events(response)) heard.push(message.method ?? message.id);
  assert.ok(heard.length > 2);
  assert.equal(heard.pop(), 1);
  assert.ok(heard.every((method) => method === "notifications/progress"));
});

test("a reader that takes its time gets all of a stream that comes at once", async (t) => {
  const onWork = async function* () {
    for (const name of "abcd") yield { artifact: { name, parts: [{ text: name.repeat(7 << 20) }] } };
  };
  const gateway = await opened(t, { config: { a2a: {} }, onWork });
  const caller = new Caller(gateway.fetch);
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "all of it" }] };
  const response = await caller.ask("SendStreamingMessage", { message });
  let tasks;
  do ({ tasks } = await caller.call("ListTasks", {}));
  while (tasks[0].status.state !== "TASK_STATE_COMPLETED");
  const text = await response.text();
  assert.ok(text.length > 28 << 20 && text.includes("TASK_STATE_COMPLETED"), `${text.length} characters`);
});

test("a client that leaves a stream of the era without sessions cancels its call", async (t) => {
  const states = [];
  const url = await bistro(t, { pace_ms: 20, onState: ({ state }) => states.push(state) });
  const gateway = await opened(t);
  const params = { name: "send_message", arguments: { agent: url, message: "Plan a banquet." }, _meta: { progressToken: "p" } };
  const leave = {
    "its body": async () => {
      const response = await gateway.fetch(modern("tools/call", params));
      for await (const message of events(response)) if (message.method) break;
    },
    "its request": async () => {
      const controller = new AbortController();
      const response = await gateway.fetch(modern("tools/call", params, { signal: controller.signal }));
      await events(response).next();
      controller.abort();
    },
    "its request before the answer": async () => {
      const controller = new AbortController();
      const answered = gateway.fetch(modern("tools/call", params, { signal: controller.signal }));
      controller.abort();
      await assert.rejects(answered, { name: "AbortError" });
      await assert.rejects(gateway.fetch(modern("tools/list", {}, { signal: controller.signal })), { name: "AbortError" });
      states.push("TASK_STATE_CANCELED"); // there was no task yet
    },
  };
  for (const [what, go] of Object.entries(leave)) {
    states.length = 0;
    await go();
    for (let turn = 0; !states.includes("TASK_STATE_CANCELED"); turn++) {
      assert.ok(turn < 500, what);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
});

test("a body that is too large is refused before it has come, and not read on", async (t) => {
  const gateway = await opened(t, { config: { limits: { request_bytes: 1000 } } });
  let [sent, cancelled] = [0, 0];
  const body = new ReadableStream({
    pull: (stream) => stream.enqueue(new Uint8Array(600).fill(32, 0, (sent += 600))),
    cancel: () => void cancelled++,
  });
  const init = { method: "POST", headers: { "content-type": "application/json", accept: "application/json, text/event-stream" }, body, duplex: "half" };
  const response = await gateway.fetch(new Request(`${ORIGIN}/mcp`, init));
  assert.equal(response.status, 413);
  for (let turn = 0; turn < 20 && !cancelled; turn++) await settled();
  assert.equal(cancelled, 1);
  assert.ok(sent < 10_000);
});

test("a body that breaks ends the request", async (t) => {
  const gateway = await opened(t);
  const broken = new ReadableStream({ pull: (stream) => stream.error(new Error("upload broke")) });
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: broken, duplex: "half" };
  await assert.rejects(gateway.fetch(new Request(`${ORIGIN}/mcp`, init)), /upload broke/);
  const used = modern("tools/list");
  await used.text();
  await assert.rejects(gateway.fetch(used), TypeError);
  assert.equal((await gateway.fetch(modern("tools/list"))).status, 200);
});

test("a request without streams is taken whole", async (t) => {
  const gateway = await opened(t);
  const { method, url, headers } = modern("tools/list");
  const bytes = await modern("tools/list").arrayBuffer();
  const response = await gateway.fetch({ method, url, headers, arrayBuffer: async () => bytes });
  assert.equal((await response.json()).result.tools.length, 17);
});

test("a gateway that ends breaks its streams and refuses what is unanswered", async (t) => {
  const url = await bistro(t, { pace_ms: 50 });
  const gateway = await opened(t);
  const params = { name: "send_message", arguments: { agent: url, message: "Plan a banquet." }, _meta: { progressToken: "p" } };
  const response = await gateway.fetch(modern("tools/call", params));
  const reading = events(response);
  await reading.next();
  const rest = (async () => {
    for await (const message of reading) assert.ok(message.method);
  })();
  const silent = gateway.fetch(modern("tools/call", { name: "get_agent_card", arguments: { agent: url } }));
  gateway.dispose();
  await assert.rejects(rest, { code: "disposed" });
  await assert.rejects(silent, { code: "disposed" });
});

test("a session of the older era goes on over several requests", async (t) => {
  const gateway = await opened(t);
  const post = (message, session) => {
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", ...(session && { "mcp-session-id": session }) };
    return gateway.fetch(new Request(`${ORIGIN}/mcp`, { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", ...message }) }));
  };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  const hello = await post({ id: 0, method: "initialize", params });
  const session = hello.headers.get("mcp-session-id");
  assert.ok(session);
  assert.equal((await post({ method: "notifications/initialized" }, session)).status, 202);
  const list = await post({ id: 1, method: "tools/list" }, session);
  assert.match(await list.text(), /send_message/);
  const bye = new Request(`${ORIGIN}/mcp`, { method: "DELETE", headers: { "mcp-session-id": session } });
  assert.ok((await gateway.fetch(bye)).ok);
});

test("a stream that is too much at once fails, and its request goes", async () => {
  const gone = [];
  const driver = {
    request(method, target, headers, response) {
      response.head(200, [["content-type", "text/event-stream"]]);
      response.flush();
      response.body("x".repeat(100));
      return 7;
    },
    requestEnd() {},
    requestGone: (number) => gone.push(number),
  };
  const response = await respond(driver, new Request(`${ORIGIN}/mcp`), () => new Error("ended"), 10);
  await assert.rejects(response.text(), { code: "too_large" });
  assert.deepEqual(gone, [7]);
});
