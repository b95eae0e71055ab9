import http from "node:http";

import { Scope, outcome } from "./calls.mjs";

const BOTH = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
const MODERN = "2026-07-28";
const META = { "io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {} };

/** Sessions that stay, and how many calls each of the others makes before it is over. */
const STAYING = 5;
const PASSING_CALLS = 30;

/** How often a client that lost its connection comes back for the rest. */
const RETURNS = 20;

/** Many clients over HTTP: some with sessions, some without, some of which vanish. */
export class HttpClients {
  #url;
  #world;
  #book;
  #chance;
  #child;
  #modern;
  #staying = [];
  #passing;
  #id = 0;
  #plans = new Set();
  #ending = false;

  constructor(child, url, world, book, chance) {
    Object.assign(this, { name: "http" });
    this.#child = child;
    this.#url = url;
    this.#world = world;
    this.#book = book;
    this.#chance = chance;
    this.#modern = new Scope(world, book, chance);
  }

  async begin() {
    for (const call of this.#modern.furnish()) this.#ask(call);
    for (let count = 0; count < STAYING; count += 1) this.#staying.push(await this.#session());
  }

  one() {
    if (this.#chance.oneIn(2)) {
      this.#ask(this.#modern.any(), { mayLeave: true });
    } else if (this.#chance.oneIn(3)) {
      this.#pass();
    } else {
      const session = this.#chance.pick(this.#staying);
      if (session.broken) return;
      if (this.#chance.oneIn(40)) this.#listen(session);
      this.#ask(session.scope.any(), { session, mayLeave: true });
    }
  }

  /** Gives up whatever waits for an agent. */
  giveUp() {
    for (const plan of [...this.#plans].filter(({ waits }) => waits)) {
      plan.left = plan.over = true;
      plan.reading.leave();
    }
  }

  async finish(patience_ms) {
    const deadline = performance.now() + patience_ms;
    const rooms = [[this.#modern], ...this.#staying.map((session) => [session.scope, session])];
    for (const [scope, session] of rooms) {
      while (scope.dispatched.size > 0 && performance.now() < deadline) {
        for (const alias of new Set(scope.dispatched.values())) await this.#ask(scope.reading(alias), { session });
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      for (const [id, alias] of scope.dispatched) this.#book.fault(`the outcome of ${id} at ${alias} never came`);
    }
  }

  /** Tells the gateway to end with calls in flight. Each that it took gets its answer; later ones are refused. */
  async leave() {
    this.#ending = true;
    const asked = Array.from({ length: 20 }, () => this.#ask(this.#modern.any()));
    await new Promise((resolve) => setTimeout(resolve, 300));
    this.#child.kill("SIGTERM");
    await Promise.all(asked);
  }

  left() {}

  async #session() {
    const clientInfo = { name: "soak", version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    const number = this.#book.begin("initialize", 0);
    const reply = await this.#post({}, { id: 0, method: "initialize", params }).ended;
    const named = { "Mcp-Session-Id": reply.headers?.["mcp-session-id"] };
    // While every session is in use there is none to be had.
    this.#book.end(number, reply.status === 200 ? "ok" : `status ${reply.status}`);
    if (reply.status !== 200) return { broken: true };
    const session = { named, scope: new Scope(this.#world, this.#book, this.#chance) };
    await this.#post(named, { method: "notifications/initialized" }).ended;
    for (const call of session.scope.furnish()) this.#ask(call, { session });
    return session;
  }

  /** A call of a session that is there for a while; it says that it leaves, or it does not. */
  async #pass() {
    this.#passing ??= { calls: 0, ready: this.#session() };
    const passing = this.#passing;
    passing.calls += 1;
    const last = passing.calls === PASSING_CALLS;
    if (last) this.#passing = undefined;
    const session = await passing.ready;
    if (session.broken || session.ended) return;
    await this.#ask(session.scope.any(), { session, mayLeave: true });
    // One that says nothing holds its place for half an hour.
    if (!last || this.#chance.oneIn(50)) return;
    session.ended = true;
    const over = this.#open("DELETE", session.named);
    over.on("error", () => {});
    over.on("response", (response) => response.resume());
    over.end();
  }

  /** A standing stream, for a while. */
  #listen(session) {
    const reading = new Reading(this.#open("GET", { ...session.named, Accept: "text/event-stream" }), true);
    setTimeout(() => reading.leave(), this.#chance.between(100, 5000));
  }

  /** Makes a call, and counts what becomes of it. */
  async #ask(call, { session, mayLeave = false } = {}) {
    const id = (this.#id += 1);
    const number = this.#book.begin(call.tool, call.patience_ms);
    const name = call.tool.split(" ")[0];
    const _meta = { ...(session ? {} : META), ...(call.progress ? { progressToken: id } : {}) };
    const headers = session ? session.named : { "MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": name };
    const reading = this.#post(headers, { id, method: "tools/call", params: { name, arguments: call.args, _meta } });
    const plan = { left: false, cancelled: false, over: false, reading, waits: call.patience_ms > 0 };
    this.#plans.add(plan);
    if (mayLeave && !call.kept && this.#chance.oneIn(8)) this.#giveUp(plan, session, id);
    let reply = await reading.ended;
    // Whoever has a session may come back for the rest, once it was told where it is.
    for (let back = 0; back < RETURNS && plan.left && !plan.over && session && reading.last && !answered(reply, id); back += 1) {
      reply = await this.#comeBack(session, plan);
      if (reply.status !== undefined && reply.status !== 200) break;
    }
    this.#plans.delete(plan);
    const message = answered(reply, id);
    if (message) {
      this.#book.end(number, outcome(message));
      call.then?.(message.result?.structuredContent ?? {}, message.result?.isError);
    } else if (session?.ended) {
      this.#book.end(number, "left");
    } else if (this.#ending && reply.status !== 200) {
      this.#book.end(number, "too late");
    } else if (plan.cancelled) {
      this.#book.end(number, "cancelled");
    } else if (plan.left) {
      this.#book.end(number, reply.status === undefined || reply.status === 200 ? "left" : `could not come back: ${reply.status}`);
    } else {
      this.#book.fault(`${call.tool} ended without an answer: ${reply.status} ${reply.fault ?? reading.text.slice(0, 200)}`);
      this.#book.end(number, `no answer, ${reply.status}`);
    }
  }

  #giveUp(plan, session, id) {
    setTimeout(() => {
      if (plan.reading.over) return;
      if (session && this.#chance.oneIn(2)) {
        plan.cancelled = true;
        this.#post(session.named, { method: "notifications/cancelled", params: { requestId: id } });
      } else {
        plan.left = true;
        plan.reading.leave();
      }
    }, this.#chance.between(0, 1500));
  }

  /** Takes a stream up again after the last event that was seen. */
  #comeBack({ named }, plan) {
    const headers = { ...named, Accept: "text/event-stream", "Last-Event-ID": plan.reading.last };
    plan.reading = new Reading(this.#open("GET", headers), true, plan.reading);
    const { reading } = plan;
    if (this.#chance.oneIn(3)) setTimeout(() => reading.leave(), this.#chance.between(0, 1000));
    return reading.ended;
  }

  #open(method, headers) {
    return http.request(this.#url, { method, headers, agent: false });
  }

  #post(headers, body) {
    const request = this.#open("POST", { ...BOTH, ...headers });
    const reading = new Reading(request);
    request.end(JSON.stringify({ jsonrpc: "2.0", ...body }));
    return reading;
  }
}

/** The answer to a request among what was read. */
function answered({ messages = [] }, id) {
  return messages.find((message) => message.id === id && message.method === undefined);
}

/** A response as it comes: JSON, or events of which the last id is kept. It goes on from an earlier one. */
class Reading {
  text = "";
  over = false;
  last;
  #request;
  #messages;

  constructor(request, send = false, earlier = undefined) {
    this.#request = request;
    this.#messages = earlier ? earlier.#messages : [];
    this.last = earlier?.last;
    this.ended = new Promise((resolve) => {
      const done = (reply) => {
        this.over = true;
        resolve({ messages: this.#messages, ...reply });
      };
      request.on("error", (error) => done({ fault: error.message }));
      request.on("response", (response) => this.#respond(response, done));
    });
    if (send) request.end();
  }

  leave() {
    this.#request.destroy();
  }

  #respond(response, done) {
    const { statusCode: status, headers } = response;
    const events = headers["content-type"]?.startsWith("text/event-stream");
    response.setEncoding("utf8").on("data", (text) => {
      this.text += text;
      if (events) this.#events();
    });
    response.on("error", () => {});
    response.on("close", () => {
      if (!events && response.complete && this.text.startsWith("{")) this.#messages.push(JSON.parse(this.text));
      done({ status, headers });
    });
  }

  #events() {
    for (let end = this.text.indexOf("\n\n"); end >= 0; end = this.text.indexOf("\n\n")) {
      const fields = this.text.slice(0, end).split("\n");
      this.text = this.text.slice(end + 2);
      for (const field of fields) {
        if (field.startsWith("id: ")) this.last = field.slice(4);
        if (!field.startsWith("data: {")) continue;
        const message = JSON.parse(field.slice(6));
        if (message.method === undefined) this.#messages.push(message);
      }
    }
  }
}
