import assert from "node:assert/strict";
import { test } from "node:test";

import { Driver } from "../../pkg/lib/driver.mjs";
import { settled } from "./driven.mjs";
import { FakeCore } from "./fake-core.mjs";

/** A network that does nothing by itself: `requests` holds what was asked, with the report to it. */
function network() {
  const requests = [];
  const fetch = (request, report) => {
    const asked = { ...request, report, aborted: false };
    requests.push(asked);
    return { abort: () => (asked.aborted = true) };
  };
  return { fetch, requests };
}

const fetchOutput = (exchange, rest = {}) => ({
  type: "fetch",
  exchange,
  method: "GET",
  url: `http://a.test/${exchange}`,
  headers: [["A", "b"]],
  ...rest,
});

test("outputs are done in their order, whichever inputs come in meanwhile", () => {
  const done = [];
  const core = new FakeCore((input) => {
    if (input.type === "message" && input.text === "first") {
      core.say(
        { type: "message", peer: 1, text: "a" },
        fetchOutput(7),
        { type: "notice", level: "info", event: "e", fields: { x: 1 } },
        { type: "message", peer: 1, text: "b" },
      );
    }
    if (input.type === "message" && input.text === "inner") core.say({ type: "message", peer: 1, text: "c" });
  });
  const driver = new Driver(core, {
    fetch: (request) => {
      done.push(`fetch ${request.url}`);
      return { abort() {} };
    },
    onNotice: ({ event, fields }) => done.push(`notice ${event} ${fields.x}`),
  });
  driver.open(1, "stdio", (text) => {
    done.push(text);
    if (text === "a") driver.message(1, "inner");
  });
  driver.message(1, "first");
  assert.deepEqual(done, ["a", "fetch http://a.test/7", "notice e 1", "b", "c"]);
  assert.deepEqual(
    core.inputs.map(({ type }) => type),
    ["open", "message", "message"],
  );
});

test("what a core has to do from its birth on waits for no input", async () => {
  const { fetch, requests } = network();
  const timers = [];
  const core = new FakeCore();
  core.say(fetchOutput(1));
  core.deadline = 30;
  const driver = new Driver(core, { fetch, now: () => 0, setTimer: (callback, ms) => timers.push(ms) && (() => {}) });
  assert.deepEqual([requests.length, timers], [0, []], "whoever made it may still prepare it");
  await settled();
  assert.deepEqual([requests.map(({ url }) => url), timers, core.inputs], [["http://a.test/1"], [30], []]);
  const other = new FakeCore();
  other.say(fetchOutput(2));
  new Driver(other, { fetch }).dispose();
  await settled();
  assert.equal(requests.length, 1);
  driver.dispose();
});

test("a peer that answers each message with another one does not pile up calls", () => {
  const core = new FakeCore((input) => {
    if (input.type === "message") core.say({ type: "message", peer: 1, text: String(Number(input.text) + 1) });
  });
  const driver = new Driver(core, { fetch: () => {} });
  let last;
  driver.open(1, "stdio", (text) => {
    last = text;
    if (text !== "20000") driver.message(1, text);
  });
  driver.message(1, "0");
  assert.equal(last, "20000");
});

