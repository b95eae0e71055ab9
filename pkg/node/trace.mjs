import { fchmodSync, openSync, writeSync } from "node:fs";

import { UsageError, reason } from "./usage.mjs";

/**
 * Opens a file for the lines of a trace, readable by its owner alone: it holds whole conversations.
 * Lines are written at once, so that a trace ends with what happened last, however the process ended.
 *
 * @param {string} file
 * @returns {(line: string) => void}
 * @throws {UsageError}
 */
export function openTrace(file) {
  let descriptor;
  try {
    descriptor = openSync(file, "w", 0o600);
    fchmodSync(descriptor, 0o600); // the file may have been there, open to more
  } catch (error) {
    throw new UsageError(`The trace cannot be written to ${file}: ${reason(error)}.`);
  }
  return (line) => writeSync(descriptor, `${line}\n`);
}
