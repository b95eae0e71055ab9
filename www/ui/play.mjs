import { attribute, h, write } from "./dom.mjs";
import { FieldFault, SchemaForm } from "./form.mjs";
import { ResultView } from "./result.mjs";

const FORMS = { form: "Form", arguments: "Arguments", message: "Whole message" };

/** A fault that the gateway found, and the argument that it is about. */
const ABOUT = /`([a-z_]+)`/;

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
  #json = h("textarea.code", { id: "json", rows: 8, spellcheck: false, "aria-describedby": "json-fault" });
  #jsonField = h("div.field", { hidden: true }, h("label", { htmlFor: "json" }, "JSON"), this.#json);
  #fault = h("p.fault", { role: "alert", id: "json-fault" });
  #mode = "form";
  #known = "";
  #nextId = 1000;
  #asked;

  constructor(app) {
    this.#app = app;
    this.results = new ResultView(app);
    const submit = (event) => {
      event.preventDefault();
      this.#call();
    };
    const form = h(
      "form.call",
      { onsubmit: submit, noValidate: true, "aria-label": "Call a tool" },
      h("h2", {}, "Call a tool"),
      h(
        "div.bar",
        {},
        h("div.field.grow", {}, h("label", { htmlFor: "tool" }, "Tool"), this.#tool),
        h("div.group", { role: "group", "aria-label": "Form of the call" }, ...this.#modes),
      ),
      this.#about,
      this.#holder,
      this.#jsonField,
      this.#fault,
      h("div.bar", {}, h("button.primary", { type: "submit" }, "Call the tool")),
    );
    this.element = h("div.panel.play", {}, h("div.columns", {}, this.results.element, h("div", {}, form)));
  }

  /** Fills in a call and makes it. @param {string} tool @param {object} args */
  run(tool, args) {
    this.draft(tool, args);
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
    this.results.update();
    this.#blame();
  }

  #learn(known, tools, aliases) {
    this.#known = known;
    const chosen = this.#tool.value || "send_message";
    this.#tool.replaceChildren(...tools.map(({ name }) => h("option", { value: name }, name)));
    if (tools.length === 0) return;
    const kept = this.#form && this.#tool.value !== "" ? this.#safeValue() : undefined;
    const agent = kept?.agent ?? (aliases.includes("echo") ? "echo" : aliases[0]);
    this.#choose(tools.some(({ name }) => name === chosen) ? chosen : tools[0].name);
    this.#form.value = { ...kept, ...(chosen === "send_message" && agent && { agent }) };
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
    const before = this.#mode === "form" && this.#form ? this.#safeValue() : undefined;
    this.#tool.value = name;
    this.#asked = undefined;
    write(this.#about, tool.description);
    this.#form = new SchemaForm(tool.inputSchema, { aliases: session.agents.map(({ alias }) => alias) });
    this.#form.value = this.#shared(before, tool.inputSchema);
    this.#holder.replaceChildren(this.#form.element);
    if (this.#mode !== "form") this.#writeJson({});
    write(this.#fault, "");
    this.#setMode(this.#mode);
  }

  /** What was chosen for one tool stays for the next: whom it is for. */
  #shared(before, { properties = {} }) {
    const agent = before?.agent ?? before?.alias;
    if (agent === undefined || "agent_url" in properties) return {};
    if ("agent" in properties) return { agent };
    return "alias" in properties && this.#app.session.agents.some(({ alias }) => alias === agent) ? { alias: agent } : {};
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
    this.#say("");
    this.#form?.unmark();
    try {
      if (this.#mode === "form") return this.#form.value;
      const value = JSON.parse(this.#json.value);
      return this.#mode === "message" ? (value.params?.arguments ?? {}) : value;
    } catch (error) {
      if (error instanceof FieldFault) {
        this.#form.mark(error.field, error.message);
        this.#form.focus(error.field);
        this.#say(`The field “${error.field.replaceAll("_", " ")}” cannot be read.`);
      } else {
        this.#say(`This is not JSON: ${error.message}`);
        attribute(this.#json, "aria-invalid", "true");
      }
      return undefined;
    }
  }

  #say(words) {
    write(this.#fault, words);
    attribute(this.#json, "aria-invalid", undefined);
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
    const isWhole = this.#mode !== "form" || this.#isWhole();
    const call = session.command({ type: "call", tool: this.#tool.value, arguments: args });
    this.#asked = { id: call.id, form: this.#form };
    this.results.choose(call.id);
    if (isWhole) this.results.reveal();
  }

  /** What is needed and not there is said at its field. The call is made all the same: the gateway has the last word. */
  #isWhole() {
    const { missing } = this.#form;
    for (const name of missing) this.#form.mark(name, "This is needed.");
    if (missing.length > 0) this.#form.focus(missing[0]);
    return missing.length === 0;
  }

  /** Where the gateway refused an argument, its field says so. */
  #blame() {
    const { id, form } = this.#asked ?? {};
    const call = this.#app.session.calls.get(id);
    if (call === undefined || call.state === "running") return;
    this.#asked = undefined;
    const { code, message } = Object(call.result?.structuredContent?.error);
    const [, name] = ABOUT.exec(message ?? call.result?.content?.[0]?.text ?? "") ?? [];
    if (code === "invalid_argument" && name && this.#mode === "form") form.mark(name, message ?? "This is refused.");
  }
}
