import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

import { fromMcpJson, isMcpJson } from "./mcp-json.mjs";
import { TomlError, parse } from "./toml.mjs";
import { UsageError, reason } from "./usage.mjs";

const { env: environment, platform } = process;

/** The folder of a user's configuration files. */
export function configurationFolder() {
  if (platform === "win32" && environment.APPDATA) return join(environment.APPDATA, "narrows");
  return join(environment.XDG_CONFIG_HOME || join(homedir(), ".config"), "narrows");
}

/** The file that is meant where none is named. */
export function defaultFile() {
  return join(configurationFolder(), "narrows.toml");
}

/**
 * The configuration file that applies: the one named, else that of `NARROWS_CONFIG`, else the user's own if it is
 * there. Never one in the working directory: a folder that was fetched from somewhere must not start processes.
 *
 * @param {string | undefined} named
 * @returns {string | undefined}
 */
export function chosenFile(named) {
  if (named ?? environment.NARROWS_CONFIG) return named ?? environment.NARROWS_CONFIG;
  return existsSync(defaultFile()) ? defaultFile() : undefined;
}

/**
 * Reads a configuration file: TOML, JSON of the same shape, or an `mcp.json` of another host.
 *
 * @param {string} file
 * @returns {{ value: object, warnings: string[], faults: string[] }} `warnings`: what of an `mcp.json` has no meaning
 * here; `faults`: keys that are given twice, which only the text of a JSON file shows
 * @throws {UsageError} naming every fault of the text with its place
 */
export function readConfigFile(file) {
  return readConfigText(file, readText(file));
}

/** The same of a text that is that of the file, or is to be. @param {string} file @param {string} text */
export function readConfigText(file, text) {
  const isJson = /\.jsonc?$/.test(file) || /^\s*\{/.test(text);
  places = new Map();
  if (!isJson) return { value: fromToml(file, text), warnings: [], faults: [] };
  const bare = withoutComments(text);
  const value = fromJson(file, bare);
  const faults = repeatedKeys(bare).map((path) => `\`${path}\` is given twice`);
  if (!isMcpJson(value)) return { value, warnings: [], faults };
  const read = fromMcpJson(value, environment);
  return { ...read, faults: [...faults, ...read.faults] };
}

/** The text of a file, without a byte order mark. @param {string} file @throws {UsageError} */
export function readText(file) {
  try {
    return readFileSync(file, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${reason(error)}.`);
  }
}

function fromToml(file, text) {
  try {
    const parsed = parse(text);
    places = parsed.places;
    return parsed.value;
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new UsageError(`${file} is not TOML: ${error.message}.`);
  }
}

/** Comments and commas before a closing bracket, which editors allow in such files, as blanks: every place stays. */
function withoutComments(text) {
  const blank = (pattern) => (text) => text.replace(pattern, (found) => (found.startsWith('"') ? found : found.replace(/[^\n]/g, " ")));
  const comments = blank(/"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[^]*?\*\//g);
  const commas = blank(/"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])/g);
  return commas(comments(text));
}

function fromJson(file, text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${file} is not JSON: ${error.message}.`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError(`${file} must hold one JSON object.`);
  }
  return value;
}

/** The paths of keys that an object of a JSON text has twice: a parser takes the last and says nothing. @param {string} text */
export function repeatedKeys(text) {
  const found = [];
  const open = [];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],]/g)) {
    const inner = open.at(-1);
    if (token === "{") open.push({ names: new Set(), name: undefined });
    else if (token === "[") open.push({ index: 0 });
    else if (token === "}" || token === "]") open.pop();
    else if (token === ",") {
      if (inner.names) inner.name = undefined;
      else inner.index += 1;
    } else if (inner?.names && inner.name === undefined) {
      inner.name = JSON.parse(token);
      if (inner.names.has(inner.name)) found.push(open.map(step).join("").slice(1));
      inner.names.add(inner.name);
    }
  }
  return found;
}

const step = ({ names, name, index }) => (names ? `.${name}` : `[${index}]`);

/** Where the keys of the file stand that was read last. */
let places = new Map();

/** What the core says of a configuration, with the places of the keys that it names. @param {string} message */
export function explained(message) {
  // A suggestion is no key of the file's.
  return message.replace(/(did you mean )?`([^`]+)`/g, (quoted, suggestion, path) => {
    const place = places.get(path);
    return place && !suggestion ? `${quoted} (line ${place.line}, column ${place.column})` : quoted;
  });
}
