import type { ConfigObject } from "./config.js";
import type { Explanation, HeldTool, Notice, SnapshotOptions } from "./core.js";
import type { Host, Signal } from "./host.js";
import type { Answer, ToolArguments, ToolName, ToolResults } from "./tools.js";
import type { Work, WorkOutcome, WorkUpdate } from "./work.js";

/** How a gateway is opened. Everything may be left out. */
export interface GatewayOptions {
  /** the configuration; see {@link ConfigObject} */
  readonly config?: ConfigObject;
  /** functions that replace the platform's own: its fetch, clocks, chance and timers */
  readonly host?: Host;
  /**
   * whose agents, conversations and inbox the gateway's own calls use, `local` by default; connections that name no
   * scope of their own share it
   */
  readonly scope?: string;
  /** the pieces of a {@link Gateway.snapshot}, in any order: the gateway goes on where that one was */
  readonly snapshot?: readonly string[];
  /**
   * keeps the state as it changes: pieces of JSON text under a key, each under 1 MiB, in place of what was kept there.
   * Without pieces nothing is kept any more under that key, nor under any that begins with it and a `/`. All pieces that
   * are kept, in any order, are a `snapshot` to go on from. They hold credentials.
   *
   * It is called for one key at a time, and may return a promise. Until that is fulfilled nothing leaves the gateway, as it
   * may depend on what is kept. If it throws or rejects, the gateway ends: calls reject with the code `storage`, and
   * `onDead` is told. Whoever wants to try again does so in here.
   */
  onSave?(key: string, pieces: readonly string[]): void | PromiseLike<unknown>;
  /**
   * does the work of the gateway's own agent, which is then served by {@link Gateway.fetch}. It is called for each message.
   * What an async generator yields is told on the way; what it returns, or any other function, is the last word.
   *
   * ```ts
   * const gateway = await Gateway.open({
   *   config: { a2a: { name: "Bistro" } },
   *   async *onWork({ text, signal }) {
   *     yield "Looking at the menu";
   *     const menu = await fetch("https://bistro.example/menu", { signal });
   *     yield { artifact: await menu.text() };
   *     return `That is all about ${text}.`;
   *   },
   * });
   * ```
   *
   * A task whose function throws has failed. What it threw is told to nobody but `onNotice`; to tell the caller why, yield
   * `{ statusUpdate: { status: { state: "TASK_STATE_FAILED", message } } }`. One that was worked on when the gateway ended
   * has failed where it is taken up again.
   */
  onWork?(work: Work): AsyncGenerator<WorkUpdate, WorkOutcome, any> | AsyncIterable<WorkUpdate> | PromiseLike<WorkOutcome> | WorkOutcome;
  /**
   * a directory of agents of the embedder's own, in place of the one that the gateway keeps: it is served at `/agents` and
   * asked by `discover_agents`. What it throws is told to nobody but `onNotice`.
   */
  readonly directory?: DirectoryStore;
  /**
   * keeps the tokens for MCP servers that want them: a text for each server and URL, which holds credentials. Without it they
   * are kept as long as this gateway runs. A store that several gateways share gives a record that is asked for with
   * `refresh` to one of them at a time, until it has saved, or for half a minute at most. The promises of both functions are
   * awaited.
   */
  readonly tokens?: TokenStore;
  /**
   * decides a call to an MCP server that waits for an approval (`approval` in the configuration). What it returns, or the
   * promise that it gives, is the decision: `true`, `false`, or an object with a reason. `undefined` leaves it to others:
   * the user of the client, or whoever may decide over HTTP. An error leaves it open too. A gateway that goes on from what
   * was kept asks it for each call that waits still.
   */
  onApproval?(request: ApprovalRequest): PromiseLike<ApprovalDecision> | ApprovalDecision;
  /**
   * takes the gateway's notices: structured events for logs and metrics, without secrets. An event named `host_error`
   * tells of a function of the embedder's that threw; without this listener it goes to the console.
   */
  onNotice?(notice: Notice): void;
  /** takes the lines of the trace, from the birth of the gateway on: JSON text that replays, without secrets */
  onTrace?(line: string): void;
  /** is told, once, what ended this gateway: a fault in Narrows, or that `onSave` failed; others live on */
  onDead?(message: string): void;
}

