// Whether every scenario that the suite scores was run and passed, and tells of those that it does not score.
//   node tests/conformance/complete.mjs LIST RESULTS COUNT
// LIST: what `list --requirements` said; RESULTS: the suite's folder; COUNT: how many scenarios are scored.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [list, results, count] = process.argv.slice(2);
const text = readFileSync(list, "utf8");
const scored = /^Server scenarios.*:\n((?: {2}- .*\n)+)/m.exec(text)[1].match(/\S+$/gm);

// A folder is named by its scenario and the moment it ran.
const outcomes = new Map();
for (const folder of readdirSync(results)) {
  const [, scenario] = /^server-(.*)-\d{4}-\d\d-\d\dT.*$/.exec(folder) ?? [];
  if (scenario === undefined) continue;
  const checks = JSON.parse(readFileSync(join(results, folder, "checks.json"), "utf8"));
  const number = (status) => checks.filter((check) => check.status === status).length;
  outcomes.set(scenario, { passed: number("SUCCESS"), failed: number("FAILURE"), warned: number("WARNING") });
}

const passes = ({ passed, failed, warned }) => passed > 0 && failed === 0 && warned === 0;
const passing = scored.filter((scenario) => outcomes.has(scenario) && passes(outcomes.get(scenario)));
for (const scenario of scored.filter((name) => !passing.includes(name))) console.log(`does not pass: ${scenario}`);
for (const [scenario, { passed, failed, warned }] of outcomes) {
  if (scored.includes(scenario)) continue;
  console.log(`not scored: ${scenario}: ${passed} checks passed, ${failed} failed, ${warned} warned`);
}
console.log(`${passing.length} of ${scored.length} scored scenarios pass; there should be ${count}`);
process.exitCode = passing.length === Number(count) && scored.length === Number(count) ? 0 : 1;
