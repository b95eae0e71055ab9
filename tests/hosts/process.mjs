import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const PROGRAM = fileURLToPath(new URL("../../pkg/cli.js", import.meta.url));

/** What commands keep of their servers' tools goes with these tests. */
const XDG_STATE_HOME = mkdtempSync(join(tmpdir(), "narrows-state-"));
process.on("exit", () => rmSync(XDG_STATE_HOME, { recursive: true }));

const PATIENCE_MS = 20_000;

/** The command as a process of its own, for the length of a test. */
export class Command {
  stdout = "";
  stderr = "";
  #child;
  #waiting = [];
  #exited;

  constructor(t, words = [], environment = {}) {
    const { A2A_GATEWAY_NAME, A2A_GATEWAY_VERSION, ...env } = process.env;
    this.#child = spawn(process.execPath, [PROGRAM, ...words], { env: { ...env, XDG_STATE_HOME, ...environment } });
    this.#child.stdout.setEncoding("utf8").on("data", (text) => this.#grew("stdout", text));
    this.#child.stderr.setEncoding("utf8").on("data", (text) => this.#grew("stderr", text));
    this.#child.stdin.on("error", () => {});
    this.#exited = new Promise((resolve) => this.#child.on("close", (code, signal) => resolve(code ?? signal)));
    this.#exited.then(() => this.#grew("stderr", ""));
    t.after(() => this.#child.kill("SIGKILL"));
  }

  get child() {
    return this.#child;
  }

  /** Bytes to its stdin. */
  raw(bytes) {
    this.#child.stdin.write(bytes);
  }

  /** A JSON-RPC message to its stdin. */
  send(message) {
    this.raw(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  /** The opening of a session. @returns {Promise<object>} the result of `initialize` */
  async initialize() {
    this.send({
      id: "init",
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "0" } },
    });
    const { result } = await this.answer("init");
    this.send({ method: "notifications/initialized" });
    return result;
  }

  /** Calls a tool. @returns {Promise<object>} its result */
  async call(id, name, args) {
    this.send({ id, method: "tools/call", params: { name, arguments: args } });
    return (await this.answer(id)).result;
  }

  /** Every message on stdout so far; a line that is none throws. */
  get messages() {
    return this.stdout
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }

  /** The answer to a request. */
  async answer(id) {
    return this.until(() => this.messages.find((message) => message.id === id && message.method === undefined));
  }

  /** What a condition gives, once it gives something. A test that would wait for ever fails instead. */
  async until(condition) {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const value = condition();
      if (value) return value;
      if (this.#child.exitCode !== null) throw new Error(`the command ended with ${this.#child.exitCode}: ${this.stderr}`);
      if (performance.now() > deadline)
        throw new Error(`it never came. stdout: ${this.stdout.slice(-500)} stderr: ${this.stderr.slice(-500)}`);
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, PATIENCE_MS);
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  /** Closes its stdin. */
  leave() {
    this.#child.stdin.end();
  }

  /** Its exit code, or the signal that ended it. */
  exit() {
    return this.#exited;
  }

  #grew(name, text) {
    this[name] += text;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