/** Where the tokens for MCP servers are kept. */
export interface TokenStore {
  load(server: string, url: string, options: { readonly refresh: boolean }): PromiseLike<string | undefined> | string | undefined;
  save(server: string, url: string, record: string): PromiseLike<unknown> | void;
}

/** An agent card, with whatever it has. */
export interface CardObject {
  readonly name: string;
  readonly [member: string]: unknown;
}

/** A directory of the embedder's own, by the function that it has; the first of them counts. */
export interface DirectoryStore {
  /**
   * A page: the cards that hold the filter in their name, description or a tag, `limit` of them at most, from `cursor` on.
   * An Error with the `code` `bad_cursor` is the answer to a cursor that it never gave; its message is told.
   */
  query?(question: { filter?: string; limit: number; cursor?: string }): DirectoryPage | PromiseLike<DirectoryPage>;
  /** All cards that a filter of its own lets through; the gateway sorts and pages. An empty filter is none. */
  filter?(filter: string): readonly CardObject[] | PromiseLike<readonly CardObject[]>;
  /** All cards; the gateway filters, sorts and pages. */
  list?(): readonly CardObject[] | PromiseLike<readonly CardObject[]>;
}

/** Some cards, and where to go on where more remain. */
export interface DirectoryPage {
  readonly cards: readonly CardObject[];
  readonly next_token?: string;
}

/** The gateway's own directory of agents, as its program writes to it. */
export interface Directory {
  /**
   * Registers a card, or replaces the one of its name, whoever registered that.
   *
   * @throws a {@link GatewayError} `misuse` for what is no card, or where the directory is full or not the gateway's own
   */
  register(card: CardObject | string): void;
  /** Removes the card of a name, whoever registered it. @throws a {@link GatewayError} `misuse` where there is none */
  unregister(name: string): void;
}

/** How a call is made. */
export interface CallOptions {
  /** ends the call early: it is cancelled, its agent told, and the promise rejects with the signal's reason */
  readonly signal?: Signal;
  /** takes the reports of a call that goes on: states of the task, pieces of its artifacts */
  onProgress?(progress: Progress): void;
}

/** How far a call is. */
export interface Progress {
  /** rises with each report */
  readonly progress: number;
  /** where it ends, if that is known */
  readonly total?: number;
  /** words for people */
  readonly message?: string;
}

/** A tool as MCP lists it. */
export interface ToolDefinition {
  readonly name: ToolName;
  readonly title: string;
  /** when to use it, written for a model */
  readonly description: string;
  /** the JSON Schema of its arguments */
  readonly inputSchema: { readonly type: "object"; readonly [keyword: string]: unknown };
  /** the JSON Schema of its structured content, errors included */
  readonly outputSchema: { readonly type: "object"; readonly [keyword: string]: unknown };
  readonly annotations: {
    readonly title?: string;
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
}

/** Who would call, and with what. */
export interface ExplainOptions {
  /** who would call; what is left out is as the configuration's `caller` says */
  readonly agent?: string;
  readonly sender?: string;
  readonly channel?: string;
  /** what it would be called with; without them the scan is left out */
  readonly arguments?: { readonly [name: string]: unknown };
  /** whether the caller's session approved the tool before */
  readonly approvedBefore?: boolean;
}

/** The scope of a connection. */
export interface ConnectionOptions {
  /** clients that name the same scope share agents, conversations and inbox; the gateway's own scope by default */
  readonly scope?: string;
}

/** An in-process MCP connection: what `Client.connect` of the official TypeScript SDK takes, 1.x and 2.x alike. */
export interface Transport {
  start(): Promise<void>;
  send(message: object, options?: unknown): Promise<void>;
  close(): Promise<void>;
  onmessage?: ((message: any, extra?: any) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
}

/** A Request of the platform, or anything that looks like one. */
export type IncomingRequest = typeof globalThis extends { Request: { prototype: infer Own } } ? Own : RequestLike;

/** The platform's Response. */
export type OutgoingResponse = typeof globalThis extends { Response: { prototype: infer Own } } ? Own : ResponseLike;

/** The platform's MessagePort. */
export type Port = typeof globalThis extends { MessagePort: { prototype: infer Own } } ? Own : PortLike;

interface RequestLike {
  readonly method: string;
  readonly url: string;
  readonly headers: Iterable<[string, string]> & { has(name: string): boolean };
  readonly body: { getReader(): { read(): Promise<{ done: boolean; value?: any }>; cancel(): Promise<unknown> } } | null;
  readonly signal?: Signal;
}

interface ResponseLike {
  readonly status: number;
  readonly headers: Iterable<[string, string]> & { get(name: string): string | null };
  readonly body: { getReader(): { read(): Promise<{ done: boolean; value?: any }>; cancel(): Promise<unknown> } } | null;
  text(): Promise<string>;
  json(): Promise<any>;
}

interface PortLike {
  postMessage(message: unknown): void;
  onmessage: ((event: any) => void) | null;
  close(): void;
}

/**
 * A gateway in this program. It shares nothing with any other.
 *
 * ```ts
 * const gateway = await Gateway.open();
 * await gateway.connect({ alias: "bistro", agent_url: "https://agent.example.com" });
 * const { text } = await gateway.send({ agent: "bistro", message: "What is for dinner?" });
 * ```
 *
 * Each tool has a method; its arguments and results have the tool's own names. All of them reject with a
 * {@link GatewayError} that carries the tool's `code`.
 */
export class Gateway {
  private constructor();

