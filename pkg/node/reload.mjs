import { statSync } from "node:fs";

import { defaultFile, explained } from "./config-file.mjs";
import { UsageError } from "./usage.mjs";

/** How often the file is looked at, and how long it has to be left alone before it is read. */
const LOOK_MS = 500;

/**
 * A configuration file that is taken up anew when it changed. It is looked at by its path, again and again: editors and
 * deployments put another file in its place, or lead a link elsewhere, which is no change of what was opened before.
 */
export class WatchedFile {
  #file;
  #read;
  #seen;

  /** Remembers how the file is now, before it is read. @param {string | undefined} named as `--config` names it */
  constructor(named) {
    this.#file = named ?? (process.env.NARROWS_CONFIG || defaultFile());
    this.#seen = signature(this.#file);
  }

  /**
   * Takes up the file whenever it changed.
   *
   * @param {import("../lib/driver.mjs").Driver} driver
   * @param {() => object} read reads the file, and throws what is wrong with it
   * @param {import("./log.mjs").Log} log
   * @param {(configuration: object) => void} [taken] is told of what holds from here on
   */
  follow(driver, read, log, taken = () => {}) {
    this.#read = () => takeUp(driver, read, log, taken);
    let last = this.#seen;
    const timer = setInterval(() => {
      if (driver.stopped) return clearInterval(timer);
      const now = signature(this.#file);
      const isQuiet = now === last;
      last = now;
      if (now !== undefined && now !== this.#seen && isQuiet) this.reload();
    }, LOOK_MS);
    timer.unref();
  }

  /** Takes up the file as it is. */
  reload() {
    this.#seen = signature(this.#file);
    this.#read?.();
  }
}

/** What tells one state of a file from another; undefined where it is not there. */
function signature(file) {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found && [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(" ");
}

/** Goes on with the configuration of the file, or says every fault of it and leaves everything as it is. */
function takeUp(driver, read, log, taken) {
  let isRead = false;
  try {
    const configuration = read();
    isRead = true;
    driver.configure(configuration);
    taken(configuration);
  } catch (error) {
    if (error.code !== "config" && !(error instanceof UsageError)) throw error;
    const words = (error instanceof UsageError ? error.message : `The configuration is refused: ${explained(error.message)}`).replace(/\.$/, "");
    // What the core refuses it tells itself.
    if (!isRead) log.notice({ level: "error", event: "configuration_refused", fields: { faults: words.split("; ") } });
    log.say(`${words}. The configuration that runs stays in force.`);
  }
}
