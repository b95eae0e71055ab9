// CPU of a gateway's process for one call of a tool: from HTTP to a server on standard input and output, and from HTTP to
// HTTP. Beside `supergateway` and `mcp-proxy` (npm) and `mcp-proxy` (PyPI), which do the first, and a bare proxy of bytes for
// the second. `node tests/bench/linked.mjs [--quick]`
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { NARROWS, cpu_ms, here } from "./process.mjs";

const NPM = ["supergateway@4.0.0", "mcp-proxy@6.7.19"];
const PYPI = ["mcp-proxy==0.13.0", "mcp==1.30.0"];
const folder = here("../.work/gateways");
const quick = process.argv.includes("--quick");
const [ROUNDS, CALLS, WARM] = quick ? [1, 20, 10] : [5, 400, 200];
const ECHO = here("peers/mcp-echo.mjs");

function install() {
  if (existsSync(join(folder, "py/bin/mcp-proxy")) && existsSync(join(folder, "node_modules/supergateway"))) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"private":true}');
  const quietly = { cwd: folder, stdio: ["ignore", 2, 2] };
  execFileSync("npm", ["install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", ...NPM], quietly);
  execFileSync("python3", ["-m", "venv", "py"], quietly);
  execFileSync(join(folder, "py/bin/pip"), ["install", "--quiet", ...PYPI], quietly);
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const agent = new Agent({ keepAlive: true });

/** One POST; the headers and the text of its answer. */
function post(port, body, headers) {
  return new Promise((resolve, reject) => {
    const all = { "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...headers };
    const asking = request({ agent, host: "127.0.0.1", port, path: "/mcp", method: "POST", headers: all }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, text }));
      response.on("error", reject);
    });
    asking.on("error", reject);
    asking.end(JSON.stringify({ jsonrpc: "2.0", ...body }));
  });
}

/** A gateway as a process, with a session of MCP. */
class Peer {
  constructor(name, words, program = process.execPath) {
    this.name = name;
    this.words = words;
    this.program = program;
  }

  async start(tool) {
    this.port = await freePort();
    const words = this.words.map((word) => (word === "PORT" ? String(this.port) : word));
    this.child = spawn(this.program, words, { stdio: ["ignore", "ignore", "ignore"] });
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } };
    for (const until = performance.now() + 20_000; ; ) {
      try {
        const { status, headers } = await post(this.port, { id: 0, method: "initialize", params });
        if (status === 200) {
          this.headers = { "MCP-Protocol-Version": "2025-06-18", ...(headers["mcp-session-id"] && { "Mcp-Session-Id": headers["mcp-session-id"] }) };
          break;
        }
      } catch {
        // It does not listen yet.
      }
      if (performance.now() > until) throw new Error(`${this.name} did not start`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await post(this.port, { method: "notifications/initialized" }, this.headers);
    for (const until = performance.now() + 20_000; ; ) {
      const { text } = await post(this.port, { id: 1, method: "tools/list" }, this.headers);
      if (text.includes(`"${tool}"`)) break;
      if (performance.now() > until) throw new Error(`${this.name} has no ${tool}: ${text}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    this.tool = tool;
  }

  async call(times) {
    for (let i = 0; i < times; i += 1) {
      const said = `call ${i}`;
      const params = { name: this.tool, arguments: { text: said } };
      const { text } = await post(this.port, { id: 10 + i, method: "tools/call", params }, this.headers);
      if (!text.includes(`"${said}"`)) throw new Error(`${this.name}: ${text}`);
    }
  }

  /** Milliseconds of CPU for one call. */
  async measure() {
    const before = cpu_ms(this.child.pid);
    await this.call(CALLS);
    return (cpu_ms(this.child.pid) - before) / CALLS;
  }

  end() {
    this.child?.kill("SIGKILL");
  }
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

async function compare(title, peers, tools) {
  const measured = new Map(peers.map((peer) => [peer, []]));
  try {
    for (const [i, peer] of peers.entries()) await peer.start(tools[i]);
    for (const peer of peers) await peer.call(WARM);
    // In turns, so that what else the machine does falls on all of them.
    for (let round = 0; round < ROUNDS; round += 1) for (const peer of peers) measured.get(peer).push(await peer.measure());
  } finally {
    for (const peer of peers) peer.end();
  }
  const own = median(measured.get(peers[0]));
  console.log(`\n${title.padEnd(36)} CPU ms a call   ÷ narrows`);
  for (const [peer, numbers] of measured) console.log(`${peer.name.padEnd(36)} ${median(numbers).toFixed(3).padStart(13)}   ${(median(numbers) / own).toFixed(2).padStart(9)}`);
}

install();
const place = mkdtempSync(join(tmpdir(), "narrows-bench-"));
const config = (name, transport) => {
  writeFileSync(join(place, name), JSON.stringify({ mcp_servers: [{ name: "s", transport }] }));
  return join(place, name);
};
const narrows = (file) => new Peer("narrows", [NARROWS, "serve", "--port", "PORT", "--config", file]);
const behind = await freePort();
const server = spawn(process.execPath, [ECHO, String(behind)], { stdio: "ignore" });
try {
  const stdio = { type: "stdio", command: process.execPath, args: [ECHO] };
  await compare(
    "HTTP to stdio",
    [
      narrows(config("stdio.json", stdio)),
      new Peer(NPM[0], [join(folder, "node_modules/supergateway/dist/index.js"), "--stdio", `"${process.execPath}" "${ECHO}"`, "--outputTransport", "streamableHttp", "--stateful", "--port", "PORT", "--logLevel", "none"]),
      new Peer(`${NPM[1]} (npm)`, [join(folder, "node_modules/mcp-proxy/dist/bin/mcp-proxy.mjs"), "--port", "PORT", "--host", "127.0.0.1", "--server", "stream", "--", process.execPath, ECHO]),
      new Peer(`${PYPI[0]} (PyPI)`, ["--port", "PORT", "--", process.execPath, ECHO], join(folder, "py/bin/mcp-proxy")),
    ],
    ["mcp_s_echo", "echo", "echo", "echo"],
  );
  await compare(
    "HTTP to HTTP",
    [narrows(config("http.json", { type: "http", url: `http://127.0.0.1:${behind}/mcp` })), new Peer("a bare proxy of bytes", [here("peers/pass.mjs"), "PORT", String(behind)])],
    ["mcp_s_echo", "echo"],
  );
} finally {
  server.kill();
  agent.destroy();
  rmSync(place, { recursive: true, force: true });
}
