import type { Content, Task, ToolResults } from "./tools.js";

/** Why a tool call failed. */
export type ToolErrorCode =
  | "invalid_argument"
  | "unknown_agent"
  | "rate_limited"
  | "unreachable"
  | "timeout"
  | "canceled"
  | "http_status"
  | "too_large"
  | "protocol_error"
  | "agent_error"
  | "task_failed"
  | "task_canceled"
  | "task_rejected"
  | "task_not_found"
  | "task_not_cancelable"
  | "unsupported"
  | "blocked"
  | "approval_denied"
  | "busy"
  | "internal";

/**
 * What is wrong with the gateway itself: its configuration, the snapshot that it should go on from, how it was used, or
 * that it has ended (`disposed` by its owner, `storage` as `onSave` failed, `dead` by a fault in Narrows). And
 * `broadcast_failed`: every agent of a broadcast failed, not all for the same reason.
 */
export type GatewayErrorCode = "config" | "restore" | "misuse" | "disposed" | "storage" | "dead" | "broadcast_failed";

/**
 * What went wrong. `code` says it to a program, `message` to a person: what failed, for which agent, and what to do.
 *
 * ```ts
 * try {
 *   await gateway.send({ agent: "bistro", message: "Hello" });
 * } catch (error) {
 *   if (!(error instanceof GatewayError) || error.code !== "rate_limited") throw error;
 *   console.log(`again in ${error.retry_after_ms} ms`);
 * }
 * ```
 */
export class GatewayError extends Error {
  constructor(code: ToolErrorCode | GatewayErrorCode, message: string, details?: { readonly [field: string]: unknown });
  readonly name: "GatewayError";
  readonly code: ToolErrorCode | GatewayErrorCode;
  /** with `rate_limited`, and with `http_status` where the agent said so: a caller who waits this long succeeds */
  readonly retry_after_ms?: number;
  /** with `timeout`: the task that goes on at the agent */
  readonly task_id?: string;
  /** with `http_status`: what the agent answered */
  readonly status?: number;
  /** with `agent_error`: the agent's own code */
  readonly agent_code?: number | string;
  /** the task as far as it came, where the agent returned one */
  readonly task?: Task;
  /** with `agent_error`: what else the agent said */
  readonly agent_data?: unknown;
  /** of a broadcast: what became of each agent */
  readonly results?: ToolResults["broadcast_message"]["results"];
  /** what was thrown beneath, where something was */
  readonly cause?: unknown;
  /** the failed call's content, as MCP has it */
  readonly content?: readonly Content[];
  /** the failed call's structured content, as MCP has it; a message that the agent sent is in it */
  readonly structured?: { readonly [field: string]: unknown };
  /** the same as JSON text, in which every number stands as it came */
  readonly json?: string;
}
