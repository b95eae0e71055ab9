// The Gateway of the package: calls, connections and HTTP, with Node's requests and with the global fetch.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mock, test } from "node:test";
import { DemoAgent } from "../../pkg/node/demo-agent.mjs";
import * as node from "../../pkg/node.mjs";
import { textOf } from "../../pkg/lib/json-text.mjs";
import * as slim from "../../pkg/slim.mjs";
import { settled } from "./driven.mjs";

const { Gateway, GatewayError } = node;
slim.initSync({ module: readFileSync(new URL("../../pkg/dist/narrows_bg.wasm", import.meta.url)) });

async function opened(t, options, Class = Gateway) {
  const gateway = await Class.open(options);
  t.after(() => gateway.dispose());
  return gateway;
}

async function bistro(t, options) {
  const agent = new DemoAgent({ pace_ms: 1, ...options });
  t.after(() => agent.close());
  return agent.listen();
}

/** Waits for a promise to reject, and gives the reason. */
const failure = (promise) =>
  promise.then(
    () => assert.fail("it did not reject"),
    (error) => error,
  );

/** A fetch that never answers, and what it was asked. */
function silence() {
  const asked = [];
  const fetch = (request) => {
    asked.push(request);
    return new Promise(() => {});
  };
  return { asked, fetch };
}

for (const [name, Class] of Object.entries({ "Node's requests": Gateway, "the global fetch": slim.Gateway })) {
  test(`a whole conversation through ${name}`, async (t) => {
    const url = await bistro(t);
    const gateway = await opened(t, {}, Class);
    const connected = await gateway.connect({ alias: "bistro", agent_url: url });
    assert.equal(connected.structured.card.streaming, true);
    const reports = [];
    const menu = await gateway.send(
      { agent: "bistro", message: "What is for dinner tonight?" },
      { onProgress: (report) => reports.push(report) },
    );
    assert.match(menu.text, /plum tart/);
    assert.equal(menu.structured.task.status.state, "TASK_STATE_COMPLETED");
    assert.equal(menu.content[0].text, menu.text);
    assert.ok(reports.length > 3);
    assert.ok(reports.every(({ progress }, i) => i === 0 || progress > reports[i - 1].progress));
    const asks = await gateway.send({ agent: "bistro", message: "Please book a table." });
    assert.equal(asks.structured.task.status.state, "TASK_STATE_INPUT_REQUIRED");
    const booked = await gateway.send({ agent: "bistro", message: "Four people, at eight." });
    assert.equal(booked.structured.task.id, asks.structured.task.id);
    const { structured } = await gateway.task({ agent: "bistro", task_id: booked.structured.task.id });
    assert.equal(structured.task.status.state, "TASK_STATE_COMPLETED");
    assert.equal((await gateway.agents()).structured.agents[0].health, "healthy");
    assert.equal((await gateway.history({ agent: "bistro" })).structured.entries.length, 3);
  });
}

test("every tool that is listed has a method of its own", async (t) => {
  const gateway = await opened(t, { config: { a2a: {} } }); // whose inbox has tools too
  const tools = (await gateway.tools()).map(({ name }) => name);
  assert.equal(tools.length, 19);
  const called = [];
  gateway.call = async (name, ...rest) => called.push([name, ...rest]);
  const own = Object.getOwnPropertyNames(Gateway.prototype.__proto__.constructor.prototype);
  const base = Object.getPrototypeOf(Gateway.prototype);
  const others = "constructor dead call tools fetch port transport snapshot explain heldTools acceptTool trace logIn finishLogin isLoginExpected configure dispose".split(" ");
  for (const name of Object.getOwnPropertyNames(base)) {
    if (others.includes(name)) continue;
    await gateway[name]({ a: 1 }, { b: 2 });
  }
  assert.ok(own.length > 0);
  assert.deepEqual(called.map(([name]) => name).sort(), tools);
  assert.ok(called.every(([, args, options]) => args.a === 1 && options.b === 2));
});

