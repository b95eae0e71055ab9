import { Alarm } from "./alarm.mjs";
import { Lookups } from "./directory.mjs";
import { monotonic, startTimer } from "./host.mjs";
import { Logins } from "./logins.mjs";
import { Responder } from "./responder.mjs";

const TICK = '{"type":"tick"}';

/** The bits of what the core gives back for an input. */
const OUTPUTS = 1;
const TIMEOUT = 2;

/**
 * Drives a core: does what it asks for, in order, and tells it what happened.
 *
 * Everything happens between two entries of the event loop: an input goes in, all outputs are done, one timer is set
 * for the next deadline. The core sees no clock and no network but through this class.
 */
export class Driver {
  #core;
  #fetch;
  #openLink;
  #close;
  #complete;
  #configured;
  #now;
  #alarm;
  #onNotice;
  #onTrace;
  #onSave;
  #onApproval;
  #onDeath;
  #responder;
  #lookups;
  #logins;
  #peers = new Map();
  #exchanges = new Map();
  #links = new Map();
  #responses = new Map();
  #begun = new Set();
  #requests = 0;
  #idle = [];
  #pumping = false;
  #saving = false;
  #unsaved;
  #lost;
  #todo = OUTPUTS | TIMEOUT;
  #stopped = false;

  /**
   * @param {object} core a `Core`, which belongs to this driver from here on
   * @param {object} options
   * @param {(request: object, report: object) => { abort(): void }} options.fetch as `HttpClient.fetch`
   * @param {(server: { server: string, command: string, args: string[], env: string[] }, report: object) =>
   *   { write(text: string): void, close(): void }} [options.openLink] starts the process of an MCP server, and reports as
   *   `LinkReport` says, never before it returned
   * @param {() => void} [options.close] lets go of what `fetch` keeps
   * @param {(config: object) => object} [options.complete] adds to a later configuration what the host does
   * @param {(config: object) => void} [options.configured] is told of one that holds from here on
   * @param {() => number | bigint} [options.now] milliseconds that never step back
   * @param {(callback: () => void, ms: number) => () => void} [options.setTimer] calls back once, and returns what cancels it
   * @param {(notice: { level: string, event: string, fields: object }) => void} [options.onNotice]
   * @param {(line: string) => void} [options.onTrace] takes the lines of the trace; without it none is written
   * @param {(key: string, pieces: string[]) => unknown} [options.onSave] keeps pieces under a key, in place of what is
   *   there; where there are none, nothing under it nor under any that begins with it and `/`. It is done when it returns,
   *   or when the promise that it returns is fulfilled: until then nothing goes out. If it fails, the gateway ends.
   * @param {(work: object) => unknown} [options.onWork] does the work of served tasks, as `GatewayOptions.onWork`
   * @param {object} [options.directory] a directory of the embedder's, as `GatewayOptions.directory`
   * @param {object} [options.tokens] keeps the tokens for MCP servers, as `GatewayOptions.tokens`
   * @param {(request: object) => unknown} [options.onApproval] decides calls that wait, as `GatewayOptions.onApproval`
   * @param {(message: string) => void} [options.onDeath] the core broke or its state could not be kept: nothing goes in or
   *   out any more
   */
  constructor(core, options) {
    const { fetch, openLink, close, complete = (config) => config, configured, now = monotonic, setTimer = startTimer, onNotice = () => {} } = options;
    const { onTrace, onSave, onWork, onApproval, directory, tokens, onDeath } = options;
    this.#core = core;
    this.#fetch = fetch;
    this.#openLink = openLink;
    this.#close = close;
    this.#complete = complete;
    this.#configured = configured;
    this.#now = now;
    this.#alarm = new Alarm({ now, setTimer, ring: () => this.#ring(), complain: (error) => this.#complain(error) });
    this.#onNotice = onNotice;
    this.#onSave = onSave;
    this.#onApproval = onApproval;
    this.#onDeath = onDeath;
    this.#responder = new Responder(onWork, (input) => this.#input(input, true), (error) => this.#complain(error));
    this.#lookups = new Lookups(directory, (input) => this.#input(input), (error) => this.#complain(error));
    this.#logins = new Logins(tokens, (input) => this.#input(input, input.type === "log_in"), (error) => this.#complain(error));
    if (onTrace) this.trace(onTrace);
    // What the core has to do from its birth on waits for no input. Whoever makes a driver has this turn to prepare it.
    queueMicrotask(() => {
      if (!this.#stopped && !this.#pumping) this.#go();
    });
  }

  /** Why the gateway ended without being told to: the message of a panic, or that its state or an output could not be kept. */
  get dead() {
    return this.#unsaved ?? this.#lost ?? this.#core.dead;
  }

  /** Whether it ended because its state could not be kept. */
  get unsaved() {
    return this.#unsaved !== undefined;
  }

  /** Whether nothing goes in or out any more. */
  get stopped() {
    return this.#stopped;
  }

  /**
   * An MCP client is there.
   *
   * @param {number} peer a number that no open peer has
   * @param {string} scope
   * @param {(text: string) => void} write
   * @param {() => void} [end] the gateway ended before the client did
   * @throws {GatewayError} `misuse`
   */
  open(peer, scope, write, end) {
    const text = JSON.stringify({ type: "open", peer, scope });
    this.#enter((core, now) => {
      const todo = core.input(now, text);
      this.#peers.set(peer, { write, end });
      return todo;
    }, true);
  }

  /** A message from a client. @param {number} peer @param {string} text */
  message(peer, text) {
    this.#enter((core, now) => core.message(now, peer, text));
  }

  /** A message that was too long to be kept: its first and last bytes, and how many it had. @param {number} peer */
  messageTooLong(peer, start, end, bytes) {
    this.#input({ type: "message_too_long", peer, start, end, bytes });
  }

  /** A client left. What it still gets is dropped. @param {number} peer */
  close(peer) {
    this.#peers.delete(peer);
    this.#input({ type: "closed", peer });
  }

  /**
   * The head of an incoming HTTP request.
   *
   * @param {string} method @param {string} target @param {[string, string][]} headers
   * @param {{ head(status: number, headers: [string, string][]): void, body(text: string): void, end(): void,
   *   flush(): void, gone?(): void }} response takes what is answered; `flush` comes when nothing more is known for
   *   now, `gone` when the gateway ended before the answer did
   * @returns {number} the request's number
   */
  request(method, target, headers, response) {
    const request = (this.#requests += 1);
    this.#responses.set(request, response);
    this.#input({ type: "request", request, method, target, headers });
    return request;
  }

  /** Some of its body. @param {number} request @param {Uint8Array} bytes */
  requestBody(request, bytes) {
    if (this.#responses.has(request)) this.#enter((core, now) => core.requestBody(now, request, bytes));
  }

  /** Its body is complete. @param {number} request */
  requestEnd(request) {
    if (this.#responses.has(request)) this.#input({ type: "request_end", request });
  }

  /** Whoever asked left. @param {number} request */
  requestGone(request) {
    if (this.#responses.delete(request)) this.#input({ type: "request_gone", request });
  }

  /** Requests are answered and streams ended; later requests are refused. */
  stopServing() {
    this.#input({ type: "stop" });
  }

  /** Registers a card of the program's own. @param {string} card JSON text @throws {Error} named `Misuse` */
  register(card) {
    this.#input({ type: "register", card }, true);
  }

  /** Removes a card, whoever registered it. @param {string} name @throws {Error} named `Misuse` */
  unregister(name) {
    this.#input({ type: "unregister", name }, true);
  }

  /**
   * Goes on with another configuration. One with faults changes nothing, is told in the notice `configuration_refused`,
   * and throws.
   *
   * @param {object} config @throws {GatewayError} `config`
   */
  configure(config) {
    try {
      const whole = this.#complete(config);
      this.#enter((core, now) => {
        const todo = core.configure(now, whole);
        this.#configured?.(whole);
        return todo;
      }, true);
    } catch (error) {
      const fields = { faults: String(error.message).split("; ") };
      if (error.code === "config") this.#guarded(() => this.#onNotice({ type: "notice", level: "error", event: "configuration_refused", fields }));
      throw error;
    }
  }

  /** All state, in pieces of JSON text. @param {{ secrets?: boolean }} [options] */
  snapshot(options) {
    return this.#core.snapshot(options);
  }

  /** What the policy would say of a call. @param {object} question @returns {object} */
  explain(question) {
    return JSON.parse(this.#core.explain(JSON.stringify(question)));
  }

  /** The tools that are held back because they changed. @returns {object[]} */
  heldTools() {
    return JSON.parse(this.#core.heldTools());
  }

  /** Accepts one as it is. @param {{ server: string, tool: string, digest: string }} held @throws {Error} named `Misuse` */
  acceptTool({ server, tool, digest }) {
    this.#input({ type: "accept", server, tool, digest }, true);
  }

  /** What is pinned, by an earlier gateway or by another one. @param {string[]} pieces @throws {Error} named `Misuse` */
  pinned(pieces) {
    this.#input({ type: "pinned", pieces }, true);
  }

  /** Begins a login at an MCP server. @returns {Promise<string>} where the person is to go */
  logIn(server, redirectUri) {
    return this.#logins.begin(server, redirectUri);
  }

  /** The person came back. @param {string} server @param {string} query */
  finishLogin(server, query) {
    return this.#logins.end(server, query);
  }

  /** Whether a login waits for an answer with that query. */
  isLoginExpected(server, query) {
    return this.#logins.isExpected(server, query);
  }

  /** Who gets the lines of the trace; undefined stops writing it. @param {(line: string) => void} [onTrace] */
  trace(onTrace) {
    this.#onTrace = onTrace;
    this.#core.trace(onTrace !== undefined);
  }

  /** Ends at once: aborts what runs, and lets go of everything. */
  dispose() {
    if (!this.#stopped) this.#end();
  }

  /**
   * Every client left: aborts what was under way, gives last requests (those that cancel tasks) a moment, and ends.
   *
   * @param {number} grace_ms how long the last requests may take
   */
  async stop(grace_ms) {
    const underWay = [...this.#exchanges.keys()];
    for (const peer of [...this.#peers.keys()]) this.close(peer);
    for (const exchange of underWay) this.#abort(exchange);
    if (this.#exchanges.size > 0 || this.#saving) {
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, grace_ms);
        this.#idle.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    this.#end();
  }

  #input(input, demanding = false) {
    const text = JSON.stringify(input);
    this.#enter((core, now) => core.input(now, text), demanding);
  }

  #enter(call, demanding = false) {
    if (this.#stopped) return;
    try {
      this.#todo |= call(this.#core, this.#now());
    } catch (error) {
      this.#fault(error, demanding);
      return;
    }
    if (!this.#pumping) this.#go();
  }

  #go() {
    try {
      if (this.#todo !== 0) this.#pump();
      if (!this.#stopped) this.#writeTrace();
    } catch (error) {
      this.#fault(error);
    }
  }

  /**
   * Does what the core asks for. An output whose doing leads back in here adds outputs for the loop that runs. While
   * something is being saved everything else waits: it may depend on it.
   */
  #pump() {
    this.#pumping = true;
    try {
      while (!this.#saving) {
        const next = this.#next();
        if (next === undefined || this.#stopped) break;
        if (Array.isArray(next)) this.#say(next);
        else this.#perform(next);
        if (this.#stopped) return;
      }
      if (!this.#saving && !this.#stopped) this.#flush();
    } finally {
      this.#pumping = false;
    }
    // Whatever is called may end this gateway.
    if (this.#todo & TIMEOUT && !this.#stopped) this.#arm();
    this.#todo = 0;
  }

  /** The next output. One that the engine cannot hold is gone, and whoever waits for it would wait for ever: that ends it. */
  #next() {
    try {
      const next = this.#core.next();
      return typeof next === "string" ? JSON.parse(next) : next;
    } catch (error) {
      if (this.#core.dead !== undefined) throw error;
      this.#lost = `what it said could not be taken over: ${error?.message ?? error}`;
      this.#end();
      this.#guarded(() => this.#onDeath?.(this.#lost));
      return undefined;
    }
  }

  #flush() {
    for (const response of this.#begun) this.#guarded(() => response.flush());
    this.#begun.clear();
  }

  #say([peer, request, text]) {
    if (request === undefined) this.#guarded(() => this.#peers.get(peer)?.write(text));
    else this.#guarded(() => this.#responses.get(request)?.body(text));
  }

  #perform(output) {
    switch (output.type) {
      case "fetch":
        this.#start(output);
        break;
      case "abort":
        this.#abort(output.exchange);
        break;
      case "response_head": {
        const response = this.#responses.get(output.request);
        if (response) this.#begun.add(response);
        this.#guarded(() => response?.head(output.status, output.headers));
        break;
      }
      case "response_end": {
        const response = this.#responses.get(output.request);
        this.#responses.delete(output.request);
        this.#guarded(() => response?.end());
        break;
      }
      case "save":
        this.#save(output);
        break;
      case "work":
        this.#responder.begin(output.work, output.order);
        break;
      case "work_abort":
        this.#responder.abort(output.work);
        break;
      case "open_link":
        this.#link(output);
        break;
      case "write_link":
        this.#guarded(() => this.#links.get(output.link)?.write(output.text));
        break;
      case "close_link":
        this.#unlink(output.link);
        break;
      case "load_tokens":
      case "save_tokens":
        this.#logins.perform(output);
        break;
      case "lookup":
        this.#lookups.look(output);
        break;
      case "notice":
        this.#guarded(() => this.#onNotice(output));
        this.#logins.told(output);
        if (output.event === "approval_proposed" || output.event === "approval_pending") this.#ask(output.fields);
        break;
    }
  }

  /** Has a call that waits decided by the embedder's function; what it leaves open others may decide. */
  async #ask(request) {
    if (this.#onApproval === undefined) return;
    try {
      const said = await this.#onApproval(request);
      if (said === undefined) return;
      const { approved, reason } = typeof said === "object" && said !== null ? said : { approved: said };
      const decision = { type: "decision", approval: request.id, approved: approved === true };
      this.#input(reason === undefined ? decision : { ...decision, reason: String(reason) });
    } catch (error) {
      this.#complain(error);
    }
  }

  #save({ key, pieces }) {
    try {
      const saved = this.#onSave?.(key, pieces);
      if (typeof saved?.then !== "function") return;
      this.#saving = true;
      Promise.resolve(saved).then(
        () => this.#saved(),
        (error) => this.#fail(error),
      );
    } catch (error) {
      this.#fail(error);
    }
  }

  #saved() {
    this.#saving = false;
    if (this.#stopped) return;
    this.#todo |= OUTPUTS;
    this.#go();
    this.#settle();
  }

  /** What could not be kept must not be relied on either: nothing that came after it goes out. */
  #fail(error) {
    if (this.#stopped) return;
    this.#unsaved = `the state could not be kept: ${error?.message ?? error}`;
    this.#end();
    this.#guarded(() => this.#onDeath?.(this.#unsaved));
  }

  #start({ type, exchange, ...request }) {
    const report = {
      head: (status, fields) => this.#report(exchange, { type: "head", exchange, status, headers: fields }),
      body: (bytes) => {
        if (this.#exchanges.has(exchange)) this.#enter((core, now) => core.body(now, exchange, bytes));
      },
      end: () => this.#report(exchange, { type: "end", exchange }, true),
      failed: (cause, detail) => this.#report(exchange, { type: "failed", exchange, cause, detail }, true),
    };
    try {
      const running = this.#fetch(request, report);
      if (this.#stopped) running.abort();
      else this.#exchanges.set(exchange, running);
    } catch (error) {
      this.#input({ type: "failed", exchange, cause: "other", detail: String(error?.message ?? error) });
    }
  }

  /** Starts the process of an MCP server. */
  #link({ link, server, command, args, env }) {
    const tell = (type, fields) => {
      if (this.#links.has(link)) this.#input({ type, link, ...fields });
    };
    const report = {
      opened: () => tell("link_opened"),
      line: (text) => tell("link_line", { text }),
      lineTooLong: (start, end, bytes) => tell("link_line_too_long", { start, end, bytes }),
      stderr: (text) => tell("link_stderr", { text }),
      closed: (detail) => {
        if (this.#links.delete(link)) this.#input({ type: "link_closed", link, detail });
      },
      unset: (name) => {
        const notice = { type: "notice", level: "warning", event: "link_variable_unset", fields: { server, name } };
        this.#guarded(() => this.#onNotice(notice));
      },
    };
    try {
      if (!this.#openLink) throw new Error("this host starts no processes: the Node host does");
      this.#links.set(link, this.#openLink({ server, command, args, env }, report));
    } catch (error) {
      this.#input({ type: "link_closed", link, detail: String(error?.message ?? error) });
    }
  }

  #unlink(link) {
    const running = this.#links.get(link);
    this.#links.delete(link);
    if (running) this.#guarded(() => running.close());
  }

  #report(exchange, input, last = false) {
    if (!this.#exchanges.has(exchange)) return;
    if (last) this.#exchanges.delete(exchange);
    this.#input(input);
    this.#settle();
  }

  #abort(exchange) {
    const running = this.#exchanges.get(exchange);
    this.#exchanges.delete(exchange);
    if (running) this.#guarded(() => running.abort());
    this.#settle();
  }

  #settle() {
    if (this.#exchanges.size === 0 && !this.#saving) for (const settled of this.#idle.splice(0)) settled();
  }

  /** Sets the alarm to the core's next deadline. */
  #arm() {
    const text = this.#core.timeout();
    this.#alarm.set(text === undefined ? undefined : JSON.parse(text).at);
  }

  #ring() {
    // A timer may be early: it is set again then, though the core's deadline is the same.
    this.#todo |= TIMEOUT;
    this.#enter((core, now) => core.input(now, TICK));
  }

  #writeTrace() {
    if (!this.#onTrace) return;
    for (let line = this.#core.traceLine(); line !== undefined; line = this.#core.traceLine()) {
      this.#guarded(() => this.#onTrace(line));
      if (this.#stopped || !this.#onTrace) return;
    }
  }

  /** What somebody's own function throws is worth a line in the log and nothing more. */
  #guarded(call) {
    try {
      call();
    } catch (error) {
      this.#complain(error);
    }
  }

  /** Either the core refused an input, which changed nothing, or it broke, which ends it. */
  #fault(error, demanding = false) {
    const { dead } = this.#core;
    if (dead === undefined) {
      if (demanding) throw error;
      this.#complain(error);
      return;
    }
    this.#end();
    this.#guarded(() => this.#onDeath?.(dead));
    if (demanding) throw error;
  }

  #complain(error) {
    try {
      this.#onNotice({ level: "error", event: "host_error", fields: { message: String(error?.message ?? error) } });
    } catch {
      // The log itself is broken: there is nobody left to tell.
    }
  }

  #end() {
    this.#stopped = true;
    this.#alarm.stop();
    for (const running of this.#exchanges.values()) this.#guarded(() => running.abort());
    this.#exchanges.clear();
    for (const link of [...this.#links.keys()]) this.#unlink(link);
    this.#responder.end();
    this.#logins.stop(new Error("the gateway ended"));
    const [peers, responses] = [[...this.#peers.values()], [...this.#responses.values()]];
    this.#peers.clear();
    this.#responses.clear();
    try {
      this.#core.free();
    } catch {
      // A core that broke while it was borrowed cannot be freed.
    }
    for (const { end } of peers) this.#guarded(() => end?.());
    for (const response of responses) this.#guarded(() => response.gone?.());
    this.#guarded(() => this.#close?.());
  }
}
