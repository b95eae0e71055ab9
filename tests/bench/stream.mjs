// A streaming reply of an agent, from its bytes to the answer for the MCP client.
// `node tests/bench/stream.mjs [--quick]`
import "./install.mjs";
import { Driver } from "../../pkg/lib/driver.mjs";
import { Gateway } from "./gateway.mjs";
import { table, timed, times } from "./measure.mjs";

const { createParser } = await import("eventsource-parser");

const EVENTS = 1000;
const IDS = { taskId: "task-1", contextId: "context-1" };

/** The bytes of a task whose artifacts come one after the other, each in some pieces of a text of that length. */
function stream(length, pieces = EVENTS, artifacts = 1) {
  const text = "word ".repeat(length / 5);
  const piece = (artifact, number) => ({
    ...IDS,
    artifact: { artifactId: `answer-${artifact}`, parts: [{ text }] },
    append: number > 0,
    lastChunk: number === pieces - 1,
  });
  const updates = Array.from({ length: pieces * artifacts }, (_, at) => piece(Math.floor(at / pieces), at % pieces));
  const events = [
    { task: { id: IDS.taskId, contextId: IDS.contextId, status: { state: "TASK_STATE_WORKING" } } },
    ...updates.map((artifactUpdate) => ({ artifactUpdate })),
    { statusUpdate: { ...IDS, status: { state: "TASK_STATE_COMPLETED" } } },
  ];
  const textOf = (result) => `data: ${JSON.stringify({ jsonrpc: "2.0", id: 1, result })}\n\n`;
  return { bytes: Buffer.from(events.map(textOf).join("")), count: events.length };
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
  for (const chunk of chunks) gateway.body(exchange, chunk);
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
  const host = new Driver(core.core, { fetch });
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
  const { bytes, count } = stream(length);
  for (const size of [256, 4096]) {
    const chunks = cut(bytes, size);
    const candidates = {
      "narrows, core": () => throughCore(chunks, false),
      "narrows, Node host": () => host.run(chunks),
      "narrows, core with progress": () => throughCore(chunks, true),
      "eventsource-parser by hand": () => byHand(chunks),
    };
    const words = Object.values(candidates).map((run) => JSON.parse(run()).result?.content?.[0].text.length);
    if (words.some((found) => found !== EVENTS * length)) throw new Error(`answers of ${words}`);
    const ns = await timed(candidates);
    for (const [who, cost] of Object.entries(ns)) {
      const each = `${kind}, ${Math.round(bytes.length / count)} bytes, reads of ${size}: ${who}`;
      rows.push([each, Math.round(cost / count).toLocaleString("en"), times(cost, ns["narrows, core"])]);
    }
  }
}
table(`A streamed reply of ${EVENTS} pieces`, ["events", "ns each", "÷ narrows, core"], rows);

// Ten times as many artifacts must not cost more than ten times as much.
const grown = [];
for (const artifacts of [2000, 20_000]) {
  const { bytes, count } = stream(10, 1, artifacts);
  const chunks = cut(bytes, 4096);
  const { narrows } = await timed({ narrows: () => throughCore(chunks, false) }, { rounds: 3, round_ms: 200 });
  grown.push([artifacts.toLocaleString("en"), narrows / count]);
}
table(
  "A streamed reply of many artifacts",
  ["artifacts", "ns each", "÷ first"],
  grown.map(([artifacts, cost]) => [artifacts, Math.round(cost).toLocaleString("en"), times(cost, grown[0][1])]),
);
await host.stop();
