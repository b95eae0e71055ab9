/** Chance from a seed, so that two runs ask for the same things; when they happen is the machine's affair. */
export class Chance {
  #state;

  /** @param {number} seed */
  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** A number from 0 to below 1 (mulberry32). */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `least` to `most`. */
  between(least, most) {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  oneIn(number) {
    return this.next() * number < 1;
  }

  pick(list) {
    return list[Math.floor(this.next() * list.length)];
  }

  /** One of some `[weight, value]` pairs. */
  weighed(pairs) {
    let rest = this.next() * pairs.reduce((sum, [weight]) => sum + weight, 0);
    return pairs.find(([weight]) => (rest -= weight) < 0)?.[1] ?? pairs.at(-1)[1];
  }
}
