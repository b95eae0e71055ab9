// One call of a tool of an MCP server through the core alone, in one process: the client's text in, the server's text out with
// the tool's own name and an id of ours, and its answer back. `node tests/bench/route.mjs [--quick]`
import { Core } from "../../pkg/node.mjs";

const quick = process.argv.includes("--quick");
const [ROUNDS, CALLS] = quick ? [1, 200] : [9, 20_000];
const SIZES = [["a short text", 20], ["1 KiB of text", 1 << 10], ["64 KiB of text", 1 << 16]];

const rpc = (message) => JSON.stringify({ jsonrpc: "2.0", ...message });

/** A core with a client and a server whose one tool is known. */
class Routed {
  constructor(more = {}) {
    const transport = { type: "stdio", command: "x" };
    this.core = new Core({ seed: new Uint8Array(32), now: 0, unixMs: Date.now() }, { mcp_servers: [{ name: "s", transport, ...more }] });
    this.core.input(0, JSON.stringify({ type: "open", peer: 1, scope: "bench" }));
    this.core.message(0, 1, rpc({ id: "init", method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "b", version: "1" } } }));
    for (;;) {
      const next = this.core.next();
      if (next === undefined) break;
      const output = typeof next === "string" ? JSON.parse(next) : { type: "message" };
      if (output.type === "open_link") {
        this.link = output.link;
        this.core.input(0, JSON.stringify({ type: "link_opened", link: this.link }));
      }
      if (output.type === "write_link") this.#answer(JSON.parse(output.text));
    }
  }

  #answer({ id, method }) {
    const result = {
      initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
      "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
    }[method];
    if (id !== undefined) this.line(rpc({ id, ...(result ? { result } : { error: { code: -32601, message: "no" } }) }));
  }

  line(text) {
    this.core.input(0, JSON.stringify({ type: "link_line", link: this.link, text }));
  }

  /** What comes out of that kind; everything else is taken too. */
  take(kind) {
    let found;
    for (let next = this.core.next(); next !== undefined; next = this.core.next()) {
      if (typeof next !== "string") found ??= kind === "message" ? next[2] : undefined;
      else if (kind === "write_link" && next.includes('"write_link"')) found = JSON.parse(next).text;
    }
    return found;
  }

  call(id, text) {
    this.core.message(0, 1, text.replace("ID", id));
    const sent = this.take("write_link");
    const there = /"id":(\d+)/.exec(sent)[1];
    this.line(`{"jsonrpc":"2.0","id":${there},"result":{"content":[{"type":"text","text":"ok"}]}}`);
    return this.take("message");
  }
}

/** The least that does it in JavaScript, and checks nothing. */
function least(id, text) {
  const asked = JSON.parse(text.replace("ID", id));
  const sent = JSON.stringify({ ...asked, id: asked.id + 1, params: { ...asked.params, name: asked.params.name.replace("mcp_s_", "") } });
  const there = JSON.parse(JSON.stringify({ type: "link_line", link: 1, text: `{"jsonrpc":"2.0","id":${/"id":(\d+)/.exec(sent)[1]},"result":{"content":[{"type":"text","text":"ok"}]}}` }));
  return JSON.stringify({ ...JSON.parse(there.text), id: asked.id });
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

function measure(one, text, calls) {
  const began = performance.now();
  for (let id = 1; id <= calls; id += 1) {
    const said = one(id, text);
    if (!said?.includes('"ok"')) throw new Error(`no answer: ${said}`);
  }
  return ((performance.now() - began) / calls) * 1000;
}

for (const [what, length] of SIZES) {
  const words = "The quick brown fox jumps over the lazy dog. ".repeat(length / 45 + 1).slice(0, length);
  const text = rpc({ id: "ID", method: "tools/call", params: { name: "mcp_s_echo", arguments: { text: words } } }).replace('"ID"', "ID");
  const [scanning, bare] = [new Routed(), new Routed({ taint_scanning: false })];
  const rows = [
    ["narrows", (id, text) => scanning.call(id, text)],
    ["narrows, contents not scanned", (id, text) => bare.call(id, text)],
    ["JSON.parse and JSON.stringify alone", least],
  ];
  const calls = Math.max(20, Math.round((CALLS * 20) / (20 + length / 20)));
  for (const [, one] of rows) measure(one, text, Math.ceil(calls / 4));
  const measured = rows.map(() => []);
  for (let round = 0; round < ROUNDS; round += 1) rows.forEach(([, one], i) => measured[i].push(measure(one, text, calls)));
  console.log(`\n${what.padEnd(36)} µs a call   ÷ narrows`);
  rows.forEach(([name], i) => console.log(`${name.padEnd(36)} ${median(measured[i]).toFixed(1).padStart(9)}   ${(median(measured[i]) / median(measured[0])).toFixed(2).padStart(9)}`));
}
