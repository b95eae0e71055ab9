// From the first import to the first answered tools/list, in one process. `node tests/bench/import.mjs [--quick]`
import { execFileSync } from "node:child_process";
import "./install.mjs";
import { median, quick, table, times } from "./measure.mjs";
import { here } from "./process.mjs";

const WAYS = ["narrows", "narrows, SDK 2.4.0 client", "SDK 1.32.2", "SDK 2.4.0"];

const seen = Object.fromEntries(WAYS.map((who) => [who, []]));
for (let round = 0; round < (quick ? 1 : 21); round += 1) {
  for (const who of WAYS) {
    seen[who].push(JSON.parse(execFileSync(process.execPath, [here("peers/in-process.mjs"), who], { encoding: "utf8" })));
  }
}
const of = (who, what) => median(seen[who].map((one) => one[what]));
table(
  "Import to first tools/list in one process, 17 tools",
  ["", "CPU ms", "÷ narrows", "wall ms", "÷ narrows"],
  WAYS.map((who) => [
    who,
    ...["cpu_ms", "wall_ms"].flatMap((what) => [of(who, what).toFixed(0), times(of(who, what), of("narrows", what))]),
  ]),
);
