// For tests of what is built on the gateway, and of hosts of one's own.
import type { Host, HostRequest, HostResponse } from "./types/host.js";
import type { IncomingRequest, OutgoingResponse } from "./types/gateway.js";

/**
 * A world under a test's control, for `Gateway.open({ host })`: a clock that moves when it is told to, chance that
 * repeats, and a fetch that answers as the test says.
 *
 * ```ts
 * const host = new FakeHost({ answer: () => new Promise(() => {}) }); // an agent that never answers
 * const gateway = await Gateway.open({ host });
 * const sent = gateway.card({ agent: "https://agent.example" }).catch((error) => error.code);
 * await host.advance(30_000);
 * console.log(await sent); // timeout
 * gateway.dispose();
 * ```
 */
export class FakeHost implements Required<Host> {
  constructor(options?: {
    /** what a request is answered with, 404 by default; it may reject, and it may never settle */
    readonly answer?: (request: HostRequest) => HostResponse | Promise<HostResponse>;
    /** the wall-clock time at the start: the first of January 2026 by default */
    readonly unixMs?: number;
    /** which bytes chance gives */
    readonly seed?: number;
  });
  /** The requests so far, the oldest first. */
  readonly requests: readonly HostRequest[];
  /** How long each timer has still to run, the next one first. */
  readonly timers: readonly number[];
  /** Lets that much time pass: every timer that is due calls back, in its order, and what follows from it happens. */
  advance(ms: number): Promise<void>;
  /** Lets everything happen that waits for no time. */
  settle(): Promise<void>;
  fetch(request: HostRequest): Promise<HostResponse>;
  now(): number;
  unixNow(): number;
  random(bytes: Uint8Array): void;
  setTimer(callback: () => void, ms: number): () => void;
}

/** What one check found. */
export interface CheckResult {
  readonly name: string;
  readonly ok: boolean;
  /** what is wrong */
  readonly problem?: string;
}

/**
 * Checks a host of your own, function by function: clocks, chance and timers, and its fetch if `url` says where
 * {@link respondToChecks} answers.
 *
 * ```ts
 * for (const { name, ok, problem } of await checkHost(host, { url })) test(name, () => assert.ok(ok, problem));
 * ```
 */
export function checkHost(host: Required<Host>, options?: { readonly url?: string }): Promise<CheckResult[]>;

/** The server that the checks of `fetch` talk to: mount it where the host can reach it. */
export function respondToChecks(request: IncomingRequest): Promise<OutgoingResponse>;
