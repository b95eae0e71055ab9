// The least MCP server with a tool: on standard input and output, or, with a port, over HTTP without sessions.
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const [port] = process.argv.slice(2);
const INFO = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "echo", version: "1" } };
const TOOLS = { tools: [{ name: "echo", description: "says it back", inputSchema: { type: "object" } }] };

function answer({ id, method, params }) {
  if (id === undefined) return undefined;
  const result = { initialize: () => INFO, ping: () => ({}), "tools/list": () => TOOLS, "tools/call": () => ({ content: [{ type: "text", text: params.arguments.text }] }) }[method];
  const outcome = result ? { result: result() } : { error: { code: -32601, message: "Method not found" } };
  return JSON.stringify({ jsonrpc: "2.0", id, ...outcome });
}

if (port === undefined) {
  createInterface({ input: process.stdin }).on("line", (line) => {
    const said = answer(JSON.parse(line));
    if (said !== undefined) process.stdout.write(`${said}\n`);
  });
} else {
  createServer((request, response) => {
    if (request.method !== "POST") return response.writeHead(405).end();
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const said = answer(JSON.parse(Buffer.concat(chunks)));
      if (said === undefined) response.writeHead(202).end();
      else response.writeHead(200, { "Content-Type": "application/json" }).end(said);
    });
  }).listen(Number(port), "127.0.0.1");
}
