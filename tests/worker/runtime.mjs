import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";

const { Miniflare } = createRequire(join(process.env.WORKER_WORK, "package.json"))("miniflare");

const here = fileURLToPath(new URL(".", import.meta.url));
const root = join(here, "../..");
const pkg = join(root, "pkg");

/** The names of the package's files that a worker may load. */
function packaged(folder = "") {
  return readdirSync(join(pkg, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = posix.join(folder, entry.name);
    if (entry.isDirectory()) return ["lib", "dist"].includes(name) || name.startsWith("lib/") ? packaged(name) : [];
    return /\.(mjs|js|wasm)$/.test(name) && name !== "cli.js" ? [name] : [];
  });
}

/** As a bundler would: `narrows/worker` is the file that the package's exports name. */
function modules() {
  const { exports } = JSON.parse(readFileSync(join(pkg, "package.json"), "utf8"));
  const read = (path, file) => {
    const type = file.endsWith(".wasm") ? "CompiledWasm" : "ESModule";
    return { type, path, contents: type === "ESModule" ? readFileSync(file, "utf8") : readFileSync(file) };
  };
  const files = packaged().map((name) => read(`/narrows/${name}`, join(pkg, name)));
  const entry = exports["./worker"].default;
  return [
    read("/entry.mjs", join(here, "entry.mjs")),
    read("/index.mjs", join(root, "examples/worker/index.mjs")),
    read("/narrows/worker", join(pkg, entry)),
    ...files,
  ];
}

/** The date and flags that the example's own configuration names. */
function compatibility() {
  const text = readFileSync(join(root, "examples/worker/wrangler.toml"), "utf8");
  const value = (name) => JSON.parse(new RegExp(`^${name} = (.*)$`, "m").exec(text)[1]);
  // So that the requests of each object can be counted apart.
  const flags = [...value("compatibility_flags"), "nodejs_als"];
  return { compatibilityDate: value("compatibility_date"), compatibilityFlags: flags };
}

/** The page in a folder, as the example's build writes it there. */
function assets(folder) {
  const text = readFileSync(join(root, "examples/worker/wrangler.toml"), "utf8");
  const [, words, name] = /^command = "npx narrows (.*)"\n+\[assets\]\ndirectory = "(.*)"$/m.exec(text);
  execFileSync(process.execPath, [join(pkg, "cli.js"), ...words.split(" ")], { cwd: folder });
  return { directory: join(folder, name), routerConfig: { has_user_worker: true } };
}

/** The example in workerd, its objects on disk. */
export class Runtime {
  #miniflare;
  #folder = mkdtempSync(join(tmpdir(), "narrows-worker-"));
  #bindings;
  #assets;

  /**
   * @param {import("node:test").TestContext} t
   * @param {{ config?: object, tokens?: object[], publicAgent?: string, page?: boolean }} [options] `page`: whether it is served
   */
  static async start(t, { config = {}, tokens = [], publicAgent, page = false } = {}) {
    const runtime = new Runtime();
    if (page) runtime.#assets = assets(runtime.#folder);
    runtime.#bindings = {
      // The agents of the tests are on this machine.
      CONFIG: JSON.stringify({ network: { allow_private: true }, ...config }),
      TOKENS: JSON.stringify(tokens),
      ...(publicAgent !== undefined && { PUBLIC_AGENT: publicAgent }),
    };
    await runtime.#boot();
    t.after(() => runtime.#end());
    return runtime;
  }

  async #boot() {
    this.#miniflare = new Miniflare({
      modules: modules(),
      modulesRoot: "/",
      ...compatibility(),
      bindings: this.#bindings,
      durableObjects: { CALLERS: { className: "Caller", useSQLite: true } },
      durableObjectsPersist: this.#folder,
      assets: this.#assets,
      cf: false,
      host: "127.0.0.1",
    });
    this.url = (await this.#miniflare.ready).origin;
  }

  /** Ends the process without a word, and starts another one with what is on disk. */
  async kill() {
    const workerd = children().filter((child) => child.name === "workerd");
    if (workerd.length !== 1) throw new Error(`one runtime was expected: ${JSON.stringify(workerd)}`);
    process.kill(workerd[0].id, "SIGKILL");
    await this.#miniflare.dispose().catch(() => {});
    await this.#boot();
  }

  /** Throws an object out of the memory, as an eviction does. @param {{ principal: string } | { id: string }} which */
  async lose(which) {
    await (await fetch(`${this.url}/lose?${new URLSearchParams(which)}`)).text();
  }

  /** Lets an object's alarm ring, as if it were so much later. @param {{ principal: string } | { id: string }} which */
  async ring(which, late_ms) {
    await (await fetch(`${this.url}/ring?${new URLSearchParams({ ...which, late_ms })}`)).text();
  }

  /** What the runtime saw: events of objects, requests over the limit, timers. */
  async seen() {
    return (await fetch(`${this.url}/seen`)).json();
  }

  async #end() {
    await this.#miniflare.dispose();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** The processes that this one started. */
function children() {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return all.flatMap((name) => {
    try {
      const [, command, parent] = /^\d+ \((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, "utf8"));
      return Number(parent) === process.pid ? [{ id: Number(name), name: command }] : [];
    } catch {
      return []; // it ended meanwhile
    }
  });
}
