import { stateName, textOf } from "../sim/a2a.mjs";
import { Digest } from "../sim/digest.mjs";
import { ServedTasks } from "../sim/served.mjs";
import { attribute, h, write } from "./dom.mjs";
import { TaskView } from "./served-task.mjs";

const ABOUT_HERE =
  "The gateway is an A2A agent too. A visitor, some agent elsewhere, sends it tasks. They wait in the inbox until somebody answers: here you do, through the client and its tool respond_task.";
const ABOUT_THERE =
  "The gateway is an A2A agent too. Tasks that others sent to it wait in its inbox until somebody answers: you can, through its tool respond_task. The table is as list_tasks told it last.";

/** The gateway as an agent: a visitor sends it tasks, and a person answers them through the tools. */
export class ServeView {
  #app;
  #digest = new Digest(() => new ServedTasks());
  #text = h("input", { type: "text", id: "visit-text", autocomplete: "off", value: "Please name my boat." });
  #list = h("ol.tasks", { "aria-label": "The task table" });
  #empty = h("p.empty");
  #facts = h("p.facts", { role: "status" });
  #rows = new Map();
  #form;
  #about = h("p.about");

  constructor(app) {
    this.#app = app;
    const send = (how) => () => this.#send(how);
    this.#form = h(
      "form.visit",
      { onsubmit: (event) => (event.preventDefault(), this.#send("stream")), noValidate: true, "aria-label": "The visitor" },
      h("div.field", {}, h("label", { htmlFor: "visit-text" }, "A visitor asks"), this.#text),
      h(
        "div.bar",
        {},
        h("button.primary", { type: "submit", title: "SendStreamingMessage" }, "Send and watch"),
        h("button", { type: "button", title: "SendMessage", onclick: send("wait") }, "Send and wait"),
        h("button", { type: "button", title: "SendMessage, return immediately", onclick: send("later") }, "Send, look later"),
      ),
    );
    const ask = () => app.call("list_tasks", {});
    const look = () => app.call("check_inbox", {});
    this.element = h(
      "div.panel.serve",
      {},
      this.#about,
      this.#form,
      h(
        "div.bar",
        {},
        h("h2", {}, "The task table"),
        this.#facts,
        h("button", { type: "button", onclick: ask }, "Call list_tasks"),
        h("button", { type: "button", onclick: look }, "Call check_inbox"),
      ),
      this.#empty,
      this.#list,
    );
  }

  update() {
    const { session } = this.#app;
    this.#form.hidden = session.isRemote === true;
    write(this.#about, session.isRemote ? ABOUT_THERE : ABOUT_HERE);
    write(this.#empty, session.isRemote ? "No tasks, as far as was listed." : "No tasks yet. Let the visitor send one.");
    const { tasks: told } = this.#digest.read(session.known);
    const tasks = [...session.tasks].sort((a, b) => b.number - a.number);
    this.#empty.hidden = tasks.length > 0;
    const open = tasks.filter(({ task }) => ["submitted", "working", "input-required"].includes(stateName(task.status.state)));
    write(this.#facts, tasks.length === 0 ? "" : `${tasks.length} in all, ${open.length} open`);
    for (const [id, row] of this.#rows) {
      if (tasks.some(({ task }) => task.id === id)) continue;
      row.element.remove();
      this.#rows.delete(id);
    }
    for (const record of tasks) {
      const { id } = record.task;
      if (!this.#rows.has(id)) {
        this.#rows.set(id, new TaskView(this.#app, id));
        this.#list.prepend(this.#rows.get(id).element);
      }
      this.#rows.get(id).update(this.#facted(record, told.get(id)));
    }
  }

  /** A task as it stands now, with what was told of it until now. */
  #facted({ task }, told) {
    const { session } = this.#app;
    return {
      state: stateName(task.status.state),
      isFar: session.isRemote === true,
      text: told?.text || textOf(task.history?.[0]),
      answer: (task.artifacts ?? []).map(textOf).join(" "),
      life: (told?.life ?? []).filter(({ at }) => at <= session.now),
      watchers: [...session.visits].filter(([request]) => told?.watchers.has(request)),
    };
  }

  #send(how) {
    const text = this.#text.value.trim();
    attribute(this.#text, "aria-invalid", text === "" ? "true" : undefined);
    if (text === "") return this.#text.focus();
    return this.#app.session.command({ type: "visit", how, text });
  }
}
