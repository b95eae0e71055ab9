// A host in TypeScript: what is right compiles, and each mistake below is one.
import init, { Core, Gateway, GatewayError } from "narrows";
import type { ConfigObject, Deadline, Genesis, Host, HostRequest, Input, Notice, Output, Task, Todo, Work } from "narrows";
import { FakeHost, checkHost, respondToChecks } from "narrows/testing";
import { GatewayObject, door } from "narrows/worker";
import load, { initSync, Core as SlimCore, Gateway as SlimGateway } from "narrows/slim";

const genesis: Genesis = { seed: new Uint8Array(32), now: 0, unixMs: 0n };
const config: ConfigObject = { name: "n", limits: { reply_bytes: 1, redirects: 3n }, network: { allow_private: true } };

/** A worker: an object for each caller, and the way to it. */
export class Caller extends GatewayObject {
  static override configure = (env: { TOKENS: string }): ConfigObject => ({ auth: { tokens: JSON.parse(env.TOKENS) } });
  static override async *onWork({ text }: Work, env: { NAME: string }) {
    yield { artifact: text };
    return env.NAME;
  }
}
const objects = ({ CALLERS }: { CALLERS: unknown }) => CALLERS;
export const worker = { fetch: door({ objects, configure: Caller.configure, publicAgent: () => "agent" }) };

async function start(): Promise<void> {
  await init();
  await load({ module_or_path: "/narrows.wasm" });
  initSync({ module: new Uint8Array(8) });
}

function perform(output: Output): string {
  switch (output.type) {
    case "message":
      return `${output.peer.toFixed()} ${output.text}`;
    case "fetch":
      return output.method + output.url + (output.body ?? "") + output.headers.map(([name, value]) => name + value).join();
    case "response_head":
      return output.status.toFixed() + output.headers.map(([name, value]) => name + value).join();
    case "response_body":
      return output.text;
    case "response_end":
      return output.request.toFixed();
    case "abort":
      return output.exchange.toFixed();
    case "save":
      return output.key + output.pieces.join();
    case "work":
      return output.order.principal + output.work.toFixed();
    case "work_abort":
      return output.work.toFixed();
    case "open_link":
      return output.server + output.command + output.args.join() + output.env.join();
    case "write_link":
      return output.text;
    case "close_link":
      return output.link.toFixed();
    case "load_tokens":
    case "save_tokens":
      return output.server + output.url;
    case "lookup":
      return (output.filter ?? "") + output.lookup.toFixed() + (output.limit ?? 0).toFixed() + (output.cursor ?? "");
    case "notice":
      return output.level + output.event;
    default: {
      const nothing: never = output;
      return nothing;
    }
  }
}

function drive(core: Core): number | undefined {
  const input: Input = { type: "head", exchange: 1, status: 200, headers: [["a", "b"]] };
  core.input(1.5, JSON.stringify(input));
  core.message(1n, 1, "{}");
  const todo: Todo = core.body(1, 1n, new Uint8Array(1));
  if (todo === 0) return undefined;
  for (let next = core.next(); next !== undefined; next = core.next()) {
    if (typeof next === "string") perform(JSON.parse(next) as Output);
    else if (next[0] !== undefined) next[0].toFixed() + next[2];
    else next[1].toFixed() + next[2];
  }
  for (let text = core.output(); text !== undefined; text = core.output()) perform(JSON.parse(text) as Output);
  const timeout = core.timeout();
  const deadline = timeout === undefined ? undefined : (JSON.parse(timeout) as Deadline);
  return deadline?.at;
}

const host: Host = {
  async fetch(request: HostRequest) {
    request.signal.addEventListener("abort", () => {});
    return { status: 200, headers: [["a", "b"]], body: "x" };
  },
  now: () => 1,
  setTimer: (callback, ms) => {
    callback();
    return () => void ms;
  },
};

async function converse(request: Parameters<Gateway["fetch"]>[0]): Promise<string> {
  using gateway = await Gateway.open({ config, host, scope: "me", onNotice: (notice: Notice) => notice.event, onTrace: (line) => line.length });
  const [first] = await gateway.tools();
  const { text, structured, json } = await gateway.send(
    { agent: "bistro", message: "hello", parts: null },
    { onProgress: ({ progress, total }) => progress + (total ?? 0) },
  );
  const task: Task | undefined = structured.task;
  const exact: string | undefined = json;
  const [id, state]: [string | undefined, string | undefined] = [task?.id, task?.status?.state];
  const waits = state === "TASK_STATE_INPUT_REQUIRED" || task?.status?.state === "TASK_STATE_OF_TOMORROW";
  const { structured: listed } = await gateway.agents();
  const health: "healthy" | "unhealthy" | "unknown" | undefined = listed.agents[0]?.health;
  const own: string | undefined = (await gateway.call("connect_agent", { alias: "a", agent_url: "https://a.example" })).structured.card?.name;
  const other: unknown = (await gateway.call("a_tool_of_tomorrow", { x: 1 })).structured["y"];
  gateway.directory.register({ name: "bistro", url: "https://a.example", skills: [] });
  gateway.directory.unregister("bistro");
  (await Gateway.open({ directory: { list: async () => [{ name: "bistro" }] } })).dispose();
  (await Gateway.open({ directory: { query: ({ limit, cursor }) => ({ cards: [], next_token: limit.toFixed() + (cursor ?? "") }) } })).dispose();
  const response = await gateway.fetch(request);
  const transport = gateway.transport({ scope: "other" });
  transport.onmessage = (message) => message.id;
  gateway.port().postMessage({ jsonrpc: "2.0", method: "ping", id: 1 });
  const pieces: string[] = gateway.snapshot({ secrets: false });
  (await SlimGateway.open({ snapshot: pieces })).dispose();
  const reason: string | undefined = gateway.explain("mcp_a_b", { sender: "ada", arguments: { x: 1 } }).answers[0]?.trace[0]?.rule;
  for (const held of gateway.heldTools()) gateway.acceptTool(held);
  gateway.trace((line) => line.length + (reason?.length ?? 0));
  gateway.trace();
  return [first?.name, text, exact, id, waits, health, own, other, response.status, gateway.dead].join();
}

