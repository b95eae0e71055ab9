// From the start of the process to the first answered tools/list. `node tests/bench/start.mjs [--quick]`
import "./install.mjs";
import { median, quick, table, times } from "./measure.mjs";
import { NARROWS, Program, here } from "./process.mjs";

const SERVERS = {
  narrows: NARROWS,
  "official SDK 1.32.2": here("peers/server-1.mjs"),
  "official SDK 2.4.0": here("peers/server-2.mjs"),
  "Node, fixed text": here("peers/server-0.mjs"),
};

async function start(file) {
  const program = new Program([file]);
  await program.initialize();
  const { tools } = await program.request("tools/list");
  const seen = { wall_ms: performance.now() - program.started, cpu_ms: program.cpu_ms };
  await program.end();
  if (tools.length !== 17) throw new Error(`${file} has ${tools.length} tools`);
  return seen;
}

const seen = Object.fromEntries(Object.keys(SERVERS).map((name) => [name, []]));
for (let round = 0; round < (quick ? 1 : 21); round += 1) {
  for (const [name, file] of Object.entries(SERVERS)) seen[name].push(await start(file));
}
const of = (name, what) => median(seen[name].map((one) => one[what]));
table(
  "Start to first tools/list, 17 tools",
  ["", "CPU ms", "÷ narrows", "wall ms", "÷ narrows"],
  Object.keys(SERVERS).map((name) => [
    name,
    ...["cpu_ms", "wall_ms"].flatMap((what) => [of(name, what).toFixed(0), times(of(name, what), of("narrows", what))]),
  ]),
);
