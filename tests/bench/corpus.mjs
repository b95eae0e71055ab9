// How much of our corpus of secrets is found, and what fires on our clean texts, beside the secret guard of Lasso's gateway
// (PyPI `mcp-gateway`, its plugin `basic`). `node tests/bench/corpus.mjs`
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { Gateway } from "../../pkg/node.mjs";
import { here } from "./process.mjs";

const PEER = "mcp-gateway==1.2.1";
/** The SDK of its time: it imports what a later one does not bring. */
const SDK = "mcp[cli]==1.30.0";
const folder = here("../.work/lasso");
const python = join(folder, "bin/python");

function install() {
  if (existsSync(python)) return;
  mkdirSync(folder, { recursive: true });
  execFileSync("python3", ["-m", "venv", folder], { stdio: ["ignore", 2, 2] });
  execFileSync(join(folder, "bin/pip"), ["install", "--quiet", PEER, SDK], { stdio: ["ignore", 2, 2] });
}

const data = (name) => readFileSync(here(`../data/corpus/${name}`), "utf8").split("\n").filter(Boolean);

install();
const secrets = data("secrets.jsonl").map((line) => JSON.parse(line)).map(([rule, ...pieces]) => ({ rule, text: pieces.join("") }));
const clean = data("clean.txt").map((text) => ({ rule: undefined, text }));
const all = [...secrets, ...clean];
const theirs = JSON.parse(execFileSync(python, [here("peers/lasso.py")], { input: JSON.stringify(all.map(({ text }) => text)), maxBuffer: 1 << 26 }));
const ours = await Promise.all(all.map(async ({ text }) => (await Gateway.checkOutboundText(text)).length > 0));

const rules = [...new Set(secrets.map(({ rule }) => rule))];
const count = (wanted, fired) => all.filter(({ rule }, i) => wanted(rule) && fired[i]).length;
const line = (name, of, wanted) => {
  const cell = (fired) => `${String(count(wanted, fired)).padStart(4)} (${String(Math.round((count(wanted, fired) / of) * 100)).padStart(3)} %)`;
  console.log(`${name.padEnd(24)} ${String(of).padStart(5)}   ${cell(ours)}   ${cell(theirs)}`);
};
console.log(`${"what stands in the texts".padEnd(24)} texts   Narrows       ${PEER}`);
for (const rule of rules) line(rule, secrets.filter((secret) => secret.rule === rule).length, (name) => name === rule);
line("secrets, in all", secrets.length, (name) => name !== undefined);
const tokens = (name) => ["well_known_prefix", "key_value_secret", "authorization_literal", "opaque_token"].includes(name);
line("without personal data", secrets.filter(({ rule }) => tokens(rule)).length, tokens);
line("nothing (false alarms)", clean.length, (name) => name === undefined);
