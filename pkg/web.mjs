// Pages and bundlers: await init() once before the first gateway; later calls wait for the same module.
import load from "./slim.mjs";

let loading;

export { Core, Driver } from "./slim.mjs";
export default async function init(source = new URL("./dist/narrows_bg.wasm", import.meta.url)) {
  loading ??= load({ module_or_path: source });
  try {
    await loading;
  } catch (error) {
    loading = undefined;
    throw error;
  }
}
