// The tools' arguments and results, by their own names.

/** What a tool answers. */
export interface Answer<Structured> {
  /** for people: what the agent said, or a sentence about what was done */
  readonly text: string;
  /** for programs; a number beyond 2^53 is here what `JSON.parse` makes of it, another one */
  readonly structured: Structured;
  /** the same as JSON text, in which every number stands as it came; absent where a tool gives nothing structured */
  readonly json?: string;
  /** both and more, as MCP has it */
  readonly content: readonly Content[];
}

/** One item of a tool's content, as MCP has it. */
export interface Content {
  readonly type: string;
  readonly text?: string;
  readonly [field: string]: unknown;
}

/** A state of a task, A2A 1.0 §4.1.3. */
export type KnownTaskState =
  | "TASK_STATE_UNSPECIFIED"
  | "TASK_STATE_SUBMITTED"
  | "TASK_STATE_WORKING"
  | "TASK_STATE_COMPLETED"
  | "TASK_STATE_FAILED"
  | "TASK_STATE_CANCELED"
  | "TASK_STATE_INPUT_REQUIRED"
  | "TASK_STATE_REJECTED"
  | "TASK_STATE_AUTH_REQUIRED";

/** The state of an agent's task. One that is not known here is passed on as the agent wrote it. */
export type TaskState = KnownTaskState | (string & {});

/** Content of a message or an artifact, A2A 1.0 §4.1.6: one of `text`, `raw`, `url` and `data`. */
export interface Part {
  readonly text?: string;
  /** bytes in base64 */
  readonly raw?: string;
  readonly url?: string;
  readonly data?: unknown;
  readonly mediaType?: string;
  readonly filename?: string;
  readonly metadata?: object;
}

/** A message, A2A 1.0 §4.1.4. What an agent added is there too. */
export interface Message {
  readonly messageId?: string;
  readonly role?: "ROLE_USER" | "ROLE_AGENT" | "ROLE_UNSPECIFIED";
  readonly parts?: readonly Part[];
  readonly contextId?: string;
  readonly taskId?: string;
  readonly referenceTaskIds?: readonly string[];
  readonly metadata?: object;
  readonly [member: string]: unknown;
}

/** What a task made, A2A 1.0 §4.1.7. */
export interface Artifact {
  readonly artifactId?: string;
  readonly name?: string;
  readonly description?: string;
  readonly parts?: readonly Part[];
  readonly metadata?: object;
  readonly [member: string]: unknown;
}

/** A task, A2A 1.0 §4.1.1, whichever version its agent speaks. What an agent added is there too. */
export interface Task {
  /** absent where the agent gave none */
  readonly id?: string;
  readonly contextId?: string;
  readonly status?: { readonly state: TaskState; readonly message?: Message; readonly timestamp?: string };
  readonly artifacts?: readonly Artifact[];
  readonly history?: readonly Message[];
  readonly metadata?: object;
  readonly [member: string]: unknown;
}

/** Why one part of a call failed. */
export interface ToolFault {
  readonly code: import("./error.js").ToolErrorCode;
  readonly message: string;
  readonly [field: string]: unknown;
}

/** Content to be sent: exactly one of `text`, `data`, `url` and `raw`. */
export interface PartArgument {
  readonly text?: string;
  /** any JSON value */
  readonly data?: unknown;
  readonly url?: string;
  /** bytes in base64 */
  readonly raw?: string;
  readonly media_type?: string;
  readonly filename?: string;
  readonly metadata?: object;
}

/** Nothing. */
export interface NoArguments {
  readonly [field: string]: never;
}

