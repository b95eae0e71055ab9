import { visible, visibleJson, visibleLines } from "./visible.mjs";

/** Bytes that may wait for a reader of the log. A host that never reads stderr must cost no memory without bound. */
const QUEUE_BYTES = 1 << 20;

/** Ordinary life is in the trace, not here: many hosts show whatever is on stderr as errors. */
const QUIET = new Set(["debug", "info"]);

/** The log: words and notices on stderr, which carries no protocol. */
export class Log {
  #stream;

  /** @param {import("node:stream").Writable & { isTTY?: boolean }} stream */
  constructor(stream) {
    this.#stream = stream;
    // A reader that went away is no reason to stop.
    stream.on("error", () => {});
  }

  /** One sentence for a person. @param {string} text */
  say(text) {
    this.#write(`narrows: ${visibleLines(text)}`);
  }

  /**
   * A structured event: one line of JSON, or a readable line on a terminal.
   * @param {{ level: string, event: string, fields: object }} notice
   */
  notice({ level, event, fields }) {
    if (QUIET.has(level)) return;
    if (!this.#stream.isTTY) return this.line({ level, event, ...fields });
    const words = Object.entries(fields).map(
      ([name, value]) => `${name}=${typeof value === "string" ? visible(value) : visibleJson(value)}`,
    );
    this.#write([`narrows: ${level}: ${event}`, ...words].join(" "));
  }

  /** A structured event, whatever its level. @param {object} fields */
  line(fields) {
    this.#write(visibleJson(fields));
  }

  #write(line) {
    if (this.#stream.destroyed || this.#stream.writableLength > QUEUE_BYTES) return;
    this.#stream.write(line + "\n");
  }
}
