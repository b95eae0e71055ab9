// The gateway as an agent under load: so many streams at once and so many short sends a second, some of whose clients are
// slow and some of whom vanish and come back.
// `node tests/soak/served.mjs [--seconds 600] [--streams 200] [--per-second 50] [--seed 1]`
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { cpu_ms } from "../bench/process.mjs";
import { Chance } from "./chance.mjs";
import { Gateway } from "./gateway.mjs";
import { Clients } from "./served-clients.mjs";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const WORK = here("../.work/soak");

/** What was held at the end may be this much over what was held after the warm-up. */
const GROWTH = 1.1;
const GROWTH_BYTES = 8 << 20;

/** How long the last streams may take. */
const DRAIN_MS = 60_000;

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "600" },
    streams: { type: "string", default: "200" },
    "per-second": { type: "string", default: "50" },
    seed: { type: "string", default: "1" },
  },
});
const [length_s, streams, perSecond, seed] = [values.seconds, values.streams, values["per-second"], values.seed].map(Number);

let failed = 0;
function check(condition, text) {
  console.log(`${condition ? "ok" : "not ok"} - ${text}`);
  if (!condition) failed += 1;
}

async function load(gateway, clients) {
  const began = performance.now();
  const elapsed_s = () => (performance.now() - began) / 1000;
  let sent = 0;
  let streaming = 0;
  const filling = setInterval(() => {
    for (; sent < elapsed_s() * perSecond; sent += 1) clients.send();
    for (; streaming < streams; streaming += 1) clients.stream().finally(() => (streaming -= 1));
  }, 10);
  const every_s = Math.max(length_s / 30, 1);
  for (let at = every_s; at <= length_s; at += every_s) {
    await sleep(at * 1000 - elapsed_s() * 1000);
    const { own, heap, external, wasm } = await gateway.sample(Math.round(elapsed_s()));
    const mib = (bytes) => (bytes / 2 ** 20).toFixed(1);
    console.log(
      `# ${at.toFixed(0)} s: ${clients.open} open, own ${mib(own)}, heap ${mib(heap)}, external ${mib(external)}, wasm ${mib(wasm)} MiB`,
    );
  }
  clearInterval(filling);
  const stopped = performance.now();
  while (clients.open > 0 && performance.now() < stopped + DRAIN_MS) await sleep(50);
}

const median = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];

/** Memory is what it was after the warm-up. */
function level({ samples }) {
  const held = (what, from, to) => {
    const within = samples.filter(({ seconds }) => seconds >= from * length_s && seconds <= to * length_s);
    return median(within.map((sample) => sample[what]));
  };
  for (const what of ["own", "heap", "external", "wasm"]) {
    const [before, after] = [held(what, 0.15, 0.35), held(what, 0.8, 1)];
    const figures = [before, after].map((bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`).join(", then ");
    check(after <= before * GROWTH + GROWTH_BYTES, `${what} is level: ${figures}`);
  }
}

mkdirSync(WORK, { recursive: true });
const agent = spawn(process.execPath, [here("served-agent.mjs")], { stdio: ["pipe", "pipe", "inherit"] });
const [url] = await agent.stdout.setEncoding("utf8").take(1).toArray();
const skill = (id, responder) => ({ id, name: id, tags: ["load"], responder });
const a2a = { name: "Load", responder: "echo", skills: [skill("echo", "echo"), skill("count", "relay:counter")] };
const external_agents = [{ name: "counter", url: url.trim() }];
writeFileSync(`${WORK}/served.json`, JSON.stringify({ external_agents, a2a, limits: { calls_per_peer: 4096 } }));
const gateway = new Gateway(["serve", "--port", "0", "--config", `${WORK}/served.json`]);
try {
  const clients = new Clients(`${new URL(await gateway.address()).origin}/a2a`, new Chance(seed), Math.min(length_s, 30) * 1000);
  await load(gateway, clients);
  const { counts, faults } = clients;
  console.log(`# ${JSON.stringify(counts)}`);
  console.log(`# CPU of the gateway: ${(cpu_ms(gateway.child.pid) / length_s).toFixed(1)} ms a second`);
  writeFileSync(`${WORK}/served-report.json`, JSON.stringify({ length_s, streams, perSecond, seed, counts, faults, memory: gateway.samples }, null, 1));
  for (const fault of faults.slice(0, 20)) console.log(`# ${fault}`);
  check(clients.open === 0, "every stream came to its end");
  check(faults.length === 0, `nothing is lost of ${counts.sends} sends and ${counts.streams} streams`);
  check(counts.answered + counts.sendsGone === counts.sends, "every send is answered once");
  if (length_s >= 300) level(gateway);
  clients.close();
  gateway.child.kill("SIGTERM");
  check((await gateway.exited) === 0, "the gateway ends when it is told to");
} finally {
  gateway.kill();
  agent.stdin.end();
}
process.exitCode = failed === 0 ? 0 : 1;
