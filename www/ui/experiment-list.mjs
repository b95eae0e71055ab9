import { attribute, h, write } from "./dom.mjs";

/** Things to press, one at a time: each tells what it does, and what came of it. */
export class ExperimentList {
  #app;
  #prepare;
  #buttons = [];
  #isRunning = false;

  /**
   * @param {import("./app.mjs").App} app
   * @param {{ title: string, about: string, run: () => Promise<import("./experiments.mjs").Finding> }[]} experiments
   * @param {(experiment: object) => Promise<void>} prepare makes the world ready for one
   */
  constructor(app, experiments, prepare) {
    this.#app = app;
    this.#prepare = prepare;
    this.element = h("ul.experiments", {}, ...experiments.map((experiment) => this.#experiment(experiment)));
  }

  #experiment(experiment) {
    const { title, about, run } = experiment;
    const finding = h("p.finding", { role: "status", hidden: true });
    const act = h("button", { type: "button", hidden: true });
    let onAct;
    act.addEventListener("click", () => onAct?.());
    const button = h("button", { type: "button" }, title);
    const say = (words, state, offer) => {
      write(finding, words);
      attribute(finding, "data-state", state);
      finding.hidden = false;
      onAct = offer?.run;
      act.hidden = offer === undefined;
      write(act, offer?.title ?? "");
    };
    button.addEventListener("click", async () => {
      if (this.#isRunning) return;
      this.#setRunning(true);
      this.#play();
      try {
        say("Getting ready: everything as it was at first.", "running");
        await this.#prepare(experiment);
        say("Running: watch the timeline.", "running");
        const { words, isBad, act: offer } = await run();
        say(words, isBad ? "failed" : "done", offer);
      } catch {
        // Time was scrubbed back or the session replaced: what was to come does not come.
        say("Left off.", "stopped");
      } finally {
        this.#setRunning(false);
      }
    });
    this.#buttons.push(button);
    return h("li", {}, button, h("p.about", {}, about), finding, act);
  }

  /** One experiment at a time. The buttons keep the focus, so they are not disabled for the browser. */
  #setRunning(isRunning) {
    this.#isRunning = isRunning;
    for (const button of this.#buttons) attribute(button, "aria-disabled", isRunning ? "true" : undefined);
  }

  #play() {
    const { session } = this.#app;
    if (session.playing) return;
    session.playing = true;
    session.touch();
  }
}