  /**
   * Opens a gateway. In a page it loads the module first.
   *
   * In Node requests go out through `node:http` with a check of the address that they reach; in a page and a worker
   * through the global fetch. A worker reaches no private addresses unless `network.allow_private` says so. What names
   * stand for only Node can check: in a page and a worker a name that leads to a private address is not noticed, and what
   * keeps it away is the browser's own rules, or the network of the worker.
   *
   * @throws a {@link GatewayError}: `config` names every fault of the configuration, `restore` what is wrong with the
   * snapshot, `misuse` what is wrong with the options or the host
   */
  static open(options?: GatewayOptions): Promise<Gateway>;

  /**
   * Looks for secrets and personal data in a text, or in every string, key and number of a JSON value, that is to leave by
   * a way of the program's own.
   *
   * @param payload a text, or a JSON value
   * @param sink where it is going, `mcp_tool_call` where absent
   * @param skipRules rules that are muted, as `opaque_token` or `OpaqueToken`
   */
  static checkOutboundText(payload: unknown, sink?: OutboundSink, skipRules?: readonly string[]): Promise<OutboundFinding[]>;

  /**
   * Goes on with another configuration, in the place of all that `open` was given. What did not change in it goes on
   * untouched: servers behind the gateway that are reached as before stay connected, with the calls that run. `limits` are
   * those of the start. One with faults throws an error with the code `config`, and changes nothing.
   */
  configure(config?: ConfigObject): void;

  /**
   * Begins the login at an MCP server at a URL, as the notice `authorization_needed` asks for. The address is where the
   * authorization server sends the person back to, and belongs to this program: on loopback, or of a web application.
   * Gives the address where the person is to go. Rejects with the reason where nobody can log in.
   */
  logIn(server: string, redirectUri: string): Promise<string>;
  /**
   * The person came back: the address that was visited, or its query alone. Rejects with the reason where that is no login;
   * with the code `misuse` where it is not the answer that is waited for.
   */
  finishLogin(server: string, address: string): Promise<void>;
  /** Whether a login waits for this answer: its `state` is the one that was given out. */
  isLoginExpected(server: string, address: string): boolean;

  /** The tools, as MCP lists them: what a model is told about them. */
  tools(options?: CallOptions): Promise<ToolDefinition[]>;

  /** Calls a tool by its name: one of those below, or any other that {@link tools} lists. */
  call<Name extends ToolName | (string & {})>(
    name: Name,
    args?: Name extends ToolName ? ToolArguments[Name] : object,
    options?: CallOptions,
  ): Promise<Answer<Name extends ToolName ? ToolResults[Name] : { readonly [field: string]: unknown }>>;