async function rehearse(request: Parameters<typeof respondToChecks>[0]): Promise<number> {
  const fake = new FakeHost({ answer: async ({ url }) => ({ status: 200, body: url }), seed: 5 });
  using gateway = await Gateway.open({ host: fake });
  await fake.advance(1000);
  const results = await checkHost(fake, { url: "http://localhost:1" });
  const problem: string | undefined = results[0]?.problem;
  return (await respondToChecks(request)).status + (problem?.length ?? 0) + fake.requests.length + (fake.timers[0] ?? 0) + (gateway.dead?.length ?? 0);
}

/** Agents made of functions, each in its way, with their state kept by promises. */
async function serve(): Promise<void> {
  const onSave = async (key: string, pieces: readonly string[]) => void (key + pieces.join());
  await Gateway.open({ onSave, onWork: ({ text }) => text });
  await Gateway.open({ onWork: async (work: Work) => ({ ask: work.task.id + work.principal + (work.skill ?? "") }) });
  await Gateway.open({ onWork: async () => {} });
  await Gateway.open({
    config: { a2a: { name: "Bistro" } },
    async *onWork({ text, message, signal }) {
      signal.throwIfAborted();
      yield `about ${text}`;
      yield { artifact: "soup, " };
      yield { artifact: { name: "menu", parts: message.parts ?? [] }, append: true };
      yield { statusUpdate: { status: { state: "TASK_STATE_WORKING" } } };
      return { ask: "For how many?" };
    },
  });
}

function wait(error: unknown): number {
  if (!(error instanceof GatewayError)) return 0;
  if (error.code === "broadcast_failed") return Object.keys(error.results ?? {}).length;
  if (error.code === "timeout") return error.task_id?.length ?? 0;
  return error.retry_after_ms ?? error.task?.artifacts?.length ?? 0;
}

const slim: Core = new SlimCore(genesis);

// @ts-expect-error a seed is bytes
const badSeed: Genesis = { seed: "x", now: 0, unixMs: 0 };
// @ts-expect-error no such limit
const badLimit: ConfigObject = { limits: { replies: 1 } };
// @ts-expect-error a process has a command
const badServer: ConfigObject = { mcp_servers: [{ name: "a", transport: { type: "stdio" } }] };
// @ts-expect-error no such key
const badKey: ConfigObject = { histroy: { depth: 1 } };
// @ts-expect-error a list of names
const badHosts: ConfigObject = { network: { allowed_hosts: "localhost" } };
// @ts-expect-error no such input
const badInput: Input = { type: "head", exchange: 1 };
// @ts-expect-error no such cause
const badCause: Input = { type: "failed", exchange: 1, cause: "bad luck" };
// @ts-expect-error a timer returns what cancels it
const badTimer: Host = { setTimer: (callback: () => void) => callback() };
// @ts-expect-error a gateway is opened
new Gateway();
// @ts-expect-error the tools have their own names for things
const badCall = (gateway: Gateway) => gateway.send({ agent: "a", text: "x" });
// @ts-expect-error an agent has a URL
const badConnect = (gateway: Gateway) => gateway.call("connect_agent", { alias: "a" });
// @ts-expect-error no such code
const badCode = (error: GatewayError) => error.code === "bad_luck";
// @ts-expect-error a card has a name
const badRegister = (gateway: Gateway) => gateway.directory.register({ url: "https://a.example" });
// @ts-expect-error no such option
const badOption = Gateway.open({ name: "x" });
// @ts-expect-error a function says what is an update
const badWork = Gateway.open({ onWork: async () => 5 });
// @ts-expect-error a function tells of a state that there is
const badState = Gateway.open({ onWork: async () => ({ statusUpdate: { status: { state: "TASK_STATE_OF_TOMORROW" } } }) });
// @ts-expect-error some agents give no id
const badId = (task: Task): string => task.id;
// @ts-expect-error a response has a status
const badFetch: Host = { fetch: async () => ({ body: "x" }) };
// @ts-expect-error a time is a number
new Core(genesis).input("now", "{}");
// @ts-expect-error texts are not bytes
new Core(genesis).body(1, 1, "x");
// @ts-expect-error an output may be missing
const badOutput: string = new Core(genesis).output();
// @ts-expect-error a core is born of something
new Core();
// @ts-expect-error the reason is one of a few
const badReason: Deadline = { at: 1, reason: "because" };

export { start, drive, converse, rehearse, serve, wait, badWork, slim, badCall, badConnect, badRegister, badCode, badOption, badSeed, badLimit, badKey, badHosts, badInput, badCause, badTimer, badFetch, badOutput, badReason };
