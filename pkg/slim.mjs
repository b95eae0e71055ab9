// The classes without their module: the caller brings the wasm, to `init` or `initSync`.
import init, { Core, Driver, initSync } from "./dist/narrows.js";

// `free` and `using` dispose, so that a later call says what happened to the object instead of meeting a null pointer.
for (const { prototype } of [Core, Driver]) {
  prototype.free = prototype.dispose;
  if (Symbol.dispose) prototype[Symbol.dispose] = prototype.dispose;
}

export { Core, Driver, initSync };
export default init;
