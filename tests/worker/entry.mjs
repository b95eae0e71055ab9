// The example as the tests run it: in a runtime that holds to the limits of the smallest plan, and that can lose objects.
import worker, { Caller as Example } from "./index.mjs";
import { Core } from "./narrows/workerd.mjs";

// Where no clock, no chance and no request is allowed yet, a core can be made all the same.
new Core({ seed: new Uint8Array(32), now: 0, unixMs: 0 }).dispose();

const PER_EVENT = 50;

const seen = { events: 0, left: 0, refused: 0, timers: 0 };

const send = globalThis.fetch;
globalThis.fetch = (...words) => {
  if (seen.left === 0) {
    seen.refused += 1;
    return Promise.reject(new Error("Too many subrequests by single Worker invocation."));
  }
  seen.left -= 1;
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

export class Caller extends Example {
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
    this.#begin();
    return super.fetch(request);
  }

  alarm() {
    this.#begin();
    return super.alarm();
  }

  #begin() {
    seen.events += 1;
    seen.left = PER_EVENT;
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
