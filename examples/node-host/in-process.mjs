// An MCP host with the gateway in its own process: node in-process.mjs https://agent.example.com "What is for dinner?"
import { Client } from "@modelcontextprotocol/client";
import { Gateway } from "narrows";

const [agent_url, message = "Hello"] = process.argv.slice(2);
if (!agent_url) throw new Error("usage: node in-process.mjs AGENT-URL [MESSAGE]");

const gateway = await Gateway.open({ config: { name: "my-host" } });
const client = new Client({ name: "my-host", version: "1.0.0" });
await client.connect(gateway.transport());

const { tools } = await client.listTools();
console.log(`${tools.length} tools for the model: ${tools.map(({ name }) => name).join(", ")}`);

/** What a host does when its model asks for a tool. */
async function call(name, args) {
  const onprogress = ({ message }) => message && console.log(`  … ${message}`);
  const { content, isError } = await client.callTool({ name, arguments: args }, { onprogress });
  console.log(isError ? `failed: ${content[0].text}` : content[0].text);
}

// A model would choose these two.
await call("connect_agent", { alias: "agent", agent_url });
await call("send_message", { agent: "agent", message });

await client.close();
gateway.dispose();
