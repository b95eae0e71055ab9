import { Digest } from "../sim/digest.mjs";
import { Story } from "../sim/story.mjs";
import { h } from "./dom.mjs";
import { moment } from "./format.mjs";

const SHOWN = 200;

/** What happened, in sentences, the newest first. */
export class StoryView {
  #app;
  #digest;
  #list = h("ol.story");
  #empty = h("p.empty", {}, "Nothing has happened yet.");
  #story;
  #from = 0;
  #count = 0;

  constructor(app) {
    this.#app = app;
    this.#digest = new Digest(() => new Story((origin) => app.nameOf(origin)));
    this.scroller = h("div.scroller", { tabIndex: 0, role: "region", "aria-label": "What happened" }, this.#list, this.#empty);
    this.element = h("section.what", {}, h("h2", {}, "What happened ", h("span.hint", {}, "newest first")), this.scroller);
  }

  update() {
    const { session } = this.#app;
    const story = this.#digest.read(session.known);
    const { sentences } = story;
    if (story !== this.#story) {
      this.#list.replaceChildren();
      this.#story = story;
      this.#from = this.#count = Math.max(0, sentences.length - SHOWN);
    }
    for (; this.#count < sentences.length; this.#count += 1) this.#list.prepend(this.#item(sentences[this.#count]));
    for (; this.#count - this.#from > SHOWN; this.#from += 1) this.#list.lastChild.remove();
    this.#empty.hidden = sentences.length > 0;
    for (const [i, item] of [...this.#list.children].entries())
      item.classList.toggle("future", sentences[this.#count - 1 - i].at > session.now);
  }

  #item({ at, text, tone, span }) {
    const words = span
      ? h("button", { type: "button", title: "Show its bytes", onclick: () => this.#app.select(span) }, text)
      : h("span", {}, text);
    return h("li", { "data-tone": tone }, h("time", {}, moment(at)), words);
  }
}
