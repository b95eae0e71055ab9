/** How much of a line that is too long is kept: enough to read the id of a JSON-RPC request. */
const START_BYTES = 4096;

/** How much of its end is kept: many clients write the id last. */
const END_BYTES = 1024;

/** More than the limit may arrive of a line that fits: the CR of its end and the byte order mark of the first line. */
const SPARE_BYTES = 4;

const LF = 0x0a;
const CR = 0x0d;
const NOTHING = Buffer.alloc(0);

/**
 * Cuts bytes into lines at LF, and at LF only: U+2028 and other line separators are ordinary characters in JSON.
 *
 * A line is decoded as a whole, so characters that arrive in pieces stay whole. A CR before the LF, a byte order mark
 * before the first line and blank lines are dropped. A line over the limit is counted and not kept.
 */
export class Lines {
  #limitBytes;
  #line;
  #tooLong;
  /** The bytes of the unfinished line, in a buffer that doubles, so that a long line costs linear time. */
  #kept = NOTHING;
  #length = 0;
  /** The last bytes of a line that is too long. */
  #tail = NOTHING;
  #first = true;

  /**
   * @param {number} limitBytes the longest line that is kept, without its line end
   * @param {(text: string) => void} line takes each line
   * @param {(start: string, end: string, bytes: number) => void} tooLong takes the first 4 KiB, the last KiB and the
   *   length of a line over the limit
   */
  constructor(limitBytes, line, tooLong) {
    this.#limitBytes = limitBytes;
    this.#line = line;
    this.#tooLong = tooLong;
  }

  /** Takes in bytes, cut anywhere. @param {Buffer} chunk */
  push(chunk) {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.#finish(chunk.subarray(start, end));
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(start === 0 ? chunk : chunk.subarray(start));
  }

  /** The bytes are at their end: what is left without a line end is a line too. */
  end() {
    if (this.#length > 0) this.#finish(NOTHING);
  }

  #keep(bytes) {
    const length = this.#length + bytes.length;
    if (length <= this.#limitBytes + SPARE_BYTES) {
      this.#append(bytes);
    } else {
      if (this.#tail.length === 0) this.#tail = lastOf(this.#kept.subarray(0, this.#length), NOTHING);
      this.#tail = lastOf(bytes, this.#tail);
      if (this.#kept.length > START_BYTES) this.#kept = Buffer.from(this.#kept.subarray(0, START_BYTES));
      if (this.#length < START_BYTES) this.#append(bytes.subarray(0, START_BYTES - this.#length));
    }
    this.#length = length;
  }

  #append(bytes) {
    const length = this.#length + bytes.length;
    if (length > this.#kept.length) {
      const grown = Buffer.allocUnsafe(Math.max(length, Math.min(2 * this.#kept.length, this.#limitBytes + SPARE_BYTES)));
      this.#kept.copy(grown, 0, 0, this.#length);
      this.#kept = grown;
    }
    bytes.copy(this.#kept, this.#length);
  }

  #finish(rest) {
    let bytes = rest;
    let length = rest.length;
    let end = rest;
    if (this.#length > 0) {
      this.#keep(rest);
      length = this.#length;
      bytes = this.#kept.subarray(0, length);
      end = this.#tail.length > 0 ? this.#tail : bytes;
      this.#kept = NOTHING;
      this.#tail = NOTHING;
      this.#length = 0;
    }
    if (end[end.length - 1] === CR) {
      if (bytes.length === length) bytes = bytes.subarray(0, -1);
      end = end.subarray(0, -1);
      length -= 1;
    }
    if (this.#first) {
      this.#first = false;
      if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
        bytes = bytes.subarray(3);
        length -= 3;
      }
    }
    if (length > this.#limitBytes) {
      this.#tooLong(bytes.toString("utf8", 0, START_BYTES), lastOf(end, NOTHING).toString("utf8"), length);
      return;
    }
    const text = bytes.toString("utf8");
    if (/[^ \t\r]/.test(text)) this.#line(text);
  }
}

/** The last bytes of two pieces, in a buffer of their own. @param {Buffer} bytes @param {Buffer} before */
function lastOf(bytes, before) {
  const short = END_BYTES - bytes.length;
  return short > 0 && before.length > 0 ? Buffer.concat([before.subarray(-short), bytes]) : Buffer.from(bytes.subarray(-END_BYTES));
}
