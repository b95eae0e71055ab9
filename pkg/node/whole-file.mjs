import { randomUUID } from "node:crypto";
import { renameSync, rmSync, writeFileSync } from "node:fs";

/**
 * Puts a text in the place of a file that its owner alone reads, also where other processes do the same: whoever reads it
 * finds the old text or the new one, whole.
 *
 * @param {string} file
 * @param {string} text
 */
export function replaceFile(file, text) {
  const fresh = `${file}.${randomUUID()}.new`;
  try {
    writeFileSync(fresh, text, { mode: 0o600, flag: "wx" });
    renameSync(fresh, file);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}
