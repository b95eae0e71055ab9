import { readJson, stateName } from "./a2a.mjs";

/**
 * @typedef {object} Span something that takes time on a lane
 * @property {string} id
 * @property {string} lane `client`, `visitor`, `gateway`, or the origin of an agent
 * @property {"call" | "exchange" | "wait" | "moment"} kind
 * @property {string} label
 * @property {string} [to] whom it is for
 * @property {number} start
 * @property {number} [end] undefined while it goes on
 * @property {"open" | "ok" | "warn" | "failed" | "stopped" | "plain"} state
 * @property {string} [outcome] how it ended, where there is a word for it
 * @property {{ at: number, what: string }[]} marks what came in between
 * @property {object[]} records the records that it is made of
 */

/** Reasons for a wake-up that a person sees as waiting; the others are deadlines. */
const WAITS = { poll: "waits before it asks again", stream_closing: "lets the stream close" };

/** What an exchange is for, by the method of its body. */
const PURPOSES = {
  SendMessage: "send",
  "message/send": "send",
  SendStreamingMessage: "send, streaming",
  "message/stream": "send, streaming",
  GetTask: "read the task",
  "tasks/get": "read the task",
  SubscribeToTask: "resume the stream",
  "tasks/resubscribe": "resume the stream",
  CancelTask: "cancel the task",
  "tasks/cancel": "cancel the task",
  "server/discover": "discover the server",
  "tools/list": "list the tools",
  "subscriptions/listen": "listen for changes",
};

/** The same, where the gateway is the one that is asked. */
export const VISITS = { ...PURPOSES, SubscribeToTask: "watch the task" };

/** Where a URL leads, also where it is none: traces from files may hold anything. */
export function originOf(url) {
  return URL.canParse(url) ? new URL(url).origin : "nowhere";
}

/** The words for what a fetch is for. @param {{ method: string, url: string, body?: string }} fetch */
export function purpose({ method, url, body }) {
  if (method === "GET") return /agent(-card)?\.json$/.test(url) ? "read the card" : "GET";
  const message = readJson(body);
  if (message?.method === "tools/call") return `call ${message.params?.name}`;
  return PURPOSES[message?.method] ?? "POST";
}

/** Whom a tool call is for. @param {object | undefined} args its arguments */
export function addressee(args) {
  const { agent, alias, aliases } = Object(args);
  const to = agent ?? alias ?? (Array.isArray(aliases) ? aliases.join(", ") : undefined);
  return to === undefined ? undefined : String(to);
}

/**
 * How a call ended: a state for the eye and a word.
 *
 * @param {object | undefined} message its answer
 * @param {string} tool
 */
export function outcomeOf({ result, error } = {}, tool) {
  if (error) return { state: "failed", outcome: "refused" };
  const { error: fault, task, card, card_error: cardless, results } = Object(result?.structuredContent);
  if (result?.isError) return { state: "failed", outcome: fault?.code === "rate_limited" ? "refused" : (fault?.code ?? "failed") };
  const states = [stateName(task?.status?.state), ...Object.values(Object(results)).map((one) => one?.status)];
  // Who answers a task and asks back is asked by nobody.
  if (tool !== "respond_task" && states.some((state) => state === "input-required" || state === "auth-required"))
    return { state: "warn", outcome: "asks back" };
  if (card === null && cardless) return { state: "warn", outcome: "no card" };
  return { state: "ok", outcome: "answered" };
}

/** Reads records into lanes and spans, as they come. */
export class Timeline {
  spans = [];
  origins = [];
  #open = new Map();
  #wait;
  #waits = 0;
  #last;

  take(record) {
    if (record.note !== undefined) this.#moment(record);
    else if ("timeout" in record) this.#timeout(record);
    else {
      this.#moment(record);
      if (record.input) this.#input(record, record.input);
      else if (record.output) this.#output(record, record.output);
    }
  }

