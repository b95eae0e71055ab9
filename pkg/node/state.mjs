import { createHash } from "node:crypto";
import { chmodSync, openSync, readFileSync, readdirSync, renameSync, rmSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";

import { makeFolder } from "./folder.mjs";
import { lock } from "./lock.mjs";
import { UsageError, reason } from "./usage.mjs";

/** A file of the state: its name is a digest of its key, which may be longer than a name. */
const NAME = /^[0-9a-f]{64}\.json$/;

/** What was kept since the files were up to date, as lines of JSON. */
const JOURNAL = "journal";

/**
 * When so many keys are late, or the journal has so many bytes, some files are brought up to date in each turn: a `step`, or a
 * sixteenth where more are late. No more than `late_characters` wait in memory, a journal has no more than `most_bytes`, and what
 * has more than `whole_characters` is a file at once.
 */
const LIMITS = { keys: 256, journal_bytes: 4 << 20, most_bytes: 64 << 20, late_characters: 16 << 20, whole_characters: 256 << 10, step: 4 };

/**
 * What a gateway keeps, in a directory: a file for each key with a piece on each line, readable by its owner alone, as pieces
 * hold credentials. A file is replaced as a whole.
 *
 * To make a file takes long, and a burst of events keeps thousands of keys. So what is kept is a line at the end of the
 * journal first, and its file is made later. Whenever the process ends, the files with the journal over them are what was kept:
 * the journal is emptied when all files are up to date and not before, and a line that is not whole counts as never written.
 */
export class State {
  #folder;
  #limits;
  #journal;
  #journalBytes = 0;
  #files = new Map();
  /** what is to be in the file of a key, undefined where it is to go */
  #late = new Map();
  #lateCharacters = 0;
  #settling = false;
  #fault;

  /**
   * @param {string} folder
   * @param {Partial<typeof LIMITS>} [limits]
   * @throws {UsageError} it cannot be used, or another process uses it
   */
  constructor(folder, limits) {
    this.#folder = folder;
    this.#limits = { ...LIMITS, ...limits };
    try {
      makeFolder(folder, 0o700);
      chmodSync(folder, 0o700);
      lock(join(folder, "lock"), folder);
      this.#journal = openSync(join(folder, JOURNAL), "a", 0o600);
    } catch (error) {
      if (error instanceof UsageError) throw error;
      throw new UsageError(`The state cannot be kept in ${folder}: ${reason(error)}.`);
    }
  }

  /** All pieces that were kept, asked for before anything is. @returns {string[]} */
  pieces() {
    const all = new Map();
    for (const name of readdirSync(this.#folder)) {
      const file = join(this.#folder, name);
      if (name.endsWith(".new")) rmSync(file); // the process ended while it was written
      if (!NAME.test(name)) continue;
      const pieces = readFileSync(file, "utf8").split("\n").slice(0, -1);
      const key = this.#keyOf(pieces, file);
      this.#files.set(key, file);
      all.set(key, pieces);
    }
    for (const line of readFileSync(join(this.#folder, JOURNAL), "utf8").split("\n").slice(0, -1)) this.#read(line);
    for (const [key, pieces] of this.#late) {
      if (pieces === undefined) all.delete(key);
      else all.set(key, pieces);
    }
    this.#settle(Infinity);
    return [...all.values()].flat();
  }

  /** @param {string} key @param {string[]} pieces none: nothing is kept under that key any more, nor below it */
  keep(key, pieces) {
    if (this.#fault) throw this.#fault;
    if (length(pieces) > this.#limits.whole_characters) {
      this.#write(key, pieces);
      this.#forget(key);
      if (this.#journalBytes > 0) this.#append({ key }); // what the journal says of it by now is out of date
    } else {
      this.#append({ key, pieces });
      this.#change(key, pieces);
    }
    const { keys, journal_bytes, most_bytes, late_characters, step } = this.#limits;
    if (this.#journalBytes > most_bytes) this.#settle(Infinity);
    while (this.#lateCharacters > late_characters) this.#settle(step);
    if (this.#late.size >= keys || this.#journalBytes >= journal_bytes) this.#settleSoon();
  }

  #append(record) {
    const line = Buffer.from(`${JSON.stringify(record)}\n`);
    for (let at = 0; at < line.length; ) at += writeSync(this.#journal, line, at);
    this.#journalBytes += line.length;
  }

  /** A line of the journal: `pieces` of a key, or that its file was right by then. */
  #read(line) {
    let record;
    try {
      record = JSON.parse(line);
    } catch {
      throw new UsageError(`${join(this.#folder, JOURNAL)} is no journal of a gateway's state: it has a line that is none of its own.`);
    }
    if (record.pieces === undefined) this.#forget(record.key);
    else this.#change(record.key, record.pieces);
  }

  #change(key, pieces) {
    if (pieces.length > 0) {
      this.#forget(key);
      this.#late.set(key, pieces);
      this.#lateCharacters += length(pieces);
      return;
    }
    const goes = (known) => known === key || known.startsWith(`${key}/`);
    for (const known of this.#late.keys()) if (goes(known)) this.#forget(known);
    for (const known of this.#files.keys()) if (goes(known)) this.#late.set(known, undefined);
  }

  /** Its file is what it is to be, or nothing is to be kept of it. */
  #forget(key) {
    this.#lateCharacters -= length(this.#late.get(key) ?? []);
    this.#late.delete(key);
  }

  #settleSoon() {
    if (this.#settling) return;
    this.#settling = true;
    setImmediate(() => {
      this.#settling = false;
      try {
        this.#settle(Math.max(this.#limits.step, this.#late.size >> 4));
        if (this.#journalBytes > 0) this.#settleSoon();
      } catch (error) {
        this.#fault = error;
      }
    }).unref();
  }

  /** Brings some files up to date, and empties the journal where all are. */
  #settle(most) {
    let left = most;
    for (const [key, pieces] of this.#late) {
      if (left-- === 0) return;
      if (pieces === undefined) this.#remove(key);
      else this.#write(key, pieces);
      this.#forget(key);
    }
    // By its name: Windows cuts no file that is open to be appended to.
    truncateSync(join(this.#folder, JOURNAL));
    this.#journalBytes = 0;
  }

  #write(key, pieces) {
    const file = this.#files.get(key) ?? join(this.#folder, `${createHash("sha256").update(key).digest("hex")}.json`);
    writeFileSync(`${file}.new`, pieces.map((piece) => `${piece}\n`).join(""), { mode: 0o600 });
    renameSync(`${file}.new`, file);
    this.#files.set(key, file);
  }

  #remove(key) {
    rmSync(this.#files.get(key));
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

const length = (pieces) => pieces.reduce((sum, piece) => sum + piece.length, 0);
