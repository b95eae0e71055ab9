import { h, write } from "./dom.mjs";

/** How long a tip stays when the pointer leaves for it. */
const STAYS_MS = 150;

/** What a bar is, beside it: where the pointer is on it, or the focus. Escape puts it away (WCAG 2.2, 1.4.13). */
export class Tip {
  #target;
  #textOf;
  #timer;

  /** @param {HTMLElement} holder @param {(bar: HTMLElement) => string | null} textOf */
  constructor(holder, textOf) {
    this.#textOf = textOf;
    // Its text is the bar's accessible name already.
    this.element = h("p.tip", { hidden: true, "aria-hidden": "true" });
    const bar = ({ target }) => target.closest?.(".span");
    holder.addEventListener("pointerover", (event) => event.pointerType !== "touch" && bar(event) && this.#show(bar(event)));
    holder.addEventListener("pointerout", (event) => bar(event) && this.#leave());
    holder.addEventListener("focusin", (event) => bar(event)?.matches(":focus-visible") && this.#show(bar(event)));
    holder.addEventListener("focusout", () => this.hide());
    this.element.addEventListener("pointerenter", () => clearTimeout(this.#timer));
    this.element.addEventListener("pointerleave", () => this.#leave());
    addEventListener("keydown", (event) => event.key === "Escape" && this.hide());
    addEventListener("scroll", () => this.hide(), { passive: true });
  }

  /** Moves along with its bar. */
  update() {
    if (this.#target === undefined) return;
    if (!this.#target.isConnected) return this.hide();
    write(this.element, this.#textOf(this.#target));
    const { left, bottom, width } = this.#target.getBoundingClientRect();
    const room = document.documentElement.clientWidth - this.element.offsetWidth - 8;
    this.element.style.left = `${Math.max(8, Math.min(left + Math.min(width / 2, 40) - 12, room)).toFixed(0)}px`;
    this.element.style.top = `${(bottom + 2).toFixed(0)}px`;
  }

  hide() {
    clearTimeout(this.#timer);
    this.#target = undefined;
    this.element.hidden = true;
  }

  #show(target) {
    clearTimeout(this.#timer);
    this.#target = target;
    this.element.hidden = false;
    this.update();
  }

  #leave() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const { activeElement } = document;
      if (activeElement?.matches?.(".span:focus-visible")) this.#show(activeElement);
      else this.hide();
    }, STAYS_MS);
  }
}
