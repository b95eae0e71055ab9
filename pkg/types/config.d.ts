import type { Id } from "./core.js";

/** The bounds, by name. Bytes unless the name says otherwise. */
export type LimitName =
  | "reply_bytes"
  | "held_bytes"
  | "inbox_bytes"
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
  | "failed_readings"
  | "cards_by_url"
  | "request_bytes"
  | "incoming_bytes"
  | "requests"
  | "sessions"
  | "session_event_bytes"
  | "kept_event_bytes"
  | "kept_card_bytes"
  | "unread_bytes"
  | "tasks_per_principal"
  | "task_bytes"
  | "link_line_bytes"
  | "calls_per_server"
  | "tools_per_server"
  | "tool_list_bytes"
  | "directory_cards"
  | "directory_bytes"
  | "answer_bytes";

/** The configuration. What is absent has its default; every fault is named in a {@link GatewayError} of the code `config`. */
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
  /** where agents are discovered */
  readonly directory?: DirectorySection;
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
  readonly auth?: {
    readonly tokens?: readonly {
      readonly token: string;
      readonly principal: string;
      /** whether it answers the tasks of other principals */
      readonly may_answer?: boolean;
      /** whether it registers cards in the directory */
      readonly may_register?: boolean;
      /** whether it decides what waits for approval */
      readonly may_approve?: boolean;
      /** which agent calls with it, as `agents` names it */
      readonly agent?: string;
      /** on whose behalf, as `users` names it */
      readonly sender?: string;
      /** from where, as `approval.channel_rules` names it */
      readonly channel?: string;
    }[];
  };
  /** the gateway's own agent: with a section, even an empty one, it is served, and its inbox has tools */
  readonly a2a?: A2aSection;
  /** MCP servers behind the gateway, whose tools are offered as `mcp_{server}_{tool}` */
  readonly mcp_servers?: readonly McpServer[];
  /** how their tools are offered */
  readonly mcp?: {
    /** whether two tools that find and call them, `search_tools` and `call_tool`, are listed in their place */
    readonly search?: boolean;
    /** whether a tool whose description or schema changed is held back until it is accepted; true by default */
    readonly pins?: boolean;
  };
  /** which calls to MCP servers wait for a person */
  readonly approval?: ApprovalSection;
  /** what single users may do; one who is not listed needs approval for everything */
  readonly users?: readonly { readonly id: string; readonly tool_policy?: { readonly allow?: Globs; readonly deny?: Globs; readonly needs_approval?: Globs } }[];
  /** which servers single agents may use, by their names; `default` holds for those without an entry */
  readonly agents?: { readonly [name: string]: { readonly mcp_servers?: readonly string[]; readonly mcp_disabled?: boolean; readonly tags?: readonly string[] } };
  /** rules of the taint scan that are muted for some tools */
  readonly mcp_taint_policy?: readonly { readonly tool: string; readonly skip_rules?: readonly string[] }[];
  /** sets of rules that do not block where a tool names them */
  readonly taint_rules?: readonly { readonly name: string; readonly action?: "block" | "warn" | "log"; readonly rules?: readonly string[] }[];
  /** what is done about results in which a rule fires, `off` by default */
  readonly taint_policy?: { readonly results?: "off" | "warn" | "redact" };
  /** who the callers are that the host opens connections for */
  readonly caller?: { readonly agent?: string; readonly sender?: string; readonly channel?: string };
  /** whether the host keeps what it is told to save, or of that the pins of tools alone: set by hosts, not by users */
  readonly storage?: boolean | "pins";
  /** the bounds that differ from their defaults */
  readonly limits?: { readonly [name in LimitName]?: Id };
}

/** The gateway's own directory of agents, and the one that is asked. */
export interface DirectorySection {
  /** the directory that discover_agents asks by default */
  readonly url?: string;
  /**
   * whether discover_agents asks the gateway's own directory first; it is served at `/agents` in any case but where this is
   * false
   */
  readonly built_in?: boolean;
  /** what the host's own directory can do, in place of the gateway's: set by hosts, not by users */
  readonly store?: "query" | "filter" | "list";
}

/**
 * Who does the work of served tasks: nobody, a person or a model by the tools of the inbox, `onWork`, a tool of an MCP
 * server, that of the skill's name or the one that follows `tool:`, or another agent: `relay:` is followed by the name of
 * one of `external_agents`.
 */
