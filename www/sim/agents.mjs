import { Task, asVersion03 } from "./task.mjs";

/** Errors of JSON-RPC 2.0 and of A2A 1.0 §3.3.2. */
const FAULT = {
  method: { code: -32601, message: "Method not found" },
  params: { code: -32602, message: "Invalid parameters" },
  notFound: { code: -32001, message: "Task not found" },
  notCancelable: { code: -32002, message: "Task cannot be canceled" },
  unsupported: { code: -32004, message: "The task has ended" },
};

/** How long the writer takes for each piece. */
const PIECE_MS = 350;

/** How long the clerk takes to look into the book. */
const BOOK_MS = 2200;

/**
 * @typedef {object} Clock the world's time, as agents see it
 * @property {() => number} now
 * @property {() => string} stamp the wall clock, RFC 3339
 * @property {(ms: number, run: () => void) => void} after
 * @typedef {object} Response
 * @property {(status: number, headers: [string, string][]) => void} head
 * @property {(text: string) => void} body
 * @property {() => void} end
 * @property {(leave: () => void) => void} onGone told when nobody listens any more
 */

/** What the three pretend agents share: a card, tasks by id, JSON-RPC. */
class Agent {
  tasks = new Map();
  #count = 0;

  /** @param {string} alias @param {string} about @param {Clock} clock */
  constructor(alias, about, clock) {
    Object.assign(this, { alias, about, clock, origin: `https://${alias}.test` });
  }

  /** @param {{ method: string, url: string, body?: string }} request @param {Response} response */
  serve({ method, url, body }, response) {
    if (method === "GET") {
      const isCard = new URL(url).pathname === "/.well-known/agent-card.json";
      return isCard ? json(response, 200, this.card) : json(response, 404, { error: "not found" });
    }
    const call = JSON.parse(body);
    const reply = {
      result: (result) => json(response, 200, { jsonrpc: "2.0", id: call.id, result }),
      fault: (error) => json(response, 200, { jsonrpc: "2.0", id: call.id, error }),
      stream: (task) => stream(call.id, task, response),
    };
    this.answer(call, reply);
  }

  newTask(message) {
    const id = `${this.alias}-task-${(this.#count += 1)}`;
    const contextId = message.contextId ?? `${this.alias}-talk-${this.#count}`;
    const task = new Task({ id, contextId, stamp: this.clock.stamp });
    this.tasks.set(id, task);
    return task;
  }

  /** The task of a message: a new one, or the one that it names. */
  taskOf(message, reply) {
    if (!message.taskId) return this.newTask(message);
    const task = this.tasks.get(message.taskId);
    if (task && !task.isTerminal) return task;
    reply.fault(task ? FAULT.unsupported : FAULT.notFound);
    return undefined;
  }

  known(id, reply, then) {
    const task = this.tasks.get(id);
    if (task) then(task);
    else reply.fault(FAULT.notFound);
  }

  cancel(id, reply, form) {
    this.known(id, reply, (task) => {
      if (task.isTerminal) return reply.fault(FAULT.notCancelable);
      task.become("CANCELED", "Stopped, as you asked.");
      reply.result(form(task));
    });
  }

  cardWith(more) {
    return {
      name: this.alias[0].toUpperCase() + this.alias.slice(1),
      description: this.about,
      version: "1.0.0",
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["text/plain"],
      ...more,
    };
  }
}