test("a failed call rejects with its code and its fields", async (t) => {
  const gateway = await opened(t, { config: { rate_limit: { rps: 0.5, burst: 1 } }, host: { fetch: () => ({ status: 404 }) } });
  const unknown = await failure(gateway.send({ agent: "nobody", message: "x" }));
  assert.ok(unknown instanceof GatewayError && unknown instanceof Error);
  assert.deepEqual([unknown.name, unknown.code], ["GatewayError", "unknown_agent"]);
  assert.match(unknown.message, /there is no connected agent 'nobody'/);
  assert.equal(unknown.content[0].text, unknown.message);
  assert.equal((await failure(gateway.call("no_such_tool"))).code, "invalid_argument");
  assert.equal((await failure(gateway.call("send_message", "words"))).code, "invalid_argument");
  assert.equal((await failure(gateway.send({ agent: 5 }))).code, "invalid_argument");
  await gateway.connect({ alias: "a", agent_url: "https://agent.example/" });
  const status = await failure(gateway.send({ agent: "a", message: "x" }));
  assert.deepEqual([status.code, status.status], ["http_status", 404]);
  const limited = await failure(gateway.send({ agent: "a", message: "x" }));
  assert.equal(limited.code, "rate_limited");
  assert.ok(limited.retry_after_ms > 0 && limited.retry_after_ms <= 2000);
  const circular = {};
  circular.self = circular;
  for (const args of [circular, { agent: "a", message: 1n }]) {
    const unwritten = await failure(gateway.send(args));
    assert.deepEqual([unwritten.name, unwritten.code, unwritten.cause.name], ["GatewayError", "invalid_argument", "TypeError"]);
  }
  assert.equal((await gateway.agents()).structured.agents.length, 1);
});

test("a failed task comes with its error", async (t) => {
  const task = { id: "t1", contextId: "c1", status: { state: "TASK_STATE_FAILED" }, artifacts: [] };
  const fetch = ({ method, body }) =>
    method === "GET" ? { status: 404 } : { status: 200, headers: [["content-type", "application/json"]], body: JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(body).id, result: { task } }) };
  const gateway = await opened(t, { host: { fetch } });
  const failed = await failure(gateway.send({ agent: "https://agent.example/", message: "x" }));
  assert.deepEqual([failed.code, failed.task.id, failed.structured.task.id], ["task_failed", "t1", "t1"]);
});

test("what JSON.parse cannot hold stands in the text of what is structured", async (t) => {
  const odd = String.raw`{ "a\"]}" : [1e400, {"b,":-0}],"big":9007199254740993 , "big" : 12345678901234567890,"s":"\\","t" : [ ] , "u":{},"v":true }`;
  const task = (state) => `{"id":"t1","status":{"state":"${state}"},"metadata":${odd}}`;
  let state = "TASK_STATE_COMPLETED";
  const fetch = ({ method, body }) =>
    method === "GET" ? { status: 404 } : { status: 200, headers: [["content-type", "application/json"]], body: `{"jsonrpc":"2.0","id":${JSON.parse(body).id},"result":{"task":${task(state)}}}` };
  const gateway = await opened(t, { host: { fetch } });
  const answer = await gateway.send({ agent: "https://agent.example/", message: "x" });
  assert.notEqual(String(answer.structured.task.metadata.big), "12345678901234567890");
  for (const number of ["1e400", "-0", "9007199254740993", "12345678901234567890"]) assert.ok(answer.json.includes(number), number);
  assert.deepEqual(JSON.parse(answer.json), answer.structured);
  assert.deepEqual(Object.keys(answer), ["text", "structured", "content"]);
  state = "TASK_STATE_FAILED";
  const failed = await failure(gateway.send({ agent: "https://agent.example/", message: "x" }));
  assert.ok(failed.json.includes("12345678901234567890"));
  assert.deepEqual(JSON.parse(failed.json), failed.structured);
});

test("the text of a value is found wherever it stands", () => {
  const inner = String.raw`{"b":"}\"\\","c":[{"x":"]"},1.50,null],"":{} ,"d":-1e9}`;
  const text = ` { "z":"a,b" , "a" : ${inner} ,"y":[ ]}`.trim();
  assert.equal(textOf(text, ["a"]), inner);
  for (const [name, value] of [["b", String.raw`"}\"\\"`], ["c", '[{"x":"]"},1.50,null]'], ["", "{}"], ["d", "-1e9"]]) assert.equal(textOf(text, ["a", name]), value);
  for (const path of [["x"], ["a", "x"], ["x", "y"]]) assert.equal(textOf(text, path), undefined);
  assert.equal(textOf("{}", ["a"]), undefined);
});

