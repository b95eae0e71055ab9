/** The one alarm of a Durable Object, shared by what has to happen at some time. An evicted object keeps it. */
export class Alarm {
  #storage;
  /** what is to be done, by its name */
  #times = new Map();
  #set;
  #settling = false;

  /** @param {DurableObjectStorage} storage */
  constructor(storage) {
    this.#storage = storage;
  }

  /**
   * Does something once, at a time. It takes the place of what had that name.
   *
   * @param {string} name @param {number} at since 1970 @param {() => void} act
   */
  at(name, at, act) {
    this.#times.set(name, { at, act });
    this.#settle();
  }

  /** @param {string} name @param {() => void} act only what is still this */
  cancel(name, act) {
    if (this.#times.get(name)?.act !== act) return;
    this.#times.delete(name);
    this.#settle();
  }

  /** The alarm went off. */
  ring() {
    this.#set = undefined;
    const now = Date.now();
    for (const [name, { at, act }] of [...this.#times]) {
      if (at > now) continue;
      this.#times.delete(name);
      act();
    }
    this.#settle();
  }

  /** Sets the alarm once for all that was asked for in this turn. */
  #settle() {
    if (this.#settling) return;
    this.#settling = true;
    queueMicrotask(() => {
      this.#settling = false;
      const next = Math.min(...[...this.#times.values()].map(({ at }) => at));
      const at = next === Infinity ? undefined : next;
      if (at === this.#set) return;
      this.#set = at;
      if (at === undefined) this.#storage.deleteAlarm();
      else this.#storage.setAlarm(at);
    });
  }
}
