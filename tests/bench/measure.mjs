// Rounds of several candidates in turn, so that a busy machine is as unfair to one as to the others.

/** The middle of some numbers. */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
}

/** A cheap run, to see that everything works. */
export const quick = process.argv.includes("--quick");

/**
 * Nanoseconds a call, of each candidate: the median of several rounds, which take turns.
 *
 * @param {Record<string, () => unknown>} candidates each may give a promise
 * @param {{ rounds?: number, round_ms?: number }} [options]
 * @returns {Promise<Record<string, number>>}
 */
export async function timed(candidates, { rounds = 7, round_ms = 400 } = {}) {
  const [count, length_ms] = quick ? [1, 20] : [rounds, round_ms];
  const seen = {};
  for (let round = -1; round < count; round += 1) {
    for (const [name, call] of Object.entries(candidates)) {
      const began = performance.now();
      let calls = 0;
      let took = 0;
      while (took < length_ms) {
        const result = call();
        if (result instanceof Promise) await result;
        calls += 1;
        took = performance.now() - began;
      }
      // The first round only warms up.
      if (round >= 0) (seen[name] ??= []).push((took * 1e6) / calls);
    }
  }
  return Object.fromEntries(Object.entries(seen).map(([name, times]) => [name, median(times)]));
}

/** Prints rows under a head, columns aligned. @param {string} title @param {string[]} head @param {string[][]} rows */
export function table(title, head, rows) {
  const all = [head, ...rows];
  const widths = head.map((_, i) => Math.max(...all.map((row) => row[i].length)));
  console.log(`\n${title}`);
  for (const row of all) {
    console.log(`  ${row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join("  ")}`);
  }
}

/** How many times as much as ours. @param {number} other @param {number} ours */
export const times = (other, ours) => `${(other / ours).toFixed(2)}x`;
