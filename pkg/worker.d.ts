import type { ConfigObject } from "./types/config.js";
import type { Notice } from "./types/core.js";
import type { GatewayOptions, IncomingRequest, OutgoingResponse } from "./types/gateway.js";
import type { Work } from "./types/work.js";

/** What the runtime hands to a Durable Object. */
export interface ObjectState {
  readonly id: { readonly name?: string | undefined };
  readonly storage: any;
  abort(reason?: string): void;
}

/**
 * A Durable Object with a gateway in it. Declare a class of your own that says how it is configured, and bind it with
 * SQLite (`new_sqlite_classes`):
 *
 * ```ts
 * export class Caller extends GatewayObject {
 *   static configure = (env: { TOKENS: string }) => ({ auth: { tokens: JSON.parse(env.TOKENS) } });
 * }
 * ```
 *
 * Its state is kept after every input that changed it, before anything is said or sent that depends on it: an object that
 * is evicted or lost goes on where it was. Calls that were running then end as `unreachable` and name their task. Nothing
 * is sent to an agent again. What has to happen later happens by the object's alarm, and by nothing else.
 */
export class GatewayObject {
  constructor(ctx: ObjectState, env: any);
  /** The configuration of the gateway, from the worker's environment. Private addresses are out of reach by default. */
  static configure(env: any): ConfigObject;
  /**
   * Does the work of served tasks, as `onWork` of `Gateway.open`: for the responder `function`, which the configuration has
   * to name. It runs as long as the object does: a task that was worked on when that was lost has failed.
   */
  static onWork?(work: Work, env: any): ReturnType<NonNullable<GatewayOptions["onWork"]>>;
  /**
   * The namespace that the objects are bound to, as `DoorOptions.objects`. With it and `directory.built_in` in the
   * configuration `discover_agents` asks the one directory of all callers.
   */
  static objects?(env: any): any;
  /** Takes the gateway's notices; warnings and worse go to the console by default. */
  static onNotice(notice: Notice): void;
  fetch(request: IncomingRequest): Promise<OutgoingResponse>;
  alarm(): void;
}

/** How a worker finds its objects. */
export interface DoorOptions {
  /** the namespace that the objects are bound to */
  objects(env: any): any;
  /** as `GatewayObject.configure` of the objects */
  configure(env: any): ConfigObject;
  /**
   * Where there are no tokens, the name of the one object that is an A2A agent for everybody: whoever finds it shares its
   * tasks. Without it the worker is an agent for callers with tokens alone. Its responder cannot be `inbox`, which nobody
   * could read.
   */
  publicAgent?(env: any): string | undefined;
}

/**
 * The `fetch` handler of a worker whose callers have an object each. With `auth.tokens` a caller is the principal of its
 * token. Without, it is its session: an object with an id that nobody can guess, which is part of the session's name and
 * goes after a day without requests. Clients of MCP 2026-07-28, which has no sessions, need a token.
 *
 * With an `a2a` section the worker is an A2A agent: the tasks of a caller are in the object of its token, and MCP clients
 * with that token see them.
 *
 * The directory of agents at `/agents` has one object for all callers. Writing to it takes a token with `may_register`.
 */
export function door(options: DoorOptions): (request: IncomingRequest, env: any) => Promise<OutgoingResponse>;
