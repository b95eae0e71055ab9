import { createHash } from "node:crypto";
import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

import { configurationFolder } from "./config-file.mjs";
import { makeFolder } from "./folder.mjs";
import { replaceFile } from "./whole-file.mjs";

/** How long a gateway may take to replace a record that others want too. */
const LOCK_MS = 30_000;
const LOOK_MS = 50;

/**
 * The tokens for MCP servers: a file for each, readable by its owner alone, which all gateways of this user share. A file is
 * replaced as a whole. A refresh token is often good for one use, so one gateway at a time gets a record to be replaced.
 */
export class TokenStore {
  #folder;
  #locks = new Map();

  /** @param {string} [folder] */
  constructor(folder = join(configurationFolder(), "tokens")) {
    this.#folder = folder;
  }

  /** @param {string} server @param {string} url @param {{ refresh?: boolean }} [options] whether it is going to be replaced */
  async load(server, url, { refresh = false } = {}) {
    const file = this.#file(server, url);
    if (refresh) await this.#lock(file);
    try {
      return readFileSync(file, "utf8");
    } catch (error) {
      if (error.code === "ENOENT") return undefined;
      throw error;
    }
  }

  /** @param {string} server @param {string} url @param {string} record */
  save(server, url, record) {
    const file = this.#file(server, url);
    this.#prepare();
    try {
      replaceFile(file, record);
    } finally {
      this.#unlock(file);
    }
  }

  /** Forgets the tokens of a server. @returns {boolean} whether there were any */
  remove(server, url) {
    try {
      rmSync(this.#file(server, url));
      return true;
    } catch (error) {
      if (error.code === "ENOENT") return false;
      throw error;
    }
  }

  #file(server, url) {
    return join(this.#folder, `${createHash("sha256").update(JSON.stringify([server, url])).digest("hex")}.json`);
  }

  #prepare() {
    makeFolder(this.#folder, 0o700);
    chmodSync(this.#folder, 0o700);
  }

  /** Waits until no other gateway has it. One that ended without giving it back had it long enough. */
  async #lock(file) {
    if (this.#locks.has(file)) return;
    this.#prepare();
    const lock = `${file}.lock`;
    for (;;) {
      try {
        writeFileSync(lock, String(process.pid), { mode: 0o600, flag: "wx" });
        break;
      } catch (error) {
        if (error.code !== "EEXIST") throw error;
      }
      if (age(lock) > LOCK_MS) rmSync(lock, { force: true });
      else await setTimeout(LOOK_MS);
    }
    const release = () => rmSync(lock, { force: true });
    process.on("exit", release);
    this.#locks.set(file, release);
  }

  #unlock(file) {
    const release = this.#locks.get(file);
    if (release === undefined) return;
    this.#locks.delete(file);
    process.off("exit", release);
    release();
  }
}

function age(file) {
  try {
    return Date.now() - statSync(file).mtimeMs;
  } catch {
    return 0; // given back meanwhile
  }
}