  /** `connect_agent`: gives an agent an alias, with the headers that it wants and the rate that it bears. */
  connect(args: ToolArguments["connect_agent"], options?: CallOptions): Promise<Answer<ToolResults["connect_agent"]>>;
  /** `disconnect_agent`: forgets an agent, its conversation and its inbox, and ends its calls. */
  disconnect(args: ToolArguments["disconnect_agent"], options?: CallOptions): Promise<Answer<ToolResults["disconnect_agent"]>>;
  /** `list_agents`: the connected agents and how they are. */
  agents(args?: ToolArguments["list_agents"], options?: CallOptions): Promise<Answer<ToolResults["list_agents"]>>;
  /** `get_agent_card`: an agent's card, fetched now, with every field. */
  card(args: ToolArguments["get_agent_card"], options?: CallOptions): Promise<Answer<ToolResults["get_agent_card"]>>;
  /** `ping_agent`: whether an agent can be reached. That it cannot is a result and no error. */
  ping(args: ToolArguments["ping_agent"], options?: CallOptions): Promise<Answer<ToolResults["ping_agent"]>>;

  /** `send_message`: sends a message and waits for the answer; `text` of the result is what the agent said. */
  send(args: ToolArguments["send_message"], options?: CallOptions): Promise<Answer<ToolResults["send_message"]>>;
  /**
   * `broadcast_message`: one message to up to 20 agents. Rejects only if every one of them failed: with the code that they
   * have in common, or with `broadcast_failed`.
   */
  broadcast(args: ToolArguments["broadcast_message"], options?: CallOptions): Promise<Answer<ToolResults["broadcast_message"]>>;
  /** `get_task`: a task as it is now. */
  task(args: ToolArguments["get_task"], options?: CallOptions): Promise<Answer<ToolResults["get_task"]>>;
  /** `cancel_task`: calls a task off. */
  cancel(args: ToolArguments["cancel_task"], options?: CallOptions): Promise<Answer<ToolResults["cancel_task"]>>;
  /** `check_inbox`: what became of sends made with `async`. Takes nothing out. */
  inbox(args?: ToolArguments["check_inbox"], options?: CallOptions): Promise<Answer<ToolResults["check_inbox"]>>;
  /** `read_inbox`: takes outcomes out, each of them once. */
  readInbox(args: ToolArguments["read_inbox"], options?: CallOptions): Promise<Answer<ToolResults["read_inbox"]>>;
  /** `get_history`: what was said to an agent, and what it answered. */
  history(args: ToolArguments["get_history"], options?: CallOptions): Promise<Answer<ToolResults["get_history"]>>;
  /** `clear_history`: forgets that. */
  clearHistory(args: ToolArguments["clear_history"], options?: CallOptions): Promise<Answer<ToolResults["clear_history"]>>;
  /** `discover_agents`: asks a directory for agents. */
  discover(args?: ToolArguments["discover_agents"], options?: CallOptions): Promise<Answer<ToolResults["discover_agents"]>>;
  /** `create_caller_card`: says who is calling, with every later send. */
  createCallerCard(args: ToolArguments["create_caller_card"], options?: CallOptions): Promise<Answer<ToolResults["create_caller_card"]>>;
  /** `view_caller_card`: what is said about the caller. */
  callerCard(args?: ToolArguments["view_caller_card"], options?: CallOptions): Promise<Answer<ToolResults["view_caller_card"]>>;
  /** `remove_caller_card`: says nothing any more. */
  removeCallerCard(args?: ToolArguments["remove_caller_card"], options?: CallOptions): Promise<Answer<ToolResults["remove_caller_card"]>>;

  /** `list_tasks`: tasks of other agents that came to the gateway's own agent, where that has an inbox. */
  tasks(args?: ToolArguments["list_tasks"], options?: CallOptions): Promise<Answer<ToolResults["list_tasks"]>>;
  /** `respond_task`: answers one of them. */
  respond(args: ToolArguments["respond_task"], options?: CallOptions): Promise<Answer<ToolResults["respond_task"]>>;

