/** Keeps what is read from a growing list of records, and reads only what is new. */
export class Digest {
  #make;
  #records;
  #count = 0;
  #reader;

  /** @param {() => { take(record: object): void }} make */
  constructor(make) {
    this.#make = make;
  }

  /** @template R @param {object[]} records @returns {R} the reader, which took them all */
  read(records) {
    if (records !== this.#records || records.length < this.#count) {
      this.#records = records;
      this.#count = 0;
      this.#reader = this.#make();
    }
    for (; this.#count < records.length; this.#count += 1) this.#reader.take(records[this.#count]);
    return this.#reader;
  }
}
