// A panic is our bug and ends the one object in which it happened: nothing else in the module, and never the process.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as shipped from "../../pkg/node.mjs";
import { card, Driven, settled } from "./driven.mjs";
import { panicking } from "./panic-build.mjs";

const { Core, Driver } = await panicking();
const genesis = { seed: new Uint8Array(32), now: 0, unixMs: 0 };
const open = JSON.stringify({ type: "open", peer: 1, scope: "s" });
const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const dead = { name: "Dead", message: /told to panic/ };

test("the shipped package cannot be told to panic", () => {
  for (const Class of [shipped.Core, shipped.Driver]) assert.equal(Class.prototype.panicNext, undefined);
  for (const Class of [Core, Driver]) assert.equal(typeof Class.prototype.panicNext, "function");
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
  const [one, other] = [new Driven(host("one"), undefined, Driver), new Driven(host("other"), undefined, Driver)];
  const told = [];
  one.driver.onDead((message) => told.push(message));
  const first = one.ask("https://one.example/");
  const second = one.ask("https://two.example/");
  const third = other.ask("https://three.example/");
  await settled();
  assert.equal(release.length, 3);
  assert.equal(timers.size, 2);
  one.driver.panicNext();
  release[0]();
  await settled();
  assert.equal(told.length, 1);
  assert.match(told[0], /told to panic/);
  assert.equal(one.driver.dead, told[0]);
  assert.deepEqual(aborted, ["one", "one"]);
  assert.equal(timers.size, 1);
  assert.throws(() => one.driver.message(1, ping), dead);
  assert.throws(() => one.driver.open(2, "s", () => {}), dead);
  for (const answer of release) answer();
  await other.answered(third);
  assert.equal(one.answer(first) ?? one.answer(second), undefined);
  assert.equal(told.length, 1);
  one.driver.dispose();
  other.driver.dispose();
});

test("a panic while time passes or in a callback's call is contained too", () => {
  let wake;
  const late = new Driven({ fetch: () => new Promise(() => {}), setTimer: (callback) => ((wake = callback), () => {}) }, undefined, Driver);
  late.ask();
  let told = 0;
  late.driver.onDead(() => told++);
  late.driver.panicNext();
  wake();
  assert.equal(told, 1);
  late.driver.dispose();

  const driver = new Driver();
  driver.open(1, "s", () => {
    driver.panicNext();
    assert.throws(() => driver.message(1, ping), dead);
  });
  driver.onDead(() => told++);
  driver.message(1, ping);
  assert.equal(told, 2);
  driver.dispose();
});
