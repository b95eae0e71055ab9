import { chmodSync, closeSync, existsSync, fsyncSync, openSync, realpathSync, renameSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

import { readText } from "./config-file.mjs";
import { makeFolder } from "./folder.mjs";
import { TomlError, added, parse, removed } from "./toml.mjs";
import { UsageError, reason } from "./usage.mjs";

const ARRAY = "mcp_servers";

/** The names of the servers in a file. @param {string} file */
export function serverNames(file) {
  if (!existsSync(file)) return [];
  return edited(file, (text) => (parse(text).value[ARRAY] ?? []).map(({ name }) => name));
}

/**
 * Adds a server to a file, which is made where there is none.
 *
 * @param {string} file @param {object} server
 * @param {(text: string) => string[]} faultsOf what a gateway would say against the text with it
 * @throws {UsageError} the file stays as it was
 */
export function addServer(file, server, faultsOf) {
  const text = edited(file, (text) => added(text, ARRAY, server));
  const faults = faultsOf(text);
  if (faults.length > 0) throw new UsageError(`Nothing was added, as a gateway would refuse ${file}: ${faults.join("; ")}.`);
  makeFolder(dirname(file));
  replace(file, text);
}

/** Takes a server out of a file. @param {string} file @param {string} name @throws {UsageError} */
export function removeServer(file, name) {
  const text = edited(file, (text) => removed(text, ARRAY, "name", name));
  if (text === undefined) {
    throw new UsageError(`${file} has no [[${ARRAY}]] table with the name ${JSON.stringify(name)}.`);
  }
  replace(file, text);
}

function edited(file, edit) {
  try {
    return edit(existsSync(file) ? readText(file) : "");
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new UsageError(`${file} cannot be edited: ${error.message}.`);
  }
}

/** Puts a text in the place of a file at once: whoever reads or is interrupted finds the old one or the new one whole. */
function replace(file, text) {
  const target = existsSync(file) ? realpathSync(file) : file;
  const fresh = `${target}.${process.pid}.new`;
  const mode = existsSync(target) ? statSync(target).mode & 0o777 : 0o600;
  try {
    const handle = openSync(fresh, "w", mode);
    try {
      writeFileSync(handle, text);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    chmodSync(fresh, mode);
    renameSync(fresh, target);
  } catch (error) {
    if (existsSync(fresh)) unlinkSync(fresh);
    throw new UsageError(`${file} cannot be written: ${reason(error)}.`);
  }
}
