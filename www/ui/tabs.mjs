import { attribute, h } from "./dom.mjs";

/** Tabs by the pattern of the ARIA authoring practices: arrows move, the panel follows. The address remembers which. */
export class Tabs {
  #views;
  #onChange;
  #buttons = new Map();
  current;

  /**
   * @param {string} label
   * @param {{ name: string, title: string, rest: string, element: HTMLElement }[]} views
   * @param {() => void} onChange
   */
  constructor(label, views, onChange) {
    this.#views = views;
    this.#onChange = onChange;
    const list = h("div.tabs", { role: "tablist", "aria-label": label, onkeydown: (event) => this.#key(event) });
    for (const { name, title, rest, element } of views) {
      const button = h(
        "button.tab",
        { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`, onclick: () => this.show(name) },
        title,
        h("span.rest-of-it", {}, rest),
      );
      this.#buttons.set(name, button);
      list.append(button);
      element.id = `panel-${name}`;
      attribute(element, "role", "tabpanel");
      attribute(element, "aria-labelledby", `tab-${name}`);
    }
    this.element = h("section.card.desk", { "aria-label": label }, list, ...views.map(({ element }) => element));
    const wanted = location.hash.slice(1);
    this.#show(this.#buttons.has(wanted) ? wanted : views[0].name);
    addEventListener("hashchange", () => this.#buttons.has(location.hash.slice(1)) && this.#show(location.hash.slice(1)));
  }

  /** Takes a view out of sight, or brings it back. @param {string} name @param {boolean} isThere */
  offer(name, isThere) {
    this.#buttons.get(name).hidden = !isThere;
    if (!isThere && this.current === name) this.#show(this.#views[0].name);
  }

  show(name) {
    this.#show(name);
    history.replaceState(null, "", `#${name}`);
  }

  #show(name) {
    this.current = name;
    for (const view of this.#views) {
      const chosen = view.name === name;
      const button = this.#buttons.get(view.name);
      attribute(button, "aria-selected", String(chosen));
      button.tabIndex = chosen ? 0 : -1;
      view.element.hidden = !chosen;
    }
    this.#onChange();
  }

  #key(event) {
    const names = this.#views.map(({ name }) => name).filter((name) => !this.#buttons.get(name).hidden);
    const at = names.indexOf(this.current);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1 + names.length, Home: 0, End: names.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const name = names[to % names.length];
    this.show(name);
    this.#buttons.get(name).focus();
  }
}
