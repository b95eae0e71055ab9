/// <reference lib="esnext.disposable" />
import type { ConfigObject } from "./config.js";

/** A time in milliseconds. Numbers lose their fraction. */
export type Milliseconds = number | bigint;

/** A whole number from 0 to 2^53 - 1. */
export type Id = number | bigint;

/** What a gateway is born with. */
export interface Genesis {
  /** 32 random bytes. The same seed gives the same ids. */
  seed: Uint8Array;
  /** the time on a clock that never goes back */
  now: Milliseconds;
  /** the wall-clock time at that moment, since 1970 */
  unixMs: Milliseconds;
}

/** A header field: name and value. */
export type Header = [name: string, value: string];

/** Why a fetch failed. */
export type Cause = "refused" | "reset" | "dns" | "tls" | "blocked" | "redirect" | "protocol" | "headers" | "other";

/** What happened, as `Core.input` takes it in JSON. */
export type Input =
  | { type: "open"; peer: number; scope: string }
  | { type: "message"; peer: number; text: string }
  | { type: "message_too_long"; peer: number; start: string; end: string; bytes: number }
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
  | { type: "update"; work: number; text: string }
  | { type: "work_end"; work: number }
  | { type: "work_failed"; work: number; detail?: string }
  | { type: "link_opened"; link: number }
  | { type: "link_line"; link: number; text: string }
  | { type: "link_line_too_long"; link: number; start: string; end: string; bytes: number }
  | { type: "link_stderr"; link: number; text: string }
  | { type: "link_closed"; link: number; detail?: string }
  | { type: "log_in"; server: string; redirect_uri: string }
  | { type: "came_back"; server: string; query: string }
  | { type: "tokens"; server: string; record?: string }
  | { type: "register"; card: string }
  | { type: "unregister"; name: string }
  | { type: "found"; lookup: number; text: string }
  | { type: "lookup_failed"; lookup: number; bad_cursor?: boolean; detail?: string }
  | { type: "pinned"; pieces: readonly string[] }
  | { type: "accept"; server: string; tool: string; digest: string }
  | { type: "decision"; approval: string; approved: boolean; reason?: string }
  | { type: "configure"; config: ConfigObject }
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
  /**
   * An agent at a public address named the URL, in its card or a redirect, and not the user. A host that resolves names
   * refuses private and loopback addresses in this round, even where `network.allow_private` is true. It is absent for the
   * registered host and those of `network.allowed_hosts`.
   */
  public_only?: boolean;
}

/**
 * Something to keep, told to hosts whose configuration says `storage`: pieces of JSON text under a key, each under 1 MiB, in
 * place of what was kept there. Without pieces nothing is kept any more under that key, nor under any that begins with it
 * and a `/`. Outputs that come after it wait until it is done. All pieces that are kept, in any order, are what
 * {@link Core.restore} goes on from. They hold credentials.
 */
export interface SaveOutput {
  type: "save";
  /** a path of parts that hold nothing but letters, digits and `-._~%` */
  key: string;
  pieces: string[];
}

/**
 * Work for a function of the host, where the configuration has the responder `function`. What comes of it is told by
 * inputs: `update` with the JSON text of a stream event of A2A 1.0 (`statusUpdate`, `artifactUpdate`, `message` or
 * `task`; ids in it are not needed), then `work_end` or `work_failed`. After `work_abort` reports are ignored.
 */
export interface WorkOutput {
  type: "work";
  work: number;
  order: {
    principal: string;
    /** the skill that the caller named */
    skill?: string;
    /** the message, in the form of A2A 1.0 */
    message: { [name: string]: unknown };
    /** its task as it stands, in the form of A2A 1.0 */
    task: { [name: string]: unknown };
    /** the metadata of the request */
    metadata?: { [name: string]: unknown };
  };
}

/**
 * The process of an MCP server behind the gateway, to be started without a shell, with an environment that holds nothing
 * but a safe list and `env`. What it writes to its standard output is told line by line by `link_line`, its end by
 * `link_closed`.
 */
export interface OpenLinkOutput {
  type: "open_link";
  link: number;
  /** the server's name in the configuration */
  server: string;
  command: string;
  args: string[];
  /** `NAME` to pass a variable of the host on, `NAME=value` to set one */
  env: string[];
}

/**
 * A look into the directory of the host, where the configuration has a `directory.store`. What it gives is told by the
 * input `found` with JSON text, `{"cards": […], "next_token"?: "…"}` or the cards alone, or by `lookup_failed`.
 */
export interface LookupOutput {
  type: "lookup";
  lookup: number;
  /** what cards are to hold in their name, description or a tag, in any case; not for the store `list` */
  filter?: string;
  /** how many cards at most, for the store `query` */
  limit?: number;
  /** the `next_token` of the page before, for the store `query` */
  cursor?: string;
}

/**
 * The store of tokens is to give what it has for an MCP server at a URL, by the input `tokens` with the text of the record.
 * Where `refresh` is true, another one is going to be saved: a store that several gateways share gives it to one of them at
 * a time.
 */
export interface LoadTokensOutput {
  type: "load_tokens";
  /** the server's name in the configuration */
  server: string;
  url: string;
  refresh: boolean;
}

/** The store of tokens is to keep a record in place of the one it has. It holds credentials. */
export interface SaveTokensOutput {
  type: "save_tokens";
  /** the server's name in the configuration */
  server: string;
  url: string;
  record: { [name: string]: unknown };
}