/** What each tool takes. `null` stands for absent. */
export interface ToolArguments {
  broadcast_message: {
    /** 1 to 20 connected agents */
    readonly aliases: readonly string[];
    readonly message?: string | null;
    /** instead of a message */
    readonly parts?: readonly PartArgument[] | null;
    /** for each agent: 1 to 120, 30 by default */
    readonly timeout_seconds?: number | null;
    readonly metadata?: object | null;
    /** return at once; the outcomes go to the inbox */
    readonly async?: boolean | null;
  };
  cancel_task: {
    /** alias or URL */
    readonly agent: string;
    readonly task_id: string;
  };
  check_inbox: {
    /** only this agent */
    readonly alias?: string | null;
  };
  clear_history: {
    /** alias */
    readonly agent: string;
  };
  connect_agent: {
    /** 1 to 64 of a-z, 0-9 and - */
    readonly alias: string;
    /** absolute, http or https */
    readonly agent_url: string;
    /** sent with every request to this agent, and to nobody else */
    readonly headers?: { readonly [name: string]: string } | null;
    /** sends a second, 0 for no limit; together with `rate_limit_burst` */
    readonly rate_limit_rps?: number | null;
    readonly rate_limit_burst?: number | null;
    /** a path for `ping_agent`, the card by default */
    readonly ping_endpoint?: string | null;
  };
  create_caller_card: {
    readonly name: string;
    readonly description: string;
    readonly url?: string | null;
    readonly skills?:
      | readonly { readonly name: string; readonly description?: string; readonly id?: string; readonly tags?: readonly string[] }[]
      | null;
    readonly capabilities?: { readonly streaming?: boolean; readonly push_notifications?: boolean } | null;
    /** the key in the metadata of each send, `caller_agent_card` by default */
    readonly metadata_key?: string | null;
  };
  disconnect_agent: { readonly alias: string };
  discover_agents: {
    /** needed where no default is configured */
    readonly directory_url?: string | null;
    readonly filter?: string | null;
    /** the same as `filter` */
    readonly query?: string | null;
    readonly limit?: number | null;
    /** the `next_token` of the page before */
    readonly cursor?: string | null;
    readonly headers?: { readonly [name: string]: string } | null;
    /** asks what the directory understands */
    readonly help?: boolean | null;
  };
  get_agent_card: {
    /** alias or URL */
    readonly agent: string;
  };
  get_history: {
    /** alias */
    readonly agent: string;
    /** only the newest so many */
    readonly limit?: number | null;
  };
  get_task: {
    /** alias or URL */
    readonly agent: string;
    readonly task_id: string;
    /** how many past messages to include */
    readonly history_length?: number | null;
  };
  list_agents: NoArguments;
  list_tasks: {
    /** only tasks in this state, such as `submitted` or `input-required` */
    readonly state?: string | null;
    /** 50 by default, at most 100 */
    readonly limit?: number | null;
    /** `next_cursor` of the page before */
    readonly cursor?: string | null;
  };
  ping_agent: { readonly alias: string };
  read_inbox: {
    readonly alias: string;
    /** at most so many */
    readonly length?: number | null;
    /** take all, give the newest only */
    readonly latest?: boolean | null;
  };
  remove_caller_card: NoArguments;
  respond_task: {
    readonly task_id: string;
    /** text for the caller; or use parts */
    readonly message?: string | null;
    readonly parts?: readonly PartArgument[] | null;
    /** a result: its content in text or parts */
    readonly artifact?: {
      readonly name?: string | null;
      readonly description?: string | null;
      readonly message?: string | null;
      readonly parts?: readonly PartArgument[] | null;
    } | null;
    readonly state: "working" | "input-required" | "auth-required" | "completed" | "failed" | "rejected" | "canceled";
  };
  send_message: {
    /** alias or URL */
    readonly agent: string;
    readonly message?: string | null;
    /** instead of a message */
    readonly parts?: readonly PartArgument[] | null;
    /** the stored conversation by default */
    readonly context_id?: string | null;
    /** continue this task */
    readonly task_id?: string | null;
    /** ignore the stored conversation */
    readonly new_conversation?: boolean | null;
    readonly reference_task_ids?: readonly string[] | null;
    /** media types */
    readonly accepted_output_modes?: readonly string[] | null;
    readonly history_length?: number | null;
    readonly metadata?: object | null;
    /** the longest wait: 0 for the configured default, below 0 for no limit */
    readonly poll_timeout_seconds?: number | null;
    /** return at once; the outcome goes to the inbox */
    readonly async?: boolean | null;
  };
  view_caller_card: NoArguments;
}

/** The name of a tool. */
export type ToolName = keyof ToolArguments;

