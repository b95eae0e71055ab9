// A panic is our bug and ends the one object in which it happened: nothing else in the module, and never the process.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as shipped from "../../pkg/node.mjs";
import { Caller } from "./a2a.mjs";
import { card, Driven, settled } from "./driven.mjs";
import { panicking } from "./panic-build.mjs";

const { Core, Gateway, openDriver } = await panicking();

// The cores inside the drivers, as they begin their traces.
const cores = [];
const { trace } = Core.prototype;
Core.prototype.trace = function (on) {
  cores.push(this);
  return trace.call(this, on);
};
/** A driver that can be told to panic. */
const driven = (host) => Object.assign(new Driven(host, undefined, openDriver), { core: cores.at(-1) });
const genesis = { seed: new Uint8Array(32), now: 0, unixMs: 0 };
const open = JSON.stringify({ type: "open", peer: 1, scope: "s" });
const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const dead = { code: "dead", message: /told to panic/ };

test("the shipped package cannot be told to panic", () => {
  assert.equal(shipped.Core.prototype.panicNext, undefined);
  assert.equal(typeof Core.prototype.panicNext, "function");
});

test("a panic ends one core, and the other lives on", () => {
  const [one, other] = [new Core(genesis), new Core(genesis)];
  for (const core of [one, other]) core.input(0, open);
  one.panicNext();
  assert.throws(() => one.message(1, 1, ping), dead);
  assert.match(one.dead, /told to panic/);
  assert.match(one.dead, /src\/wasm\/contained\.rs/);
  const calls = [() => one.input(1, open), () => one.output(), () => one.timeout(), () => one.snapshot(), () => one.trace(true)];
  for (const call of calls) assert.throws(call, dead);
  other.message(1, 1, ping);
  assert.match(other.output(), /"type":"message"/);
  assert.equal(other.dead, undefined);
  one.dispose();
  one.free();
  assert.throws(() => one.output(), dead);
  const third = new Core(genesis);
  third.input(0, open);
  other.dispose();
});

test("any number of panics leaves room for the next", () => {
  for (let turn = 0; turn < 3000; turn++) {
    const core = new Core(genesis);
    core.panicNext();
    assert.throws(() => core.output(), dead);
    core.dispose();
  }
});

test("a panic inside a task ends one driver: its fetches stop, the other's go on", async () => {
  const release = [];
  const aborted = [];
  const timers = new Set();
  const host = (name) => ({
    fetch: ({ signal }) => {
      signal.addEventListener("abort", () => aborted.push(name));
      return new Promise((resolve) => release.push(() => resolve({ status: 200, body: card })));
    },
    setTimer: (callback) => {
      timers.add(callback);
      return () => timers.delete(callback);
    },
  });
  const [one, other] = [driven(host("one")), driven(host("other"))];
  const told = one.deaths;
  const first = one.ask("https://one.example/");
  const second = one.ask("https://two.example/");
  const third = other.ask("https://three.example/");
  await settled();
  assert.equal(release.length, 3);
  assert.equal(timers.size, 2);
  one.core.panicNext();
  release[0]();
  await settled();
  assert.equal(told.length, 1);
  assert.match(told[0], /told to panic/);
  assert.equal(one.driver.dead, told[0]);
  assert.deepEqual(aborted, ["one", "one"]);
  assert.equal(timers.size, 1);
  one.driver.message(1, ping);
  assert.ok(one.driver.stopped);
  for (const answer of release) answer();
  await other.answered(third);
  assert.equal(one.answer(first) ?? one.answer(second), undefined);
  assert.equal(told.length, 1);
  one.driver.dispose();
  other.driver.dispose();
});

// wrk-008
test("a panic while time passes or in a callback's call is contained too", () => {
  let wake;
  const late = driven({ fetch: () => new Promise(() => {}), setTimer: (callback) => ((wake = callback), () => {}) });
  late.ask();
  late.core.panicNext();
  wake();
  assert.equal(late.deaths.length, 1);
  wake();
  late.driver.dispose();
  assert.equal(late.deaths.length, 1);

  const inside = driven({});
  inside.driver.open(2, "s", () => {
    inside.core.panicNext();
    inside.driver.message(2, ping);
  });
  inside.driver.message(2, ping);
  assert.equal(inside.deaths.length, 1);
});

test("the calls of a gateway that died reject, its streams break, and the next gateway lives", async () => {
  const fetch = () => new Promise(() => {});
  const deaths = [];
  const gateway = await Gateway.open({ host: { fetch }, onTrace: () => {}, onDead: (message) => deaths.push(message) });
  const core = cores.at(-1);
  const call = gateway.card({ agent: "https://agent.example/" });
  core.panicNext();
  const late = gateway.agents();
  for (const each of [call, late, gateway.tools(), gateway.fetch(new Request("http://localhost/healthz"))]) {
    await assert.rejects(each, { name: "GatewayError", code: "dead", message: /told to panic/ });
  }
  assert.match(gateway.dead, /told to panic/);
  assert.deepEqual(deaths, [gateway.dead]);
  assert.throws(() => gateway.snapshot(), { code: "dead" });
  gateway.dispose();
  const next = await Gateway.open({ host: { fetch } });
  assert.equal((await next.tools()).length, 17);
  next.dispose();
});

test("a panic in what a function says about its work ends the gateway, and nothing is left unhandled", async () => {
  for (const last of ["said", "failed"]) {
    let go;
    const deaths = [];
    const held = new Promise((resolve) => (go = resolve));
    const onWork = async () => {
      await held;
      if (last === "failed") throw new Error("no");
      return "yes";
    };
    const gateway = await Gateway.open({ onWork, onNotice: () => {}, onTrace: () => {}, onDead: (message) => deaths.push(message) });
    const core = cores.at(-1);
    const asked = new Caller(gateway.fetch).send("x");
    await settled();
    core.panicNext();
    go();
    await assert.rejects(asked, { code: "dead" });
    assert.equal(deaths.length, 1);
  }
});
