/** What is to happen, by time; what was put in first goes first among equals. */
export class Queue {
  #entries = [];
  #count = 0;

  /** @param {number} at @param {() => void} run */
  add(at, run) {
    const entry = { at, order: (this.#count += 1), run };
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#entries[middle].at <= at) low = middle + 1;
      else high = middle;
    }
    this.#entries.splice(low, 0, entry);
  }

  /** When the next thing happens, or undefined. */
  get nextAt() {
    return this.#entries[0]?.at;
  }

  /** Takes the next thing out. @returns {() => void} */
  take() {
    return this.#entries.shift().run;
  }
}
