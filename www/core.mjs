// The one place that knows where the package is: it works at /www/ of a checkout and at / of `narrows page` alike.
import init, { Core, Gateway } from "../pkg/web.mjs";

export { Core, Gateway };

/**
 * Loads the gateway.
 *
 * @returns {Promise<{ bytes: Uint8Array, fetched_ms: number, ready_ms: number }>} the module's bytes, and the moments at
 *   which they were there and compiled, counted from the start of the page
 */
export async function loadCore() {
  const response = await fetch(new URL("../pkg/dist/narrows_bg.wasm", import.meta.url));
  if (!response.ok) throw new Error(`The WebAssembly module was answered with status ${response.status}.`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const fetched_ms = performance.mark("fetched").startTime;
  await init(bytes);
  return { bytes, fetched_ms, ready_ms: performance.mark("compiled").startTime };
}
