import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

import { configurationFolder, readText } from "./config-file.mjs";
import { TomlError, parse } from "./toml.mjs";
import { UsageError, reason } from "./usage.mjs";

const BUILT_IN = fileURLToPath(new URL("../catalog", import.meta.url));

const MEMBERS = new Set([
  "id", "name", "description", "category", "icon", "tags", "transport", "headers", "required_env", "oauth", "health_check",
  "setup_instructions", "i18n",
]);
const HEALTH_MEMBERS = new Set(["interval_secs", "unhealthy_threshold", "setup_instructions"]);
const ENV_MEMBERS = new Set(["name", "label", "help", "is_secret", "get_url"]);

/**
 * @typedef {object} Entry a server that is known by an id
 * @property {string} id
 * @property {string} name
 * @property {string} description
 * @property {string} category
 * @property {string[]} tags
 * @property {object} transport as in `mcp_servers`
 * @property {{ name: string, label?: string, help?: string, is_secret?: boolean, get_url?: string }[]} required_env
 * @property {string[]} [headers] of a server at a URL; `${NAME}` stands for a variable of `required_env`
 * @property {object} [oauth]
 * @property {{ interval_secs?: number, unhealthy_threshold?: number }} [health_check]
 * @property {string} [setup_instructions]
 */

/**
 * The catalog: the entries that come with the package, and those in the user's own folder, which win.
 *
 * @param {{ folder?: string, language?: string }} options `folder` is `catalog_dir` of the configuration
 * @returns {{ entries: Entry[], faults: string[] }} by id; a file that is no entry is reported and left out
 */
export function readCatalog({ folder = join(configurationFolder(), "catalog"), language = userLanguage() } = {}) {
  const entries = new Map();
  const faults = [];
  for (const place of [BUILT_IN, folder]) {
    for (const file of tomlFiles(place)) {
      try {
        const entry = localised(checked(parse(readText(file)).value, basename(file, ".toml")), language);
        entries.set(entry.id, entry);
      } catch (error) {
        if (!(error instanceof TomlError || error instanceof UsageError)) throw error;
        faults.push(`${file} is left out: ${error.message}`);
      }
    }
  }
  return { entries: [...entries.values()].sort((a, b) => (a.id < b.id ? -1 : 1)), faults };
}

/**
 * The entry of an id, without reading the others; undefined where there is none that is any good.
 *
 * @param {string} id @param {string} [folder] `catalog_dir` of the configuration
 * @returns {Entry | undefined}
 */
export function catalogEntry(id, folder = join(configurationFolder(), "catalog")) {
  if (!/^[\w-]+$/.test(id)) return undefined;
  for (const place of [folder, BUILT_IN]) {
    const file = join(place, `${id}.toml`);
    if (!existsSync(file)) continue;
    try {
      return checked(parse(readText(file)).value, id);
    } catch (error) {
      if (!(error instanceof TomlError || error instanceof UsageError)) throw error;
    }
  }
  return undefined;
}

function tomlFiles(folder) {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".toml"))
      .sort()
      .map((name) => join(folder, name));
  } catch (error) {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
    throw new UsageError(`The catalog ${folder} cannot be read: ${reason(error)}.`);
  }
}

function checked(entry, id) {
  const faults = [];
  const unknown = (table, known, at) => {
    for (const key of Object.keys(table ?? {})) if (!known.has(key)) faults.push(`\`${at}${key}\` is not a known key`);
  };
  unknown(entry, MEMBERS, "");
  unknown(entry.health_check, HEALTH_MEMBERS, "health_check.");
  for (const key of ["interval_secs", "unhealthy_threshold"]) {
    const value = entry.health_check?.[key];
    if (value !== undefined && !(Number.isInteger(value) && value >= 1)) faults.push(`\`health_check.${key}\` must be a whole number of at least 1`);
  }
  const required = entry.required_env ?? [];
  if (!Array.isArray(required)) faults.push("`required_env` must be tables, each headed [[required_env]]");
  else required.forEach((variable, i) => unknown(variable, ENV_MEMBERS, `required_env[${i}].`));
  for (const key of ["id", "name", "description"]) if (typeof entry[key] !== "string") faults.push(`\`${key}\` is missing: a string is needed`);
  if (typeof entry.id === "string" && entry.id !== id) faults.push(`\`id\` must be the file's name, ${id}`);
  if (typeof entry.transport !== "object") faults.push("`transport` is missing: a table is needed");
  const headers = entry.headers ?? [];
  if (!Array.isArray(headers) || headers.some((field) => typeof field !== "string")) faults.push("`headers` must be a list of strings");
  else if (entry.transport?.url !== undefined && Array.isArray(required)) {
    // The environment of a server at a URL is not ours to set.
    const unused = required.filter(({ name }) => !headers.some((field) => field.includes(`\${${name}}`)));
    for (const { name } of unused) faults.push(`\`required_env\` has ${name}, which none of the \`headers\` names as \${${name}}`);
  }
  if (faults.length > 0) throw new UsageError(faults.join("; "));
  // Some entries have their instructions below the table that came before them.
  const { setup_instructions: inside, ...health_check } = entry.health_check ?? {};
  const setup_instructions = entry.setup_instructions ?? inside;
  return { category: "other", tags: [], ...entry, required_env: required, health_check, setup_instructions };
}

function localised({ i18n = {}, ...entry }, language) {
  return { ...entry, ...(i18n[language] ?? {}) };
}

function userLanguage() {
  return (process.env.LC_ALL || process.env.LC_MESSAGES || process.env.LANG || "en").slice(0, 2);
}

/** The entries that a query names: each of its words stands in id, name, description, category or tags. */
export function searched(entries, query = "") {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return entries.filter((entry) => {
    const text = [entry.id, entry.name, entry.description, entry.category, ...entry.tags].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
