// Gateways that are started and ended in every way, at any moment, with servers behind them that do not end by themselves:
// nothing of them may be left. `node tests/soak/leftovers.mjs [--times 1000] [--parallel 4] [--seed 1]`, on Linux.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { Chance } from "./chance.mjs";

const PROGRAM = fileURLToPath(new URL("../../pkg/cli.js", import.meta.url));
const SERVER = fileURLToPath(new URL("../hosts/mcp-server.mjs", import.meta.url));

/** The variable by which everything that a gateway started is found again: its children inherit it. */
const MARK = "NARROWS_LEFTOVERS";

/** A start takes about so long; the end comes at any moment of it, or after it. */
const LIFE_MS = 900;

/** How long what a gateway started may take to end: a second to end by itself, two more after it was told to. */
const PATIENCE_MS = 20_000;

/** The ways in which a gateway ends. */
export const ENDS = {
  "end of input": (child) => child.stdin.end(),
  SIGTERM: (child) => child.kill("SIGTERM"),
  SIGINT: (child) => child.kill("SIGINT"),
  SIGKILL: (child) => child.kill("SIGKILL"),
  "crash of the process": (child) => child.kill("SIGSEGV"),
  "uncaught error": (child) => child.kill("SIGUSR2"),
};

/** In the gateway: SIGUSR2 throws where nobody catches it. */
const THROWS = 'data:text/javascript,process.on("SIGUSR2", () => { throw new Error("as the test asked"); })';

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The processes whose environment has a mark. @returns {{ pid: number, command: string }[]} */
function marked(mark) {
  const found = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const environment = readFileSync(`/proc/${name}/environ`, "latin1");
      if (!environment.includes(`${MARK}=${mark}`)) continue;
      found.push({ pid: Number(name), command: readFileSync(`/proc/${name}/cmdline`, "latin1").replaceAll("\0", " ") });
    } catch {
      // It ended meanwhile.
    }
  }
  return found;
}

function hasChildren(pid) {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").trim() !== "";
  } catch {
    return false;
  }
}

/**
 * Starts and ends gateways.
 *
 * @param {{ times: number, parallel?: number, seed?: number }} options
 * @returns {Promise<{ ends: Record<string, number>, started: number, left: { pid: number, command: string }[], last_ms: number }>}
 *   how many ended in which way, how many of their servers were seen running, what was left, and when the last of it ended
 */
export async function leftovers({ times, parallel = 4, seed = 1 }) {
  const chance = new Chance(seed);
  const mark = `${process.pid}-${seed}`;
  const folder = mkdtempSync(join(tmpdir(), "narrows-leftovers-"));
  const config = join(folder, "narrows.json");
  // One that never answers and does not mind its input, one that ends with its input, one with a child that does not end.
  const server = (name, command, ...args) => ({ name, transport: { type: "stdio", command, args }, env: [MARK] });
  const servers = [server("deaf", "sleep", "3600"), server("plain", "cat"), server("family", process.execPath, SERVER, "stubborn")];
  writeFileSync(config, JSON.stringify({ mcp_servers: servers }));
  const ends = Object.fromEntries(Object.keys(ENDS).map((name) => [name, 0]));
  let [begun, started] = [0, 0];
  const one = async () => {
    const name = chance.pick(Object.keys(ENDS));
    const wait_ms = chance.between(0, LIFE_MS);
    const child = spawn(process.execPath, ["--import", THROWS, PROGRAM, "--config", config], {
      env: { ...process.env, [MARK]: mark },
      stdio: ["pipe", "ignore", "ignore"],
    });
    child.stdin.on("error", () => {});
    const ended = new Promise((resolve) => child.on("exit", resolve));
    await sleep(wait_ms);
    if (hasChildren(child.pid)) started += 1;
    ENDS[name](child);
    ends[name] += 1;
    await ended;
  };
  const lane = async () => {
    while (begun < times) {
      begun += 1;
      await one();
    }
  };
  await Promise.all(Array.from({ length: parallel }, lane));
  const over = performance.now();
  let left = marked(mark);
  while (left.length > 0 && performance.now() - over < PATIENCE_MS) {
    await sleep(100);
    left = marked(mark);
  }
  const last_ms = Math.round(performance.now() - over);
  for (const { pid } of left) process.kill(pid, "SIGKILL");
  rmSync(folder, { recursive: true, force: true });
  return { ends, started, left, last_ms };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: { times: { type: "string", default: "1000" }, parallel: { type: "string", default: "4" }, seed: { type: "string", default: "1" } },
  });
  const [times, parallel, seed] = [values.times, values.parallel, values.seed].map(Number);
  const { ends, started, left, last_ms } = await leftovers({ times, parallel, seed });
  for (const [name, count] of Object.entries(ends)) console.log(`${String(count).padStart(5)} ended by ${name}`);
  console.log(`${started} of ${times} had servers when they ended; the last process was gone after ${last_ms} ms; left: ${left.length}`);
  for (const { pid, command } of left) console.log(`  ${pid} ${command}`);
  process.exitCode = left.length > 0 || started === 0 ? 1 : 0;
}
