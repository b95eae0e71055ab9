import { attribute, h, write } from "./dom.mjs";
import { moment } from "./format.mjs";

const ENDED = ["completed", "failed", "canceled", "rejected"];

/** How a state looks. */
const LOOKS = { submitted: "warn", working: "running", "input-required": "warn", completed: "ok", canceled: "stopped" };

/** What the one who answers may say, with the state that it leads to. */
const ANSWERS = [
  ["Done", "completed"],
  ["At work", "working"],
  ["Ask back", "input-required"],
  ["Refuse", "rejected"],
];

/** What a visitor's open request is. */
const HOWS = { stream: "watches", watch: "watches", wait: "waits" };

/** One task of somebody else: its life, who watches it, and both sides of the counter. */
export class TaskView {
  #app;
  #id;
  #title = h("strong");
  #state = h("span.badge");
  #facts = h("span.facts");
  #answer = h("p.answer", { hidden: true });
  #life = h("ol.life", { "aria-label": "Its life" });
  #watchers = h("span.facts");
  #leaves = h("span.bar");
  #words;
  #mine;
  #reply;
  #theirs;
  #fault = h("p.fault", { role: "alert" });
  #drawn = "";
  #call;

  constructor(app, id) {
    this.#app = app;
    this.#id = id;
    const words = `answer-${id}`;
    this.#words = h("input", { type: "text", id: words, autocomplete: "off", placeholder: "The Plumb Line" });
    const answers = ANSWERS.map(([title, state], i) =>
      h(
        i === 0 ? "button.primary" : "button",
        { type: i === 0 ? "submit" : "button", onclick: (event) => this.#respond(event, state) },
        title,
      ),
    );
    this.#mine = h(
      "form.mine",
      { "aria-label": "Answer the task", noValidate: true, onsubmit: (event) => event.preventDefault() },
      h("div.field", {}, h("label", { htmlFor: words }, "You answer"), this.#words),
      h("div.bar", {}, ...answers),
      this.#fault,
    );
    const visit = (how) => () => app.session.command({ type: "visit", how, task: id });
    this.#reply = h("input", { type: "text", id: `reply-${id}`, autocomplete: "off", placeholder: "a small one, blue" });
    const send = (event) => {
      event.preventDefault();
      app.session.command({ type: "visit", how: "stream", task: id, text: this.#reply.value.trim() || "Never mind." });
      this.#reply.value = "";
    };
    this.replying = h(
      "form.bar",
      { "aria-label": "The visitor's answer", onsubmit: send, noValidate: true },
      h("label", { htmlFor: `reply-${id}` }, "The visitor answers"),
      this.#reply,
      h("button", { type: "submit" }, "Send"),
    );
    const watch = h("button", { type: "button", title: "SubscribeToTask", onclick: visit("watch") }, "One more watches");
    const cancel = h("button", { type: "button", title: "CancelTask", onclick: visit("cancel") }, "Take it back");
    const read = h("button", { type: "button", title: "GetTask", onclick: visit("read") }, "Ask how it stands");
    this.running = [watch, cancel];
    this.#theirs = h(
      "div.theirs",
      {},
      h("span.name", {}, "The visitor"),
      this.#watchers,
      this.#leaves,
      h("span.bar", {}, watch, read, cancel),
      this.replying,
    );
    this.element = h(
      "li.task",
      { "data-task": id },
      h("div.bar", {}, this.#title, this.#state, this.#facts),
      this.#life,
      this.#answer,
      this.#mine,
      this.#theirs,
    );
  }

  /**
   * @param {{ state: string, answer: string, text: string, life: object[], watchers: [number, string][], isFar: boolean }} task
   *   `isFar`: its visitor is not on this page
   */
  update({ state, answer, text, life, watchers, isFar }) {
    const isOver = ENDED.includes(state);
    write(this.#title, text || "A task without words");
    write(this.#state, state);
    attribute(this.#state, "data-state", LOOKS[state] ?? "failed");
    write(this.#facts, `task ${this.#id.slice(0, 8)}`);
    this.#mine.hidden = isOver;
    this.#theirs.hidden = isFar;
    write(this.#answer, answer ? `The answer: ${answer}` : "");
    this.#answer.hidden = answer === "";
    this.replying.hidden = state !== "input-required";
    for (const button of this.running) button.hidden = isOver;
    this.#complain();
    const drawn = JSON.stringify([life, watchers]);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    this.#life.replaceChildren(...life.map((entry) => stage(entry)));
    const hows = watchers.map(([, how]) => HOWS[how] ?? "asks");
    const counts = [...new Set(hows)].map((how) => `${hows.filter((one) => one === how).length} ${how}`);
    write(this.#watchers, counts.length === 0 ? "nobody watches" : counts.join(", "));
    const leaves = watchers.map(([request]) =>
      h("button", { type: "button", onclick: () => this.#app.session.command({ type: "leave", request }) }, `Request ${request} leaves`),
    );
    this.#leaves.replaceChildren(...leaves);
  }

  /** Answers through the tool, as a model would. */
  #respond(event, state) {
    event.preventDefault();
    const words = this.#words.value.trim();
    const needs = state === "input-required" && words === "";
    attribute(this.#words, "aria-invalid", needs ? "true" : undefined);
    if (needs) {
      write(this.#fault, "A question needs words.");
      return this.#words.focus();
    }
    write(this.#fault, "");
    const said = words === "" ? {} : state === "completed" ? { artifact: { name: "answer", message: words } } : { message: words };
    this.#call = this.#app.call("respond_task", { task_id: this.#id, state, ...said });
    this.#words.value = "";
    return undefined;
  }

  #complain() {
    const call = this.#call?.();
    if (call === undefined || call.state === "running") return;
    this.#call = undefined;
    if (call.state === "failed") write(this.#fault, call.result?.content?.[0]?.text ?? "The gateway refused it.");
  }
}

function stage({ at, state, words }) {
  return h("li", { "data-state": state }, h("strong", {}, state), " ", h("time", {}, moment(at)), words ? h("span", {}, `“${words}”`) : "");
}
