// What crosses between JavaScript and the module, and what must not. The ids beside tests are those of tests/data/cases.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { openDriver } from "../../pkg/lib/open.mjs";
import { Core } from "../../pkg/node/core.mjs";
import { card, Driven, settled } from "./driven.mjs";

const genesis = { seed: new Uint8Array(32).fill(7), now: 0, unixMs: 1_700_000_000_000 };
const ping = (id) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`;
const open = JSON.stringify({ type: "open", peer: 1, scope: "s" });

function outputs(core) {
  const list = [];
  for (let text; (text = core.output()) !== undefined; ) list.push(JSON.parse(text));
  return list;
}

const messages = (core) => outputs(core).filter(({ type }) => type === "message");

test("a text for a peer or a response comes without an envelope, everything else as JSON", () => {
  const [bare, whole] = [new Core(genesis), new Core(genesis)];
  const request = (method, target) => JSON.stringify({ type: "request", request: 9, method, target, headers: [["Host", "localhost"]] });
  const connect = JSON.stringify({
    ...{ jsonrpc: "2.0", id: 'a"🙂', method: "tools/call" },
    params: { name: "connect_agent", arguments: { alias: "a", agent_url: "https://agent.example/" } },
  });
  for (const core of [bare, whole]) {
    core.input(1, open);
    core.message(1, 1, ping(1));
    core.message(1, 1, connect);
    core.message(1, 1, "noise");
    core.input(1, request("GET", "/healthz"));
  }
  const seen = [];
  for (let next; (next = bare.next()) !== undefined; ) {
    if (typeof next === "string") seen.push(JSON.parse(next));
    else {
      const [peer, request, text] = next;
      assert.ok(next.length === 3 && (peer === undefined) !== (request === undefined));
      seen.push(request === undefined ? { type: "message", peer, text } : { type: "response_body", request, text });
    }
  }
  assert.deepEqual(seen, outputs(whole));
  const kinds = new Set(seen.map(({ type }) => type));
  for (const kind of ["message", "fetch", "notice", "response_head", "response_body", "response_end"]) assert.ok(kinds.has(kind), kind);
});

test("an input says whether outputs wait and whether the deadline is another one", () => {
  const core = new Core(genesis);
  assert.equal(core.input(1, open), 0);
  assert.equal(core.message(1, 1, ping(1)), 1);
  assert.equal(core.message(1, 1, '{"jsonrpc":"2.0","method":"notifications/initialized"}'), 1, "the answer still waits");
  outputs(core);
  assert.equal(core.message(1, 1, '{"jsonrpc":"2.0","method":"notifications/initialized"}'), 0);
  const args = { alias: "a", agent_url: "https://agent.example/" };
  const connect = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "connect_agent", arguments: args } };
  assert.equal(core.message(2, 1, JSON.stringify(connect)), 3);
  const { exchange } = outputs(core).find(({ type }) => type === "fetch");
  assert.equal(core.input(3, '{"type":"tick"}'), 2, "nobody asked for it yet");
  assert.equal(JSON.parse(core.timeout()).reason, "card_timeout");
  assert.equal(core.input(3, '{"type":"tick"}'), 0);
  assert.equal(core.input(4, JSON.stringify({ type: "failed", exchange, cause: "refused", detail: "" })), 3, "answered, and nothing due");
  assert.equal(core.timeout(), undefined);
  outputs(core);
  assert.equal(core.input(5, '{"type":"closed","peer":1}'), 0);
  assert.throws(() => core.message(5, 1, ping(3)), { code: "misuse" });
});

// wasm-001
test("two calls side by side both end", async () => {
  const release = [];
  const fetch = ({ url }) => new Promise((resolve) => release.push(() => resolve({ status: 200, body: card.replace("agent", url) })));
  const driven = new Driven({ fetch });
  const ids = [driven.ask("https://one.example/"), driven.ask("https://two.example/")];
  await settled();
  assert.equal(release.length, 2);
  for (const answer of release.reverse()) answer();
  const answers = await Promise.all(ids.map((id) => driven.answered(id)));
  assert.deepEqual(answers.map(({ id }) => id), ids);
  driven.driver.dispose();
});

// wasm-002
test("a callback that calls back in is carried on in order and never nested", () => {
  const driver = openDriver({});
  const heard = [];
  let [depth, deepest] = [0, 0];
  driver.open(1, "s", (text) => {
    deepest = Math.max(deepest, ++depth);
    const { id } = JSON.parse(text);
    heard.push(id);
    if (id < 4) driver.message(1, ping(id + 1));
    depth--;
  });
  driver.message(1, ping(1));
  assert.deepEqual(heard, [1, 2, 3, 4]);
  assert.equal(deepest, 1);
  driver.dispose();
});

test("a callback may dispose the driver that calls it", () => {
  const driver = openDriver({});
  let heard = 0;
  driver.open(1, "s", () => {
    heard++;
    driver.dispose();
  });
  driver.message(1, ping(1));
  driver.message(1, ping(2));
  assert.equal(heard, 1);
  assert.ok(driver.stopped);
});

test("a callback that throws is reported and harms nothing", () => {
  const said = [];
  const driver = openDriver({ onNotice: ({ event, fields }) => event === "host_error" && said.push(fields.message) });
  const heard = [];
  driver.open(1, "s", (text) => {
    heard.push(JSON.parse(text).id);
    if (heard.length === 1) throw new Error("embedder's bug");
  });
  driver.message(1, ping(1));
  driver.message(1, ping(2));
  assert.deepEqual(heard, [1, 2]);
  assert.deepEqual(said, ["embedder's bug"]);
  driver.dispose();
});

// wasm-004
test("integers of any size keep their digits", () => {
  const core = new Core(genesis);
  core.input(0, open);
  for (const id of ["13835058055282163713", "9007199254740993", "18446744073709551615"]) {
    core.message(1, 1, ping(id));
    const [answer] = messages(core);
    assert.ok(answer.text.includes(`"id":${id},`) || answer.text.includes(`"id":${id}}`), answer.text);
  }
});

test("a message needs no envelope, and means the same with one", () => {
  const [bare, wrapped] = [new Core(genesis), new Core(genesis)];
  const text = ping('"\\u2028 \\ud83d\\ude42"');
  for (const core of [bare, wrapped]) core.input(0, open);
  bare.message(1, 1, text);
  wrapped.input(1, JSON.stringify({ type: "message", peer: 1, text }));
  const answers = messages(bare);
  assert.equal(answers.length, 1);
  assert.deepEqual(answers, messages(wrapped));
});

// wasm-007
test("times are numbers or BigInt, and a bad one is named", () => {
  const core = new Core({ ...genesis, now: 10n, unixMs: 1_700_000_000_000n });
  core.input(10n, open);
  core.message(11.9, 1n, ping(1));
  assert.equal(messages(core).length, 1);
  const tick = '{"type":"tick"}';
  for (const now of [NaN, -1, -0.5, Infinity, 2 ** 53, -1n, 2n ** 53n, 2n ** 70n, "5", null, undefined, {}]) {
    assert.throws(() => core.input(now, tick), { code: "misuse", message: /`now`/ }, String(now));
    assert.throws(() => new Core({ ...genesis, now }), { code: "misuse", message: /`now`/ }, String(now));
    assert.throws(() => new Core({ ...genesis, unixMs: now }), { code: "misuse", message: /`unixMs`/ }, String(now));
  }
  core.input(12, tick);
});

test("values of a wrong type are named", () => {
  const core = new Core(genesis);
  core.input(0, open);
  assert.throws(() => core.input(1), { code: "misuse", message: /`json`/ });
  assert.throws(() => core.message(1, 1.5, ping(1)), { code: "misuse", message: /`peer`/ });
  assert.throws(() => core.message(1, 1, { text: "x" }), { code: "misuse", message: /`text`/ });
  assert.throws(() => core.body(1, 1, [1, 2]), { code: "misuse", message: /`bytes`/ });
  assert.throws(() => core.body(1, "1", new Uint8Array(1)), { code: "misuse", message: /`exchange`/ });
  assert.throws(() => core.snapshot({ secrets: 1 }), { code: "misuse", message: /`secrets`/ });
  assert.throws(() => core.input(1, '{"type":"closed","peer":2}'), { code: "misuse", message: /peer 2/ });
  for (const seed of [undefined, new Uint8Array(31), "x".repeat(32)]) {
    assert.throws(() => new Core({ ...genesis, seed }), { code: "misuse", message: /`seed`/ });
  }
  assert.throws(() => new Core(), { code: "misuse" });
  assert.throws(() => Core.restore(genesis, undefined, "[]"), { code: "misuse", message: /`pieces`/ });
});

test("a refused configuration names every fault", () => {
  const config = { name: () => "x", limits: { reply_bytes: NaN, card_bytes: new Date(0) } };
  config.self = config;
  for (const make of [() => new Core(genesis, config), () => openDriver({ config })]) {
    assert.throws(make, (error) => {
      assert.ok(error.code === "config");
      for (const key of ["`name`", "`limits.reply_bytes`", "`limits.card_bytes`", "`self.self"]) assert.match(error.message, new RegExp(key));
      return true;
    });
  }
});

