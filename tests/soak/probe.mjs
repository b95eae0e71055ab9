// Loaded into the gateway's process before it: says how much memory it holds, whenever it is asked over its IPC channel.
import { readFileSync } from "node:fs";

const { Instance } = WebAssembly;
const memories = [];

WebAssembly.Instance = new Proxy(Instance, {
  construct(target, words) {
    const instance = new target(...words);
    if (instance.exports.memory) memories.push(instance.exports.memory);
    return instance;
  },
});

/** Resident memory that is the process's own: pages of program files come and go with the pressure on the machine. */
function own_bytes() {
  return Number(/^RssAnon:\s*(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))[1]) * 1024;
}

process.on("message", ({ collect }) => {
  if (collect) globalThis.gc();
  const { rss, heapUsed, external } = process.memoryUsage();
  const wasm = memories.reduce((sum, memory) => sum + memory.buffer.byteLength, 0);
  process.send({ own: own_bytes(), rss, heap: heapUsed, external, wasm });
});
// A gateway that has nothing left to do ends, whether it is watched or not.
process.channel.unref();
