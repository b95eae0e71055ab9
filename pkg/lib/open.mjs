import { Driver } from "./driver.mjs";
import { GatewayError } from "./error.mjs";
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
  const { config, host: given, snapshot, onNotice = complaint, onTrace, onSave, onDead } = options;
  const complain = (error) => {
    try {
      onNotice(hostError(error));
    } catch {
      // The log itself is broken: there is nobody left to tell.
    }
  };
  const host = new Host(given, complain);
  const configuration = stored(merged(config, defaults), onSave);
  const core = created(host, configuration, snapshot);
  const own = given?.fetch === undefined ? connect?.(configuration) : undefined;
  const driver = new Driver(core, {
    fetch: own?.fetch ?? host.fetch,
    close: own?.close,
    now: () => host.now(),
    setTimer: (callback, ms) => host.setTimer(callback, ms),
    onNotice,
    onTrace,
    onSave,
    onDeath: onDead,
  });
  // The clients of the gateway that goes on here are gone.
  for (const peer of peersIn(snapshot)) driver.close(peer);
  return driver;
}

function created(host, configuration, snapshot) {
  try {
    const genesis = host.genesis();
    return snapshot === undefined ? new Core(genesis, configuration) : Core.restore(genesis, configuration, snapshot);
  } catch (error) {
    throw GatewayError.of(error);
  }
}

/** The configuration over the platform's defaults, section by section. */
function merged(config, defaults) {
  if (!defaults || (config !== undefined && !isObject(config))) return config;
  const given = config instanceof Map ? Object.fromEntries(config) : { ...config };
  for (const [name, section] of Object.entries(defaults)) {
    if (given[name] === undefined || isObject(given[name])) given[name] = { ...section, ...given[name] };
  }
  return given;
}

/** The core is told where there is somebody who keeps what it saves. */
function stored(config, onSave) {
  if (onSave === undefined || (config !== undefined && !isObject(config))) return config;
  return { ...(config instanceof Map ? Object.fromEntries(config) : config), storage: true };
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
