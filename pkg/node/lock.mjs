import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";

import { UsageError } from "./usage.mjs";

/**
 * One process at a time: two would undo each other's work.
 *
 * @param {string} file that says which process
 * @param {string} what is locked, for whoever comes second
 */
export function lock(file, what) {
  for (;;) {
    try {
      const made = openSync(file, "wx", 0o600);
      writeFileSync(made, String(process.pid));
      closeSync(made);
      process.on("exit", () => rmSync(file, { force: true }));
      return;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    const owner = Number(readFileSync(file, "utf8"));
    if (owner !== process.pid && isAlive(owner)) {
      throw new UsageError(`The state in ${what} is in use by process ${owner}.`);
    }
    rmSync(file, { force: true });
  }
}

function isAlive(id) {
  try {
    return Number.isSafeInteger(id) && id > 0 && process.kill(id, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}
