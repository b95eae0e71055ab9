// What a send costs the process that makes it, against an agent on loopback. `node tests/bench/send.mjs [--quick]`
import "./install.mjs";
import { spawn } from "node:child_process";
import { once } from "node:events";

import { median, quick, table, times } from "./measure.mjs";
import { NARROWS, Program, here } from "./process.mjs";

const CALLS = quick ? 20 : 2000;
const ROUNDS = quick ? 1 : 3;
const WARM_UP = CALLS / 4;
const ANSWER_LENGTH = 800;

const SENDERS = {
  narrows: NARROWS,
  "SDKs: MCP 2.4.0 + A2A 1.3.0": here("peers/gateway.mjs"),
  "SDK: A2A 1.3.0 alone": here("peers/client.mjs"),
};

async function calls(program, count, concurrency) {
  let left = count;
  const one = async () => {
    while (left > 0) {
      left -= 1;
      const { content } = await program.call("send_message", { agent: "echo", message: "Hello there" });
      if (content[0].text.length < ANSWER_LENGTH) throw new Error(`an answer of ${content[0].text.length} characters`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, one));
}

async function cost(file, url, concurrency) {
  const program = new Program([file]);
  await program.initialize();
  await program.call("connect_agent", { alias: "echo", agent_url: url });
  await calls(program, WARM_UP, concurrency);
  const [cpu_ms, began] = [program.cpu_ms, performance.now()];
  await calls(program, CALLS, concurrency);
  const seen = { cpu_us: ((program.cpu_ms - cpu_ms) * 1000) / CALLS, per_second: (CALLS * 1000) / (performance.now() - began) };
  await program.end();
  return seen;
}

const agent = spawn(process.execPath, [here("agent.mjs")], { stdio: ["pipe", "pipe", "inherit"] });
const urls = JSON.parse((await once(agent.stdout, "data"))[0]);
const rows = [];
for (const kind of ["blocking", "streaming"]) {
  for (const concurrency of [1, 20]) {
    const seen = Object.fromEntries(Object.keys(SENDERS).map((name) => [name, []]));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, file] of Object.entries(SENDERS)) seen[name].push(await cost(file, urls[kind], concurrency));
    }
    const of = (name, what) => median(seen[name].map((one) => one[what]));
    for (const name of Object.keys(SENDERS)) {
      rows.push([
        `${kind}, ${concurrency} at a time: ${name}`,
        of(name, "cpu_us").toFixed(0),
        times(of(name, "cpu_us"), of("narrows", "cpu_us")),
        of(name, "per_second").toFixed(0),
      ]);
    }
  }
}
agent.stdin.end();
table(`CPU of the sender, ${CALLS} sends`, ["", "µs a send", "÷ narrows", "sends a second"], rows);