test("an aborted call is cancelled, and rejects with the signal's reason", async (t) => {
  const { asked, fetch } = silence();
  const gateway = await opened(t, { host: { fetch } });
  const controller = new AbortController();
  const call = gateway.card({ agent: "https://agent.example/" }, { signal: controller.signal });
  await settled();
  assert.equal(asked.length, 1);
  assert.equal(asked[0].signal.aborted, false);
  const reason = new Error("never mind");
  controller.abort(reason);
  assert.equal(await failure(call), reason);
  assert.equal(asked[0].signal.aborted, true);
  assert.equal(await failure(gateway.agents({}, { signal: controller.signal })), reason);
  assert.deepEqual((await gateway.agents()).structured.agents, []);
});

test("a listener that throws harms no call, and is told of", async (t) => {
  const url = await bistro(t);
  const notices = [];
  const gateway = await opened(t, { onNotice: (notice) => notices.push(notice) });
  const onProgress = () => {
    throw new Error("embedder's bug");
  };
  const { structured } = await gateway.send({ agent: url, message: "What is for dinner tonight?" }, { onProgress });
  assert.equal(structured.task.status.state, "TASK_STATE_COMPLETED");
  assert.ok(notices.some(({ event, fields }) => event === "host_error" && fields.message === "embedder's bug"));
});

test("without a listener such faults go to the console, and nowhere else", async (t) => {
  const said = mock.method(console, "error", () => {});
  t.after(() => said.mock.restore());
  let fault = false;
  const gateway = await opened(t, { host: { now: () => (fault ? NaN : 1) } });
  await gateway.agents();
  assert.equal(said.mock.callCount(), 0);
  fault = true;
  await gateway.agents();
  assert.ok(said.mock.callCount() > 0);
  assert.match(said.mock.calls[0].arguments[0], /^narrows: `host\.now\(\)` must give milliseconds/);
});

test("what is wrong at the opening is said with a code", async () => {
  const failed = (options) => failure(Gateway.open(options));
  const code = async (options) => {
    const error = await failed(options);
    assert.ok(error instanceof GatewayError, error.stack);
    return error.code;
  };
  assert.equal(await code({ config: { nmae: "x" } }), "config");
  assert.equal(await code({ config: 5 }), "config");
  assert.equal(await code({ config: null }), "config");
  assert.equal(await code({ config: { network: { allowed_hosts: "a" } } }), "config");
  assert.equal(await code({ snapshot: ['{"narrows":999,"records":[]}'] }), "restore");
  for (const piece of ["no JSON", "[]", "null", "{}", '{"narrows":1,"records":5}', '{"narrows":1,"records":[null]}']) {
    assert.equal(await code({ snapshot: [piece] }), "restore", piece);
  }
  for (const options of [null, 5, "x", () => {}]) assert.equal(await code(options), "misuse");
  for (const snapshot of ["x", [5], 5, null]) assert.equal(await code({ snapshot }), "misuse");
  for (const host of [5, null, { now: 1 }, { now: () => NaN }]) assert.equal(await code({ host }), "misuse");
  for (const scope of ["x".repeat(300), 5, null]) assert.equal(await code({ scope }), "misuse");
  for (const name of ["onSave", "onWork", "onNotice", "onTrace", "onDead"]) assert.equal(await code({ [name]: 5 }), "misuse", name);
  assert.match((await failed({ confg: {} })).message, /no option `confg`: did you mean `config`\?/);
  assert.match((await failed({ onsave() {} })).message, /did you mean `onSave`\?/);
  assert.match((await failed({ a2a: {} })).message, /it knows config, host, scope, .*stands in `config`$/);
  for (const Made of [Gateway, slim.Gateway]) {
    assert.throws(() => new Made(), { name: "GatewayError", code: "misuse", message: /await Gateway\.open\(\)/ });
    assert.throws(() => new Made({}), { code: "misuse" });
  }
});

