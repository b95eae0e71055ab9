import { MODES } from "../sim/wire.mjs";
import { attribute, h, write } from "./dom.mjs";
import { ExperimentList } from "./experiment-list.mjs";
import { experiments } from "./experiments.mjs";
import { seconds } from "./format.mjs";

const JUMPS_MS = [10_000, 90_000];

/** What can go wrong, and how the gateway takes it. */
export class BreakView {
  #app;
  #rows;

  constructor(app) {
    this.#app = app;
    this.#rows = app.cast.map((agent) => new Way(app, agent));
    const jumps = JUMPS_MS.map((ms) =>
      h("button", { type: "button", onclick: () => app.session.command({ type: "jump", ms }) }, `Jump ahead ${ms / 1000} s`),
    );
    const heal = h("button", { type: "button", onclick: () => app.heal().catch(() => {}) }, "Heal everything");
    this.element = h(
      "div.panel.break",
      {},
      h("h2", {}, "One press each"),
      new ExperimentList(app, experiments(app), ({ agents }) => this.#prepare(agents)).element,
      h("h2", {}, "Break it yourself"),
      h("div.ways", {}, ...this.#rows.map(({ element }) => element)),
      h("div.bar", {}, h("span.name", {}, "The clock"), ...jumps, heal),
    );
  }

  update() {
    const { faults } = this.#app.session.world ?? {};
    for (const row of this.#rows) if (faults) row.update(faults[row.alias]);
  }

  /** The world is healed, and the agents may be sent to as often as at first. */
  async #prepare(agents) {
    const app = this.#app;
    await app.heal();
    await app.until(() => app.session.agents.every((agent) => !agents.includes(agent.alias) || app.session.isRested(agent)));
  }
}

/** The way to one agent, with all that can be wrong with it. */
class Way {
  #latency;
  #value = h("output");
  #mode;
  #cut;

  constructor(app, { alias }) {
    this.alias = alias;
    const set = (change, note) => app.session.command({ type: "fault", alias, change, note });
    const told = (ms) => set({ latency_ms: ms }, `Each way to or from ${alias} takes ${seconds(ms)}.`);
    this.#latency = h("input", {
      type: "range",
      min: "0",
      max: "5000",
      step: "20",
      id: `latency-${alias}`,
      oninput: () => this.#say(),
      onchange: () => told(Number(this.#latency.value)),
    });
    const options = Object.entries(MODES).map(([value, words]) => h("option", { value }, words));
    this.#mode = h(
      "select",
      { id: `mode-${alias}`, onchange: () => set({ mode: this.#mode.value }, `From here on ${alias} ${MODES[this.#mode.value]}.`) },
      ...options,
    );
    const cut = () => this.#cut.getAttribute("aria-disabled") || set({ cut: true }, `The next event from ${alias} is cut in half.`);
    this.#cut = h("button", { type: "button", onclick: cut }, "Cut the next event");
    const streams = alias === "writer";
    this.element = h(
      "fieldset.way",
      {},
      h("legend", {}, alias),
      h("div.field", {}, h("label", { htmlFor: `mode-${alias}` }, "The agent"), this.#mode),
      h("div.field", {}, h("label", { htmlFor: `latency-${alias}` }, "Latency, each way ", this.#value), this.#latency),
      streams ? this.#cut : h("p.hint", {}, "Does not stream, so there is nothing to cut."),
    );
  }

  update({ latency_ms, mode, cut }) {
    if (document.activeElement !== this.#latency) this.#latency.value = String(latency_ms);
    this.#say();
    if (this.#mode.value !== mode) this.#mode.value = mode;
    write(this.#cut, cut ? "Waits for the next event to cut" : "Cut the next event");
    attribute(this.#cut, "aria-disabled", cut ? "true" : undefined);
  }

  #say() {
    write(this.#value, seconds(Number(this.#latency.value)));
    attribute(this.#latency, "aria-valuetext", seconds(Number(this.#latency.value)));
  }
}
