import { Digest } from "../sim/digest.mjs";
import { Timeline } from "../sim/spans.mjs";
import { attribute, h, write } from "./dom.mjs";
import { byteLength, readable, seconds, size } from "./format.mjs";

const FORMS = ["Text", "Structure", "Raw"];
const WORDS = { running: "running", done: "done", failed: "failed", canceled: "given up" };

/** The calls of the client, and the chosen one's outcome. */
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
  #reply;
  #race;
  #chosen;
  #form = "Text";
  #shown = "";

  constructor(app) {
    this.#app = app;
    this.#reply = new Reply(app, this);
    this.#race = new Race(app);
    this.#formBar = h("div.group", { role: "group", "aria-label": "Form of the result" }, ...this.#forms);
    const empty = h("p.empty", {}, "No calls yet. Pick an example, or fill in the form and call a tool.");
    this.empty = empty;
    this.detail = h(
      "div.detail",
      {},
      h("div.bar", {}, this.#head, this.#cancel),
      this.#race.element,
      this.#reply.element,
      this.#formBar,
      this.#body,
    );
    this.element = h("section.results", { "aria-label": "Results" }, h("h2", {}, "Calls"), empty, this.#calls, this.detail);
  }

  /** @param {number} id */
  choose(id) {
    this.#chosen = id;
    this.#app.redraw();
  }

  update() {
    const calls = [...this.#app.session.calls.values()].filter(({ byUser }) => byUser);
    this.empty.hidden = calls.length > 0;
    this.#list(calls);
    const call = calls.find(({ id }) => id === this.#chosen) ?? calls.at(-1);
    this.detail.hidden = call === undefined;
    if (call) this.#show(call);
  }

  #list(calls) {
    const recent = calls.slice(-12);
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
      write(item.state, call.state === "done" ? (stateOf(call) ?? "done") : WORDS[call.state]);
      attribute(item.state, "data-state", call.state);
      attribute(item.button, "aria-current", call.id === (this.#chosen ?? calls.at(-1)?.id) ? "true" : undefined);
    }
  }

  #show(call) {
    const { session } = this.#app;
    const took = seconds((call.ended_at ?? session.now) - call.sent_at);
    const words = {
      running: `Running for ${took}`,
      done: `Answered after ${took}`,
      failed: `Failed after ${took}`,
      canceled: `Given up after ${took}`,
    };
    write(this.#head, `${call.tool}: ${words[call.state]}`);
    attribute(this.#head, "data-state", call.state);
    this.#cancel.hidden = call.state !== "running";
    this.#race.update(call);
    this.#reply.update(call);
    this.#formBar.hidden = call.result === undefined;
    for (const button of this.#forms) attribute(button, "aria-pressed", String(button.textContent === this.#form));
    const key = `${call.id} ${call.state} ${call.progress.length} ${this.#form}`;
    if (key === this.#shown) return;
    this.#shown = key;
    this.#body.replaceChildren(...this.#content(call));
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
  return h("pre", { tabIndex: 0, role: "group", "aria-label": "Result" }, text);
}

function summary({ arguments: args }) {
  return String(args.agent ?? args.alias ?? args.aliases?.join?.(", ") ?? "");
}

/** The state of the task that a call returned, such as `input-required`. */
export function stateOf({ result }) {
  const state = result?.structuredContent?.task?.status?.state;
  return state?.replace("TASK_STATE_", "").toLowerCase().replaceAll("_", "-");
}

/** Where an agent asks back, its question and a place for the answer. */
class Reply {
  #app;
  #question = h("p.question");
  #answer = h("input", { type: "text", id: "reply", autocomplete: "off", placeholder: "four people, at eight" });
  #agent;

  constructor(app, results) {
    this.#app = app;
    const send = (event) => {
      event.preventDefault();
      const call = app.session.command({
        type: "call",
        tool: "send_message",
        arguments: { agent: this.#agent, message: this.#answer.value },
      });
      this.#answer.value = "";
      results.choose(call.id);
    };
    this.element = h(
      "form.reply",
      { hidden: true, onsubmit: send },
      this.#question,
      h("label", { htmlFor: "reply" }, "Your answer"),
      h("div.bar", {}, this.#answer, h("button.primary", { type: "submit" }, "Answer")),
    );
  }

  update(call) {
    const asks = call.tool === "send_message" && stateOf(call) === "input-required";
    this.element.hidden = !asks;
    if (!asks) return;
    this.#agent = call.arguments.agent;
    write(this.#question, `${this.#agent} asks: ${call.result.content?.[0]?.text ?? ""}`);
  }
}

/** A broadcast as a race: who answers first. */
class Race {
  #app;
  #digest = new Digest(() => new Timeline());
  #rows = h("ol");
  element = h("div.race", { hidden: true, role: "group", "aria-label": "The race" }, this.#rows);

  constructor(app) {
    this.#app = app;
  }

  update(call) {
    const isRace = call.tool === "broadcast_message" && Array.isArray(call.arguments.aliases) && !this.#app.session.isRemote;
    this.element.hidden = !isRace;
    if (!isRace) return;
    const { session } = this.#app;
    const { spans } = this.#digest.read(session.known);
    const until = call.ended_at ?? session.now;
    const length = Math.max(until - call.sent_at, 1);
    const rows = call.arguments.aliases.map((alias) => this.#runner(alias, call, spans, until));
    while (this.#rows.children.length > rows.length) this.#rows.lastChild.remove();
    while (this.#rows.children.length < rows.length)
      this.#rows.append(h("li", {}, h("span.runner"), h("span.way", {}, h("i")), h("span.when")));
    for (const [i, { alias, ms, word, state }] of rows.entries()) {
      const [name, way, when] = this.#rows.children[i].children;
      write(name, alias);
      way.firstChild.style.width = `${Math.max((ms / length) * 100, 1).toFixed(1)}%`;
      attribute(way, "data-state", state);
      write(when, `${word} ${seconds(ms)}`);
    }
  }

  #runner(alias, call, spans, until) {
    const origin = this.#app.originOf(alias);
    const legs = spans.filter((span) => span.lane === origin && span.start >= call.sent_at && span.start <= until);
    const outcome = call.result?.structuredContent?.results?.[alias]?.status;
    if (outcome === "skipped") return { alias, ms: 0, word: "skipped", state: "failed" };
    const open = legs.length === 0 || legs.some(({ end }) => end === undefined);
    const ms = (open ? until : Math.min(until, Math.max(...legs.map(({ end }) => end)))) - call.sent_at;
    const done = outcome !== undefined || !open;
    return {
      alias,
      ms: Math.max(ms, 0),
      word: outcome ?? (done ? "answered" : "running"),
      state: outcome === "error" ? "failed" : done ? "ok" : "open",
    };
  }
}
