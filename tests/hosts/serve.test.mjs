import assert from "node:assert/strict";
import http from "node:http";
import { connect } from "node:net";
import { test } from "node:test";

import { DemoAgent } from "../../pkg/node/demo-agent.mjs";
import { Driver } from "../../pkg/lib/driver.mjs";
import { HttpServer } from "../../pkg/node/http-server.mjs";
import { FakeCore } from "./fake-core.mjs";
import { Command } from "./process.mjs";
import { httpServer } from "./servers.mjs";

const BOTH = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
const MODERN = "2026-07-28";

/** The command as a server. @returns {Promise<{ command: Command, url: string }>} */
async function served(t, words = [], environment) {
  const command = new Command(t, ["serve", "--port", "0", ...words], environment);
  const [url] = await command.until(() => /http:\S+(?=\n)/.exec(command.stdout));
  return { command, url };
}

/** A response on its way: `text` grows, `until` waits for what is in it, `done` for its end. */
class Reading {
  text = "";
  #waiting = [];

  constructor(request) {
    this.request = request;
    this.head = new Promise((resolve, reject) => {
      request.once("response", resolve);
      request.on("error", reject);
    });
    this.head.catch(() => {});
    this.done = this.head.then(
      (response) =>
        new Promise((resolve, reject) => {
          response.setEncoding("utf8").on("data", (text) => {
            this.text += text;
            for (const look of this.#waiting.splice(0)) look();
          });
          response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, text: this.text }));
          response.on("error", reject);
        }),
    );
    this.done.catch(() => {});
  }

  async until(pattern) {
    for (;;) {
      const found = pattern.exec(this.text);
      if (found) return found;
      await Promise.race([new Promise((resolve) => this.#waiting.push(resolve)), this.done.then(() => Promise.reject(new Error(this.text)))]);
    }
  }
}

function send(url, { method = "POST", headers = {}, body } = {}) {
  const request = http.request(url, { method, headers: method === "POST" ? { ...BOTH, ...headers } : headers });
  const reading = new Reading(request);
  if (body === undefined) request.end();
  else request.end(typeof body === "string" ? body : JSON.stringify({ jsonrpc: "2.0", ...body }));
  return reading;
}

const initialize = {
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "0" } },
};

async function session(url) {
  const { status, headers } = await send(url, { body: initialize }).done;
  assert.equal(status, 200);
  return { "Mcp-Session-Id": headers["mcp-session-id"] };
}

