import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it, where they are missing. `mkdir` with `recursive` tries for ever where a file system says
 * of a folder that is there that it is not, as `/proc` does.
 *
 * @param {string} folder
 * @param {number} [mode] of those that are made
 * @throws {NodeJS.ErrnoException}
 */
export function makeFolder(folder, mode) {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (isFolder(folder)) return;
    if (error.code !== "ENOENT" || dirname(folder) === folder || isFolder(dirname(folder))) throw error;
    makeFolder(dirname(folder), mode);
    makeFolder(folder, mode);
  }
}

function isFolder(path) {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
