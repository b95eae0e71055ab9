import { linkSync, mkdirSync, readFileSync, rmSync, rmdirSync, writeFileSync } from "node:fs";

import { UsageError } from "./usage.mjs";

/** How long another process may take to put a lock aside that nobody holds. */
const TAKING_MS = 2000;
const LOOK_MS = 10;

/** How long a lock may be there before it says who holds it, where it cannot come whole. */
const WRITING_MS = 200;

/**
 * One process at a time: two would undo each other's work.
 *
 * The lock comes whole, as a link to a file that says which process holds it, so that nobody finds it without a holder.
 * Where the file system has no links, whoever finds it empty waits for its holder to be written. One whose holder is gone is put aside under a second lock and after another look: else of two that find it the later
 * could put aside what the earlier has made in its place.
 *
 * @param {string} file that says which process
 * @param {string} what is locked, for whoever comes second
 * @throws {UsageError} another process holds it
 */
export function lock(file, what) {
  const own = `${file}.${process.pid}`;
  writeFileSync(own, ownerOf(process.pid), { mode: 0o600 });
  try {
    while (!isMade(() => make(own, file))) {
      refuse(file, what);
      putAside(file, what);
    }
  } finally {
    rmSync(own, { force: true });
  }
  process.on("exit", () => rmSync(file, { force: true }));
}

function make(own, file) {
  try {
    linkSync(own, file);
  } catch (error) {
    if (error.code === "EEXIST") throw error;
    writeFileSync(file, ownerOf(process.pid), { mode: 0o600, flag: "wx" });
  }
}

/** Puts aside what nobody holds. */
function putAside(file, what) {
  const taking = `${file}.taking`;
  const until = Date.now() + TAKING_MS;
  while (!isMade(() => mkdirSync(taking, { mode: 0o700 }))) {
    if (Date.now() > until) throw new UsageError(`The state in ${what} is being taken by another process. If there is none, remove ${taking}.`);
    wait();
  }
  try {
    refuse(file, what);
    rmSync(file, { force: true });
  } finally {
    rmdirSync(taking);
  }
}

/** @throws {UsageError} somebody holds it */
function refuse(file, what) {
  const [id, began] = readOwner(file).split(" ");
  if (Number(id) === process.pid || !isAlive(Number(id), began)) return;
  throw new UsageError(`The state in ${what} is in use by process ${id}. If that is no gateway, remove ${file}.`);
}

function readOwner(file) {
  try {
    for (const until = Date.now() + WRITING_MS; ; wait()) {
      const owner = readFileSync(file, "utf8");
      if (owner !== "" || Date.now() > until) return owner;
    }
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    return "";
  }
}

function wait() {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS);
}

/** @param {() => void} make @returns {boolean} whether it was made: it was not there before */
function isMade(make) {
  try {
    make();
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    return false;
  }
}

function isAlive(id, began) {
  try {
    if (!Number.isSafeInteger(id) || id <= 0 || !process.kill(id, 0)) return false;
  } catch (error) {
    if (error.code !== "EPERM") return false;
  }
  // The system may keep from us when another user's process began: it may be the holder then.
  const now = ownerOf(id).split(" ")[1];
  return !began || !now || now === began;
}

/** A process, and when it began where the system says that: numbers of processes come again. */
function ownerOf(id) {
  try {
    // proc(5): the 22nd field, and the second one may hold anything.
    return `${id} ${readFileSync(`/proc/${id}/stat`, "utf8").split(") ").at(-1).split(" ")[19]}`;
  } catch {
    return String(id);
  }
}
