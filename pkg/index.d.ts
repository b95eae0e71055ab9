/// <reference lib="esnext.disposable" />
// Needs no library beyond ES2022: what a page or Node brings is described by its looks.

/** A time in milliseconds. Numbers lose their fraction. */
export type Milliseconds = number | bigint;

/** A whole number from 0 to 2^53 - 1. */
export type Id = number | bigint;

/** Loads the module, where it is not ready on import. Call it once before the first gateway; twice is fine. */
export default function init(source?: string | object): Promise<void>;

/** What a gateway is born with. */
export interface Genesis {
  /** 32 random bytes. The same seed gives the same ids. */
  seed: Uint8Array;
  /** the time on a clock that never goes back */
  now: Milliseconds;
  /** the wall-clock time at that moment, since 1970 */
  unixMs: Milliseconds;
}

/** The bounds, by name. Bytes unless the name says otherwise. */
export type LimitName =
  | "reply_bytes"
  | "card_bytes"
  | "event_bytes"
  | "stream_bytes"
  | "artifact_bytes"
  | "json_depth"
  | "message_bytes"
  | "calls_per_peer"
  | "agents_per_scope"
  | "header_bytes"
  | "redirects"
  | "cards_by_url"
  | "request_bytes"
  | "incoming_bytes"
  | "requests"
  | "sessions"
  | "session_event_bytes";

/** The configuration. What is absent has its default; every fault is named in the Error named `ConfigError`. */
export interface ConfigObject {
  /** the server's name in MCP */
  readonly name?: string;
  /** the server's version in MCP */
  readonly version?: string;
  /** the deadline of a send that names none */
  readonly poll_timeout_seconds?: number;
  /** the deadline of a send that starts as a stream and names none */
  readonly stream_timeout_seconds?: number;
  /** the rate of agents that name none: a bucket of `burst` that refills at `rps` a second */
  readonly rate_limit?: { readonly rps: number; readonly burst: Id };
  /** what is kept of the sends to an agent: how many, and how many code points of a text */
  readonly history?: { readonly depth?: Id; readonly max_entry_length?: Id };
  /** how long an inbox entry lives */
  readonly inbox_ttl_seconds?: number;
  /** the directory that discover_agents asks by default */
  readonly directory?: { readonly url?: string };
  /** the names of the tools that are offered, all where it is absent */
  readonly tools?: readonly string[];
  /** agents that are connected in every new scope */
  readonly external_agents?: readonly ExternalAgent[];
  /** consecutive failures that make an agent unhealthy, 0 for never */
  readonly health?: { readonly failure_threshold?: Id };
  /** which addresses may be called: loopback and private ones too, or of those the named hosts alone */
  readonly network?: { readonly allow_private?: boolean; readonly allowed_hosts?: readonly string[] };
  /**
   * who may ask over HTTP: whether only this machine can reach the server, which host names it answers to beside
   * loopback ones, and the pages of which origins may use it
   */
  readonly server?: {
    readonly loopback?: boolean;
    readonly hosts?: readonly string[];
    readonly cors_origins?: readonly string[];
  };
  /** bearer tokens, and the principal that each stands for; without any, everybody may ask */
  readonly auth?: { readonly tokens?: readonly { readonly token: string; readonly principal: string }[] };
  /** the bounds that differ from their defaults */
  readonly limits?: { readonly [name in LimitName]?: Id };
}

/** An agent that is connected without a call. */
export interface ExternalAgent {
  /** its alias */
  readonly name: string;
  readonly url: string;
  /** the header fields of its requests */
  readonly headers?: { readonly [name: string]: string };
}

/** A header field: name and value. */
export type Header = [name: string, value: string];

/** Why a fetch failed. */
export type Cause = "refused" | "reset" | "dns" | "tls" | "blocked" | "redirect" | "protocol" | "other";

/** What happened, as `Core.input` takes it in JSON. */
export type Input =
  | { type: "open"; peer: number; scope: string }
  | { type: "message"; peer: number; text: string }
  | { type: "message_too_long"; peer: number; start: string; bytes: number }
  | { type: "closed"; peer: number }
  | { type: "head"; exchange: number; status: number; headers: Header[] }
  | { type: "body"; exchange: number; text: string }
  | { type: "body"; exchange: number; base64: string }
  | { type: "end"; exchange: number }
  | { type: "failed"; exchange: number; cause: Cause; detail?: string }
  | { type: "request"; request: number; method: string; target: string; headers: Header[] }
  | { type: "request_body"; request: number; text: string }
  | { type: "request_body"; request: number; base64: string }
  | { type: "request_end"; request: number }
  | { type: "request_gone"; request: number }
  | { type: "stop" }
  | { type: "tick" };

/** A structured event for logs, metrics and traces, without secrets. */
export interface Notice {
  type: "notice";
  level: "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency";
  event: string;
  fields: { [name: string]: unknown };
}

/** A request to be made: redirects not followed, no cookies, no cache, nothing repeated. */
export interface FetchOutput {
  type: "fetch";
  exchange: number;
  method: "GET" | "POST";
  url: string;
  headers: Header[];
  body?: string;
}

/** What to do, in order, as `Core.output` gives it in JSON. */
export type Output =
  | { type: "message"; peer: number; text: string }
  | FetchOutput
  | { type: "abort"; exchange: number }
  | { type: "response_head"; request: number; status: number; headers: Header[] }
  | { type: "response_body"; request: number; text: string }
  | { type: "response_end"; request: number }
  | Notice;

/** When to come back at the latest, as `Core.timeout` gives it in JSON. */
export interface Deadline {
  at: number;
  reason: "call_timeout" | "card_timeout" | "poll" | "stream_closing" | "cancel_timeout" | "keep_alive";
}

