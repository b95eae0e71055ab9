import { attribute, h, write } from "./dom.mjs";
import { SchemaForm } from "./form.mjs";
import { ResultView } from "./result.mjs";

/** What a newcomer may try first. */
const EXAMPLES = [
  ["Say hello to echo", "send_message", { agent: "echo", message: "Hello, narrows!" }],
  ["Watch writer stream", "send_message", { agent: "writer", message: "straits and harbours" }],
  ["Let clerk ask back", "send_message", { agent: "clerk", message: "A table, please." }],
  ["Race all three", "broadcast_message", { aliases: ["echo", "writer", "clerk"], message: "Who is there?" }],
];

const FORMS = { form: "Form", arguments: "Arguments", message: "Whole message" };

/** The tools: choose, fill in, call, read. */
export class PlayView {
  #app;
  #tool = h("select", { id: "tool", onchange: () => this.#choose(this.#tool.value) });
  #about = h("p.about");
  #modes = Object.entries(FORMS).map(([mode, title]) =>
    h("button", { type: "button", "data-mode": mode, onclick: () => this.#setMode(mode) }, title),
  );
  #form;
  #holder = h("div.holder");
  #json = h("textarea.code", { id: "json", rows: 8, spellcheck: false });
  #jsonField = h("div.field", { hidden: true }, h("label", { htmlFor: "json" }, "JSON"), this.#json);
  #fault = h("p.fault", { role: "alert" });
  #agents = h("datalist", { id: "agents" });
  #mode = "form";
  #known = "";
  #nextId = 1000;

  constructor(app) {
    this.#app = app;
    this.results = new ResultView(app);
    this.examples = h(
      "div.examples",
      { role: "group", "aria-label": "Examples" },
      ...EXAMPLES.map(([title, tool, args]) => h("button", { type: "button", onclick: () => this.run(tool, args) }, title)),
    );
    const submit = (event) => {
      event.preventDefault();
      this.#call();
    };
    const form = h(
      "form.call",
      { onsubmit: submit, noValidate: true, "aria-label": "Call a tool" },
      h(
        "div.bar",
        {},
        h("div.field.grow", {}, h("label", { htmlFor: "tool" }, "Tool"), this.#tool),
        h("div.group", { role: "group", "aria-label": "Form of the call" }, ...this.#modes),
      ),
      this.#about,
      this.#holder,
      this.#jsonField,
      this.#agents,
      this.#fault,
      h("div.bar", {}, h("button.primary", { type: "submit" }, "Call the tool")),
    );
    this.element = h("div.panel.play", {}, this.examples, h("div.columns", {}, h("div", {}, form), this.results.element));
  }

  /** Fills in a call and makes it. @param {string} tool @param {object} args */
  run(tool, args) {
    this.#setMode("form");
    this.#choose(tool);
    this.#form.value = args;
    this.#call();
  }

  /** Fills in a call, for when its tool and agent are there. @param {string} tool @param {object} args */
  draft(tool, args) {
    this.#setMode("form");
    this.#choose(tool);
    this.#form.value = args;
  }

  update() {
    const { session } = this.#app;
    const aliases = session.agents.map(({ alias }) => alias);
    const known = JSON.stringify([session.tools.map(({ name }) => name), aliases]);
    if (known !== this.#known) this.#learn(known, session.tools, aliases);
    this.examples.hidden = session.isRemote === true;
    this.results.update();
  }

  #learn(known, tools, aliases) {
    this.#known = known;
    const chosen = this.#tool.value || "send_message";
    this.#tool.replaceChildren(...tools.map(({ name }) => h("option", { value: name }, name)));
    this.#agents.replaceChildren(...aliases.map((value) => h("option", { value })));
    if (tools.length === 0) return;
    const kept = this.#form && this.#tool.value !== "" ? this.#safeValue() : undefined;
    this.#choose(tools.some(({ name }) => name === chosen) ? chosen : tools[0].name);
    const first = chosen === "send_message" && aliases.length > 0 ? { agent: aliases.includes("echo") ? "echo" : aliases[0] } : {};
    this.#form.value = { ...first, ...kept };
  }

  #safeValue() {
    try {
      return this.#form.value;
    } catch {
      return undefined;
    }
  }

  #choose(name) {
    const { session } = this.#app;
    const tool = session.tools.find((known) => known.name === name);
    if (!tool) return;
    this.#tool.value = name;
    write(this.#about, tool.description);
    this.#form = new SchemaForm(tool.inputSchema, { aliases: session.agents.map(({ alias }) => alias), agentsId: "agents" });
    this.#holder.replaceChildren(this.#form.element);
    if (this.#mode !== "form") this.#writeJson({});
    write(this.#fault, "");
    this.#setMode(this.#mode);
  }

  #setMode(mode) {
    if (mode !== this.#mode) {
      const args = this.#read();
      if (args === undefined) return;
      this.#mode = mode;
      if (mode === "form") this.#form.value = args;
      else this.#writeJson(args);
    }
    for (const button of this.#modes) attribute(button, "aria-pressed", String(button.dataset.mode === mode));
    this.#holder.hidden = mode !== "form";
    this.#jsonField.hidden = mode === "form";
  }

  #writeJson(args) {
    const whole = { jsonrpc: "2.0", id: (this.#nextId += 1), method: "tools/call", params: { name: this.#tool.value, arguments: args } };
    this.#json.value = JSON.stringify(this.#mode === "message" ? whole : args, null, 2);
  }

  /** The arguments as they are written now, or undefined with words about it. */
  #read() {
    write(this.#fault, "");
    try {
      if (this.#mode === "form") return this.#form.value;
      const value = JSON.parse(this.#json.value);
      return this.#mode === "message" ? (value.params?.arguments ?? {}) : value;
    } catch (error) {
      write(this.#fault, this.#mode === "form" ? error.message : `This is not JSON: ${error.message}`);
      return undefined;
    }
  }

  #call() {
    const { session } = this.#app;
    if (this.#mode === "message") {
      const text = this.#json.value.replaceAll("\n", " ");
      const before = session.calls.size;
      session.command({ type: "raw", text });
      if (session.calls.size > before) this.results.choose([...session.calls.keys()].at(-1));
      return;
    }
    const args = this.#read();
    if (args === undefined) return;
    const call = session.command({ type: "call", tool: this.#tool.value, arguments: args });
    this.results.choose(call.id);
  }
}
