// Needs no library beyond ES2022: what a page or Node brings is taken from its own types, or described by its looks.
export * from "./types/config.js";
export * from "./types/core.js";
export * from "./types/error.js";
export * from "./types/gateway.js";
export * from "./types/host.js";
export * from "./types/tools.js";
export * from "./types/work.js";

/**
 * Loads the module, where it is not ready on import: in a page and in what a bundler makes for it. `Gateway.open` does
 * it by itself; whoever uses `Core` calls it once before. Twice is fine.
 *
 * @param source where the module is, if it is not beside the script: an address, a Response, bytes, or a compiled module
 */
export default function init(source?: string | object): Promise<void>;
