/** What is in view by itself: as much as there is, up to the last of these. */
const WIDTHS_MS = [1000, 2000, 3000, 5000, 8000, 12_000];

/** The closest look, and the shortest that shows everything. */
const LEAST_MS = 250;
const ALL_MS = 1000;

/** How far to the right the playhead goes before the window follows, and where it stands after a zoom. */
const FOLLOW = 0.93;
const HOLD = 0.75;

/** Which stretch of a session is in view. */
export class TimeWindow {
  from = 0;
  width = WIDTHS_MS[0];
  /** how the width is chosen: by itself, everything, or by hand */
  mode = "auto";
  #now = -1;

  /** Follows a session. @param {{ now: number, end: number }} session @param {boolean} jumps whether to jump instead of gliding */
  follow({ now, end }, jumps) {
    const before = this.width;
    const all = this.#all(end);
    if (this.mode === "all") this.width = all;
    if (this.mode === "auto") this.width = WIDTHS_MS.find((width) => end <= width * FOLLOW) ?? WIDTHS_MS.at(-1);
    if (now === this.#now && before === this.width) return;
    this.#now = now;
    if (this.width >= all || (this.mode === "auto" && end <= this.width * FOLLOW)) this.from = 0;
    else if (now < this.from + this.width * 0.04) this.from = now - this.width * 0.3;
    else if (now > this.from + this.width * FOLLOW) this.from = now - this.width * (jumps ? 0.3 : FOLLOW);
    this.#clamp();
  }

  /** Shows more or less, around the playhead. @param {number} factor @param {{ now: number, end: number }} session */
  zoom(factor, { now, end }) {
    const all = this.#all(end);
    this.width = Math.min(Math.max(this.width * factor, LEAST_MS), all);
    this.mode = this.width === all ? "all" : "hand";
    this.from = this.width === all ? 0 : now - this.width * HOLD;
    this.#clamp();
  }

  /** Brings a moment into view. @param {number} at */
  show(at) {
    if (at < this.from || at > this.from + this.width * FOLLOW) this.from = at - this.width * 0.2;
    this.#clamp();
  }

  #all(end) {
    return Math.max(ALL_MS, end * 1.08);
  }

  #clamp() {
    this.from = Math.max(0, this.from);
  }
}
