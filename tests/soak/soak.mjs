// Mixed calls against agents with bad days, for as long as is wanted, over stdio and over HTTP at once.
// `node tests/soak/soak.mjs [--seconds 1800] [--in-flight 200] [--seed 1] [--face stdio|http]`
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { Book } from "./book.mjs";
import { Chance } from "./chance.mjs";
import { Gateway } from "./gateway.mjs";
import { HttpClients } from "./http.mjs";
import { StdioClient } from "./stdio.mjs";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const WORK = here("../.work/soak");

const FILL_MS = 20;
const FILL_CALLS = 10;

/** Memory is looked at this often in a long run; a short one is looked at six times. */
const SAMPLE_SECONDS = 20;

/** What was held at the end may be this much over what was held after the warm-up. */
const GROWTH = 1.1;
const GROWTH_BYTES = 8 << 20;

/** How long the last calls may take. */
const DRAIN_MS = 100_000;

/** Bounds that are reached within minutes, so that what is bounded by them is level for most of the run. */
const CONFIGURATION = {
  inbox_ttl_seconds: 600,
  history: { depth: 10 },
  limits: { reply_bytes: 4 << 20, stream_bytes: 4 << 20, artifact_bytes: 1 << 20, sessions: 60, session_event_bytes: 1 << 18 },
};

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "1800" },
    "in-flight": { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    face: { type: "string" },
  },
});
const [length_s, inFlight, seed] = [values.seconds, values["in-flight"], values.seed].map(Number);

async function world() {
  const child = spawn(process.execPath, [here("agents.mjs"), String(seed)], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await child.stdout.setEncoding("utf8").take(1).toArray();
  return { child, ...JSON.parse(line) };
}

async function soak(face) {
  const agents = await world();
  const config = `${WORK}/${face}.json`;
  writeFileSync(config, JSON.stringify(CONFIGURATION));
  const gateway = new Gateway([...(face === "http" ? ["serve", "--port", "0"] : []), "--config", config]);
  const [book, chance] = [new Book(), new Chance(seed)];
  try {
    const client =
      face === "http"
        ? new HttpClients(gateway.child, await gateway.address(), agents, book, chance)
        : new StdioClient(gateway.child, agents, book, chance);
    await client.begin();
    await run(gateway, client, book);
    await client.leave();
    const code = await gateway.exited;
    if (code !== 0) book.fault(`the gateway ended with ${code}: ${gateway.stderr}`);
    client.left();
    book.close();
  } finally {
    gateway.kill();
    agents.child.stdin.end();
  }
  return { face, ...book.report, memory: gateway.samples };
}

async function run(gateway, client, book) {
  const began = performance.now();
  const elapsed_s = () => (performance.now() - began) / 1000;
  const filling = setInterval(() => {
    for (let count = 0; count < FILL_CALLS && book.inFlight < inFlight; count += 1) client.one();
  }, FILL_MS);
  const every_s = Math.min(SAMPLE_SECONDS, length_s / 6);
  for (let at = every_s; at <= length_s; at += every_s) {
    await new Promise((resolve) => setTimeout(resolve, at * 1000 - elapsed_s() * 1000));
    book.look();
    const { own, heap, external, wasm } = await gateway.sample(Math.round(elapsed_s()));
    const mib = (bytes) => (bytes / 2 ** 20).toFixed(1);
    console.log(`# ${client.name} ${at.toFixed(0)} s: ${book.inFlight} in flight, own ${mib(own)}, heap ${mib(heap)}, external ${mib(external)}, wasm ${mib(wasm)} MiB`);
  }
  clearInterval(filling);
  const stopped = performance.now();
  while (book.inFlight > 0 && performance.now() < stopped + DRAIN_MS) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    // Whoever looks for five seconds does not wait half a minute for agents that say nothing.
    if (length_s < 60 && performance.now() > stopped + 5000) client.giveUp();
  }
  console.log(`# ${client.name} was at rest after ${((performance.now() - stopped) / 1000).toFixed(0)} s, ${book.inFlight} still in flight`);
  await client.finish(30_000);
  await gateway.sample(Math.round(elapsed_s()));
}

const median = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];

/** What a stretch of the run held, as shares of its length. */
function held(samples, what, from, to) {
  const within = samples.filter(({ seconds }) => seconds >= from * length_s && seconds <= to * length_s);
  return median(within.map((sample) => sample[what]));
}

let failed = 0;
function check(condition, text) {
  console.log(`${condition ? "ok" : "not ok"} - ${text}`);
  if (!condition) failed += 1;
}

mkdirSync(WORK, { recursive: true });
const faces = values.face ? [values.face] : ["stdio", "http"];
for (const { face, memory, ...report } of await Promise.all(faces.map(soak))) {
  writeFileSync(`${WORK}/${face}-report.json`, JSON.stringify({ length_s, inFlight, seed, ...report, memory }, null, 1));
  if (length_s >= 60) console.log(JSON.stringify(report, null, 1));
  for (const fault of report.faults) console.log(`# ${face}: ${fault}`);
  check(report.unanswered === 0, `${face}: no call is unanswered of ${report.calls}`);
  check(report.faults.length === 0, `${face}: nothing that must not be`);
  if (length_s < 600) continue;
  for (const what of ["own", "heap", "external", "wasm"]) {
    const [before, after] = [held(memory, what, 0.15, 0.35), held(memory, what, 0.8, 1)];
    const figures = [before, after].map((bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`).join(", then ");
    check(after <= before * GROWTH + GROWTH_BYTES, `${face}: ${what} is level: ${figures}`);
  }
}
process.exitCode = failed === 0 ? 0 : 1;
