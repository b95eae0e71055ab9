import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

import { DemoTask } from "./demo-task.mjs";

const MENU = ["Tonight there is ", "leek and potato soup, ", "mushroom risotto ", "and a plum tart."];

/** Errors of JSON-RPC 2.0 and of A2A 1.0 §3.3.2. */
const FAULT = {
  parse: [-32700, "Parse error"],
  request: [-32600, "Invalid request"],
  method: [-32601, "Method not found"],
  params: [-32602, "Invalid parameters"],
  notFound: [-32001, "Task not found"],
  notCancelable: [-32002, "Task cannot be canceled"],
  unsupported: [-32004, "The task has ended"],
};

class Fault extends Error {
  constructor([code, message]) {
    super(message);
    this.code = code;
  }
}

/**
 * An example A2A 1.0 agent on loopback: a restaurant that streams its menu, asks back before it books a table, and
 * takes its time over a banquet.
 */
export class DemoAgent {
  #server = createServer((request, response) => this.#serve(request, response));
  #tasks = new Map();
  #pace_ms;
  #onState;

  /**
   * @param {object} options
   * @param {number} [options.pace_ms] the pause between two steps of its work
   * @param {(task: DemoTask) => void} [options.onState] told each state of each task
   */
  constructor({ pace_ms = 250, onState = () => {} } = {}) {
    this.#pace_ms = pace_ms;
    this.#onState = onState;
  }

  /** Starts to listen on a free port. @returns {Promise<string>} its URL */
  async listen() {
    await new Promise((resolve, reject) => this.#server.once("error", reject).listen(0, "127.0.0.1", resolve));
    return this.url;
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}/`;
  }

  close() {
    for (const task of this.#tasks.values()) task.cancel();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  get card() {
    const skill = (id, name, description) => ({ id, name, description, tags: ["restaurant"] });
    return {
      name: "Corner Bistro",
      description: "A restaurant that answers messages.",
      version: "1.0.0",
      supportedInterfaces: [{ url: this.url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
      capabilities: { streaming: true },
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["text/plain"],
      skills: [
        skill("menu", "Menu", "Says what there is to eat tonight."),
        skill("table", "Table", "Books a table; asks for how many and when."),
        skill("banquet", "Banquet", "Plans a banquet, which takes long and can be called off."),
      ],
    };
  }

  async #serve(request, response) {
    if (request.method === "GET" && new URL(request.url, this.url).pathname === "/.well-known/agent-card.json") {
      return sendJson(response, 200, this.card);
    }
    if (request.method !== "POST") return sendJson(response, 404, { error: "not found" });
    let id = null;
    try {
      const call = await readJson(request);
      id = call?.id ?? null;
      if (call?.jsonrpc !== "2.0" || typeof call.method !== "string") throw new Fault(FAULT.request);
      await this.#answer(call, response);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      sendJson(response, 200, { jsonrpc: "2.0", id, error: { code: error.code, message: error.message } });
    }
  }

  async #answer({ id, method, params }, response) {
    const result = (value) => sendJson(response, 200, { jsonrpc: "2.0", id, result: value });
    switch (method) {
      case "SendMessage": {
        const task = this.#receive(params);
        if (params.configuration?.returnImmediately !== true) await task.settled();
        return result({ task: task.snapshot });
      }
      case "SendStreamingMessage":
        return stream(id, this.#receive(params), response);
      case "SubscribeToTask": {
        const task = this.#task(params?.id);
        if (task.isTerminal) throw new Fault(FAULT.unsupported);
        return stream(id, task, response);
      }
      case "GetTask":
        return result(this.#task(params?.id).snapshot);
      case "CancelTask": {
        const task = this.#task(params?.id);
        if (task.isTerminal) throw new Fault(FAULT.notCancelable);
        task.cancel();
        return result(task.snapshot);
      }
      default:
        throw new Fault(FAULT.method);
    }
  }

  #task(id) {
    const task = this.#tasks.get(id);
    if (task === undefined) throw new Fault(FAULT.notFound);
    return task;
  }

  /** Takes in a message, for the task that it names or a new one, and starts to work after the answer's first event. */
  #receive(params) {
    const message = params?.message;
    if (!Array.isArray(message?.parts) || typeof message.messageId !== "string") throw new Fault(FAULT.params);
    let task;
    if (message.taskId) {
      task = this.#task(message.taskId);
      if (task.isTerminal) throw new Fault(FAULT.unsupported);
    } else {
      task = new DemoTask(message.contextId);
      this.#tasks.set(task.id, task);
      task.follow((event) => event.statusUpdate && this.#onState(task));
    }
    const waited = task.isInterrupted;
    task.receive(message);
    const text = message.parts.map((part) => part.text ?? "").join(" ");
    if (waited) task.become("WORKING", "Looking into the book.");
    setImmediate(() => this.#work(task, text, waited).catch(() => {})); // a canceled task ends its work
    return task;
  }

  async #work(task, text, waited) {
    const rest = () => pause(this.#pace_ms, undefined, { signal: task.signal });
    if (waited) {
      await rest();
      return task.become("COMPLETED", `A table is booked: ${text}`);
    }
    if (/\b(table|book)\b/i.test(text)) return task.become("INPUT_REQUIRED", "Gladly. For how many, and when?");
    if (/\bbanquet\b/i.test(text)) {
      for (let course = 1; course <= 100; course += 1) {
        task.become("WORKING", `Planning course ${course} of 100.`);
        await rest();
      }
      return task.become("COMPLETED", "The banquet is planned.");
    }
    task.become("WORKING", "Asking the kitchen.");
    for (const [i, words] of MENU.entries()) {
      await rest();
      task.write("menu", words, i === MENU.length - 1);
    }
    await rest();
    task.become("COMPLETED");
  }
}

async function readJson(request) {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  try {
    return JSON.parse(text);
  } catch {
    throw new Fault(FAULT.parse);
  }
}

function sendJson(response, status, value) {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

/** Sends a task and its events until it ends or waits for its user (A2A 1.0 §3.1.2). */
function stream(id, task, response) {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  const send = (result) => response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`);
  send({ task: task.snapshot });
  const leave = task.follow((event) => {
    send(event);
    if (task.isTerminal || task.isInterrupted) response.end();
  });
  response.on("close", leave);
}
