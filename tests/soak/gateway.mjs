import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** How long the gateway may take to say something about itself. */
const PATIENCE_MS = 60_000;

/** The gateway as a process of its own, watched from inside by a probe. */
export class Gateway {
  stderr = "";
  samples = [];
  #exited;

  constructor(words) {
    const flags = ["--expose-gc", "--import", here("probe.mjs"), here("../../pkg/cli.js")];
    this.child = spawn(process.execPath, [...flags, ...words], { stdio: ["pipe", "pipe", "pipe", "ipc"] });
    // What it complains about is worth its end alone.
    this.child.stderr.setEncoding("utf8").on("data", (text) => (this.stderr = (this.stderr + text).slice(-4000)));
    this.#exited = new Promise((resolve) => this.child.on("close", (code, signal) => resolve(code ?? signal)));
  }

  get exited() {
    return this.#exited;
  }

  /** The address that a server prints. */
  address() {
    return new Promise((resolve, reject) => {
      let text = "";
      this.child.stdout.setEncoding("utf8").on("data", (more) => {
        text += more;
        const [url] = /http:\S+(?=\n)/.exec(text) ?? [];
        if (url) resolve(url);
      });
      this.#exited.then((code) => reject(new Error(`the gateway ended with ${code}: ${this.stderr}`)));
    });
  }

  /** Takes down how much memory it holds, after a collection. @returns {Promise<object>} */
  async sample(seconds) {
    const sample = await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the gateway does not answer its probe: ${this.stderr}`)), PATIENCE_MS);
      this.child.once("message", (said) => {
        clearTimeout(timer);
        resolve(said);
      });
      this.child.send({ collect: true });
    });
    this.samples.push({ seconds, ...sample });
    return sample;
  }

  kill() {
    this.child.kill("SIGKILL");
  }
}
