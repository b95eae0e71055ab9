import { Digest } from "../sim/digest.mjs";
import { Story } from "../sim/story.mjs";
import { h, write } from "./dom.mjs";
import { moment } from "./format.mjs";

/** How many sentences are shown until somebody asks for more, and at most. */
const FEW = 16;
const MOST = 300;

/** What happened, in sentences, the newest first. */
export class StoryView {
  #app;
  #digest;
  #list = h("ol.story");
  #empty = h("p.empty", {}, "Nothing has happened yet.");
  #more = h("button.more-of-it", { type: "button", onclick: () => this.#toggle() });
  #story;
  #items = [];
  #told = 0;
  #isLong = false;

  constructor(app) {
    this.#app = app;
    this.#digest = new Digest(() => new Story((origin) => app.nameOf(origin)));
    this.element = h(
      "section.what",
      { "aria-label": "What happened" },
      h("h2", {}, "What happened ", h("span.hint", {}, "newest first")),
      this.#list,
      this.#empty,
      this.#more,
    );
  }

  update() {
    const { session } = this.#app;
    const story = this.#digest.read(session.known);
    const { sentences } = story;
    if (story !== this.#story) {
      this.#list.replaceChildren();
      this.#story = story;
      this.#items = [];
      this.#told = Math.max(0, sentences.length - MOST);
    }
    for (; this.#told < sentences.length; this.#told += 1) this.#items.push(this.#item(sentences[this.#told]));
    while (this.#items.length > MOST) this.#items.shift().element.remove();
    const first = this.#isLong ? 0 : this.#items.length - FEW;
    for (const [i, { sentence, element, text, times }] of this.#items.entries()) {
      element.hidden = i < first;
      write(text, sentence.text);
      write(times, sentence.times > 1 ? `${sentence.times} times` : "");
      element.classList.toggle("future", sentence.at > session.now);
    }
    this.#empty.hidden = sentences.length > 0;
    this.#more.hidden = this.#items.length <= FEW;
    write(this.#more, this.#isLong ? `Show the last ${FEW}` : `Show all ${this.#items.length}`);
  }

  #toggle() {
    this.#isLong = !this.#isLong;
    this.update();
  }

  #item(sentence) {
    const text = h("span");
    const times = h("span.times");
    const words = sentence.span
      ? h("button", { type: "button", title: "Show its bytes", onclick: () => this.#app.select(sentence.span) }, text, " ", times)
      : h("span.words", {}, text, " ", times);
    const element = h("li", { "data-tone": sentence.tone }, h("time", {}, moment(sentence.at)), words);
    this.#list.prepend(element);
    return { sentence, element, text, times };
  }
}