/** A modern call with everything that it needs. */
function modern(url, name, args, meta = {}) {
  const envelope = { "io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {} };
  return send(url, {
    headers: { "MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": name },
    body: { id: 1, method: "tools/call", params: { name, arguments: args, _meta: { ...envelope, ...meta } } },
  });
}

function legacy(url, headers, id, name, args, progressToken) {
  const meta = progressToken === undefined ? {} : { _meta: { progressToken } };
  return send(url, { headers, body: { id, method: "tools/call", params: { name, arguments: args, ...meta } } });
}

/** An agent that plans a banquet for a minute, and the states its tasks went through. */
async function agent(t) {
  const states = [];
  const waiting = [];
  const onState = ({ state }) => {
    states.push(state);
    for (const look of waiting.splice(0)) look();
  };
  const demo = new DemoAgent({ pace_ms: 200, onState });
  t.after(() => demo.close());
  const reached = async (state) => {
    while (!states.some((seen) => seen.includes(state))) await new Promise((resolve) => waiting.push(resolve));
  };
  return { url: await demo.listen(), states, reached };
}

test("the server says where it is and how a client finds it, and ends when it is told to", async (t) => {
  const { command, url } = await served(t);
  const entry = JSON.parse(/In mcp.json: (.*)/.exec(command.stdout)[1]);
  assert.equal(entry.mcpServers.narrows.url, url);
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
  const named = await session(url);
  const { status, headers, text } = await send(url, { headers: named, body: { id: 1, method: "tools/list" } }).done;
  assert.equal(status, 200);
  assert.equal(headers["content-type"], "application/json");
  assert.equal(Number(headers["content-length"]), Buffer.byteLength(text));
  assert.equal(JSON.parse(text).result.tools.length, 19);
  command.child.kill("SIGTERM");
  assert.equal(await command.exit(), 0);
  assert.equal(command.stderr, "");
});

test("the server is an agent too, and its tasks are answered by the tools", async (t) => {
  const { url } = await served(t);
  const card = new URL("/.well-known/agent-card.json", url);
  const { status, headers, text } = await send(card, { method: "GET" }).done;
  assert.equal(status, 200);
  assert.equal(JSON.parse(text).supportedInterfaces[0].url, new URL("/a2a", url).href);
  const known = await send(card, { method: "GET", headers: { "If-None-Match": headers.etag } }).done;
  assert.deepEqual([known.status, known.text, known.headers["content-length"]], [304, "", undefined]);
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "what is for dinner?" }] };
  const stream = send(new URL("/a2a", url), { body: { id: 7, method: "SendStreamingMessage", params: { message } } });
  await stream.until(/TASK_STATE_SUBMITTED/);
  const inbox = JSON.parse((await modern(url, "check_inbox", {}).done).text).result.structuredContent;
  assert.deepEqual(inbox.inbound.map(({ text, from }) => [text, from]), [["what is for dinner?", "local"]]);
  const answer = { task_id: inbox.inbound[0].task_id, state: "completed", artifact: { message: "soup" } };
  assert.equal((await modern(url, "respond_task", answer).done).status, 200);
  const events = (await stream.done).text.trim().split("\n\n").map((event) => JSON.parse(event.slice("data: ".length)).result);
  assert.deepEqual(events.map((event) => Object.keys(event)[0]), ["task", "artifactUpdate", "statusUpdate"]);
  assert.equal(events[1].artifactUpdate.artifact.parts[0].text, "soup");
  const rest = new URL("/a2a/rest/tasks?pageSize=1", url);
  const list = await send(rest, { method: "GET", headers: { "A2A-Version": "1.0" } }).done;
  assert.equal(JSON.parse(list.text).tasks[0].status.state, "TASK_STATE_COMPLETED");
});

test("a function does no work where there is no program around the gateway", async (t) => {
  const file = await configured(t, { a2a: { skills: [{ id: "a", name: "A", responder: "function" }] } });
  const command = new Command(t, ["serve", "--port", "0", "--config", file]);
  assert.notEqual(await command.exit(), 0);
  assert.match(command.stderr, /responder `function` is for programs/);
});

test("names and pages of elsewhere are refused", async (t) => {
  const { url } = await served(t);
  for (const headers of [{ Host: "evil.example.com" }, { Origin: "http://evil.example.com" }]) {
    assert.equal((await send(url, { headers, body: initialize }).done).status, 403);
  }
  const preflight = await send(url, { method: "OPTIONS", headers: { Origin: "http://localhost:1" } }).done;
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers["access-control-allow-origin"], "http://localhost:1");
  assert.equal(preflight.headers["content-length"], undefined);
});

test("an answer that takes its time is a stream, sent piece by piece", async (t) => {
  const [{ url }, bistro] = [await served(t), await agent(t)];
  await modern(url, "connect_agent", { alias: "bistro", agent_url: bistro.url }).done;
  const reading = modern(url, "send_message", { agent: "bistro", message: "What is for dinner?" }, { progressToken: "p" });
  const { headers } = await reading.head;
  assert.equal(headers["content-type"], "text/event-stream");
  await reading.until(/notifications\/progress/);
  assert.doesNotMatch(reading.text, /"result"/, "progress comes before the answer is there");
  const { text } = await reading.done;
  assert.match(text, /"id":1,"result":.*mushroom risotto/);
});

test("a modern client that leaves cancels its task", async (t) => {
  const [{ url }, bistro] = [await served(t), await agent(t)];
  await modern(url, "connect_agent", { alias: "bistro", agent_url: bistro.url }).done;
  const reading = modern(url, "send_message", { agent: "bistro", message: "Plan a banquet." }, { progressToken: "p" });
  await reading.until(/notifications\/progress/);
  reading.request.destroy();
  await bistro.reached("CANCELED");
});