test("what becomes of a fetch reaches the core, and nothing after its end or its abort", () => {
  const { fetch, requests } = network();
  const core = new FakeCore((input) => {
    if (input.type === "open") core.say(fetchOutput(1, { method: "POST", body: "{}" }), fetchOutput(2), fetchOutput(3));
    if (input.type === "head" && input.exchange === 3) core.say({ type: "abort", exchange: 3 });
  });
  const driver = new Driver(core, { fetch });
  driver.open(1, "stdio", () => {});
  const [{ report, ...first }, second, third] = requests;
  assert.deepEqual(first, { method: "POST", url: "http://a.test/1", headers: [["A", "b"]], body: "{}", aborted: false });
  report.head(200, [["X", "y"]]);
  report.body(Buffer.from("é"));
  report.end();
  report.body(Buffer.from("late"));
  report.failed("reset", "late");
  second.report.failed("dns", "no such name");
  second.report.end();
  third.report.head(200, []);
  third.report.body(Buffer.from("late"));
  third.report.end();
  assert.ok(third.aborted);
  const told = core.inputs.slice(1).map(({ now, ...input }) => input);
  assert.deepEqual(told, [
    { type: "head", exchange: 1, status: 200, headers: [["X", "y"]] },
    { type: "body", exchange: 1, text: "é" },
    { type: "end", exchange: 1 },
    { type: "failed", exchange: 2, cause: "dns", detail: "no such name" },
    { type: "head", exchange: 3, status: 200, headers: [] },
  ]);
});

test("one timer wakes the core at its deadline, and follows it when it moves", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 1000;
  const core = new FakeCore((input) => {
    if (input.type === "tick") core.deadline = undefined;
  });
  const driver = new Driver(core, { fetch: () => {}, now: () => now });
  const pass = (ms) => {
    now += ms;
    t.mock.timers.tick(ms);
  };
  core.deadline = 1500;
  driver.open(1, "stdio", () => {});
  pass(400);
  core.deadline = 2000; // put off
  driver.message(1, "x");
  pass(300);
  assert.equal(core.told("tick").length, 0);
  core.deadline = 1750; // brought forward
  driver.message(1, "x");
  pass(50);
  assert.deepEqual(
    core.told("tick").map((tick) => tick.now),
    [1750],
  );
  pass(10_000);
  assert.equal(core.told("tick").length, 1);
  core.deadline = now + 2 ** 40; // further than a timer reaches: not at once
  driver.message(1, "x");
  pass(1000);
  assert.equal(core.told("tick").length, 1);
});

test("a deadline that is not met by its tick is asked for again", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  const core = new FakeCore((input) => {
    if (input.type === "tick" && core.told("tick").length === 2) core.deadline = undefined;
  });
  core.deadline = 10;
  const driver = new Driver(core, { fetch: () => {}, now: () => now });
  driver.open(1, "stdio", () => {});
  now = 9; // the timer is early by one
  t.mock.timers.tick(10);
  now = 10;
  t.mock.timers.tick(1);
  assert.deepEqual(
    core.told("tick").map((tick) => tick.now),
    [9, 10],
  );
});

test("a writer that throws costs its message, not the rest", () => {
  const notices = [];
  const core = new FakeCore((input) => {
    if (input.type === "message")
      core.say(
        { type: "message", peer: 1, text: "bad" },
        { type: "message", peer: 9, text: "to nobody" },
        { type: "message", peer: 2, text: "good" },
      );
  });
  const driver = new Driver(core, { fetch: () => {}, onNotice: (notice) => notices.push(notice) });
  const got = [];
  driver.open(1, "a", () => {
    throw new Error("no room");
  });
  driver.open(2, "b", (text) => got.push(text));
  driver.message(1, "x");
  assert.deepEqual(got, ["good"]);
  assert.deepEqual(notices, [{ level: "error", event: "host_error", fields: { message: "no room" } }]);
});

test("an input that the core refuses is told in the log, and the next one is taken", () => {
  const notices = [];
  const core = new FakeCore((input) => {
    if (input.text === "bad") throw new Error("peer 1 is not open");
    if (input.text === "good") core.say({ type: "message", peer: 1, text: "yes" });
  });
  const driver = new Driver(core, { fetch: () => {}, onNotice: ({ fields }) => notices.push(fields.message) });
  const got = [];
  driver.open(1, "a", (text) => got.push(text));
  driver.message(1, "bad");
  driver.message(1, "good");
  assert.deepEqual([got, notices], [["yes"], ["peer 1 is not open"]]);
});

