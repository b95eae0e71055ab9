import { catalogEntry } from "./catalog.mjs";
import { chosenFile, explained, readConfigFile, readConfigText } from "./config-file.mjs";
import { Core } from "./core.mjs";
import { genesis } from "./process.mjs";
import { UsageError } from "./usage.mjs";
import { visible } from "./visible.mjs";

/**
 * The configuration of the command: a file, with the environment over it.
 *
 * @param {string | undefined} file
 * @param {Record<string, string | undefined>} environment
 * @returns {object} as the core takes it
 * @throws {UsageError} naming the file or the keys; the core checks the rest
 */
export function readConfiguration(file, environment) {
  const chosen = chosenFile(file);
  const read = chosen === undefined ? { value: {}, faults: [] } : readObject(chosen);
  const faults = [...read.faults];
  const filled = completed(read.value, environment, faults);
  if (faults.length > 0) {
    throw new UsageError(`The configuration is refused: ${explained([...faults, ...faultsOf(filled)].join("; "))}.`);
  }
  return filled;
}

/**
 * What a gateway would say against the text of a file, before it is written. Variables may well be set where that gateway
 * runs.
 *
 * @param {string} file @param {string} text @param {Record<string, string | undefined>} environment
 * @returns {string[]}
 * @throws {UsageError} it cannot be read at all
 */
export function faultsOfText(file, text, environment) {
  const { value, faults } = readConfigText(file, text);
  return [...faults, ...faultsOf(completed(value, environment, []))].map(explained);
}

/** A configuration as the core takes it: with what the environment and the catalog say. */
function completed(value, environment, faults) {
  // Where the catalog is concerns the command alone.
  const { catalog_dir, ...configuration } = value;
  if (environment.A2A_GATEWAY_NAME) configuration.name = environment.A2A_GATEWAY_NAME;
  if (environment.A2A_GATEWAY_VERSION) configuration.version = environment.A2A_GATEWAY_VERSION;
  configuration.mcp_servers = withHealthChecks(configuration.mcp_servers, catalog_dir);
  if (configuration.mcp_servers === undefined) delete configuration.mcp_servers;
  return fillIn(configuration, environment, faults);
}

function readObject(file) {
  const { value, warnings, faults } = readConfigFile(file);
  for (const warning of warnings) process.stderr.write(`narrows: ${file}: ${visible(warning)}.\n`);
  return { value, faults };
}

/** What the core says against a configuration, so that nobody has to mend one fault to be told the next. */
function faultsOf(configuration) {
  try {
    new Core(genesis(), configuration).free();
    return [];
  } catch (error) {
    if (error.code !== "config") throw error;
    return [error.message];
  }
}

/**
 * Puts variables into what holds credentials, so that these need not stand in the file. One that is not set is a fault,
 * and has the place of its name.
 */
function fillIn(configuration, environment, faults) {
  const replaced = (text, place) => {
    let isWhole = true;
    const filled = text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name) => {
      const value = environment[name];
      if (value !== undefined) return value;
      faults.push(`\`${place}\` names the environment variable ${name}, which is not set`);
      isWhole = false;
      return `unset-variable-${name}`;
    });
    // Something in its place that nothing else is said against.
    return isWhole || !place.endsWith(".url") ? filled : "https://unset.invalid";
  };
  return withTokens(withServers(withAgents(configuration, replaced), replaced), replaced);
}

/** A server that came from the catalog is asked whether it is alive as its entry says, unless it says so itself. */
function withHealthChecks(servers, folder) {
  if (!Array.isArray(servers)) return servers;
  return servers.map((server) => {
    if (typeof server?.template_id !== "string" || server.health_check !== undefined) return server;
    const health_check = catalogEntry(server.template_id, folder)?.health_check;
    return health_check === undefined ? server : { ...server, health_check };
  });
}

function withServers(configuration, replaced) {
  const servers = configuration.mcp_servers;
  if (!Array.isArray(servers)) return configuration;
  const filled = servers.map((server, i) => {
    const place = `mcp_servers[${i}]`;
    const filled = withSecret(server, replaced, place);
    if (!Array.isArray(server?.headers)) return filled;
    const headers = server.headers.map((field, j) =>
      typeof field === "string" ? replaced(field, `${place}.headers[${j}]`) : field,
    );
    return { ...filled, headers };
  });
  return { ...configuration, mcp_servers: filled };
}

/** The secret of a client is in a variable of ours, which the configuration names. */
function withSecret(server, replaced, place) {
  const { client_secret_env: name, ...oauth } = server?.oauth ?? {};
  if (typeof name !== "string" || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return server;
  return { ...server, oauth: { ...oauth, client_secret: replaced(`\${${name}}`, `${place}.oauth.client_secret_env`) } };
}

function withTokens(configuration, replaced) {
  const tokens = configuration.auth?.tokens;
  if (!Array.isArray(tokens)) return configuration;
  const filled = tokens.map((entry, i) => {
    if (typeof entry?.token !== "string") return entry;
    return { ...entry, token: replaced(entry.token, `auth.tokens[${i}].token`) };
  });
  return { ...configuration, auth: { ...configuration.auth, tokens: filled } };
}

function withAgents(configuration, replaced) {
  const agents = configuration.external_agents;
  if (!Array.isArray(agents)) return configuration;
  const filled = agents.map((agent, i) => {
    if (typeof agent !== "object" || agent === null) return agent;
    const place = `external_agents[${i}]`;
    const copy = { ...agent };
    if (typeof agent.url === "string") copy.url = replaced(agent.url, `${place}.url`);
    if (typeof agent.headers === "object" && agent.headers !== null && !Array.isArray(agent.headers)) {
      const headers = Object.entries(agent.headers).map(([name, value]) => [
        name,
        typeof value === "string" ? replaced(value, `${place}.headers.${name}`) : value,
      ]);
      copy.headers = Object.fromEntries(headers);
    }
    return copy;
  });
  return { ...configuration, external_agents: filled };
}
