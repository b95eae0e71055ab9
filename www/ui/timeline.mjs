import { Digest } from "../sim/digest.mjs";
import { Timeline as Reader } from "../sim/spans.mjs";
import { LEDGER } from "../sim/ledger.mjs";
import { AgentLabel } from "./agent-label.mjs";
import { attribute, h, lessMotion, write } from "./dom.mjs";
import { moment } from "./format.mjs";
import { Lane } from "./lane.mjs";
import { Tip } from "./tip.mjs";
import { Transport } from "./transport.mjs";
import { TimeWindow } from "./window.mjs";

/** How many marks the ruler has at most, and how much room each needs. */
const TICKS = 6;
const TICK_PX = 44;

/** More lanes than these are drawn lower, so that the timeline leaves room for the rest. */
const ROOMY_LANES = 6;

/** A phone has a line for each lane; a finger needs more room than a pointer. */
const isSmall = matchMedia("(max-width: 640px)");
const isCoarse = matchMedia("(pointer: coarse)");

/** The timeline: who talked when, in lanes. */
export class TimelineView {
  #app;
  #digest = new Digest(() => new Reader());
  #transport;
  #window = new TimeWindow();
  #tip;
  #lanes = new Map();
  #labels = new Map();
  #holder = h("div.lanes", {
    role: "group",
    "aria-label": "Lanes. Arrow keys move between bars, Enter shows their bytes.",
    onkeydown: (event) => this.#key(event),
    onfocusin: (event) => this.#focused(event),
  });
  #axis = h("div.axis", { "aria-hidden": "true" });
  #all = h("button", { type: "button", title: "Show the whole session", onclick: () => this.#showAll() }, "All");
  #ticks = "";
  #focusId;

  constructor(app) {
    this.#app = app;
    this.#transport = new Transport(app);
    this.#lane("client", "Client", plainLabel("Client", "Calls tools, speaks MCP."));
    this.#lane("visitor", "Visitor", plainLabel("Visitor", "Sends tasks to the gateway."));
    this.#lane("gateway", "Gateway", plainLabel("Gateway", "A tick: in or out."));
    this.#lane(LEDGER, "ledger", plainLabel("ledger", "An MCP server."));
    const zoom = (factor, sign, label) =>
      h("button", { type: "button", "aria-label": label, title: label, onclick: () => this.#zoom(factor) }, sign);
    const zooms = h(
      "div.group.zoom",
      { role: "group", "aria-label": "How much time is in view" },
      zoom(2, "−", "Show more time"),
      this.#all,
      zoom(0.5, "+", "Show less time"),
    );
    const ruler = h("div.lane.ruler", {}, h("div.label", {}, zooms), h("div.rule", {}, this.#axis, this.#transport.scrubber));
    this.hint = h(
      "p.hint",
      { hidden: true },
      "From here only the client's side can be seen. What the gateway says to agents stays with it.",
    );
    this.#tip = new Tip(this.#holder, (bar) => bar.getAttribute("aria-label"));
    this.element = h(
      "section.card.timeline",
      { "aria-label": "Timeline" },
      this.#transport.element,
      this.#holder,
      ruler,
      this.hint,
      this.#tip.element,
    );
    // Whatever is scrolled to stays clear of the timeline, which sticks to the top.
    const measure = ([{ target }]) => document.documentElement.style.setProperty("--sticks", `${target.offsetHeight}px`);
    new ResizeObserver(measure).observe(this.element);
  }

  get spans() {
    return this.#digest.read(this.#app.session.known).spans;
  }

  /** A span, or several as one. @param {string} id theirs, joined by `+` */
  find(id) {
    const ids = new Set(id.split("+"));
    const [first, ...more] = this.spans.filter((span) => ids.has(span.id));
    if (!first || more.length === 0) return first;
    const isOne = more.every(({ label, to }) => label === first.label && to === first.to);
    const label = isOne ? `${more.length + 1} × ${first.label}` : `${more.length + 1} bars`;
    return { ...first, id, label, to: isOne ? first.to : undefined, records: [first, ...more].flatMap(({ records }) => records) };
  }

  update() {
    const { session, selected } = this.#app;
    const { spans, origins } = this.#digest.read(session.known);
    this.hint.hidden = session.isRemote !== true;
    this.#agents(session, origins);
    const isCalled = spans.some(({ lane, label }) => lane === LEDGER && label.startsWith("call "));
    this.#lanes.get(LEDGER).element.hidden = session.isRemote || (!isCalled && this.#app.tabs?.current !== "guard");
    this.#lanes.get("visitor").element.hidden = !spans.some(({ lane }) => lane === "visitor") && this.#app.tabs?.current !== "serve";
    this.#window.follow(session, lessMotion.matches);
    this.#transport.update(this.#window);
    const { from, width } = this.#window;
    const px = this.#lanes.get("gateway").width / width;
    const isDense = [...this.#lanes.values()].filter(({ element }) => !element.hidden).length > ROOMY_LANES;
    this.element.classList.toggle("dense", isDense);
    const view = {
      from,
      width,
      px,
      now: session.now,
      ...(isSmall.matches || isDense ? { height: 24, pad: 2 } : { height: 42, pad: 4 }),
      gap: isCoarse.matches ? 24 : 9,
      selected: new Set(selected?.split("+")),
    };
    for (const lane of this.#lanes.values())
      lane.draw(
        spans.filter((span) => span.lane === lane.name),
        view,
      );
    const at = ((session.now - from) / width) * 100;
    this.element.style.setProperty("--now", `${Math.min(Math.max(at, 0), 100).toFixed(3)}%`);
    attribute(this.#all, "aria-pressed", String(this.#window.mode === "all"));
    this.#scale(px);
    this.#rove();
    this.#tip.update();
  }

  /** Brings a span into view and the focus to it. @param {string} id */
  reveal(id) {
    const span = this.find(id);
    if (!span) return;
    this.#window.show(span.start);
    this.#focusId = id;
  }

  /** Brings the focus to a span. @param {string} id */
  focus(id) {
    const ids = id.split("+");
    const bars = [...this.#lanes.values()].flatMap((lane) => lane.shown);
    bars.find(({ bar }) => bar.spans.some((span) => ids.includes(span.id)))?.element.focus();
  }

  #agents(session, origins) {
    const known = session.agents.map(({ url }) => new URL(url).origin);
    const wanted = session.isRemote ? [] : [...new Set([...this.#app.cast.map(({ origin }) => origin), ...known, ...origins])].filter((origin) => origin !== LEDGER);
    for (const origin of wanted) {
      if (!this.#lanes.has(origin)) {
        const pretend = this.#app.cast.find((agent) => agent.origin === origin);
        const name = this.#app.nameOf(origin);
        const onPing = (alias) => this.#app.ping(alias);
        const label = new AgentLabel({ name, about: pretend?.about ?? origin, onOpen: () => this.#app.openAgent(origin), onPing });
        this.#labels.set(origin, label);
        this.#lane(origin, name, label.element);
      }
      const agent = session.agents.find(({ url }) => new URL(url).origin === origin);
      const inbox = agent ? session.inbox.filter(({ alias }) => alias === agent.alias).length : 0;
      const waits = agent !== undefined && this.#app.asking(agent.alias) !== undefined;
      this.#labels.get(origin).update(agent, { inbox, waits, closed_ms: agent ? (session.closedFor?.(agent) ?? 0) : 0 });
    }
    for (const [name, lane] of this.#lanes) if (name.includes("://") && name !== LEDGER) lane.element.hidden = !wanted.includes(name);
  }

  #lane(name, title, label) {
    const lane = new Lane(name, title, label, (id) => this.#app.select(id));
    this.#lanes.set(name, lane);
    this.#holder.append(lane.element);
  }

  #zoom(factor) {
    this.#window.zoom(factor, this.#app.session);
    this.update();
  }

  #showAll() {
    this.#window.mode = this.#window.mode === "all" ? "auto" : "all";
    this.update();
  }

  #scale(px) {
    const { from, width } = this.#window;
    const step = [50, 100, 200, 250, 500].find((ms) => width / ms <= TICKS) ?? roundStep(width / TICKS);
    const ticks = [];
    for (let at = Math.ceil(from / step) * step; (from + width - at) * px > TICK_PX; at += step) ticks.push(at);
    const key = `${ticks} ${from} ${width} ${px}`;
    if (key === this.#ticks) return;
    this.#ticks = key;
    this.element.style.setProperty("--step", `${((step / width) * 100).toFixed(4)}%`);
    this.element.style.setProperty("--first", `${(((Math.ceil(from / step) * step - from) / width) * 100).toFixed(4)}%`);
    while (this.#axis.children.length > ticks.length) this.#axis.lastChild.remove();
    while (this.#axis.children.length < ticks.length) this.#axis.append(h("span"));
    for (const [i, at] of ticks.entries()) {
      const tick = this.#axis.children[i];
      tick.style.left = `${((at - from) / width) * 100}%`;
      write(tick, step < 100 ? moment(at) : `${(at / 1000).toFixed(step < 1000 ? 1 : 0)} s`);
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
    const to = this.#target(event.key, event.target);
    if (!to) return;
    event.preventDefault();
    to.focus();
  }

  #target(key, element) {
    const lanes = [...this.#lanes.values()].filter((lane) => !lane.element.hidden && lane.shown.length > 0);
    const row = lanes.findIndex((lane) => lane.shown.some((shown) => shown.element === element));
    const list = lanes[row]?.shown ?? [];
    const at = list.findIndex((shown) => shown.element === element);
    const beside = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: list.length - 1 }[key];
    if (beside !== undefined) return list[Math.min(Math.max(beside, 0), list.length - 1)]?.element;
    const next = lanes[{ ArrowDown: row + 1, ArrowUp: row - 1 }[key]];
    if (!next) return undefined;
    const { start } = list[at].bar;
    return next.shown.reduce((best, shown) => (Math.abs(shown.bar.start - start) < Math.abs(best.bar.start - start) ? shown : best))
      .element;
  }
}

function plainLabel(name, about) {
  return h("div.label", {}, h("strong", {}, name), h("span.about", {}, about));
}

/** A round number of seconds that is not less. */
function roundStep(ms) {
  const power = 10 ** Math.floor(Math.log10(ms));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= ms);
}
