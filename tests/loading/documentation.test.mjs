// The programs in the documentation: all of them compile, and those that do something are run.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Gateway, GatewayError } from "../../pkg/node.mjs";
import { FakeHost } from "../../pkg/testing.mjs";
import { DemoAgent } from "../../pkg/node/demo-agent.mjs";
import { Caller, textOf } from "../hosts/a2a.mjs";
import { installed, program, root } from "./program.mjs";

const types = (folder) => readdirSync(join(root, folder)).filter((name) => name.endsWith(".d.ts")).map((name) => `${folder}/${name}`);
const files = ["README.md", "pkg/README.md", "examples/worker/README.md", ...types("pkg"), ...types("pkg/types")];

/** Every program, with the file that it is in. */
const programs = files.flatMap((file) => {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/^( *(?:\* )?)```(js|ts)\n([^]*?)^ *(?:\* )?```$/gm)].map(([, margin, language, code]) => {
    const lines = code.split("\n").map((line) => line.slice(line.startsWith(margin) ? margin.length : margin.trimEnd().length));
    return { file, language, code: lines.join("\n") };
  });
});

/** What a program may use without having brought it. */
const PACKAGE = { Gateway: "narrows", GatewayError: "narrows", FakeHost: "narrows/testing", checkHost: "narrows/testing", GatewayObject: "narrows/worker" };
const AMBIENT = `
  declare const app: { all(path: string, answer: (context: { req: { raw: Request } }) => Promise<Response>): void };
  declare const pieces: { all(): Promise<string[]>; put(key: string, texts: readonly string[]): Promise<void>; removeWithAllBelow(key: string): Promise<void> };
  declare const process: { env: { TOKEN: string } };
  declare const host: Required<import("narrows").Host>;
  declare const url: string;
  declare const test: (name: string, go: () => void) => void;
  declare const assert: { ok(value: boolean, message?: string): void };`;

test("every program in the documentation compiles", () => {
  assert.ok(programs.length > 10, `${programs.length} programs`);
  const folder = program("documentation");
  writeFileSync(join(folder, "ambient.d.ts"), AMBIENT);
  for (const language of ["js", "ts"]) {
    const names = programs.flatMap(({ file, code, ...rest }, i) => {
      if (rest.language !== language) return [];
      const used = Object.entries(PACKAGE).filter(([name]) => new RegExp(`\\b${name}\\b`).test(code) && !/^import /m.test(code));
      const imports = used.map(([name, from]) => `import { ${name} } from "${from}";\n`).join("");
      const gateway = /\bgateway\b/.test(code) && !/const gateway =/.test(code) ? 'declare const gateway: import("narrows").Gateway;\n' : "";
      const name = `${i}.${file.replaceAll("/", "-")}.mts`;
      writeFileSync(join(folder, name), `// ${file}\n${imports}${gateway}${code}\nexport {};\n`);
      return [name];
    });
    // In JavaScript nobody has to say what may be absent.
    const compilerOptions = { strict: language === "ts", module: "nodenext", target: "es2022", lib: ["es2022", "dom", "dom.asynciterable"], types: [], noEmit: true, skipLibCheck: true, preserveSymlinks: true };
    writeFileSync(join(folder, `tsconfig.${language}.json`), JSON.stringify({ compilerOptions, files: ["ambient.d.ts", ...names] }));
    const { stdout } = spawnSync(process.execPath, [join(installed, "typescript/bin/tsc"), "-p", join(folder, `tsconfig.${language}.json`)], { encoding: "utf8" });
    assert.equal(stdout, "");
  }
});

const AsyncFunction = (async () => {}).constructor;

/**
 * Runs the programs that hold a text, as they are but for the address of their agent, and gives what they leave behind.
 *
 * @param {string} holding @param {{ times?: number, given?: object, agent?: string, left?: string[] }} [options]
 */
async function run(holding, { times = 1, given = {}, agent = "", left = ["gateway"] } = {}) {
  const found = programs.filter(({ code }) => code.includes(holding));
  assert.equal(found.length, times, `${holding}: ${found.map(({ file }) => file)}`);
  const results = [];
  for (const { file, code } of found) {
    const lines = code.replace(/^import .*\n/gm, "").replaceAll("https://agent.example.com", agent);
    const said = [];
    const all = { Gateway, GatewayError, FakeHost, console: { log: (...words) => said.push(words.join(" ")) }, ...given };
    const go = new AsyncFunction(...Object.keys(all), `${lines}\nreturn { ${left.join(", ")} };`);
    results.push({ file, said, ...(await go(...Object.values(all))) });
  }
  return results;
}

