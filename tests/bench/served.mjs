// What a send costs the agent that gets it: the gateway's echo beside the same on the official SDKs, over JSON-RPC.
// `node tests/bench/served.mjs [--quick]`
import "./install.mjs";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { fileURLToPath } from "node:url";

import { median, quick, table, times } from "./measure.mjs";
import { NARROWS, cpu_ms, here } from "./process.mjs";

const SENDS = quick ? 20 : 4000;
const ROUNDS = quick ? 1 : 3;
/** Enough for compilers and for the first collections. */
const WARM_UP = SENDS / 2;

const venv = fileURLToPath(new URL("../.work/bench/py13", import.meta.url));
const python = `${venv}/bin/python`;
if (!existsSync(python)) {
  execFileSync("python3", ["-m", "venv", venv]);
  const pins = fileURLToPath(new URL("../interop/requirements-py13.txt", import.meta.url));
  execFileSync(`${venv}/bin/pip`, ["install", "--quiet", "--no-deps", "--requirement", pins], { stdio: ["ignore", 2, 2] });
}

const config = fileURLToPath(new URL("../.work/bench/served.json", import.meta.url));
writeFileSync(config, JSON.stringify({ a2a: { responder: "echo" } }));

const AGENTS = {
  narrows: [process.execPath, NARROWS, "serve", "--port", "0", "--config", config],
  "@a2a-js/sdk 1.3.0": [process.execPath, here("peers/echo.mjs")],
  "a2a-sdk 1.3.0": [python, here("peers/echo.py")],
};

/** Starts an agent and gives the URL of its JSON-RPC. */
async function started(name) {
  const child = spawn(AGENTS[name][0], AGENTS[name].slice(1), { stdio: ["pipe", "pipe", "inherit"] });
  let said = "";
  for await (const chunk of child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    said += chunk;
    const found = /at (http:\/\/[^/\s]+)\S*\n/.exec(said);
    if (found) return { child, url: `${found[1]}/a2a` };
  }
  throw new Error(`${name} does not start`);
}

function send(url, agent, number) {
  const message = { messageId: `m-${number}`, role: "ROLE_USER", parts: [{ text: `Hello there ${number}` }] };
  const body = JSON.stringify({ jsonrpc: "2.0", id: number, method: "SendMessage", params: { message } });
  const headers = { "Content-Type": "application/json", "A2A-Version": "1.0", "Content-Length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: "POST", agent, headers }, async (response) => {
      let text = "";
      for await (const chunk of response.setEncoding("utf8")) text += chunk;
      const said = JSON.parse(text).result?.task?.artifacts?.[0]?.parts?.[0]?.text;
      if (said === `Hello there ${number}`) resolve();
      else reject(new Error(text));
    });
    asked.on("error", reject).end(body);
  });
}

async function sends(url, count, concurrency) {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  let left = count;
  const one = async () => {
    while (left > 0) {
      left -= 1;
      await send(url, agent, left);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, one));
  agent.destroy();
}

async function cost(name, concurrency) {
  const { child, url } = await started(name);
  try {
    await sends(url, WARM_UP, concurrency);
    const [cpu, began] = [cpu_ms(child.pid), performance.now()];
    await sends(url, SENDS, concurrency);
    return { cpu_us: ((cpu_ms(child.pid) - cpu) * 1000) / SENDS, per_second: (SENDS * 1000) / (performance.now() - began) };
  } finally {
    child.kill("SIGKILL");
  }
}

const rows = [];
for (const concurrency of [1, 20]) {
  const seen = Object.fromEntries(Object.keys(AGENTS).map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of Object.keys(AGENTS)) seen[name].push(await cost(name, concurrency));
  }
  const of = (name, what) => median(seen[name].map((one) => one[what]));
  for (const name of Object.keys(AGENTS)) {
    const cpu = of(name, "cpu_us");
    rows.push([`${concurrency} at a time: ${name}`, cpu.toFixed(0), times(cpu, of("narrows", "cpu_us")), of(name, "per_second").toFixed(0)]);
  }
}
table(`CPU of the agent, ${SENDS} sends`, ["", "µs a send", "÷ narrows", "sends a second"], rows);
