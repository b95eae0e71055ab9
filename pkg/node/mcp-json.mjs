/** Members of an entry that are read; `type` is, where it says how a URL is spoken to. */
const READ = new Set(["command", "args", "env", "url", "serverUrl", "httpUrl", "headers", "type", "transport", "disabled", "enabled"]);

/** A variable of the environment, with what stands for it where it is not set; `env:` is how VS Code writes it. */
const VARIABLE = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** What VS Code asks its user for. */
const QUESTION = /\$\{input:([^}]*)\}/g;

/** Whether an object is the `mcp.json` of a host: `mcpServers` of most, `servers` of VS Code. */
export function isMcpJson(value) {
  return isObject(value?.mcpServers) || (isObject(value?.servers) && !("mcp_servers" in value));
}

/**
 * The configuration that an `mcp.json` stands for, with the variables of the environment put in.
 *
 * @param {object} value
 * @param {Record<string, string | undefined>} environment
 * @returns {{ value: { mcp_servers: object[] }, warnings: string[], faults: string[] }} `warnings` names what has no
 *   meaning here, `faults` what is not known
 */
export function fromMcpJson(value, environment) {
  const [warnings, faults, servers] = [[], [], []];
  for (const [name, entry] of Object.entries(value.mcpServers ?? value.servers)) {
    if (entry?.disabled === true || entry?.enabled === false) continue;
    const unread = isObject(entry) ? Object.keys(entry).filter((key) => !READ.has(key)) : [];
    if (unread.length > 0) warnings.push(`${name}: ${unread.join(", ")} has no meaning here and is left out`);
    const filled = (text) => fill(text, environment, (fault) => faults.push(`\`${name}\` ${fault}`));
    servers.push(isObject(entry) ? server(name, entry, filled) : { name, transport: entry });
  }
  return { value: { mcp_servers: servers }, warnings, faults };
}

function server(name, { command, args, env = {}, url, serverUrl, httpUrl, headers = {}, type, transport: kind }, filled) {
  const address = url ?? serverUrl ?? httpUrl;
  if (address === undefined) {
    const transport = { type: "stdio", command, ...(args && { args: Array.isArray(args) ? args.map(filled) : args }) };
    return { name, transport, env: Object.entries(env).map(([key, text]) => `${key}=${filled(text)}`) };
  }
  const transport = { type: (type ?? kind) === "sse" ? "sse" : "http", url: filled(address) };
  // A field without a value says nothing.
  const fields = Object.entries(headers).map(([key, text]) => [key, filled(text)]).filter(([, text]) => text !== "");
  return { name, transport, headers: fields.map(([key, text]) => `${key}: ${text}`) };
}

function fill(text, environment, fault) {
  if (typeof text !== "string") return text;
  const asked = text.replace(QUESTION, (_, id) => {
    fault(`wants the input ${id}, which is asked for by another program: put it into the environment and write \${env:${id}}`);
    return "";
  });
  return asked.replace(VARIABLE, (_, name, otherwise) => {
    // As in a shell, an empty one is as good as none where there is something else.
    const value = otherwise === undefined ? environment[name] : environment[name] || otherwise;
    if (value === undefined) fault(`names the environment variable ${name}, which is not set`);
    return value ?? "";
  });
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
