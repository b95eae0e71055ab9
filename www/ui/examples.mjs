import { h } from "./dom.mjs";

/** What a newcomer may try first. */
const EXAMPLES = [
  ["Say hello to echo", "send_message", { agent: "echo", message: "Hello, narrows!" }],
  ["Watch writer stream", "send_message", { agent: "writer", message: "straits and harbours" }],
  ["Let clerk ask back", "send_message", { agent: "clerk", message: "A table, please." }],
  ["Race all three", "broadcast_message", { aliases: ["echo", "writer", "clerk"], message: "Who is there?" }],
];

/** One press each: the first thing on the page. */
export class ExamplesView {
  #app;
  #buttons;

  constructor(app) {
    this.#app = app;
    this.#buttons = EXAMPLES.map(([title, tool, args]) => h("button", { type: "button", onclick: () => this.#run(tool, args) }, title));
    this.element = h("section.examples", { "aria-label": "Examples" }, h("span.name", {}, "Try"), ...this.#buttons);
  }

  update() {
    const { session } = this.#app;
    this.element.hidden = session.isRemote === true || session.isReplay === true;
  }

  #run(tool, args) {
    const { session, tabs, play } = this.#app;
    if (session.tools.length === 0) return;
    if (tabs.current !== "play") this.#app.showTab("play");
    play.run(tool, args);
    play.results.reveal();
  }
}
