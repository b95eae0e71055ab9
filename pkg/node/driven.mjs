import { Driver } from "../lib/driver.mjs";
import { peersIn } from "../lib/open.mjs";
import { chosenFile } from "./config-file.mjs";
import { connect } from "./connect.mjs";
import { Core } from "./core.mjs";
import { Log } from "./log.mjs";
import { Pinning } from "./pinning.mjs";
import { Pins } from "./pins.mjs";
import { EXIT_SOFTWARE, genesis } from "./process.mjs";
import { StateFile } from "./state-file.mjs";
import { State } from "./state.mjs";
import { TokenStore } from "./token-store.mjs";
import { openTrace } from "./trace.mjs";
import { UsageError } from "./usage.mjs";

/**
 * A gateway as the commands have it: its log on stderr, its trace in a file, its state in a directory or a file, its end the end
 * of the process.
 *
 * @param {object} configuration
 * @param {{ config?: string, trace?: string, state?: string, onNotice?: (notice: object) => void }} files and who else takes notices
 * @returns {{ driver: Driver, log: Log, broken: Promise<number> }} `broken` gives the exit code when the core broke
 * @throws {UsageError | Error} the configuration is no good, the trace cannot be written, or the state cannot be kept
 */
export function driven(configuration, { config, trace, state: place, onNotice = () => {} }) {
  if (configuration.directory?.store !== undefined) {
    throw new UsageError("`directory.store` is for programs that embed the gateway.");
  }
  const state = opened(place);
  const pieces = state?.pieces() ?? [];
  const core = created({ ...configuration, storage: state ? true : "pins" }, pieces);
  const onTrace = trace === undefined ? undefined : openTrace(trace);
  const log = new Log(process.stderr);
  let broke;
  const broken = new Promise((resolve) => {
    broke = (message) => {
      log.say(`the gateway broke and ends: ${message}`);
      resolve(EXIT_SOFTWARE);
    };
  });
  const pins = new Pinning(chosenFile(config), log);
  const keep = (key, texts) => (Pins.has(key) ? pins.keep(key, texts) : state.keep(key, texts));
  const noted = (notice) => {
    log.notice(notice);
    pins.notice(notice);
    onNotice(notice);
    // Whoever sits at a terminal is sent to the browser at once; anybody else is told what to do by the notice and the call.
    if (notice.event === "authorization_needed" && process.stderr.isTTY) welcome(notice.fields.server, log);
  };
  const welcome = async (server, log) => {
    try {
      const { logIn } = await import("./login.mjs");
      await logIn(driver, server, { say: (text) => log.say(text) });
    } catch (error) {
      log.say(error.message);
    }
  };
  const options = { onNotice: noted, onTrace, onSave: keep, tokens: new TokenStore(), onDeath: broke };
  const driver = new Driver(core, { ...connect(configuration), ...options });
  pins.follow(driver);
  // The clients of the process before are gone.
  for (const peer of peersIn(pieces)) driver.close(peer);
  return { driver, log, broken };
}

/** A directory, or one file where its name says so. */
function opened(place) {
  if (place === undefined) return undefined;
  return place.endsWith(".jsonl") ? new StateFile(place) : new State(place);
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
