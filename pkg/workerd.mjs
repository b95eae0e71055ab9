// Workers: the module comes compiled with the script and is ready on import.
import module from "./dist/narrows_bg.wasm";
import { initSync } from "./slim.mjs";

initSync({ module });

export { Core, Driver } from "./slim.mjs";
export default async function init() {}
