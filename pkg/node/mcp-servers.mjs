import { Gateway } from "../node.mjs";
import { EXIT_FAILED, EXIT_OK } from "./process.mjs";
import { table } from "./table.mjs";
import { UsageError } from "./usage.mjs";

/**
 * @typedef {object} Seen what became of one server
 * @property {string} name
 * @property {object} transport
 * @property {string} [template_id]
 * @property {"ready" | "failed"} state
 * @property {number} ms from the start to this state
 * @property {boolean} [modern] whether it speaks MCP 2026-07-28, without a handshake
 * @property {{ name: string, description: string }[]} tools as they are offered
 * @property {string} [why] why it failed
 * @property {string} [stderr] the last it wrote to its standard error
 */

/** `narrows mcp list`: all servers, started side by side. */
export async function list(configuration, { json, output, progress }) {
  const seen = await started(configuration, progress);
  if (json) output.write(`${JSON.stringify(seen.map(summary), null, 2)}\n`);
  else if (seen.length === 0) output.write("No servers. To add one: narrows mcp catalog, then narrows mcp add ID\n");
  else output.write(`${table(["NAME", "TEMPLATE", "TRANSPORT", "TOOLS", "STATE"], seen.map(row), output)}\n`);
  return EXIT_OK;
}

/** `narrows mcp test NAME`: one server, with its tools or with the cause. */
export async function test(configuration, name, { json, output, progress }) {
  const servers = (configuration.mcp_servers ?? []).filter((server) => server?.name === name);
  if (servers.length === 0) throw new UsageError(`The configuration has no server ${JSON.stringify(name)}: see narrows mcp list.`);
  const [server] = await started({ ...configuration, mcp_servers: servers }, progress);
  if (json) output.write(`${JSON.stringify(server, null, 2)}\n`);
  else output.write(`${told(server)}\n`);
  return server.state === "ready" ? EXIT_OK : EXIT_FAILED;
}

/**
 * Starts the servers of a configuration in a gateway of their own, and ends them when each is ready or has failed.
 *
 * @param {object} configuration
 * @param {(server: Seen) => void} progress is told of each as it comes
 * @returns {Promise<Seen[]>} in the order of the configuration
 */
async function started(configuration, progress) {
  const servers = configuration.mcp_servers ?? [];
  const began = performance.now();
  const seen = new Map();
  let settled;
  const all = new Promise((resolve) => (settled = resolve));
  const onNotice = ({ event, fields }) => {
    const state = { link_ready: "ready", link_lost: "failed" }[event];
    const server = servers.find(({ name }) => name === fields.server);
    if (state === undefined || server === undefined || seen.has(server.name)) return;
    const { name, transport, template_id } = server;
    const { modern, why, stderr } = fields;
    const ms = Math.round(performance.now() - began);
    const entry = { name, ...(template_id && { template_id }), transport, state, ms, modern, tools: [], why, stderr };
    seen.set(name, entry);
    progress(entry);
    if (seen.size === servers.length) settled();
  };
  // Only what concerns the servers: a fault elsewhere is the gateway's to tell.
  const config = { mcp_servers: servers, ...(configuration.network && { network: configuration.network }) };
  const gateway = await Gateway.open({ config, onNotice });
  try {
    if (servers.length > 0) await all;
    const tools = await gateway.tools();
    for (const entry of seen.values()) entry.tools = toolsOf(entry.name, tools);
  } finally {
    gateway.dispose();
  }
  return servers.map(({ name }) => seen.get(name));
}

function toolsOf(server, tools) {
  const mark = `[MCP:${server}] `;
  return tools
    .filter(({ description }) => description?.startsWith(mark))
    .map(({ name, description }) => ({ name, description: description.slice(mark.length) }));
}

const summary = ({ tools, ...server }) => ({ ...server, tools: tools.length });

function row({ name, template_id = "", transport, state, ms, tools, why }) {
  const where = transport.type === "stdio" ? transport.command : transport.url;
  const how = state === "ready" ? `ready, ${seconds(ms)}` : `failed: ${why}`;
  return [name, template_id, `${transport.type} ${where}`, state === "ready" ? String(tools.length) : "", how];
}

function told({ name, state, ms, modern, tools, why, stderr }) {
  if (state !== "ready") return `${name}: failed after ${seconds(ms)}: ${why}${stderr ? `\n${stderr.trim().replace(/^/gm, "  | ")}` : ""}`;
  const era = modern ? "MCP 2026-07-28" : "MCP with a handshake";
  const head = `${name}: ready after ${seconds(ms)}, ${era}, ${tools.length} ${tools.length === 1 ? "tool" : "tools"}`;
  return [head, ...tools.map((tool) => `  ${tool.name}: ${tool.description.split("\n")[0]}`)].join("\n");
}

/** A duration for people. @param {number} ms */
export const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
