// An A2A 1.0 agent that answers at once from fixed words, on loopback: one address for a blocking agent, one for a
// streaming one. Prints both as a line of JSON, and ends when its stdin does.
import { createServer } from "node:http";
import { setImmediate as turn } from "node:timers/promises";

const PIECES = 8;
const text = "word ".repeat(20);

function task(id) {
  const status = { state: "TASK_STATE_COMPLETED", timestamp: "2026-01-01T00:00:00Z" };
  const parts = Array.from({ length: PIECES }, () => ({ text }));
  return { id: `task-${id}`, contextId: "context-1", status, artifacts: [{ artifactId: "answer", parts }] };
}

async function stream(id, response) {
  const ids = { taskId: `task-${id}`, contextId: "context-1" };
  const say = (result) => response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`);
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  say({ task: { id: ids.taskId, contextId: ids.contextId, status: { state: "TASK_STATE_WORKING" } } });
  for (let number = 0; number < PIECES; number += 1) {
    await turn(); // each piece in a write of its own, as an agent has them
    const artifact = { artifactId: "answer", parts: [{ text }] };
    say({ artifactUpdate: { ...ids, artifact, append: number > 0, lastChunk: number === PIECES - 1 } });
  }
  await turn();
  say({ statusUpdate: { ...ids, status: { state: "TASK_STATE_COMPLETED" } } });
  response.end();
}

function card(url, streaming) {
  return {
    name: "Echo",
    description: "Answers at once.",
    version: "1.0.0",
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    capabilities: { streaming },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [{ id: "echo", name: "Echo", description: "Repeats.", tags: ["echo"] }],
  };
}

async function listen(streaming) {
  let url;
  const server = createServer(async (request, response) => {
    const json = (value) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (request.method === "GET") return json(card(url, streaming));
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const { id, method } = JSON.parse(body);
    if (method === "SendStreamingMessage") return stream(id, response);
    json({ jsonrpc: "2.0", id, result: { task: task(id) } });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${server.address().port}/`;
  return url;
}

process.stdout.write(`${JSON.stringify({ blocking: await listen(false), streaming: await listen(true) })}\n`);
process.stdin.on("end", () => process.exit()).resume();
