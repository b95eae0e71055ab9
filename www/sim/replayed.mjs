import { Core } from "../core.mjs";
import { put, replay } from "./record.mjs";

const FRAME_MS = 100;

/** A trace from a file as a session: time can be held and scrubbed, but nothing new can happen. */
export class Replayed extends EventTarget {
  speed = 1;
  playing = false;
  isReplay = true;
  tools = [];
  calls = new Map();
  visits = new Map();
  #lines;
  #at;
  #start;
  #state = { heard: -1, records: [] };

  /** @param {string} text @param {string} title @throws {Error} it is no trace */
  constructor(text, title) {
    super();
    const { records } = replay(text);
    this.title = title;
    this.known = records;
    this.#lines = text.split("\n").filter((line) => line.trim() !== "");
    this.#start = records[0]?.now ?? 0;
    this.end = records.at(-1)?.now ?? 0;
    this.#at = this.end;
    this.trace = { lines: this.#lines, bytes: text.length };
  }

  get now() {
    return this.#at;
  }

  get isPast() {
    return this.#at < this.end;
  }

  get isBusy() {
    return this.isPast;
  }

  /** What the gateway knew at that moment: it is asked again, with all that it had been told until then. */
  get agents() {
    const heard = this.known.filter(({ now, input }) => input && now <= this.#at).length;
    if (this.#state.heard !== heard) this.#state = { heard, records: this.#recall() };
    return this.#state.records
      .filter(({ kind }) => kind === "agent")
      .map((agent) => ({ ...agent, bucket: { ...agent.bucket, level: (agent.bucket?.nano_tokens ?? 0) / 1e9 } }));
  }

  get inbox() {
    return this.#state.records.filter(({ kind }) => kind === "inbox");
  }

  get tasks() {
    return this.#state.records.filter(({ kind }) => kind === "task");
  }

  pass(ms) {
    if (this.playing && this.isPast) this.#go(this.#at + Math.min(ms, FRAME_MS) * this.speed);
    else if (this.playing) this.seek(this.end);
  }

  seek(at) {
    this.playing = false;
    this.#go(at);
  }

  stepOn() {
    this.seek(this.known.find(({ now }) => now > this.#at)?.now ?? this.end);
  }

  stepBack() {
    this.seek(this.known.findLast(({ now }) => now < this.#at)?.now ?? this.#start);
  }

  touch() {
    if (this.playing && !this.isPast) this.#at = this.#start;
    this.#go(this.#at);
  }

  command() {
    throw new Error("A trace from a file cannot be changed.");
  }

  dispose() {}

  #go(at) {
    this.#at = Math.min(Math.max(Math.round(at), this.#start), this.end);
    this.dispatchEvent(new Event("change"));
  }

  #recall() {
    const [birth, ...lines] = this.#lines.map((line) => JSON.parse(line));
    const { seed, now, unix_ms } = birth.genesis;
    const core = new Core(
      { seed: Uint8Array.from(seed.match(/../g), (pair) => Number.parseInt(pair, 16)), now, unixMs: unix_ms },
      birth.config,
    );
    try {
      for (const line of lines) {
        if (!line.input || line.misuse) continue;
        if (line.now > this.#at) break;
        put(core, line);
        while (core.output() !== undefined);
      }
      return core.snapshot({ secrets: false }).flatMap((piece) => JSON.parse(piece).records ?? []);
    } finally {
      core.free();
    }
  }
}
