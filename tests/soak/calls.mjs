// What is asked of the gateway: a mix of all its tools, weighed so that most calls wait for agents.

/** How long calls without a deadline of their own may take (the contract of each tool). */
const CONNECT_MS = 10_000;
const READ_MS = 30_000;
const PING_MS = 5000;

/** Tasks and aliases that a scope remembers to ask about. */
const REMEMBERED = 50;

/** One scope as a caller knows it: the agents it connected, the tasks it heard of, the outcomes that are still to come. */
export class Scope {
  tasks = [];
  dispatched = new Map();
  extra = [];
  #count = 0;

  /** @param {{ agents: Record<string, string>, directory: string }} world @param {import("./book.mjs").Book} book */
  constructor(world, book, chance) {
    Object.assign(this, { world, book, chance });
    this.aliases = Object.keys(world.agents);
  }

  /** Calls that connect every agent. */
  furnish() {
    return this.aliases.map((alias) => ({
      tool: "connect_agent",
      args: { alias, agent_url: this.world.agents[alias], headers: { "X-Api-Key": `secret-of-${alias}` } },
      patience_ms: CONNECT_MS,
      kept: true,
    }));
  }

  /** A call by chance. `kept` ones must not be given up, because what they take away is needed. */
  any() {
    return this.chance.weighed(MIX)(this);
  }

  alias() {
    return this.chance.oneIn(12) && this.extra.length > 0 ? this.chance.pick(this.extra) : this.chance.pick(this.aliases);
  }

  more() {
    this.#count += 1;
    return `extra-${this.#count % 40}`;
  }

  /** The call that takes everything out of the inbox of an alias. */
  reading(alias) {
    return { tool: "read_inbox", args: { alias }, patience_ms: 0, kept: true, then: (result) => this.#took(result) };
  }

  heard(alias, task) {
    if (!task?.id) return;
    this.tasks.push([alias, task.id]);
    if (this.tasks.length > REMEMBERED) this.tasks.shift();
  }

  #took({ messages = [] }) {
    for (const { call_id: id } of messages) {
      if (!this.dispatched.delete(id)) this.book.fault(`the inbox has ${id}, which was not dispatched or was read before`);
    }
  }
}

const seconds = (chance) => chance.pick([0.5, 1, 2, 3, 5]);

function send(scope) {
  const { chance } = scope;
  const agent = chance.oneIn(15) ? chance.pick(Object.values(scope.world.agents)) : scope.alias();
  const poll_timeout_seconds = seconds(chance);
  const args = { agent, message: `What now? ${"really ".repeat(chance.pick([0, 0, 0, 500]))}`, poll_timeout_seconds };
  if (chance.oneIn(5)) args.new_conversation = true;
  if (chance.oneIn(6)) delete args.message;
  if (!args.message) args.parts = [{ data: { number: 1e21, list: [null] } }, { text: "é" }, { raw: "AAAA", filename: "zero" }];
  const then = ({ task, message }, isError) => {
    if (task) scope.heard(agent, task);
    else if (!message && !isError) scope.book.fault("send_message answered neither a task nor a message");
  };
  return { tool: "send_message", args, patience_ms: poll_timeout_seconds * 1000, then, progress: true };
}

function dispatch(scope) {
  const alias = scope.chance.pick(scope.aliases);
  const args = { agent: alias, message: "When you have time.", poll_timeout_seconds: seconds(scope.chance), async: true };
  const then = ({ async }) => async && scope.dispatched.set(async.call_id, alias);
  return { tool: "send_message async", args, patience_ms: 0, kept: true, then };
}

function broadcast(scope) {
  const { chance } = scope;
  const aliases = [...new Set(Array.from({ length: chance.between(1, 10) }, () => chance.pick(scope.aliases)))];
  const timeout_seconds = chance.between(1, 4);
  const then = ({ results = {}, error }) => {
    if (!error && aliases.some((alias) => results[alias] === undefined)) scope.book.fault("a broadcast forgot an agent");
    for (const alias of aliases) scope.heard(alias, results[alias]?.task);
  };
  return { tool: "broadcast_message", args: { aliases, message: "All of you?", timeout_seconds }, patience_ms: timeout_seconds * 1000, then, progress: true };
}

function about(tool) {
  return (scope) => {
    const [agent, task_id] = scope.tasks.length > 0 ? scope.chance.pick(scope.tasks) : [scope.alias(), "no-such-task"];
    return { tool, args: { agent, task_id }, patience_ms: READ_MS };
  };
}

function connect(scope) {
  const alias = scope.more();
  if (!scope.extra.includes(alias)) scope.extra.push(alias);
  const limit = scope.chance.oneIn(3) ? { rate_limit_rps: 2, rate_limit_burst: 2 } : {};
  return { tool: "connect_agent", args: { alias, agent_url: scope.chance.pick(Object.values(scope.world.agents)), ...limit }, patience_ms: CONNECT_MS };
}

const quick = (tool, args = () => ({})) => (scope) => ({ tool, args: args(scope), patience_ms: 0 });
const aliased = (scope) => ({ agent: scope.alias() });

/** @type {[number, (scope: Scope) => { tool: string, args: object, patience_ms: number }][]} */
const MIX = [
  [60, send],
  [12, broadcast],
  [8, dispatch],
  [8, (scope) => scope.reading(scope.chance.pick(scope.aliases))],
  [8, about("get_task")],
  [8, about("cancel_task")],
  [5, connect],
  [3, quick("disconnect_agent", (scope) => ({ alias: scope.extra.shift() ?? "extra-0" }))],
  [4, (scope) => ({ tool: "ping_agent", args: { alias: scope.alias() }, patience_ms: PING_MS })],
  [3, (scope) => ({ tool: "get_agent_card", args: { agent: scope.alias() }, patience_ms: READ_MS })],
  [3, (scope) => ({ tool: "discover_agents", args: { directory_url: scope.world.directory, limit: 3 }, patience_ms: READ_MS })],
  [3, quick("check_inbox")],
  [3, quick("list_agents")],
  [3, quick("get_history", aliased)],
  [1, quick("clear_history", aliased)],
  [1, quick("create_caller_card", () => ({ name: "Soak", description: "Asks for a long time." }))],
  [1, quick("view_caller_card")],
  [1, quick("remove_caller_card")],
  [2, quick("send_message", () => ({ agent: "nobody-knows", message: "?", colour: "red" }))],
];

/** How an answer is counted: `ok`, or what went wrong. */
export function outcome({ error, result }) {
  if (error) return `rpc ${error.code}`;
  if (!result.isError) return "ok";
  const { error: failure, results } = result.structuredContent ?? {};
  return failure?.code ?? (results ? "every agent failed" : "error without a code");
}
