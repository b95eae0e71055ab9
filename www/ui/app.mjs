import { Session } from "../sim/session.mjs";
import { Replayed } from "../sim/replayed.mjs";
import { cast } from "../sim/agents.mjs";
import { LEDGER } from "../sim/ledger.mjs";
import { UNHEALTHY } from "../sim/world.mjs";
import { HEALTHY } from "../sim/wire.mjs";
import { Live } from "../net/live.mjs";
import { RemoteSession } from "../net/remote.mjs";
import { BreakView } from "./break.mjs";
import { BringView } from "./bring.mjs";
import { BytesView } from "./bytes.mjs";
import { h, lessMotion, write } from "./dom.mjs";
import { ExamplesView } from "./examples.mjs";
import { FarGuardView } from "./guard-far.mjs";
import { GuardView } from "./guard.mjs";
import { MeasureView } from "./measure.mjs";
import { PlayView } from "./play.mjs";
import { RecordView } from "./record.mjs";
import { openQuestion } from "./reply.mjs";
import { standing } from "./result.mjs";
import { ServeView } from "./serve.mjs";
import { StoryView } from "./story.mjs";
import { Tabs } from "./tabs.mjs";
import { TimelineView } from "./timeline.mjs";
import { TroubleView } from "./token.mjs";

/** How long changes are gathered before they are drawn where less motion is wanted. */
const CALM_MS = 50;

/** What nobody can do while a trace from a file is looked at. */
const LIVE = ["play", "break", "guard", "serve", "bring"];

/** The page: one session, and the views of it. */
export class App {
  /** what is looked at: the ids of bars, joined by `+` */
  selected;
  cast = cast({}).map(({ alias, about, origin }) => ({ alias, about, origin }));
  #home;
  #agent;
  #views;
  #cancelFrame;
  #announced = new Set();
  #status = h("p.hidden", { role: "status" });

