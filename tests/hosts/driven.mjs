// One driver with one peer, watched from both sides: what the peer is told, and what the gateway was told.
import { Driver } from "../../pkg/node.mjs";

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

  constructor(host, config, Class = Driver) {
    this.driver = new Class(config, host);
    this.driver.trace(true);
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
    for (let line; (line = this.driver.traceLine()) !== undefined; ) {
      const { input } = JSON.parse(line);
      if (input?.exchange !== undefined) this.#told.push(input);
    }
    const first = this.#told[0]?.exchange;
    return this.#told.filter(({ exchange }) => exchange === first).map(({ exchange, ...input }) => input);
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