test("a function of the host that throws at the opening is named", async () => {
  for (const name of ["random", "now", "unixNow"]) {
    const thrown = new Error("no such device");
    const fail = () => {
      throw thrown;
    };
    const error = await failure(Gateway.open({ host: { [name]: fail } }));
    assert.deepEqual([error.name, error.code, error.cause], ["GatewayError", "misuse", thrown]);
    assert.equal(error.message, `\`host.${name}\` threw: no such device`);
  }
});

test("what is wrong in a call is said with a code", async (t) => {
  const gateway = await opened(t);
  const code = async (call) => {
    const error = await failure((async () => call())());
    assert.ok(error instanceof GatewayError, error.stack);
    return error.code;
  };
  const misuses = [
    () => gateway.agents({}, null),
    () => gateway.agents({}, { onprogress() {} }),
    () => gateway.agents({}, { onProgress: 5 }),
    () => gateway.agents({}, { signal: {} }),
    () => gateway.fetch(),
    () => gateway.fetch({ url: "/relative" }),
    () => gateway.transport("scope"),
    () => gateway.transport({ scoop: "a" }),
    () => gateway.port({ scoop: "a" }),
    () => gateway.port({ scope: 5 }),
    () => gateway.snapshot({ secret: false }),
    () => gateway.trace(5),
    () => gateway.transport().send({}),
    () => gateway.transport({ scope: 5 }).start(),
  ];
  for (const call of misuses) assert.equal(await code(call), "misuse", String(call));
  assert.equal(await code(() => gateway.call(5)), "invalid_argument");
  assert.equal(await code(() => gateway.call(undefined)), "invalid_argument");
});

test("a core and a gateway have errors of one kind", () => {
  const genesis = { seed: new Uint8Array(32), now: 0, unixMs: 0 };
  const codes = {
    misuse: () => new node.Core(),
    config: () => new node.Core(genesis, { nmae: "x" }),
    restore: () => node.Core.restore(genesis, undefined, ["no piece"]),
    disposed: () => {
      const core = new node.Core(genesis);
      core.dispose();
      core.output();
    },
  };
  for (const [code, call] of Object.entries(codes)) assert.throws(call, { name: "GatewayError", code });
  const again = node.Core.restore(genesis, undefined, new node.Core(genesis).snapshot());
  assert.ok(again instanceof node.Core);
  assert.throws(() => again.input(0, "{}"), { name: "GatewayError", code: "misuse" });
});

test("a broadcast that nobody answered has the code of its agents, or one of its own", async (t) => {
  const fetch = ({ url }) => {
    if (url.includes("lost")) throw Object.assign(new Error("nobody"), { code: "refused" });
    return { status: 404 };
  };
  const gateway = await opened(t, { host: { fetch } });
  for (const alias of ["lost", "lost-too", "found"]) await gateway.connect({ alias, agent_url: `https://${alias}.example/` });
  const alike = await failure(gateway.broadcast({ aliases: ["lost", "lost-too"], message: "x" }));
  assert.deepEqual([alike.code, alike.results.lost.error.code], ["unreachable", "unreachable"]);
  const mixed = await failure(gateway.broadcast({ aliases: ["lost", "found"], message: "x" }));
  assert.deepEqual([mixed.code, mixed.results.found.error.code], ["broadcast_failed", "http_status"]);
  assert.match(mixed.message, /^Answered: 0 of 2/);
});

test("after dispose everything says so, and what ran has rejected", async () => {
  const { asked, fetch } = silence();
  const gateway = await Gateway.open({ host: { fetch } });
  const running = gateway.card({ agent: "https://agent.example/" });
  await settled();
  const transport = gateway.transport();
  let closed = 0;
  transport.onclose = () => closed++;
  await transport.start();
  gateway[Symbol.dispose]();
  gateway.dispose();
  assert.equal((await failure(running)).code, "disposed");
  assert.equal(asked[0].signal.aborted, true);
  assert.equal(closed, 1);
  assert.equal((await failure(gateway.agents())).code, "disposed");
  assert.equal((await failure(gateway.tools())).code, "disposed");
  assert.equal((await failure(gateway.fetch(new Request("http://localhost/healthz")))).code, "disposed");
  for (const call of [() => gateway.snapshot(), () => gateway.transport(), () => gateway.port(), () => gateway.trace()]) {
    assert.throws(call, { code: "disposed" });
  }
  await assert.rejects(transport.send({}), /not connected/);
  assert.equal(gateway.dead, undefined);
});