  /** @param {{ load: object, gateway?: URL }} options the address of a gateway elsewhere, if the page is attached to one */
  constructor({ load, gateway }) {
    this.session = this.#home = gateway ? new RemoteSession(gateway) : this.#newSession();
    this.#follow();
    this.timeline = new TimelineView(this);
    this.bytes = new BytesView(this);
    this.story = new StoryView(this);
    this.trouble = new TroubleView(this);
    this.play = new PlayView(this);
    this.bring = new BringView(this);
    this.examples = new ExamplesView(this);
    const tab = (name, title, rest, view) => ({ name, title, rest, element: view.element, view });
    const here = gateway ? [] : [tab("break", "Break", " things", new BreakView(this))];
    const guard = gateway ? new FarGuardView(this) : new GuardView(this);
    this.#views = [
      tab("play", "Play", "", this.play),
      ...here,
      tab("guard", "Guard", " calls", guard),
      tab("serve", "Serve", " others", new ServeView(this)),
      tab("bring", "Bring", " your own", this.bring),
      tab("record", "Record", "", new RecordView(this)),
      tab("measure", "Measure", "", new MeasureView(load)),
    ];
    this.tabs = new Tabs("What to do", this.#views, () => this.redraw());
    this.notice = h("p.notice", { hidden: true });
    this.restart = h("button", { type: "button", onclick: () => this.startAgain() }, "Start again");
    this.restart.hidden = gateway !== undefined;
    const side = h("aside.card.side", { "aria-label": "Details" }, this.bytes.element, this.story.element);
    this.below = h("div.below", {}, this.tabs.element, side);
    this.elements = [this.trouble.element, this.examples.element, this.timeline.element, this.notice, this.below, this.#status];
    this.redraw();
  }

  /** Draws everything at the next frame. */
  redraw() {
    if (this.#cancelFrame) return;
    if (lessMotion.matches) {
      const timer = setTimeout(() => this.#draw(), CALM_MS);
      this.#cancelFrame = () => clearTimeout(timer);
    } else {
      const frame = requestAnimationFrame(() => this.#draw());
      this.#cancelFrame = () => cancelAnimationFrame(frame);
    }
  }

  /** Looks at a bar, or at none. @param {string | undefined} id one, or several joined by `+` */
  select(id) {
    const before = this.selected;
    this.selected = id;
    this.#agent = undefined;
    if (id !== undefined) this.timeline.reveal(id);
    this.#draw();
    if (id !== undefined) this.bytes.focus();
    else if (before) this.timeline.focus(before);
  }

  /** Looks at what the gateway knows of an agent. @param {string} origin */
  openAgent(origin) {
    this.selected = undefined;
    this.#agent = origin;
    this.#draw();
    this.bytes.focus();
  }

  showTab(name) {
    this.tabs.show(name);
  }

  /** Calls a tool and shows it. @returns {() => object} the call as it stands */
  call(tool, args) {
    const { session } = this;
    const { id } = session.command({ type: "call", tool, arguments: args });
    this.play.results.choose(id);
    return () => session.calls.get(id) ?? { state: "canceled", progress: [] };
  }

  /** Waits until a call has ended. @param {() => { state: string }} call @returns {Promise<object>} the call */
  async ended(call) {
    await this.until(() => call().state !== "running");
    return call();
  }

  /** Waits until something holds; ends by an error when another future or session begins. @param {() => boolean} holds */
  until(holds) {
    const { session } = this;
    return new Promise((resolve, reject) => {
      const check = () => {
        const over = session.isPast || session !== this.session;
        if (!over && !holds()) return;
        session.removeEventListener("change", check);
        if (over) reject(new Error("left off"));
        else queueMicrotask(resolve);
      };
      session.addEventListener("change", check);
      check();
    });
  }

  /** Asks an agent for a sign of life, which makes it healthy again. @param {string} alias */
  ping(alias) {
    return this.call("ping_agent", { alias });
  }

  /** Makes every way as it was at first, and asks the unhealthy for a sign of life. */
  async heal() {
    const { session } = this;
    for (const { alias } of this.cast) {
      const faults = session.world.faults[alias];
      if (Object.entries(HEALTHY).every(([key, value]) => faults[key] === value)) continue;
      session.command({ type: "fault", alias, change: HEALTHY, note: `The way to ${alias} is as it was at first.` });
    }
    for (const { alias, health } of session.agents) if (health.failures >= UNHEALTHY) await this.ended(this.ping(alias));
  }

  /** The question of an agent that waits for an answer. @param {string} alias */
  asking(alias) {
    const { session } = this;
    const agent = session.agents.find((known) => known.alias === alias);
    const task = session.isReplay ? agent?.conversation?.waiting_task : undefined;
    return task ? { task, words: "" } : openQuestion(session.calls.values(), alias);
  }

  /** Fills in the form without calling. */
  draft(tool, args) {
    this.play.draft(tool, args);
  }

  /** Examines the way to an agent. @param {string} url @param {Record<string, string>} [headers] */
  check(url, headers) {
    this.showTab("bring");
    this.bring.check(url, headers);
  }

  /** What an agent is called. @param {string} origin */
  nameOf(origin) {
    if (origin === LEDGER) return "ledger";
    const known = this.session?.agents.find(({ url }) => new URL(url).origin === origin)?.alias;
    return known ?? this.cast.find((agent) => agent.origin === origin)?.alias ?? origin.replace(/^https?:\/\//, "");
  }

  /** Where an agent lives. @param {string} alias */
  originOf(alias) {
    const url = this.session.agents.find((agent) => agent.alias === alias)?.url;
    return url ? new URL(url).origin : this.cast.find((agent) => agent.alias === alias)?.origin;
  }

  /** Puts a trace on the timeline. @param {string} text @param {string} title */
  openTrace(text, title) {
    this.#use(new Replayed(text, title));
  }

  /** Goes back from a trace to the session of this page. */
  home() {
    this.#use(this.#home);
  }

  startAgain() {
    const before = this.#home;
    this.#home = this.#newSession();
    this.#announced.clear();
    this.#use(this.#home);
    before.dispose();
  }

  /** Real time passes. @param {number} ms */
  pass(ms) {
    this.session.pass(ms);
  }

  #newSession() {
    return new Session({ seed: crypto.getRandomValues(new Uint8Array(32)), unix_ms: Date.now() }, new Live());
  }

  #use(session) {
    this.session = session;
    this.selected = this.#agent = undefined;
    this.#follow();
    this.redraw();
  }

  #follow() {
    const { session } = this;
    if (session.followed) return;
    session.followed = true;
    session.addEventListener("change", () => session === this.session && this.redraw());
    session.addEventListener("fork", () => {
      this.#say("Another future begins here.");
      // What was looked at may never happen, and its name may come to mean something else.
      this.selected = undefined;
    });
  }

  #draw() {
    this.#cancelFrame?.();
    this.#cancelFrame = undefined;
    const { session } = this;
    this.timeline.update();
    this.story.update();
    this.trouble.update();
    this.examples.update();
    // Without a token there is nothing else to see.
    for (const element of this.elements.slice(1)) element.classList.toggle("closed", session.trouble === "token");
    // A gateway elsewhere may have nobody's tasks to answer; what it has is known when its tools are.
    if (session.isRemote && session.tools.length > 0) this.tabs.offer("serve", session.hasInbox);
    const thing = this.#thing();
    this.bytes.update(thing);
    this.below.classList.toggle("wide", thing !== undefined);
    const { view } = this.#views.find(({ name }) => name === this.tabs.current);
    for (const each of this.#views) each.view.look?.(each.view === view);
    view.update();
    for (const { name, element } of this.#views) element.inert = session.isReplay === true && LIVE.includes(name);
    this.notice.hidden = session.isReplay !== true;
    if (session.isReplay)
      write(this.notice, `You look at ${session.title}, a trace from a file. Play it, step through it, scrub. To go back, see Record.`);
    this.#announce();
  }

  /** What the details are about. */
  #thing() {
    const { session } = this;
    if (this.#agent) {
      const agent = session.agents.find(({ url }) => new URL(url).origin === this.#agent);
      const inbox = session.inbox.filter(({ alias }) => alias === agent?.alias);
      const records = [agent, ...inbox].filter(Boolean).map((raw) => ({ raw }));
      return { title: `What the gateway knows of ${this.nameOf(this.#agent)}`, records, key: JSON.stringify(records) };
    }
    const span = this.selected === undefined ? undefined : this.timeline.find(this.selected);
    if (!span) return undefined;
    const title = this.#titleOf(span);
    // What comes later than the moment that is looked at is not known yet.
    const records = span.records.filter(({ now }) => now <= session.now);
    return { title, records, key: span.id, begins: span.start };
  }

  #titleOf({ kind, label, to, lane }) {
    if (kind === "moment") return "Gateway: in and out";
    if (kind === "exchange") return `${this.nameOf(lane)}: ${label}`;
    return `${label}${to ? ` to ${to}` : ""}`;
  }

  /** Outcomes are read out, each once. */
  #announce() {
    for (const call of this.session.calls.values()) {
      if (!call.byUser || call.state === "running" || this.#announced.has(call.id)) continue;
      this.#announced.add(call.id);
      this.#say(`${call.tool}: ${standing(call).outcome}.`);
    }
  }

  #say(text) {
    write(this.#status, text);
  }
}