/** What to do, in order, as `Core.output` gives it in JSON. */
export type Output =
  | { type: "message"; peer: number; text: string }
  | FetchOutput
  | { type: "abort"; exchange: number }
  | { type: "response_head"; request: number; status: number; headers: Header[] }
  | { type: "response_body"; request: number; text: string }
  | { type: "response_end"; request: number }
  | SaveOutput
  | WorkOutput
  | { type: "work_abort"; work: number }
  | OpenLinkOutput
  | { type: "write_link"; link: number; text: string }
  | { type: "close_link"; link: number }
  | LookupOutput
  | LoadTokensOutput
  | SaveTokensOutput
  | Notice;

/** When to come back at the latest, as `Core.timeout` gives it in JSON. */
export interface Deadline {
  at: number;
  reason:
    | "call_timeout"
    | "card_timeout"
    | "progress"
    | "poll"
    | "read_timeout"
    | "stream_closing"
    | "cancel_timeout"
    | "keep_alive"
    | "push"
    | "task_expiry"
    | "question"
    | "link_timeout"
    | "link_retry"
    | "link_check";
}

/** What an input leaves to do: 1 where outputs wait, plus 2 where `Core.timeout` has another answer than its last one. */
export type Todo = number;

/** A text for a peer, or some of the body of a response. */
export type BareText = [peer: number, request: undefined, text: string] | [peer: undefined, request: number, text: string];

/** A tool of an MCP server that is another one than when it was first listed, or accepted last. */
export interface HeldTool {
  readonly server: string;
  /** its own name */
  readonly tool: string;
  /** the name by which it is called here */
  readonly name: string;
  /** of what is accepted: a tool that changes again meanwhile is not */
  readonly digest: string;
  /** each place that is different: a text as it is, anything else as JSON, nothing where there was or is nothing */
  readonly changes: readonly { readonly path: string; readonly before?: string; readonly after?: string }[];
}

/** What the policy would say of a call. */
export interface Explanation {
  readonly tool: string;
  /** one for each tool that may be meant: several only as long as servers have not listed their tools */
  readonly answers: readonly {
    readonly server?: string;
    /** the tool's own name, once its server listed it */
    readonly raw_tool?: string;
    readonly verdict: "run" | "ask" | "refused";
    /** of `ask`: whether nothing may stand in for the person */
    readonly force_human?: boolean;
    /** of `refused` */
    readonly reason?: string;
    /** every gate in order, up to the one that decided, with the rule in words */
    readonly trace: readonly { readonly gate: string; readonly outcome: string; readonly rule: string }[];
  }[];
  /** what decides as well and cannot be told now, in sentences */
  readonly unknown: readonly string[];
}

/** Whether a snapshot holds credentials: for the host's own storage true, the default; to hand on false. */
export interface SnapshotOptions {
  secrets?: boolean;
}

/**
 * The gateway without a host: a state machine that says what to do and does nothing itself. What it throws is a
 * {@link GatewayError}; where it has ended, with the code `disposed` or `dead`.
 */
export class Core {
  /** Throws with the code `misuse` for the genesis, with `config` for the configuration. */
  constructor(genesis: Genesis, config?: ConfigObject);
  /** Continues from the pieces of a snapshot, in any order. Throws with the code `restore` for what it cannot read. */
  static restore(genesis: Genesis, config: ConfigObject | undefined, pieces: readonly string[]): Core;
  /** Takes in what happened: the JSON text of an {@link Input}. Throws with the code `misuse`; then nothing changed. */
  input(now: Milliseconds, json: string): Todo;
  /** The input `message`, without an envelope. */
  message(now: Milliseconds, peer: Id, text: string): Todo;
  /** The input `body`, without an envelope. The bytes are copied. */
  body(now: Milliseconds, exchange: Id, bytes: ArrayBufferView | ArrayBuffer): Todo;
  /** The input `request_body`, without an envelope. The bytes are copied. */
  requestBody(now: Milliseconds, request: Id, bytes: ArrayBufferView | ArrayBuffer): Todo;
  /** The input `configure`; a configuration with faults throws as the constructor does. */
  configure(now: Milliseconds, config?: ConfigObject): Todo;
  /** The JSON text of the next {@link Output}, or undefined when there is nothing to do. */
  output(): string | undefined;
  /** The same, but the outputs `message` and `response_body` come without an envelope. */
  next(): string | BareText | undefined;
  /** The JSON text of a {@link Deadline}, or undefined when only inputs matter. */
  timeout(): string | undefined;
  /** All state, in pieces of JSON text under 1 MiB each. */
  snapshot(options?: SnapshotOptions): string[];
  /**
   * What the policy would say of a call that is not made: JSON text of `{tool, agent?, sender?, channel?, arguments?,
   * approved_before?}`, answered with that of an {@link Explanation}.
   */
  explain(question: string): string;
  /** The tools that are held back because they changed: JSON text of a list of {@link HeldTool}. */
  heldTools(): string;
  /** Starts or stops writing the trace. */
  trace(on: boolean): void;
  /** The next line of the trace: JSON text with placeholders for secrets. */
  traceLine(): string | undefined;
  /** The message of the panic that ended this object. */
  readonly dead: string | undefined;
  /** Lets go of everything. Later calls throw with the code `disposed`. Twice is fine. */
  dispose(): void;
  /** The same as {@link dispose}. */
  free(): void;
  [Symbol.dispose](): void;
}
