/** Members of an entry that are read; `type` is, where it says how a URL is spoken to. */
const READ = new Set(["command", "args", "env", "url", "serverUrl", "httpUrl", "headers", "type", "transport", "disabled"]);

/** Whether an object is the `mcp.json` of a host: `mcpServers` of most, `servers` of VS Code. */
export function isMcpJson(value) {
  return isObject(value?.mcpServers) || (isObject(value?.servers) && !("mcp_servers" in value));
}

/**
 * The configuration that an `mcp.json` stands for. `${env:NAME}`, as VS Code writes it, is `${NAME}` here.
 *
 * @param {object} value
 * @returns {{ value: { mcp_servers: object[] }, warnings: string[] }} `warnings` names what has no meaning here
 */
export function fromMcpJson(value) {
  const warnings = [];
  const servers = [];
  for (const [name, entry] of Object.entries(value.mcpServers ?? value.servers)) {
    if (entry?.disabled === true) continue;
    const unread = isObject(entry) ? Object.keys(entry).filter((key) => !READ.has(key)) : [];
    if (unread.length > 0) warnings.push(`${name}: ${unread.join(", ")} has no meaning here and is left out`);
    servers.push(isObject(entry) ? server(name, entry) : { name, transport: entry });
  }
  return { value: { mcp_servers: servers }, warnings };
}

function server(name, { command, args, env = {}, url, serverUrl, httpUrl, headers = {}, type, transport: kind }) {
  const address = url ?? serverUrl ?? httpUrl;
  if (address === undefined) {
    const transport = { type: "stdio", command, ...(args && { args: args.map(variables) }) };
    return { name, transport, env: Object.entries(env).map(([key, text]) => `${key}=${variables(text)}`) };
  }
  const transport = { type: (type ?? kind) === "sse" ? "sse" : "http", url: variables(address) };
  return { name, transport, headers: Object.entries(headers).map(([key, text]) => `${key}: ${variables(text)}`) };
}

function variables(text) {
  return typeof text === "string" ? text.replace(/\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g, "${$1}") : text;
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
