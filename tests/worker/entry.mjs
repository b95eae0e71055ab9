// The example as the tests run it: in a runtime that holds to the limits of the smallest plan, and that can lose objects.
import { AsyncLocalStorage } from "node:async_hooks";
import worker, { Caller as Example } from "./index.mjs";
import { Core } from "./narrows/workerd.mjs";

// Where no clock, no chance and no request is allowed yet, a core can be made all the same (wrk-001).
new Core({ seed: new Uint8Array(32), now: 0, unixMs: 0 }).dispose();

const PER_EVENT = 50;

const seen = { events: 0, requests: 0, refused: 0, timers: 0 };

/** What the object that is at work may still send in its event. */
const share = new AsyncLocalStorage();
let latest;

const send = globalThis.fetch;
globalThis.fetch = (...words) => {
  // A client that leaves is told of outside of any event: that counts for the object that was at work last.
  const own = share.getStore() ?? latest;
  if (!own?.left) {
    seen.refused += 1;
    return Promise.reject(new Error("Too many subrequests by single Worker invocation."));
  }
  own.left -= 1;
  seen.requests += 1;
  return send(...words);
};

for (const name of ["setTimeout", "setInterval"]) {
  globalThis[name] = () => {
    seen.timers += 1;
    throw new Error(`${name} outlives its request`);
  };
}

const clock = Date.now;
let late_ms = 0;
Date.now = () => clock() + late_ms;

async function* work({ text, principal }, { CONFIG }) {
  yield `for ${principal}`;
  return `${JSON.parse(CONFIG).a2a.name} heard ${text}`;
}

export class Caller extends Example {
  /** The responder `function`, where the configuration names it. */
  static configure = (env) => {
    Caller.onWork = env.CONFIG.includes('"function"') ? work : undefined;
    return Example.configure(env);
  };

  share = { left: 0 };

  constructor(ctx, env) {
    super(ctx, env);
    this.ctx = ctx;
  }

  fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/lose") this.ctx.abort("lost");
    if (pathname === "/ring") {
      late_ms = Number(searchParams.get("late_ms"));
      this.alarm();
      return new Response("rung");
    }
    return this.#event(() => super.fetch(request));
  }

  alarm() {
    return this.#event(() => super.alarm());
  }

  #event(go) {
    seen.events += 1;
    this.share.left = PER_EVENT;
    latest = this.share;
    return share.run(this.share, go);
  }
}

export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/seen") return Response.json(seen);
    if (pathname !== "/lose" && pathname !== "/ring") return worker.fetch(request, env);
    const [principal, id] = [searchParams.get("principal"), searchParams.get("id")];
    const object = principal ? env.CALLERS.getByName(principal) : env.CALLERS.get(env.CALLERS.idFromString(id));
    return object.fetch(request).catch(() => new Response("lost"));
  },
};
