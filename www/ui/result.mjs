import { LOST } from "../sim/client.mjs";
import { outcomeOf } from "../sim/spans.mjs";
import { attribute, h, write } from "./dom.mjs";
import { byteLength, readable, seconds, size } from "./format.mjs";
import { Race } from "./race.mjs";
import { Replies } from "./reply.mjs";

const FORMS = ["Text", "Structure", "Raw"];

/** How many calls stay in the list. */
const SHOWN = 12;

/** How a call stands: a state for the eye and one word, the same wherever it is shown. @param {object} call */
export function standing(call) {
  if (call.state === "running") return { state: "running", outcome: "running" };
  if (call.state === "canceled") return { state: "stopped", outcome: "given up" };
  if (call.result?.error) return { state: "failed", outcome: call.result.error.code === LOST ? "no answer" : "refused" };
  return outcomeOf({ result: call.result }, call.tool);
}

/** The chosen call's outcome, and the calls of the client. */
export class ResultView {
  #app;
  #calls = h("ol.calls", { "aria-label": "Calls" });
  #items = new Map();
  #head = h("p.outcome");
  #cancel = h(
    "button",
    { type: "button", onclick: () => this.#app.session.command({ type: "cancel", id: this.#chosen }) },
    "Cancel the call",
  );
  #forms = FORMS.map((form) => h("button", { type: "button", onclick: () => this.#setForm(form) }, form));
  #formBar;
  #body = h("div.body");
  #doctor;
  #doctorWords = h("p");
  #replies;
  #race;
  #chosen;
  #form = "Text";
  #shown = "";

  constructor(app) {
    this.#app = app;
    this.#replies = new Replies(app);
    this.#race = new Race(app);
    this.#formBar = h("div.group", { role: "group", "aria-label": "Form of the result" }, ...this.#forms);
    const check = h("button", { type: "button", onclick: () => app.check(this.#doctor.url, this.#doctor.headers) }, "Check the connection");
    this.#doctor = { element: h("div.reply", { hidden: true }, this.#doctorWords, h("div.bar", {}, check)) };
    this.empty = h("p.empty");
    this.detail = h(
      "div.detail",
      {},
      h("div.bar", {}, this.#head, this.#cancel),
      this.#race.element,
      this.#replies.element,
      this.#doctor.element,
      this.#formBar,
      this.#body,
    );
    this.list = h("div.earlier", {}, h("h3", {}, "Calls"), this.#calls);
    this.element = h("section.results", { "aria-label": "Results" }, h("h2", {}, "What came back"), this.empty, this.detail, this.list);
  }

  /** Shows a call, in words first. @param {number} id */
  choose(id) {
    this.#chosen = id;
    this.#form = "Text";
    this.#app.redraw();
  }

  /** Brings what came back into sight, where it is not: on a phone the form is a screen further down. */
  reveal() {
    const { top, bottom } = this.element.getBoundingClientRect();
    const covered = Math.max(0, this.#app.timeline.element.getBoundingClientRect().bottom);
    if (top > innerHeight - 160 || bottom < covered + 40) this.element.scrollIntoView({ block: "start" });
  }

  update() {
    const { session } = this.#app;
    const calls = [...session.calls.values()].filter(({ byUser }) => byUser);
    write(
      this.empty,
      session.isRemote
        ? "No calls yet. Choose a tool, fill in the form and call it."
        : "No calls yet. Press one of the examples, or fill in the form and call a tool.",
    );
    this.empty.hidden = calls.length > 0;
    this.list.hidden = calls.length < 2;
    const call = calls.find(({ id }) => id === this.#chosen) ?? calls.at(-1);
    this.#list(calls, call);
    this.detail.hidden = call === undefined;
    if (call) this.#show(call);
  }

  #list(calls, chosen) {
    const recent = calls.slice(-SHOWN);
    for (const [id, item] of this.#items) {
      if (recent.some((call) => call.id === id && call === item.call)) continue;
      item.element.remove();
      this.#items.delete(id);
    }
    for (const call of recent) {
      let item = this.#items.get(call.id);
      if (!item) {
        const state = h("span.badge");
        const button = h(
          "button",
          { type: "button", onclick: () => this.choose(call.id) },
          h("span", {}, call.tool),
          h("span.to", {}, summary(call)),
          state,
        );
        item = { call, element: h("li", {}, button), button, state };
        this.#items.set(call.id, item);
        this.#calls.prepend(item.element);
      }
      const { state, outcome } = standing(call);
      write(item.state, outcome);
      attribute(item.state, "data-state", state);
      attribute(item.button, "aria-current", call === chosen ? "true" : undefined);
    }
  }

  #show(call) {
    this.#chosen ??= call.id;
    const { session } = this.#app;
    const { state, outcome } = standing(call);
    const took = seconds((call.ended_at ?? session.now) - call.sent_at);
    const to = summary(call);
    write(this.#head, `${call.tool}${to ? ` to ${to}` : ""}: ${outcome} ${state === "running" ? "for" : "after"} ${took}`);
    attribute(this.#head, "data-state", state);
    this.#cancel.hidden = call.state !== "running";
    this.#race.update(call);
    this.#replies.update(call);
    this.#advise(call);
    this.#formBar.hidden = call.result === undefined;
    for (const button of this.#forms) attribute(button, "aria-pressed", String(button.textContent === this.#form));
    const key = `${call.id} ${call.state} ${call.progress.length} ${this.#form}`;
    if (key === this.#shown) return;
    this.#shown = key;
    this.#body.replaceChildren(...this.#content(call));
  }

  /** Where an agent was connected that nobody could read the card of. */
  #advise(call) {
    const { card, card_error: error } = Object(call.result?.structuredContent);
    const isBad = call.tool === "connect_agent" && card === null && error !== undefined;
    this.#doctor.element.hidden = !isBad || this.#app.session.isRemote === true;
    if (!isBad) return;
    Object.assign(this.#doctor, { url: call.arguments.agent_url, headers: call.arguments.headers });
    write(
      this.#doctorWords,
      "It is registered, but its card could not be read: perhaps nobody is there, or this page may not ask. The check says which.",
    );
  }

  #content(call) {
    if (call.state === "canceled")
      return [h("p.empty", {}, "The client gave up on this call. It gets no answer; a task that was running is told to stop.")];
    if (call.result === undefined) return running(call);
    if (this.#form === "Raw") return [h("p.facts", {}, size(byteLength(call.raw ?? ""))), pre(call.raw ?? "")];
    if (this.#form === "Structure") return [pre(readable(JSON.stringify(call.result.structuredContent ?? call.result.error ?? null)))];
    return (call.result.content ?? []).map(({ text }, i) => h(i === 0 ? "p.answer" : "p.fact", {}, text ?? ""));
  }

  #setForm(form) {
    this.#form = form;
    this.#app.redraw();
  }
}

function running({ progress }) {
  const lines = progress.slice(-8).map((text) => h("li", {}, text));
  const words = progress.length === 0 ? "Waiting for the first sign of the agent." : "Progress so far:";
  return [h("p.empty", {}, words), h("ol.progress", {}, ...lines)];
}

function pre(text) {
  return h("pre", {}, text);
}

function summary({ arguments: args }) {
  return String(args.agent ?? args.alias ?? args.aliases?.join?.(", ") ?? "");
}
