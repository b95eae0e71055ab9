import { readFileSync } from "node:fs";
import { initSync } from "../lib/module.mjs";

initSync({ module: readFileSync(new URL("../dist/narrows_bg.wasm", import.meta.url)) });

export { Core } from "../lib/module.mjs";
