import { Digest } from "../sim/digest.mjs";
import { Timeline } from "../sim/spans.mjs";
import { attribute, h, write } from "./dom.mjs";
import { seconds } from "./format.mjs";

/** What a broadcast says of an agent, in the words that are used everywhere. */
const WORDS = { success: "answered", "input-required": "asks back", error: "failed", skipped: "skipped" };
const STATES = { error: "failed", skipped: "skipped", "input-required": "warn" };
const PLACES = ["1st", "2nd", "3rd"];

/** A broadcast as a race: who answers first. Each agent's mark stands where its answer came, later further to the right. */
export class Race {
  #app;
  #digest = new Digest(() => new Timeline());
  #rows = h("ol");
  element = h("div.race", { hidden: true, role: "group", "aria-label": "The race" }, this.#rows);

  constructor(app) {
    this.#app = app;
  }

  update(call) {
    const { session } = this.#app;
    const isRace = call.tool === "broadcast_message" && Array.isArray(call.arguments.aliases) && !session.isRemote;
    this.element.hidden = !isRace;
    if (!isRace) return;
    const { spans } = this.#digest.read(session.known);
    const until = Math.min(call.ended_at ?? session.now, session.now);
    const length = Math.max(until - call.sent_at, 1);
    const runners = call.arguments.aliases.map((alias) => this.#runner(alias, call, spans, until));
    const order = runners.filter(({ there }) => there).sort((a, b) => a.ms - b.ms);
    while (this.#rows.children.length > runners.length) this.#rows.lastChild.remove();
    while (this.#rows.children.length < runners.length) this.#rows.append(this.#row());
    for (const [i, runner] of runners.entries()) {
      const { alias, ms, word, state } = runner;
      const [place, name, way, when, ping] = this.#rows.children[i].children;
      const rank = order.findIndex((other) => other.ms === ms && runner.there);
      write(place, rank < 0 ? "" : (PLACES[rank] ?? `${rank + 1}th`));
      write(name, alias);
      way.firstChild.style.width = `${((ms / length) * 100).toFixed(1)}%`;
      attribute(way, "data-state", state);
      write(when, state === "skipped" ? "skipped, unhealthy" : `${word}, ${seconds(ms)}`);
      attribute(when, "data-state", state);
      attribute(this.#rows.children[i], "data-first", rank === 0 ? "true" : undefined);
      ping.hidden = state !== "skipped" || !(session.agents.find((agent) => agent.alias === alias)?.health?.failures > 0);
      attribute(ping, "data-alias", alias);
      write(ping, `Ping ${alias}`);
    }
  }

  #row() {
    const ping = h("button", { type: "button", hidden: true, onclick: () => this.#app.ping(ping.dataset.alias) });
    return h("li", {}, h("span.place"), h("span.runner"), h("span.track-way", {}, h("i")), h("span.when"), ping);
  }

  #runner(alias, call, spans, until) {
    const origin = this.#app.originOf(alias);
    const legs = spans.filter((span) => span.lane === origin && span.start >= call.sent_at && span.start <= until);
    const outcome = call.result?.structuredContent?.results?.[alias]?.status;
    if (outcome === "skipped") return { alias, ms: 0, word: "skipped", state: "skipped", there: false };
    const isOpen = legs.length === 0 || legs.some(({ end }) => end === undefined || end > until);
    const ms = (isOpen ? until : Math.max(...legs.map(({ end }) => end))) - call.sent_at;
    const isDone = outcome !== undefined || !isOpen;
    const state = STATES[outcome] ?? (isDone ? "ok" : "open");
    return {
      alias,
      ms: Math.max(ms, 0),
      word: WORDS[outcome] ?? (isDone ? "answered" : "running"),
      state,
      there: isDone && state !== "failed",
    };
  }
}
