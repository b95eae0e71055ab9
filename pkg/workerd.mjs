// Workers: the module comes compiled with the script and is ready on import. Whoever calls a worker comes from elsewhere.
import module from "./dist/narrows_bg.wasm";
import { Gateway as Base } from "./lib/gateway.mjs";
import { initSync } from "./lib/module.mjs";

initSync({ module });

export { Core } from "./lib/module.mjs";
export { GatewayError } from "./lib/error.mjs";
export class Gateway extends Base {
  static platform = { defaults: { server: { loopback: false }, network: { allow_private: false } } };
}
export default async function init() {}
