// Pages and bundlers: the module is loaded from beside this file, by the first gateway or by init(). Nobody but the page
// itself reaches a gateway in it, whatever the page's own name is.
import { Gateway as Base } from "./lib/gateway.mjs";
import load from "./lib/module.mjs";

let loading;

export { Core } from "./lib/module.mjs";
export { GatewayError } from "./lib/error.mjs";
export class Gateway extends Base {
  static platform = { load: init, defaults: { server: { loopback: false } } };
}
export default async function init(source = new URL("./dist/narrows_bg.wasm", import.meta.url)) {
  loading ??= load({ module_or_path: source });
  try {
    await loading;
  } catch (error) {
    loading = undefined;
    throw error;
  }
}
