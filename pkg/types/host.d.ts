import type { Header, Milliseconds } from "./core.js";

/** The platform's AbortSignal. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer Own } } ? Own : SignalLike;

interface SignalLike {
  readonly aborted: boolean;
  readonly reason: any;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void, options?: any): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** A request as a host's own fetch gets it. */
export interface HostRequest {
  method: "GET" | "POST";
  url: string;
  headers: Header[];
  body?: string;
  /**
   * An agent at a public address named the URL, in its card or a redirect, and not the user: a fetch that resolves names
   * refuses private and loopback addresses for it, even where `network.allow_private` is true. The fetch of a page or a
   * worker cannot see addresses and ignores this.
   */
  public_only?: boolean;
  signal: Signal;
}

/** Some bytes of a body, or its text. */
export type Chunk = ArrayBufferView | ArrayBuffer | string;

/** A body: a ReadableStream, an async iterable such as Node's streams, or all of it at once. */
export type HostBody =
  | { getReader(): { read(): Promise<{ done: boolean; value?: Chunk | undefined }>; cancel(): Promise<unknown> } }
  | AsyncIterable<Chunk>
  | Chunk;

/** What a host's own fetch answers: a Response or anything that looks like one. Redirects are not followed. */
export interface HostResponse {
  status: number;
  /** `opaqueredirect` ends the exchange: nobody can see where it was redirected. */
  type?: string;
  headers?: Iterable<Header> | { forEach(visit: (value: string, name: string) => void): void } | { [name: string]: string };
  body?: HostBody | null;
  arrayBuffer?(): Promise<ArrayBuffer>;
}

/** The world of a gateway in five functions. Each that is left out is the platform's own. */
export interface Host {
  /**
   * Makes a request. A rejection is a failed fetch; its cause is read from a `code` on the error or on its `cause`:
   * one of Node's and undici's, or a {@link Cause}.
   */
  fetch?(request: HostRequest): HostResponse | Promise<HostResponse>;
  /** a clock that never goes back */
  now?(): Milliseconds;
  /** the wall clock, since 1970 */
  unixNow?(): Milliseconds;
  /** fills the bytes with randomness */
  random?(bytes: Uint8Array): void;
  /** calls back once, and returns what cancels it */
  setTimer?(callback: () => void, ms: number): () => void;
}
