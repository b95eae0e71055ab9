import { parseArgs } from "node:util";

import { readCatalog, searched } from "./catalog.mjs";
import { chosenFile, defaultFile, readConfigFile } from "./config-file.mjs";
import { Pins } from "./pins.mjs";
import { EXIT_OK, EXIT_USAGE } from "./process.mjs";
import { ask } from "./question.mjs";
import { addServer, removeServer, serverNames } from "./servers-file.mjs";
import { table } from "./table.mjs";
import { UsageError } from "./usage.mjs";
import { visible, visibleJson, visibleLines } from "./visible.mjs";

export const MCP_HELP = `narrows mcp: MCP servers behind the gateway.

Usage
  narrows mcp                      serve MCP on stdin and stdout, as narrows alone does
  narrows mcp list                 the servers, their state and their tools
  narrows mcp test NAME            connect to one and tell its version, tools and timings
  narrows mcp catalog [QUERY]      servers that can be added by their id
  narrows mcp add ID               add one of the catalog to the configuration file
  narrows mcp remove NAME          take one out of it again
  narrows mcp accept NAME          what changed of the tools of a server, or of one tool, to be accepted as it is now
  narrows mcp login NAME           log in at a server that asks for it, in the browser
  narrows mcp logout NAME          forget the tokens of a server
  narrows mcp explain TOOL         what the policy says of a call, and which rule decides

Options
  --config FILE           the configuration file; without it that of NARROWS_CONFIG, else ${defaultFile()}
  --json                  print JSON for programs
  --name NAME             add: another name than the id
  --key NAME=VALUE        add: the value of a variable that the server needs, as often as there are such
  --arg TEXT              add: one more argument of its command, such as a folder
  --yes                   accept: without asking
  --no-open               login: print the address and open no browser
  --agent NAME            explain: which agent would call, as agents of the configuration names it
  --sender ID             explain: on whose behalf, as users names it
  --channel NAME          explain: from where, as approval.channel_rules names it
  --arguments JSON        explain: what the call would be made with, to be scanned as well
  --approved              explain: as in a session that approved the tool before
  --start                 explain: start the servers that the tool may be of, and ask them
  -h, --help              this text

Exit codes
  0 done, 1 the server failed, 2 the command line or the configuration is no good, or a value is missing
  accept: 0 accepted, or nothing was held back, 1 the answer was no, 2 nobody was there to answer
  explain: 0 the call would be made, 3 it would wait for a person, 4 it would be refused
`;

const COMMON = { config: { type: "string" }, json: { type: "boolean" }, help: { type: "boolean", short: "h" } };
const TEXT = { type: "string" };
const LIST = { type: "string", multiple: true };
const ON = { type: "boolean" };

/** The commands with their options, and how many words they take: at least and at most. */
const COMMANDS = {
  list: { run: servers, words: [0, 0] },
  test: { run: servers, words: [1, 1], what: "the NAME of a server" },
  catalog: { run: catalog, words: [0, Infinity] },
  add: { run: add, words: [1, 1], what: "the ID of a catalog entry", options: { name: { type: "string" }, key: LIST, arg: LIST } },
  remove: { run: remove, words: [1, 1], what: "the NAME of a server" },
  accept: { run: accepting, words: [1, 1], what: "the NAME of a server or a tool", options: { yes: ON } },
  login: { run: login, words: [1, 1], what: "the NAME of a server", options: { "no-open": ON } },
  logout: { run: logout, words: [1, 1], what: "the NAME of a server" },
  explain: {
    run: explain,
    words: [1, 1],
    what: "the name of a TOOL",
    options: { agent: TEXT, sender: TEXT, channel: TEXT, arguments: TEXT, approved: ON, start: ON },
  },
};

/**
 * Runs `narrows mcp …`.
 *
 * @param {string[]} words what follows `mcp`, of which the first names a command
 * @param {{ output: import("node:tty").WriteStream, input: import("node:tty").ReadStream }} terminal
 * @returns {Promise<number>} the exit code
 * @throws {UsageError}
 */
