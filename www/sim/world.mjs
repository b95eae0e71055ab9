import { Core } from "../core.mjs";
import { cast } from "./agents.mjs";
import { Client } from "./client.mjs";
import { LEDGER, Ledger, OFFERS, PAY } from "./ledger.mjs";
import { Queue } from "./queue.mjs";
import { GATEWAY_HOST, Visitor } from "./visitor.mjs";
import { Wire } from "./wire.mjs";

/** The client of this page, among the gateway's peers. */
const PEER = 1;

/** Deadlines that are no reason for time to pass: a stream is kept alive while somebody thinks, a task of a day ago is forgotten. */
const BY_THE_WAY = new Set(["keep_alive", "task_expiry", "question"]);

/** After how many failures in a row the gateway holds an agent for unhealthy. */
export const UNHEALTHY = 3;

/** How long a message takes between the client and the gateway. */
const LINK_MS = 20;

/** What the gateway is born with. Answers are short here, so that a flood is over soon. It is an agent for others too. */
export const CONFIG = {
  name: "narrows-page",
  limits: { reply_bytes: 512 << 10 },
  server: { hosts: [GATEWAY_HOST] },
  a2a: { name: "Front desk", responder: "inbox" },
  mcp_servers: [{ name: "ledger", transport: { type: "http", url: `${LEDGER}/mcp` } }],
  approval: { require_approval: [PAY], cache_approvals_per_session: false },
};

/** What the pretend agents are connected with: each has a limit, so that there is a bucket to be seen. */
const LIMITS = {
  echo: { rate_limit_rps: 1, rate_limit_burst: 5 },
  writer: { rate_limit_rps: 2, rate_limit_burst: 10 },
  clerk: { rate_limit_rps: 2, rate_limit_burst: 10 },
};

/**
 * The whole system at one moment: the gateway, its client, three agents and the ways between them.
 *
 * A world is made of its birth and of the commands given to it; made again of the same, it is the same to the byte. That
 * is why time can be scrubbed back. No clock and no network are in it: what a real agent said comes in as a command.
 */
export class World {
  now = 0;
  /** how many things have happened */
  steps = 0;
  /** what went into the gateway and came out, as its trace has it, with notes about the world */
  log = [];
  /** the trace itself */
  lines = [];
  #core;
  #queue = new Queue();
  #wire;
  #client;
  #visitor;
  #letters = 0;
  #unhealthy = new Set();
  #unix_ms;
  #live;
  #timeout = "null";
  #open = new Set();

