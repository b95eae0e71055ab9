import { STEPS, examine } from "../net/doctor.mjs";
import { attribute, h, write } from "./dom.mjs";
import { headerLines } from "./form.mjs";

/** An agent of one's own: what stands between it and this page, and the connection. */
export class BringView {
  #app;
  #url = h("input", {
    type: "text",
    inputMode: "url",
    id: "own-url",
    autocomplete: "off",
    spellcheck: false,
    placeholder: "https://agent.example.com",
  });
  #alias = h("input", { type: "text", id: "own-alias", autocomplete: "off", value: "mine" });
  #headers = h("textarea", { id: "own-headers", rows: 2, spellcheck: false, placeholder: "Authorization: Bearer …" });
  #list = h("ol.findings", { "aria-live": "polite" });
  #verdict = h("p.verdict", { role: "status" });
  #check = h("button.primary", { type: "submit" }, "Check the connection");
  #connect = h("button", { type: "button", onclick: () => this.#join() }, "Connect it");
  #round = 0;

  constructor(app) {
    this.#app = app;
    const submit = (event) => {
      event.preventDefault();
      this.#examine();
    };
    this.about = h(
      "p.about",
      {},
      "Connect an agent that runs somewhere. The check asks it for its card and for a task that it cannot know, from this page, and says at which step it fails and what to do. What you type here goes to that agent alone.",
    );
    const form = h(
      "form",
      { onsubmit: submit, noValidate: true, "aria-label": "An agent of your own" },
      h("div.field", {}, h("label", { htmlFor: "own-url" }, "Address of the agent"), this.#url),
      h("div.field", {}, h("label", { htmlFor: "own-headers" }, "Headers, one a line, if it needs any"), this.#headers),
      h("div.field", {}, h("label", { htmlFor: "own-alias" }, "What to call it here"), this.#alias),
      h("div.bar", {}, this.#check, this.#connect),
    );
    this.element = h("div.panel.bring", {}, this.about, form, this.#list, this.#verdict);
  }

  update() {
    const remote = this.#app.session.isRemote === true;
    this.#check.hidden = remote;
    if (remote)
      write(
        this.about,
        "Connect an agent to the gateway that this page is attached to. The gateway reads its card and says what it can do.",
      );
  }

  async #examine() {
    const round = (this.#round += 1);
    this.#list.replaceChildren();
    write(this.#verdict, "Checking.");
    attribute(this.#verdict, "data-state", "running");
    this.#check.disabled = true;
    try {
      const worst = await this.#take(round);
      if (worst === undefined) return;
      attribute(this.#verdict, "data-state", worst);
      const good = worst === "ok" ? "Nothing is in the way. Connect it." : "It can be connected, with the reservation above.";
      if (worst !== "failed") write(this.#verdict, good);
    } catch (error) {
      write(this.#verdict, `The check itself failed: ${error.message}`);
      attribute(this.#verdict, "data-state", "failed");
    } finally {
      if (round === this.#round) this.#check.disabled = false;
    }
  }

  /** Shows the findings as they come. @returns {Promise<string | undefined>} the worst state, unless another round began */
  async #take(round) {
    const headers = Object.entries(headerLines(this.#headers.value));
    let worst = "ok";
    for await (const finding of examine({ url: this.#url.value.trim(), headers, page: location })) {
      if (round !== this.#round) return undefined;
      this.#list.append(item(finding));
      if (finding.state !== "ok" && worst !== "failed") worst = finding.state;
      if (finding.state === "failed") write(this.#verdict, `It fails at: ${STEPS[finding.step]}.`);
    }
    return worst;
  }

  #join() {
    const headers = headerLines(this.#headers.value);
    const alias = this.#alias.value.trim();
    this.#app.showTab("play");
    this.#app.call("connect_agent", { alias, agent_url: this.#url.value.trim(), ...(Object.keys(headers).length > 0 && { headers }) });
    this.#app.draft("send_message", { agent: alias });
  }
}

const WORDS = { ok: "fine", warning: "look", failed: "fails here" };

function item({ step, state, says, fix }) {
  const words = h("div", {}, h("strong", {}, STEPS[step]), h("p", {}, says));
  if (fix) words.append(h("p.fix", {}, fix));
  return h(
    "li",
    { "data-state": state, "data-step": step },
    h("span.badge", { "data-state": state === "ok" ? "done" : state === "failed" ? "failed" : "waiting" }, WORDS[state]),
    words,
  );
}