async function bistro(t) {
  const agent = new DemoAgent({ pace_ms: 1 });
  t.after(() => agent.close());
  return agent.listen();
}

test("the first program of each page talks to an agent", async (t) => {
  const agent = await bistro(t);
  const results = await run('await gateway.send({ agent: "bistro", message: "What is for dinner?" })', { times: 3, agent, left: ["text", "gateway"] });
  for (const { file, text, gateway } of results) {
    assert.match(text, /plum tart/, file);
    gateway.dispose();
  }
  const { said } = results.find(({ file }) => file === "pkg/README.md");
  assert.match(said[0], /plum tart.*TASK_STATE_COMPLETED$/s);
});

test("a call is followed to its end", async (t) => {
  const gateway = await Gateway.open();
  t.after(() => gateway.dispose());
  await gateway.connect({ alias: "bistro", agent_url: await bistro(t) });
  const [{ said }] = await run("AbortSignal.timeout", { given: { gateway }, left: [] });
  assert.ok(said.length > 2, said.join("\n"));
});

test("a server is asked by those who may", async (t) => {
  const routes = {};
  const app = { all: (path, answer) => (routes[path] = answer) };
  const [{ gateway }] = await run("app.all(", { given: { app, process: { env: { TOKEN: "a-long-random-text" } } } });
  t.after(() => gateway.dispose());
  const ask = async (host, token) => {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} } } };
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list", ...(token && { authorization: `Bearer ${token}` }) };
    const raw = new Request(`https://${host}/mcp`, { method: "POST", headers, body: JSON.stringify(message) });
    return (await routes["/mcp"]({ req: { raw } })).status;
  };
  assert.equal(await ask("gateway.example.com", "a-long-random-text"), 200);
  assert.equal(await ask("gateway.example.com"), 401);
  assert.equal(await ask("elsewhere.example.com", "a-long-random-text"), 403);
});

test("a function is an agent that asks, streams and answers", async (t) => {
  const [{ gateway }] = await run('{ ask: "For how many?" }');
  t.after(() => gateway.dispose());
  const caller = new Caller(gateway.fetch);
  const { task } = await caller.send("a table");
  assert.equal(task.status.state, "TASK_STATE_INPUT_REQUIRED");
  const said = [];
  for await (const { statusUpdate, artifactUpdate } of caller.stream("four", { taskId: task.id })) {
    if (statusUpdate?.status.message) said.push(textOf(statusUpdate.status.message));
    if (artifactUpdate) said.push(textOf(artifactUpdate.artifact));
  }
  assert.deepEqual(said.slice(-3), ["Looking for a table", "A table by the window", "Booked for four."]);
});

test("a function hands its signal on", async (t) => {
  const asked = [];
  const fetch = async (url, { signal }) => (asked.push([url, signal.aborted]), new Response("soup"));
  const [{ gateway }] = await run("https://bistro.example/menu", { given: { fetch } });
  t.after(() => gateway.dispose());
  const { task } = await new Caller(gateway.fetch).send("dinner");
  assert.deepEqual([textOf(task.artifacts[0]), textOf(task.status.message)], ["soup", "That is all about dinner."]);
  assert.deepEqual(asked, [["https://bistro.example/menu", false]]);
});

test("a gateway goes on from what was kept", async () => {
  const kept = new Map();
  const pieces = {
    all: async () => [...kept.values()].flat(),
    put: async (key, texts) => void kept.set(key, texts),
    removeWithAllBelow: async (key) => [...kept.keys()].filter((known) => known === key || known.startsWith(`${key}/`)).forEach((known) => kept.delete(known)),
  };
  const open = async () => (await run("pieces.all()", { given: { pieces } }))[0].gateway;
  const first = await open();
  await first.createCallerCard({ name: "ada", description: "a person" });
  first.dispose();
  const second = await open();
  assert.equal((await second.callerCard()).structured.card.name, "ada");
  second.dispose();
});

test("a refused call says when to come back", async (t) => {
  const gateway = await Gateway.open({ config: { rate_limit: { rps: 0.1, burst: 1 } } });
  t.after(() => gateway.dispose());
  await gateway.connect({ alias: "bistro", agent_url: await bistro(t) });
  const ask = async () => (await run("error.retry_after_ms", { given: { gateway }, left: [] }))[0].said;
  assert.deepEqual(await ask(), []);
  assert.match((await ask())[0], /^again in \d+ ms$/);
});

test("a pretended host lets time pass", async () => {
  const [{ said }] = await run("await host.advance(", { left: [] });
  assert.deepEqual(said, ["timeout"]);
});

