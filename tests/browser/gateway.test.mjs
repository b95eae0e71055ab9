// The package's page entry in a real browser: its own fetch, clock, timers and streams, in a page and in a worker.
import assert from "node:assert/strict";
import test from "node:test";

import { startAgent } from "./agent.mjs";
import { launch, serveFolder } from "./support.mjs";

test("the page entry in Chromium", async (t) => {
  const browser = await launch(t);
  const page = await browser.newPage();
  await page.goto(`${await serveFolder(t)}blank`);
  const agent = await startAgent(t);

  await t.test("sends, streams, is asked back and answers", async () => {
    const seen = await page.evaluate(async (url) => {
      const { Gateway } = await import("/pkg/web.mjs");
      const gateway = await Gateway.open({ config: { name: "page" } });
      const tools = await gateway.tools();
      const connected = await gateway.connect({ alias: "bistro", agent_url: url });
      const progress = [];
      const menu = await gateway.send(
        { agent: "bistro", message: "What is for dinner?" },
        { onProgress: ({ message }) => progress.push(message) },
      );
      const asked = await gateway.send({ agent: "bistro", message: "Book a table." });
      const booked = await gateway.send({ agent: "bistro", message: "Four, at eight." });
      gateway.dispose();
      return {
        tools: tools.length,
        streaming: connected.structured.card.streaming,
        menu: menu.text,
        asked: asked.structured.task.status.state,
        booked: booked.text,
        progress,
      };
    }, agent.url);
    assert.deepEqual([seen.tools, seen.streaming, seen.asked], [17, true, "TASK_STATE_INPUT_REQUIRED"]);
    assert.match(seen.menu, /Tonight there is leek and potato soup, mushroom risotto and a plum tart\./);
    assert.match(seen.booked, /A table is booked: Four, at eight\./);
    assert.ok(
      seen.progress.some((text) => text.includes("mushroom risotto")),
      seen.progress.join("\n"),
    );
  });

  await t.test("a call that is given up cancels the task at the agent, and only that", async () => {
    const before = agent.requests.length;
    const reason = await page.evaluate(async (url) => {
      const { Gateway } = await import("/pkg/web.mjs");
      globalThis.banquet = await Gateway.open();
      await banquet.connect({ alias: "bistro", agent_url: url });
      const giveUp = new AbortController();
      let reports = 0;
      const onProgress = () => (reports += 1) === 3 && giveUp.abort(new Error("no longer hungry"));
      return banquet
        .send({ agent: "bistro", message: "Plan a banquet." }, { signal: giveUp.signal, onProgress })
        .catch((error) => error.message);
    }, agent.url);
    assert.equal(reason, "no longer hungry");
    const asked = () =>
      agent.requests
        .slice(before)
        .filter(({ body }) => body)
        .map(({ body }) => JSON.parse(body).method);
    while (asked().length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.deepEqual(asked(), ["SendStreamingMessage", "CancelTask"]);
    const { id } = JSON.parse(agent.requests.at(-1).body).params;
    const state = await page.evaluate(async (task_id) => {
      const { structured } = await banquet.task({ agent: "bistro", task_id });
      banquet.dispose();
      return structured.task.status.state;
    }, id);
    assert.equal(state, "TASK_STATE_CANCELED");
  });

  await t.test("what the browser cannot reach, read or follow is an error with its code", async () => {
    const closed = await startAgent(t, { cors: "none" });
    const moved = await startAgent(t, { redirect: agent.url });
    const codes = await page.evaluate(
      async (urls) => {
        const { Gateway, GatewayError } = await import("/pkg/web.mjs");
        const gateway = await Gateway.open();
        const found = [];
        for (const agent of urls)
          found.push(await gateway.send({ agent, message: "hello" }).catch((error) => [error instanceof GatewayError, error.code]));
        gateway.dispose();
        return found;
      },
      ["http://127.0.0.1:9/", closed.url, moved.url],
    );
    assert.deepEqual(codes, [
      [true, "unreachable"],
      [true, "unreachable"],
      [true, "http_status"],
    ]);
  });

  await t.test("two instances share nothing, a disposed one included", async () => {
    const seen = await page.evaluate(async (url) => {
      const { Gateway } = await import("/pkg/web.mjs");
      const [one, two] = [await Gateway.open(), await Gateway.open()];
      await one.connect({ alias: "bistro", agent_url: url });
      const { agents } = (await two.agents()).structured;
      const running = one.send({ agent: "bistro", message: "menu" });
      two.dispose();
      const code = await two.agents().catch((error) => error.code);
      const { text } = await running;
      one.dispose();
      return { agents, code, answered: text.includes("plum tart") };
    }, agent.url);
    assert.deepEqual(seen, { agents: [], code: "disposed", answered: true });
  });

  await t.test("credentials go along, and a snapshot goes on in another gateway", async () => {
    const strict = await startAgent(t, { token: "a-secret-of-length" });
    const booked = await page.evaluate(async (url) => {
      const { Gateway } = await import("/pkg/web.mjs");
      const gateway = await Gateway.open();
      await gateway.connect({ alias: "bistro", agent_url: url, headers: { Authorization: "Bearer a-secret-of-length" } });
      await gateway.send({ agent: "bistro", message: "Book a table." });
      const snapshot = gateway.snapshot();
      gateway.dispose();
      const restored = await Gateway.open({ snapshot });
      const { text } = await restored.send({ agent: "bistro", message: "Two, at nine." });
      restored.dispose();
      return text;
    }, strict.url);
    assert.match(booked, /A table is booked: Two, at nine\./);
  });

  await t.test("a deadline is kept by the page's own timers", async () => {
    const code = await page.evaluate(async (url) => {
      const { Gateway } = await import("/pkg/web.mjs");
      const gateway = await Gateway.open();
      const error = await gateway.send({ agent: url, message: "Plan a banquet.", poll_timeout_seconds: 0.3 }).catch((error) => error);
      gateway.dispose();
      return [error.code, typeof error.task_id];
    }, agent.url);
    assert.deepEqual(code, ["timeout", "string"]);
  });

  await t.test("a gateway in the page serves all that a server does, and another one sends it a task", async () => {
    const seen = await page.evaluate(async () => {
      const { Gateway } = await import("/pkg/web.mjs");
      const desk = await Gateway.open({ config: { a2a: { name: "Desk" } }, onWork: ({ text }) => ({ artifact: `heard: ${text}` }) });
      const ask = (path, init) => desk.fetch(new Request(`http://desk.example${path}`, init));
      const post = (path, body, headers) =>
        ask(path, { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(body) });
      const statuses = {};
      for (const path of ["/.well-known/agent-card.json", "/a2a/rest/tasks?A2A-Version=1.0", "/api/a2a/agents", "/agents", "/healthz", "/metrics", "/nothing"]) {
        statuses[path] = (await ask(path)).status;
      }
      const begun = await post("/api/a2a/tasks", { id: "t-1", message: { role: "user", parts: [{ type: "text", text: "one" }] } });
      statuses.begun = begun.status;
      const events = await (await ask("/api/a2a/tasks/t-1/events")).text();
      // The page's own fetch has no way to another gateway in the page, so this one is given one.
      const host = { fetch: ({ url, method, headers, body, signal }) => desk.fetch(new Request(url, { method, headers, body, signal })) };
      const caller = await Gateway.open({ host, config: { a2a: {} } });
      await caller.connect({ alias: "desk", agent_url: "http://desk.example" });
      const { structured } = await caller.send({ agent: "desk", message: "two" });
      const sent = await caller.fetch(
        new Request("http://caller.example/api/a2a/discover", {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify({ url: "http://desk.example" }),
        }),
      );
      const plain = await caller.fetch(
        new Request("http://caller.example/api/a2a/send", {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify({ agent_url: "http://desk.example", message: "three" }),
        }),
      );
      const heard = ({ artifacts }) => artifacts[0].parts[0].text;
      const answers = [events.includes("heard: one"), heard(structured.task), sent.status, heard(await plain.json())];
      desk.dispose();
      caller.dispose();
      return { statuses, answers };
    });
    const served = ["/.well-known/agent-card.json", "/a2a/rest/tasks?A2A-Version=1.0", "/api/a2a/agents", "/agents", "/healthz", "/metrics"];
    assert.deepEqual(seen.statuses, { ...Object.fromEntries(served.map((path) => [path, 200])), "/nothing": 404, begun: 202 });
    assert.deepEqual(seen.answers, [true, "heard: two", 200, "heard: three"]);
  });

  await t.test("the same in a worker, with a client that talks to it through a port", async () => {
    const answers = await page.evaluate(async (url) => {
      const source = `
        const { Gateway } = await import(${JSON.stringify(new URL("/pkg/web.mjs", location).href)});
        const gateway = await Gateway.open();
        const port = gateway.port();
        postMessage("port", [port]);
      `;
      const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })), { type: "module" });
      const port = await new Promise((resolve, reject) => {
        worker.onmessage = ({ ports }) => resolve(ports[0]);
        worker.onerror = ({ message }) => reject(new Error(message));
      });
      const waiting = new Map();
      port.onmessage = ({ data }) => waiting.get(data.id)?.(data.result ?? data.error);
      const ask = (id, method, params) =>
        new Promise((resolve) => waiting.set(id, resolve) && port.postMessage({ jsonrpc: "2.0", id, method, params }));
      const hello = await ask(1, "initialize", {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "t", version: "1" },
      });
      port.postMessage({ jsonrpc: "2.0", method: "notifications/initialized" });
      const menu = await ask(2, "tools/call", { name: "send_message", arguments: { agent: url, message: "menu" } });
      worker.terminate();
      return [hello.serverInfo.name, menu.content[0].text];
    }, agent.url);
    assert.equal(answers[0], "narrows");
    assert.match(answers[1], /plum tart/);
  });
});
