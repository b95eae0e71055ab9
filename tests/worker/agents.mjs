import { createServer } from "node:http";

/**
 * Agents of A2A 1.0, one under each path: `/echo…` answers, `/ask…` asks back, `/stream…` begins a stream and goes on
 * when it is told to, `/poll…` works until its task was read a few times, `/bare…` is like echo and has no card.
 */
export class Agents {
  /** every message and cancellation that came: agent, method, parameters */
  asked = [];
  /** requests that are being answered, and the most of them at once */
  open = 0;
  peak = 0;
  #server = createServer((request, response) => this.#take(request, response));
  #streams = new Map();
  #polls = new Map();
  #waiting = new Set();

  static async start(t) {
    const agents = new Agents();
    await new Promise((resolve) => agents.#server.listen(0, "127.0.0.1", resolve));
    t.after(() => {
      agents.#server.close();
      agents.#server.closeAllConnections();
    });
    return agents;
  }

  url(name) {
    return `http://127.0.0.1:${this.#server.address().port}/${name}`;
  }

  /** What was sent to an agent with that method. */
  sent(name, method) {
    return this.asked.filter((asked) => asked.agent === name && asked.method === method);
  }

  /** Waits until something is so. @param {() => boolean} holds */
  async until(holds) {
    while (!holds()) await new Promise((resolve) => this.#waiting.add(resolve));
  }

  /** Whether an agent's stream is open at the gateway. */
  streams(name) {
    return this.#streams.has(name);
  }

  /** The task of an agent's stream is completed. */
  complete(name, message) {
    const { response } = this.#streams.get(name);
    const status = { state: "TASK_STATE_COMPLETED", message };
    this.#tell(name, { statusUpdate: { taskId: `task-of-${name}`, contextId: "c", status } });
    response.end();
  }

  #tell(name, event) {
    const { response, id } = this.#streams.get(name);
    response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result: event })}\n\n`);
  }

  #changed() {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  async #take(request, response) {
    this.open += 1;
    this.peak = Math.max(this.peak, this.open);
    response.on("close", () => {
      this.open -= 1;
      this.#changed();
    });
    const [, name, ...rest] = request.url.split("/");
    if (request.method === "GET") {
      await new Promise((resolve) => setTimeout(resolve, 5));
      const is = rest.join("/") === ".well-known/agent-card.json" && !name.startsWith("bare");
      response.writeHead(is ? 200 : 404, { "content-type": "application/json" }).end(is ? this.#card(name) : "{}");
      return;
    }
    let body = "";
    for await (const chunk of request) body += chunk;
    const { id, method, params } = JSON.parse(body);
    this.asked.push({ agent: name, method, params });
    this.#answer(name, { id, method, params }, response);
    this.#changed();
  }

  #card(name) {
    return JSON.stringify({
      name,
      description: "an agent of a test",
      version: "1",
      capabilities: { streaming: name.startsWith("stream") },
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["text/plain"],
      skills: [],
      supportedInterfaces: [{ url: this.url(name), protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    });
  }

  #answer(name, { id, method, params }, response) {
    const reply = (result) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    const contextId = params.message?.contextId ?? `context-of-${name}`;
    const task = (state) => ({ id: `task-of-${name}`, contextId, status: { state: `TASK_STATE_${state}` } });
    if (method === "SendStreamingMessage" || method === "SubscribeToTask") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      this.#streams.set(name, { response, id });
      response.on("close", () => this.#streams.delete(name));
      this.#tell(name, { task: task("WORKING") });
    } else if (method === "CancelTask") {
      reply(task("CANCELED"));
    } else if (method === "GetTask") {
      const left = (this.#polls.get(name) ?? 2) - 1;
      this.#polls.set(name, left);
      reply(task(left > 0 ? "WORKING" : "COMPLETED"));
    } else if (name.startsWith("ask")) {
      reply({ task: task(params.message.taskId ? "COMPLETED" : "INPUT_REQUIRED") });
    } else if (name.startsWith("poll")) {
      reply({ task: task("WORKING") });
    } else {
      const text = params.message.parts[0].text;
      const message = { messageId: "m", role: "ROLE_AGENT", contextId, parts: [{ text: `${name}: ${text}` }] };
      setTimeout(() => reply({ message }), 5);
    }
  }
}
