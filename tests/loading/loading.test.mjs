// Every way to load the package, from a program that has it in node_modules.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { program, root } from "./program.mjs";

const cwd = program("loading");
const wasm = join(root, "pkg/dist/narrows_bg.wasm");

/** Runs a program of its own, and returns what it printed and complained of. */
function run(code, { kind = "module", flags = [] } = {}) {
  const args = [...flags, `--input-type=${kind}`, "-e", code];
  return execFileSync(process.execPath, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}

const use = `
  const core = new Core({ seed: new Uint8Array(32), now: 0, unixMs: 0 });
  core.input(0, '{"type":"open","peer":1,"scope":"s"}');
  core.message(0, 1, '{"jsonrpc":"2.0","id":7,"method":"ping"}');
  console.log(JSON.parse(JSON.parse(core.output()).text).id);
  core.dispose();
  Gateway.open().then(async (gateway) => {
    console.log((await gateway.tools()).length);
    gateway.dispose();
  });
`;

test("import and require give the same ready package", () => {
  assert.equal(run(`import init, { Core, Gateway } from "narrows"; await init(); ${use}`), "7\n17");
  assert.equal(run(`const { Core, Gateway } = require("narrows"); ${use}`, { kind: "commonjs" }), "7\n17");
  const same = `import { createRequire } from "node:module"; import * as a from "narrows";
    console.log(createRequire(import.meta.url)("narrows").Core === a.Core)`;
  assert.equal(run(same.replace("import.meta.url", "process.cwd() + '/x.js'")), "true");
});

// wasm-010, wasm-011
test("loading alone needs no clock, chance or network", () => {
  const shut = `for (const name of ["fetch", "setTimeout", "performance", "crypto"])
    Object.defineProperty(globalThis, name, { get() { throw new Error("used " + name); } });`;
  assert.equal(run(`${shut} const { Core } = await import("narrows"); console.log(typeof Core)`), "function");
});

// wrk-007
test("conditions choose the entry", () => {
  const where = `console.log(import.meta.resolve("narrows").split("/").pop())`;
  assert.equal(run(where), "node.mjs");
  assert.equal(run(where, { flags: ["-C", "workerd"] }), "workerd.mjs");
  const { exports } = JSON.parse(readFileSync(join(root, "pkg/package.json"), "utf8"));
  assert.deepEqual(Object.keys(exports["."]), ["types", "workerd", "node", "default"]);
  const wasmAt = run(`console.log(import.meta.resolve("narrows/narrows.wasm"))`);
  assert.ok(wasmAt.endsWith("/dist/narrows_bg.wasm"), wasmAt);
});

test("the page's entry loads once, from any source, and again after a failure", () => {
  const code = `
    import { readFileSync } from "node:fs";
    import init, { Core, Gateway } from ${JSON.stringify(join(root, "pkg/web.mjs"))};
    const failed = await init(new Uint8Array(8)).then(() => "loaded", () => "refused");
    const response = () => new Response(readFileSync(${JSON.stringify(wasm)}), { headers: { "content-type": "application/wasm" } });
    await Promise.all([init(response()), init(response())]);
    const before = new Core({ seed: new Uint8Array(32), now: 0, unixMs: 0 });
    await init();
    before.output();
    console.log(failed);
    ${use}`;
  assert.equal(run(code), "refused\n7\n17");
});

test("the worker's entry takes a compiled module", () => {
  const hooks = `
    import { readFileSync } from "node:fs";
    export async function load(url, context, next) {
      if (!url.endsWith(".wasm")) return next(url, context);
      const bytes = readFileSync(new URL(url)).toString("base64");
      const source = "export default new WebAssembly.Module(Buffer.from(" + JSON.stringify(bytes) + ", 'base64'))";
      return { format: "module", source, shortCircuit: true };
    }`;
  const code = `
    import { register } from "node:module";
    register("data:text/javascript," + encodeURIComponent(${JSON.stringify(hooks)}));
    const { default: init, Core, Gateway } = await import("narrows");
    await init();
    ${use}`;
  assert.equal(run(code, { flags: ["-C", "workerd"] }), "7\n17");
});

test("the slim entry takes the module from its caller", () => {
  const code = `
    import { readFileSync } from "node:fs";
    import { initSync, Core, Gateway } from "narrows/slim";
    initSync({ module: new WebAssembly.Module(readFileSync(${JSON.stringify(wasm)})) });
    ${use}`;
  assert.equal(run(code), "7\n17");
});

// wrk-007
test("whoever comes before the module is told what is missing", () => {
  const code = `
    import { Core, Gateway } from "narrows/slim";
    const say = ({ name, code, message }) => console.log(name, code, message);
    try { new Core({ seed: new Uint8Array(32), now: 0, unixMs: 0 }); } catch (error) { say(error); }
    try { Core.restore({ seed: new Uint8Array(32), now: 0, unixMs: 0 }, undefined, []); } catch (error) { say(error); }
    await Gateway.open().catch(say);`;
  const said = "GatewayError misuse the module is not loaded: call init() or initSync() first";
  assert.equal(run(code), [said, said, said].join("\n"));
});
