import { Digest } from "../sim/digest.mjs";
import { Timeline as Reader } from "../sim/spans.mjs";
import { attribute, h, lessMotion, write } from "./dom.mjs";
import { moment } from "./format.mjs";
import { AgentLabel, Lane } from "./lane.mjs";
import { Transport } from "./transport.mjs";

/** How much time is in view. */
const WIDTHS_MS = [500, 1000, 2500, 5000, 10_000, 30_000, 120_000];

/** The timeline: who talked when, in lanes. */
export class TimelineView {
  #app;
  #digest = new Digest(() => new Reader());
  #transport;
  #lanes = new Map();
  #labels = new Map();
  #holder = h("div.lanes", {
    role: "group",
    "aria-label": "Lanes. Arrow keys move between bars, Enter shows their bytes.",
    onkeydown: (event) => this.#key(event),
    onfocusin: (event) => this.#focused(event),
  });
  #axis = h("div.axis", { "aria-hidden": "true" });
  #zoom = 3;
  #from = 0;
  #ticks = "";
  #focusId;

  constructor(app) {
    this.#app = app;
    this.#transport = new Transport(app);
    const out = h("button", { type: "button", title: "Show more time", "aria-label": "Zoom out", onclick: () => this.#zoomBy(1) }, "−");
    const into = h("button", { type: "button", title: "Show less time", "aria-label": "Zoom in", onclick: () => this.#zoomBy(-1) }, "+");
    this.#transport.element.append(h("div.group.zoom", { role: "group", "aria-label": "Zoom" }, out, into));
    this.#lane("client", h("div.label", {}, h("strong", {}, "Client"), h("span.about", {}, "Calls tools, speaks MCP.")));
    this.#lane("gateway", h("div.label", {}, h("strong", {}, "Gateway"), h("span.about", {}, "A tick: something in or out.")));
    const axis = h("div.lane.scale", {}, h("div.label"), this.#axis);
    const keys = h("p.hint.keys", {}, "On a bar: arrow keys move, Enter shows its bytes, P plays and pauses, comma and full stop step.");
    this.hint = h(
      "p.hint",
      { hidden: true },
      "The agents' side of a gateway elsewhere cannot be seen from a page. Start it with --trace FILE, and open that file under Record.",
    );
    this.element = h(
      "section.card.timeline",
      { "aria-label": "Timeline" },
      this.#transport.element,
      h("div.scroll", {}, this.#holder, axis),
      this.#transport.scrubber,
      keys,
      this.hint,
    );
  }

  get spans() {
    return this.#digest.read(this.#app.session.known).spans;
  }

  /** @param {string} id */
  find(id) {
    return this.spans.find((span) => span.id === id);
  }

  update() {
    const { session, selected } = this.#app;
    const { spans, origins } = this.#digest.read(session.known);
    this.#transport.update();
    this.hint.hidden = session.isRemote !== true;
    this.#agents(session, origins);
    if (session.isActive !== false) this.#follow(session.now);
    const width = WIDTHS_MS[this.#zoom];
    const view = { from: this.#from, width, now: session.now, selected };
    for (const lane of this.#lanes.values())
      lane.draw(
        spans.filter((span) => span.lane === lane.name),
        view,
      );
    const at = ((session.now - this.#from) / width) * 100;
    this.#holder.style.setProperty("--now", `${Math.min(Math.max(at, 0), 100)}%`);
    this.#scale(width);
    this.#rove();
  }

  /** Brings a span into view and the focus to it. @param {string} id */
  reveal(id) {
    const span = this.find(id);
    if (!span) return;
    const width = WIDTHS_MS[this.#zoom];
    if (span.start < this.#from || span.start > this.#from + width) this.#from = Math.max(0, span.start - width * 0.2);
    this.#focusId = id;
  }

  #agents(session, origins) {
    const known = session.agents.map(({ url }) => new URL(url).origin);
    const wanted = session.isRemote ? [] : [...new Set([...this.#app.cast.map(({ origin }) => origin), ...known, ...origins])];
    for (const origin of wanted) {
      if (!this.#lanes.has(origin)) {
        const pretend = this.#app.cast.find((agent) => agent.origin === origin);
        const name = this.#app.nameOf(origin);
        const label = new AgentLabel({ name, about: pretend?.about ?? origin, onOpen: () => this.#app.openAgent(origin) });
        this.#labels.set(origin, label);
        this.#lane(origin, label.element);
      }
      const agent = session.agents.find(({ url }) => new URL(url).origin === origin);
      const inbox = agent ? session.inbox.filter(({ alias }) => alias === agent.alias).length : 0;
      this.#labels.get(origin).update(agent, inbox, agent ? session.closedFor?.(agent) : 0);
    }
    for (const [name, lane] of this.#lanes) if (name.includes("://")) lane.element.hidden = !wanted.includes(name);
  }

  #lane(name, label) {
    const lane = new Lane(name, label, (span) => this.#app.select(span.id));
    this.#lanes.set(name, lane);
    this.#holder.append(lane.element);
  }

  /** Keeps the moment in view: gliding, or in pages where less motion is wanted. */
  #follow(now) {
    const width = WIDTHS_MS[this.#zoom];
    if (now < this.#from) this.#from = Math.max(0, now - width * 0.5);
    else if (now > this.#from + width * 0.9) this.#from = now - width * (lessMotion.matches ? 0.3 : 0.9);
    this.#from = Math.max(0, this.#from);
  }

  #zoomBy(step) {
    const before = WIDTHS_MS[this.#zoom];
    this.#zoom = Math.min(Math.max(this.#zoom + step, 0), WIDTHS_MS.length - 1);
    const { now } = this.#app.session;
    const share = (now - this.#from) / before;
    this.#from = Math.max(0, now - WIDTHS_MS[this.#zoom] * Math.min(share, 0.9));
    this.update();
  }

  #scale(width) {
    const step = width / 5;
    const first = Math.ceil(this.#from / step);
    const ticks = [0, 1, 2, 3, 4, 5].map((i) => (first + i) * step).filter((at) => at <= this.#from + width);
    const key = `${ticks} ${this.#from} ${width}`;
    if (key === this.#ticks) return;
    this.#ticks = key;
    while (this.#axis.children.length > ticks.length) this.#axis.lastChild.remove();
    while (this.#axis.children.length < ticks.length) this.#axis.append(h("span"));
    for (const [i, at] of ticks.entries()) {
      const tick = this.#axis.children[i];
      tick.style.left = `${((at - this.#from) / width) * 100}%`;
      write(tick, moment(at));
    }
  }

  /** One bar at a time is in the order of the Tab key. */
  #rove() {
    const elements = [...this.#holder.querySelectorAll(".span")];
    const current = elements.find((element) => element.dataset.span === this.#focusId) ?? elements[0];
    for (const element of elements)
      if (element.tabIndex !== (element === current ? 0 : -1)) element.tabIndex = element === current ? 0 : -1;
  }

  #focused({ target }) {
    if (target.dataset.span === undefined) return;
    this.#focusId = target.dataset.span;
    this.#rove();
  }

  #key(event) {
    if (event.target.dataset.span === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    const acts = { p: () => this.#transport.toggle(), ".": () => this.#app.session.stepOn(), ",": () => this.#app.session.stepBack() };
    const to = this.#target(event.key, event.target);
    if (!to && !acts[event.key]) return;
    event.preventDefault();
    if (to) to.focus();
    else if (!this.#app.session.isRemote) acts[event.key]();
  }

  #target(key, element) {
    const lanes = [...this.#lanes.values()].filter((lane) => !lane.element.hidden && lane.shown.length > 0);
    const row = lanes.findIndex((lane) => lane.shown.some((shown) => shown.element === element));
    const list = lanes[row].shown;
    const at = list.findIndex((shown) => shown.element === element);
    const beside = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: list.length - 1 }[key];
    if (beside !== undefined) return list[Math.min(Math.max(beside, 0), list.length - 1)].element;
    const next = lanes[{ ArrowDown: row + 1, ArrowUp: row - 1 }[key]];
    if (!next) return undefined;
    const { start } = list[at].span;
    return next.shown.reduce((best, shown) => (Math.abs(shown.span.start - start) < Math.abs(best.span.start - start) ? shown : best))
      .element;
  }
}
