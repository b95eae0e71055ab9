import { Client, REVISION } from "../sim/client.mjs";
import { eventData } from "./events.mjs";

/**
 * A session with a gateway elsewhere, over MCP's Streamable HTTP. It looks like the session of the page, but its time is
 * the real one: it cannot be held, and its agents' side cannot be seen from here.
 */
export class RemoteSession extends EventTarget {
  speed = 1;
  playing = true;
  isPast = false;
  isRemote = true;
  known = [];
  agents = [];
  inbox = [];
  tasks = [];
  visits = new Map();
  /** what is wrong: a token is needed, or words about it */
  trouble;
  /** whether a token was given and is not known */
  isRefused = false;
  #endpoint;
  #token;
  #session;
  #client;
  #began = performance.now();
  #running = 0;
  #idle_at = 0;

  /** @param {URL} endpoint */
  constructor(endpoint) {
    super();
    this.#endpoint = endpoint;
    this.#connect();
    // The session is the gateway's to keep; who leaves says so.
    addEventListener("pagehide", () => this.#leave());
  }

  get now() {
    return this.#running > 0 ? Math.round(performance.now() - this.#began) : this.#idle_at;
  }

  get end() {
    return this.now;
  }

  /** Where the gateway is. */
  get host() {
    return this.#endpoint.host;
  }

  get isBusy() {
    return this.#running > 0;
  }

  get tools() {
    return this.#client.tools;
  }

  /** Whether it says who it is. */
  get hasToken() {
    return this.#token !== undefined;
  }

  /** Asks the gateway for something beside its MCP endpoint, as whoever this page speaks for. @param {string} path */
  ask(path, init = {}) {
    const headers = { ...init.headers, ...(this.#token && { Authorization: `Bearer ${this.#token}` }) };
    return fetch(new URL(path, new URL("/", this.#endpoint)), { ...init, headers, credentials: "omit", cache: "no-store" });
  }

  /** Whether this gateway takes tasks of others, for somebody to answer. */
  get hasInbox() {
    return this.tools.some(({ name }) => name === "list_tasks");
  }

  get calls() {
    return this.#client.calls;
  }

  /** @param {string} [token] kept in memory alone; without one, what was given before is tried again */
  authorize(token) {
    this.#token = token ?? this.#token;
    this.#connect();
  }

  command(command) {
    if (command.type === "call") {
      const onEnd = () => this.#relist(command.tool);
      return this.#changed(this.#client.call(command.tool, command.arguments, { onEnd }));
    }
    if (command.type === "cancel") return this.#changed(this.#client.cancel(command.id));
    return this.#changed(this.#client.raw(command.text));
  }

  pass() {
    if (this.#running > 0) this.#changed();
  }

  touch() {
    this.#changed();
  }

  #connect() {
    this.trouble = undefined;
    this.isRefused = false;
    this.known = [];
    this.#session = undefined;
    this.#client = new Client({
      send: (text) => this.#send(text),
      now: () => this.now,
      onReady: () => {
        this.#list("list_agents");
        if (this.hasInbox) this.#list("list_tasks");
      },
    });
    this.#client.start();
  }

  async #send(text) {
    if (this.#running === 0) this.#began = performance.now() - this.#idle_at;
    this.#running += 1;
    this.known.push({ now: this.now, input: { type: "message", peer: 1, text } });
    this.#changed();
    try {
      await this.#post(text);
    } catch {
      this.#fail(`The gateway at ${this.#endpoint.host} cannot be reached.`);
    } finally {
      this.#idle_at = this.now;
      this.#running -= 1;
      this.#changed();
    }
  }

  async #post(text) {
    const response = await fetch(this.#endpoint, {
      method: "POST",
      headers: this.#headers(),
      body: text,
      credentials: "omit",
      cache: "no-store",
    });
    this.#session = response.headers.get("mcp-session-id") ?? this.#session;
    const type = response.headers.get("content-type") ?? "";
    if (response.status === 401) this.#fail("token");
    else if (type.startsWith("text/event-stream")) for await (const data of eventData(response.body)) this.#receive(data);
    else if (type.startsWith("application/json")) this.#receive(await response.text());
    else if (!response.ok) this.#fail(`The gateway answers with status ${response.status}: ${await response.text()}.`);
  }

  #headers() {
    return {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      ...(this.#session && { "Mcp-Session-Id": this.#session, "MCP-Protocol-Version": REVISION }),
      ...(this.#token && { Authorization: `Bearer ${this.#token}` }),
    };
  }

  #receive(text) {
    this.known.push({ now: this.now, output: { type: "message", peer: 1, text } });
    this.#client.receive(text);
    this.#learn();
    this.#changed();
  }

  /** Agents and tasks as they were listed last; what was said of a task since then is newer. */
  #learn() {
    for (const { tool, result } of this.#client.calls.values()) {
      const { agents, tasks, task } = Object(result?.structuredContent);
      if (tool === "list_agents") this.agents = agents ?? this.agents;
      else if (tool === "list_tasks") this.tasks = tasks?.map((each, i) => ({ number: tasks.length - i, task: each })) ?? this.tasks;
      else if (tool === "respond_task" && task)
        this.tasks = this.tasks.map((known) => (known.task.id === task.id ? { ...known, task } : known));
    }
  }

  /** What a call changed is listed again. */
  #relist(tool) {
    if (tool === "connect_agent" || tool === "disconnect_agent") this.#list("list_agents");
  }

  #list(tool) {
    this.#client.call(tool, {}, { byUser: false });
  }

  #fail(trouble) {
    this.trouble = trouble;
    this.isRefused = trouble === "token" && this.#token !== undefined;
    if (trouble !== "token") this.known.push({ now: this.now, note: trouble, tone: "bad" });
    this.#client.lose(trouble === "token" ? "A token is needed." : "The gateway is gone, and the answer with it.");
  }

  #leave() {
    if (this.#session) fetch(this.#endpoint, { method: "DELETE", headers: this.#headers(), keepalive: true }).catch(() => {});
  }

  #changed(given) {
    this.dispatchEvent(new Event("change"));
    return given;
  }
}
