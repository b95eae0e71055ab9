import { UsageError } from "./usage.mjs";

/** Options of the command that take a value, with the name under which it is kept. */
const VALUES = { "--config": "config", "--trace": "trace", "--state": "state", "--host": "host", "--port": "port", "--agent": "agent", "--sender": "sender", "--channel": "channel", "--out": "out", "--gateway": "gateway" };

/** What their values are called. */
const PLACEHOLDERS = {
  "--state": "PATH",
  "--host": "ADDRESS",
  "--port": "NUMBER",
  "--agent": "NAME",
  "--sender": "ID",
  "--channel": "NAME",
  "--out": "FOLDER",
  "--gateway": "ADDRESS",
};

/** Options that take none. */
const SWITCHES = { "--help": "help", "-h": "help", "--version": "version", "-V": "version", "--insecure": "insecure", "--access-log": "accessLog", "--no-open": "noOpen" };

/** The commands beside the one that is meant by none, with the options that they take. */
const COMMANDS = {
  stdio: ["config", "trace", "state", "agent", "sender", "channel"],
  serve: ["config", "trace", "state", "host", "port", "insecure", "accessLog"],
  directory: ["config", "trace", "state", "host", "port", "insecure", "accessLog"],
  page: ["port", "noOpen", "out", "gateway"],
  demo: [],
};

/** The words for the command that serves MCP on its standard input and output. */
const STDIO = "narrows on stdio: over HTTP the entry of a token says it";

/** Options that only some commands take, with the words for those. */
const OWNERS = {
  host: "narrows serve and narrows directory",
  port: "narrows serve, narrows directory and narrows page",
  insecure: "narrows serve and narrows directory",
  accessLog: "narrows serve and narrows directory",
  agent: STDIO,
  sender: STDIO,
  channel: STDIO,
  noOpen: "narrows page",
  out: "narrows page",
  gateway: "narrows page",
};

/**
 * Reads a command line.
 *
 * @param {string[]} words without the program's own name
 * @returns {{ command: "stdio" | "serve" | "directory" | "page" | "demo", help?: true, version?: true, config?: string, trace?: string,
 *   state?: string, agent?: string, sender?: string, channel?: string, host?: string, port?: number, insecure?: true, accessLog?: true, noOpen?: true,
 *   out?: string, gateway?: string }}
 * @throws {UsageError}
 */
export function parseArguments(words) {
  const parsed = { command: undefined };
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i];
    const [name, ...rest] = word.split("=");
    if (Object.hasOwn(VALUES, name)) {
      const value = rest.length > 0 ? rest.join("=") : words[(i += 1)];
      if (!value) throw new UsageError(`${name} needs a value: ${name} ${PLACEHOLDERS[name] ?? "FILE"}.`);
      if (parsed[VALUES[name]] !== undefined) throw new UsageError(`${name} is given twice.`);
      parsed[VALUES[name]] = value;
    } else if (Object.hasOwn(SWITCHES, word)) {
      parsed[SWITCHES[word]] = true;
    } else if (word === "mcp" && parsed.command === undefined) {
      parsed.command = "stdio";
    } else if (word !== "stdio" && Object.hasOwn(COMMANDS, word) && parsed.command === undefined) {
      parsed.command = word;
    } else {
      throw new UsageError(`Unknown argument ${JSON.stringify(word)}: see narrows --help.`);
    }
  }
  parsed.command ??= "stdio";
  if (parsed.port !== undefined) parsed.port = port(parsed.port);
  for (const name of ["config", "trace", "state", "host", "port", "insecure", "accessLog", "noOpen", "out", "gateway", "agent", "sender", "channel"]) {
    if (parsed[name] === undefined || COMMANDS[parsed.command].includes(name)) continue;
    if (parsed.command === "demo") throw new UsageError("The demo takes no options.");
    const option = `--${name.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)}`;
    throw new UsageError(`${option} ${OWNERS[name] ? `belongs to ${OWNERS[name]}` : "is none of narrows page"}.`);
  }
  return parsed;
}

function port(text) {
  const number = Number(text);
  if (/^\d+$/.test(text) && number <= 65535) return number;
  throw new UsageError(`--port must be from 0 to 65535, not ${JSON.stringify(text)}.`);
}
