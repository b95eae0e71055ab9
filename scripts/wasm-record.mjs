// The record of a build: which sources, flags and tools made the wasm, and what came out.
//   node scripts/wasm-record.mjs DIR [WASM-OPT FLAG...]     writes DIR/build.json; needs the tools on PATH
// check-wasm.mjs imports `sourceDigest` and `outputDigests` to compare a record with what is there.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

const sha256 = (data) => createHash("sha256").update(data).digest("hex");

/** Everything that decides the bytes of the wasm, apart from the tools. */
function sources() {
  const code = readdirSync(join(root, "src"), { recursive: true }).filter((path) => path.endsWith(".rs"));
  return ["Cargo.toml", "Cargo.lock", "scripts/build-wasm.sh", "scripts/wasm-order.mjs", ...code.map((path) => `src/${path}`)].sort();
}

/** One digest over path and content of every source, sorted by path. */
export function sourceDigest() {
  return sha256(sources().map((path) => `${sha256(readFileSync(join(root, path)))}  ${path}\n`).join(""));
}

/** The digest of each file of the build in `dir`, by name. */
export function outputDigests(dir) {
  const names = readdirSync(dir).filter((name) => name !== "build.json").sort();
  return Object.fromEntries(names.map((name) => [name, sha256(readFileSync(join(dir, name)))]));
}

function toolVersions() {
  const run = (command, ...args) => execFileSync(command, args, { encoding: "utf8" }).trim();
  // The same compiler may come with the published std or with one built from its source: the bytes differ.
  const std = existsSync(join(run("rustc", "--print", "sysroot"), ".complete")) ? "built from source" : "as published";
  return {
    rustc: run("rustc", "-V"),
    host: /^host: (.*)$/m.exec(run("rustc", "-vV"))[1],
    std,
    "wasm-bindgen": run("wasm-bindgen", "--version"),
    "wasm-pack": run("wasm-pack", "--version"),
    "wasm-opt": run("wasm-opt", "--version"),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [dir, ...flags] = process.argv.slice(2);
  const record = { sources: sourceDigest(), "wasm-opt flags": flags, tools: toolVersions(), files: outputDigests(dir) };
  writeFileSync(join(dir, "build.json"), JSON.stringify(record, null, 2) + "\n");
}