test("a client of a session may leave and come back for its answer", async (t) => {
  const [{ url }, bistro] = [await served(t), await agent(t)];
  const named = await session(url);
  await legacy(url, named, 1, "connect_agent", { alias: "bistro", agent_url: bistro.url }).done;
  const reading = legacy(url, named, 2, "send_message", { agent: "bistro", message: "What is for dinner?" }, "p");
  const [, last] = await reading.until(/id: (\S+)\nevent/);
  reading.request.destroy();
  const headers = { ...named, Accept: "text/event-stream", "Last-Event-ID": last };
  const { text } = await send(url, { method: "GET", headers }).done;
  assert.match(text, /"id":2,"result":.*mushroom risotto/);
  assert.ok(!bistro.states.some((state) => state.includes("CANCELED")));
});

test("bodies may come in chunks, and not without end", async (t) => {
  const { url } = await served(t);
  const request = http.request(url, { method: "POST", headers: BOTH });
  const reading = new Reading(request);
  for (const character of JSON.stringify({ jsonrpc: "2.0", ...initialize })) request.write(character);
  request.end();
  assert.equal((await reading.done).status, 200);
  const large = " ".repeat((8 << 20) + 1);
  assert.equal((await send(url, { body: large }).done).status, 413);
  const chunked = http.request(url, { method: "POST", headers: { ...BOTH, "Transfer-Encoding": "chunked" } });
  const refused = new Reading(chunked);
  chunked.end(large);
  assert.equal((await refused.done).status, 413);
  const asking = http.request(url, { method: "POST", headers: { ...BOTH, Expect: "100-continue", "Content-Length": large.length } });
  let told = false;
  asking.on("continue", () => (told = true));
  asking.flushHeaders();
  assert.equal((await new Reading(asking).head).statusCode, 413);
  assert.ok(!told);
  asking.destroy();
});

test("the end answers what runs and ends what streams", async (t) => {
  const [{ command, url }, bistro] = [await served(t), await agent(t)];
  const named = await session(url);
  await legacy(url, named, 1, "connect_agent", { alias: "bistro", agent_url: bistro.url }).done;
  const standing = send(url, { method: "GET", headers: { ...named, Accept: "text/event-stream" } });
  await standing.until(/id: /);
  const running = legacy(url, named, 2, "send_message", { agent: "bistro", message: "Plan a banquet." }, "p");
  await running.until(/notifications\/progress/);
  command.child.kill("SIGINT");
  assert.match((await running.done).text, /"id":2,"result":.*the gateway is stopping/);
  await standing.done;
  assert.equal(await command.exit(), 0);
});

test("whoever can be reached by others asks for a token and calls no private address", async (t) => {
  const config = { auth: { tokens: [{ token: "${NARROWS_TEST_TOKEN}", principal: "me" }] } };
  const file = await configured(t, config);
  const { url } = await served(t, ["--host", "0.0.0.0", "--config", file], { NARROWS_TEST_TOKEN: "a-token-of-mine" });
  const here = url.replace("0.0.0.0", "127.0.0.1");
  const refused = await send(here, { body: initialize }).done;
  assert.deepEqual([refused.status, refused.headers["www-authenticate"]], [401, "Bearer"]);
  const headers = { Authorization: "Bearer a-token-of-mine" };
  assert.equal((await send(here, { headers, body: initialize }).done).status, 200);

  const open = await served(t, ["--host", "0.0.0.0", "--insecure"]);
  const elsewhere = open.url.replace("0.0.0.0", "127.0.0.1");
  const statuses = ["127.0.0.1", "localhost:4545", "elsewhere.test", "[::2]"].map(
    async (Host) => (await send(elsewhere, { headers: { Host }, body: initialize }).done).status,
  );
  assert.deepEqual(await Promise.all(statuses), [200, 200, 403, 403], "no page whose name was led here is let in");
  const agent = await httpServer(t, () => assert.fail("it is private"));
  const { text } = await modern(elsewhere, "connect_agent", { alias: "a", agent_url: agent }).done;
  assert.match(text, /blocked|private/i);
});

