/** The core's own default of `limits.unread_bytes`. */
export const UNREAD_BYTES = 256 << 20;

/** How a progress notification begins, with the token that says whose it is. */
const PROGRESS = /^\{"jsonrpc":"2\.0","method":"notifications\/progress","params":\{"progressToken":("(?:[^"\\]|\\.)*"|[-+.\w]+)/;

/** Where a token that is longer than any in use would end; one that is longer still waits like everything else. */
const PROGRESS_BYTES = 500;

/**
 * Writes messages to a stream, one line each, in order.
 *
 * Writes of one turn leave in one system call. A reader that does not keep up is waited for: the messages queue here,
 * and `onFull` is told when too many bytes wait, `onDrained` when all of them have gone.
 */
export class LineWriter {
  #stream;
  #write;
  #queueBytes;
  #onFull;
  #onDrained;
  #corked = false;
  #full = false;
  #broken = false;
  #waiting = [];
  #waitingLength = 0;
  #unread;
  #progress = new Map();
  #whenDrained = [];

  /**
   * @param {import("node:stream").Writable} stream
   * @param {{ queueBytes?: number, unreadBytes?: number, onFull?: () => void, onDrained?: () => void, onBroken?: () => void }}
   *   options `onBroken` is told once that the reader is gone; where more than `unreadBytes` would wait, large answers are
   *   errors instead
   */
  constructor(stream, { queueBytes = 16 << 20, unreadBytes = Infinity, onFull = () => {}, onDrained = () => {}, onBroken = () => {} } = {}) {
    this.#stream = stream;
    this.#unread = unreadBytes;
    this.#queueBytes = queueBytes;
    this.#onFull = onFull;
    this.#onDrained = onDrained;
    // Held from here on, so that nobody else's words get between the messages.
    this.#write = stream.write.bind(stream);
    const broken = () => {
      if (this.#broken) return;
      this.#broken = true;
      onBroken();
    };
    stream.on("error", broken);
    stream.on("close", broken);
  }

  /** Writes one message. @param {string} text without line ends */
  write(text) {
    if (this.#broken) return;
    // No more than the queue goes into one system call: a very large one fails, as if the reader were gone.
    if (this.#full) this.#keep(this.#waitingLength + text.length > this.#unread ? excused(text, this.#unread) : text);
    else this.#put(text);
  }

  /** What a call said of its progress is out of date with what it says next: of that the last waits. */
  #keep(text) {
    const [progress] = PROGRESS.exec(text.slice(0, PROGRESS_BYTES)) ?? [];
    const place = this.#progress.get(progress) ?? this.#waiting.length;
    this.#waitingLength += text.length - (this.#waiting[place]?.length ?? 0);
    this.#waiting[place] = text;
    if (progress !== undefined) this.#progress.set(progress, place);
  }

  #put(text) {
    if (!this.#corked) {
      this.#corked = true;
      this.#stream.cork();
      process.nextTick(() => {
        this.#corked = false;
        this.#stream.uncork();
      });
    }
    this.#write(text + "\n");
    if (!this.#full && this.#stream.writableLength > this.#queueBytes) {
      this.#full = true;
      this.#onFull();
      this.#stream.once("drain", () => this.#drained());
    }
  }

  #drained() {
    this.#full = false;
    let written = 0;
    while (written < this.#waiting.length && !this.#full) {
      const text = this.#waiting[written++];
      this.#waitingLength -= text.length;
      this.#put(text);
    }
    this.#waiting = this.#waiting.slice(written);
    this.#progress.clear();
    if (this.#full) return;
    for (const tell of this.#whenDrained.splice(0)) tell();
    this.#onDrained();
  }

  /** Settles when everything is written, when the reader is gone, or after that time. @param {number} limit_ms */
  flushed(limit_ms) {
    return new Promise((resolve) => {
      if (this.#broken) return resolve();
      const timer = setTimeout(resolve, limit_ms);
      const last = () =>
        this.#write("", () => {
          clearTimeout(timer);
          resolve();
        });
      if (this.#full) this.#whenDrained.push(last);
      else last();
    });
  }
}

/** The start of an answer, as the core writes it. */
const ANSWER = /^\{"jsonrpc":"2\.0","id":("(?:[^"\\]|\\.)*"|[-+.\deE]+),"(?:result|error)":/;

/** Shorter answers wait whatever waits already. */
const SMALL = 64 << 10;

/** What is said in the place of an answer that has to wait beside too many others. */
function excused(text, limit) {
  const id = text.length > SMALL && ANSWER.exec(text)?.[1];
  if (!id) return text;
  const message = `the answer is left out: more waits to be read than limits.unread_bytes (${limit}) allows; what was done is done, and get_task and get_history tell of it`;
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code: -32603, message })}}`;
}
