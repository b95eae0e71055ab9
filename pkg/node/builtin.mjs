import { createRequire } from "node:module";

/** Loads a module of Node at its first use: a start that needs no TLS and no zlib does not wait for them. */
export const builtin = createRequire(import.meta.url);
