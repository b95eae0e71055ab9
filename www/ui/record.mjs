import { asTest, replay } from "../sim/record.mjs";
import { attribute, h, write } from "./dom.mjs";
import { count, moment, size } from "./format.mjs";

/** A session is a trace: keep it, play it again, hand it on. */
export class RecordView {
  #app;
  #facts = h("p.facts");
  #said = h("p.verdict", { role: "status" });
  #difference = h("pre", { hidden: true, tabIndex: 0, role: "region", "aria-label": "The difference" });
  #test = h("textarea.code", { rows: 8, readOnly: true, spellcheck: false, hidden: true, "aria-label": "The test" });
  #acts;
  #file = h("input.hidden", { type: "file", id: "trace-file", accept: ".jsonl,.json,application/jsonl", onchange: () => this.#open() });
  #back = h("button.primary", { type: "button", hidden: true, onclick: () => this.#app.home() }, "Back to the session of this page");

  constructor(app) {
    this.#app = app;
    const button = (title, act) => h("button", { type: "button", onclick: act }, title);
    const share = button("Share", () => this.#share());
    if (typeof navigator.canShare !== "function" || app.session.isRemote) share.hidden = true;
    this.#acts = [
      button("Replay and compare", () => this.#replay()),
      button("Save as a file", () => this.#save()),
      button("Copy as a test", () => this.#copy()),
    ];
    const actions = h("div.bar", {}, ...this.#acts, share, h("label.button", { htmlFor: "trace-file" }, "Open a file"), this.#file);
    this.element = h(
      "div.panel.record",
      {},
      h(
        "p.about",
        {},
        "Everything that goes into the gateway and comes out of it is a line of JSON. Given the same lines in, it says the same lines, byte for byte: here, in Node, in Rust. Secrets are replaced by placeholders before they are written.",
      ),
      this.#facts,
      actions,
      this.#back,
      this.#said,
      this.#difference,
      this.#test,
      h("p.hint", {}, "The command writes such files too: ", h("code", {}, "narrows --trace FILE"), "."),
    );
  }

  update() {
    const { session } = this.#app;
    const { lines, bytes } = session.trace ?? { lines: [], bytes: 0 };
    for (const button of this.#acts) button.hidden = session.trace === undefined;
    const source = session.title ? `From ${session.title}: ` : "";
    write(
      this.#facts,
      session.isRemote
        ? "The gateway that this page is attached to keeps its own trace, if it was started with --trace FILE. Open such a file here."
        : `${source}${count(lines.length)} lines, ${size(bytes)}, ${moment(session.end)} of session time.`,
    );
    this.#back.hidden = session.title === undefined;
  }

  get #text() {
    return `${this.#app.session.trace?.lines.join("\n") ?? ""}\n`;
  }

  #replay() {
    this.#show("", "ok");
    try {
      const began = performance.now();
      const { lines, inputs, bytes, difference } = replay(this.#text);
      const took = Math.max(performance.now() - began, 0.1).toFixed(1);
      if (difference) {
        this.#show(`Line ${difference.line} is not what this gateway says.`, "failed");
        this.#difference.textContent = `- ${difference.want}\n+ ${difference.got}`;
        this.#difference.hidden = false;
      } else
        this.#show(
          `A fresh gateway took the ${count(inputs)} inputs and said the same, byte for byte: ${count(lines)} lines, ${size(bytes)}, in ${took} ms.`,
          "ok",
        );
    } catch (error) {
      this.#show(error.message, "failed");
    }
  }

  #save() {
    const link = h("a", {
      href: URL.createObjectURL(new Blob([this.#text], { type: "application/jsonl" })),
      download: "narrows-session.jsonl",
    });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    this.#show("Saved as narrows-session.jsonl.", "ok");
  }

  async #share() {
    const file = new File([this.#text], "narrows-session.txt", { type: "text/plain" });
    if (!navigator.canShare({ files: [file] })) return this.#save();
    try {
      await navigator.share({ files: [file], title: "A session of Narrows" });
    } catch {
      // The person closed the sheet.
    }
  }

  async #copy() {
    const { lines } = this.#app.session.trace ?? { lines: [] };
    this.#test.value = asTest(lines, "a session of the demo page plays again");
    try {
      await navigator.clipboard.writeText(this.#test.value);
      this.#show("The test is on the clipboard. It runs with node --test where narrows is installed.", "ok");
      this.#test.hidden = false;
    } catch {
      this.#show("The browser keeps its clipboard closed here: the test is selected below.", "warning");
      this.#test.hidden = false;
      this.#test.select();
    }
  }

  async #open() {
    const [file] = this.#file.files;
    if (!file) return;
    this.#file.value = "";
    try {
      this.#app.openTrace(await file.text(), file.name);
      this.#show(`${file.name} is on the timeline.`, "ok");
    } catch (error) {
      this.#show(`${file.name} cannot be opened. ${error.message}`, "failed");
    }
  }

  #show(text, state) {
    write(this.#said, text);
    attribute(this.#said, "data-state", state);
    this.#difference.hidden = true;
    this.#test.hidden = true;
  }
}
