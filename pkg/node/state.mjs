import { createHash } from "node:crypto";
import { chmodSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { makeFolder } from "./folder.mjs";
import { lock } from "./lock.mjs";
import { UsageError } from "./usage.mjs";

/** A file of the state: its name is a digest of its key, which may be longer than a name. */
const NAME = /^[0-9a-f]{64}\.json$/;

/**
 * What a gateway keeps, in a directory: a file for each key with a piece on each line, readable by its owner alone, as
 * pieces hold credentials. A file is replaced as a whole, so that whenever the process ends, each is the old or the new
 * one.
 */
export class State {
  #folder;
  #files = new Map();

  /** @param {string} folder @throws {UsageError} it cannot be used, or another process uses it */
  constructor(folder) {
    this.#folder = folder;
    try {
      makeFolder(folder, 0o700);
      chmodSync(folder, 0o700);
      lock(join(folder, "lock"), folder);
    } catch (error) {
      if (error instanceof UsageError) throw error;
      throw new UsageError(`The state cannot be kept in ${folder}: ${error.message}.`);
    }
  }

  /** All pieces that were kept. @returns {string[]} */
  pieces() {
    const all = [];
    for (const name of readdirSync(this.#folder)) {
      const file = join(this.#folder, name);
      if (name.endsWith(".new")) rmSync(file); // the process ended while it was written
      if (!NAME.test(name)) continue;
      const pieces = readFileSync(file, "utf8").split("\n").slice(0, -1);
      this.#files.set(this.#keyOf(pieces, file), file);
      all.push(...pieces);
    }
    return all;
  }

  /** @param {string} key @param {string[]} pieces none: nothing is kept under that key any more, nor below it */
  keep(key, pieces) {
    if (pieces.length === 0) {
      for (const [known, file] of this.#files) if (known === key || known.startsWith(`${key}/`)) this.#drop(known, file);
      return;
    }
    const file = this.#files.get(key) ?? join(this.#folder, `${createHash("sha256").update(key).digest("hex")}.json`);
    writeFileSync(`${file}.new`, pieces.map((piece) => `${piece}\n`).join(""), { mode: 0o600 });
    renameSync(`${file}.new`, file);
    this.#files.set(key, file);
  }

  #drop(key, file) {
    rmSync(file);
    this.#files.delete(key);
  }

  #keyOf([piece], file) {
    try {
      return JSON.parse(piece).key;
    } catch {
      throw new UsageError(`${file} is no piece of a gateway's state.`);
    }
  }
}
