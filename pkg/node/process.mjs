import { randomFillSync } from "node:crypto";

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

/** Aborts when the process is told to end. A second signal ends it at once, as signals do. */
export function endingSignal() {
  const ending = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(name, () => ending.abort());
  return ending.signal;
}