  #input(record, input) {
    if (input.type === "message") this.#said(record, readJson(input.text));
    else if (input.exchange !== undefined) this.#reported(record, input);
    else if (input.request !== undefined) this.#visited(record, input);
    else if (input.type === "tick") this.#endWait(record.now);
  }

  #said(record, message) {
    if (message?.method === "notifications/cancelled") {
      this.#end(`c${message.params?.requestId}`, record, { state: "stopped", outcome: "given up" });
    } else if (message?.method !== undefined && message.id !== undefined) {
      const isCall = message.method === "tools/call";
      const label = String(isCall ? message.params?.name : message.method);
      const to = isCall ? addressee(message.params?.arguments) : undefined;
      this.#begin({ id: `c${message.id}`, lane: "client", kind: "call", label, to }, record);
    }
  }

  #reported(record, { type, exchange, status }) {
    const key = `x${exchange}`;
    const span = this.#open.get(key);
    if (!span) return;
    if (type === "head") {
      span.status = status;
      this.#mark(key, record, `status ${status}`);
    } else if (type === "body") this.#mark(key, record, "bytes");
    else if (type === "failed") this.#end(key, record, { state: "failed", outcome: "failed" });
    else if (span.status >= 200 && span.status < 300) this.#end(key, record, { state: "ok", outcome: "done" });
    else this.#end(key, record, { state: "failed", outcome: `status ${span.status}` });
  }

  #visited(record, { type, request, text, method }) {
    const key = `v${request}`;
    if (type === "request") this.#begin({ id: key, lane: "visitor", kind: "call", label: method }, record);
    else if (type === "request_gone") this.#end(key, record, { state: "stopped", outcome: "left" });
    else {
      const span = this.#open.get(key);
      if (!span) return;
      span.records.push(record);
      if (type === "request_body") span.label = VISITS[readJson(text)?.method] ?? span.label;
    }
  }

  #output(record, output) {
    if (output.type === "fetch") {
      const lane = originOf(output.url);
      if (!this.origins.includes(lane)) this.origins.push(lane);
      this.#begin({ id: `x${output.exchange}`, lane, kind: "exchange", label: purpose(output) }, record);
    } else if (output.type === "abort") this.#end(`x${output.exchange}`, record, { state: "stopped", outcome: "hung up on" });
    else if (output.type === "response_body") this.#mark(`v${output.request}`, record, "bytes");
    else if (output.type === "response_head") this.#answered(record, output);
    else if (output.type === "response_end") this.#end(`v${output.request}`, record, { state: "ok", outcome: "answered" });
    else if (output.type === "message") {
      const message = readJson(output.text);
      if (message?.method === "notifications/progress") this.#mark(`c${message.params?.progressToken}`, record, "progress");
      else if (message?.id !== undefined && message.method === undefined) {
        const key = `c${message.id}`;
        this.#end(key, record, outcomeOf(message, this.#open.get(key)?.label));
      }
    }
  }

  #answered(record, { request, status }) {
    this.#mark(`v${request}`, record, `status ${status}`);
  }

  #timeout(record) {
    this.#endWait(record.now);
    const words = WAITS[record.timeout?.reason];
    if (!words) return;
    this.#wait = {
      id: `w${(this.#waits += 1)}`,
      lane: "gateway",
      kind: "wait",
      label: words,
      start: record.now,
      state: "open",
      marks: [],
      records: [record],
    };
    this.spans.push(this.#wait);
  }

  #endWait(at) {
    if (!this.#wait) return;
    if (at === this.#wait.start) this.spans.splice(this.spans.lastIndexOf(this.#wait), 1);
    this.#wait.end = at;
    this.#wait.state = "plain";
    this.#wait = undefined;
  }

  /** What happens at one moment is one mark on the gateway's lane. */
  #moment(record) {
    if (this.#last?.start === record.now) {
      this.#last.records.push(record);
      return;
    }
    const { now } = record;
    this.#last = {
      id: `m${now}`,
      lane: "gateway",
      kind: "moment",
      label: "in and out",
      start: now,
      end: now,
      state: "plain",
      marks: [],
      records: [record],
    };
    this.spans.push(this.#last);
  }

  #begin(span, record) {
    const made = { ...span, start: record.now, end: undefined, state: "open", marks: [], records: [record] };
    this.#open.set(span.id, made);
    this.spans.push(made);
  }

  #mark(key, record, what) {
    const span = this.#open.get(key);
    if (!span) return;
    span.marks.push({ at: record.now, what });
    span.records.push(record);
  }

  #end(key, record, how) {
    const span = this.#open.get(key);
    if (!span) return;
    Object.assign(span, how, { end: record.now });
    span.records.push(record);
    this.#open.delete(key);
  }
}