test("when the core breaks everything stops and is said once", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { fetch, requests } = network();
  const deaths = [];
  const core = new FakeCore((input) => {
    if (input.type === "open") core.say(fetchOutput(1));
    if (input.type === "message") {
      core.dead = "panicked at the disco";
      throw new Error("unreachable");
    }
  });
  core.deadline = 10 ** 9;
  const driver = new Driver(core, { fetch, onDeath: (message) => deaths.push(message) });
  driver.open(1, "a", () => {});
  driver.message(1, "x");
  driver.message(1, "x");
  requests[0].report.head(200, []);
  t.mock.timers.tick(2 ** 31);
  assert.deepEqual(deaths, ["panicked at the disco"]);
  assert.ok(requests[0].aborted);
  assert.deepEqual(
    core.inputs.map(({ type }) => type),
    ["open", "message"],
  );
});

test("stopping closes peers, aborts what runs, and lets the last requests end", async () => {
  const { fetch, requests } = network();
  const core = new FakeCore((input) => {
    if (input.type === "open") core.say(fetchOutput(1), fetchOutput(2));
    if (input.type === "closed")
      core.say({ type: "abort", exchange: 1 }, fetchOutput(3, { method: "POST" }), {
        type: "message",
        peer: 1,
        text: "too late",
      });
  });
  const driver = new Driver(core, { fetch });
  driver.open(1, "a", () => assert.fail("a peer that left was written to"));
  const stopped = driver.stop(60_000);
  assert.deepEqual(
    requests.map(({ aborted }) => aborted),
    [true, true, false],
  );
  assert.equal(core.freed, false);
  requests[2].report.head(200, []);
  requests[2].report.end();
  await stopped;
  assert.ok(core.freed);
  driver.message(1, "after the end"); // is nothing
});

test("last requests that do not end are given up", async () => {
  const { fetch, requests } = network();
  const core = new FakeCore((input) => {
    if (input.type === "closed") core.say(fetchOutput(3));
  });
  const driver = new Driver(core, { fetch });
  driver.open(1, "a", () => {});
  await driver.stop(5);
  assert.ok(requests[0].aborted && core.freed);
});

test("while something is being saved responses wait, timers are set, and a stop waits too", async () => {
  const saves = [];
  const timers = [];
  const core = new FakeCore((input) => {
    core.deadline = 10 ** 9 + core.inputs.length;
    if (input.type === "request") core.say({ type: "save", key: "a", pieces: ["1"] }, { type: "save", key: "b", pieces: [] }, head, { type: "response_end", request: 1 });
    if (input.type === "closed") core.say({ type: "save", key: "c", pieces: [] }, fetchOutput(1));
  });
  const head = { type: "response_head", request: 1, status: 200, headers: [] };
  const { fetch, requests } = network();
  const onSave = (key) => new Promise((resolve) => saves.push({ key, resolve }));
  const driver = new Driver(core, { fetch, onSave, setTimer: (_, ms) => (timers.push(ms), () => {}) });
  const heard = [];
  const response = { head: (status) => heard.push(status), body() {}, end: () => heard.push("end"), flush: () => heard.push("flush") };
  driver.open(1, "a", () => {});
  driver.request("GET", "/", [], response);
  assert.deepEqual([saves.map(({ key }) => key), heard], [["a"], []]);
  const before = timers.length;
  driver.message(1, "x");
  assert.equal(timers.length, before + 1);
  saves[0].resolve();
  await settled();
  assert.deepEqual([saves.map(({ key }) => key), heard], [["a", "b"], []]);
  saves[1].resolve();
  await settled();
  assert.deepEqual(heard, [200, "end", "flush"]);
  const stopped = driver.stop(60_000);
  await settled();
  assert.equal(core.freed, false);
  saves[2].resolve();
  await settled();
  assert.equal(requests.length, 1, "what was to be sent at the end is sent");
  requests[0].report.end();
  await stopped;
  assert.ok(core.freed);
});

