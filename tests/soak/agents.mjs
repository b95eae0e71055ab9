// Agents with bad days, on one loopback port, each under its own path. `node agents.mjs SEED` prints their addresses as
// a line of JSON and ends when its stdin does.
import { createServer } from "node:http";

import { Chance } from "./chance.mjs";
import { DIALECTS, artifactEvent, card, enveloped, fault, message, read, statusEvent, task, wrapped } from "./dialects.mjs";
import { give, spoil } from "./faults.mjs";

/** Tasks that an agent remembers. */
const TASKS = 500;

const chance = new Chance(Number(process.argv[2] ?? 1));

/** One agent. Of `spoils` of its answers one goes wrong; 0 for an agent that does its work. */
class Agent {
  #tasks = new Map();
  #count = 0;

  constructor(name, dialect, spoils, streaming) {
    Object.assign(this, { name, dialect, spoils, streaming });
  }

  async answer(request, response, path, body) {
    const asked = read(this.dialect, request.method, path, body);
    const meant = this.#meant(asked);
    if (this.spoils > 0 && chance.oneIn(this.spoils)) return spoil(chance, response, meant);
    if (meant.after_ms) await new Promise((resolve) => setTimeout(resolve, meant.after_ms));
    if (!response.destroyed) return give(response, meant);
  }

  #meant({ ask, id, taskId, said }) {
    const { dialect } = this;
    const json = (value, status = 200) => ({ status, type: "application/json", pieces: [value], after_ms: chance.between(0, 400) });
    const result = (value) => json(enveloped(dialect, id, value));
    const refused = (code, words) => json(...fault(dialect, id, code, words).reverse());
    const known = this.#tasks.get(taskId);
    switch (ask) {
      case "card":
        return json(JSON.stringify(card(dialect, this.name, this.url, this.streaming)));
      case "send": {
        if (chance.oneIn(4)) return result(wrapped(dialect, "message", message(dialect, this.#ids(said), `Hello. ${this.name}`)));
        const begun = this.#begin(said);
        return { ...result(wrapped(dialect, "task", task(dialect, this.#look(begun)))), after_ms: chance.between(0, 2500) };
      }
      case "stream":
        return this.#events(id, this.#begin(said));
      case "subscribe":
        return known ? this.#events(id, known) : refused(-32001, "Task not found");
      case "get":
        return known ? result(task(dialect, this.#look(known))) : refused(-32001, "Task not found");
      case "cancel":
        if (!known) return refused(-32001, "Task not found");
        if (chance.oneIn(3)) return refused(-32002, "Task cannot be canceled");
        Object.assign(known, { now: "canceled", left: 0, end: "canceled" });
        return result(task(dialect, known));
      default:
        return json("{}", 404);
    }
  }

  #ids(said) {
    return { contextId: said?.contextId || `context-${this.name}-${chance.between(1, 50)}` };
  }

  #begin(said) {
    const id = `${this.name}-${(this.#count += 1)}`;
    const end = chance.weighed([[8, "completed"], [1, "failed"], [1, "rejected"], [2, "input-required"], [1, "working"]]);
    const begun = { id, ...this.#ids(said), now: "working", left: chance.between(0, 4), end, answer: "", words: "On it." };
    this.#tasks.set(id, begun);
    if (this.#tasks.size > TASKS) this.#tasks.delete(this.#tasks.keys().next().value);
    return begun;
  }

  /** A task moves on whenever somebody looks. */
  #look(known) {
    if (known.left > 0) known.left -= 1;
    else known.now = known.end;
    if (known.now === "completed") known.answer = "word ".repeat(chance.pick([3, 30, 3000]));
    return known;
  }

  #events(id, known) {
    const { dialect } = this;
    const events = [wrapped(dialect, "task", task(dialect, known))];
    const pieces = chance.between(0, 12);
    for (let step = 0; step < pieces; step += 1) {
      if (chance.oneIn(2)) events.push(statusEvent(dialect, known, `Step ${step}.`, false));
      else events.push(artifactEvent(dialect, known, `piece ${step} `.repeat(chance.pick([1, 100])), step > 0, step === pieces - 1));
    }
    // A stream that stops short leaves the rest to whoever asks.
    if (!chance.oneIn(5)) {
      Object.assign(known, { left: 0, now: known.end });
      events.push(statusEvent(dialect, known, "There.", known.end !== "working"));
    }
    const lines = events.map((event) => `data: ${enveloped(dialect, id, event)}\n\n`);
    return { status: 200, type: "text/event-stream", pieces: lines, pace_ms: chance.pick([0, 30, 200]) };
  }
}

const agents = new Map();
function add(name, dialect, spoils, streaming) {
  agents.set(name, new Agent(name, dialect, spoils, streaming));
}
for (const dialect of DIALECTS) {
  add(`steady-${dialect}`, dialect, 0, true);
  add(`flaky-${dialect}`, dialect, 3, true);
  add(`blocking-${dialect}`, dialect, 6, false);
}
add("wild", "rpc10", 1, true);
add("wild-rest", "rest10", 1, true);

const server = createServer(async (request, response) => {
  response.on("error", () => {});
  let body = "";
  try {
    for await (const text of request.setEncoding("utf8")) body += text;
    const [, name, path] = /^\/([^/?]+)(.*)$/.exec(request.url) ?? [];
    if (name === "directory") {
      const cards = [...agents.values()].slice(0, 5).map((agent) => card(agent.dialect, agent.name, agent.url, true));
      if (chance.oneIn(4)) return spoil(chance, response, { status: 200, type: "application/json", pieces: [JSON.stringify(cards)] });
      return give(response, { status: 200, type: "application/json", pieces: [JSON.stringify({ cards, next_token: "more" })] });
    }
    await agents.get(name)?.answer(request, response, path, body);
  } catch (error) {
    if (error.code !== "ECONNRESET" && error.code !== "ERR_STREAM_DESTROYED") process.stderr.write(`agents: ${error.stack}\n`);
    response.destroy();
  }
});
server.listen(0, "127.0.0.1", () => {
  const origin = `http://127.0.0.1:${server.address().port}`;
  const closed = createServer().listen(0, "127.0.0.1", () => {
    const nobody = `http://127.0.0.1:${closed.address().port}/nobody`;
    closed.close();
    for (const agent of agents.values()) agent.url = `${origin}/${agent.name}`;
    const urls = Object.fromEntries([...agents.values()].map(({ name, url }) => [name, url]));
    process.stdout.write(`${JSON.stringify({ agents: { ...urls, nobody }, directory: `${origin}/directory` })}\n`);
  });
});
process.stdin.on("end", () => process.exit()).resume();