/** Answers at once with what it was told. A2A 1.0. */
class Echo extends Agent {
  get card() {
    return this.cardWith({
      supportedInterfaces: [{ url: `${this.origin}/`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
      capabilities: { streaming: false },
      skills: [{ id: "echo", name: "Echo", description: "Says what you said.", tags: ["test"] }],
    });
  }

  answer({ method, params, id }, reply) {
    if (method === "GetTask" || method === "CancelTask") return reply.fault(FAULT.notFound);
    if (method !== "SendMessage") return reply.fault(FAULT.method);
    if (!Array.isArray(params?.message?.parts)) return reply.fault(FAULT.params);
    const contextId = params.message.contextId ?? "echo-talk";
    const parts = params.message.parts.map((part) => ("text" in part ? { text: `You said: ${part.text}` } : part));
    reply.result({ message: { messageId: `echo-${id}`, role: "ROLE_AGENT", contextId, parts } });
  }
}

/** Streams an outline and then a text, piece by piece. A2A 1.0. */
class Writer extends Agent {
  get card() {
    return this.cardWith({
      supportedInterfaces: [{ url: `${this.origin}/`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
      capabilities: { streaming: true },
      skills: [{ id: "write", name: "Write", description: "Writes a few sentences, slowly.", tags: ["text"] }],
    });
  }

  answer({ method, params }, reply) {
    switch (method) {
      case "SendStreamingMessage":
      case "SendMessage": {
        if (!Array.isArray(params?.message?.parts)) return reply.fault(FAULT.params);
        const task = this.taskOf(params.message, reply);
        if (!task) return;
        task.receive(params.message);
        if (method === "SendMessage") reply.result({ task: task.snapshot });
        else reply.stream(task);
        return this.#write(task, textOf(params.message));
      }
      case "SubscribeToTask":
        return this.known(params?.id, reply, (task) => (task.isTerminal ? reply.fault(FAULT.unsupported) : reply.stream(task)));
      case "GetTask":
        return this.known(params?.id, reply, (task) => reply.result(task.snapshot));
      case "CancelTask":
        return this.cancel(params?.id, reply, (task) => task.snapshot);
      default:
        return reply.fault(FAULT.method);
    }
  }

  #write(task, topic) {
    const pieces = [
      `About ${topic}: `,
      "a narrows is a strait ",
      "between two wide waters. ",
      "Everything that wants across ",
      "has to pass there, ",
      "so it is a good place ",
      "to see who goes by, ",
      "and to keep things in order.",
    ];
    const steps = [
      () => task.become("WORKING", "Thinking of an outline."),
      () => task.write("outline", { text: `Outline: ${topic}, in ${pieces.length} pieces.\n` }, true),
      ...pieces.map((text, i) => () => task.write("text", { text }, i === pieces.length - 1)),
      () => task.become("COMPLETED"),
    ];
    const next = () => {
      if (task.isTerminal) return;
      steps.shift()();
      if (steps.length > 0) this.clock.after(PIECE_MS, next);
    };
    this.clock.after(PIECE_MS / 2, next);
  }
}

/** Asks back before it does anything, then takes its time. Speaks A2A 0.3, and does not stream. */
class Clerk extends Agent {
  get card() {
    return this.cardWith({
      protocolVersion: "0.3.0",
      url: `${this.origin}/a2a`,
      preferredTransport: "JSONRPC",
      capabilities: { streaming: false },
      skills: [{ id: "book", name: "Book", description: "Books a table; asks for how many and when.", tags: ["table"] }],
    });
  }

  answer({ method, params }, reply) {
    switch (method) {
      case "message/send": {
        if (!Array.isArray(params?.message?.parts)) return reply.fault(FAULT.params);
        const task = this.taskOf(params.message, reply);
        if (!task) return;
        const waited = task.isInterrupted;
        task.receive(params.message);
        if (waited) this.#book(task, textOf(params.message));
        else task.become("INPUT_REQUIRED", "Gladly. For how many people, and when?");
        return reply.result(asVersion03(task));
      }
      case "tasks/get":
        return this.known(params?.id, reply, (task) => reply.result(asVersion03(task)));
      case "tasks/cancel":
        return this.cancel(params?.id, reply, asVersion03);
      default:
        return reply.fault(FAULT.method);
    }
  }

  #book(task, wish) {
    task.become("WORKING", "Looking into the book.");
    this.clock.after(BOOK_MS, () => task.become("COMPLETED", `Booked: ${wish}`));
  }
}

/** The three pretend agents. @param {Clock} clock */
export function cast(clock) {
  return [
    new Echo("echo", "Repeats what you say.", clock),
    new Writer("writer", "Writes slowly, in pieces.", clock),
    new Clerk("clerk", "Asks back before it acts.", clock),
  ];
}

function textOf({ parts }) {
  return (
    parts
      .map((part) => part.text ?? "")
      .join(" ")
      .trim() || "nothing"
  );
}

function json(response, status, value) {
  response.head(status, [["content-type", "application/json"]]);
  response.body(JSON.stringify(value));
  response.end();
}

/** Sends a task and its events until it ends or waits for its user (A2A 1.0 §3.1.2). */
function stream(id, task, response) {
  const send = (result) => response.body(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`);
  response.head(200, [["content-type", "text/event-stream"]]);
  send({ task: task.snapshot });
  const leave = task.follow((event) => {
    send(event);
    if (!task.isTerminal && !task.isInterrupted) return;
    leave();
    response.end();
  });
  response.onGone(leave);
}
