import { randomFillSync } from "node:crypto";
import { closeSync, constants, openSync } from "node:fs";

/** What every command that serves has in common with its process. */

export const EXIT_OK = 0;

/** What was asked for could not be done. */
export const EXIT_FAILED = 1;

/** The exit code of shells for bad usage. */
export const EXIT_USAGE = 2;

/** The exit code of sysexits.h for an internal fault. */
export const EXIT_SOFTWARE = 70;

/** What a core is born with. */
export function genesis() {
  const seed = new Uint8Array(32);
  randomFillSync(seed);
  return { seed, now: Math.floor(performance.now()), unixMs: Date.now() };
}

/**
 * Aborts when the process is told to end. A second signal ends it at once, as signals do.
 *
 * @param {() => void} [reload] is called instead at SIGHUP, unless that comes of a terminal that was closed
 */
export function endingSignal(reload) {
  const ending = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => ending.abort());
  const hadTerminal = hasTerminal();
  const hangUp = () => {
    if (reload !== undefined && process.platform !== "win32" && hadTerminal === hasTerminal()) return reload();
    process.off("SIGHUP", hangUp);
    ending.abort();
  };
  process.on("SIGHUP", hangUp);
  return ending.signal;
}

function hasTerminal() {
  try {
    closeSync(openSync("/dev/tty", constants.O_RDONLY | constants.O_NOCTTY | constants.O_NONBLOCK));
    return true;
  } catch {
    return false;
  }
}