/** Whether a snapshot holds credentials: for the host's own storage true, the default; to hand on false. */
export interface SnapshotOptions {
  secrets?: boolean;
}

/** The names of the Errors thrown here. */
export type ErrorName = "Misuse" | "ConfigError" | "RestoreError" | "Dead" | "Disposed";

/** The gateway without a host: a state machine that says what to do and does nothing itself. */
export class Core {
  /** Throws an Error named `Misuse` for the genesis, `ConfigError` for the configuration. */
  constructor(genesis: Genesis, config?: ConfigObject);
  /** Continues from the pieces of a snapshot, in any order. Throws an Error named `RestoreError` for what it cannot read. */
  static restore(genesis: Genesis, config: ConfigObject | undefined, pieces: readonly string[]): Core;
  /** Takes in what happened: the JSON text of an {@link Input}. Throws an Error named `Misuse`; then nothing changed. */
  input(now: Milliseconds, json: string): void;
  /** The input `message`, without an envelope. */
  message(now: Milliseconds, peer: Id, text: string): void;
  /** The input `body`, without an envelope. The bytes are copied. */
  body(now: Milliseconds, exchange: Id, bytes: ArrayBufferView | ArrayBuffer): void;
  /** The input `request_body`, without an envelope. The bytes are copied. */
  requestBody(now: Milliseconds, request: Id, bytes: ArrayBufferView | ArrayBuffer): void;
  /** The JSON text of the next {@link Output}, or undefined when there is nothing to do. */
  output(): string | undefined;
  /** The JSON text of a {@link Deadline}, or undefined when only inputs matter. */
  timeout(): string | undefined;
  /** All state, in pieces of JSON text under 1 MiB each. */
  snapshot(options?: SnapshotOptions): string[];
  /** Starts or stops writing the trace. */
  trace(on: boolean): void;
  /** The next line of the trace: JSON text with placeholders for secrets. */
  traceLine(): string | undefined;
  /** The message of the panic that ended this object. */
  readonly dead: string | undefined;
  /** Lets go of everything. Later calls throw an Error named `Disposed`. Twice is fine. */
  dispose(): void;
  /** The same as {@link dispose}. */
  free(): void;
  [Symbol.dispose](): void;
}

/** What ends a request early; an AbortSignal is one. */
export interface Signal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
}

/** A request as a host's own fetch gets it. */
export interface HostRequest {
  method: "GET" | "POST";
  url: string;
  headers: Header[];
  body?: string;
  signal: Signal;
}

/** Some bytes of a body, or its text. */
export type Chunk = ArrayBufferView | ArrayBuffer | string;

/** A body: a ReadableStream, an async iterable such as Node's streams, or all of it at once. */
export type HostBody =
  | { getReader(): { read(): Promise<{ done: boolean; value?: Chunk | undefined }>; cancel(): Promise<unknown> } }
  | AsyncIterable<Chunk>
  | Chunk;

/** What a host's own fetch answers: a Response or anything that looks like one. Redirects are not followed. */
export interface HostResponse {
  status: number;
  /** `opaqueredirect` ends the exchange: nobody can see where it was redirected. */
  type?: string;
  headers?: Iterable<Header> | { forEach(visit: (value: string, name: string) => void): void } | { [name: string]: string };
  body?: HostBody | null;
  arrayBuffer?(): Promise<ArrayBuffer>;
}

/** What a driver takes from its host. Each member that is left out is the page's or the worker's own. */
export interface Host {
  /**
   * Makes a request. A rejection is a failed fetch; its cause is read from a `code` on the error or on its `cause`:
   * one of Node's and undici's, or a {@link Cause}.
   */
  fetch?(request: HostRequest): HostResponse | Promise<HostResponse>;
  /** a clock that never goes back */
  now?(): Milliseconds;
  /** the wall clock, since 1970 */
  unixNow?(): Milliseconds;
  /** fills the bytes with randomness */
  random?(bytes: Uint8Array): void;
  /** calls back once, and returns what cancels it */
  setTimer?(callback: () => void, ms: number): () => void;
}

/** A gateway with a host around it: the fetch, clock and timers of page or worker, or replaced ones. */
export class Driver {
  /** Throws an Error named `ConfigError` or `Misuse`. */
  constructor(config?: ConfigObject, host?: Host);
  /** Continues from the pieces of a snapshot, in any order. Throws an Error named `RestoreError` for what it cannot read. */
  static restore(config: ConfigObject | undefined, host: Host | undefined, pieces: readonly string[]): Driver;
  /** An MCP client is there. Peers that name the same scope share agents, contexts and tasks. */
  open(peer: Id, scope: string, onMessage: (text: string) => void): void;
  /** One JSON-RPC message from a peer. */
  message(peer: Id, text: string): void;
  /** A peer left. Its calls end without an answer. */
  close(peer: Id): void;
  /** Who gets the gateway's notices. */
  onNotice(callback?: (notice: Notice) => void): void;
  /** Who is told, once, that a panic ended this gateway. */
  onDead(callback?: (message: string) => void): void;
  /** All state, in pieces of JSON text under 1 MiB each. */
  snapshot(options?: SnapshotOptions): string[];
  /** Starts or stops writing the trace. */
  trace(on: boolean): void;
  /** The next line of the trace: JSON text with placeholders for secrets. */
  traceLine(): string | undefined;
  /** The message of the panic that ended this object. */
  readonly dead: string | undefined;
  /** Aborts every fetch, cancels the timer and lets go of everything. Later calls throw an Error named `Disposed`. */
  dispose(): void;
  /** The same as {@link dispose}. */
  free(): void;
  [Symbol.dispose](): void;
}
