// A streaming reply of an agent, from its bytes to the answer for the MCP client. `node tests/bench/stream.mjs [--quick]`
import "./install.mjs";
import { Host } from "../../pkg/node/host.mjs";
import { Gateway } from "./gateway.mjs";
import { table, timed, times } from "./measure.mjs";

const { createParser } = await import("eventsource-parser");

const EVENTS = 1000;
const IDS = { taskId: "task-1", contextId: "context-1" };

/** The events of a task whose artifact comes in pieces of a text of that length. */
function events(length) {
  const text = "word ".repeat(length / 5);
  const piece = (number) => ({
    ...IDS,
    artifact: { artifactId: "answer", parts: [{ text }] },
    append: number > 0,
    lastChunk: number === EVENTS - 1,
  });
  return [
    { task: { id: IDS.taskId, contextId: IDS.contextId, status: { state: "TASK_STATE_WORKING" } } },
    ...Array.from({ length: EVENTS }, (_, number) => ({ artifactUpdate: piece(number) })),
    { statusUpdate: { ...IDS, status: { state: "TASK_STATE_COMPLETED" } } },
  ];
}

function cut(bytes, size) {
  const chunks = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
  return chunks;
}

/** The least a client must do: parse each event, put the artifact together, say it as a result of a tool. */
function byHand(chunks) {
  const decoder = new TextDecoder();
  let task;
  const merge = ({ task: whole, statusUpdate, artifactUpdate }) => {
    if (whole) task = whole;
    if (statusUpdate) task.status = statusUpdate.status;
    if (!artifactUpdate) return;
    const { artifact, append } = artifactUpdate;
    const artifacts = (task.artifacts ??= []);
    const at = artifacts.findIndex(({ artifactId }) => artifactId === artifact.artifactId);
    if (at === -1) artifacts.push(artifact);
    else if (append) artifacts[at].parts.push(...artifact.parts);
    else artifacts[at] = artifact;
  };
  const parser = createParser({ onEvent: ({ data }) => merge(JSON.parse(data).result) });
  for (const chunk of chunks) parser.feed(decoder.decode(chunk, { stream: true }));
  const text = task.artifacts.flatMap(({ parts }) => parts.map((part) => part.text)).join("");
  const result = { content: [{ type: "text", text }], structuredContent: { task } };
  return JSON.stringify({ jsonrpc: "2.0", id: 1, result });
}

const gateway = new Gateway();
gateway.connect("echo", "https://echo.example/", true);
const send = (progress) => ({
  name: "send_message",
  arguments: { agent: "echo", message: "Hello", new_conversation: true },
  ...(progress && { _meta: { progressToken: "token" } }),
});

function throughCore(chunks, progress) {
  const [{ exchange }] = gateway.ask("tools/call", send(progress)).filter(({ type }) => type === "fetch");
  gateway.head(exchange, "text/event-stream");
  for (const chunk of chunks) {
    gateway.body(exchange, chunk);
    gateway.outputs();
  }
  gateway.input({ type: "end", exchange });
  return gateway.outputs().findLast(({ type }) => type === "message").text;
}

/** The Node host around a core, with a fetch that has the bytes at hand. */
function hosted() {
  let report;
  let answer;
  const core = new Gateway();
  core.connect("echo", "https://echo.example/", true);
  const fetch = (_, reports) => ((report = reports), { abort() {} });
  const host = new Host(core.core, { fetch });
  host.open(2, "stdio", (text) => (answer = text));
  let id = 0;
  const ask = (method, params) => host.message(2, JSON.stringify({ jsonrpc: "2.0", id: (id += 1), method, params }));
  ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } });
  const run = (chunks) => {
    ask("tools/call", send(false));
    report.head(200, [["Content-Type", "text/event-stream"]]);
    for (const chunk of chunks) report.body(chunk);
    report.end();
    return answer;
  };
  return { run, stop: () => host.stop(0) };
}

const host = hosted();
const rows = [];
for (const [kind, length] of Object.entries({ short: 10, long: 2000 })) {
  const text = events(length).map((result) => `data: ${JSON.stringify({ jsonrpc: "2.0", id: 1, result })}\n\n`);
  const bytes = Buffer.from(text.join(""));
  for (const size of [256, 4096]) {
    const chunks = cut(bytes, size);
    const candidates = {
      "narrows, core": () => throughCore(chunks, false),
      "narrows, Node host": () => host.run(chunks),
      "narrows, core with progress": () => throughCore(chunks, true),
      "eventsource-parser by hand": () => byHand(chunks),
    };
    const words = Object.values(candidates).map((run) => JSON.parse(run()).result?.content?.[0].text.length);
    if (words.some((count) => count !== EVENTS * length)) throw new Error(`answers of ${words}`);
    const ns = await timed(candidates);
    for (const [who, cost] of Object.entries(ns)) {
      const each = `${kind}, ${Math.round(bytes.length / text.length)} bytes, reads of ${size}: ${who}`;
      rows.push([each, Math.round(cost / text.length).toLocaleString("en"), times(cost, ns["narrows, core"])]);
    }
  }
}
table(`A streamed reply of ${EVENTS} pieces`, ["events", "ns each", "÷ narrows, core"], rows);
await host.stop();
