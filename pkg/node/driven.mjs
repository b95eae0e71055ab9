import { Driver } from "../lib/driver.mjs";
import { peersIn } from "../lib/open.mjs";
import { connect } from "./connect.mjs";
import { Core } from "./core.mjs";
import { Log } from "./log.mjs";
import { EXIT_SOFTWARE, genesis } from "./process.mjs";
import { State } from "./state.mjs";
import { openTrace } from "./trace.mjs";
import { UsageError } from "./usage.mjs";

/**
 * A gateway as the commands have it: its log on stderr, its trace in a file, its state in a directory, its end the end
 * of the process.
 *
 * @param {object} configuration
 * @param {{ trace?: string, state?: string }} files
 * @returns {{ driver: Driver, log: Log, broken: Promise<number> }} `broken` gives the exit code when the core broke
 * @throws {UsageError | Error} the configuration is no good, the trace cannot be written, or the state cannot be kept
 */
export function driven(configuration, { trace, state: folder }) {
  const state = folder === undefined ? undefined : new State(folder);
  const pieces = state?.pieces() ?? [];
  const core = created(state ? { ...configuration, storage: true } : configuration, pieces);
  const onTrace = trace === undefined ? undefined : openTrace(trace);
  const log = new Log(process.stderr);
  let broke;
  const broken = new Promise((resolve) => {
    broke = (message) => {
      log.say(`the gateway broke and ends: ${message}`);
      resolve(EXIT_SOFTWARE);
    };
  });
  const keep = (key, texts) => state.keep(key, texts);
  const options = { onNotice: (notice) => log.notice(notice), onTrace, onSave: state && keep, onDeath: broke };
  const driver = new Driver(core, { ...connect(configuration), ...options });
  // The clients of the process before are gone.
  for (const peer of peersIn(pieces)) driver.close(peer);
  return { driver, log, broken };
}

function created(configuration, pieces) {
  if (pieces.length === 0) return new Core(genesis(), configuration);
  try {
    return Core.restore(genesis(), configuration, pieces);
  } catch (error) {
    if (error.code !== "restore") throw error;
    throw new UsageError(`The state cannot be taken up: ${error.message}.`);
  }
}
