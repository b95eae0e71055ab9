import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";

import { makeFolder } from "./folder.mjs";
import { lock } from "./lock.mjs";
import { UsageError, reason } from "./usage.mjs";

/** The file is written anew when it has grown by so much more than what is kept in it. */
const WASTE_BYTES = 8 << 20;

/**
 * What a gateway keeps, in one file of JSON lines: each says what is kept under a key from there on. A line is added at
 * the end and none is changed, so that whenever the process ends, all lines but the last are whole, and one that is not
 * counts as never written. The file is readable by its owner alone, as pieces hold credentials.
 */
export class StateFile {
  #file;
  #open;
  #bytes;
  #kept;

  /** @param {string} file @throws {UsageError} it cannot be used, or another process uses it */
  constructor(file) {
    this.#file = file;
    try {
      makeFolder(dirname(file), 0o700);
      lock(`${file}.lock`, file);
      this.#compact();
    } catch (error) {
      if (error instanceof UsageError) throw error;
      throw new UsageError(`The state cannot be kept in ${file}: ${reason(error)}.`);
    }
  }

  /** All pieces that were kept. @returns {string[]} */
  pieces() {
    return [...this.#read().values()].flat();
  }

  /** @param {string} key @param {string[]} pieces none: nothing is kept under that key any more, nor below it */
  keep(key, pieces) {
    this.#bytes += this.#write(this.#open, key, pieces);
    if (this.#bytes > 2 * this.#kept + WASTE_BYTES) this.#compact();
  }

  /** Writes what is kept and nothing else, into a new file that takes the old one's place. */
  #compact() {
    const kept = this.#read();
    const file = openSync(`${this.#file}.new`, "w", 0o600);
    let bytes = 0;
    for (const [key, pieces] of kept) bytes += this.#write(file, key, pieces);
    fsyncSync(file);
    renameSync(`${this.#file}.new`, this.#file);
    if (this.#open !== undefined) closeSync(this.#open);
    [this.#open, this.#bytes, this.#kept] = [file, bytes, bytes];
  }

  #write(file, key, pieces) {
    const line = Buffer.from(`${JSON.stringify({ key, pieces })}\n`);
    for (let at = 0; at < line.length; ) at += writeSync(file, line, at);
    return line.length;
  }

  #read() {
    const kept = new Map();
    let text;
    try {
      text = readFileSync(this.#file, "utf8");
    } catch (error) {
      if (error.code === "ENOENT") return kept;
      throw error;
    }
    for (const line of text.split("\n").slice(0, -1)) {
      const { key, pieces } = this.#parsed(line);
      if (pieces.length > 0) kept.set(key, pieces);
      else for (const known of kept.keys()) if (known === key || known.startsWith(`${key}/`)) kept.delete(known);
    }
    return kept;
  }

  #parsed(line) {
    try {
      const { key, pieces } = JSON.parse(line);
      if (typeof key === "string" && Array.isArray(pieces)) return { key, pieces };
    } catch {
      // told below
    }
    throw new UsageError(`${this.#file} is no state of a gateway: it has a line that is none of its own.`);
  }
}
