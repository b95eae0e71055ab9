// The stream decoder in wasm, chunk in and events counted, beside eventsource-parser. Builds benches/decoder on first use.
// `node tests/bench/decode.mjs [--quick]`
import "./install.mjs";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { table, timed, times } from "./measure.mjs";

const { createParser } = await import("eventsource-parser");

const EVENTS = 1000;
const crate = fileURLToPath(new URL("../../benches/decoder", import.meta.url));
const build = 'line=$(../../scripts/wasm-toolchain.sh) && eval "$line" && cargo build --release --quiet --target wasm32-unknown-unknown --target-dir target';
execFileSync("bash", ["-c", build], { cwd: crate, stdio: ["ignore", 2, 2] });
const wasm = readFileSync(`${crate}/target/wasm32-unknown-unknown/release/narrows_bench_decoder.wasm`);
const decoder = (await WebAssembly.instantiate(wasm, {})).instance.exports;

const text = new TextDecoder();

let memory = new Uint8Array(decoder.memory.buffer);

/** As the glue of wasm-bindgen does it. */
function write(chunk) {
  const at = decoder.room(chunk.length);
  if (memory.length === 0) memory = new Uint8Array(decoder.memory.buffer);
  memory.set(chunk, at);
}

/** Events stay where they are decoded, as in the gateway. */
function counted(chunks) {
  decoder.start();
  let events = 0;
  for (const chunk of chunks) {
    write(chunk);
    events += decoder.count();
  }
  return events;
}

/** Each event's data becomes a string in JavaScript. */
function told(chunks, onData) {
  decoder.start();
  for (const chunk of chunks) {
    write(chunk);
    const count = decoder.take();
    if (count === 0) continue;
    const ends = new Uint32Array(decoder.memory.buffer, decoder.ends(), count);
    const start = decoder.data();
    let from = 0;
    for (const end of ends) {
      onData(text.decode(memory.subarray(start + from, start + end)));
      from = end;
    }
  }
}

/** As its README does: bytes become text, text becomes events. */
function parsed(chunks, onData) {
  const reader = new TextDecoder();
  const parser = createParser({ onEvent: ({ data }) => onData(data) });
  for (const chunk of chunks) parser.feed(reader.decode(chunk, { stream: true }));
}

/** How many events a decoder tells, and the length of their data. */
function sum(run, chunks) {
  let [events, length] = [0, 0];
  run(chunks, (data) => {
    events += 1;
    length += data.length;
  });
  return [events, length];
}

function stream(length) {
  const words = "word ".repeat(length / 5);
  const event = (number) => {
    const artifact = { artifactId: "answer", parts: [{ text: words }] };
    const result = { artifactUpdate: { taskId: "task-1", contextId: "context-1", artifact, append: number > 0 } };
    return `data: ${JSON.stringify({ jsonrpc: "2.0", id: 1, result })}\n\n`;
  };
  return Buffer.from(Array.from({ length: EVENTS }, (_, number) => event(number)).join(""));
}

const rows = [];
for (const [kind, length] of Object.entries({ short: 10, long: 2000 })) {
  const bytes = stream(length);
  for (const size of [1, 64, 256, 4096]) {
    const chunks = [];
    for (let at = 0; at < bytes.length; at += size) chunks.push(new Uint8Array(bytes.subarray(at, at + size)));
    if (counted(chunks) !== EVENTS || String(sum(told, chunks)) !== String(sum(parsed, chunks))) throw new Error("other events");
    const ns = await timed(
      {
        "eventsource-parser": () => sum(parsed, chunks),
        "narrows, counted in wasm": () => counted(chunks),
        "narrows, told to JavaScript": () => sum(told, chunks),
      },
      { rounds: 5, round_ms: 200 },
    );
    for (const [who, cost] of Object.entries(ns)) {
      const each = `${kind}, ${Math.round(bytes.length / EVENTS)} bytes, reads of ${size}: ${who}`;
      rows.push([each, Math.round(cost / EVENTS).toLocaleString("en"), times(cost, ns["eventsource-parser"])]);
    }
  }
}
table(`Decoding a stream of ${EVENTS} events`, ["", "ns an event", "÷ eventsource-parser"], rows);
