import { readFileSync } from "node:fs";

import { UsageError } from "./usage.mjs";

/**
 * The configuration of the command: a JSON file, with the environment over it.
 *
 * @param {string | undefined} file
 * @param {Record<string, string | undefined>} environment
 * @returns {object} as the core takes it
 * @throws {UsageError} naming the file or the key; the core checks the rest
 */
export function readConfiguration(file, environment) {
  const configuration = file === undefined ? {} : readObject(file);
  if (environment.A2A_GATEWAY_NAME) configuration.name = environment.A2A_GATEWAY_NAME;
  if (environment.A2A_GATEWAY_VERSION) configuration.version = environment.A2A_GATEWAY_VERSION;
  return fillIn(configuration, environment);
}

function readObject(file) {
  let text;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${error.message}.`);
  }
  let value;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new UsageError(`${file} is not JSON: ${error.message}.`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError(`${file} must hold one JSON object.`);
  }
  return value;
}

/** Puts variables into what holds credentials, so that these need not stand in the file. */
function fillIn(configuration, environment) {
  return withTokens(withAgents(configuration, environment), environment);
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
