// The classes of the wasm, without their module: an entry brings it, to `init` or `initSync`.
import init, * as glue from "../dist/narrows.js";

export const { Core, Fetch, initSync } = glue;
export default init;

// `free` and `using` dispose, so that a later call says what happened to the object instead of meeting a null pointer.
Core.prototype.free = Core.prototype.dispose;
if (Symbol.dispose) Core.prototype[Symbol.dispose] = Core.prototype.dispose;
