// Node: the module is read from the package and ready on import.
import { readFileSync } from "node:fs";
import { initSync } from "./slim.mjs";

initSync({ module: readFileSync(new URL("./dist/narrows_bg.wasm", import.meta.url)) });

export { Core, Driver } from "./slim.mjs";
export default async function init() {}
