import { Approvals } from "../sim/approvals.mjs";
import { Digest } from "../sim/digest.mjs";
import { PAY } from "../sim/ledger.mjs";
import { amountInput, amountOf } from "./amount.mjs";
import { ApprovalView } from "./approval.mjs";
import { attacks } from "./attacks.mjs";
import { h } from "./dom.mjs";
import { ExperimentList } from "./experiment-list.mjs";
import { OutboundView } from "./outbound.mjs";

/** How many decided calls stay in view. */
const SHOWN = 3;

/** The policy on calls to MCP servers: who decides, what may not leave, and attempts to get around both. */
export class GuardView {
  #app;
  #digest = new Digest(() => new Approvals());
  #to = h("input", { type: "text", id: "pay-to", autocomplete: "off", value: "the harbour office" });
  #amount = amountInput("pay-amount", "40");
  #note = h("input", { type: "text", id: "pay-note", autocomplete: "off", value: "mooring, three nights" });
  #list = h("ol.tasks", { "aria-label": "Calls that wait, and what became of others" });
  #empty = h("p.empty", {}, "No call waits. Ask to pay: the ledger's tool does nothing before you say yes.");
  #rows = new Map();
  #outbound = new OutboundView();

  constructor(app) {
    this.#app = app;
    const ask = (event) => {
      event.preventDefault();
      this.#pay();
    };
    const field = (label, input) => h("div.field", {}, h("label", { htmlFor: input.id }, label), input);
    const experiments = attacks(app, () => this.#approvals);
    this.element = h(
      "div.panel.guard",
      {},
      h(
        "p.about",
        {},
        "Behind the gateway is an MCP server too: a ledger with a cash box. Its tools stand beside the gateway's own. To read the balance needs nobody; to pay needs a person's word for exactly that call.",
      ),
      h(
        "form.pay",
        { onsubmit: ask, noValidate: true, "aria-label": "The client wants to pay" },
        h("div.pair", {}, field("The client pays", this.#to), field("Amount", this.#amount)),
        field("Note", this.#note),
        h(
          "div.bar",
          {},
          h("button.primary", { type: "submit", title: PAY }, "Ask to pay"),
          h("button", { type: "button", title: "mcp_ledger_balance", onclick: () => app.call("mcp_ledger_balance", {}) }, "Read the balance"),
        ),
      ),
      h("h2", {}, "Your word"),
      this.#empty,
      this.#list,
      h("h2", {}, "Attack it"),
      new ExperimentList(app, experiments, () => this.#calm()).element,
      this.#outbound.element,
    );
  }

  get #approvals() {
    return this.#digest.read(this.#app.session.known);
  }

  update() {
    const { session } = this.#app;
    const all = [...this.#approvals.approvals.values()].map((approval) => lived(approval, session.now)).filter(Boolean);
    const waiting = all.filter(({ state }) => state === "pending");
    const shown = [...waiting, ...all.filter(({ state }) => state !== "pending").slice(-SHOWN)];
    this.#empty.hidden = shown.length > 0;
    for (const [id, row] of this.#rows) {
      if (shown.some((approval) => approval.id === id)) continue;
      row.element.remove();
      this.#rows.delete(id);
    }
    for (const approval of shown) {
      if (!this.#rows.has(approval.id)) {
        this.#rows.set(approval.id, new ApprovalView(this.#app, approval));
        this.#list.prepend(this.#rows.get(approval.id).element);
      }
      this.#rows.get(approval.id).update(approval);
    }
  }

  #pay() {
    const amount = amountOf(this.#amount);
    if (amount === undefined) return undefined;
    const note = this.#note.value.trim();
    return this.#app.call(PAY, { to: this.#to.value, amount, ...(note && { note }) });
  }

  /** Nothing waits any more, and the ledger offers what it offered at first. */
  async #calm() {
    const { session } = this.#app;
    for (const { id, state } of session.calls.values())
      if (state === "running") session.command({ type: "cancel", id });
    session.command({ type: "offer", tools: "as at first", note: "The ledger offers what it offered at first." });
    await this.#app.until(() => session.tools.some(({ name }) => name === PAY));
  }
}

/** An approval as it stood at a moment, if it was there. */
function lived(approval, now) {
  const life = approval.life.filter(({ at }) => at <= now);
  return life.length === 0 ? undefined : { ...approval, life, state: life.at(-1).state };
}
