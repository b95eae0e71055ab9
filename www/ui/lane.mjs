import { attribute, h, write } from "./dom.mjs";
import { seconds } from "./format.mjs";

const ROW_PX = 26;
const MAX_ROWS = 6;

/** Shorter bars show no name. */
const NAME_PX = 44;

const STATES = { open: "under way", ok: "done", failed: "failed", stopped: "stopped", plain: "" };

/** One lane: a label and a track with spans. */
export class Lane {
  #label;
  #track = h("div.track");
  #spans = new Map();
  #onSelect;
  rows = 1;

  /** @param {string} name @param {HTMLElement} label @param {(span: object) => void} onSelect */
  constructor(name, label, onSelect) {
    this.name = name;
    this.#label = label;
    this.#onSelect = onSelect;
    this.element = h("div.lane", { "data-lane": name, role: "group", "aria-label": `Lane: ${name}` }, label, this.#track);
  }

  /** The elements of the spans that are in view, in the order of time. */
  get shown() {
    return [...this.#spans.values()].filter(({ element }) => element.isConnected).sort((a, b) => a.span.start - b.span.start);
  }

  /**
   * Draws the spans of a window.
   *
   * @param {object[]} spans in the order of their start
   * @param {{ from: number, width: number, now: number, selected?: string }} view
   */
  draw(spans, { from, width, now, selected }) {
    const until = from + width;
    const px = this.#track.clientWidth / width;
    const ends = [];
    const seen = new Set();
    for (const span of spans) {
      const end = Math.max(span.end ?? now, span.start);
      if (end < from || span.start > until) continue;
      const shown = this.#shown(span);
      seen.add(span.id);
      const row = span.kind === "moment" ? 0 : rowFor(ends, span.start, end + width * 0.006, span.kind === "wait" ? 1 : 0);
      place(shown, span, { from, width, px, end, row, now, selected });
    }
    for (const [id, { element }] of this.#spans) {
      if (seen.has(id)) continue;
      element.remove();
      this.#spans.delete(id);
    }
    this.rows = Math.max(1, ends.length);
    this.#track.style.minHeight = `${Math.min(this.rows, MAX_ROWS) * ROW_PX + 10}px`;
  }

  #shown(span) {
    let shown = this.#spans.get(span.id);
    if (!shown || shown.span !== span) {
      shown?.element.remove();
      const element = h(
        "button.span",
        { type: "button", tabIndex: -1, "data-span": span.id, onclick: () => this.#onSelect(span) },
        h("span.name", {}, span.label),
      );
      element.classList.add(span.kind);
      shown = { span, element, marks: 0 };
      this.#spans.set(span.id, shown);
      this.#track.append(element);
    }
    return shown;
  }
}

/** The first row that is free; beyond the last, spans share. */
function rowFor(ends, start, end, first) {
  while (ends.length < first) ends.push(-Infinity);
  let row = ends.findIndex((free, i) => i >= first && free <= start);
  if (row === -1) row = ends.length < MAX_ROWS ? ends.length : first + (Math.floor(start) % (MAX_ROWS - first));
  ends[row] = end;
  return row;
}

function place(shown, span, { from, width, px, end, row, now, selected }) {
  const { element } = shown;
  const left = ((span.start - from) / width) * 100;
  element.style.left = `${left.toFixed(3)}%`;
  element.style.width = `${(((end - span.start) / width) * 100).toFixed(3)}%`;
  element.style.top = `${row * ROW_PX + 5}px`;
  attribute(element, "data-state", span.state);
  const hidden_px = Math.max(0, (from - span.start) * px);
  element.firstChild.style.marginLeft = `${hidden_px.toFixed(0)}px`;
  element.classList.toggle("narrow", (end - span.start) * px - hidden_px < NAME_PX);
  element.classList.toggle("future", span.start > now);
  element.classList.toggle("selected", span.id === selected);
  attribute(element, "aria-label", nameOf(span, now));
  if (span.kind !== "exchange") return;
  const length = Math.max(end - span.start, 1);
  for (; shown.marks < span.marks.length; shown.marks += 1) element.append(h("i", { title: span.marks[shown.marks].what }));
  const marks = element.querySelectorAll("i");
  for (const [i, mark] of span.marks.entries())
    if (marks[i]) marks[i].style.left = `${(((mark.at - span.start) / length) * 100).toFixed(2)}%`;
}

function nameOf({ kind, label, start, end, state, records }, now) {
  if (kind === "moment") return `Gateway at ${seconds(start)}: ${records.length} ${records.length === 1 ? "entry" : "entries"}`;
  const took = end === undefined ? "" : `, took ${seconds(Math.min(end, Math.max(now, start)) - start)}`;
  return `${label}, from ${seconds(start)}${took}${STATES[state] ? `, ${STATES[state]}` : ""}`;
}

/** The label of an agent's lane: who it is and what the gateway knows of it. */
export class AgentLabel {
  #health = h("span.health");
  #bucket = h("meter.bucket", { min: 0, "aria-label": "Sends left" });
  #tokens = h("span");
  #more = h("span.more");
  element;

  /** @param {{ name: string, about: string, onOpen: () => void }} options */
  constructor({ name, about, onOpen }) {
    const bucket = h("span.level", { hidden: true }, this.#bucket, this.#tokens);
    this.level = bucket;
    this.element = h(
      "button.label",
      { type: "button", title: `What the gateway knows of ${name}`, onclick: onOpen },
      h("span.who", {}, h("strong", {}, name), this.#health),
      h("span.about", {}, about),
      h("span.facts", {}, bucket, this.#more),
    );
  }

  /** @param {object | undefined} agent the gateway's record @param {number} inbox entries that wait */
  update(agent, inbox, closed_ms) {
    const failures = agent?.health?.failures ?? 0;
    const word = agent === undefined ? "not connected" : failures >= 3 ? "unhealthy" : agent.health?.heard ? "healthy" : "not tried yet";
    write(this.#health, failures > 0 && failures < 3 ? `${word}, failed ${failures}×` : word);
    attribute(
      this.#health,
      "data-health",
      agent === undefined || (!agent.health?.heard && failures < 3) ? "unknown" : failures >= 3 ? "bad" : failures > 0 ? "weak" : "good",
    );
    const { burst = 0, level = 0 } = agent?.bucket ?? {};
    this.level.hidden = burst === 0;
    if (burst > 0) {
      this.#bucket.max = burst;
      this.#bucket.value = level;
      write(this.#tokens, `${Math.floor(level + 1e-9)} of ${burst} sends left`);
    }
    const more = [];
    if (closed_ms > 0) more.push(`asked for silence, ${seconds(closed_ms)}`);
    if (agent?.conversation?.waiting_task) more.push("waits for your answer");
    if (inbox > 0) more.push(`${inbox} in the inbox`);
    write(this.#more, more.join(" · "));
  }
}