test("two gateways share nothing, though their scopes have one name", async (t) => {
  const [one, other] = [await opened(t), await opened(t)];
  await one.createCallerCard({ name: "ada", description: "a person" });
  assert.equal((await one.callerCard()).structured.card.name, "ada");
  assert.equal((await other.callerCard()).structured.card, null);
  one.dispose();
  assert.equal((await other.callerCard()).structured.card, null);
});

test("a gateway goes on from a snapshot, and its clients are gone", async (t) => {
  const { fetch } = silence();
  const first = await opened(t, { host: { fetch } });
  const left = first.transport();
  await left.start();
  await first.createCallerCard({ name: "ada", description: "a person" });
  const pieces = first.snapshot();
  const second = await opened(t, { snapshot: pieces });
  assert.equal((await second.callerCard()).structured.card.name, "ada");
  const peers = second.snapshot().flatMap((piece) => JSON.parse(piece).records).filter(({ kind }) => kind === "peer");
  assert.deepEqual(peers.map(({ peer }) => peer), [1]);
  assert.ok(first.snapshot({ secrets: false }).every((piece) => typeof piece === "string"));
  assert.throws(() => first.snapshot({ secrets: 1 }), { code: "misuse" });
});

test("a trace from the opening on replays, and can be stopped and started", async (t) => {
  const lines = [];
  const gateway = await opened(t, { onTrace: (line) => lines.push(JSON.parse(line)) });
  await gateway.agents();
  assert.ok(lines[0].genesis && lines[0].config);
  const before = lines.length;
  gateway.trace();
  await gateway.agents();
  assert.equal(lines.length, before);
  const more = [];
  gateway.trace((line) => more.push(line));
  await gateway.agents();
  assert.ok(more.length > 0);
});

test("nothing goes out before what it depends on is kept", async (t) => {
  const { asked, fetch } = silence();
  const saves = [];
  const onSave = (key) => new Promise((resolve, reject) => saves.push({ key, resolve, reject }));
  const gateway = await opened(t, { host: { fetch }, onSave });
  const settle = async () => {
    for (let turn = 0; turn < 5; turn += 1) await settled();
  };
  let answered = false;
  const card = gateway.createCallerCard({ name: "ada", description: "a person" }).then(() => (answered = true));
  await settle();
  assert.equal(saves.length, 1, "one at a time");
  assert.equal(answered, false);
  gateway.card({ agent: "https://agent.example/" }).catch(() => {});
  await settle();
  assert.equal(asked.length, 0, "a request waits too");
  for (let done = 0; done < saves.length; done += 1) {
    saves[done].resolve();
    await settle();
  }
  await card;
  assert.equal(asked.length, 1);
  assert.ok(saves.length > 1);
  const keys = saves.map(({ key }) => key);
  assert.ok(keys.every((key) => typeof key === "string"));
});

test("timers run on while something is being saved", async (t) => {
  const timers = [];
  const setTimer = (callback, ms) => (timers.push(ms), () => {});
  let hold = false;
  const gateway = await opened(t, { host: { fetch: () => new Promise(() => {}), setTimer }, onSave: () => (hold ? new Promise(() => {}) : undefined) });
  hold = true;
  gateway.card({ agent: "https://agent.example/" }).catch(() => {});
  await settled();
  assert.equal(timers.length, 1);
});

