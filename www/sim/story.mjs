import { originOf, purpose, readJson } from "./spans.mjs";

/** Sentences for what the gateway asks an agent for. */
const ASKS = {
  "read the card": (name) => `The gateway reads the card of ${name}.`,
  send: (name) => `The gateway sends the message to ${name}.`,
  "send, streaming": (name) => `The gateway sends the message to ${name} and listens to a stream.`,
  "read the task": (name) => `The gateway asks ${name} how the task stands.`,
  "resume the stream": (name) => `The gateway takes up the stream of ${name} again.`,
  "cancel the task": (name) => `The gateway tells ${name} to cancel the task.`,
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

/**
 * Tells records in sentences, as they come.
 *
 * @typedef {{ at: number, text: string, tone: "plain" | "good" | "bad" | "world", span?: string }} Sentence
 */
export class Story {
  /** @type {Sentence[]} */
  sentences = [];
  #nameOf;
  #calls = new Map();
  #exchanges = new Map();

  /** @param {(origin: string) => string} nameOf what an agent is called */
  constructor(nameOf) {
    this.#nameOf = nameOf;
  }

  take({ now, note, input, output, timeout }) {
    if (note !== undefined) this.#tell(now, note, "world");
    else if (input?.type === "message") this.#said(now, readJson(input.text));
    else if (input?.exchange !== undefined) this.#reported(now, input);
    else if (output?.type === "message") this.#answered(now, readJson(output.text));
    else if (output?.type === "fetch") this.#asked(now, output);
    else if (output?.type === "abort") this.#aborted(now, output.exchange);
    else if (timeout?.reason === "poll") this.#waited(now, timeout.at - now);
  }

  #said(now, message) {
    if (message?.method === "tools/call") {
      const name = String(message.params?.name);
      const args = Object(message.params?.arguments);
      const to = args.agent ?? args.alias ?? args.aliases?.join?.(", ");
      this.#calls.set(message.id, name);
      this.#tell(now, `The client calls ${name}${to ? ` for ${to}` : ""}.`, "plain", `c${message.id}`);
    } else if (message?.method === "notifications/cancelled") {
      const id = message.params?.requestId;
      this.#tell(now, `The client gives up on ${this.#calls.get(id) ?? "its request"}.`, "world", `c${id}`);
    } else if (message?.method === "initialize") this.#tell(now, "The client and the gateway shake hands.", "plain", `c${message.id}`);
  }

  #asked(now, fetch) {
    const name = this.#nameOf(originOf(fetch.url));
    const what = purpose(fetch);
    this.#exchanges.set(fetch.exchange, name);
    this.#tell(now, ASKS[what]?.(name) ?? `The gateway makes a request to ${name}.`, "plain", `x${fetch.exchange}`);
  }

  #reported(now, { type, exchange, status, cause }) {
    const name = this.#exchanges.get(exchange);
    if (type === "failed") this.#tell(now, `${name} ${CAUSES[cause] ?? CAUSES.other}.`, "bad", `x${exchange}`);
    else if (type === "head" && (status < 200 || status > 299))
      this.#tell(now, `${name} answers with status ${status}.`, "bad", `x${exchange}`);
  }

  #aborted(now, exchange) {
    this.#tell(now, `The gateway hangs up on ${this.#exchanges.get(exchange)}.`, "plain", `x${exchange}`);
  }

  #waited(now, ms) {
    if (ms > 0) this.#tell(now, `The gateway waits ${(ms / 1000).toFixed(2)} s before it asks again.`, "plain");
  }

  #answered(now, message) {
    const tool = this.#calls.get(message?.id);
    if (tool === undefined || message.method !== undefined) return;
    const { result, error } = message;
    const span = `c${message.id}`;
    const code = result?.structuredContent?.error?.code;
    const state = result?.structuredContent?.task?.status?.state?.replace("TASK_STATE_", "").toLowerCase().replaceAll("_", "-");
    if (error) this.#tell(now, `${tool} is refused: ${error.message}`, "bad", span);
    else if (result?.isError)
      this.#tell(now, `${tool} failed${code ? ` with ${code}` : ""}: ${result.content?.[0]?.text ?? ""}`, "bad", span);
    else this.#tell(now, `${tool} is answered${state ? `: ${state}` : ""}.`, "good", span);
  }

  #tell(at, text, tone, span) {
    this.sentences.push({ at, text, tone, span });
  }
}
