import { STEPS, examine } from "../net/doctor.mjs";
import { attribute, h, write } from "./dom.mjs";
import { headerLines } from "./header-lines.mjs";

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
    "aria-describedby": "own-fault",
  });
  #alias = h("input", { type: "text", id: "own-alias", autocomplete: "off", value: "mine" });
  #headers = h("textarea", {
    id: "own-headers",
    rows: 2,
    spellcheck: false,
    placeholder: "Authorization: Bearer …",
    "aria-describedby": "own-fault",
  });
  #fault = h("p.fault", { role: "alert", id: "own-fault" });
  #list = h("ol.findings", { "aria-live": "polite" });
  #verdict = h("p.verdict", { role: "status" });
  #check = h("button.primary", { type: "submit" }, "Check the connection");
  #connect = h("button", { type: "button", onclick: () => this.#join() }, "Connect it");
  #round = 0;
  /** what was checked last, and whether it failed */
  #checked = { what: "", worst: undefined };

  constructor(app) {
    this.#app = app;
    const submit = (event) => {
      event.preventDefault();
      if (app.session.isRemote) this.#join();
      else this.#examine();
    };
    this.about = h(
      "p.about",
      {},
      "Connect an agent that runs somewhere. The check asks it for its card and for a task that it cannot know, from this page, and says at which step it fails and what to do. What you type here goes to that agent alone.",
    );
    const form = h(
      "form",
      { onsubmit: submit, oninput: () => this.#renew(), noValidate: true, "aria-label": "An agent of your own" },
      h("div.field", {}, h("label", { htmlFor: "own-url" }, "Address of the agent"), this.#url),
      h("div.field", {}, h("label", { htmlFor: "own-headers" }, "Headers, one a line, if it needs any"), this.#headers),
      h("div.field", {}, h("label", { htmlFor: "own-alias" }, "What to call it here"), this.#alias),
      this.#fault,
      h("div.bar", {}, this.#check, this.#connect),
    );
    this.element = h("div.panel.bring", {}, this.about, form, this.#list, this.#verdict);
  }

  update() {
    if (this.#app.session.isRemote !== true) return;
    this.#check.hidden = true;
    this.#connect.type = "submit";
    this.#connect.classList.add("primary");
    write(this.about, "Connect an agent to the gateway that this page is attached to. The gateway reads its card and says what it can do.");
  }

  /** Examines an address that was given elsewhere. @param {string} url @param {Record<string, string>} headers */
  check(url, headers = {}) {
    this.#url.value = url;
    this.#headers.value = Object.entries(headers)
      .map((pair) => pair.join(": "))
      .join("\n");
    this.#examine();
  }

  get #what() {
    return JSON.stringify([this.#url.value.trim(), this.#headers.value.trim()]);
  }

  /** What is typed is something new, and was not checked yet. */
  #renew() {
    write(this.#connect, "Connect it");
    this.#mark();
  }

  #mark(field, words = "") {
    for (const one of [this.#url, this.#headers, this.#alias]) attribute(one, "aria-invalid", one === field ? "true" : undefined);
    write(this.#fault, words);
  }

  /** @returns {Promise<string | undefined>} the worst that was found, unless another round began */
  async #examine() {
    const round = (this.#round += 1);
    const what = this.#what;
    this.#list.replaceChildren();
    this.#mark();
    write(this.#verdict, "Checking.");
    attribute(this.#verdict, "data-state", "running");
    attribute(this.#check, "aria-busy", "true");
    let worst;
    try {
      worst = await this.#take(round);
      if (worst === undefined) return undefined;
      attribute(this.#verdict, "data-state", worst);
      const good = worst === "ok" ? "Nothing is in the way. Connect it." : "It can be connected, with the reservation above.";
      if (worst !== "failed") write(this.#verdict, good);
      this.#checked = { what, worst };
    } catch (error) {
      write(this.#verdict, `The check itself failed: ${error.message}`);
      attribute(this.#verdict, "data-state", "failed");
    } finally {
      if (round === this.#round) attribute(this.#check, "aria-busy", undefined);
    }
    return worst;
  }

  /** Shows the findings as they come. @returns {Promise<string | undefined>} the worst state, unless another round began */
  async #take(round) {
    const { headers, faults } = headerLines(this.#headers.value);
    let worst = "ok";
    for await (const finding of examine({ url: this.#url.value.trim(), headers: Object.entries(headers), faults, page: location })) {
      if (round !== this.#round) return undefined;
      this.#list.append(item(finding));
      if (finding.state !== "ok" && worst !== "failed") worst = finding.state;
      if (finding.state !== "failed") continue;
      write(this.#verdict, `It fails at: ${STEPS[finding.step]}.`);
      if (finding.step === "address") this.#mark(this.#url);
      if (finding.step === "headers") this.#mark(this.#headers);
    }
    return worst;
  }

  /** Connects, after a check; where that fails, at the second word. */
  async #join() {
    const { headers, faults } = headerLines(this.#headers.value);
    const alias = this.#alias.value.trim();
    if (alias === "") {
      this.#mark(this.#alias, "It needs a name here.");
      return this.#alias.focus();
    }
    if (faults.length > 0) {
      this.#mark(this.#headers, faults.join(" "));
      return this.#headers.focus();
    }
    if (this.#app.session.isRemote !== true && !(await this.#isSure())) return undefined;
    this.#app.showTab("play");
    this.#app.call("connect_agent", { alias, agent_url: this.#url.value.trim(), ...(Object.keys(headers).length > 0 && { headers }) });
    return this.#app.draft("send_message", { agent: alias });
  }

  async #isSure() {
    if (this.#checked.what === this.#what && this.#checked.worst !== undefined) return true;
    const worst = await this.#examine();
    if (worst === "failed") write(this.#connect, "Connect it all the same");
    return worst !== undefined && worst !== "failed";
  }
}

const WORDS = { ok: "fine", warning: "look", failed: "fails here" };
const BADGES = { ok: "ok", warning: "warn", failed: "failed" };

function item({ step, state, says, fix }) {
  const words = h("div", {}, h("strong", {}, STEPS[step]), h("p", {}, says));
  if (fix) words.append(h("p.fix", {}, fix));
  return h("li", { "data-state": state, "data-step": step }, h("span.badge", { "data-state": BADGES[state] }, WORDS[state]), words);
}