export async function runMcp([name, ...rest], terminal) {
  if (!Object.hasOwn(COMMANDS, name)) throw new UsageError(`${JSON.stringify(name)} is no command of narrows mcp: see narrows mcp --help.`);
  const command = COMMANDS[name];
  const { values, positionals } = parsed(rest, { ...COMMON, ...command.options });
  if (values.help) {
    terminal.output.write(MCP_HELP);
    return EXIT_OK;
  }
  const [least, most] = command.words;
  if (positionals.length < least || positionals.length > most) {
    throw new UsageError(`narrows mcp ${name} takes ${command.what ?? "no more words"}: see narrows mcp --help.`);
  }
  return command.run({ ...values, words: positionals, ...terminal });
}

function parsed(args, options) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    if (!error.code?.startsWith("ERR_PARSE_ARGS")) throw error;
    throw new UsageError(`${error.message.split(". ")[0]}: see narrows mcp --help.`);
  }
}

async function servers({ words: [name], json = false, config, output }) {
  // The gateway itself is loaded for these two alone: the others edit and read files.
  const { readConfiguration } = await import("./configuration.mjs");
  const { list, test } = await import("./mcp-servers.mjs");
  const configuration = readConfiguration(config, process.env);
  const view = { json, output, progress, file: config };
  return name === undefined ? list(configuration, view) : test(configuration, name, view);
}

async function login({ words: [name], config, json = false, output, "no-open": noOpen = false }) {
  const { readConfiguration } = await import("./configuration.mjs");
  const { login } = await import("./mcp-login.mjs");
  return login(readConfiguration(config, process.env), name, { json, output, noOpen });
}

async function logout({ words: [name], config, json = false, output }) {
  const { readConfiguration } = await import("./configuration.mjs");
  const { logout } = await import("./mcp-login.mjs");
  return logout(readConfiguration(config, process.env), name, { json, output });
}

/** A person at a terminal sees what goes on; a program reads standard output alone. */
function progress({ name, state, ms }) {
  if (process.stderr.isTTY) process.stderr.write(`  ${visible(name)} ${state} after ${(ms / 1000).toFixed(1)} s\n`);
}

async function accepting({ words: [name], yes = false, json = false, config, input, output }) {
  const { accept } = await import("./accept.mjs");
  return accept(name, { config, yes, json, progress, input, output });
}

async function explain({ words: [tool], agent, sender, channel, arguments: given, approved = false, start = false, config, json, output }) {
  const { readConfiguration } = await import("./configuration.mjs");
  const { explained } = await import("./mcp-servers.mjs");
  const { exitCode, told } = await import("./explanation.mjs");
  const question = { tool, agent, sender, channel, approved_before: approved, arguments: argumentsOf(given) };
  const explanation = await explained(readConfiguration(config, process.env), question, { start, progress, file: config });
  output.write(json ? `${visibleJson(explanation, 2)}\n` : `${told(explanation, output)}\n`);
  return exitCode(explanation);
}

function argumentsOf(text) {
  if (text === undefined) return undefined;
  try {
    const value = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // told below
  }
  throw new UsageError("--arguments takes a JSON object.");
}

function catalogOf(file) {
  const folder = file === undefined ? undefined : readConfigFile(file).value.catalog_dir;
  const { entries, faults } = readCatalog(folder === undefined ? {} : { folder });
  for (const fault of faults) process.stderr.write(`narrows: ${visible(fault)}\n`);
  return entries;
}

function catalog({ words, json, config, output }) {
  const query = words.join(" ");
  const found = searched(catalogOf(chosenFile(config)), query);
  if (json) output.write(`${visibleJson(found, 2)}\n`);
  else if (found.length === 0) output.write(`No entry has ${JSON.stringify(query)}: narrows mcp catalog lists all.\n`);
  else output.write(`${table(["ID", "NEEDS", "WHAT IT DOES"], found.map(row), output)}\n\nTo add one: narrows mcp add ID\n`);
  return EXIT_OK;
}

function row({ id, description, transport, required_env }) {
  const needs = [transport.type === "stdio" ? transport.command : "a URL", ...required_env.map(({ name }) => name)];
  return [id, needs.join(", "), description];
}

