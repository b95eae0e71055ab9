// The page at the worker's `/`: served beside it, attached to it, driven here by the page's own session.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Agents } from "./agents.mjs";
import { Runtime } from "./runtime.mjs";

// What a page has and Node does not.
globalThis.addEventListener = () => {};
const { RemoteSession } = await import("../../www/net/remote.mjs");

const TOKENS = [{ token: "token-of-ann", principal: "ann" }];

/** What the page does with a worker: it reads where the gateway is, and begins. */
async function attached(runtime) {
  const html = await (await fetch(runtime.url)).text();
  const path = /name="narrows-gateway" content="(.+)"/.exec(html)[1];
  return new RemoteSession(new URL(path, `${runtime.url}/`));
}

/** Waits until something holds of a session. */
function until(session, holds) {
  return new Promise((resolve) => {
    const check = () => holds() && (session.removeEventListener("change", check), resolve());
    session.addEventListener("change", check);
    check();
  });
}

async function call(session, tool, args) {
  const { id } = session.command({ type: "call", tool, arguments: args });
  await until(session, () => session.calls.get(id).state !== "running");
  return session.calls.get(id);
}

test("the page is at `/` with all that it loads, and the gateway beside it", async (t) => {
  const runtime = await Runtime.start(t, { page: true, tokens: TOKENS, config: { a2a: {} } });
  const index = await fetch(runtime.url);
  assert.match(index.headers.get("content-type"), /^text\/html/);
  assert.equal(index.headers.get("content-security-policy"), "frame-ancestors 'none'");
  assert.equal(index.headers.get("x-content-type-options"), "nosniff");
  const named = [...(await index.text()).matchAll(/(?:src|href)="([^":]+)"/g)].map(([, path]) => path.replace(/^\.\.\//, ""));
  assert.ok(named.includes("main.mjs") && named.includes("pkg/dist/narrows_bg.wasm"));
  for (const path of named) {
    const file = await fetch(`${runtime.url}/${path}`);
    const type = { css: "text/css", wasm: "application/wasm" }[path.split(".").at(-1)] ?? "text/javascript";
    assert.deepEqual([file.status, file.headers.get("content-type").split(";")[0]], [200, type], path);
    await file.arrayBuffer();
  }
  const again = await fetch(runtime.url, { headers: { "If-None-Match": index.headers.get("etag") } });
  assert.equal(again.status, 304);
  assert.equal((await runtime.seen()).events, 0, "files wake no object");
  const statuses = {};
  for (const path of ["/mcp", "/a2a", "/.well-known/agent-card.json", "/agents", "/healthz", "/_headers"]) {
    statuses[path] = (await fetch(runtime.url + path)).status;
  }
  assert.deepEqual(statuses, { "/mcp": 401, "/a2a": 401, "/.well-known/agent-card.json": 200, "/agents": 200, "/healthz": 200, "/_headers": 401 });
});

test("attached to the worker it connects agents and sends, without a token in a session of its own", async (t) => {
  const [runtime, agents] = [await Runtime.start(t, { page: true }), await Agents.start(t)];
  const session = await attached(runtime);
  await until(session, () => session.tools.length === 17);
  await call(session, "connect_agent", { alias: "echo", agent_url: agents.url("echo") });
  await until(session, () => session.agents.length === 1);
  const { result } = await call(session, "send_message", { agent: "echo", message: "hello" });
  assert.equal(result.structuredContent.message.parts[0].text, "echo: hello");
  assert.equal(session.trouble, undefined);
  const other = await attached(runtime);
  await until(other, () => other.tools.length === 17 && !other.isBusy);
  assert.deepEqual(other.agents, [], "another page is another caller");
});

test("attached to the worker it asks for the token", async (t) => {
  const runtime = await Runtime.start(t, { page: true, tokens: TOKENS, config: { a2a: {} } });
  const session = await attached(runtime);
  await until(session, () => session.trouble === "token");
  session.authorize("token-of-nobody");
  await until(session, () => session.isRefused);
  session.authorize("token-of-ann");
  await until(session, () => session.tools.length === 19);
  assert.ok(session.hasInbox);
  assert.equal((await (await session.ask("api/approvals?state=pending")).json()).error.code, "permission_denied");
});

test("a browser's origin is admitted where it is the worker's own, and no other", async (t) => {
  const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "page", version: "1" } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: hello });
  const status = async (runtime, headers) => {
    const all = { "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...headers };
    const response = await fetch(`${runtime.url}/mcp`, { method: "POST", headers: all, body });
    await response.text();
    return response.status;
  };
  const open = await Runtime.start(t, {});
  assert.equal(await status(open, { Origin: open.url }), 200);
  assert.equal(await status(open, { Origin: "https://evil.example" }), 403);
  assert.equal(await status(open, { Origin: open.url.replace(/\d+$/, "1") }), 403, "another port of this machine is another page");
  const closed = await Runtime.start(t, { tokens: TOKENS });
  const token = { Authorization: "Bearer token-of-ann" };
  assert.equal(await status(closed, { Origin: closed.url, ...token }), 200);
  assert.equal(await status(closed, { Origin: "https://evil.example", ...token }), 403);
});
