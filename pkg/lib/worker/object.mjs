import { GatewayError } from "../error.mjs";
import { openDriver } from "../open.mjs";
import { respond } from "../serving.mjs";
import { Alarm } from "./alarm.mjs";
import { DIRECTORY, directoryOf } from "./directory.mjs";
import { Pieces } from "./pieces.mjs";
import { Subrequests } from "./subrequests.mjs";

/** How long an object is kept that belongs to a session and not to a principal, after its last request. */
const IDLE_MS = 24 * 3_600_000;

/** How far behind a reader may be: an object has 128 MB for everything. */
const BEHIND_BYTES = 16 << 20;

/** All that is to be done at an alarm that was wanted for its event alone. */
const anotherEvent = () => {};

/** How exactly its last request is remembered. */
const USED_MS = 3_600_000;

/**
 * A Durable Object with a gateway in it, whose state is in its SQLite database. `worker.d.ts` has the words for its users.
 *
 * There is no timer in it but the object's alarm, so that whatever has to happen later happens although the object was
 * evicted meanwhile.
 */
export class GatewayObject {
  /** What differs from other hosts: as `Gateway.platform`. */
  static platform = {};

  #ctx;
  #alarm;
  #subrequests;
  #driver;
  #used;
  #name;

  constructor(ctx, env) {
    this.#ctx = ctx;
    const { storage } = ctx;
    // An alarm makes an object without its name: it is told to requests alone.
    this.#name = ctx.id.name ?? storage.kv.get("name");
    if (ctx.id.name !== undefined && storage.kv.get("name") === undefined) storage.kv.put("name", ctx.id.name);
    const pieces = new Pieces(storage.sql);
    const alarm = (this.#alarm = new Alarm(storage));
    this.#subrequests = new Subrequests({ wake: () => alarm.at("subrequests", Date.now(), anotherEvent) });
    const config = this.constructor.configure(env);
    this.#driver = openDriver(
      {
        ...this.#agent(config, env),
        directory: this.#directory(config, env),
        snapshot: pieces.all(),
        host: {
          fetch: (request) => this.#subrequests.fetch(request),
          setTimer: (callback, ms) => this.#setTimer(callback, ms),
        },
        // What the state stands on is kept, or the object ends: the runtime holds back what comes after until it is written.
        onSave: (key, texts) => pieces.keep(key, texts),
        onNotice: (notice) => this.constructor.onNotice(notice),
        onDead: (message) => ctx.abort(message),
      },
      this.constructor.platform,
    );
    // A principal's object has a name. One of a session has none, and goes when nobody has asked it for long.
    if (this.#name === undefined) {
      this.#used = storage.kv.get("used");
      if (this.#used !== undefined) this.#expire();
    }
  }

  /** The one directory, where discover_agents asks it, for every object but its own. */
  #directory(config, env) {
    const objects = this.constructor.objects?.(env);
    const asks = config?.directory?.built_in === true && this.#name !== DIRECTORY;
    return asks && objects ? directoryOf(objects, config) : undefined;
  }

  /** @param {object} env @returns {object} the configuration of the gateway */
  static configure() {
    return {};
  }

  /** @param {object} work as `GatewayOptions.onWork` @param {object} env */
  static onWork = undefined;

  /** @param {object} notice */
  static onNotice({ level, event, fields }) {
    if (level !== "debug" && level !== "info") console.log(JSON.stringify({ level, event, ...fields }));
  }

  fetch(request) {
    this.#begin();
    if (this.#name === undefined) this.#use();
    return respond(this.#driver, request, () => new GatewayError("dead", "a fault in Narrows ended this gateway"), BEHIND_BYTES);
  }

  alarm() {
    this.#begin();
    this.#alarm.ring();
  }

  /** An event begins. It is the one that was waited for, if one was: what an object sends at its birth comes before its first. */
  #begin() {
    this.#alarm.cancel("subrequests", anotherEvent);
    this.#subrequests.begin();
  }

  #setTimer(callback, ms) {
    const at = Date.now() + Number(ms);
    this.#alarm.at("gateway", at, callback);
    return () => this.#alarm.cancel("gateway", callback);
  }

  /**
   * The configuration, and who does the work: callers of A2A are led to an object with a name. The responder is taken from
   * the configuration alone, as the card is shown where there is no object.
   */
  #agent(config, env) {
    const { onWork } = this.constructor;
    if (this.#name === undefined) return { config: { ...config, a2a: { enabled: false } } };
    const a2a = { enabled: config?.a2a !== undefined, responder: "inbox", ...config?.a2a };
    return { config: { ...config, a2a }, onWork: onWork && ((work) => this.constructor.onWork(work, env)) };
  }

  #use() {
    const now = Date.now();
    if (now - (this.#used ?? 0) < USED_MS) return;
    this.#used = now;
    this.#ctx.storage.kv.put("used", now);
    this.#expire();
  }

  #expire() {
    this.#alarm.at("expiry", this.#used + IDLE_MS + USED_MS, () => {
      this.#ctx.storage.deleteAll().then(() => this.#ctx.abort("nobody asked for long"));
    });
  }
}
