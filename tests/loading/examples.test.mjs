// The programs of examples/node-host, as they are, against a real agent and the official client.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { DemoAgent } from "../../pkg/node/demo-agent.mjs";
import { program, root } from "./program.mjs";

const example = join(root, "examples/node-host");
const cwd = program("examples");
for (const name of readdirSync(example)) copyFileSync(join(example, name), join(cwd, name));

async function bistro(t) {
  const agent = new DemoAgent({ pace_ms: 20 });
  t.after(() => agent.close());
  return agent.listen();
}

test("the example asks for what the tests install, or newer", () => {
  const wanted = (file) => JSON.parse(readFileSync(file, "utf8")).dependencies;
  const [own, installed] = [wanted(join(example, "package.json")), wanted(join(root, "tests/loading/package.json"))];
  const { narrows, ...others } = own;
  assert.equal(narrows, "file:../../pkg");
  for (const [name, range] of Object.entries(others)) assert.equal(range, `^${installed[name]}`, name);
});

test("an MCP host with the gateway in its own process", async (t) => {
  const url = await bistro(t);
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["in-process.mjs", url, "What is for dinner tonight?"], { cwd });
  assert.equal(stderr, "");
  assert.match(stdout, /^17 tools for the model: broadcast_message/);
  assert.match(stdout, /\n {2}… /);
  assert.match(stdout, /plum tart\.\n$/);
});

for (const which of ["http", "hono", "express"]) {
  test(`the gateway mounted in ${which}`, async (t) => {
    const child = spawn(process.execPath, ["mounted.mjs", which], { cwd, stdio: ["ignore", "pipe", "inherit"] });
    const ended = new Promise((resolve) => child.once("close", resolve));
    t.after(() => child.kill("SIGKILL"));
    let url;
    for await (const line of createInterface({ input: child.stdout })) {
      url = line.replace("MCP at ", "");
      break;
    }
    const agent = await bistro(t);
    for (const mode of ["legacy", { pin: "2026-07-28" }]) {
      const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
      await client.connect(new StreamableHTTPClientTransport(new URL(url)));
      assert.equal((await client.listTools()).tools.length, 17);
      const reports = [];
      const call = { name: "send_message", arguments: { agent, message: "What is for dinner tonight?" } };
      const { content } = await client.callTool(call, { onprogress: (report) => reports.push(report) });
      assert.match(content[0].text, /plum tart/);
      assert.ok(reports.length > 2);
      await client.close();
    }
    const elsewhere = await fetch(url, { method: "POST", headers: { origin: "https://evil.example" }, body: "{}" });
    assert.equal(elsewhere.status, 403);
    child.kill("SIGTERM");
    assert.equal(await ended, 0);
  });
}
