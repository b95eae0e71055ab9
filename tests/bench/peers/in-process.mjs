// From the first import to the first answered tools/list, in this process: `node in-process.mjs WHO` prints what it took.
const [who] = process.argv.slice(2);
const began = { wall_ms: performance.now(), cpu: process.cpuUsage() };

const WAYS = {
  async narrows() {
    const { Gateway } = await import("../../../pkg/node.mjs");
    const gateway = await Gateway.open();
    return gateway.tools();
  },
  async "narrows, SDK 2.4.0 client"() {
    const { Client } = await import("@modelcontextprotocol/client");
    const { Gateway } = await import("../../../pkg/node.mjs");
    const gateway = await Gateway.open();
    const client = new Client({ name: "bench", version: "1" });
    await client.connect(gateway.transport());
    return (await client.listTools()).tools;
  },
  async "SDK 1.32.2"() {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { InMemoryTransport } = await import("@modelcontextprotocol/sdk/inMemory.js");
    const { McpServer } = await import("@modelcontextprotocol/sdk/server/mcp.js");
    const { z } = await import("zod");
    return listed(new McpServer({ name: "peer", version: "1" }), { text: z.string() }, { Client, InMemoryTransport });
  },
  async "SDK 2.4.0"() {
    const { Client } = await import("@modelcontextprotocol/client");
    const { InMemoryTransport, McpServer } = await import("@modelcontextprotocol/server");
    const { z } = await import("zod");
    return listed(new McpServer({ name: "peer", version: "1" }), z.object({ text: z.string() }), { Client, InMemoryTransport });
  },
};

/** The tools of a server with seventeen small ones, as its client gets them. */
async function listed(server, inputSchema, { Client, InMemoryTransport }) {
  for (let number = 1; number <= 17; number += 1) {
    const about = { title: `Tool ${number}`, description: "Says what it is told.", inputSchema };
    server.registerTool(`tool_${number}`, about, ({ text }) => ({ content: [{ type: "text", text }] }));
  }
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "bench", version: "1" });
  await Promise.all([server.connect(far), client.connect(near)]);
  return (await client.listTools()).tools;
}

const tools = await WAYS[who]();
if (tools.length !== 17) throw new Error(`${tools.length} tools`);
const { user, system } = process.cpuUsage(began.cpu);
process.stdout.write(JSON.stringify({ wall_ms: performance.now() - began.wall_ms, cpu_ms: (user + system) / 1000 }));
process.exit(0);