  /**
   * Answers an HTTP request: MCP at `/mcp` for clients of both eras, `/agents`, `/metrics` and `/healthz`. The body streams. It may be handed
   * on as it is: `{ fetch: gateway.fetch }`.
   *
   * With an `a2a` section or `onWork` the gateway is an agent too: its card at `/.well-known/agent-card.json`, A2A over
   * JSON-RPC at `/a2a` and over HTTP+JSON at `/a2a/rest`. The addresses in the card have the scheme of the request's URL;
   * behind a proxy that ends TLS, say `a2a.url`.
   *
   * Who may ask is configured: `server.loopback` (only loopback names are served: the default in Node alone),
   * `server.hosts`, `server.cors_origins`, `auth.tokens`. In Node, where others can reach it, set `server.loopback` to
   * false, list its names in `server.hosts`, and set `network.allow_private` to false.
   */
  fetch(request: IncomingRequest): Promise<OutgoingResponse>;

  /** The directory of agents at `/agents`. */
  readonly directory: Directory;

  /** A connection for the official SDK's `Client`: `await client.connect(gateway.transport())`. Each serves one client. */
  transport(options?: ConnectionOptions): Transport;

  /**
   * A connection as a MessagePort, to be sent to a frame or a worker: one JSON-RPC message in each `postMessage`, as an
   * object or as text. Closing the port ends the connection where the platform tells of it.
   */
  port(options?: ConnectionOptions): Port;

  /** All state, in pieces of JSON text under 1 MiB each. It holds credentials unless `secrets` is false. */
  snapshot(options?: SnapshotOptions): string[];

  /**
   * What the policy would say of a call that is not made: by the same rules, in their order, as every call is held against.
   * Of a server that has not listed its tools the configuration alone is known.
   */
  explain(tool: string, options?: ExplainOptions): Explanation;

  /**
   * The tools that are held back because their servers describe them otherwise than before. They are not offered and not
   * called. The notice `tool_held` tells of each.
   */
  heldTools(): HeldTool[];

  /** Accepts one as it is now. @throws a {@link GatewayError} `misuse` where it is no longer held back in that form */
  acceptTool(tool: Pick<HeldTool, "server" | "tool" | "digest">): void;

  /**
   * Who gets the lines of the trace from now on; undefined stops it. Only a trace that was asked for when the gateway was
   * opened replays from the beginning.
   */
  trace(onTrace?: (line: string) => void): void;

  /** What ended this gateway, if it was not its owner: a fault in Narrows, or that `onSave` failed. */
  readonly dead: string | undefined;

  /** Aborts every request, ends every connection and lets go of everything. Calls that run reject. Twice is fine. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/** A call that waits for a person. It is made once, with the arguments that it was asked with, or not at all. */
export interface ApprovalRequest {
  id: string;
  state: "pending";
  /** the name that is offered, `mcp_{server}_{tool}` */
  tool: string;
  server: string;
  /** the server's own name of the tool */
  raw_tool: string;
  agent?: string;
  session: string;
  sender?: string;
  channel?: string;
  risk: "low" | "high";
  /** the call in words, without secrets */
  summary: string;
  arguments_digest: string;
  requested_at: string;
  expires_at: string;
  escalations: number;
}

/** What is said to a call that waits. */
export type ApprovalDecision = boolean | { approved: boolean; reason?: string } | undefined;

/** Where a text is going: all rules but for messages to agents, which are held to those that look for secrets. */
export type OutboundSink = "mcp_tool_call" | "agent_message" | "net_fetch";

/** A rule of the taint scan that fired, and where: a path from `$`. What it fired on is never told. */
export interface OutboundFinding {
  path: string;
  /** `depth` where a value is nested too deep to be looked at */
  rule:
    | "authorization_literal"
    | "key_value_secret"
    | "well_known_prefix"
    | "opaque_token"
    | "pii_email"
    | "pii_phone"
    | "pii_credit_card"
    | "pii_ssn"
    | "sensitive_key_name"
    | "depth";
}
