import type { Signal } from "./host.js";
import type { Artifact, KnownTaskState, Message, Task } from "./tools.js";

/** A message that somebody sent to the gateway's own agent, for {@link GatewayOptions.onWork}. */
export interface Work {
  /** the text in the message, each part on a line */
  readonly text: string;
  /** the whole message, in the form of A2A 1.0 */
  readonly message: Message;
  /** its task as it stands, with what was said before: several messages may belong to one task */
  readonly task: Task & { readonly id: string };
  /** whose message it is: the principal of the caller's token, or `local` */
  readonly principal: string;
  /** the skill that the caller named */
  readonly skill?: string;
  /** the metadata of the request */
  readonly metadata?: { readonly [name: string]: unknown };
  /** tells that nobody wants it any more: the task was canceled, or the gateway ended */
  readonly signal: Signal;
}

/** What a function says about its work. */
export type WorkUpdate =
  /** on the way: how it goes; at the end: the answer */
  | string
  /** a question: the task waits for the caller, whose next message is work of its own */
  | { readonly ask: string }
  /** a result or a piece of one: text, or an artifact of A2A 1.0; `append` adds it to the one before of that id */
  | { readonly artifact: string | Artifact; readonly append?: boolean }
  | WorkEvent;

/** An event as A2A 1.0 §3.2.3 has it. Ids may be left out. */
export type WorkEvent =
  | { readonly statusUpdate: { readonly status: { readonly state: KnownTaskState; readonly message?: Message } } }
  | { readonly artifactUpdate: { readonly artifact: Artifact; readonly append?: boolean; readonly lastChunk?: boolean } }
  | { readonly message: Message }
  | { readonly task: Partial<Task> };

/** What {@link GatewayOptions.onWork} gives: its last word, or nothing where it said all; as a promise or at once. */
export type WorkOutcome = WorkUpdate | void | undefined;
