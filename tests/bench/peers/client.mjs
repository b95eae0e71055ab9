// The official A2A client alone, told over stdio whom to talk to and when: no MCP on the way.
import { createInterface } from "node:readline";

import { agent } from "./a2a.mjs";

let send;
for await (const line of createInterface({ input: process.stdin })) answer(JSON.parse(line));

async function answer({ id, method, params }) {
  if (id === undefined) return;
  if (method === "tools/call" && params.name === "connect_agent") send = await agent(params.arguments.agent_url);
  const text = params.name === "send_message" ? await send(params.arguments.message) : "";
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text }] } })}\n`);
}
