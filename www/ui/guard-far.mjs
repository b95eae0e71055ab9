import { WaitingCalls } from "../net/waiting.mjs";
import { attribute, h, write } from "./dom.mjs";
import { OutboundView } from "./outbound.mjs";

const ABOUT =
  "Calls to MCP servers may need a person's word. What waits at this gateway is listed here. With a token that may approve you decide it; a gateway without tokens writes a code beside each request, which its own log alone tells.";

/** What waits for a person at the gateway that this page is attached to, and what may not leave. */
export class FarGuardView {
  #app;
  #waiting;
  #rows = new Map();
  #list = h("ol.tasks", { "aria-label": "Calls that wait" });
  #empty = h("p.empty", {}, "No call waits.");
  #fault = h("p.fault", { role: "alert" });

  constructor(app) {
    this.#app = app;
    this.#waiting = new WaitingCalls(
      (path, init) => app.session.ask(path, init),
      () => app.redraw(),
    );
    this.element = h(
      "div.panel.guard",
      {},
      h("p.about", {}, ABOUT),
      h("h2", {}, "Your word"),
      this.#fault,
      this.#empty,
      this.#list,
      new OutboundView().element,
    );
  }

  /** Whether somebody looks at it. @param {boolean} isLooked */
  look(isLooked) {
    this.#waiting.look(isLooked && this.#app.session.trouble === undefined);
  }

  update() {
    const { list, trouble } = this.#waiting;
    write(this.#fault, trouble ?? "");
    this.#empty.hidden = list.length > 0 || trouble !== undefined;
    for (const [id, row] of this.#rows) {
      if (list.some((call) => call.id === id)) continue;
      row.remove();
      this.#rows.delete(id);
    }
    for (const call of list) {
      if (this.#rows.has(call.id)) continue;
      this.#rows.set(call.id, this.#row(call));
      this.#list.prepend(this.#rows.get(call.id));
    }
  }

  #row({ id, tool, summary, arguments_digest: digest, expires_at }) {
    const { hasToken } = this.#app.session;
    const code = h("input", { type: "text", id: `code-${id}`, autocomplete: "off", spellcheck: false });
    const decide = (approved) => (event) => {
      event.preventDefault();
      attribute(code, "aria-invalid", undefined);
      this.#waiting.decide(id, approved, code.value.trim());
    };
    const until = new Date(expires_at).toLocaleTimeString();
    return h(
      "li.task",
      { "data-approval": id },
      h("div.bar", {}, h("strong", {}, tool), h("span.facts", {}, `until ${until}, digest `, h("code", { title: digest }, digest.slice(0, 12)))),
      h("p.answer", {}, summary),
      h(
        "form.bar",
        { onsubmit: decide(true), "aria-label": `Decide ${tool}` },
        !hasToken && h("label", { htmlFor: code.id }, "Its code, from the gateway's log"),
        !hasToken && code,
        h("button.primary", { type: "submit" }, "Approve"),
        h("button", { type: "button", onclick: decide(false) }, "Deny"),
      ),
    );
  }
}
