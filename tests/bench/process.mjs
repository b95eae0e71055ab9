// Processes that are measured from outside: what they cost is what the system counted for them.
import { spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { Lines } from "../../pkg/node/lines.mjs";

export const NARROWS = fileURLToPath(new URL("../../pkg/cli.js", import.meta.url));

/** A program of this folder. */
export const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/**
 * Milliseconds that all threads of a process have run, user and system together (Linux, Documentation/scheduler
 * sched-stats: the first number of `schedstat` is nanoseconds on a processor).
 */
export function cpu_ms(pid) {
  const folder = `/proc/${pid}/task`;
  const ran = readdirSync(folder).map((thread) => Number(readFileSync(`${folder}/${thread}/schedstat`, "utf8").split(" ")[0]));
  return ran.reduce((sum, ns) => sum + ns, 0) / 1e6;
}

/** A program that speaks JSON-RPC in lines over stdio. */
export class Program {
  started = performance.now();
  #child;
  #waiting = new Map();
  #nextId = 1;
  #exited;

  /** @param {string[]} words file and arguments for Node */
  constructor(words) {
    this.#child = spawn(process.execPath, words, { stdio: ["pipe", "pipe", "inherit"] });
    const lines = new Lines(1 << 26, (text) => this.#take(text), () => {});
    this.#child.stdout.on("data", (chunk) => lines.push(chunk));
    this.#child.stdin.on("error", () => {});
    this.#exited = new Promise((resolve) => this.#child.on("close", resolve));
    this.#exited.then((code) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`${words[0]} ended with ${code}`));
    });
  }

  get cpu_ms() {
    return cpu_ms(this.#child.pid);
  }

  send(message) {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  /** @returns {Promise<object>} the result */
  request(method, params = {}) {
    const id = this.#nextId;
    this.#nextId += 1;
    this.send({ id, method, params });
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  /** Opens a session of MCP. */
  async initialize() {
    const clientInfo = { name: "bench", version: "1" };
    await this.request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    this.send({ method: "notifications/initialized" });
  }

  /** Calls a tool. @returns {Promise<object>} its result, which is no error */
  async call(name, args) {
    const result = await this.request("tools/call", { name, arguments: args });
    if (result.isError) throw new Error(`${name}: ${result.content[0].text}`);
    return result;
  }

  /** Closes its stdin and waits for its end. */
  async end() {
    this.#child.stdin.end();
    const killer = setTimeout(() => this.#child.kill("SIGKILL"), 3000);
    await this.#exited;
    clearTimeout(killer);
  }

  #take(text) {
    const message = JSON.parse(text);
    const waiting = message.method === undefined && this.#waiting.get(message.id);
    if (!waiting) return;
    this.#waiting.delete(message.id);
    if (message.error) waiting.reject(new Error(message.error.message));
    else waiting.resolve(message.result);
  }
}