async function add({ words: [id], name = id, key = [], arg = [], config, json, input, output }) {
  const chosen = chosenFile(config);
  const file = chosen ?? defaultFile();
  const entries = catalogOf(chosen);
  const entry = entries.find((known) => known.id === id);
  if (entry === undefined) {
    const near = entries.map((known) => known.id).filter((known) => known.startsWith(id.slice(0, 3)) || known.includes(id));
    throw new UsageError(`The catalog has no ${JSON.stringify(id)}${near.length > 0 ? `; near: ${near.join(", ")}` : ""}: see narrows mcp catalog.`);
  }
  if (serverNames(file).some((known) => normalised(known) === normalised(name))) {
    throw new UsageError(`${file} has a server ${JSON.stringify(name)} already: give another one with --name.`);
  }
  const { env, missing } = await variables(entry.required_env, given(key), { input, output });
  if (missing.length > 0) {
    const lines = missing.map(({ name, label = name, get_url }) => `  --key ${name}=…   ${visible(`${label}${get_url ? `, from ${get_url}` : ""}`)}`);
    process.stderr.write(`narrows: ${id} needs values that are missing. Nothing was added. Give them, or set the variables:\n${lines.join("\n")}\n`);
    return EXIT_USAGE;
  }
  const { faultsOfText } = await import("./configuration.mjs");
  addServer(file, serverOf(entry, { name, arg, env }), (text) => faultsOfText(file, text, process.env));
  if (json) output.write(`${JSON.stringify({ added: name, file, status: "ready" })}\n`);
  else output.write(`Ready: ${name} is in ${file}. To try it: narrows mcp test ${name}\n${arg.length > 0 ? "" : indented(instructions(entry, name))}`);
  if (entry.oauth === undefined) return EXIT_OK;
  if (input.isTTY && output.isTTY && !json) return login({ words: [name], config: file, output });
  process.stderr.write(`narrows: ${name} asks for a login: narrows mcp login ${name}\n`);
  return EXIT_OK;
}

/** What is still to be done, for the server under the name that it got. */
function instructions({ id, setup_instructions: text }, name) {
  if (name === id) return text;
  return text?.replaceAll(`mcp remove ${id}`, `mcp remove ${name}`).replaceAll(`mcp add ${id}`, `mcp add ${id} --name ${name}`);
}

function serverOf({ id, transport, oauth, headers }, { name, arg, env }) {
  const full = arg.length > 0 ? { ...transport, args: [...(transport.args ?? []), ...arg] } : transport;
  if (headers !== undefined) return { name, transport: full, headers: withValues(headers, env), ...(oauth && { oauth }), template_id: id };
  return { name, transport: full, ...(env.length > 0 && { env }), ...(oauth && { oauth }), template_id: id };
}

/** Header fields with the values that were given for the variables they name; others stay for the gateway to put in. */
function withValues(headers, env) {
  const values = new Map(env.filter((entry) => entry.includes("=")).map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]));
  return headers.map((field) => field.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (variable, name) => values.get(name) ?? variable));
}

/** The variables of a server: those given, those of the environment by their name alone, those that a person types. */
async function variables(required, values, { input, output }) {
  const env = [];
  const missing = [];
  for (const variable of required) {
    const { name, label = name, help, get_url, is_secret } = variable;
    if (values.has(name)) env.push(`${name}=${values.get(name)}`);
    else if (process.env[name]) env.push(name);
    else if (input.isTTY && output.isTTY) {
      const hint = [help, get_url].filter(Boolean).join(": ");
      const typed = await ask(visible(`${label}${hint ? ` (${hint})` : ""}: `), { input, output, hidden: is_secret !== false });
      if (typed) env.push(`${name}=${typed}`);
      else missing.push(variable);
    } else missing.push(variable);
  }
  for (const name of values.keys()) {
    if (!required.some((variable) => variable.name === name)) env.push(`${name}=${values.get(name)}`);
  }
  return { env, missing };
}

function given(pairs) {
  return new Map(
    pairs.map((pair) => {
      const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(pair) ?? [];
      // The value is not repeated: it may be a secret without its name.
      if (name === undefined) throw new UsageError("--key is written NAME=VALUE.");
      return [name, value];
    }),
  );
}

function remove({ words: [name], config, json, output }) {
  const file = chosenFile(config) ?? defaultFile();
  removeServer(file, name);
  // Another server of that name is not held to what this one was.
  new Pins(file).forget(name);
  output.write(json ? `${JSON.stringify({ removed: name, file })}\n` : `Removed: ${name} is no longer in ${file}.\n`);
  return EXIT_OK;
}

const normalised = (name) => String(name).toLowerCase().replace(/-/g, "_");

const indented = (text) => (text ? `\n${visibleLines(text.trim()).replace(/^/gm, "  ")}\n` : "");
