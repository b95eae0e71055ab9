import { UsageError } from "./usage.mjs";

/** Options of the command that take a value, with the name under which it is kept. */
const VALUES = { "--config": "config", "--trace": "trace" };

/** Options that take none. */
const SWITCHES = { "--help": "help", "-h": "help", "--version": "version", "-V": "version" };

/**
 * Reads a command line.
 *
 * @param {string[]} words without the program's own name
 * @returns {{ command: "stdio" | "demo", help?: true, version?: true, config?: string, trace?: string }}
 * @throws {UsageError}
 */
export function parseArguments(words) {
  const parsed = { command: undefined };
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i];
    const [name, ...rest] = word.split("=");
    if (Object.hasOwn(VALUES, name)) {
      const value = rest.length > 0 ? rest.join("=") : words[(i += 1)];
      if (!value) throw new UsageError(`${name} needs a file: ${name} FILE.`);
      if (parsed[VALUES[name]] !== undefined) throw new UsageError(`${name} is given twice.`);
      parsed[VALUES[name]] = value;
    } else if (Object.hasOwn(SWITCHES, word)) {
      parsed[SWITCHES[word]] = true;
    } else if (word === "demo" && parsed.command === undefined) {
      parsed.command = word;
    } else {
      throw new UsageError(`Unknown argument ${JSON.stringify(word)}: see narrows --help.`);
    }
  }
  parsed.command ??= "stdio";
  if (parsed.command === "demo" && (parsed.config !== undefined || parsed.trace !== undefined)) {
    throw new UsageError("The demo takes no options.");
  }
  return parsed;
}
