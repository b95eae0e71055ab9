import { GatewayError } from "./error.mjs";

/** What a directory of the embedder's can do: the first of its functions counts. */
const STORES = ["query", "filter", "list"];

/** What a directory of the embedder's can do. @param {object} [directory] @returns {string | undefined} */
export function storeOf(directory) {
  if (directory === undefined) return undefined;
  const store = STORES.find((name) => typeof directory?.[name] === "function");
  if (store === undefined) throw new GatewayError("misuse", "`directory` must have a function `query`, `filter` or `list`");
  return store;
}

/** Looks into a directory of the embedder's, as `GatewayOptions.directory` describes it. */
export class Lookups {
  #directory;
  #store;
  #input;
  #complain;

  /**
   * @param {object | undefined} directory
   * @param {(input: object) => void} input tells the core
   * @param {(error: unknown) => void} complain
   */
  constructor(directory, input, complain) {
    this.#directory = directory;
    this.#store = storeOf(directory);
    this.#input = input;
    this.#complain = complain;
  }

  /** The output `lookup`. */
  async look({ lookup, filter, limit, cursor }) {
    try {
      const found = await this.#find({ filter, limit, cursor });
      this.#input({ type: "found", lookup, text: JSON.stringify(found ?? null) });
    } catch (error) {
      const bad_cursor = error?.code === "bad_cursor";
      if (!bad_cursor) this.#complain(error);
      // Whoever asked is told no more of a fault of the embedder's: it may name what is nobody's business.
      const detail = bad_cursor ? String(error.message) : "the directory's store failed";
      this.#input({ type: "lookup_failed", lookup, bad_cursor, detail });
    }
  }

  #find(asked) {
    switch (this.#store) {
      case "query":
        return this.#directory.query(asked);
      case "filter":
        return this.#directory.filter(asked.filter ?? "");
      case "list":
        return this.#directory.list();
    }
    throw new Error("this host has no directory");
  }
}
