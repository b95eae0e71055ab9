import { attribute, h, write } from "./dom.mjs";
import { moment } from "./format.mjs";

/** The controls of time: play, pause, steps, speed, scrubbing. Single keys do the same wherever no text is typed. */
export class Transport {
  #app;
  #play = h("button.play", { type: "button", onclick: () => this.toggle() });
  #back = h("button", { type: "button", title: "Undo the last thing that happened", onclick: () => this.#session.stepBack() }, "Step back");
  #step = h("button", { type: "button", title: "Let exactly one thing happen", onclick: () => this.#session.stepOn() }, "Step");
  #speeds = [1, 10].map((speed) => h("button", { type: "button", onclick: () => this.#setSpeed(speed) }, `${speed}×`));
  #time = h("output.time", { "aria-label": "Time of the session" });
  #status = h("p.status");
  #keys = h(
    "button.keys",
    {
      type: "button",
      "aria-pressed": "true",
      title: "Single keys, wherever no text is typed: P plays and pauses, comma steps back, full stop steps on. Press to turn them off.",
      onclick: () => attribute(this.#keys, "aria-pressed", String(!this.#hasKeys)),
    },
    "Keys ",
    ...["P", ",", "."].map((key) => h("kbd", {}, key)),
  );
  #scrub = h("input.scrub", {
    type: "range",
    min: "0",
    step: "1",
    "aria-label": "Scrub",
    oninput: () => this.#session.seek(Number(this.#scrub.value)),
  });

  constructor(app) {
    this.#app = app;
    const speed = h("div.group.speeds", { role: "group", "aria-label": "Speed" }, ...this.#speeds);
    const steps = h("div.group", {}, this.#back, this.#play, this.#step);
    this.element = h("div.transport", { role: "group", "aria-label": "Time" }, steps, speed, this.#time, this.#status, this.#keys);
    this.scrubber = this.#scrub;
    addEventListener("keydown", (event) => this.#key(event));
  }

  get #session() {
    return this.#app.session;
  }

  get #hasKeys() {
    return this.#keys.getAttribute("aria-pressed") === "true";
  }

  toggle() {
    const session = this.#session;
    session.playing = !session.playing;
    session.touch();
  }

  /** @param {{ from: number, width: number }} window what is in view: the scrubber is the ruler of just that */
  update({ from, width }) {
    const session = this.#session;
    this.element.classList.toggle("remote", session.isRemote === true);
    this.#scrub.hidden = this.#keys.hidden = session.isRemote === true;
    write(this.#play, session.playing ? "Pause" : "Play");
    this.#play.classList.toggle("primary", !session.playing);
    for (const [i, speed] of [1, 10].entries()) attribute(this.#speeds[i], "aria-pressed", String(session.speed === speed));
    write(this.#time, moment(session.now));
    write(this.#status, statusOf(session));
    attribute(this.#scrub, "min", String(Math.floor(from)));
    attribute(this.#scrub, "max", String(Math.ceil(from + width)));
    if (Number(this.#scrub.value) !== session.now) this.#scrub.value = String(session.now);
    attribute(this.#scrub, "aria-valuetext", `${moment(session.now)} of ${moment(session.end)}`);
  }

  #setSpeed(speed) {
    this.#session.speed = speed;
    this.#session.touch();
  }

  #key(event) {
    const { target, key } = event;
    // Where there is no room for their switch they do nothing (WCAG 2.2, 2.1.4).
    if (!this.#hasKeys || this.#keys.offsetParent === null || event.ctrlKey || event.altKey || event.metaKey) return;
    if (target.closest?.('input:not([type="checkbox"], [type="range"]), textarea, select')) return;
    const acts = { p: () => this.toggle(), ".": () => this.#session.stepOn(), ",": () => this.#session.stepBack() };
    if (!Object.hasOwn(acts, key)) return;
    event.preventDefault();
    acts[key]();
  }
}

/** What time does, in words. */
function statusOf(session) {
  if (session.isRemote) return session.trouble ? "Not attached." : session.isBusy ? "The gateway is at work." : "Nothing is under way.";
  if (session.isReplay && !session.playing) return "A recorded moment.";
  if (session.isPast) return session.playing ? "Playing what is known already." : "You look back. What you do now begins another future.";
  if (!session.playing) return "Time is held. Play, or step.";
  if (session.isActive !== false) return "Time runs.";
  if (session.isBusy) return "Time runs while a bucket fills or a silence lasts.";
  return session.visits?.size > 0
    ? "A visitor waits for your answer; until then no time passes."
    : "At rest: no time passes until something happens.";
}
