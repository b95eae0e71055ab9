import { Gateway } from "../core.mjs";
import { h, write } from "./dom.mjs";

/** Where a text may go, by sink. */
const SINKS = {
  mcp_tool_call: "to an MCP server",
  agent_message: "to an A2A agent",
  net_fetch: "anywhere by HTTP",
};

/** What a rule looks for, in words. */
const RULES = {
  authorization_literal: "a header field with credentials",
  key_value_secret: "the name of a secret with a value after it",
  well_known_prefix: "a token in the shape of a known issuer",
  opaque_token: "a long token that looks random",
  pii_email: "an e-mail address",
  pii_phone: "a telephone number",
  pii_credit_card: "a card number that adds up",
  pii_ssn: "a social security number",
  sensitive_key_name: "a key whose name says that it is a secret",
  depth: "nested too deep to be looked at",
};

const TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

/** Texts to try, with what each is. None of these secrets is real. */
const SAMPLES = [
  ["A token", `Please use ${TOKEN} for it.`],
  ["The same in base64", `Please use ${btoa(TOKEN)} for it.`],
  ["JSON", JSON.stringify({ to: "the harbour office", login: { password: "hunter2hunter2" }, card: "4111 1111 1111 1111" }, null, 2)],
  ["A header", "curl -H 'Authorization: Bearer c2VjcmV0LXRva2VuLTEyMzQ1Njc4'"],
  ["Harmless", "Commit 3b18e512dba79e4c8300dd08aeb37f8e728b8dad at 10.0.0.12, max_tokens: 4096, id 6f1e8a52-1c0b-4f3e-9b7a-2d1c3e4f5a6b."],
];

/** A box for a text: which rules fire on it, and where. */
export class OutboundView {
  #text = h("textarea", { id: "outbound", rows: 7, spellcheck: false, value: SAMPLES[2][1], oninput: () => this.#check() });
  #sink = h(
    "select",
    { id: "sink", onchange: () => this.#check() },
    ...Object.entries(SINKS).map(([value, words]) => h("option", { value }, words)),
  );
  #verdict = h("p.finding", { role: "status" });
  #findings = h("ul.rules", { "aria-label": "What fires" });
  #turn = 0;

  constructor() {
    const samples = SAMPLES.map(([title, text]) => h("button", { type: "button", onclick: () => this.#try(text) }, title));
    this.element = h(
      "section.outbound",
      { "aria-label": "What may not leave" },
      h("h2", {}, "What may not leave"),
      h("p.about", {}, "Every call to an MCP server and every message to an agent is looked through before it goes. Try it: JSON is read as JSON, all else as a text. Nothing that you write here leaves the page."),
      h("div.bar", { role: "group", "aria-label": "Samples" }, ...samples),
      h("div.field", {}, h("label", { htmlFor: "outbound" }, "What is to leave"), this.#text),
      h("div.field.narrow", {}, h("label", { htmlFor: "sink" }, "It goes"), this.#sink),
      this.#verdict,
      this.#findings,
    );
    this.#check();
  }

  #try(text) {
    this.#text.value = text;
    this.#check();
  }

  async #check() {
    const turn = (this.#turn += 1);
    const findings = await Gateway.checkOutboundText(payloadOf(this.#text.value), this.#sink.value);
    if (turn !== this.#turn) return;
    const many = findings.length === 1 ? "One rule fires" : `${findings.length} rules fire`;
    write(this.#verdict, findings.length === 0 ? "This may leave: no rule fires." : `This does not leave: ${many.toLowerCase()}.`);
    this.#verdict.dataset.state = findings.length === 0 ? "done" : "failed";
    const rows = findings.map(({ path, rule }) => h("li", {}, h("strong", {}, rule), h("span", {}, RULES[rule] ?? rule), h("code", {}, path)));
    this.#findings.replaceChildren(...rows);
  }
}

/** A text that is an object or a list in JSON is looked at as such. */
function payloadOf(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : text;
  } catch {
    return text;
  }
}