export type Responder = "echo" | "inbox" | "function" | "tool" | `tool:mcp_${string}` | `relay:${string}`;

/** How the gateway is an agent itself. */
export interface A2aSection {
  /** whether it is served at all, true by default */
  readonly enabled?: boolean;
  readonly name?: string;
  readonly description?: string;
  /** where it is reached, taken from each request where it is absent; without a path, that of `listen_path` is added */
  readonly url?: string;
  /** the path of its endpoint, `/a2a` by default, below no path that something else is at */
  readonly listen_path?: string;
  /** both by default */
  readonly versions?: readonly ("1.0" | "0.3")[];
  /** `inbox` by default, `function` where there is an `onWork` */
  readonly responder?: Responder;
  /** whether agents that are discovered over HTTP wait for somebody's approval */
  readonly require_approval?: boolean;
  /** what it can do; callers choose one by its id in `metadata.skill` */
  readonly skills?: readonly {
    readonly id: string;
    readonly name: string;
    readonly description?: string;
    readonly tags?: readonly string[];
    readonly responder?: Responder;
  }[];
  /** more of the agents that are connected in every new scope */
  readonly external_agents?: readonly ExternalAgent[];
}

/** An MCP server behind the gateway. */
export interface McpServer {
  /** unlike any other in its letters and digits */
  readonly name: string;
  /**
   * a process: no shell, and only where the host is Node or one of your own that starts processes; or a URL, with `sse`
   * for servers that have nothing newer than 2024-11-05
   */
  readonly transport:
    | { readonly type: "stdio"; readonly command: string; readonly args?: readonly string[] }
    | { readonly type: "http" | "sse"; readonly url: string };
  /** how long its handshake, its list and each call may take, 30 by default */
  readonly timeout_secs?: Id;
  /** `NAME` to pass a variable of the host on, `NAME=value` to set one */
  readonly env?: readonly string[];
  /** the header fields of requests to a URL, each `Name: value` */
  readonly headers?: readonly string[];
  /**
   * one ping each `interval_secs`, 60 by default; after `unhealthy_threshold`, 3 by default, that failed in a row it is
   * connected anew. Without it nothing is asked
   */
  readonly health_check?: { readonly interval_secs?: Id; readonly unhealthy_threshold?: Id };
  /**
   * how tokens for a server at a URL are had, where that is not found out: the name of a client, or the https URL of its
   * metadata; its secret; the scopes to ask for. Only the command reads `client_secret_env`
   */
  readonly oauth?: {
    readonly client_id?: string;
    readonly client_secret?: string;
    readonly client_secret_env?: string;
    readonly scopes?: readonly string[];
  };
  /** the entry of the catalog it came from */
  readonly template_id?: string;
  /** false looks at names of keys and at depth alone */
  readonly taint_scanning?: boolean;
  /** what is looked for in calls to single tools, by their own names; a place is a path such as `$.body` or `$.files[*].text` */
  readonly taint_policy?: {
    readonly tools?: {
      readonly [tool: string]: {
        readonly default?: "scan" | "skip";
        readonly paths?: { readonly [path: string]: { readonly skip_rules?: readonly string[] } };
        readonly rule_sets?: readonly string[];
      };
    };
  };
}

/** Patterns for names of tools: `*` is any run of characters. */
export type Globs = readonly string[];

/** Which calls wait for a person, and for how long. */
export interface ApprovalSection {
  /** patterns, or all or none */
  readonly require_approval?: Globs | boolean;
  /** 10 to 300, 60 by default */
  readonly timeout_secs?: Id;
  /** what comes after that, `deny` by default */
  readonly timeout_fallback?: "deny" | "skip" | "escalate" | { readonly escalate: { readonly extra_timeout_secs?: Id } };
  readonly cache_approvals_per_session?: boolean;
  readonly trusted_senders?: readonly string[];
  /** whether the user of the asking client decides; by default not for clients over HTTP */
  readonly elicitation?: boolean;
  readonly channel_rules?: readonly { readonly channel: string; readonly allowed_tools?: Globs; readonly denied_tools?: Globs }[];
}

/** An agent that is connected without a call. */
export interface ExternalAgent {
  /** its alias */
  readonly name: string;
  readonly url: string;
  /** the header fields of its requests */
  readonly headers?: { readonly [name: string]: string };
}
