// One MCP request answered in this process, from text to text. `node tests/bench/call.mjs [--quick]`
import "./install.mjs";
import { Gateway } from "./gateway.mjs";
import { table, timed, times } from "./measure.mjs";

const { Client } = await import("@modelcontextprotocol/client");
const { InMemoryTransport, McpServer, fromJsonSchema } = await import("@modelcontextprotocol/server");

const gateway = new Gateway();
for (let number = 1; number <= 5; number += 1) gateway.connect(`agent-${number}`, `https://agent-${number}.example/`, true);

const answerOf = (outputs) => outputs.find(({ type }) => type === "message").text;
const { tools } = JSON.parse(answerOf(gateway.ask("tools/list", {}))).result;
const listed = JSON.parse(answerOf(gateway.tool("list_agents", {}))).result;

/** A server on the SDK that says the same: our tools with our schemas, and the same agents. */
function server() {
  const peer = new McpServer({ name: "peer", version: "1.0.0" });
  for (const { name, title, description, annotations, inputSchema, outputSchema } of tools) {
    const schemas = { inputSchema: fromJsonSchema(inputSchema), outputSchema: fromJsonSchema(outputSchema) };
    const answer = () => ({ content: listed.content, structuredContent: listed.structuredContent });
    peer.registerTool(name, { title, description, annotations, ...schemas }, answer);
  }
  return peer;
}

/** The SDK's server alone, which takes and gives objects: text is made of them as its transports do. */
async function bare() {
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server().connect(far);
  let resolve;
  near.onmessage = (message) => resolve?.(JSON.stringify(message));
  await near.start();
  const ask = (text) =>
    new Promise((done) => {
      resolve = done;
      near.send(JSON.parse(text));
    });
  const clientInfo = { name: "bench", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  await ask(JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }));
  near.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  return ask;
}

async function paired() {
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server().connect(far);
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(near);
  return client;
}

const requests = {
  "tools/list": { method: "tools/list", params: {} },
  list_agents: { method: "tools/call", params: { name: "list_agents", arguments: {} } },
};
const ask = await bare();
const client = await paired();
const viaClient = { "tools/list": () => client.listTools(), list_agents: () => client.callTool({ name: "list_agents", arguments: {} }) };

const rows = [];
for (const [name, request] of Object.entries(requests)) {
  let id = 1;
  const text = () => JSON.stringify({ jsonrpc: "2.0", id: (id += 1), ...request });
  const [ours, theirs] = [answerOf(gateway.message(text())), await ask(text())];
  if (JSON.parse(theirs).error || JSON.parse(theirs).result.isError) throw new Error(theirs);
  const ns = await timed({
    narrows: () => answerOf(gateway.message(text())),
    "SDK 2.4.0 server": () => ask(text()),
    "SDK 2.4.0 server and client": viaClient[name],
  });
  const bytes = { narrows: ours.length, "SDK 2.4.0 server": theirs.length };
  for (const [who, cost] of Object.entries(ns)) {
    const size = bytes[who] === undefined ? "" : String(bytes[who]);
    rows.push([`${name}, ${who}`, size, Math.round(1e9 / cost).toLocaleString("en"), (cost / 1000).toFixed(1), times(cost, ns.narrows)]);
  }
}
table("MCP requests in one process", ["", "answer bytes", "per second", "µs", "÷ narrows"], rows);
await client.close();
