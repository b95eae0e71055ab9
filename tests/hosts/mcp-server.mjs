// A small MCP server on standard input and output, which can be told to misbehave: `node mcp-server.mjs [MODE] [FILE]`.
import { spawn } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [mode = "plain", file] = process.argv.slice(2);

// What a test looks for afterwards: our number, and that of a process of ours.
const note = (pid) => file && mode !== "told" && appendFileSync(file, `${pid}\n`);
note(process.pid);
if (mode === "family" || mode === "stubborn") {
  const child = spawn(process.execPath, ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"], { stdio: "inherit" });
  note(child.pid);
}
if (mode === "stubborn") {
  process.on("SIGTERM", () => {});
  setInterval(() => {}, 1000);
}
if (mode === "broken") {
  process.stderr.write("SyntaxError: x\n");
  process.exit(1);
}

// One that is told what to say of its tools reads it from the file each time.
const said = (name) => (mode === "told" ? readFileSync(file, "utf8") : `${name} it`);
const tool = (name) => ({ name, ...(mode !== "bare" && { description: said(name) }), inputSchema: { type: "object" } });
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (words) => ({ content: [{ type: "text", text: words }] });

process.stdout.write("Server version 1\n");
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    say({ id, result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "t", version: "1" } } });
  } else if (method === "tools/list") {
    say({ id, result: { tools: ["echo", "environment", "long", "die", "hang"].map(tool) } });
  } else if (method === "tools/call") {
    const { name, arguments: args } = params;
    if (mode === "counting") appendFileSync(file, `${name} ${JSON.stringify(args)}\n`);
    if (name === "echo") say({ id, result: text(args.text) });
    if (name === "environment") say({ id, result: text(JSON.stringify(process.env)) });
    if (name === "long") say({ id, result: text("x".repeat(args.length)) });
    if (name === "die") {
      process.stderr.write("dying, as I was told\n");
      process.exit(7);
    }
  } else if (id !== undefined && !(mode === "deaf" && method === "ping")) {
    say({ id, error: { code: -32601, message: "Method not found" } });
  }
});
