import { GatewayError } from "./error.mjs";

/** An MCP connection inside this program, as the official SDK's `Client` takes it. */
export class Transport {
  onmessage;
  onclose;
  onerror;
  #open;
  #connection;
  #closed = false;

  /** @param {(write: (text: string) => void, end: () => void) => { send(text: string): void, close(): void }} open */
  constructor(open) {
    this.#open = open;
  }

  async start() {
    if (this.#connection || this.#closed) throw new GatewayError("misuse", "this transport was started already: take a new one");
    this.#connection = this.#open(
      (text) => queueMicrotask(() => this.#deliver(text)),
      () => this.#close(),
    );
  }

  async send(message) {
    if (!this.#connection || this.#closed) throw new GatewayError("misuse", "this transport is not connected");
    this.#connection.send(JSON.stringify(message));
  }

  async close() {
    if (this.#closed) return;
    this.#connection?.close();
    this.#close();
  }

  #deliver(text) {
    if (this.#closed) return;
    try {
      this.onmessage?.(JSON.parse(text));
    } catch (error) {
      this.onerror?.(error);
    }
  }

  #close() {
    if (this.#closed) return;
    this.#closed = true;
    this.onclose?.();
  }
}

/**
 * An MCP connection over a MessagePort: one JSON-RPC message in each `postMessage`, as an object or as its text.
 *
 * @param {(write: (text: string) => void, end: () => void) => { send(text: string): void, close(): void }} open
 * @returns {MessagePort} the client's end
 */
export function openPort(open) {
  const { port1, port2 } = new MessageChannel();
  const connection = open(
    (text) => port1.postMessage(JSON.parse(text)),
    () => port1.close(),
  );
  port1.onmessage = ({ data }) => connection.send(typeof data === "string" ? data : textOf(data));
  port1.addEventListener("close", () => connection.close());
  // In Node an open port keeps the process: the client's end decides.
  port1.unref?.();
  return port2;
}

/** The text of a message; of what has none, a text that the gateway passes over as noise. */
function textOf(data) {
  try {
    return JSON.stringify(data) ?? "";
  } catch {
    return "";
  }
}
