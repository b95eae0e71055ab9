// What bundlers make of the package runs: a program for pages, with the wasm as an asset beside it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { program } from "./program.mjs";

/** A page's program: it says how many tools there are, then what an agent answers. */
const page = `
  const card = (name) => ({ name, url: "https://agent.example/", version: "1", protocolVersion: "0.3.0", capabilities: {}, skills: [] });
  const answer = ({ url }) => ({ status: 200, headers: [["content-type", "application/json"]], body: JSON.stringify(card(url)) });
  const gateway = await Gateway.open({ host: { fetch: answer } });
  const tools = await gateway.tools();
  const { structured } = await gateway.card({ agent: "https://agent.example/" });
  console.log(tools.length, structured.card.name);
  gateway.dispose();`;
const said = "17 https://agent.example/.well-known/agent-card.json";

function prepared(name, entry = `import { Gateway } from "narrows"; ${page}`) {
  const folder = program(name, { copy: true });
  writeFileSync(join(folder, "main.js"), entry);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  return folder;
}

/** The files of a build that have this ending. */
const built = (folder, ending) => readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(ending));

/** Runs a built program where fetch reads files, as a page's reads what its server has. */
function run(folder, file) {
  assert.equal(built(folder, ".wasm").length, 1, "one wasm in the build");
  const code = `
    import { readFileSync } from "node:fs";
    globalThis.fetch = async (url) => new Response(readFileSync(new URL(url)), { headers: { "content-type": "application/wasm" } });
    await import(${JSON.stringify(pathToFileURL(join(folder, file)).href)});`;
  return execFileSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" }).trim();
}

test("esbuild, for a page, with the wasm as a file", async () => {
  const { build } = await import("esbuild");
  const folder = prepared(
    "esbuild",
    `import init, { Gateway } from "narrows"; import wasm from "narrows/narrows.wasm";
     await init(new URL(wasm, import.meta.url)); ${page}`,
  );
  const options = { bundle: true, format: "esm", platform: "browser", loader: { ".wasm": "file" }, minify: true, logLevel: "error" };
  await build({ absWorkingDir: folder, entryPoints: ["main.js"], outdir: "out", ...options });
  assert.equal(run(join(folder, "out"), "main.js"), said);
});

test("esbuild, for a worker, with the wasm compiled elsewhere", async () => {
  const { build } = await import("esbuild");
  const folder = prepared("esbuild-worker");
  const options = { bundle: true, format: "esm", conditions: ["workerd"], external: ["*.wasm"], logLevel: "error", metafile: true };
  const { metafile } = await build({ absWorkingDir: folder, entryPoints: ["main.js"], outdir: "out", ...options });
  const inputs = Object.keys(metafile.inputs).map((name) => name.replace(/.*node_modules\/narrows\//, ""));
  assert.ok(inputs.includes("workerd.mjs"));
  assert.ok(!inputs.some((name) => name === "web.mjs" || name.startsWith("node")), inputs.join(" "));
  assert.ok(metafile.outputs["out/main.js"].imports.some(({ path }) => path.endsWith("narrows_bg.wasm")));
});

test("what is not used is left out, and what makes the module ready is not", async () => {
  const { build } = await import("esbuild");
  const options = { bundle: true, format: "esm", external: ["*.wasm"], logLevel: "error", write: false };
  const bundle = async (entry, conditions) => {
    const folder = prepared("esbuild-parts", entry);
    const { outputFiles } = await build({ absWorkingDir: folder, entryPoints: ["main.js"], outdir: "out", conditions, ...options });
    return outputFiles[0].text;
  };
  const error = await bundle('import { GatewayError } from "narrows/slim"; console.log(new GatewayError("a", "b").code);', []);
  assert.ok(error.length < 10_000, `${error.length} bytes for the error alone`);
  const core = await bundle('import { Core } from "narrows"; console.log(Core);', ["workerd"]);
  assert.match(core, /initSync\d*\(\{ module/);
});

test("Vite, without configuration but for its base", async () => {
  const { build } = await import("vite");
  const folder = prepared("vite");
  writeFileSync(join(folder, "index.html"), '<!doctype html><script type="module" src="./main.js"></script>');
  const target = { target: "es2022", modulePreload: false };
  await build({ root: folder, base: "./", configFile: false, logLevel: "error", build: target });
  const dist = join(folder, "dist");
  const [script] = built(dist, ".js");
  assert.equal(run(dist, script), said);
  assert.doesNotMatch(readFileSync(join(dist, script), "utf8"), /node:[a-z]/);
});

test("webpack, without configuration but for modules", async () => {
  const { default: webpack } = await import("webpack");
  const folder = prepared("webpack");
  const output = { path: join(folder, "dist"), filename: "main.js", module: true, chunkFormat: "module" };
  const compiler = webpack({ context: folder, mode: "production", entry: "./main.js", target: ["web", "es2022"], output, experiments: { outputModule: true }, performance: false });
  const stats = await new Promise((resolve, reject) => compiler.run((error, done) => (error ? reject(error) : resolve(done))));
  await new Promise((resolve) => compiler.close(resolve));
  assert.deepEqual(stats.toJson({ all: false, errors: true, warnings: true }).errors.concat(stats.toJson({ all: false, warnings: true }).warnings), []);
  assert.equal(run(join(folder, "dist"), "main.js"), said);
});
