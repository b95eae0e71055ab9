import { spawn } from "node:child_process";

import { Lines } from "./lines.mjs";

/** No step of the demo takes longer than this when all is well. */
const PATIENCE_MS = 10_000;

/** A small MCP client that starts a server and talks to it over stdio. */
export class DemoClient {
  #child;
  #waiting = new Map();
  #listeners = new Map();
  #stderr = "";
  #nextId = 1;
  #exited;

  /** @param {string} program a JavaScript file @param {string[]} words its arguments */
  constructor(program, words = []) {
    this.#child = spawn(process.execPath, [program, ...words], { stdio: ["pipe", "pipe", "pipe"] });
    const lines = new Lines(
      32 << 20,
      (text) => this.#take(text),
      () => {},
    );
    this.#child.stdout.on("data", (chunk) => lines.push(chunk));
    this.#child.stderr.on("data", (chunk) => (this.#stderr = (this.#stderr + chunk).slice(-2000)));
    this.#child.stdin.on("error", () => {});
    this.#exited = new Promise((resolve) => this.#child.on("close", (code) => resolve(code)));
    this.#exited.then((code) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`the server ended with code ${code}. ${this.#stderr}`));
    });
  }

  /** Asks, and gives the result. @param {string} method @param {object} params */
  request(method, params) {
    return this.begin(method, params).answer;
  }

  /** Asks, without waiting. @returns {{ id: number, answer: Promise<object> }} */
  begin(method, params) {
    const id = this.#nextId;
    this.#nextId += 1;
    const answer = new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`no answer to ${method} within ${PATIENCE_MS / 1000} s. ${this.#stderr}`)),
        PATIENCE_MS,
      );
      const settle = (done) => (value) => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        done(value);
      };
      this.#waiting.set(id, { resolve: settle(resolve), reject: settle(reject) });
    });
    this.#send({ id, method, params });
    return { id, answer };
  }

  /** Says something that has no answer. */
  notify(method, params) {
    this.#send({ method, params });
  }

  /** Gives up a request: no answer will come. @param {number} id */
  cancel(id) {
    this.notify("notifications/cancelled", { requestId: id, reason: "not needed any more" });
    this.#waiting.get(id)?.resolve(undefined);
  }

  /** Takes the progress of the requests that carry this token. */
  onProgress(token, take) {
    this.#listeners.set(token, take);
  }

  /** Closes the server's input and waits for its end. @returns {Promise<number | null>} its exit code */
  async close() {
    this.#child.stdin.end();
    const killer = setTimeout(() => this.#child.kill("SIGKILL"), 3000);
    const code = await this.#exited;
    clearTimeout(killer);
    return code;
  }

  #send(message) {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  #take(text) {
    const message = JSON.parse(text);
    if (message.method === "notifications/progress") this.#listeners.get(message.params.progressToken)?.(message.params);
    const waiting = message.method === undefined && this.#waiting.get(message.id);
    if (!waiting) return;
    if (message.error) waiting.reject(new Error(message.error.message));
    else waiting.resolve(message.result);
  }
}
