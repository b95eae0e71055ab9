// One driver with one peer, watched from both sides: what the peer is told, and what the gateway was told.
import "../../pkg/node/core.mjs";
import { openDriver } from "../../pkg/lib/open.mjs";

/** A card that any agent may show. */
export const card = JSON.stringify({
  name: "A",
  description: "an agent",
  version: "1",
  url: "https://agent.example/",
  protocolVersion: "0.3.0",
  capabilities: {},
  skills: [],
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
});

export class Driven {
  messages = [];
  #told = [];
  #waiting = [];
  #next = 1;

  notices = [];
  deaths = [];

  constructor(host, config, open = openDriver) {
    this.driver = open({
      config,
      host,
      onTrace: (line) => this.#note(JSON.parse(line)),
      onNotice: (notice) => this.notices.push(notice),
      onDead: (message) => this.deaths.push(message),
    });
    this.driver.open(1, "test", (text) => {
      this.messages.push(text);
      for (const check of this.#waiting.splice(0)) check();
    });
    const client = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    this.send({ id: 0, method: "initialize", params: client });
    this.send({ method: "notifications/initialized" });
  }

  send(message) {
    this.driver.message(1, JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  /** Asks for the card of an agent: a GET. Returns the id of the request. */
  ask(agent = "https://agent.example/") {
    const id = this.#next++;
    this.send({ id, method: "tools/call", params: { name: "get_agent_card", arguments: { agent } } });
    return id;
  }

  cancel(requestId) {
    this.send({ method: "notifications/cancelled", params: { requestId } });
  }

  answer(id) {
    return this.messages.map((text) => JSON.parse(text)).find((message) => message.id === id);
  }

  /** The answer to a request, waited for. */
  async answered(id) {
    while (this.answer(id) === undefined) await new Promise((resolve) => this.#waiting.push(resolve));
    return this.answer(id);
  }

  /** Everything the gateway was told so far about the first exchange, without its number. */
  told() {
    const first = this.#told[0]?.exchange;
    return this.#told.filter(({ exchange }) => exchange === first).map(({ exchange, ...input }) => input);
  }

  /** What the gateway asked of its host to say out loud. */
  complaints() {
    return this.notices.filter(({ event }) => event === "host_error").map(({ fields }) => fields.message);
  }

  #note({ input }) {
    if (input?.exchange !== undefined) this.#told.push(input);
  }
}

/** Asks through a fetch of the host's own and returns what the gateway was told about it. */
export async function toldBy(fetch) {
  const driven = new Driven({ fetch });
  await driven.answered(driven.ask());
  const told = driven.told();
  driven.driver.dispose();
  return told;
}

/** Lets every task that is ready run. */
export const settled = () => new Promise((resolve) => setImmediate(resolve));