test("what cannot be saved stops what came after it, and is said once", () => {
  const [deaths, ended] = [[], []];
  const core = new FakeCore((input) => {
    if (input.type === "message") core.say({ type: "save", key: "a", pieces: ["1"] }, { type: "message", peer: 1, text: "after" });
  });
  const onSave = () => {
    throw new Error("the disk is full");
  };
  const driver = new Driver(core, { fetch: () => {}, onSave, onDeath: (message) => deaths.push(message) });
  driver.open(1, "a", () => assert.fail("it was told what was not kept"), () => ended.push(1));
  driver.message(1, "x");
  driver.message(1, "x");
  assert.deepEqual([deaths, ended], [["the state could not be kept: the disk is full"], [1]]);
  assert.ok(driver.stopped && driver.unsaved && core.freed);
});

test("trace lines are handed on as they come, and only if asked for", () => {
  const lines = [];
  const traced = new Driver(new FakeCore(), { fetch: () => {}, onTrace: (line) => lines.push(JSON.parse(line).input) });
  traced.open(1, "a", () => {});
  traced.message(1, "x");
  assert.deepEqual(lines, ["open", "message"]);
  const core = new FakeCore();
  new Driver(core, { fetch: () => {} }).open(1, "a", () => {});
  assert.equal(core.tracing, false);
});

test("whatever is called may end the gateway that calls it", () => {
  const ends = {
    write: (driver) => driver.open(1, "a", () => driver.dispose()),
    notice: () => {},
    fetch: () => {},
    trace: () => {},
    cancel: () => {},
    flush: (driver) => driver.request("GET", "/", [], { head() {}, body() {}, end() {}, flush: () => driver.dispose() }),
  };
  for (const [name, go] of Object.entries(ends)) {
    const complaints = [];
    let running = 0;
    const core = new FakeCore((input) => {
      core.deadline = 10 ** 9 + core.inputs.length;
      if (input.type === "request") core.say({ type: "response_head", request: 1, status: 200, headers: [] });
      if (input.type !== "message") return;
      core.say({ type: "message", peer: 1, text: "a" }, fetchOutput(1), { type: "notice", level: "info", event: "e", fields: {} }, fetchOutput(2));
    });
    const end = (which) => name === which && driver.dispose();
    const driver = new Driver(core, {
      fetch: () => {
        running += 1;
        end("fetch");
        return { abort: () => (running -= 1) };
      },
      onNotice: ({ event, fields }) => (event === "host_error" ? complaints.push(fields.message) : end("notice")),
      onTrace: () => end("trace"),
      setTimer: () => () => end("cancel"),
    });
    driver.open(2, "b", () => {});
    go(driver);
    driver.message(1, "x");
    driver.message(1, "y");
    assert.ok(driver.stopped, name);
    assert.deepEqual(complaints, [], name);
    assert.ok(core.freed, name);
    assert.equal(running, 0, name);
  }
});

test("an output that cannot be taken over ends the gateway, with the reason, and is not passed over", () => {
  const core = new FakeCore((input) => {
    if (input.type === "message") core.say({ type: "message", peer: 1, text: "a" }, { type: "message", peer: 1, text: "b" });
  });
  const next = core.next.bind(core);
  core.next = () => {
    const output = next();
    if (output?.[2] === "a") throw new RangeError("Cannot create a string longer than 0x1fffffe8 characters");
    return output;
  };
  const [written, ends, deaths] = [[], [], []];
  const driver = new Driver(core, { fetch: () => {}, onDeath: (message) => deaths.push(message) });
  driver.open(1, "stdio", (text) => written.push(text), () => ends.push("ended"));
  driver.message(1, "go");
  assert.deepEqual([written, ends], [[], ["ended"]]);
  assert.match(deaths.join(), /Cannot create a string/);
  assert.match(driver.dead, /Cannot create a string/);
  assert.equal(driver.stopped, true);
});
