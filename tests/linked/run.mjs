// The gateway in front of official MCP servers: npm and PyPI, processes and URLs, both eras.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Gateway } from "../../pkg/node.mjs";

const work = process.env.LINKED_WORK;
const PATIENCE_MS = 60_000;

const module_ = (name) => join(work, "npm/node_modules/@modelcontextprotocol", `server-${name}`, "dist/index.js");
const npm = (name, args = []) => ({ type: "stdio", command: process.execPath, args: [module_(name), ...args] });
const pypi = (name, args = []) => ({ type: "stdio", command: join(work, "py/bin", `mcp-server-${name}`), args });

const folder = realpathSync(mkdtempSync(join(tmpdir(), "narrows-linked-")));
writeFileSync(join(folder, "hello.txt"), "né hello\n");
const git = (...words) => execFileSync("git", ["-C", folder, "-c", "user.name=t", "-c", "user.email=t@t.test", ...words]);
git("init", "--quiet");
git("add", ".");
git("commit", "--quiet", "-m", "a first commit");

/** A port that is free, for a server that must be told one. */
async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.on("listening", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The server that has everything, at a URL. */
async function everythingAt(kind, path) {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port) };
  const child = spawn(process.execPath, [module_("everything"), kind], { env, stdio: "ignore" });
  process.on("exit", () => child.kill("SIGKILL"));
  return `http://127.0.0.1:${port}${path}`;
}

/** A gateway with one server behind it, once that server's tools are there. */
async function linked(server, check) {
  const notices = [];
  const config = { mcp_servers: [{ name: "s", timeout_secs: 60, ...server }] };
  const gateway = await Gateway.open({ config, onNotice: (notice) => notices.push(notice) });
  try {
    const deadline = performance.now() + PATIENCE_MS;
    let tools = [];
    while (tools.length === 0) {
      assert.ok(performance.now() < deadline, `no tools: ${JSON.stringify(notices)}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
      tools = (await gateway.tools()).filter(({ name }) => name.startsWith("mcp_s_"));
    }
    const ready = notices.find(({ event }) => event === "link_ready").fields;
    await check({ gateway, tools, ready, names: tools.map(({ name }) => name.slice("mcp_s_".length)) });
  } finally {
    gateway.dispose();
  }
}

/** What every copy of the server that has everything must do. */
async function everything({ gateway, names, tools, ready }) {
  assert.equal(ready.modern, false);
  assert.ok(names.length >= 10, names.join());
  assert.ok(tools.every(({ description }) => description.startsWith("[MCP:s] ")));
  assert.equal((await gateway.call("mcp_s_echo", { message: "né 🙂" })).text, "Echo: né 🙂");
  const { structured } = await gateway.call("mcp_s_get_structured_content", { location: "New York" });
  assert.equal(typeof structured.temperature, "number");
  const { content } = await gateway.call("mcp_s_get_tiny_image", {});
  assert.ok(content.some(({ type }) => type === "image"));
  const steps = [];
  const long = { duration: 1, steps: 4 };
  await gateway.call("mcp_s_trigger_long_running_operation", long, { onProgress: ({ progress }) => steps.push(progress) });
  assert.ok(steps.length >= 3 && steps.every((step, at) => at === 0 || step > steps[at - 1]), steps.join());
  const stop = new AbortController();
  const stopped = gateway.call("mcp_s_trigger_long_running_operation", { duration: 60, steps: 2 }, { signal: stop.signal });
  stop.abort();
  await assert.rejects(stopped);
  assert.equal((await gateway.call("mcp_s_echo", { message: "after" })).text, "Echo: after");
}

const cases = {
  "everything as a process": () => linked({ transport: npm("everything", ["stdio"]) }, everything),
  "everything over Streamable HTTP": async () => {
    const url = await everythingAt("streamableHttp", "/mcp");
    await linked({ transport: { type: "http", url } }, everything);
  },
  "everything over HTTP with events": async () => {
    const url = await everythingAt("sse", "/sse");
    await linked({ transport: { type: "sse", url } }, everything);
  },
  filesystem: () =>
    linked({ transport: npm("filesystem", [folder]) }, async ({ gateway }) => {
      const { text, structured } = await gateway.call("mcp_s_read_text_file", { path: join(folder, "hello.txt") });
      assert.deepEqual([text, structured.content], ["né hello\n", "né hello\n"]);
      await assert.rejects(gateway.call("mcp_s_read_text_file", { path: "/etc/hostname" }), /denied/i);
    }),
  memory: () =>
    linked({ transport: npm("memory"), env: [`MEMORY_FILE_PATH=${join(folder, "memory.jsonl")}`] }, async ({ gateway }) => {
      const entities = [{ name: "Ada", entityType: "person", observations: ["counts"] }];
      await gateway.call("mcp_s_create_entities", { entities });
      const { text } = await gateway.call("mcp_s_read_graph", {});
      assert.match(text, /"Ada"/);
    }),
  "sequential thinking": () =>
    linked({ transport: npm("sequential-thinking") }, async ({ gateway, names }) => {
      assert.deepEqual(names, ["sequentialthinking"]);
      const thought = { thought: "one", thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false };
      assert.match((await gateway.call("mcp_s_sequentialthinking", thought)).text, /"thoughtNumber": 1/);
    }),
  time: () =>
    linked({ transport: pypi("time", ["--local-timezone", "UTC"]) }, async ({ gateway, ready }) => {
      assert.equal(ready.modern, true);
      assert.match((await gateway.call("mcp_s_get_current_time", { timezone: "Asia/Tokyo" })).text, /\+09:00/);
      await assert.rejects(gateway.call("mcp_s_get_current_time", { timezone: "Nowhere" }));
    }),
  git: () =>
    linked({ transport: pypi("git") }, async ({ gateway, ready }) => {
      assert.equal(ready.modern, true);
      assert.match((await gateway.call("mcp_s_git_log", { repo_path: folder })).text, /a first commit/);
    }),
  fetch: () =>
    linked({ transport: pypi("fetch") }, async ({ gateway, names, ready }) => {
      assert.equal(ready.modern, true);
      assert.deepEqual(names, ["fetch"]);
      await assert.rejects(gateway.call("mcp_s_fetch", { url: "http://127.0.0.1:9/" }));
    }),
};

let failed = 0;
for (const [name, run] of Object.entries(cases)) {
  try {
    await run();
    console.log(`ok - ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`not ok - ${name}\n  ${String(error.stack).replaceAll("\n", "\n  ")}`);
  }
}
rmSync(folder, { recursive: true, force: true });
console.log(`${Object.keys(cases).length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