test("a state that cannot be kept ends the gateway, before anything that depends on it", async (t) => {
  for (const fail of [
    () => {
      throw new Error("the disk is full");
    },
    async () => {
      throw new Error("the disk is full");
    },
  ]) {
    const { asked, fetch } = silence();
    let broken = false;
    const deaths = [];
    const onSave = () => (broken ? fail() : undefined);
    const gateway = await opened(t, { host: { fetch }, onSave, onDead: (message) => deaths.push(message) });
    await gateway.createCallerCard({ name: "ada", description: "a person" });
    broken = true;
    const transport = gateway.transport();
    const closed = new Promise((resolve) => (transport.onclose = resolve));
    await transport.start();
    const lost = await failure(gateway.createCallerCard({ name: "bob", description: "another" }));
    assert.ok(lost instanceof GatewayError);
    assert.deepEqual([lost.code, lost.message], ["storage", "the state could not be kept: the disk is full: open a new one from what was kept"]);
    await closed;
    assert.equal(asked.length, 0);
    assert.deepEqual(deaths, ["the state could not be kept: the disk is full"]);
    assert.equal(gateway.dead, deaths[0]);
    assert.equal((await failure(gateway.agents())).code, "storage");
    gateway.dispose();
  }
});

test("a gateway that is disposed while it saves says no more", async (t) => {
  let release;
  const deaths = [];
  const onSave = () => new Promise((_, reject) => (release = reject));
  const gateway = await opened(t, { onSave, onDead: (message) => deaths.push(message) });
  const call = gateway.createCallerCard({ name: "ada", description: "a person" });
  await settled();
  gateway.dispose();
  release(new Error("too late"));
  assert.equal((await failure(call)).code, "disposed");
  await settled();
  assert.deepEqual([deaths, gateway.dead], [[], undefined]);
});

const hello = { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } } };

test("a transport carries messages in order, of a scope of its own if it wants", async (t) => {
  const gateway = await opened(t);
  await gateway.createCallerCard({ name: "ada", description: "a person" });
  const cards = [];
  for (const options of [undefined, { scope: "other" }]) {
    const transport = gateway.transport(options);
    const heard = [];
    const done = new Promise((resolve) => {
      transport.onmessage = (message) => {
        heard.push(message.id);
        if (message.id !== 2) return;
        cards.push(message.result.structuredContent.card);
        resolve();
      };
    });
    await assert.rejects(transport.send({}), /not connected/);
    await transport.start();
    await assert.rejects(transport.start(), /started already/);
    await transport.send(hello);
    await transport.send({ jsonrpc: "2.0", id: 1, method: "ping" });
    await transport.send({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "view_caller_card", arguments: {} } });
    await done;
    assert.deepEqual(heard, [0, 1, 2]);
    let closed = 0;
    transport.onclose = () => closed++;
    await transport.close();
    await transport.close();
    assert.equal(closed, 1);
  }
  assert.deepEqual(cards.map((card) => card?.name), ["ada", undefined]);
});

test("a transport whose listener throws tells its onerror", async (t) => {
  const gateway = await opened(t);
  const transport = gateway.transport();
  const errors = [];
  transport.onerror = (error) => errors.push(error.message);
  transport.onmessage = () => {
    throw new Error("client's bug");
  };
  await transport.start();
  await transport.send(hello);
  await settled();
  assert.deepEqual(errors, ["client's bug"]);
});

test("a port takes objects and texts, and its end ends the connection", async (t) => {
  const notices = [];
  const gateway = await opened(t, { onNotice: ({ event, level }) => notices.push([event, level]) });
  const port = gateway.port();
  const heard = [];
  const answer = () => new Promise((resolve) => (port.onmessage = ({ data }) => resolve(heard.push(data))));
  const send = async (message) => {
    const answered = answer();
    port.postMessage(message);
    await answered;
  };
  await send(hello);
  port.postMessage(undefined);
  port.postMessage(5n);
  await send(JSON.stringify({ jsonrpc: "2.0", id: "two", method: "ping" }));
  assert.deepEqual(heard.map(({ id }) => id), [0, "two"]);
  const peers = () => gateway.snapshot().flatMap((piece) => JSON.parse(piece).records).filter(({ kind }) => kind === "peer").length;
  assert.equal(peers(), 2);
  port.close();
  while (peers() > 1) await settled();
  const other = gateway.port();
  const closed = new Promise((resolve) => other.addEventListener("close", resolve));
  other.onmessage = () => {}; // which keeps the process until the port closes
  gateway.dispose();
  await closed;
});
