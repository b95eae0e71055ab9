import { attribute, h, write } from "./dom.mjs";

/** What stands between this page and a gateway elsewhere: a token, or trouble. */
export class TroubleView {
  #app;
  #words = h("p");
  #refusal = h("p.fault", { id: "token-fault" });
  #token = h("input", { type: "password", id: "token", autocomplete: "off", "aria-describedby": "token-fault" });
  #form;
  #retry = h("button", { type: "button", onclick: () => this.#app.session.authorize() }, "Try again");

  constructor(app) {
    this.#app = app;
    const submit = (event) => {
      event.preventDefault();
      app.session.authorize(this.#token.value.trim());
      this.#token.value = "";
    };
    this.#form = h(
      "form.bar",
      { onsubmit: submit, "aria-label": "Token" },
      h("label", { htmlFor: "token" }, "Token"),
      this.#token,
      h("button.primary", { type: "submit" }, "Go on"),
    );
    this.element = h("section.card.trouble", { role: "alert", hidden: true }, this.#words, this.#refusal, this.#form, this.#retry);
  }

  update() {
    const { trouble, isRemote, host } = this.#app.session;
    const where = isRemote && document.querySelector(".where");
    if (where) write(where, trouble && trouble !== "token" ? `Not attached: ${host} is gone` : `Attached to the gateway at ${host}`);
    this.element.hidden = trouble === undefined;
    if (trouble === undefined) return;
    const asks = trouble === "token";
    this.element.classList.toggle("asks", asks);
    this.#form.hidden = !asks;
    this.#retry.hidden = asks;
    const { isRefused } = this.#app.session;
    write(this.#refusal, isRefused ? "That token is not known here." : "");
    attribute(this.#token, "aria-invalid", isRefused ? "true" : undefined);
    write(this.#words, asks ? "This gateway asks for a token. The page keeps it in memory and forgets it when it is closed." : trouble);
  }
}
