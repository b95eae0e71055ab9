export * from "./index.js";

/** A compiled module or its bytes. */
export type Module = object | ArrayBuffer | ArrayBufferView;

/** Loads the module: from an address (a string, URL or Request), a response, bytes, or a compiled module. */
export default function init(source: { module_or_path: string | Module | Promise<Module> }): Promise<unknown>;

/** Loads the module at once. */
export function initSync(source: { module: Module }): unknown;
