/* tslint:disable */
/* eslint-disable */

import type { ConfigObject, Genesis, HostRequest, SnapshotOptions } from "../index.js";



/**
 * The gateway without a host: a state machine that says what to do and does nothing itself.
 */
export class Core {
    free(): void;
    [Symbol.dispose](): void;
    /**
     * Some bytes of a fetch's body, copied once.
     *
     * # Errors
     * As [`input`](Self::input).
     */
    body(now: number | bigint, exchange: number | bigint, bytes: ArrayBufferView | ArrayBuffer): number;
    /**
     * Goes on with another configuration; what did not change goes on untouched.
     *
     * # Errors
     * As the constructor, for the configuration; then nothing changed.
     */
    configure(now: number | bigint, config?: ConfigObject): number;
    /**
     * Lets go of everything; later calls throw an Error named `Disposed`. Twice is fine.
     */
    dispose(): void;
    /**
     * What the policy would say of a call that is not made: JSON text of a question and of its answer.
     *
     * # Errors
     * `Misuse` for what is no question, `Dead` or `Disposed`.
     */
    explain(question: string): string;
    /**
     * The tools that are held back because they changed, as JSON text.
     *
     * # Errors
     * `Dead` or `Disposed`.
     */
    heldTools(): string;
    /**
     * Takes in what happened, in its JSON form. Gives what is to be done then: 1 where outputs wait, plus 2 where
     * `timeout` has another answer than the last one.
     *
     * # Errors
     * `Misuse`, a fault of the host; nothing changed.
     */
    input(now: number | bigint, json: string): number;
    /**
     * A message from a peer, without an envelope.
     *
     * # Errors
     * As [`input`](Self::input).
     */
    message(now: number | bigint, peer: number | bigint, text: string): number;
    /**
     * A gateway without peers and agents.
     *
     * # Errors
     * `Misuse` for the genesis, `ConfigError` naming every fault of the configuration.
     */
    constructor(genesis: Genesis, config?: ConfigObject);
    /**
     * The same, but for a text that goes to a peer or into a response: that one comes without an envelope, as
     * `[peer, undefined, text]` or `[undefined, request, text]`, so that nobody escapes it and reads it back.
     *
     * # Errors
     * `Dead` or `Disposed`.
     */
    next(): string | [peer: number, request: undefined, text: string] | [peer: undefined, request: number, text: string] | undefined;
    /**
     * The next thing to do, as JSON text.
     *
     * # Errors
     * `Dead` or `Disposed`.
     */
    output(): string | undefined;
    /**
     * Some bytes of an incoming request's body, copied once.
     *
     * # Errors
     * As [`input`](Self::input).
     */
    requestBody(now: number | bigint, request: number | bigint, bytes: ArrayBufferView | ArrayBuffer): number;
    /**
     * Continues from the pieces of a `snapshot`, in any order.
     *
     * # Errors
     * As the constructor; `RestoreError` for a piece that is unreadable or of another version.
     */
    static restore(genesis: Genesis, config: ConfigObject | undefined, pieces: readonly string[]): Core;
    /**
     * All state, in pieces of JSON text under 1 MiB each. They hold credentials unless `secrets` is false.
     *
     * # Errors
     * `Dead` or `Disposed`.
     */
    snapshot(options?: SnapshotOptions): string[];
    /**
     * When to come back at the latest, and why, as JSON text.
     *
     * # Errors
     * `Dead` or `Disposed`.
     */
    timeout(): string | undefined;
    /**
     * The next line of the trace, as JSON text with placeholders for secrets.
     *
     * # Errors
     * `Dead` or `Disposed`.
     */
    traceLine(): string | undefined;
    /**
     * Starts or stops writing the trace.
     *
     * # Errors
     * `Dead` or `Disposed`.
     */
    trace(on: boolean): void;
    /**
     * The panic message, where a panic ended this object.
     */
    readonly dead: string | undefined;
}

/**
 * A request under way. Redirects are not followed, no cookies are kept, nothing is repeated.
 */
export class Fetch {
    free(): void;
    [Symbol.dispose](): void;
    /**
     * Aborts the request and cancels its body. Nothing more is told.
     */
    abort(): void;
    /**
     * Starts a request `{method, url, headers, body?, public_only?}`, with the global fetch, which can see no addresses and
     * so does not look at `public_only`, or with `own`, which gets the same object with a `signal` in it. What becomes of it is told to the methods of `report`: `head(status, headers)`, then
     * `body(bytes)` any number of times, then `end()`; or `failed(cause, detail)` at any point. Nothing is told before
     * this returns.
     *
     * # Errors
     * `Misuse` where `own` is no function.
     */
    constructor(request: object, report: object, own?: (request: HostRequest) => unknown);
}

