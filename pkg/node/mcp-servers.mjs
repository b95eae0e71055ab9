import { Gateway } from "../node.mjs";
import { chosenFile } from "./config-file.mjs";
import { Core } from "./core.mjs";
import { Pins } from "./pins.mjs";
import { EXIT_FAILED, EXIT_OK, genesis } from "./process.mjs";
import { login } from "./mcp-login.mjs";
import { table } from "./table.mjs";
import { TokenStore } from "./token-store.mjs";
import { UsageError } from "./usage.mjs";
import { visible, visibleJson } from "./visible.mjs";

/**
 * @typedef {object} Seen what became of one server
 * @property {string} name
 * @property {object} transport
 * @property {string} [template_id]
 * @property {"ready" | "login" | "failed"} state `login`: somebody has to log in
 * @property {{ interval_secs?: number, unhealthy_threshold?: number }} [health_check] how it is asked whether it is alive
 * @property {"healthy" | "unhealthy"} [health] of a server that is asked whether it is alive, in the list: whether it answered
 * @property {number} ms from the start to this state
 * @property {boolean} [modern] whether it speaks MCP 2026-07-28, without a handshake
 * @property {{ name: string, description: string }[]} tools as they are offered
 * @property {string[]} held the names of those that are held back because they changed
 * @property {string} [why] why it failed
 * @property {string} [stderr] the last it wrote to its standard error
 */

/** `narrows mcp list`: all servers, started side by side; those with a health check are asked whether they are alive. */
export async function list(configuration, { json, output, progress, file }) {
  const seen = await started(configuration, progress, file, true);
  if (json) output.write(`${visibleJson(seen.map(summary), 2)}\n`);
  else if (seen.length === 0) output.write("No servers. To add one: narrows mcp catalog, then narrows mcp add ID\n");
  else output.write(`${table(["NAME", "TEMPLATE", "TRANSPORT", "TOOLS", "HEALTH", "STATE"], seen.map(row), output)}\n`);
  return EXIT_OK;
}

/**
 * What the policy would say of a call.
 *
 * @param {object} configuration
 * @param {object} question as `Core.explain` takes it
 * @param {{ start: boolean, progress: (server: Seen) => void, file?: string }} options `start`: the servers that the tool may
 * be of are started and asked for their tools; `file`: whose configuration it is
 * @returns {Promise<import("../index.d.ts").Explanation>}
 */
export async function explained(configuration, question, { start, progress, file }) {
  const core = new Core(genesis(), configuration);
  const known = JSON.parse(core.explain(JSON.stringify(question)));
  core.dispose();
  const names = known.answers.map(({ server }) => server);
  const servers = (configuration.mcp_servers ?? []).filter(({ name }) => names.includes(name));
  if (!start || servers.length === 0) return known;
  const { tool, approved_before: approvedBefore, ...rest } = question;
  const whole = { ...configuration, mcp_servers: servers };
  return withServers(whole, servers, progress, (gateway) => gateway.explain(tool, { ...rest, approvedBefore }), pinned(file));
}

/** `narrows mcp test NAME`: one server, with its tools or with the cause. */
export async function test(configuration, name, { json, output, progress, file }) {
  const servers = (configuration.mcp_servers ?? []).filter((server) => server?.name === name);
  if (servers.length === 0) throw new UsageError(`The configuration has no server ${JSON.stringify(name)}: see narrows mcp list.`);
  let [server] = await started({ ...configuration, mcp_servers: servers }, progress, file);
  if (server.state === "login" && process.stdin.isTTY && process.stderr.isTTY) {
    const code = await login(configuration, name, { json: false, output: process.stderr, noOpen: false });
    if (code === EXIT_OK) [server] = await started({ ...configuration, mcp_servers: servers }, progress, file);
  }
  if (json) output.write(`${visibleJson(server, 2)}\n`);
  else output.write(`${told(server)}\n`);
  return server.state === "ready" ? EXIT_OK : EXIT_FAILED;
}

/** Starts the servers of a configuration. @returns {Promise<Seen[]>} what became of them, in the order of the configuration */
async function started(configuration, progress, file, ask = false) {
  const servers = configuration.mcp_servers ?? [];
  // Only what concerns the servers: a fault elsewhere is the gateway's to tell.
  const { network, mcp } = configuration;
  const asked = servers.map((server) => (ask && server.health_check ? { ...server, health_check: AT_ONCE } : server));
  const config = { mcp_servers: asked, ...(network && { network }), ...(mcp && { mcp }) };
  return withServers(config, servers, progress, async (gateway, seen) => {
    if (ask) await alive([...seen.values()]);
    const tools = await gateway.tools();
    const held = gateway.heldTools();
    for (const entry of seen.values()) {
      entry.tools = toolsOf(entry.name, tools);
      entry.held = held.filter(({ server }) => server === entry.name).map(({ name }) => name);
    }
    return servers.map(({ name }) => seen.get(name));
  }, pinned(file));
}

/** How many characters of a description stand beside a tool. */
const LINE = 120;

/** How a server is checked that is to be asked now: a question after a second, which is one too many after another. */
const AT_ONCE = { interval_secs: 1, unhealthy_threshold: 1 };
const ANSWERED_MS = 2_200;

