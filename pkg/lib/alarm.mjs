import { startTimer } from "./host.mjs";

/** The longest timer: a longer one fires at once (WHATWG HTML §8.6, a signed 32-bit number of milliseconds). */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** One moment to come back at, on a timer that somebody else may have written. */
export class Alarm {
  #now;
  #setTimer;
  #ring;
  #complain;
  #wake;

  /**
   * @param {object} options
   * @param {() => number | bigint} options.now milliseconds that never step back
   * @param {(callback: () => void, ms: number) => () => void} options.setTimer calls back once, and returns what cancels it
   * @param {() => void} options.ring is called at the moment, or early where the timer is
   * @param {(error: unknown) => void} options.complain takes what `setTimer` throws or does wrong
   */
  constructor({ now, setTimer, ring, complain }) {
    this.#now = now;
    this.#setTimer = setTimer;
    this.#ring = ring;
    this.#complain = complain;
  }

  /** Sets it to another moment, or to none. @param {number | undefined} at */
  set(at) {
    if (at === this.#wake?.at) return;
    this.stop();
    if (at === undefined) return;
    const wake = { at, cancel: undefined };
    this.#wake = wake;
    this.#start(wake, this.#setTimer);
  }

  stop() {
    const cancel = this.#wake?.cancel;
    this.#wake = undefined;
    try {
      cancel?.();
    } catch (error) {
      this.#complain(error);
    }
  }

  #start(wake, setTimer) {
    const delay_ms = Math.min(Math.max(wake.at - Number(this.#now()), 0), MAX_DELAY_MS);
    let returned = false;
    const fire = () => {
      if (this.#wake !== wake) return;
      if (!returned && Number(this.#now()) < wake.at) {
        // A timer that calls back at once, before its time, would do so for ever.
        this.#complain(new Error("setTimer called back before its time"));
        this.#start(wake, startTimer);
        return;
      }
      this.#wake = undefined;
      this.#ring();
    };
    let cancel;
    try {
      cancel = setTimer(fire, delay_ms);
    } catch (error) {
      this.#complain(error);
      cancel = startTimer(fire, delay_ms);
    }
    returned = true;
    wake.cancel ??= cancel;
  }
}
