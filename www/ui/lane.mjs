import { attribute, h, write } from "./dom.mjs";
import { seconds } from "./format.mjs";

/** Bars of several at once are thinner, but never thinner than this. */
const LEAST_PX = 4;

/** A bar this high has room for a name, in it or beside it. */
const NAMED_PX = 15;

/** Shorter bars show their name beside them, where there is room. */
const NAME_PX = 56;

/** About how wide a character of a name is. */
const CHAR_PX = 7;

/** Bars closer than this look like one. */
const NEAR_PX = 3;

/** Bars up to this width may be drawn together. */
const SHORT_PX = 16;

/** The worst first: how several bars that are one look. */
const WORST = ["open", "failed", "warn", "stopped", "ok", "plain"];

const STATES = { failed: "failed", stopped: "stopped" };

/** What is drawn of one span, or of several that cannot be told apart. @typedef {{ id: string, spans: object[], kind: string,
 * start: number, end: number, left: number, right: number, row: number }} Bar */

/** One lane: a label and a track with bars. */
export class Lane {
  #track = h("div.track");
  #bars = new Map();
  #onSelect;

  /** @param {string} name @param {string} title @param {HTMLElement} label @param {(id: string) => void} onSelect */
  constructor(name, title, label, onSelect) {
    this.name = name;
    this.#onSelect = onSelect;
    this.element = h("div.lane", { "data-lane": name, role: "group", "aria-label": `Lane: ${title}` }, label, this.#track);
  }

  /** The bars that are in view, in the order of time. */
  get shown() {
    return [...this.#bars.values()].sort((a, b) => a.bar.start - b.bar.start);
  }

  get width() {
    return this.#track.clientWidth;
  }

  /**
   * Draws the spans of a window.
   *
   * @param {object[]} spans in the order of their start
   * @param {{ from: number, width: number, now: number, height: number, pad: number, gap: number, px: number, selected: Set<string> }} view
   */
  draw(spans, view) {
    const { from, width } = view;
    const until = from + width;
    const seen = new Set();
    const visible = spans.filter((span) => span.start <= until && Math.max(span.end ?? view.now, span.start) >= from);
    const moments = near(
      visible.filter(({ kind }) => kind === "moment").map((span) => barOf(span, view)),
      view.gap,
    );
    const bars = alike(visible.filter(({ kind }) => kind !== "moment").map((span) => barOf(span, view)));
    const isGateway = this.name === "gateway";
    const height = isGateway ? view.height / 2 : view.height;
    let rows = inRows(bars);
    // Rather one bar with a number than so many rows that no name fits.
    if (rows.length * NAMED_PX > height) rows = inRows(huddled(bars));
    const rowHeight = Math.max(Math.floor(height / Math.max(rows.length, 1)), LEAST_PX);
    for (const [index, row] of rows.entries()) {
      for (const [i, bar] of row.entries()) {
        const top = (isGateway ? view.height / 2 : 0) + Math.min(index * rowHeight, view.height - rowHeight);
        const room = (row[i + 1]?.left ?? width * view.px) - bar.right;
        const drawn = Math.min(rowHeight - (rows.length > 1 ? 2 : 0), isGateway ? 16 : 26);
        seen.add(this.#place(bar, { ...view, top: rows.length > 1 ? top : top + (height - drawn) / 2, drawn, room }));
      }
    }
    for (const bar of moments) seen.add(this.#place(bar, { ...view, top: 3, drawn: view.height / 2 - 4, room: 0 }));
    for (const [id, { element }] of this.#bars) {
      if (seen.has(id)) continue;
      element.remove();
      this.#bars.delete(id);
    }
  }

  #place(bar, view) {
    let shown = this.#bars.get(bar.id);
    if (!shown) {
      const element = h(
        "button.span",
        { type: "button", tabIndex: -1, "data-span": bar.id, onclick: () => this.#onSelect(bar.id) },
        h("span.rest"),
        h("span.name"),
      );
      element.classList.add(bar.kind);
      shown = { element, marks: 0 };
      this.#bars.set(bar.id, shown);
      this.#track.append(element);
    }
    shown.bar = bar;
    draw(shown, view);
    return bar.id;
  }
}

function barOf(span, { from, px, now }) {
  const end = Math.max(span.end ?? now, span.start);
  const bar = { id: span.id, spans: [span], kind: span.kind, start: span.start, end };
  return { ...bar, left: (span.start - from) * px, right: Math.max((end - from) * px, (span.start - from) * px + 7) };
}

function joined(bars) {
  const [first] = bars;
  const spans = bars.flatMap((bar) => bar.spans);
  return {
    ...first,
    id: spans.map(({ id }) => id).join("+"),
    spans,
    end: Math.max(...bars.map(({ end }) => end)),
    right: Math.max(...bars.map(({ right }) => right)),
  };
}

/** Marks that nobody could hit one by one become one. */
function near(bars, gap) {
  const groups = [];
  for (const bar of bars) {
    const last = groups.at(-1);
    if (last && bar.left - last[0].left < gap) last.push(bar);
    else groups.push([bar]);
  }
  return groups.map((group) => (group.length === 1 ? group[0] : joined(group)));
}

/** Three or more bars that begin, end and come out alike become one with a number. */
function alike(bars) {
  const groups = new Map();
  for (const bar of bars) {
    const [{ label, to, state, outcome }] = bar.spans;
    const place = `${Math.round(bar.left / NEAR_PX)} ${Math.round(bar.right / NEAR_PX)}`;
    const key = `${label} ${to} ${state} ${outcome} ${place}`;
    groups.set(key, [...(groups.get(key) ?? []), bar]);
  }
  return [...groups.values()].flatMap((group) => (group.length < 3 ? group : [joined(group)])).sort((a, b) => a.start - b.start);
}

/** Short bars that touch become one. */
function huddled(bars) {
  const made = [];
  let last = [];
  for (const bar of bars) {
    const isShort = bar.right - bar.left <= SHORT_PX;
    if (isShort && last.length > 0 && bar.left - Math.max(...last.map(({ right }) => right)) < 2) last.push(bar);
    else if (isShort) made.push((last = [bar]));
    else made.push([bar]);
  }
  return made.map((group) => (group.length === 1 ? group[0] : joined(group)));
}

/** Each bar in the first row that is free. */
function inRows(bars) {
  const rows = [];
  for (const bar of bars) {
    const row = rows.find((one) => one.at(-1).right + 1 <= bar.left);
    if (row) row.push(bar);
    else rows.push([bar]);
  }
  return rows;
}

function draw({ element, bar, marks: had, ...shown }, view) {
  const { from, width, px, now, top, drawn, room, selected } = view;
  const [span] = bar.spans;
  const isFuture = bar.start > now;
  const state = !isFuture && bar.end > now && bar.kind !== "moment" ? "open" : worst(bar.spans);
  const share = (at) => `${(((at - from) / width) * 100).toFixed(3)}%`;
  element.style.left = share(bar.start);
  element.style.width = `${(((bar.end - bar.start) / width) * 100).toFixed(3)}%`;
  element.style.top = `${(top + view.pad).toFixed(1)}px`;
  element.style.height = `${drawn.toFixed(1)}px`;
  attribute(element, "data-state", state);
  const [rest, name] = element.children;
  const done = bar.end > bar.start ? Math.min(Math.max((now - bar.start) / (bar.end - bar.start), 0), 1) : 1;
  rest.style.left = `${(done * 100).toFixed(2)}%`;
  rest.hidden = isFuture || done === 1;
  nameBar(element, name, bar, { from, px, drawn, room });
  element.classList.toggle("future", isFuture);
  element.classList.toggle(
    "selected",
    bar.spans.some(({ id }) => selected.has(id)),
  );
  attribute(element, "aria-label", describe(bar, now));
  if (span.lane !== "client" && bar.kind !== "moment") drawMarks(element, bar, now);
}

/** The name in the bar, beside it where there is room, or in the tip alone. The longest that has room is taken. */
function nameBar(element, name, bar, { from, px, drawn, room }) {
  const hidden = Math.max(0, (from - bar.start) * px);
  const inside = bar.right - bar.left - hidden;
  const isHigh = drawn >= NAMED_PX && bar.kind !== "moment";
  const names = namesOf(bar.spans);
  const text = names.find((one) => widthOf(one) < Math.max(inside, room)) ?? names.at(-1);
  const isInside = widthOf(text) < inside || (widthOf(text) >= room && inside >= NAME_PX);
  const isBeside = !isInside && widthOf(text) < room;
  write(name, text);
  name.hidden = !isHigh || (!isInside && !isBeside);
  name.style.marginLeft = `${isInside ? hidden.toFixed(0) : 0}px`;
  element.classList.toggle("beside", isHigh && isBeside);
}

function widthOf(text) {
  return text.length * CHAR_PX + 12;
}

function drawMarks(element, { spans: [span], start, end, spans }, now) {
  const marks = spans.length > 1 ? [] : span.marks.filter(({ at }) => at <= now);
  const made = element.querySelectorAll("i");
  for (let i = made.length; i < marks.length; i += 1) element.append(h("i"));
  for (let i = marks.length; i < made.length; i += 1) made[i].remove();
  const length = Math.max(end - start, 1);
  for (const [i, mark] of element.querySelectorAll("i").entries())
    mark.style.left = `min(${(((marks[i].at - start) / length) * 100).toFixed(2)}%, 100% - 2px)`;
}

function worst(spans) {
  return WORST.find((state) => spans.some((span) => span.state === state));
}

function isOneKind([first, ...more]) {
  return more.every(({ label, to, outcome }) => label === first.label && to === first.to && outcome === first.outcome);
}

/** What a bar may be called, the longest first. */
function namesOf(spans) {
  const [{ label, to, outcome, lane }] = spans;
  if (spans.length === 1) return to ? [`${label} to ${to}`, label] : [label];
  if (isOneKind(spans)) return [`${spans.length} ${outcome ?? label}`];
  const count = `${spans.length} ${lane === "client" ? "calls" : "requests"}`;
  const bad = spans.filter(({ state }) => state === "failed");
  if (bad.length === 0) return [count];
  const fault = `${bad.length} ${new Set(bad.map((span) => span.outcome)).size === 1 ? bad[0].outcome : "failed"}`;
  return [`${count}, ${fault}`, fault];
}

/** A bar in words: what, whom for, when, how it went. @param {Bar} bar @param {number} now */
function describe({ kind, spans, start, end }, now) {
  const [{ label, to, outcome, state, end: ended }] = spans;
  if (kind === "moment") {
    const entries = spans.flatMap(({ records }) => records).length;
    return `Gateway at ${seconds(start)}: ${entries} ${entries === 1 ? "entry" : "entries"} in or out`;
  }
  const one = `${label}${to ? ` to ${to}` : ""}`;
  const labels = [...new Set(spans.map((span) => span.label))];
  const what = spans.length === 1 ? one : `${namesOf(spans)[0]}: ${isOneKind(spans) ? one : labels.join(", ")}`;
  if (start > now) return `${what}, from ${seconds(start)}, not yet`;
  if (ended === undefined || end > now) return `${what}, from ${seconds(start)}, under way`;
  const word = spans.length > 1 ? undefined : (outcome ?? STATES[state]);
  return `${what}, from ${seconds(start)}, took ${seconds(end - start)}${word ? `, ${word}` : ""}`;
}
