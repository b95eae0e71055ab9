import { ROWS, gzipSize, measure } from "../sim/measure.mjs";
import { attribute, h, write } from "./dom.mjs";
import { count, size } from "./format.mjs";

const WHO = { gateway: "Narrows", plain: "plain JavaScript" };

/** What it weighs and how fast it is, on this very machine. */
export class MeasureView {
  #facts = h("dl.facts");
  #button = h(
    "button.primary",
    { type: "button", onclick: () => this.#button.hasAttribute("aria-disabled") || this.#run() },
    "Measure now",
  );
  #rows = [];
  #said = h("p.verdict", { role: "status" });
  #load;

  /** @param {{ bytes: Uint8Array, fetched_ms: number, ready_ms: number, shown_ms: number }} load */
  constructor(load) {
    this.#load = load;
    const tasks = [...new Set(ROWS.map(({ task }) => task))];
    const table = h(
      "table",
      {},
      h("caption", {}, "Rounds a second"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Who"), h("th", { scope: "col" }, "Per second"))),
      ...tasks.map((task) => this.#task(ROWS.filter((row) => row.task === task))),
    );
    this.element = h(
      "div.panel.measure",
      {},
      this.#facts,
      h(
        "p.about",
        {},
        "The plain version parses, looks up and writes JSON, and does nothing else: no schema, no limits, no deadlines, no conversation, no redaction. It is the floor, not a rival.",
      ),
      h("div.bar", {}, this.#button, this.#said),
      table,
    );
  }

  async update() {
    if (this.#facts.childElementCount > 0) return;
    const { bytes, fetched_ms, ready_ms, shown_ms } = this.#load;
    const resources = performance.getEntriesByType("resource");
    const wasm = resources.find(({ name }) => name.endsWith(".wasm"));
    const files = resources.filter((entry) => entry !== wasm);
    const sum = (key) => files.reduce((total, entry) => total + entry[key], 0);
    const fact = (term, value) => [h("dt", {}, term), h("dd", {}, value)];
    this.#facts.append(
      ...fact("Gateway", `${size(bytes.length)} of WebAssembly, ${sent(wasm?.encodedBodySize ?? bytes.length, bytes.length)}`),
      ...fact(
        "Page",
        `${files.length} more files with ${size(sum("decodedBodySize"))}, ${sent(sum("encodedBodySize"), sum("decodedBodySize"))}`,
      ),
      ...fact("Start", `${Math.round(shown_ms)} ms from opening to ready`),
      ...fact("Of that", `${Math.round(fetched_ms)} ms to load everything, ${(ready_ms - fetched_ms).toFixed(1)} ms to compile`),
    );
    const packed = await gzipSize(bytes);
    this.#facts.querySelector("dd").append(`, ${size(packed)} under gzip`);
  }

  /** The rows of one task have one scale: the fastest of them fills it. */
  #task(rows) {
    const head = h("tr", {}, h("th", { scope: "rowgroup", colSpan: 2 }, rows[0].what));
    return h("tbody", {}, head, ...rows.map((row) => this.#row(row)));
  }

  #row(row) {
    const bar = h("i");
    const value = h("span.value", {}, "–");
    this.#rows.push({ ...row, bar, value });
    return h(
      "tr",
      { "data-row": `${row.task}-${row.who}` },
      h("td", {}, WHO[row.who]),
      h("td.speed", {}, h("span.gauge", { "data-who": row.who }, bar), value),
    );
  }

  async #run() {
    attribute(this.#button, "aria-disabled", "true");
    attribute(this.#said, "data-state", "running");
    try {
      for (const [i, row] of this.#rows.entries()) {
        write(this.#said, `Measuring ${i + 1} of ${this.#rows.length}.`);
        row.rate = await measure(row);
        write(row.value, count(row.rate));
        const rivals = this.#rows.filter(({ task, rate }) => task === row.task && rate);
        const most = Math.max(...rivals.map(({ rate }) => rate));
        for (const { rate, bar } of rivals) bar.style.width = `${((rate / most) * 100).toFixed(1)}%`;
      }
      write(this.#said, "Measured on this machine, in this browser, a moment ago.");
      attribute(this.#said, "data-state", "ok");
    } catch (error) {
      write(this.#said, `The measurement failed: ${error.message}`);
      attribute(this.#said, "data-state", "failed");
    } finally {
      attribute(this.#button, "aria-disabled", undefined);
    }
  }
}

/** What came over the wire. */
function sent(bytes, whole) {
  return bytes < whole ? `sent as ${size(bytes)}` : "sent as they are";
}
