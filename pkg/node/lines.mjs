/** How much of a line that is too long is kept: enough to read the id of a JSON-RPC request. */
const START_BYTES = 4096;
const LF = 0x0a;
const CR = 0x0d;

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
  #kept = Buffer.alloc(0);
  #length = 0;
  #overflowing = false;
  #first = true;

  /**
   * @param {number} limitBytes the longest line that is kept, without its line end
   * @param {(text: string) => void} line takes each line
   * @param {(start: string, bytes: number) => void} tooLong takes the first 4 KiB and the length of a line over the limit
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
    if (this.#length > 0) this.#finish(Buffer.alloc(0));
  }

  #keep(bytes) {
    const length = this.#length + bytes.length;
    // One byte more than the limit may be a CR.
    if (!this.#overflowing && length > this.#limitBytes + 1) {
      this.#overflowing = true;
      this.#append(bytes.subarray(0, Math.max(0, START_BYTES - this.#length)));
      this.#kept = Buffer.from(this.#kept.subarray(0, Math.min(START_BYTES, length)));
    }
    if (!this.#overflowing) this.#append(bytes);
    this.#length = length;
  }

  #append(bytes) {
    const length = this.#length + bytes.length;
    if (length > this.#kept.length) {
      const grown = Buffer.allocUnsafe(Math.max(length, Math.min(2 * this.#kept.length, this.#limitBytes + 1)));
      this.#kept.copy(grown, 0, 0, this.#length);
      this.#kept = grown;
    }
    bytes.copy(this.#kept, this.#length);
  }

  #finish(rest) {
    let bytes = rest;
    if (this.#length > 0) {
      this.#keep(rest);
      bytes = this.#overflowing ? this.#kept : this.#kept.subarray(0, this.#length);
    }
    let length = Math.max(this.#length, rest.length);
    this.#kept = Buffer.alloc(0);
    this.#length = 0;
    this.#overflowing = false;
    if (bytes.length === length && bytes[length - 1] === CR) bytes = bytes.subarray(0, --length);
    if (this.#first) {
      this.#first = false;
      if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
        bytes = bytes.subarray(3);
        length -= 3;
      }
    }
    if (length > this.#limitBytes) {
      this.#tooLong(bytes.toString("utf8", 0, START_BYTES), length);
      return;
    }
    const text = bytes.toString("utf8");
    if (/\S/.test(text)) this.#line(text);
  }
}
