import { fileURLToPath } from "node:url";

import { mcpJson } from "./command.mjs";
import { DemoAgent } from "./demo-agent.mjs";
import { DemoClient } from "./demo-client.mjs";

const PROGRAM = fileURLToPath(new URL("../cli.js", import.meta.url));

/** A pace at which a person can follow. */
const PACE_MS = 400;

/** How long a called-off task may take to hear of it. */
const CANCEL_MS = 2000;

/**
 * Shows a whole conversation: an example A2A agent, the gateway as a process of its own, and an MCP client that does
 * what a model's host does.
 *
 * @param {import("node:tty").WriteStream} output
 * @param {{ pace_ms?: number, program?: string }} options how fast the agent works, and the gateway's program
 * @returns {Promise<number>} the exit code: 1 if a step failed
 */
export async function runDemo(output, { program = PROGRAM, pace_ms = PACE_MS } = {}) {
  const show = new Show(output);
  const states = new Map();
  const agent = new DemoAgent({ pace_ms, onState: (task) => states.set(task.id, task.state) });
  const started = performance.now();
  let client;
  try {
    show.step("an example agent");
    const url = await agent.listen();
    show.line("agent", `${agent.card.name} listens at ${url}`);
    client = new DemoClient(program);
    await converse({ client, show, url, states });
    show.step("the end");
    const code = await client.close();
    if (code !== 0) throw new Error(`the gateway ended with code ${code}`);
    show.line("gateway", "ended when its client left");
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    show.end(`All of it took ${seconds} s. For agents of your own, put this into your MCP host's mcp.json:\n\n${mcpJson()}`);
    return 0;
  } catch (error) {
    show.end(`The step "${show.current}" failed: ${error.message}`);
    await client?.close();
    return 1;
  } finally {
    agent.close();
  }
}

async function converse({ client, show, url, states }) {
  const call = async (name, args, meta) => {
    const result = await client.request("tools/call", { name, arguments: args, ...(meta && { _meta: meta }) });
    if (result.isError) throw new Error(result.content[0].text);
    return result;
  };
  const send = (message, token) => {
    show.line("you", message);
    client.onProgress(token, ({ message: text }) => text && show.line("  …", text));
    return call("send_message", { agent: "bistro", message }, { progressToken: token });
  };
  const answer = (result, state) => {
    const seen = result.structuredContent.task?.status.state;
    const [words, ...facts] = result.content.map(({ text }) => text);
    show.line("bistro", `${words} (${facts.find((fact) => fact.startsWith("state: "))})`);
    expect(seen === `TASK_STATE_${state}`, `the task should be in TASK_STATE_${state}`);
  };

  show.step("an MCP client meets the gateway");
  const hello = await client.request("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "narrows-demo", version: "1" },
  });
  client.notify("notifications/initialized");
  show.line("gateway", `${hello.serverInfo.name} ${hello.serverInfo.version}, MCP ${hello.protocolVersion}`);
  const { tools } = await client.request("tools/list", {});
  show.line("gateway", `offers ${tools.length} tools: ${tools.map(({ name }) => name).join(", ")}`);

  show.step("connecting the agent");
  show.line("you", `connect_agent bistro ${url}`);
  const connected = await call("connect_agent", { alias: "bistro", agent_url: url });
  show.line("gateway", connected.content[0].text);
  expect(connected.structuredContent.card?.streaming === true, "the agent's card should say that it streams");

  show.step("an answer that streams in");
  answer(await send("What is for dinner tonight?", "menu"), "COMPLETED");

  show.step("the agent asks back");
  answer(await send("Please book a table.", "table"), "INPUT_REQUIRED");
  answer(await send("Four people, at eight.", "follow-up"), "COMPLETED");

  show.step("a long task is called off");
  const task = await callOff({ client, show, states });
  answer(await call("get_task", { agent: "bistro", task_id: task }), "CANCELED");

  show.step("what the gateway knows");
  const { structuredContent } = await call("list_agents", {});
  for (const { alias, health, url: at } of structuredContent.agents) show.line("gateway", `${alias} at ${at} is ${health}`);
  expect(
    structuredContent.agents.some(({ alias, health }) => alias === "bistro" && health === "healthy"),
    "bistro should be healthy",
  );
}

/** Sends something long, cancels the MCP request after two reports, and waits for the agent's task to be canceled. */
async function callOff({ client, show, states }) {
  show.line("you", "Plan a banquet for a hundred.");
  const before = new Set(states.keys());
  let reports = 0;
  const twice = new Promise((resolve) => {
    client.onProgress("banquet", ({ message }) => {
      reports += 1;
      if (reports <= 2) show.line("  …", message ?? "working");
      if (reports === 2) resolve();
    });
  });
  const { id, answer } = client.begin("tools/call", {
    name: "send_message",
    arguments: { agent: "bistro", message: "Plan a banquet for a hundred.", new_conversation: true },
    _meta: { progressToken: "banquet" },
  });
  const early = answer.then((result) => {
    if (result !== undefined) throw new Error("the banquet was answered before it was called off");
  });
  await Promise.race([twice, early]);
  show.line("you", "Never mind. (the MCP request is cancelled)");
  client.cancel(id);
  const [task] = [...states.keys()].filter((known) => !before.has(known));
  const deadline = performance.now() + CANCEL_MS;
  while (states.get(task) !== "TASK_STATE_CANCELED") {
    expect(performance.now() < deadline, "the agent was not told that its task is called off");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return task;
}

function expect(holds, sentence) {
  if (!holds) throw new Error(sentence);
}

/** What a person sees: who says what, in colours on a terminal that wants them. */
class Show {
  static #COLOURS = { you: 36, bistro: 32, agent: 32, gateway: 33, "  …": 90 };
  current = "the start";
  #output;
  #colours;

  constructor(output) {
    this.#output = output;
    this.#colours = output.isTTY === true && !process.env.NO_COLOR;
  }

  step(title) {
    this.current = title;
    this.#output.write(`\n${this.#painted(1, title)}\n`);
  }

  line(who, text) {
    const [first, ...rest] = text.split("\n");
    const name = this.#painted(Show.#COLOURS[who], who.padEnd(8));
    this.#output.write(`  ${name} ${[first, ...rest.map((line) => " ".repeat(11) + line)].join("\n")}\n`);
  }

  end(text) {
    this.#output.write(`\n${text}\n`);
  }

  #painted(colour, text) {
    return this.#colours ? `\u001b[${colour}m${text}\u001b[0m` : text;
  }
}