/** What each tool gives in `structured`. */
export interface ToolResults {
  broadcast_message: {
    readonly results: {
      readonly [alias: string]: {
        readonly status: "success" | "input-required" | "auth-required" | "error" | "skipped" | "dispatched";
        /** what the agent said */
        readonly response?: string;
        /** of a dispatched send */
        readonly call_id?: string;
        readonly task?: Task;
        readonly message?: Message;
        readonly error?: ToolFault;
      };
    };
    readonly succeeded?: number;
    readonly failed?: number;
  };
  cancel_task: {
    /** as its agent reports it, which need not be canceled */
    readonly task: Task;
  };
  check_inbox: {
    readonly entries: readonly {
      readonly call_id: string;
      readonly alias: string;
      /** of the task (`completed`, `input-required`, …), or `message`, or `error` */
      readonly state: string;
      readonly task_id?: string;
      readonly context_id?: string;
      readonly error?: ToolFault;
      readonly timestamp: string;
    }[];
    /** sends that are not answered */
    readonly pending: readonly {
      readonly call_id: string;
      readonly alias: string;
      readonly since: string;
      readonly task_id?: string;
    }[];
    /** tasks of other agents that wait for an answer, where the gateway is an agent with an inbox */
    readonly inbound?: readonly {
      readonly task_id: string;
      /** the principal that sent it */
      readonly from: string;
      readonly state: string;
      /** the last words of its caller */
      readonly text: string;
      readonly timestamp: string;
    }[];
    /** entries dropped since the last check because the box was full */
    readonly lost?: number;
  };
  clear_history: { readonly agent: string; readonly cleared: number };
  connect_agent: {
    readonly alias: string;
    readonly url: string;
    readonly replaced: boolean;
    /** null where none could be read: the agent can be used all the same */
    readonly card: {
      readonly name: string;
      readonly version?: string;
      readonly protocol_version: string;
      readonly transport: string;
      readonly streaming: boolean;
      readonly skills: readonly string[];
    } | null;
    /** why there is no card */
    readonly card_error?: string;
  };
  create_caller_card: { readonly name: string; readonly metadata_key: string; readonly replaced: boolean };
  disconnect_agent: {
    readonly alias: string;
    readonly url: string;
    /** calls that were running */
    readonly aborted: number;
  };
  discover_agents: {
    /** cards, with every field */
    readonly agents?: readonly object[];
    readonly next_token?: string;
    /** cards that could not be read, by their place, and pages that cannot be asked for */
    readonly problems?: readonly { readonly index?: number; readonly why: string }[];
    readonly help?: object;
  };
  get_agent_card: {
    /** whole, with every field */
    readonly card: object;
    /** how it was understood */
    readonly normalized: {
      readonly name: string;
      readonly protocol_version: string;
      readonly transport: string;
      readonly streaming: boolean;
      readonly skills: readonly string[];
    };
  };
  get_history: {
    /** the oldest first */
    readonly entries: readonly {
      readonly sent: string;
      readonly response: string;
      readonly timestamp: string;
      readonly context_id?: string;
      readonly task_id?: string;
      readonly state?: string;
      readonly is_error: boolean;
    }[];
  };
  get_task: { readonly task: Task };
  list_agents: {
    readonly agents: readonly {
      readonly alias: string;
      readonly url: string;
      /** `unlimited`, or such as `10.00 rps, burst 20` */
      readonly rate_limit: string;
      readonly health: "healthy" | "unhealthy" | "unknown";
      readonly consecutive_failures?: number;
      readonly protocol_version?: string;
      readonly transport?: string;
      readonly streaming?: boolean;
    }[];
  };
  list_tasks: { readonly tasks: readonly Task[]; readonly next_cursor?: string };
  ping_agent: {
    readonly reachable: boolean;
    readonly health: "healthy" | "unhealthy" | "unknown";
    readonly status?: number;
    readonly response_time_ms?: number;
    readonly reason?: string;
  };
  read_inbox: {
    readonly messages: readonly {
      readonly call_id: string;
      readonly alias: string;
      readonly state: string;
      readonly timestamp: string;
      readonly task?: Task;
      readonly message?: Message;
      readonly error?: ToolFault;
    }[];
  };
  remove_caller_card: { readonly name: string };
  respond_task: { readonly task: Task };
  /** one of the three */
  send_message: {
    readonly task?: Task;
    readonly message?: Message;
    readonly async?: { readonly alias: string; readonly status: "dispatched"; readonly call_id: string };
  };
  view_caller_card: { readonly card: object | null; readonly metadata_key?: string };
}
