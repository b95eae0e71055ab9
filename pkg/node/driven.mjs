import { Driver } from "../lib/driver.mjs";
import { connect } from "./connect.mjs";
import { Core } from "./core.mjs";
import { Log } from "./log.mjs";
import { EXIT_SOFTWARE, genesis } from "./process.mjs";
import { openTrace } from "./trace.mjs";

/**
 * A gateway as the commands have it: its log on stderr, its trace in a file, its end the end of the process.
 *
 * @param {object} configuration
 * @param {{ trace?: string }} files
 * @returns {{ driver: Driver, log: Log, broken: Promise<number> }} `broken` gives the exit code when the core broke
 * @throws {import("./usage.mjs").UsageError | Error} the configuration is no good, or the trace cannot be written
 */
export function driven(configuration, { trace }) {
  const core = new Core(genesis(), configuration);
  const onTrace = trace === undefined ? undefined : openTrace(trace);
  const log = new Log(process.stderr);
  let broke;
  const broken = new Promise((resolve) => {
    broke = (message) => {
      log.say(`the gateway broke and ends: ${message}`);
      resolve(EXIT_SOFTWARE);
    };
  });
  const driver = new Driver(core, { ...connect(configuration), onNotice: (notice) => log.notice(notice), onTrace, onDeath: broke });
  return { driver, log, broken };
}
