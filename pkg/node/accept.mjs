import { chosenFile } from "./config-file.mjs";
import { readConfiguration } from "./configuration.mjs";
import { withServers } from "./mcp-servers.mjs";
import { Pins } from "./pins.mjs";
import { EXIT_FAILED, EXIT_OK, EXIT_USAGE } from "./process.mjs";
import { ask } from "./question.mjs";
import { UsageError } from "./usage.mjs";
import { visible, visibleJson } from "./visible.mjs";

/**
 * `narrows mcp accept NAME`: shows what changed of the tools of a server, or of one tool, and accepts them as they are now.
 *
 * @param {string} name of a server, or of a tool as it is offered
 * @param {{ config?: string, yes: boolean, json: boolean, progress: Function, input: object, output: object }} options
 * @returns {Promise<number>} the exit code
 */
export async function accept(name, { config, yes, json, progress, input, output }) {
  const configuration = readConfiguration(config, process.env);
  if (configuration.mcp?.pins === false) throw new UsageError("`mcp.pins` is false: no tool is held back.");
  const servers = serversOf(configuration.mcp_servers ?? [], name);
  if (servers.length === 0) throw new UsageError(`The configuration has no server ${JSON.stringify(name)}: see narrows mcp list.`);
  const pins = new Pins(chosenFile(config));
  const own = { ...configuration, mcp_servers: servers };
  const kept = { snapshot: pins.pieces(), onSave: (key, pieces) => Pins.has(key) && pins.keep(key, pieces) };
  return withServers(own, servers, progress, async (gateway, seen) => {
    const isServer = servers.some((server) => server.name === name);
    const held = gateway.heldTools().filter((tool) => isServer || tool.name === name);
    const failed = [...seen.values()].filter(({ state }) => state === "failed");
    for (const { name, why } of failed) process.stderr.write(`narrows: ${visible(name)} cannot be asked for its tools: ${visible(why)}\n`);
    const decided = held.length === 0 ? false : await agreed(held, { yes, json, input, output });
    for (const tool of decided ? held : []) gateway.acceptTool(tool);
    if (json) output.write(`${visibleJson(held.map((tool) => ({ ...tool, accepted: decided })), 2)}\n`);
    else if (held.length === 0 && failed.length === 0) output.write(`Nothing of ${name} is held back.\n`);
    else if (held.length > 0) output.write(decided ? `Accepted: ${held.map((tool) => tool.name).join(", ")}.\n` : "Nothing was accepted.\n");
    if (failed.length > 0) return EXIT_FAILED;
    if (decided || held.length === 0) return EXIT_OK;
    return input.isTTY ? EXIT_FAILED : EXIT_USAGE;
  }, kept);
}

/** The server of that name, else those that may have a tool of that name. */
function serversOf(servers, name) {
  const named = servers.filter((server) => server?.name === name);
  if (named.length > 0) return named;
  return servers.filter((server) => name.startsWith(`mcp_${String(server?.name).toLowerCase().replace(/[^a-z0-9]/gu, "_")}_`));
}

async function agreed(held, { yes, json, input, output }) {
  const terminal = input.isTTY && output.isTTY;
  if (!json) output.write(`${held.map(told).join("\n\n")}\n\n`);
  if (yes) return true;
  if (json || !terminal) {
    process.stderr.write("narrows: to accept what changed, say --yes.\n");
    return false;
  }
  const answer = await ask(`Accept ${held.length === 1 ? "this tool as it is" : `these ${held.length} tools as they are`} now? [y/N] `, { input, output });
  return /^y(es)?$/i.test(answer);
}

/** What changed of a tool, for people. @param {import("../index.d.ts").HeldTool} tool */
export function told({ name, server, tool, changes }) {
  const places = changes.map(({ path, before, after }) => `  ${visible(path) || "all of it"}\n${marked(before, after)}`);
  return [`${name} (${visible(tool)} of ${visible(server)}) changed:`, ...places].join("\n");
}

/** Lines that are gone and lines that are new; those at both ends that stayed are left out. */
function marked(before, after) {
  const [gone, come] = [before, after].map((text) => (text === undefined ? [] : text.split("\n")));
  let start = 0;
  while (start < gone.length && start < come.length && gone[start] === come[start]) start += 1;
  let end = 0;
  while (end < gone.length - start && end < come.length - start && gone.at(-1 - end) === come.at(-1 - end)) end += 1;
  const lines = (list, mark) => list.slice(start, list.length - end).map((line) => `    ${mark} ${visible(line)}`);
  return [...lines(gone, "-"), ...lines(come, "+")].join("\n");
}