  /**
   * @param {{ seed: Uint8Array, unix_ms: number }} birth
   * @param {{ fetch(request: object): void, abort(exchange: number): void }} [live] who fetches from real agents
   */
  constructor({ seed, unix_ms }, live) {
    this.#unix_ms = unix_ms;
    this.#live = live;
    this.#core = new Core({ seed, now: 0, unixMs: unix_ms }, CONFIG);
    this.#core.trace(true);
    const clock = {
      now: () => this.now,
      stamp: () => new Date(this.#unix_ms + this.now).toISOString(),
      after: (ms, run) => this.#queue.add(this.now + ms, run),
    };
    this.agents = cast(clock);
    this.ledger = new Ledger();
    this.#wire = new Wire(clock, [...this.agents, this.ledger], (input) => this.#input(input));
    this.#client = new Client({
      send: (text) => this.#queue.add(this.now + LINK_MS, () => this.#input({ type: "message", peer: PEER, text })),
      now: () => this.now,
      onReady: () => this.#connect([...this.agents]),
    });
    this.#visitor = new Visitor({
      input: (input) => this.#input(input),
      after: (run) => this.#queue.add(this.now + LINK_MS, run),
    });
    this.#input({ type: "open", peer: PEER, scope: "page" });
    this.#client.start();
  }

  get calls() {
    return this.#client.calls;
  }

  get tools() {
    return this.#client.tools;
  }

  get faults() {
    return this.#wire.faults;
  }

  /** The visitor's requests that have no whole answer yet, with how each was made. @returns {Map<number, string>} */
  get visits() {
    return this.#visitor.open;
  }

  /** When the next thing happens by itself, or undefined. */
  get nextAt() {
    const due = this.#due?.at;
    const next = this.#queue.nextAt;
    if (due === undefined && next === undefined) return undefined;
    return Math.max(this.now, Math.min(due ?? Infinity, next ?? Infinity));
  }

  /** The same, but for what the gateway does by the way. */
  get stirsAt() {
    return this.#queue.nextAt === undefined && BY_THE_WAY.has(this.#due?.reason) ? undefined : this.nextAt;
  }

  /** The exchanges with real agents that are under way. @returns {number[]} */
  get waiting() {
    return [...this.#open];
  }

  /** Who fetches from real agents from now on. */
  reach(live) {
    this.#live = live;
  }

  /** What the gateway knows, as records of its snapshot. */
  get state() {
    return this.#core.snapshot({ secrets: false }).flatMap((piece) => JSON.parse(piece).records ?? []);
  }

  /** Lets the next thing happen. */
  step() {
    const due = this.#due?.at ?? Infinity;
    const next = this.#queue.nextAt ?? Infinity;
    this.now = Math.max(this.now, Math.min(due, next));
    this.steps += 1;
    if (next <= due) this.#queue.take()();
    else this.#input({ type: "tick" });
  }

  /** Does what a person asked for. @param {object} command */
  apply(command) {
    switch (command.type) {
      case "call":
        return this.#client.call(command.tool, command.arguments);
      case "cancel":
        return this.#client.cancel(command.id);
      case "raw":
        return this.#client.raw(command.text);
      case "fault":
        this.#wire.set(command.alias, command.change);
        return this.#note(command.note);
      case "jump":
        this.now += command.ms;
        return this.#note(`The clock jumps ahead by ${command.ms / 1000} s, as when a laptop wakes up.`);
      case "visit":
        return command.text === undefined ? this.#visitor.ask(command) : this.#visitor.send(command);
      case "leave":
        return this.#visitor.leave(command.request);
      case "decide":
        return this.#input({ type: "decision", approval: command.approval, approved: command.approved });
      case "offer":
        this.ledger.offer(OFFERS[command.tools]);
        return this.#note(command.note);
      case "report":
        if (command.input.type === "end" || command.input.type === "failed") this.#open.delete(command.input.exchange);
        return this.#input(command.input);
      default:
        throw new Error(`no such command: ${command.type}`);
    }
  }

  dispose() {
    this.#core.free();
  }

  get #due() {
    return JSON.parse(this.#timeout) ?? undefined;
  }

  #connect([next, ...rest]) {
    if (!next) return;
    const args = { alias: next.alias, agent_url: next.origin, ...LIMITS[next.alias] };
    this.#client.call("connect_agent", args, { byUser: false, onEnd: () => this.#connect(rest) });
  }

  #note(note, tone) {
    const record = { now: this.now, note, ...(tone && { tone }) };
    this.log.push(record);
    this.lines.push(JSON.stringify(record));
  }

  /** Tells what no output says: what has come into the inbox, and whose health has changed. */
  #look({ type }) {
    if (!["head", "body", "end", "failed", "tick"].includes(type)) return;
    const { state } = this;
    for (const { kind, number, alias, state: word } of state) {
      if (kind !== "inbox" || number < this.#letters) continue;
      this.#letters = number + 1;
      this.#note(`The outcome of ${alias} is in the inbox${word ? `: ${word}` : ""}.`, "good");
    }
    for (const { kind, alias, health } of state) {
      if (kind !== "agent") continue;
      const isUnhealthy = health.failures >= UNHEALTHY;
      if (isUnhealthy === this.#unhealthy.has(alias)) continue;
      if (isUnhealthy) this.#unhealthy.add(alias);
      else this.#unhealthy.delete(alias);
      if (isUnhealthy) this.#note(`The gateway holds ${alias} for unhealthy now: a broadcast skips it.`, "bad");
      else this.#note(`The gateway holds ${alias} for healthy again.`, "good");
    }
  }

  #input(input) {
    this.#core.input(this.now, JSON.stringify(input));
    const outputs = [];
    for (let text; (text = this.#core.output()) !== undefined;) outputs.push(JSON.parse(text));
    for (let line; (line = this.#core.traceLine()) !== undefined;) this.#trace(line);
    const timeout = this.#core.timeout() ?? "null";
    if (timeout !== this.#timeout) {
      this.#timeout = timeout;
      this.log.push({ now: this.now, timeout: JSON.parse(timeout) });
    }
    for (const output of outputs) this.#perform(output);
    this.#look(input);
  }

  #trace(line) {
    this.lines.push(line);
    const record = JSON.parse(line);
    if (record.genesis) return;
    this.log.push({ now: this.now, ...record });
  }

  #perform(output) {
    if (output.type === "message") this.#queue.add(this.now + LINK_MS, () => this.#client.receive(output.text));
    else if (output.type === "fetch" && this.#wire.leadsTo(output.url)) this.#wire.fetch(output);
    else if (output.type === "fetch") {
      this.#open.add(output.exchange);
      this.#live?.fetch(output);
    } else if (output.type.startsWith("response_")) this.#visitor.hear(output);
    else if (output.type === "abort") {
      this.#wire.abort(output.exchange);
      if (this.#open.delete(output.exchange)) this.#live?.abort(output.exchange);
    }
  }
}
