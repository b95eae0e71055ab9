// The package as npm has it: what is in it, how large it is, and what its critics say.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { installed, program, root } from "./program.mjs";

const pkg = join(root, "pkg");
const manifest = JSON.parse(readFileSync(join(pkg, "package.json"), "utf8"));

// What a page loads beside the wasm, as gzip -9, before any bundler. A kilobyte is 1000 bytes.
const SCRIPT_LIMIT_BYTES = 33_500;
// What npm downloads.
const TARBALL_LIMIT_BYTES = 725_000;

// Packed from a copy: for that moment the page's files stand in the package, where others do not expect them.
const folder = program("pack");
for (const name of ["pkg", "www", "scripts/pack-page.mjs"]) cpSync(join(root, name), join(folder, name), { recursive: true });
const copy = join(folder, "pkg");
const [packed] = JSON.parse(execFileSync("npm", ["pack", "--json", "--silent", "--pack-destination", folder], { cwd: copy, encoding: "utf8" }));
const files = packed.files.map(({ path }) => path);

test("it holds what it refers to, and nothing else", () => {
  const targets = (value) => (typeof value === "string" ? [value] : Object.values(value).flatMap(targets));
  for (const target of [...targets(manifest.exports), ...targets(manifest.bin), manifest.main, manifest.types]) {
    assert.ok(files.includes(target.replace("./", "")), target);
  }
  const top = [...new Set(files.map((name) => (name.includes("/") ? `${name.split("/")[0]}/` : name)))].sort();
  assert.deepEqual(top, [
    "LICENSE",
    "README.md",
    "catalog/",
    "cli.js",
    "dist/",
    "index.d.ts",
    "lib/",
    "node.mjs",
    "node/",
    "package.json",
    "slim.d.ts",
    "slim.mjs",
    "testing.d.ts",
    "testing.mjs",
    "types/",
    "web.mjs",
    "worker.d.ts",
    "worker.mjs",
    "workerd.mjs",
    "www/",
  ]);
  const dist = files.filter((name) => name.startsWith("dist/"));
  const built = (name) => [`${name}.d.ts`, `${name}.js`, `${name}_bg.wasm`, `${name}_bg.wasm.d.ts`].map((file) => `dist/${file}`);
  assert.deepEqual(dist.sort(), ["dist/build.json", ...built("narrows"), ...built("narrows_cli")]);
  for (const name of files) assert.match(name, /\.(mjs|js|json|wasm|d\.ts|md|html|css|toml)$|^LICENSE$/);
});

test("every file that one of them imports is in it", () => {
  const imports = /(?:from|import)\s*\(?\s*"(\.[^"]+)"/g;
  for (const name of files.filter((each) => /\.(mjs|js)$/.test(each) && !each.startsWith("www/"))) {
    for (const [, target] of readFileSync(join(pkg, name), "utf8").matchAll(imports)) {
      const path = join(name, "..", target);
      assert.ok(files.includes(path), `${name} imports ${target}`);
    }
  }
});

test("it depends on nothing, and has the licence of its source", () => {
  for (const kind of ["dependencies", "peerDependencies", "optionalDependencies"]) assert.equal(manifest[kind], undefined, kind);
  assert.deepEqual(Object.keys(manifest.scripts), ["prepack", "postpack"]); // nothing runs where it is installed
  assert.equal(readFileSync(join(pkg, "LICENSE"), "utf8"), readFileSync(join(root, "LICENSE"), "utf8"));
  const { version } = JSON.parse(readFileSync(join(pkg, "package.json"), "utf8"));
  assert.match(readFileSync(join(root, "Cargo.toml"), "utf8"), new RegExp(`^version = "${version}"$`, "m"));
});

test("it says who made it, and which of its files do something when they are loaded", () => {
  const [, holder] = /^Copyright \(c\) \d+ (.*)$/m.exec(readFileSync(join(root, "LICENSE"), "utf8"));
  assert.equal(manifest.author, holder);
  for (const name of manifest.sideEffects) assert.ok(files.includes(name.replace("./", "")), name);
});

test("what a page loads is small", () => {
  const seen = new Set();
  const load = (path) => {
    if (seen.has(path) || !path.endsWith("js")) return;
    seen.add(path);
    const text = readFileSync(path, "utf8");
    for (const [, target] of text.matchAll(/from\s+"(\.[^"]+)"/g)) load(join(path, "..", target));
  };
  load(join(pkg, "web.mjs"));
  const gzip = (path) => gzipSync(readFileSync(path), { level: 9 }).length;
  const script = [...seen].map(gzip).reduce((sum, bytes) => sum + bytes, 0);
  const wasm = gzip(join(pkg, "dist/narrows_bg.wasm"));
  console.log(`# a page loads ${script} bytes of script in ${seen.size} files and ${wasm} bytes of wasm, gzip -9; the npm package is ${packed.size} bytes`);
  const [, said] = /downloads less than (\d+) KB/.exec(readFileSync(join(pkg, "README.md"), "utf8"));
  assert.ok(script + wasm < Number(said) * 1000, `${script + wasm} bytes, not the ${said} KB that the README says`);
  assert.ok(script <= SCRIPT_LIMIT_BYTES, `${script} bytes of script`);
  assert.ok(packed.size <= TARBALL_LIMIT_BYTES, `${packed.size} bytes of package`);
});

test("publint has nothing to say", async () => {
  const { messages } = await publint({ pkgDir: copy, level: "suggestion", strict: true });
  assert.deepEqual(messages.map((message) => formatMessage(message, manifest)), []);
});

test("attw has nothing to say but that CommonJS gets an ES module, as Node 20.19 and later let it", () => {
  const program = join(installed, "@arethetypeswrong/cli/dist/index.js");
  const about = ["--profile", "node16", "--ignore-rules", "cjs-resolves-to-esm", "--format", "json"];
  const { stdout, stderr } = spawnSync(process.execPath, [program, join(folder, packed.filename), ...about], { encoding: "utf8" });
  const { analysis, problems } = JSON.parse(stdout || `{"problems":${JSON.stringify(stderr)}}`);
  const kinds = analysis.problems.filter(({ resolutionKind }) => resolutionKind !== "node10").map(({ kind, entrypoint }) => `${kind} ${entrypoint ?? ""}`);
  const expected = Object.keys(manifest.exports).filter((entry) => entry !== "./package.json").map((entry) => `CJSResolvesToESM ${entry}`);
  assert.deepEqual(kinds.sort(), expected.sort(), JSON.stringify(problems));
});
