// Everything but the module: the caller brings the wasm, to `init` or `initSync`, before the first gateway.
export { Gateway } from "./lib/gateway.mjs";
export { GatewayError } from "./lib/error.mjs";
export { Core, initSync, default } from "./lib/module.mjs";
