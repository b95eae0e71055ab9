import { storeOf } from "./directory.mjs";
import { Driver } from "./driver.mjs";
import { GatewayError, checkFunctions } from "./error.mjs";
import { Host } from "./host.mjs";
import { Core } from "./module.mjs";

/**
 * A core with a host around it, running.
 *
 * @param {object} options as `Gateway.open` takes them
 * @param {object} [platform] as `Gateway.platform`
 * @returns {Driver}
 * @throws {GatewayError} `config`, `restore` or `misuse`
 */
export function openDriver(options, { defaults, connect } = {}) {
  checkFunctions(options, ["onNotice", "onTrace", "onSave", "onWork", "onApproval", "onDead"]);
  const { config, host: given, snapshot, onNotice = complaint, onTrace, onSave, onWork, onApproval, directory, tokens, onDead } = options;
  if (tokens !== undefined && !["load", "save"].every((name) => typeof tokens?.[name] === "function")) {
    throw new GatewayError("misuse", "`tokens` must have the functions `load` and `save`");
  }
  const complain = (error) => {
    try {
      onNotice(hostError(error));
    } catch {
      // The log itself is broken: there is nobody left to tell.
    }
  };
  const host = new Host(given, complain);
  const complete = (config) => filled(config, { defaults, onSave, onWork, directory });
  const configuration = complete(config);
  const genesis = host.genesis();
  const core = snapshot === undefined ? new Core(genesis, configuration) : Core.restore(genesis, configuration, snapshot);
  // What comes from here on reads a configuration that the core has found good.
  const own = connect?.(configuration);
  const checked = (configuration) => {
    if (!own?.openLink) refuseProcesses(configuration);
    return configuration;
  };
  checked(configuration);
  const driver = new Driver(core, {
    fetch: (given?.fetch === undefined && own?.fetch) || host.fetch,
    openLink: own?.openLink,
    close: own?.close,
    complete: (config) => checked(complete(config)),
    configured: own?.configured,
    now: () => host.now(),
    setTimer: (callback, ms) => host.setTimer(callback, ms),
    onNotice,
    onTrace,
    onSave,
    onWork,
    directory,
    tokens,
    onApproval,
    onDeath: onDead,
  });
  // The clients of the gateway that goes on here are gone.
  for (const peer of peersIn(snapshot)) driver.close(peer);
  return driver;
}

/** The configuration over the platform's defaults, section by section, with what the functions of the host make of it. */
function filled(config, { defaults = {}, onSave, onWork, directory }) {
  if (config !== undefined && !isObject(config)) throw new GatewayError("config", "the configuration must be an object");
  const given = config instanceof Map ? Object.fromEntries(config) : { ...config };
  for (const [name, section] of Object.entries(defaults)) {
    if (given[name] === undefined || isObject(given[name])) given[name] = { ...section, ...given[name] };
  }
  // The core is told where there is somebody who keeps what it saves.
  if (onSave !== undefined) given.storage = true;
  given.a2a = agent(given.a2a, onWork);
  if (directory !== undefined) given.directory = looking(given.directory, storeOf(directory));
  return given;
}

/** The gateway's own agent: there is one where it is asked for, by a section or by a function that does the work. */
function agent(section, onWork) {
  if (section === undefined && onWork === undefined) return { enabled: false };
  if (section !== undefined && !isObject(section)) return section;
  const given = section instanceof Map ? Object.fromEntries(section) : { ...section };
  if (onWork !== undefined) given.responder ??= "function";
  const skills = Array.isArray(given.skills) ? given.skills : [];
  const isUsed = [given, ...skills].some((each) => each?.responder === "function");
  if (isUsed && onWork === undefined) throw new GatewayError("config", "`a2a`: the responder `function` needs the option `onWork`");
  if (!isUsed && onWork !== undefined) throw new GatewayError("config", "`a2a`: no responder is `function`, so `onWork` would do nothing");
  return given;
}

/** Pages and workers start no processes. */
function refuseProcesses(configuration) {
  const servers = configuration instanceof Map ? configuration.get("mcp_servers") : configuration?.mcp_servers;
  if (!Array.isArray(servers)) return;
  const at = servers.findIndex((server) => server?.transport?.type === "stdio");
  if (at < 0) return;
  const message = `\`mcp_servers[${at}]\` is a process, which no page and no worker can start: the Node host can`;
  throw new GatewayError("config", message);
}

/** Where agents are discovered: in a directory of the embedder's, whose function says what it can do. */
function looking(section, store) {
  if (section !== undefined && !isObject(section)) return section;
  return { built_in: true, ...(section instanceof Map ? Object.fromEntries(section) : section), store };
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** The clients in a snapshot. Those of the HTTP face go on: they are numbered above what JavaScript counts exactly. */
export function peersIn(snapshot = []) {
  const records = snapshot.flatMap((piece) => JSON.parse(piece).records);
  return records.filter(({ kind, peer }) => kind === "peer" && Number.isSafeInteger(peer)).map(({ peer }) => peer);
}

function hostError(error) {
  return { type: "notice", level: "error", event: "host_error", fields: { message: String(error?.message ?? error) } };
}

/** Where nobody takes notices, faults of the embedder's own functions go to the console. */
function complaint({ event, fields }) {
  if (event === "host_error") console.error(`narrows: ${fields.message}`);
}
