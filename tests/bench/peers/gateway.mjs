// The same three tools made of the official MCP server and the official A2A client.
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

import { agent } from "./a2a.mjs";

const agents = new Map();
const server = new McpServer({ name: "peer", version: "1.0.0" });
const said = (text) => ({ content: [{ type: "text", text }] });

server.registerTool(
  "connect_agent",
  { description: "Connects an agent.", inputSchema: z.object({ alias: z.string(), agent_url: z.string() }) },
  async ({ alias, agent_url }) => {
    agents.set(alias, await agent(agent_url));
    return said("connected");
  },
);
server.registerTool(
  "send_message",
  { description: "Sends a message.", inputSchema: z.object({ agent: z.string(), message: z.string() }) },
  async ({ agent: alias, message }) => said(await agents.get(alias)(message)),
);
server.registerTool(
  "broadcast_message",
  { description: "Sends a message to several agents.", inputSchema: z.object({ aliases: z.array(z.string()), message: z.string() }) },
  async ({ aliases, message }) => {
    const answers = await Promise.all(aliases.map((alias) => agents.get(alias)(message)));
    const results = Object.fromEntries(aliases.map((alias, at) => [alias, { status: "completed", response: answers[at] }]));
    const lines = aliases.map((alias, at) => `${alias}: ${answers[at]}`);
    return { ...said(lines.join("\n")), structuredContent: { results, succeeded: answers.length, failed: 0 } };
  },
);
await server.connect(new StdioServerTransport());