/** Waits until those that have a health check were asked, and had the time to answer. @param {Seen[]} seen */
async function alive(seen) {
  const checked = seen.filter(({ health_check, state }) => health_check && state === "ready");
  if (checked.length === 0) return;
  await new Promise((resolve) => setTimeout(resolve, ANSWERED_MS));
  for (const entry of checked) entry.health ??= "healthy";
}

/**
 * Starts servers in a gateway of their own, waits until each is ready or has failed, and ends them after what is done then.
 *
 * @param {object} config of the gateway
 * @param {object[]} servers those of the configuration
 * @param {(server: Seen) => void} progress is told of each as it comes
 * @param {(gateway: Gateway, seen: Map<string, Seen>) => unknown} use
 * @param {{ snapshot?: string[], onSave?: Function }} kept what is known of their tools
 */
export async function withServers(config, servers, progress, use, { snapshot = [], onSave } = {}) {
  const began = performance.now();
  const seen = new Map();
  let settled;
  const all = new Promise((resolve) => (settled = resolve));
  const onNotice = ({ event, fields }) => {
    if (event === "link_ping_missed" && seen.has(fields.server)) seen.get(fields.server).health = "unhealthy";
    const state = { link_ready: "ready", link_lost: "failed", authorization_needed: "login" }[event];
    const server = servers.find(({ name }) => name === fields.server);
    if (state === undefined || server === undefined || seen.has(server.name)) return;
    const { name, transport, template_id, health_check } = server;
    const { modern, why, stderr } = fields;
    const { protocol_version, server_name, server_version } = fields;
    const ms = Math.round(performance.now() - began);
    const entry = { name, ...(template_id && { template_id }), transport, ...(health_check && { health_check }), state, ms, modern, protocol_version, server_name, server_version, tools: [], held: [], why, stderr };
    seen.set(name, entry);
    progress(entry);
    if (seen.size === servers.length) settled();
  };
  const kept = snapshot.length > 0 ? { snapshot, onSave } : { onSave };
  const gateway = await Gateway.open({ config, onNotice, tokens: new TokenStore(), ...kept });
  try {
    if (servers.length > 0) await all;
    return await use(gateway, seen);
  } finally {
    gateway.dispose();
  }
}

/** What is known of the tools of a file's servers; what these commands see is not kept. */
const pinned = (file) => ({ snapshot: new Pins(chosenFile(file)).pieces() });

function toolsOf(server, tools) {
  const mark = `[MCP:${server}]`;
  return tools
    .filter(({ description }) => `${description} `.startsWith(`${mark} `))
    .map(({ name, description }) => ({ name, description: description.slice(mark.length + 1) }));
}

const summary = ({ tools, ...server }) => ({ ...server, tools: tools.length });

function row({ name, template_id = "", transport, health_check, health, state, ms, tools, held, why }) {
  const where = transport.type === "stdio" ? transport.command : transport.url;
  const how = { ready: `ready, ${seconds(ms)}`, login: `login needed: narrows mcp login ${name}`, failed: `failed: ${why}` }[state];
  const count = held.length > 0 ? `${tools.length}, ${held.length} held back` : String(tools.length);
  return [name, template_id, `${transport.type} ${where}`, state === "ready" ? count : "", healthy(health, health_check), how];
}

/** Whether a server is alive, and how often a gateway asks. */
function healthy(health, check) {
  if (check === undefined) return "";
  const often = `asked each ${check.interval_secs ?? 60} s`;
  return health === undefined ? often : `${health}, ${often}`;
}

/** What became of a server, for people. What it says of itself is not obeyed by a terminal. @param {Seen} seen */
export function told({ state, ms, tools, held, stderr, ...seen }) {
  const [name, why, protocol_version] = [seen.name, seen.why, seen.protocol_version].map(visible);
  const { server_name, server_version } = seen;
  if (state === "login") return `${name}: ${why}. To log in: narrows mcp login ${name}`;
  if (state !== "ready") return `${name}: failed after ${seconds(ms)}: ${why}${stderr ? `\n${stderr.trim().split(/\r?\n/).map((line) => `  | ${visible(line)}`).join("\n")}` : ""}`;
  const who = server_name === undefined ? "" : `, ${[server_name, server_version].filter(Boolean).map(visible).join(" ")}`;
  const head = `${name}: ready after ${seconds(ms)}${who}, MCP ${protocol_version}, ${tools.length} ${tools.length === 1 ? "tool" : "tools"}`;
  const lines = tools.map(({ name, description }) => [`  ${name}`, visible(shortened(description))].filter(Boolean).join(": "));
  const changed = held.map((tool) => `  ${tool}: changed and held back: see narrows mcp accept ${name}`);
  return [head, ...lines, ...changed].join("\n");
}

/** The first line of a text, and no more of it than a line takes: `--json` has all. */
function shortened(text) {
  const [line] = text.split("\n");
  return line.length > LINE ? `${line.slice(0, LINE - 1).trimEnd()}…` : line;
}

/** A duration for people. @param {number} ms */
export const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
