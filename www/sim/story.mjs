import { Bodies, readJson, said, stateName, stateWords, textOf } from "./a2a.mjs";
import { VISITS, addressee, originOf, purpose } from "./spans.mjs";

/** Sentences for what the gateway asks an agent for. */
const ASKS = {
  "read the card": (name) => `The gateway reads the card of ${name}.`,
  send: (name) => `The gateway sends the message to ${name}.`,
  "send, streaming": (name) => `The gateway sends the message to ${name} and listens to a stream.`,
  "read the task": (name) => `The gateway asks ${name} how the task stands.`,
  "resume the stream": (name) => `The gateway takes up the stream of ${name} again.`,
  "cancel the task": (name) => `The gateway tells ${name} to cancel the task.`,
  "discover the server": (name) => `The gateway asks ${name}, an MCP server, what it is.`,
  "list the tools": (name) => `The gateway lists the tools of ${name}.`,
  "listen for changes": (name) => `The gateway listens to ${name} for changes of its tools.`,
};

/** What became of a call that needed somebody's word. */
const DECISIONS = {
  approval_proposed: ["warn", (tool) => `${tool} waits for your word.`],
  approval_executed: ["good", (tool) => `${tool} goes out, once.`],
  approval_expired: ["bad", (tool) => `Nobody said yes to ${tool} in time.`],
  approval_withdrawn: ["world", (tool) => `${tool} is given up: what was asked is void.`],
};

const CAUSES = {
  refused: "refuses the connection",
  reset: "drops the connection",
  dns: "has no address",
  tls: "fails the TLS handshake",
  blocked: "may not be called from here",
  redirect: "redirects elsewhere",
  protocol: "does not speak HTTP",
  other: "cannot be reached",
};

const QUOTED_CHARS = 70;

/**
 * Tells records in sentences, as they come. What happens several times is told once, with a number.
 *
 * @typedef {{ at: number, text: string, tone: "plain" | "good" | "warn" | "bad" | "world", span?: string, times: number }} Sentence
 *   where it was told several times, `span` names all of them, joined by `+`
 */
export class Story {
  /** @type {Sentence[]} */
  sentences = [];
  #nameOf;
  #calls = new Map();
  #exchanges = new Map();
  #visits = new Map();
  #bodies = new Bodies();
  #told = new Map();
  /** when a stream was left to close by itself, until that is told: most close at once */
  #closing;

  /** @param {(origin: string) => string} nameOf what an agent is called */
  constructor(nameOf) {
    this.#nameOf = nameOf;
  }

  take({ now, note, tone, input, output, timeout }) {
    if (timeout !== undefined) this.#closing = undefined;
    else if (now > this.#closing) {
      this.#tell(this.#closing, "The gateway gives the stream a moment to close by itself.", "plain");
      this.#closing = undefined;
    }
    if (note !== undefined) this.#tell(now, note, tone ?? "world");
    else if (input?.type === "message") this.#asksTool(now, readJson(input.text));
    else if (input?.exchange !== undefined) this.#reported(now, input);
    else if (input?.request !== undefined) this.#visited(now, input);
    else if (output?.type === "message") this.#answered(now, readJson(output.text));
    else if (output?.type === "fetch") this.#asked(now, output);
    else if (output?.type === "notice") this.#noticed(now, output);
    else if (output?.type === "abort") this.#aborted(now, output.exchange);
    else if (output?.type === "response_body") for (const event of this.#visitorHears(output)) this.#toVisitor(now, output.request, event);
    else if (output?.type === "response_end") this.#toVisitor(now, output.request, this.#bodies.end(`v${output.request}`));
    else if (timeout?.reason === "poll") this.#waited(now, timeout.at - now);
    else if (timeout?.reason === "stream_closing") this.#closing = now;
  }

  #asksTool(now, message) {
    if (message?.method === "tools/call") {
      const to = addressee(message.params?.arguments);
      const { async: isAsync, message: words } = Object(message.params?.arguments);
      const what = `${message.params?.name}${to ? ` to ${to}` : ""}`;
      this.#calls.set(message.id, { tool: message.params?.name, what, isAsync: isAsync === true });
      const quote = typeof words === "string" ? `: ${quoted(words)}` : "";
      this.#tell(now, `The client calls ${what}${quote || "."}`, "plain", `c${message.id}`, `The client calls ${what}.`);
    } else if (message?.method === "notifications/cancelled") {
      const id = message.params?.requestId;
      this.#tell(now, `The client gives up on ${this.#calls.get(id)?.what ?? "its request"}.`, "world", `c${id}`);
    } else if (message?.method === "initialize") this.#tell(now, "The client and the gateway shake hands.", "plain", `c${message.id}`);
  }