async function configured(t, config) {
  const { mkdtempSync, rmSync, writeFileSync } = await import("node:fs");
  const { tmpdir } = await import("node:os");
  const { join } = await import("node:path");
  const folder = mkdtempSync(join(tmpdir(), "narrows-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "config.json");
  writeFileSync(path, JSON.stringify(config));
  return path;
}

test("a port that is taken is named", async (t) => {
  const taken = new URL(await httpServer(t, () => {})).port;
  const command = new Command(t, ["serve", "--port", taken]);
  assert.equal(await command.exit(), 2);
  assert.match(command.stderr, new RegExp(`port ${taken} is taken, choose another with --port`));
  // It ends although something is left that would go on.
  const held = new Command(t, ["serve", "--port", taken], { NODE_OPTIONS: "--import=data:text/javascript,setInterval(()=>{},1000)" });
  const late = setTimeout(() => held.child.kill("SIGKILL"), 15_000);
  assert.equal(await held.exit(), 2);
  clearTimeout(late);
});

/** A server before a core that a test scripts. */
async function scripted(t, react, limits) {
  const core = new FakeCore(react);
  const host = new Driver(core, { fetch: () => assert.fail("nothing is fetched") });
  const server = new HttpServer(host, limits);
  const { port } = await server.listen(0, "127.0.0.1");
  t.after(() => server.close());
  return { core, host, url: `http://127.0.0.1:${port}/mcp?x=1` };
}

test("a request is told as it comes and answered as the core says", async (t) => {
  const { core, url } = await scripted(t, (input, core) => {
    if (input.type !== "request_end") return;
    const { request } = input;
    core.say({ type: "response_head", request, status: 299, headers: [["A", "1"], ["A", "2"]] });
    core.say({ type: "response_body", request, text: "é" }, { type: "response_end", request });
  });
  const { status, headers, text } = await send(url, { headers: { "X-Y": "z" }, body: "{}" }).done;
  assert.deepEqual([status, headers.a, headers["content-length"], text], [299, "1, 2", "2", "é"]);
  const [{ method, target, headers: told }] = core.told("request");
  assert.deepEqual([method, target], ["POST", "/mcp?x=1"]);
  assert.ok(told.some(([name, value]) => name === "X-Y" && value === "z"));
  assert.equal(core.told("request_body").map(({ text }) => text).join(""), "{}");
  assert.equal(core.told("request_gone").length, 0);
});

test("a head goes out when nothing more is known", async (t) => {
  const { url } = await scripted(t, ({ type, request }, core) => {
    if (type === "request") core.say({ type: "response_head", request, status: 200, headers: [["Content-Type", "text/event-stream"]] });
    if (type === "stop") core.say({ type: "response_end", request: 1 });
  });
  const reading = send(url, { method: "GET" });
  assert.equal((await reading.head).statusCode, 200);
});

test("a reader that does not read is let go", async (t) => {
  let gone;
  const left = new Promise((resolve) => (gone = resolve));
  const { core, host, url } = await scripted(t, ({ type, request }, core) => {
    if (type === "request") core.say({ type: "response_head", request, status: 200, headers: [] });
    if (type === "tell") core.say({ type: "response_body", request: 1, text: "x".repeat(1 << 20) });
    if (type === "request_gone") gone();
  });
  const request = http.request(url);
  request.on("error", () => {});
  request.on("response", (response) => response.pause().on("error", () => {}));
  request.end();
  while (core.told("request").length === 0) await new Promise(setImmediate);
  const tell = setInterval(() => host.messageTooLong(0, "", "", 0), 1);
  t.after(() => clearInterval(tell));
  core.input = ((input) => (now, json) => input.call(core, now, json.replace("message_too_long", "tell")))(core.input);
  await left;
  request.destroy();
});

test("whoever leaves takes along what it asked for behind an answer that streams", async (t) => {
  const { core, url } = await scripted(t, ({ type, request }, core) => {
    if (type !== "request") return;
    core.say({ type: "response_head", request, status: 200, headers: [] });
    core.say({ type: "response_body", request, text: "." });
  });
  const { port, host } = new URL(url);
  const socket = connect(port, "127.0.0.1", () => socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(3)));
  while (core.told("request").length < 3) await new Promise(setImmediate);
  socket.destroy();
  for (let turn = 0; turn < 200 && core.told("request_gone").length < 3; turn += 1) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual(core.told("request_gone").map(({ request }) => request).sort(), [1, 2, 3]);
});

test("a reader that takes its time gets all of a stream that comes at once", async (t) => {
  let stream;
  const react = ({ type, request, target }, core) => {
    if (type !== "request") return;
    core.say({ type: "response_head", request, status: 200, headers: [] });
    if (target === "/stream") {
      stream = request;
      return core.say({ type: "response_body", request, text: "." });
    }
    for (let piece = 0; piece < 5; piece += 1) core.say({ type: "response_body", request: stream, text: "x".repeat(8 << 20) });
    core.say({ type: "response_end", request: stream }, { type: "response_end", request });
  };
  const { url } = await scripted(t, react);
  const request = http.request(new URL("/stream", url));
  request.end();
  const response = await new Promise((resolve) => request.on("response", resolve));
  assert.equal((await fetch(new URL("/go", url))).status, 200);
  let bytes = 0;
  for await (const piece of response) bytes += piece.length;
  assert.equal(bytes, 1 + (40 << 20));
});

test("a reader of one whole answer that stands still is let go, and one that waits for its answer is not", async (t) => {
  const react = ({ type, request, target }, core) => {
    if (type !== "request" || target !== "/large") return;
    core.say({ type: "response_head", request, status: 200, headers: [] });
    // More than any buffer between here and there takes.
    core.say({ type: "response_body", request, text: "x".repeat(32 << 20) }, { type: "response_end", request });
  };
  const { url } = await scripted(t, react, { standstill_ms: 200 });
  const asked = (path) => {
    const request = http.request(new URL(path, url));
    let response;
    request.on("error", () => {}).on("response", (given) => (response = given).pause().on("error", () => {}));
    request.end();
    t.after(() => request.destroy());
    return { request, read: () => response };
  };
  const [quiet, large] = [asked("/quiet"), asked("/large")];
  while (!large.read()) await new Promise(setImmediate);
  // It reads on after a while, and finds that it was let go.
  await new Promise((resolve) => setTimeout(resolve, 2000));
  let bytes = 0;
  await new Promise((resolve) => large.read().on("data", (piece) => (bytes += piece.length)).on("close", resolve).resume());
  assert.ok(bytes < 32 << 20, `${bytes} bytes`);
  assert.equal(quiet.request.destroyed, false, "nothing waits for whoever has no answer yet");
});

test("a reader of one whole answer that takes sips is let go, and one that reads on has all of it", async (t) => {
  const text = `${"\u{1f35c}".repeat(1 << 20)}${"x".repeat(28 << 20)}`;
  const react = ({ type, request }, core) => {
    if (type !== "request") return;
    core.say({ type: "response_head", request, status: 200, headers: [] });
    core.say({ type: "response_body", request, text }, { type: "response_end", request });
  };
  const { url } = await scripted(t, react, { standstill_ms: 300 });
  const whole = await send(url, { method: "GET" }).done;
  assert.equal(whole.text, text);
  const sipping = http.request(url);
  t.after(() => sipping.destroy());
  sipping.on("error", () => {}).end();
  const response = await new Promise((resolve) => sipping.once("response", resolve));
  response.on("error", () => {}).pause();
  // More than a sip a while is in what buffers lie between.
  let bytes = 0;
  const sips = setInterval(() => (bytes += response.read(16 << 10)?.length ?? 0), 20);
  t.after(() => clearInterval(sips));
  await new Promise((resolve) => response.once("close", resolve));
  assert.ok(bytes < 28 << 20, `${bytes} bytes`);
});

test("answers that nobody reads take no more than a limit", async (t) => {
  const react = ({ type, request }, core) => {
    if (type !== "request") return;
    core.say({ type: "response_head", request, status: 200, headers: [] });
    core.say({ type: "response_body", request, text: "x".repeat((request === 1 ? 6 : 16) << 20) }, { type: "response_end", request });
  };
  const { url } = await scripted(t, react, { unread_bytes: 40 << 20 });
  const responses = [];
  for (let number = 0; number < 6; number += 1) {
    const request = http.request(url);
    t.after(() => request.destroy());
    request.on("error", () => {}).end();
    // Whoever takes the most may be let go before anything of its answer came.
    const response = await new Promise((resolve) => request.once("response", resolve).once("close", () => resolve()));
    if (response) responses.push(response.on("error", () => {}).pause());
  }
  const ended = responses.map((response) => new Promise((resolve) => response.on("close", resolve).resume()));
  await Promise.all(ended);
  const whole = responses.filter(({ complete }) => complete).length;
  assert.ok(whole >= 2 && whole <= 4, `${whole} of them`);
  assert.ok(responses[0].complete, "whoever takes less than others goes after them");
});
