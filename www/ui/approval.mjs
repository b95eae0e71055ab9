import { amountInput, amountOf } from "./amount.mjs";
import { attribute, h, write } from "./dom.mjs";
import { moment } from "./format.mjs";

/** How a state looks. */
const LOOKS = { pending: "warn", approved: "running", executed: "ok", withdrawn: "stopped", skipped: "stopped" };

/** What a state means, in words. */
const WORDS = {
  pending: "waits for you",
  approved: "approved",
  executed: "approved, and made once",
  rejected: "denied",
  expired: "nobody decided in time",
  skipped: "left out",
  withdrawn: "given up by the client: its approval is void",
  void: "was another call by then: its approval is void",
};

/** A call that waits, with the card that a person decides by. */
export class ApprovalView {
  #app;
  #approval;
  #state = h("span.badge");
  #summary = h("p.answer");
  #digest = h("code");
  #life = h("ol.life", { "aria-label": "Its life" });
  #amount;
  #note;
  #edit;
  #decide;
  #again;
  #drawn = "";

  constructor(app, approval) {
    this.#app = app;
    this.#approval = approval;
    const { id, tool, digest, summary } = approval;
    const decide = (approved) => () => app.session.command({ type: "decide", approval: id, approved });
    const open = () => {
      this.#edit.hidden = !this.#edit.hidden;
      attribute(this.#again, "aria-expanded", String(!this.#edit.hidden));
      if (!this.#edit.hidden) this.#fill();
    };
    this.#again = h("button", { type: "button", "aria-expanded": "false", onclick: open }, "Edit");
    this.#decide = h(
      "div.bar",
      {},
      h("button.primary", { type: "button", onclick: decide(true) }, "Approve"),
      h("button", { type: "button", onclick: decide(false) }, "Deny"),
      this.#again,
    );
    this.#amount = amountInput(`amount-${id}`);
    this.#note = h("input", { type: "text", id: `note-${id}`, autocomplete: "off" });
    this.#edit = h(
      "form.mine",
      { onsubmit: (event) => this.#askAgain(event), noValidate: true, hidden: true, "aria-label": "Edit the call" },
      h("div.field", {}, h("label", { htmlFor: this.#amount.id }, "Amount"), this.#amount),
      h("div.field", {}, h("label", { htmlFor: this.#note.id }, "Note"), this.#note),
      h("p.hint", {}, "Other arguments have another digest. The call is made anew and asks for itself; what was asked before is void."),
      h("div.bar", {}, h("button.primary", { type: "submit" }, "Ask again with these")),
    );
    write(this.#summary, summary);
    write(this.#digest, digest.slice(0, 12));
    this.#digest.title = digest;
    this.element = h(
      "li.task",
      { "data-approval": id },
      h("div.bar", {}, h("strong", {}, tool), this.#state, h("span.facts", {}, "digest ", this.#digest)),
      this.#summary,
      this.#life,
      this.#decide,
      this.#edit,
    );
  }

  /** @param {import("../sim/approvals.mjs").Approval & { state: string }} approval as it stands now */
  update({ state, life }) {
    const isPending = state === "pending";
    write(this.#state, WORDS[state] ?? state);
    attribute(this.#state, "data-state", LOOKS[state] ?? "failed");
    this.#decide.hidden = !isPending;
    // Only what the client of this page asked for can it ask for again.
    this.#again.hidden = this.#call === undefined;
    if (!isPending) this.#edit.hidden = true;
    const drawn = JSON.stringify(life);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    this.#life.replaceChildren(...life.map((entry) => h("li", {}, h("strong", {}, entry.state), " ", h("time", {}, moment(entry.at)))));
  }

  /** The client's call that waits for it. */
  get #call() {
    const calls = [...this.#app.session.calls.values()];
    return calls.find(({ progress }) => progress.some((words) => words.includes(this.#approval.id)));
  }

  #fill() {
    const { amount, note = "" } = this.#call.arguments;
    this.#amount.value = amount;
    this.#note.value = note;
    this.#amount.focus();
  }

  #askAgain(event) {
    event.preventDefault();
    const amount = amountOf(this.#amount);
    if (amount === undefined) return undefined;
    const { id, tool, arguments: args } = this.#call;
    this.#app.session.command({ type: "cancel", id });
    const note = this.#note.value.trim();
    return this.#app.call(tool, { to: args.to, amount, ...(note && { note }) });
  }
}
