// Builds a package that can be told to panic: a copy of pkg/ whose wasm has `panicNext`. The shipped one has not.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

const script = `
set -euo pipefail
eval "$(scripts/wasm-toolchain.sh)"
eval "$(scripts/wasm-tools.sh)"
target=\${CARGO_TARGET_DIR:-$PWD/target}
cargo rustc --quiet --locked --lib --crate-type cdylib --features wasm --target wasm32-unknown-unknown -- --cfg narrows_panic
wasm-bindgen "$target/wasm32-unknown-unknown/debug/narrows.wasm" --target web --no-typescript --out-name narrows --out-dir "$1"
`;

/** Its class `Core`, and what opens a driver around one. */
export async function panicking() {
  const copy = join(root, "tests/.work/panic");
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy, { recursive: true });
  for (const name of ["package.json", "lib", "node"]) cpSync(join(root, "pkg", name), join(copy, name), { recursive: true });
  execFileSync("bash", ["-c", script, "panic-build", join(copy, "dist")], { cwd: root, stdio: ["ignore", 2, 2] });
  const part = (name) => import(pathToFileURL(join(copy, name)));
  return { ...(await part("node/core.mjs")), ...(await part("lib/open.mjs")), ...(await part("lib/gateway.mjs")) };
}
