/**
 * @typedef {object} Span something that takes time on a lane
 * @property {string} id
 * @property {string} lane `client`, `gateway`, or the origin of an agent
 * @property {"call" | "exchange" | "wait" | "moment"} kind
 * @property {string} label
 * @property {number} start
 * @property {number} [end] undefined while it goes on
 * @property {"open" | "ok" | "failed" | "stopped" | "plain"} state
 * @property {{ at: number, what: string }[]} marks what came in between
 * @property {object[]} records the records that it is made of
 */

/** Reasons for a wake-up that a person sees as waiting; the others are deadlines. */
const WAITS = { poll: "waits before it asks again", stream_closing: "waits for the stream to close" };

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
};

/** Where a URL leads, also where it is none: traces from files may hold anything. */
export function originOf(url) {
  return URL.canParse(url) ? new URL(url).origin : "nowhere";
}

/** The words for what a fetch is for. @param {{ method: string, url: string, body?: string }} fetch */
export function purpose({ method, url, body }) {
  if (method === "GET") return /agent(-card)?\.json$/.test(url) ? "read the card" : "GET";
  return PURPOSES[readJson(body)?.method] ?? "POST";
}

/** Reads records into lanes and spans, as they come. */
export class Timeline {
  spans = [];
  origins = [];
  #open = new Map();
  #wait;

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
    else if (input.type === "tick") this.#endWait(record.now);
  }

  #said(record, message) {
    if (message?.method === "notifications/cancelled") {
      this.#end(`c${message.params?.requestId}`, record, "stopped");
    } else if (message?.method !== undefined && message.id !== undefined) {
      const label = message.method === "tools/call" ? String(message.params?.name) : String(message.method);
      this.#begin({ id: `c${message.id}`, lane: "client", kind: "call", label }, record);
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
    else if (type === "failed") this.#end(key, record, "failed");
    else this.#end(key, record, span.status >= 200 && span.status < 300 ? "ok" : "failed");
  }

  #output(record, output) {
    if (output.type === "fetch") {
      const lane = originOf(output.url);
      if (!this.origins.includes(lane)) this.origins.push(lane);
      this.#begin({ id: `x${output.exchange}`, lane, kind: "exchange", label: purpose(output) }, record);
    } else if (output.type === "abort") this.#end(`x${output.exchange}`, record, "stopped");
    else if (output.type === "message") {
      const message = readJson(output.text);
      if (message?.method === "notifications/progress") this.#mark(`c${message.params?.progressToken}`, record, "progress");
      else if (message?.id !== undefined && message.method === undefined) {
        this.#end(`c${message.id}`, record, message.error || message.result?.isError ? "failed" : "ok");
      }
    }
  }

  #timeout(record) {
    this.#endWait(record.now);
    const words = WAITS[record.timeout?.reason];
    if (!words) return;
    this.#wait = {
      id: `w${this.spans.length}`,
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
    this.#wait.end = at;
    this.#wait.state = "plain";
    this.#wait = undefined;
  }

  /** What happens at one moment is one mark on the gateway's lane. */
  #moment(record) {
    const last = this.#last;
    if (last?.start === record.now) last.records.push(record);
    else {
      this.#last = {
        id: `m${record.now}`,
        lane: "gateway",
        kind: "moment",
        label: "",
        start: record.now,
        end: record.now,
        state: "plain",
        marks: [],
        records: [record],
      };
      this.spans.push(this.#last);
    }
  }

  #last;

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

  #end(key, record, state) {
    const span = this.#open.get(key);
    if (!span) return;
    span.end = record.now;
    span.state = state;
    span.records.push(record);
    this.#open.delete(key);
  }
}

export function readJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