/**
 * What fires on a payload, a text or JSON: JSON text of an array of `{path, rule}`. A value that is nested too deep has the
 * rule `depth`.
 *
 * # Errors
 * `Misuse` for an unknown sink or rule, or a payload that is no JSON.
 */
export function checkOutbound(payload: string, is_json: boolean, sink: string, skip_rules: readonly string[]): string;

export type InitInput = RequestInfo | URL | Response | BufferSource | WebAssembly.Module;

export interface InitOutput {
    readonly memory: WebAssembly.Memory;
    readonly __wbg_core_free: (a: number, b: number) => void;
    readonly __wbg_fetch_free: (a: number, b: number) => void;
    readonly checkOutbound: (a: any, b: number, c: any, d: any) => [number, number, number, number];
    readonly core_body: (a: number, b: any, c: any, d: any) => [number, number, number];
    readonly core_configure: (a: number, b: any, c: any) => [number, number, number];
    readonly core_dead: (a: number) => [number, number];
    readonly core_dispose: (a: number) => void;
    readonly core_explain: (a: number, b: any) => [number, number, number, number];
    readonly core_heldTools: (a: number) => [number, number, number, number];
    readonly core_input: (a: number, b: any, c: any) => [number, number, number];
    readonly core_message: (a: number, b: any, c: any, d: any) => [number, number, number];
    readonly core_new: (a: any, b: any) => [number, number, number];
    readonly core_next: (a: number) => [number, number, number];
    readonly core_output: (a: number) => [number, number, number];
    readonly core_requestBody: (a: number, b: any, c: any, d: any) => [number, number, number];
    readonly core_restore: (a: any, b: any, c: any) => [number, number, number];
    readonly core_snapshot: (a: number, b: any) => [number, number, number, number];
    readonly core_timeout: (a: number) => [number, number, number];
    readonly core_trace: (a: number, b: number) => [number, number];
    readonly core_traceLine: (a: number) => [number, number, number, number];
    readonly fetch_abort: (a: number) => void;
    readonly fetch_new: (a: any, b: any, c: any) => [number, number, number];
    readonly wasm_bindgen__convert__closures_____invoke__he1f0caf9848489ca: (a: number, b: number, c: any, d: any) => void;
    readonly wasm_bindgen__convert__closures_____invoke__he33015df9b9789ac: (a: number, b: number, c: any) => [number, number];
    readonly wasm_bindgen__convert__closures_____invoke__hdd7dfaae3a1d179d: (a: number, b: number) => void;
    readonly __wbindgen_malloc: (a: number, b: number) => number;
    readonly __wbindgen_realloc: (a: number, b: number, c: number, d: number) => number;
    readonly __wbindgen_exn_store: (a: number) => void;
    readonly __externref_table_alloc: () => number;
    readonly __wbindgen_externrefs: WebAssembly.Table;
    readonly __wbindgen_destroy_closure: (a: number, b: number) => void;
    readonly __externref_table_dealloc: (a: number) => void;
    readonly __wbindgen_free: (a: number, b: number, c: number) => void;
    readonly __externref_drop_slice: (a: number, b: number) => void;
    readonly __wbindgen_start: () => void;
}

export type SyncInitInput = BufferSource | WebAssembly.Module;

/**
 * Instantiates the given `module`, which can either be bytes or
 * a precompiled `WebAssembly.Module`.
 *
 * @param {{ module: SyncInitInput }} module - Passing `SyncInitInput` directly is deprecated.
 *
 * @returns {InitOutput}
 */
export function initSync(module: { module: SyncInitInput } | SyncInitInput): InitOutput;

/**
 * If `module_or_path` is {RequestInfo} or {URL}, makes a request and
 * for everything else, calls `WebAssembly.instantiate` directly.
 *
 * @param {{ module_or_path: InitInput | Promise<InitInput> }} module_or_path - Passing `InitInput` directly is deprecated.
 *
 * @returns {Promise<InitOutput>}
 */
export default function __wbg_init (module_or_path?: { module_or_path: InitInput | Promise<InitInput> } | InitInput | Promise<InitInput>): Promise<InitOutput>;
