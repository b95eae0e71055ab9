/* tslint:disable */
/* eslint-disable */

import type { ConfigObject, Genesis, Host, Notice, SnapshotOptions } from "../index.js";



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
    body(now: number | bigint, exchange: number | bigint, bytes: ArrayBufferView | ArrayBuffer): void;
    /**
     * Lets go of everything; later calls throw an Error named `Disposed`. Twice is fine.
     */
    dispose(): void;
    /**
     * Takes in what happened, in its JSON form.
     *
     * # Errors
     * `Misuse`, a fault of the host; nothing changed.
     */
    input(now: number | bigint, json: string): void;
    /**
     * A message from a peer, without an envelope.
     *
     * # Errors
     * As [`input`](Self::input).
     */
    message(now: number | bigint, peer: number | bigint, text: string): void;
    /**
     * A gateway without peers and agents.
     *
     * # Errors
     * `Misuse` for the genesis, `ConfigError` naming every fault of the configuration.
     */
    constructor(genesis: Genesis, config?: ConfigObject);
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
    requestBody(now: number | bigint, request: number | bigint, bytes: ArrayBufferView | ArrayBuffer): void;
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
 * A gateway with a host around it: the fetch, clock and timers of the page or worker, or replaced ones.
 */
export class Driver {
    free(): void;
    [Symbol.dispose](): void;
    /**
     * A peer left: it gets nothing more.
     *
     * # Errors
     * `Misuse`, `Dead` or `Disposed`.
     */
    close(peer: number | bigint): void;
    /**
     * Aborts every fetch, cancels the timer and lets go of everything; later calls throw an Error named `Disposed`.
     * Twice is fine.
     */
    dispose(): void;
    /**
     * One JSON-RPC message from a peer.
     *
     * # Errors
     * `Misuse`, `Dead` or `Disposed`.
     */
    message(peer: number | bigint, text: string): void;
    /**
     * A running gateway without peers.
     *
     * # Errors
     * `ConfigError` naming every fault of the configuration, `Misuse` for the host's functions.
     */
    constructor(config?: ConfigObject, host?: Host);
    /**
     * Who is told, once, that a panic ended this gateway.
     *
     * # Errors
     * `Misuse` where it is no function.
     */
    onDead(callback?: (message: string) => void): void;
    /**
     * Who gets the gateway's notices; `undefined` for nobody.
     *
     * # Errors
     * `Misuse` where it is no function.
     */
    onNotice(callback?: (notice: Notice) => void): void;
    /**
     * An MCP client is there; `on_message` gets what the gateway says to it.
     *
     * # Errors
     * `Misuse`, `Dead` or `Disposed`.
     */
    open(peer: number | bigint, scope: string, onMessage: (text: string) => void): void;
    /**
     * Continues from the pieces of a `snapshot`, in any order.
     *
     * # Errors
     * As the constructor; `RestoreError` for a piece that is unreadable or of another version.
     */
    static restore(config: ConfigObject | undefined, host: Host | undefined, pieces: readonly string[]): Driver;
    /**
     * All state, in pieces of JSON text under 1 MiB each. They hold credentials unless `secrets` is false.
     *
     * # Errors
     * `Dead` or `Disposed`.
     */
    snapshot(options?: SnapshotOptions): string[];
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

export type InitInput = RequestInfo | URL | Response | BufferSource | WebAssembly.Module;

export interface InitOutput {
    readonly memory: WebAssembly.Memory;
    readonly __wbg_core_free: (a: number, b: number) => void;
    readonly __wbg_driver_free: (a: number, b: number) => void;
    readonly core_body: (a: number, b: any, c: any, d: any) => [number, number];
    readonly core_dead: (a: number) => [number, number];
    readonly core_dispose: (a: number) => void;
    readonly core_input: (a: number, b: any, c: any) => [number, number];
    readonly core_message: (a: number, b: any, c: any, d: any) => [number, number];
    readonly core_new: (a: any, b: any) => [number, number, number];
    readonly core_output: (a: number) => [number, number, number];
    readonly core_requestBody: (a: number, b: any, c: any, d: any) => [number, number];
    readonly core_restore: (a: any, b: any, c: any) => [number, number, number];
    readonly core_snapshot: (a: number, b: any) => [number, number, number, number];
    readonly core_timeout: (a: number) => [number, number, number];
    readonly core_trace: (a: number, b: number) => [number, number];
    readonly core_traceLine: (a: number) => [number, number, number, number];
    readonly driver_close: (a: number, b: any) => [number, number];
    readonly driver_dead: (a: number) => [number, number];
    readonly driver_dispose: (a: number) => void;
    readonly driver_message: (a: number, b: any, c: any) => [number, number];
    readonly driver_new: (a: any, b: any) => [number, number, number];
    readonly driver_onDead: (a: number, b: any) => [number, number];
    readonly driver_onNotice: (a: number, b: any) => [number, number];
    readonly driver_open: (a: number, b: any, c: any, d: any) => [number, number];
    readonly driver_restore: (a: any, b: any, c: any) => [number, number, number];
    readonly driver_snapshot: (a: number, b: any) => [number, number, number, number];
    readonly driver_trace: (a: number, b: number) => [number, number];
    readonly driver_traceLine: (a: number) => [number, number, number, number];
    readonly wasm_bindgen__convert__closures_____invoke__hdab296e63d088d77: (a: number, b: number, c: any, d: any) => void;
    readonly wasm_bindgen__convert__closures_____invoke__he33015df9b9789ac: (a: number, b: number, c: any) => [number, number];
    readonly wasm_bindgen__convert__closures_____invoke__ha47abe3a46ce0d9f: (a: number, b: number) => void;
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
