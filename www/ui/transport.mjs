import { attribute, h, write } from "./dom.mjs";
import { moment } from "./format.mjs";

/** The controls of time: play, pause, steps, speed, scrubbing. */
export class Transport {
  #app;
  #play = h("button.primary.play", { type: "button", onclick: () => this.toggle() });
  #back = h("button", { type: "button", title: "Undo the last thing that happened", onclick: () => this.#session.stepBack() }, "Step back");
  #step = h("button", { type: "button", title: "Let exactly one thing happen", onclick: () => this.#session.stepOn() }, "Step");
  #speeds = [1, 10].map((speed) => h("button", { type: "button", onclick: () => this.#setSpeed(speed) }, `${speed}×`));
  #time = h("output.time", { "aria-label": "Time of the session" });
  #status = h("p.status");
  #scrub = h("input.scrub", {
    type: "range",
    min: "0",
    step: "1",
    id: "scrub",
    oninput: () => this.#session.seek(Number(this.#scrub.value)),
  });

  constructor(app) {
    this.#app = app;
    const speed = h("div.group", { role: "group", "aria-label": "Speed" }, ...this.#speeds);
    const keys = h("div.group", {}, this.#back, this.#play, this.#step);
    this.element = h("div.transport", { role: "group", "aria-label": "Time" }, keys, speed, this.#time, this.#status);
    this.scrubber = h("div.scrubber", {}, h("label", { htmlFor: "scrub" }, "Scrub"), this.#scrub);
  }

  get #session() {
    return this.#app.session;
  }

  toggle() {
    const session = this.#session;
    session.playing = !session.playing;
    session.touch();
  }

  update() {
    const session = this.#session;
    this.element.classList.toggle("remote", session.isRemote === true);
    this.scrubber.hidden = session.isRemote === true;
    write(this.#play, session.playing ? "Pause" : "Play");
    for (const [i, speed] of [1, 10].entries()) attribute(this.#speeds[i], "aria-pressed", String(session.speed === speed));
    write(this.#time, moment(session.now));
    const said = statusOf(session);
    write(this.#status, said);
    this.#scrub.max = String(Math.max(session.end, 1));
    if (Number(this.#scrub.value) !== session.now) this.#scrub.value = String(session.now);
    attribute(this.#scrub, "aria-valuetext", `${moment(session.now)} of ${moment(session.end)}`);
  }

  #setSpeed(speed) {
    this.#session.speed = speed;
    this.#session.touch();
  }
}

/** What time does, in words. */
function statusOf(session) {
  if (session.isRemote) return session.isBusy ? "The gateway is at work." : "Nothing is under way.";
  if (session.isReplay && !session.playing) return "A recorded moment.";
  if (session.isPast) return session.playing ? "Playing what is known already." : "You look back. What you do now begins another future.";
  if (!session.playing) return "Time is held. Play, or step.";
  if (session.isActive === false && session.isBusy) return "Time runs while a bucket fills.";
  return session.isBusy ? "Time runs." : "At rest: nothing is under way, so no time passes.";
}
