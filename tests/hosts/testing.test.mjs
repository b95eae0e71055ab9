// `narrows/testing`: the fake host, and the checks of anybody's host.
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { Gateway } from "../../pkg/node.mjs";
import { FakeHost, checkHost, respondToChecks } from "../../pkg/testing.mjs";
import { card } from "./driven.mjs";
import { httpServer } from "./servers.mjs";

test("time is what the test says it is", async (t) => {
  const host = new FakeHost({ answer: () => new Promise(() => {}) });
  const gateway = await Gateway.open({ host });
  t.after(() => gateway.dispose());
  let outcome;
  gateway.ping({ alias: "none" }).catch((error) => (outcome = error.code));
  await host.settle();
  assert.equal(outcome, "unknown_agent");
  gateway.card({ agent: "https://agent.example/" }).catch((error) => (outcome = error.code));
  await host.advance(29_000);
  assert.equal(outcome, "unknown_agent");
  assert.equal(host.timers.length, 1);
  await host.advance(1000);
  assert.equal(outcome, "timeout");
  assert.equal(host.now(), 30_000);
  assert.equal(host.unixNow(), Date.UTC(2026, 0, 1) + 30_000);
  assert.deepEqual(host.timers, []);
});

test("the answers are what the test says, and the requests are kept", async (t) => {
  const answer = ({ url }) => {
    if (url.endsWith("agent-card.json")) return { status: 200, headers: [["content-type", "application/json"]], body: card };
    throw Object.assign(new Error("nobody is there"), { code: "refused" });
  };
  const host = new FakeHost({ answer });
  const gateway = await Gateway.open({ host });
  t.after(() => gateway.dispose());
  assert.equal((await gateway.card({ agent: "https://agent.example/" })).structured.card.name, "A");
  assert.equal(host.requests[0].method, "GET");
  await assert.rejects(gateway.send({ agent: "https://agent.example/", message: "x" }), { code: "unreachable" });
  assert.equal(JSON.parse(host.requests.at(-1).body).jsonrpc, "2.0");
});

test("the same seed gives the same gateway", async () => {
  const trace = async (seed) => {
    const lines = [];
    const gateway = await Gateway.open({ host: new FakeHost({ seed }), onTrace: (line) => lines.push(line) });
    await gateway.agents();
    gateway.dispose();
    return lines;
  };
  assert.deepEqual(await trace(7), await trace(7));
  assert.notDeepEqual(await trace(7), await trace(8));
});

/** A host of Node's own functions. */
const good = {
  fetch: ({ url, signal, ...init }) => fetch(url, { ...init, signal, redirect: "manual" }),
  now: () => performance.now(),
  unixNow: () => Date.now(),
  random: (bytes) => crypto.getRandomValues(bytes),
  setTimer: (callback, ms) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** Where the checks of `fetch` are answered. */
const served = (t) =>
  httpServer(t, async (incoming, outgoing) => {
    const body = incoming.method === "GET" ? undefined : Readable.toWeb(incoming);
    const request = new Request(`http://${incoming.headers.host}${incoming.url}`, { method: incoming.method, headers: incoming.headers, body, duplex: "half" });
    const response = await respondToChecks(request);
    outgoing.writeHead(response.status, [...response.headers].flat());
    if (response.body) Readable.fromWeb(response.body).on("error", () => {}).pipe(outgoing);
    else outgoing.end();
  });

const EARLY = "setTimer calls back once, later, and not too early";

const failed = async (host, options) => (await checkHost(host, options)).filter(({ ok }) => !ok).map(({ name }) => name);

test("a good host passes every check, whatever shape its responses have", async (t) => {
  const url = await served(t);
  const results = await checkHost(good, { url });
  assert.deepEqual(results.filter(({ ok }) => !ok), []);
  assert.equal(new Set(results.map(({ name }) => name)).size, 19);
  const shaped = async (request) => {
    const { status, headers, body } = await good.fetch(request);
    return { status, headers: new Map(headers), body: body && Readable.fromWeb(body) };
  };
  assert.deepEqual(await failed({ ...good, fetch: shaped }, { url }), []);
  assert.equal((await checkHost(good)).length, 11);
});

test("each fault of a host is found by the check of its name", async (t) => {
  const url = await served(t);
  let [time, random] = [1000, 0];
  const faults = {
    "now never goes back": { now: () => (time -= 1), except: [EARLY] },
    "unixNow is a time since 1970": { unixNow: () => Date.now() / 1000 },
    "random fills all bytes, each time with others": { random: (bytes) => bytes.fill((random += 1), 0, 8) },
    [EARLY]: { setTimer: (callback) => (queueMicrotask(callback), () => {}), except: ["a cancelled timer does not call back"] },
    "a cancelled timer does not call back": { setTimer: (callback, ms) => (good.setTimer(callback, ms), () => {}) },
    "a timer of no time calls back": { setTimer: (callback, ms) => (ms ? good.setTimer(callback, ms) : () => {}) },
    "fetch gives status, headers and body": { fetch: async (request) => ({ status: 200, body: (await good.fetch(request)).body, headers: [] }), except: ["fetch follows no redirect"] },
    "fetch sends method, headers and body as they are": { fetch: (request) => good.fetch({ ...request, url: request.url.replaceAll("%2e%2e", ".") }) },
    "fetch follows no redirect": { fetch: ({ url: to, signal, ...init }) => fetch(to, { ...init, signal }) },
    "fetch keeps no cookie": { fetch: (request) => good.fetch({ ...request, headers: request.method === "GET" ? [...request.headers, ["cookie", "check=1"]] : request.headers }) },
    "fetch hands on a body while it comes": {
      fetch: async (request) => {
        const response = await good.fetch(request);
        return request.url.includes("/stream") ? { status: 200, body: await response.text() } : response;
      },
    },
    "an aborted fetch ends": { fetch: (request) => good.fetch({ ...request, signal: request.url.endsWith("/never") ? undefined : request.signal }) },
    "a fetch that is aborted in its body ends": { fetch: (request) => good.fetch({ ...request, signal: request.url.endsWith("/drip") ? undefined : request.signal }) },
    "a fetch to nobody rejects": { fetch: (request) => good.fetch(request).catch(() => ({ status: 502 })) },
  };
  const found = await Promise.all(
    Object.entries(faults).map(async ([name, { except = [], ...fault }]) => {
      assert.deepEqual((await failed({ ...good, ...fault }, { url })).filter((other) => !except.includes(other)), [name]);
    }),
  );
  assert.equal(found.length, 14);
  assert.deepEqual(await failed({ ...good, random: undefined }), ["random is there"]);
  assert.equal((await failed(undefined)).length, 5);
});
