// The least that Node can do: the same conversation, answered from fixed text.
const tool = { name: "tool", inputSchema: { type: "object" } };
const result = {
  initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "peer", version: "1.0.0" } },
  "tools/list": { tools: Array.from({ length: 17 }, (_, number) => ({ ...tool, name: `tool_${number + 1}` })) },
};
let text = "";
process.stdin.setEncoding("utf8").on("data", (chunk) => {
  const lines = (text + chunk).split("\n");
  text = lines.pop();
  for (const { id, method } of lines.map((line) => JSON.parse(line))) {
    if (id !== undefined) process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: result[method] })}\n`);
  }
});
