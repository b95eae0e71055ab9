// What a send and a broadcast cost the process that makes them, against an agent on loopback.
// `node tests/bench/send.mjs [--quick]`
import "./install.mjs";
import { spawn } from "node:child_process";
import { once } from "node:events";

import { median, quick, table, times } from "./measure.mjs";
import { NARROWS, Program, here } from "./process.mjs";

const CALLS = quick ? 20 : 2000;
const ROUNDS = quick ? 1 : 3;
const ANSWER_LENGTH = 800;

const SENDERS = {
  narrows: NARROWS,
  "SDKs: MCP 2.4.0 + A2A 1.3.0": here("peers/gateway.mjs"),
  "SDK: A2A 1.3.0 alone": here("peers/client.mjs"),
};

const ALIASES = Array.from({ length: 10 }, (_, number) => `echo-${number}`);

async function send(program) {
  const { content } = await program.call("send_message", { agent: ALIASES[0], message: "Hello there" });
  if (content[0].text.length < ANSWER_LENGTH) throw new Error(`an answer of ${content[0].text.length} characters`);
}

async function broadcast(program) {
  const { structuredContent } = await program.call("broadcast_message", { aliases: ALIASES, message: "Hello there" });
  if (structuredContent.succeeded !== ALIASES.length) throw new Error(JSON.stringify(structuredContent));
}

async function calls(call, program, count, concurrency) {
  let left = count;
  const one = async () => {
    while (left > 0) {
      left -= 1;
      await call(program);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, one));
}

/** @param {(program: Program) => Promise<void>} call @param {string} file @param {string} url */
async function cost(call, file, url, count, concurrency = 1) {
  const program = new Program([file]);
  await program.initialize();
  for (const alias of ALIASES) await program.call("connect_agent", { alias, agent_url: url });
  await calls(call, program, count / 4, concurrency);
  const [cpu_ms, began] = [program.cpu_ms, performance.now()];
  await calls(call, program, count, concurrency);
  const seen = { cpu_us: ((program.cpu_ms - cpu_ms) * 1000) / count, per_second: (count * 1000) / (performance.now() - began) };
  await program.end();
  return seen;
}

/** The rows of some programs that take turns. */
async function compared(title, senders, run) {
  const seen = Object.fromEntries(senders.map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of senders) seen[name].push(await run(SENDERS[name]));
  }
  const of = (name, what) => median(seen[name].map((one) => one[what]));
  return senders.map((name) => [
    `${title}: ${name}`,
    of(name, "cpu_us").toFixed(0),
    times(of(name, "cpu_us"), of("narrows", "cpu_us")),
    of(name, "per_second").toFixed(0),
  ]);
}

const agent = spawn(process.execPath, [here("agent.mjs")], { stdio: ["pipe", "pipe", "inherit"] });
const urls = JSON.parse((await once(agent.stdout, "data"))[0]);
const rows = [];
for (const kind of ["blocking", "streaming"]) {
  for (const concurrency of [1, 20]) {
    const title = `${kind}, ${concurrency} at a time`;
    rows.push(...(await compared(title, Object.keys(SENDERS), (file) => cost(send, file, urls[kind], CALLS, concurrency))));
  }
}
const gateways = Object.keys(SENDERS).filter((name) => !name.endsWith("alone"));
const broadcasts = await compared(`to ${ALIASES.length}`, gateways, (file) => cost(broadcast, file, urls.blocking, CALLS / 10));
agent.stdin.end();
table(`CPU of the sender, ${CALLS} sends`, ["", "µs a send", "÷ narrows", "sends a second"], rows);
table(`CPU of the sender, ${CALLS / 10} broadcasts`, ["", "µs a broadcast", "÷ narrows", "broadcasts a second"], broadcasts);
