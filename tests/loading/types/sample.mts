// A host in TypeScript: what is right compiles, and each mistake below is one.
import init, { Core, Driver } from "narrows";
import type { ConfigObject, Deadline, Genesis, Host, HostRequest, Input, Notice, Output } from "narrows";
import load, { initSync, Core as SlimCore } from "narrows/slim";

const genesis: Genesis = { seed: new Uint8Array(32), now: 0, unixMs: 0n };
const config: ConfigObject = { name: "n", limits: { reply_bytes: 1, redirects: 3n }, network: { allow_private: true } };

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
  core.body(1, 1n, new Uint8Array(1));
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

const driver = new Driver(config, host);
driver.open(1, "scope", (text) => text.toUpperCase());
driver.onNotice((notice: Notice) => notice.event);
driver.onDead((message) => message.length);
const pieces: string[] = driver.snapshot({ secrets: false });
Driver.restore(config, host, pieces)[Symbol.dispose]();
const dead: string | undefined = driver.dead;
const slim: Core = new SlimCore(genesis);

// @ts-expect-error a seed is bytes
const badSeed: Genesis = { seed: "x", now: 0, unixMs: 0 };
// @ts-expect-error no such limit
const badLimit: ConfigObject = { limits: { replies: 1 } };
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

export { start, drive, dead, slim, badSeed, badLimit, badKey, badHosts, badInput, badCause, badTimer, badFetch, badOutput, badReason };
