// Seventeen small tools on the official SDK, line 2.
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const server = new McpServer({ name: "peer", version: "1.0.0" });
for (let number = 1; number <= 17; number += 1) {
  const about = { title: `Tool ${number}`, description: "Says what it is told.", inputSchema: z.object({ text: z.string() }) };
  server.registerTool(`tool_${number}`, about, ({ text }) => ({ content: [{ type: "text", text }] }));
}
await server.connect(new StdioServerTransport());
