import { chosenFile, readConfigFile } from "./config-file.mjs";
import { UsageError } from "./usage.mjs";

/**
 * The configuration of the command: a file, with the environment over it.
 *
 * @param {string | undefined} file
 * @param {Record<string, string | undefined>} environment
 * @returns {object} as the core takes it
 * @throws {UsageError} naming the file or the key; the core checks the rest
 */
export function readConfiguration(file, environment) {
  const chosen = chosenFile(file);
  // Where the catalog is concerns the command alone.
  const { catalog_dir, ...configuration } = chosen === undefined ? {} : readObject(chosen);
  if (environment.A2A_GATEWAY_NAME) configuration.name = environment.A2A_GATEWAY_NAME;
  if (environment.A2A_GATEWAY_VERSION) configuration.version = environment.A2A_GATEWAY_VERSION;
  return fillIn(configuration, environment);
}

function readObject(file) {
  const { value, warnings } = readConfigFile(file);
  for (const warning of warnings) process.stderr.write(`narrows: ${file}: ${warning}.\n`);
  return value;
}

/** Puts variables into what holds credentials, so that these need not stand in the file. */
function fillIn(configuration, environment) {
  return withTokens(withServers(withAgents(configuration, environment), environment), environment);
}

function withServers(configuration, environment) {
  const servers = configuration.mcp_servers;
  if (!Array.isArray(servers)) return configuration;
  const filled = servers.map((server, i) => {
    if (!Array.isArray(server?.headers)) return server;
    const headers = server.headers.map((field, j) =>
      typeof field === "string" ? replaced(field, `mcp_servers[${i}].headers[${j}]`, environment) : field,
    );
    return { ...server, headers };
  });
  return { ...configuration, mcp_servers: filled };
}

function withTokens(configuration, environment) {
  const tokens = configuration.auth?.tokens;
  if (!Array.isArray(tokens)) return configuration;
  const filled = tokens.map((entry, i) => {
    if (typeof entry?.token !== "string") return entry;
    return { ...entry, token: replaced(entry.token, `auth.tokens[${i}].token`, environment) };
  });
  return { ...configuration, auth: { ...configuration.auth, tokens: filled } };
}

function withAgents(configuration, environment) {
  const agents = configuration.external_agents;
  if (!Array.isArray(agents)) return configuration;
  const filled = agents.map((agent, i) => {
    if (typeof agent !== "object" || agent === null) return agent;
    const place = `external_agents[${i}]`;
    const copy = { ...agent };
    if (typeof agent.url === "string") copy.url = replaced(agent.url, `${place}.url`, environment);
    if (typeof agent.headers === "object" && agent.headers !== null && !Array.isArray(agent.headers)) {
      const headers = Object.entries(agent.headers).map(([name, value]) => [
        name,
        typeof value === "string" ? replaced(value, `${place}.headers.${name}`, environment) : value,
      ]);
      copy.headers = Object.fromEntries(headers);
    }
    return copy;
  });
  return { ...configuration, external_agents: filled };
}

function replaced(text, place, environment) {
  return text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name) => {
    const value = environment[name];
    if (value === undefined) throw new UsageError(`${place} names the environment variable ${name}, which is not set.`);
    return value;
  });
}
