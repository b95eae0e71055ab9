// Clients of the gateway's own agent over JSON-RPC: short sends that an echo answers, and streams of tasks that go on for a
// while behind it. Some read slowly, some vanish, and those come back for the rest.
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** Pieces of a stream, and the characters in each of one that is more than the buffers of a connection hold. */
const COUNT = [5, 40];
const FILL = 30_000;
/** How long who reads slowly stops reading. */
const STOPS_MS = 3000;

const TERMINAL = /_(COMPLETED|FAILED|CANCELED|REJECTED)$/;

export class Clients {
  #url;
  #chance;
  #lasts_ms;
  #agent = new Agent({ keepAlive: true, maxSockets: 4096 });
  #number = 0;
  faults = [];
  counts = { sends: 0, answered: 0, sendsGone: 0, streams: 0, completed: 0, vanished: 0, slow: 0, pieces: 0 };
  #running = new Set();

  /** @param {string} url @param {Chance} chance @param {number} longest_ms how long a stream may last */
  constructor(url, chance, longest_ms) {
    this.#url = url;
    this.#chance = chance;
    this.#lasts_ms = [longest_ms / 8, longest_ms];
  }

  get open() {
    return this.#running.size;
  }

  /** A short send, which an echo answers. */
  send() {
    return this.#run("sends", async (number) => {
      const words = `send ${number}`;
      const call = this.#call("SendMessage", { message: message(words), metadata: { skill: "echo" } });
      if (this.#chance.oneIn(20)) {
        await sleep(this.#chance.between(0, 3));
        call.destroy();
        this.counts.sendsGone += 1;
        return;
      }
      const { result } = JSON.parse(await call.text());
      const said = result?.task?.artifacts?.[0]?.parts?.[0]?.text;
      if (said !== words) throw new Error(`${words} was answered with ${JSON.stringify(result)}`);
      this.counts.answered += 1;
    });
  }

  /** A stream, read to the end of its task. */
  stream() {
    return this.#run("streams", async () => {
      const [count, lasts_ms] = [this.#chance.between(...COUNT), this.#chance.between(...this.#lasts_ms)];
      const fill = this.#chance.oneIn(10) ? FILL : 0;
      const told = new Told();
      const text = JSON.stringify({ count, every_ms: Math.round(lasts_ms / count), fill });
      let params = { message: message(text), metadata: { skill: "count" } };
      let method = "SendStreamingMessage";
      while (!told.state?.match(TERMINAL)) {
        const call = this.#call(method, params);
        const leaves = this.#chance.oneIn(3) && told.returns < 3;
        if (leaves) sleep(this.#chance.between(100, lasts_ms)).then(() => call.destroy());
        if (this.#chance.oneIn(5)) sleep(this.#chance.between(0, 2000)).then(() => this.#stop(call));
        const broke = await this.#read(call, told);
        if (broke && !leaves) throw new Error(`a stream broke: ${broke.message}`);
        if (!broke && !told.state?.match(TERMINAL)) throw new Error(`a stream ended at ${told.state}`);
        if (!broke) break;
        this.counts.vanished += 1;
        told.returns += 1;
        if (told.id === undefined) return;
        [method, params] = ["SubscribeToTask", { id: told.id }];
        if (await this.#ended(told)) break;
      }
      const wanted = Array.from({ length: count }, (_, number) => `${number} ${".".repeat(fill)}`).join("");
      if (told.text !== wanted || told.state !== "TASK_STATE_COMPLETED") {
        throw new Error(`${told.id} is ${told.state} with ${told.text.replaceAll(".", "")} in place of 0 to ${count - 1}`);
      }
      this.counts.completed += 1;
      this.counts.pieces += count;
    });
  }

  /** Whether the task ended while nobody watched; then it is read. */
  async #ended(told) {
    const { result } = JSON.parse(await this.#call("GetTask", { id: told.id }).text());
    if (!result?.status.state.match(TERMINAL)) return false;
    told.whole(result);
    return true;
  }

  async #stop(call) {
    this.counts.slow += 1;
    call.pause();
    await sleep(STOPS_MS);
    call.resume();
  }

  async #read(call, told) {
    try {
      for await (const event of call.events()) told.event(event, this.faults);
    } catch (error) {
      // What ended between the two requests is no stream any more.
      if (error.code === -32004 && (await this.#ended(told))) return undefined;
      return error;
    }
    return undefined;
  }

  #run(what, work) {
    this.#number += 1;
    this.counts[what] += 1;
    const running = work(this.#number).catch((error) => this.faults.push(`${what}: ${error.message}`));
    this.#running.add(running);
    return running.finally(() => this.#running.delete(running));
  }

  #call(method, params) {
    this.#number += 1;
    return new Call(this.#url, this.#agent, { jsonrpc: "2.0", id: this.#number, method, params });
  }

  close() {
    this.#agent.destroy();
  }
}

/** What a watcher knows of its task. */
class Told {
  returns = 0;
  text = "";

  whole(task) {
    this.id = task.id;
    this.state = task.status.state;
    this.text = (task.artifacts ?? []).flatMap(({ parts }) => parts.map(({ text }) => text)).join("");
  }

  event({ task, statusUpdate, artifactUpdate }, faults) {
    if (this.state?.match(TERMINAL)) faults.push(`${this.id} changed after its end`);
    if (task) return this.whole(task);
    if (statusUpdate) this.state = statusUpdate.status.state;
    if (!artifactUpdate) return undefined;
    const { artifact, append } = artifactUpdate;
    this.text = (append ? this.text : "") + artifact.parts.map(({ text }) => text).join("");
    return undefined;
  }
}

/** One request. */
class Call {
  #sent;
  #response;
  #paused = false;

  constructor(url, agent, body) {
    const headers = { "Content-Type": "application/json", "A2A-Version": "1.0" };
    this.#sent = request(url, { method: "POST", agent, headers });
    this.#response = new Promise((resolve, reject) => this.#sent.on("response", resolve).on("error", reject));
    this.#response.catch(() => {});
    this.#sent.end(JSON.stringify(body));
  }

  async text() {
    let text = "";
    for await (const chunk of (await this.#response).setEncoding("utf8")) text += chunk;
    return text;
  }

  async *events() {
    const response = await this.#response;
    if (!response.headers["content-type"].startsWith("text/event-stream")) {
      const { error } = JSON.parse(await this.text());
      throw Object.assign(new Error(`${error?.code} ${error?.message}`), { code: error?.code });
    }
    let rest = "";
    for await (const chunk of response.setEncoding("utf8")) {
      while (this.#paused) await sleep(50);
      const events = (rest + chunk).split("\n\n");
      rest = events.pop();
      for (const event of events.filter((event) => event.startsWith("data: "))) yield JSON.parse(event.slice(6)).result;
    }
  }

  pause() {
    this.#paused = true;
  }

  resume() {
    this.#paused = false;
  }

  destroy() {
    this.#sent.destroy();
  }
}

const message = (text) => ({ messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] });