  #asked(now, fetch) {
    const name = this.#nameOf(originOf(fetch.url));
    const what = purpose(fetch);
    this.#exchanges.set(fetch.exchange, { name, what });
    const words = ASKS[what]?.(name) ?? (what.startsWith("call ") ? `The gateway calls ${what.slice(5)} of ${name}.` : undefined);
    this.#tell(now, words ?? `The gateway makes a request to ${name}.`, "plain", `x${fetch.exchange}`);
  }

  #reported(now, input) {
    const { type, exchange, status, cause } = input;
    const known = this.#exchanges.get(exchange);
    if (!known) return;
    const { name } = known;
    const span = `x${exchange}`;
    if (type === "failed") this.#tell(now, `${name} ${CAUSES[cause] ?? CAUSES.other}.`, "bad", span);
    else if (type === "head" && (status < 200 || status > 299)) this.#tell(now, `${name} answers with status ${status}.`, "bad", span);
    else if (type === "body") for (const event of this.#bodies.add(span, input)) this.#streamed(now, known, span, event);
    else if (type === "end") this.#ended(now, known, span);
  }

  /** An event of a stream. */
  #streamed(now, known, span, event) {
    const heard = said(event);
    if (!heard) return;
    const { name } = known;
    if (!known.streams) {
      known.streams = true;
      this.#tell(now, `${name} begins to stream.`, "plain", span);
      if (heard.kind === "task" && heard.state === "submitted") return;
    }
    if (heard.kind === "artifact") this.#count(`${span} ${heard.name}`, now, `${name} streams a piece of “${heard.name}”.`, span);
    else this.#says(now, name, heard, span);
  }

  /** A plain answer is complete. */
  #ended(now, known, span) {
    const whole = this.#bodies.end(span);
    if (known.streams) return;
    if (known.what === "read the card") {
      if (whole) this.#tell(now, `${known.name} shows its card.`, "plain", span);
      return;
    }
    const heard = said(whole);
    if (heard) this.#says(now, known.name, heard, span);
    else if (whole?.error) this.#tell(now, `${known.name} answers with an error: ${quoted(whole.error.message ?? "")}`, "bad", span);
  }

  #says(now, name, { kind, state, words }, span) {
    const quote = words ? `: ${quoted(words)}` : "";
    if (kind === "message") return this.#tell(now, `${name} answers${quote || "."}`, "plain", span, `${name} answers.`);
    const tone = state === "input-required" ? "warn" : ["failed", "rejected"].includes(state) ? "bad" : "plain";
    return this.#tell(now, `${name} ${stateWords(state)}${quote || "."}`, tone, span);
  }

  #noticed(now, { event, fields }) {
    const [tone, words] = DECISIONS[event] ?? [];
    if (words) this.#tell(now, words(fields.tool), tone);
    else if (event === "tool_held") this.#tell(now, `${fields.tool} of ${fields.server} is held back: it is described otherwise now.`, "warn");
    else if (event === "approval_decided") {
      const isYes = fields.state !== "rejected";
      this.#tell(now, `You say ${isYes ? "yes" : "no"} to ${fields.tool}.`, isYes ? "good" : "bad");
    } else if (event === "approval_not_decided") this.#tell(now, `A decision is refused: ${fields.refused}.`, "bad");
  }

  #aborted(now, exchange) {
    this.#tell(now, `The gateway hangs up on ${this.#exchanges.get(exchange)?.name ?? "an agent"}.`, "plain", `x${exchange}`);
  }

  #waited(now, ms) {
    if (ms > 0) this.#tell(now, `The gateway waits ${(ms / 1000).toFixed(2)} s before it asks again.`, "plain");
  }

  #answered(now, message) {
    const call = this.#calls.get(message?.id);
    if (call === undefined || message.method !== undefined) return;
    const { result, error } = message;
    const { what } = call;
    const span = `c${message.id}`;
    const { error: fault, task, succeeded, failed } = Object(result?.structuredContent);
    const state = stateName(task?.status?.state);
    if (error) this.#tell(now, `${what} is refused: ${error.message}`, "bad", span);
    else if (result?.isError)
      this.#tell(now, `${what} failed${fault?.code ? ` with ${fault.code}` : ""}: ${result.content?.[0]?.text ?? ""}`, "bad", span);
    else if (call.isAsync) this.#tell(now, `${what} is accepted: the outcome will be in the inbox.`, "good", span);
    else if (succeeded !== undefined) this.#tell(now, `${what} is answered: ${succeeded} of ${succeeded + failed}.`, "good", span);
    else {
      const asks = state === "input-required" && call.tool !== "respond_task";
      this.#tell(now, `${what} is answered${state ? `: ${state}` : ""}.`, asks ? "warn" : "good", span);
    }
  }

  #visited(now, { type, request, text }) {
    const span = `v${request}`;
    if (type === "request_gone") this.#tell(now, "A visitor leaves without waiting for the end.", "world", span);
    if (type !== "request_body") return;
    const { method, params } = Object(readJson(text));
    const what = VISITS[method];
    this.#visits.set(request, what);
    const words = textOf(params?.message);
    if (words) this.#tell(now, `A visitor sends ${params.message.taskId ? "one more message" : "a task"}: ${quoted(words)}`, "plain", span);
    else this.#tell(now, `A visitor asks the gateway to ${what ?? "do something"}.`, "plain", span);
  }

  #visitorHears(output) {
    return this.#bodies.add(`v${output.request}`, output);
  }

  #toVisitor(now, request, event) {
    const span = `v${request}`;
    const heard = said(event);
    if (event?.error) this.#tell(now, `The visitor is refused: ${quoted(event.error.message ?? "")}`, "bad", span);
    if (!heard) return;
    const quote = heard.words ? `: ${quoted(heard.words)}` : "";
    if (heard.kind === "artifact") this.#tell(now, `The visitor is sent a piece of “${heard.name}”.`, "plain", span);
    else
      this.#tell(
        now,
        `The visitor hears that the task is ${heard.state ?? "answered"}${quote || "."}`,
        heard.state === "completed" ? "good" : "plain",
        span,
      );
  }

  /** Tells something; where it was told at this very moment already, it is counted. */
  #tell(at, text, tone, span, common = text) {
    const key = `${at} ${tone} ${common}`;
    const before = this.#told.get(key);
    if (before) {
      before.text = common;
      before.times += 1;
      before.span = before.span && span ? `${before.span}+${span}` : before.span;
      return;
    }
    const sentence = { at, text, tone, span, times: 1 };
    this.#told.set(key, sentence);
    this.sentences.push(sentence);
  }

  /** Tells something that goes on: once, and from then on it is counted. */
  #count(key, at, text, span) {
    const before = this.#told.get(key);
    if (before) {
      before.times += 1;
      before.until = at;
      return;
    }
    const sentence = { at, text, tone: "plain", span, times: 1 };
    this.#told.set(key, sentence);
    this.sentences.push(sentence);
  }
}

function quoted(text) {
  const line = String(text).replace(/\s+/g, " ").trim();
  return `“${line.length > QUOTED_CHARS ? `${line.slice(0, QUOTED_CHARS - 1)}…` : line}”`;
}
