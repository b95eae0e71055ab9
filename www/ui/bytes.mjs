import { originOf } from "../sim/spans.mjs";
import { attribute, h, write } from "./dom.mjs";
import { byteLength, decoded, moment, readable, size } from "./format.mjs";

/** Longer texts are shown in part until somebody asks for all. */
const SHOWN_CHARS = 3000;

/** What a bar on the timeline is made of, byte by byte. */
export class BytesView {
  #app;
  #title = h("h2", { tabIndex: -1 });
  #note = h("p.empty", { hidden: true });
  #list = h("ol.records");
  #forms = ["Readable", "As sent"].map((form) => h("button", { type: "button", onclick: () => this.#setForm(form) }, form));
  #form = "Readable";
  #shown = "";
  #count = 0;

  constructor(app) {
    this.#app = app;
    const close = h("button", { type: "button", onclick: () => app.select(undefined) }, "Close");
    const bar = h("div.bar", {}, this.#title, h("div.group", { role: "group", "aria-label": "Form" }, ...this.#forms), close);
    this.element = h(
      "section.bytes",
      { "aria-label": "What it is made of", hidden: true, onkeydown: (event) => event.key === "Escape" && app.select(undefined) },
      bar,
      this.#note,
      this.#list,
    );
  }

  /** @param {{ title: string, records: object[], key: string, begins?: number } | undefined} thing what to show */
  update(thing) {
    this.element.hidden = thing === undefined;
    if (thing === undefined) return;
    this.#note.hidden = thing.records.length > 0;
    write(this.#note, thing.begins === undefined ? "The gateway knows nothing of it." : `Not yet: this begins at ${moment(thing.begins)}.`);
    for (const button of this.#forms) attribute(button, "aria-pressed", String(button.textContent === this.#form));
    const key = `${thing.title} ${this.#form} ${thing.key ?? ""}`;
    if (key !== this.#shown || thing.records.length < this.#count) {
      this.#shown = key;
      this.#count = 0;
      this.#title.textContent = thing.title;
      this.#list.replaceChildren();
    }
    // What comes later is added, so that whoever reads keeps their place.
    for (; this.#count < thing.records.length; this.#count += 1) this.#list.append(this.#record(thing.records[this.#count]));
  }

  focus() {
    this.#title.focus({ preventScroll: true });
    if (this.element.getBoundingClientRect().top > innerHeight - 120) this.element.scrollIntoView({ block: "nearest" });
  }

  #setForm(form) {
    this.#form = form;
    this.#app.redraw();
  }

  #record(record) {
    const { who, what, text } = described(record, this.#app);
    const shown = this.#form === "Readable" && text !== undefined ? spaced(text) : text;
    const facts = [record.now === undefined ? undefined : moment(record.now), text === undefined ? undefined : size(byteLength(text))]
      .filter(Boolean)
      .join(" · ");
    const item = h("li", {}, h("p", {}, h("span.who", {}, who), " ", what, " ", h("span.facts", {}, facts)));
    if (shown) item.append(...pieces(shown));
    return item;
  }
}

/** A text, or its beginning and a button for the rest. */
function pieces(text) {
  const pre = h("pre", {}, text.slice(0, SHOWN_CHARS));
  if (text.length <= SHOWN_CHARS) return [pre];
  const more = h(
    "button",
    { type: "button", onclick: () => (pre.append(text.slice(SHOWN_CHARS)), more.remove()) },
    `Show all ${size(byteLength(text))}`,
  );
  return [pre, more];
}

/** Every line of a body or head laid out by itself: an event stream holds JSON behind `data:`. */
function spaced(text) {
  const whole = readable(text);
  if (whole !== text) return whole;
  return text
    .split("\n")
    .map((line) => (line.startsWith("data: {") ? `data: ${readable(line.slice(6))}` : line[0] === "{" ? readable(line) : line))
    .join("\n");
}

/** The same, also where a trace from a file holds something else than a gateway would write. */
function described(record, app) {
  try {
    return describe(record, app);
  } catch {
    return { who: "", what: "is not as a gateway writes it", text: JSON.stringify(record) };
  }
}

/** Who says what in a record. */
function describe({ input, output, note, timeout, raw }, app) {
  if (raw !== undefined) return { who: "", what: "", text: JSON.stringify(raw) };
  if (note !== undefined) return { who: "World", what: note };
  if (timeout !== undefined)
    return {
      who: "Gateway",
      what: timeout ? `wants to be woken at ${moment(timeout.at)}: ${timeout.reason.replaceAll("_", " ")}` : "waits for nothing",
    };
  if (input) return describeInput(input);
  switch (output.type) {
    case "message":
      return { who: "Gateway → client", what: "MCP", text: output.text };
    case "fetch": {
      const name = app.nameOf(originOf(output.url));
      const head = [`${output.method} ${output.url}`, ...output.headers.map(([key, value]) => `${key}: ${value}`)].join("\n");
      return { who: `Gateway → ${name}`, what: `exchange ${output.exchange}`, text: output.body ? `${head}\n\n${output.body}` : head };
    }
    case "abort":
      return { who: "Gateway", what: `hangs up, exchange ${output.exchange}` };
    case "response_head":
      return {
        who: "Gateway → visitor",
        what: `head, request ${output.request}`,
        text: [`HTTP ${output.status}`, ...output.headers.map((pair) => pair.join(": "))].join("\n"),
      };
    case "response_body":
      return { who: "Gateway → visitor", what: `bytes, request ${output.request}`, text: output.text };
    case "response_end":
      return { who: "Gateway → visitor", what: `end, request ${output.request}` };
    default:
      return { who: "Gateway", what: "notice for the log", text: JSON.stringify(output) };
  }
}

function describeInput(input) {
  switch (input.type) {
    case "message":
      return { who: "Client → gateway", what: "MCP", text: input.text };
    case "head":
      return {
        who: "Agent → gateway",
        what: `head, exchange ${input.exchange}`,
        text: [`HTTP ${input.status}`, ...input.headers.map(([key, value]) => `${key}: ${value}`)].join("\n"),
      };
    case "body":
      return { who: "Agent → gateway", what: `bytes, exchange ${input.exchange}`, text: input.text ?? decoded(input.base64) };
    case "end":
      return { who: "Agent → gateway", what: `end, exchange ${input.exchange}` };
    case "failed":
      return { who: "Network", what: `exchange ${input.exchange} failed: ${input.cause}${input.detail ? `, ${input.detail}` : ""}` };
    case "tick":
      return { who: "Clock", what: "the moment has come for which the gateway asked" };
    case "open":
      return { who: "Client", what: "is there" };
    case "request":
      return {
        who: "Visitor → gateway",
        what: `head, request ${input.request}`,
        text: [`${input.method} ${input.target}`, ...input.headers.map((pair) => pair.join(": "))].join("\n"),
      };
    case "request_body":
      return { who: "Visitor → gateway", what: `bytes, request ${input.request}`, text: input.text ?? decoded(input.base64) };
    case "request_end":
      return { who: "Visitor → gateway", what: `end, request ${input.request}` };
    case "request_gone":
      return { who: "Visitor", what: `leaves, request ${input.request}` };
    default:
      return { who: "Host", what: input.type.replaceAll("_", " ") };
  }
}
