import { readFileSync } from "node:fs";
import { addTable, initSync, readToml, removeTable } from "../dist/narrows_cli.js";

let isReady = false;

/** The module is made when the first file is read: most starts of the command read none. */
function ready() {
  if (!isReady) initSync({ module: readFileSync(new URL("../dist/narrows_cli_bg.wasm", import.meta.url)) });
  isReady = true;
}

/**
 * @typedef {object} Fault what is wrong with a file, and where; both counted from 1
 * @property {string} message
 * @property {number} line
 * @property {number} column
 */

/** A file that is no TOML, with every fault of it. */
export class TomlError extends Error {
  /** @param {Fault[]} faults */
  constructor(faults) {
    super(faults.map(({ message, line, column }) => `line ${line}, column ${column}: ${message}`).join("; "));
    this.faults = faults;
  }
}

/**
 * Reads a TOML text.
 *
 * @param {string} text
 * @returns {{ value: object, places: Map<string, { line: number, column: number }> }} the places by the paths of keys
 * @throws {TomlError}
 */
export function parse(text) {
  const { config, places } = answer(() => readToml(text));
  return { value: config, places: new Map(places.map(([path, line, column]) => [path, { line, column }])) };
}

/** The text with one more table at the end of an array of tables. @param {string} text @param {string} array @param {object} table */
export function added(text, array, table) {
  return answer(() => addTable(text, array, JSON.stringify(table))).text;
}

/** The text without the table that has this value under `key`; undefined where there is none. */
export function removed(text, array, key, value) {
  return answer(() => removeTable(text, array, key, value)).text;
}

function answer(call) {
  ready();
  const given = JSON.parse(call());
  if (given.faults) throw new TomlError(given.faults);
  return given;
}
