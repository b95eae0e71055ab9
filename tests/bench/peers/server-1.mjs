// Seventeen small tools on the official SDK, line 1.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "peer", version: "1.0.0" });
for (let number = 1; number <= 17; number += 1) {
  const about = { title: `Tool ${number}`, description: "Says what it is told.", inputSchema: { text: z.string() } };
  server.registerTool(`tool_${number}`, about, ({ text }) => ({ content: [{ type: "text", text }] }));
}
await server.connect(new StdioServerTransport());
