import { World } from "./world.mjs";

/** The longest stretch of time that one frame makes up for: a page that was hidden does not race afterwards. */
const FRAME_MS = 100;

/**
 * A session: a world, the commands that made it, and a clock that a person holds.
 *
 * Going back means to make the world again up to that moment. Going on from there without a new command leads to the
 * same future; with one, to another.
 */
export class Session extends EventTarget {
  speed = 1;
  playing = true;
  /** the part of the future that is known when time was scrubbed back, and of the past: every record */
  known = [];
  /** the latest moment that was reached */
  end = 0;
  #birth;
  #commands = [];
  #cursor = 0;
  #live;
  #world;
  #rest = 0;
  #state;

  /** @param {{ seed: Uint8Array, unix_ms: number }} birth @param {import("../net/live.mjs").Live} [live] */
  constructor(birth, live) {
    super();
    this.#birth = birth;
    this.#live = live;
    this.#world = new World(birth, live);
    live?.attach((input) => this.command({ type: "report", input }));
    this.#changed();
  }

  get world() {
    return this.#world;
  }

  get now() {
    return this.#world.now;
  }

  get tools() {
    return this.#world.tools;
  }

  get calls() {
    return this.#world.calls;
  }

  /** Whether time was scrubbed back from the latest moment. */
  get isPast() {
    return this.#world.now < this.end || this.#cursor < this.#commands.length;
  }

  /** What the gateway knows now, as records of its snapshot. */
  get state() {
    if (this.#state?.steps !== this.#world.steps || this.#state.cursor !== this.#cursor) {
      this.#state = { steps: this.#world.steps, cursor: this.#cursor, records: this.#world.state };
    }
    return this.#state.records;
  }

