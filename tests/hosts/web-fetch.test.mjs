// Fetches and timers of page and worker: with the global fetch against a real server, with a replaced one in every shape.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { mock, test } from "node:test";
import { Driven, settled, toldBy } from "./driven.mjs";

const bytes = (text) => new TextEncoder().encode(text);
const body = (...texts) => texts.map((text) => ({ type: "body", text }));
const head = (status, headers = []) => ({ type: "head", status, headers });
const end = { type: "end" };

async function served(answer, use) {
  const server = createServer(answer);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await use(`http://127.0.0.1:${server.address().port}/`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

async function toldOf(url) {
  const driven = new Driven();
  await driven.answered(driven.ask(url));
  const told = driven.told();
  driven.driver.dispose();
  return told;
}

test("the global fetch: head, chunks and end of a real response", async () => {
  const told = await served(
    (request, response) => {
      response.writeHead(404, { "content-type": "text/plain", "x-own": "1" });
      response.write("first ");
      setTimeout(() => response.end("second"), 20);
    },
    (url) => toldOf(url),
  );
  const [first, ...rest] = told;
  assert.equal(first.status, 404);
  assert.ok(first.headers.some(([name, value]) => name === "x-own" && value === "1"));
  const chunks = rest.filter(({ type }) => type === "body");
  assert.equal(chunks.map(({ text }) => text).join(""), "first second");
  assert.deepEqual(rest.at(-1), end);
});

test("the global fetch follows no redirect and keeps no cookie", async () => {
  const cookies = [];
  const told = await served(
    (request, response) => {
      cookies.push(request.headers.cookie);
      response.writeHead(302, { location: "https://elsewhere.example/", "set-cookie": "a=b" }).end();
    },
    (url) => toldOf(url),
  );
  assert.equal(told[0].status, 302);
  assert.ok(told[0].headers.some(([name]) => name === "location"));
  assert.ok(cookies.every((cookie) => cookie === undefined));
});

test("the global fetch: nobody listens, a body is cut, a name has no address", async () => {
  const closed = await served(() => {}, (url) => url);
  const [refused] = await toldOf(closed);
  assert.equal(refused.type + refused.cause, "failedrefused");
  assert.match(refused.detail, /fetch failed/);
  const cut = await served(
    (request, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("half");
      setTimeout(() => response.destroy(), 20);
    },
    (url) => toldOf(url),
  );
  assert.equal(cut[0].type, "head");
  assert.equal(cut.at(-1).type + cut.at(-1).cause, "failedreset");
  const [unknown] = await toldOf("https://nowhere.invalid/");
  assert.equal(unknown.type + unknown.cause, "faileddns");
});

test("the global fetch: a cancelled call closes the connection", async () => {
  await served(
    (request, response) => {
      response.writeHead(200);
      response.write("x");
      request.socket.once("close", () => response.emit("gone"));
      response.once("gone", () => gone());
      started();
    },
    async (url) => {
      const driven = new Driven();
      const id = driven.ask(url);
      await starting;
      driven.cancel(id);
      await going;
      await settled();
      assert.equal(driven.answer(id), undefined);
      assert.ok(driven.told().every(({ type }) => type === "head" || type === "body"));
      driven.driver.dispose();
    },
  );
});
let started;
const starting = new Promise((resolve) => (started = resolve));
let gone;
const going = new Promise((resolve) => (gone = resolve));

async function* generated(...chunks) {
  yield* chunks;
}

test("a replaced fetch may answer in any shape", async () => {
  const stream = () => new Blob(["abc"]).stream();
  const shapes = {
    "a Response": [() => new Response("abc", { status: 404, headers: { "x-a": "1" } }), [["content-type", "text/plain;charset=UTF-8"], ["x-a", "1"]]],
    "pairs and a stream": [() => ({ status: 404, headers: [["X-A", "1"], ["X-A", "2"]], body: stream() }), [["X-A", "1"], ["X-A", "2"]]],
    "a Map and an async iterable": [() => ({ status: 404, headers: new Map([["x", "1"]]), body: generated(bytes("a"), bytes("bc")) }), [["x", "1"]]],
    "a plain object and Node's stream": [async () => ({ status: 404, headers: { x: "1" }, body: Readable.from([Buffer.from("abc")]) }), [["x", "1"]]],
    "forEach and a view": [() => ({ status: 404, headers: { forEach: (visit) => visit("1", "x") }, body: new DataView(bytes("abc").buffer) }), [["x", "1"]]],
    "entries and a string": [() => ({ status: 404, headers: { entries: () => [["x", "1"]].values() }, body: "abc" }), [["x", "1"]]],
    "no headers and arrayBuffer": [() => ({ status: 404, arrayBuffer: async () => bytes("abc").buffer }), []],
    "a thenable": [() => ({ then: (resolve) => resolve({ status: 404, body: "abc" }) }), []],
  };
  for (const [name, [fetch, headers]] of Object.entries(shapes)) {
    const [first, ...rest] = await toldBy(fetch);
    assert.deepEqual(first, head(404, headers), name);
    assert.equal(rest.filter(({ type }) => type === "body").map(({ text }) => text).join(""), "abc", name);
    assert.deepEqual(rest.at(-1), end, name);
  }
  for (const none of [{ status: 404, body: null }, { status: 404 }, new Response(null, { status: 404 })]) {
    assert.deepEqual(await toldBy(() => none), [head(404), end]);
  }
});

test("a body that is no text arrives byte for byte", async () => {
  const told = await toldBy(() => ({ status: 404, body: generated(new Uint8Array([0xff, 0, 1])) }));
  assert.deepEqual(told, [head(404), { type: "body", base64: "/wAB" }, end]);
});

test("what is no response is a protocol failure", async () => {
  const bad = {
    "no object": [() => undefined, /status/],
    "no status": [() => ({ body: "x" }), /status/],
    "a status out of range": [() => ({ status: 1000 }), /status/],
    "a header that is no text": [() => ({ status: 404, headers: [["x", 1]] }), /header/],
    "headers that throw": [() => ({ status: 404, headers: generated() && { *[Symbol.iterator]() { throw new Error("x"); } } }), /headers/],
    "an unknown content coding": [() => ({ status: 404, headers: [["Content-Encoding", "gzip, compress"]], body: "x" }), /compress/],
  };
  for (const [name, [fetch, detail]] of Object.entries(bad)) {
    const [failed] = await toldBy(fetch);
    assert.equal(failed.type + failed.cause, "failedprotocol", name);
    assert.match(failed.detail, detail, name);
  }
  for (const body of [{}, 5, generated({}), generated(5)]) {
    const [first, failed] = await toldBy(() => ({ status: 404, body }));
    assert.deepEqual(first, head(404));
    assert.equal(failed.type + failed.cause, "failedprotocol");
    assert.match(failed.detail, /body/);
  }
});

test("a redirect that the browser hides says what to do", async () => {
  const [failed] = await toldBy(() => ({ status: 0, type: "opaqueredirect", headers: [], body: null }));
  const detail = "the browser hides where it was redirected; register the final address";
  assert.deepEqual(failed, { type: "failed", cause: "redirect", detail });
});

test("causes are read from codes, wherever they stand", async () => {
  const coded = (code, wrap = (error) => error) => () => Promise.reject(wrap(Object.assign(new Error("why"), { code })));
  const inside = (cause) => new TypeError("fetch failed", { cause });
  const cases = [
    [coded("ECONNREFUSED", inside), "refused"],
    [coded("ENOTFOUND", inside), "dns"],
    [coded("EAI_AGAIN", (error) => inside(inside(error))), "dns"],
    [coded("UND_ERR_SOCKET"), "reset"],
    [coded("ECONNRESET", (error) => inside(new AggregateError([error]))), "reset"],
    [coded("CERT_HAS_EXPIRED", inside), "tls"],
    [coded("DEPTH_ZERO_SELF_SIGNED_CERT", inside), "tls"],
    [coded("ERR_TLS_CERT_ALTNAME_INVALID", inside), "tls"],
    [coded("blocked"), "blocked"],
    [coded("Z_DATA_ERROR", inside), "protocol"],
    [coded("ETIMEDOUT", inside), "other"],
    [() => Promise.reject("words"), "other", "words"],
    [() => Promise.reject(), "other", "the fetch failed without a reason"],
    [() => { throw new Error("at once"); }, "other", "at once"],
    [() => { throw Object.assign(new Error("a"), { get cause() { return this; } }); }, "other", "a"],
    [() => { throw new DOMException("mine", "AbortError"); }, "other", "mine"],
  ];
  for (const [fetch, cause, detail] of cases) {
    const [failed] = await toldBy(fetch);
    assert.equal(failed.type + failed.cause, `failed${cause}`, String(fetch));
    if (detail) assert.equal(failed.detail, detail);
  }
  const [failed] = await toldBy(coded("ECONNREFUSED", inside));
  assert.equal(failed.detail, "fetch failed: why");
});

test("a failure in the middle of a body comes after what was read", async () => {
  async function* broken() {
    yield bytes("half");
    throw Object.assign(new Error("lost"), { code: "ECONNRESET" });
  }
  const told = await toldBy(() => ({ status: 404, body: broken() }));
  assert.deepEqual(told, [head(404), ...body("half"), { type: "failed", cause: "reset", detail: "lost" }]);
});

test("a body is read one chunk at a time", async () => {
  let [reading, most, reads] = [0, 0, 0];
  const reader = {
    async read() {
      most = Math.max(most, ++reading);
      await settled();
      reading--;
      return ++reads > 5 ? { done: true } : { done: false, value: bytes("x") };
    },
  };
  const told = await toldBy(() => ({ status: 404, body: { getReader: () => reader } }));
  assert.equal(told.filter(({ type }) => type === "body").length, 5);
  assert.equal(most, 1);
});

test("a fetch that ignores its signal is let go, and its late body cancelled", async () => {
  let answer;
  let cancelled = 0;
  const driven = new Driven({ fetch: () => new Promise((resolve) => (answer = resolve)) });
  const id = driven.ask();
  await settled();
  driven.cancel(id);
  await settled();
  const reader = { read: async () => ({ done: true }), cancel: async () => cancelled++ };
  answer({ status: 200, body: { getReader: () => reader } });
  await settled();
  assert.equal(cancelled, 1);
  assert.deepEqual(driven.told(), []);
  driven.driver.dispose();
});

test("a call that is cancelled before its fetch begins makes none", async () => {
  const fetch = mock.fn(() => ({ status: 404 }));
  const driven = new Driven({ fetch });
  driven.cancel(driven.ask());
  await settled();
  assert.equal(fetch.mock.callCount(), 0);
  driven.driver.dispose();
});

class Clock {
  now = 1000;
  timers = [];
  host = {
    now: () => this.now,
    unixNow: () => 1_700_000_000_000n,
    setTimer: (callback, ms) => {
      const timer = { callback, at: this.now + ms };
      this.timers.push(timer);
      return () => this.timers.splice(this.timers.indexOf(timer), 1);
    },
  };

  /** How long the timers have still to run. */
  left() {
    return this.timers.map(({ at }) => at - this.now);
  }

  /** Moves on to the next timer and runs it. */
  run() {
    const timer = this.timers.shift();
    this.now = timer.at;
    timer.callback();
  }
}

test("one timer runs at a time, and ends a call that is late", async () => {
  const clock = new Clock();
  let aborted = 0;
  const fetch = ({ signal }) => {
    signal.addEventListener("abort", () => aborted++);
    return new Promise(() => {});
  };
  const driven = new Driven({ ...clock.host, fetch });
  assert.equal(clock.timers.length, 0);
  const id = driven.ask();
  assert.equal(clock.timers.length, 1);
  await settled();
  for (let turn = 0; driven.answer(id) === undefined && turn < 10; turn++) {
    assert.equal(clock.timers.length, 1);
    clock.run();
    await settled();
  }
  assert.ok(driven.answer(id));
  assert.ok(aborted > 0);
  assert.equal(clock.timers.length, 0);
  driven.driver.dispose();
});

test("a call that ends in time cancels its timer", async () => {
  const clock = new Clock();
  const driven = new Driven({ ...clock.host, fetch: () => ({ status: 404 }) });
  await driven.answered(driven.ask());
  assert.equal(clock.timers.length, 0);
  driven.driver.dispose();
});

test("a deadline beyond the longest timer is reached in steps", async () => {
  const clock = new Clock();
  const fetch = ({ method }) => (method === "GET" ? { status: 404 } : new Promise(() => {}));
  const driven = new Driven({ ...clock.host, fetch });
  const wish = { agent: "https://agent.example/", message: "x", poll_timeout_seconds: 4_000_000 };
  driven.send({ id: "long", method: "tools/call", params: { name: "send_message", arguments: wish } });
  for (let turn = 0; turn < 20; turn++) await settled();
  assert.deepEqual(clock.left(), [2 ** 31 - 1]);
  clock.run();
  assert.deepEqual(clock.left(), [4_000_000_000 - (2 ** 31 - 1)]);
  assert.equal(driven.answer("long"), undefined);
  clock.run();
  await driven.answered("long");
  driven.driver.dispose();
});

test("a clock that goes back or fails stands still", () => {
  let now = 1000;
  const driven = new Driven({ now: () => now });
  now = 10;
  driven.send({ id: "a", method: "ping" });
  now = NaN;
  driven.send({ id: "b", method: "ping" });
  assert.ok(driven.answer("a") && driven.answer("b"));
  const said = driven.complaints();
  assert.ok(said.length > 0);
  assert.ok(said.every((text) => text === "`host.now()` must give milliseconds from 0 to 2^53 - 1"));
  driven.driver.dispose();
});

test("a timer that calls back while it is set misses no wake-up", async () => {
  let now = 1000;
  const waits = [];
  const setTimer = (callback, ms) => {
    waits.push(ms);
    now += ms;
    callback();
    return () => assert.fail("a timer that has run is not cancelled");
  };
  const driven = new Driven({ now: () => now, setTimer, fetch: () => new Promise(() => {}) });
  const id = driven.ask();
  assert.match(driven.answer(id).result.structuredContent.error.code, /timeout/);
  assert.ok(waits.length > 0);
  assert.deepEqual(driven.complaints(), []);
  driven.driver.dispose();
});

test("a timer that calls back before its time is told of, and another takes its place", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 1000;
  const setTimer = (callback) => {
    callback();
    return () => {};
  };
  const driven = new Driven({ now: () => now, setTimer, fetch: () => new Promise(() => {}) });
  const id = driven.ask();
  assert.equal(driven.answer(id), undefined);
  assert.deepEqual([...new Set(driven.complaints())], ["setTimer called back before its time"]);
  for (let turn = 0; driven.answer(id) === undefined && turn < 100; turn++) {
    now += 1000;
    t.mock.timers.tick(1000);
  }
  assert.match(driven.answer(id).result.structuredContent.error.code, /timeout/);
  driven.driver.dispose();
});

test("a timer that throws, or that gives nothing to cancel it, is made up for", async () => {
  const broken = () => {
    throw new Error("no timers here");
  };
  for (const setTimer of [broken, () => undefined]) {
    const driven = new Driven({ setTimer, fetch: () => ({ status: 404 }) });
    await driven.answered(driven.ask());
    assert.deepEqual(driven.complaints().slice(0, 1), setTimer === broken ? ["no timers here"] : []);
    driven.driver.dispose();
  }
});