test("a configuration may be made of Maps and BigInt", () => {
  const plain = new Core(genesis, { name: "n", limits: { reply_bytes: 1000 } });
  const other = new Core(genesis, new Map([["name", "n"], ["limits", new Map([["reply_bytes", 1000n]])]]));
  assert.deepEqual(other.snapshot(), plain.snapshot());
});

// wasm-008
test("bytes are copied, in and out", async () => {
  let seed;
  const random = (bytes) => {
    seed = bytes.fill(3);
  };
  const buffer = new TextEncoder().encode(card);
  async function* body() {
    yield buffer.subarray(0, 10);
    yield buffer.subarray(10);
  }
  const driven = new Driven({ random, fetch: () => ({ status: 200, body: body() }) });
  const id = driven.ask();
  await driven.answered(id);
  const answer = driven.messages.at(-1);
  buffer.fill(0);
  driven.send({ method: "notifications/message", params: { data: "x".repeat(16 << 20) } });
  assert.equal(seed.length, 32);
  assert.equal(driven.messages.at(-1), answer);
  const told = driven.told().filter(({ type }) => type === "body");
  assert.equal(told.map(({ text }) => text).join(""), card);
  driven.driver.dispose();
});

// wasm-005
test("what the host gets is made of plain objects", async () => {
  const requests = [];
  const fetch = (request) => {
    requests.push(request);
    return { status: 404 };
  };
  const driven = new Driven({ fetch });
  await driven.answered(driven.ask());
  const [{ signal, ...request }] = requests;
  assert.ok(signal instanceof AbortSignal);
  const written = JSON.parse(JSON.stringify(request));
  assert.equal(written.method, "GET");
  assert.match(written.url, /^https:\/\/agent\.example\//);
  assert.ok(written.headers.length > 0);
  for (const [name, value] of written.headers) assert.equal(typeof name + typeof value, "stringstring");
  assert.ok(!("body" in request));
  assert.ok(driven.notices.length > 0);
  for (const notice of driven.notices) assert.deepEqual(JSON.parse(JSON.stringify(notice)), notice);
  driven.driver.dispose();
});

test("dispose with a fetch running aborts it and is heard of no more", async () => {
  const seen = { aborted: 0, cancelled: 0, timers: 0 };
  const body = {
    getReader: () => ({
      read: () => new Promise(() => {}),
      cancel: () => {
        seen.cancelled++;
        return Promise.reject(new Error("cannot cancel"));
      },
    }),
  };
  const setTimer = () => {
    seen.timers++;
    return () => seen.timers--;
  };
  const fetch = ({ signal }) => {
    signal.addEventListener("abort", () => seen.aborted++);
    return { status: 200, body };
  };
  const driven = new Driven({ fetch, setTimer });
  driven.ask();
  await settled();
  assert.deepEqual(seen, { aborted: 0, cancelled: 0, timers: 1 });
  const heard = driven.messages.length;
  driven.driver.dispose();
  driven.driver.dispose();
  await settled();
  assert.deepEqual(seen, { aborted: 1, cancelled: 1, timers: 0 });
  assert.equal(driven.messages.length, heard);
});

test("after dispose, free or the end of `using` every call says so", () => {
  for (const end of ["dispose", "free", Symbol.dispose]) {
    const core = new Core(genesis);
    core[end]();
    core[end]();
    core.free();
    const calls = [
      () => core.input(1, open),
      () => core.message(1, 1, "{}"),
      () => core.body(1, 1, new Uint8Array(1)),
      () => core.output(),
      () => core.timeout(),
      () => core.snapshot(),
      () => core.trace(true),
      () => core.traceLine(),
    ];
    for (const call of calls) assert.throws(call, { code: "disposed", message: /disposed/ });
    assert.equal(core.dead, undefined);
  }
});

test("a snapshot goes through restore", () => {
  const core = new Core(genesis);
  core.input(0, open);
  const again = Core.restore({ ...genesis, now: 1 }, undefined, core.snapshot());
  assert.deepEqual(again.snapshot({ secrets: false }), core.snapshot({ secrets: false }));
  const driver = openDriver({});
  const other = openDriver({ snapshot: driver.snapshot({ secrets: true }) });
  assert.deepEqual(other.snapshot(), driver.snapshot());
  for (const each of [driver, other]) each.dispose();
});

test("the module imports no clock and no chance", async () => {
  const bytes = await readFile(new URL("../../pkg/dist/narrows_bg.wasm", import.meta.url));
  const names = WebAssembly.Module.imports(await WebAssembly.compile(bytes)).map(({ name }) => name);
  assert.ok(names.length > 0);
  assert.deepEqual(
    names.filter((name) => /now|date|performance|random|crypto|timeout|interval/i.test(name)),
    [],
  );
});

/** The cases of the field that are about this boundary, and the tests here that check them. */
const CASES = {
  "wasm-001": "two calls side by side both end",
  "wasm-002": "a callback that calls back in is carried on in order and never nested",
  "wasm-004": "integers of any size keep their digits",
  "wasm-005": "what the host gets is made of plain objects",
  "wasm-007": "times are numbers or BigInt, and a bad one is named",
  "wasm-008": "bytes are copied, in and out",
  "wasm-010": "the module imports no clock and no chance",
  "wasm-011": "the module imports no clock and no chance",
};

test("every case of the field about this boundary is checked by a test here", async () => {
  const cases = JSON.parse(await readFile(new URL("../data/cases/wasm-js-boundary.json", import.meta.url), "utf8"));
  assert.deepEqual(
    cases.map(({ id }) => id),
    Object.keys(CASES),
  );
  const source = await readFile(new URL(import.meta.url), "utf8");
  for (const name of Object.values(CASES)) assert.ok(source.includes(`test("${name}"`), name);
});