  /** The agents among them, each bucket with its level at this very moment. */
  get agents() {
    const agents = this.state.filter(({ kind }) => kind === "agent");
    return agents.map((agent) => ({ ...agent, bucket: { ...agent.bucket, level: this.#level(agent.bucket) } }));
  }

  /** The tasks that others sent to the gateway, among them. */
  get tasks() {
    return this.state.filter(({ kind }) => kind === "task");
  }

  /** The visitor's requests under way. */
  get visits() {
    return this.#world.visits;
  }

  /** The inbox among them. */
  get inbox() {
    return this.state.filter(({ kind }) => kind === "inbox");
  }

  /** For how long an agent asked for silence. @param {object} agent */
  closedFor({ bucket }) {
    return Math.max(0, (bucket.closed_until ?? 0) - this.#birth.unix_ms - this.#world.now);
  }

  /** The trace until now. */
  get trace() {
    const { lines } = this.#world;
    return { lines, bytes: lines.reduce((sum, line) => sum + line.length + 1, 0) };
  }

  #level({ nano_tokens, micro_rps, burst, at }) {
    const passed_ms = this.#birth.unix_ms + this.#world.now - at;
    return Math.min(burst, nano_tokens / 1e9 + (Math.max(passed_ms, 0) * micro_rps) / 1e9);
  }

  /** Whether something is to happen, or a real agent is waited for. */
  get isActive() {
    return this.isPast || this.#world.stirsAt !== undefined || this.#world.waiting.length > 0;
  }

  /** Whether time has a reason to pass: something goes on, a bucket fills, or an agent asked for silence. */
  get isBusy() {
    return this.isActive || this.agents.some((agent) => !this.isRested(agent));
  }

  /** Whether an agent may be sent to as often as at first. @param {object} agent */
  isRested(agent) {
    const { burst, level } = agent.bucket;
    return this.closedFor(agent) === 0 && (burst === 0 || level >= burst);
  }

  /** Does something now. Where the future was known, it is another one from here on. @param {object} command */
  command(command) {
    if (this.isPast) this.#fork();
    this.#world.reach(this.#live);
    const given = { ...command, at: this.#world.now, step: this.#world.steps };
    this.#commands.push(given);
    this.#cursor = this.#commands.length;
    const made = this.#world.apply(given);
    this.#changed();
    return made;
  }

  /** Real time passed. @param {number} ms */
  pass(ms) {
    if (!this.playing || !this.isBusy) {
      this.#rest = 0;
      return;
    }
    // Whole milliseconds for the gateway; what is left over counts for the next frame.
    const passed = this.#rest + Math.min(ms, FRAME_MS) * this.speed;
    const whole = Math.floor(passed);
    this.#rest = passed - whole;
    if (whole > 0) this.#run(this.#world.now + whole);
  }

  /** Lets exactly one thing happen, and holds the clock. */
  stepOn() {
    this.playing = false;
    if (this.#nextAt <= this.end || this.#world.stirsAt !== undefined) this.#goOn();
    if (!this.isPast) this.#world.reach(this.#live);
    this.#changed();
  }

  /** Undoes one thing, and holds the clock. */
  stepBack() {
    const { steps } = this.#world;
    const cursor = this.#cursor;
    const undoes = this.#commands[cursor - 1]?.step === steps ? [steps, cursor - 1] : [steps - 1, cursor];
    if (undoes[0] < 0) return;
    this.#again(() => this.#world.steps >= undoes[0] && this.#cursor >= undoes[1]);
  }

  /** Goes to a moment, and holds the clock. @param {number} at */
  seek(at) {
    if (at >= this.#world.now) {
      this.playing = false;
      this.#run(Math.min(at, this.end));
      return;
    }
    this.#again(() => this.#nextAt > at, at);
  }

  /** Tells everybody that something changed, such as the speed. */
  touch() {
    this.#changed();
  }

  /** Ends it. Who waits for something in it is told. */
  dispose() {
    this.#live?.abortAll();
    this.dispatchEvent(new Event("change"));
    this.#world.dispose();
  }

  /** Makes the world again, until it is where it should be. */
  #again(isThere, at = 0) {
    this.playing = false;
    this.#leave();
    this.#keep();
    this.#world.dispose();
    this.#world = new World(this.#birth);
    this.#cursor = 0;
    while (!isThere() && this.#nextAt !== Infinity) this.#goOn();
    this.#world.now = Math.max(this.#world.now, at);
    this.#changed();
  }

  #run(until) {
    while (this.#nextAt <= until) this.#goOn();
    this.#world.now = Math.max(this.#world.now, until);
    if (!this.isPast) this.#world.reach(this.#live);
    this.#changed();
  }

  /** The command that comes before anything else happens. */
  get #due() {
    const command = this.#commands[this.#cursor];
    return command?.step === this.#world.steps ? command : undefined;
  }

  get #nextAt() {
    return this.#due?.at ?? this.#world.nextAt ?? Infinity;
  }

  #goOn() {
    const command = this.#due;
    if (command) this.#redo(command);
    else this.#world.step();
  }

  #redo(command) {
    this.#world.now = Math.max(this.#world.now, command.at);
    this.#cursor += 1;
    this.#world.apply(command);
  }

  /** Another future begins: the known one is forgotten. */
  #fork() {
    this.#commands.length = this.#cursor;
    this.known = [];
    this.end = this.#world.now;
    this.dispatchEvent(new Event("fork"));
    this.#leave();
  }

  /** What real agents were asked has failed: nobody can hold their clock. */
  #leave() {
    this.#live?.abortAll();
    if (this.isPast) return;
    for (const exchange of this.#world.waiting) {
      this.command({ type: "report", input: { type: "failed", exchange, cause: "other", detail: "time was scrubbed back" } });
    }
  }

  #keep() {
    if (this.#world.log.length > this.known.length) this.known = this.#world.log;
    this.end = Math.max(this.end, this.#world.now);
  }

  #changed() {
    this.#keep();
    this.dispatchEvent(new Event("change"));
  }
}
