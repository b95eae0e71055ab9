import { Client, structuredText } from "./client.mjs";
import { Driver } from "./driver.mjs";
import { GatewayError, checkFunctions, checkOptions } from "./error.mjs";
import { checkOutbound } from "./module.mjs";
import { openDriver } from "./open.mjs";
import { respond } from "./serving.mjs";
import { Transport, openPort } from "./transport.mjs";

/** The scope of calls and connections that name none. */
const SCOPE = "local";

const OPTIONS = ["config", "host", "scope", "snapshot", "onSave", "onWork", "onApproval", "directory", "tokens", "onNotice", "onTrace", "onDead"];

/** The methods that stand for a tool each. */
const SHORTHANDS = {
  agents: "list_agents",
  broadcast: "broadcast_message",
  callerCard: "view_caller_card",
  cancel: "cancel_task",
  card: "get_agent_card",
  clearHistory: "clear_history",
  connect: "connect_agent",
  createCallerCard: "create_caller_card",
  disconnect: "disconnect_agent",
  discover: "discover_agents",
  history: "get_history",
  inbox: "check_inbox",
  ping: "ping_agent",
  readInbox: "read_inbox",
  removeCallerCard: "remove_caller_card",
  respond: "respond_task",
  send: "send_message",
  task: "get_task",
  tasks: "list_tasks",
};

/**
 * A gateway in this program: a core, a driver and a host around it, and an MCP client of its own. `index.d.ts` has the
 * words for its users.
 *
 * What differs between Node, page and worker is in `platform`: `load` makes the module ready, `defaults` are merged
 * under the configuration, `connect` gives the fetch where it is not the global one.
 */
export class Gateway {
  static platform = {};

  #driver;
  #client;
  #scope;
  #peers = 0;

  static async open(options) {
    const { scope = SCOPE, ...rest } = checkOptions(options, OPTIONS, "Gateway.open");
    await this.platform.load?.();
    return new this(openDriver(rest, this.platform), scope);
  }

  static async checkOutboundText(payload, sink = "mcp_tool_call", skipRules = []) {
    await this.platform.load?.();
    const isJson = typeof payload !== "string";
    const text = isJson ? JSON.stringify(payload) : payload;
    if (text === undefined) throw new GatewayError("misuse", "`payload` must be a text or a JSON value");
    return checkOutbound(text, isJson, sink, skipRules);
  }

  constructor(driver, scope) {
    if (!(driver instanceof Driver)) throw new GatewayError("misuse", "a gateway is not made but opened: await Gateway.open()");
    this.#driver = driver;
    this.#scope = scope;
    this.fetch = this.fetch.bind(this);
    this.directory = Object.freeze({
      register: (card) => this.#direct((driver) => driver.register(typeof card === "string" ? card : JSON.stringify(card) ?? "")),
      unregister: (name) => this.#direct((driver) => driver.unregister(String(name))),
    });
    try {
      const take = (text) => this.#client.take(text);
      const connection = this.#connect(scope, take, () => this.#client.end(this.#ended()));
      this.#client = new Client((text) => connection.send(text));
    } catch (error) {
      this.dispose();
      throw error;
    }
  }

  get dead() {
    return this.#driver.dead;
  }

  async tools(options) {
    const tools = [];
    let cursor;
    do {
      const page = await this.#request("tools/list", cursor === undefined ? {} : { cursor }, options);
      tools.push(...page.tools);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return tools;
  }

  async call(name, args = {}, options) {
    const result = await this.#request("tools/call", { name, arguments: args }, options);
    // It is rarely wanted, so it is looked for when it is.
    const json = { get: () => structuredText(result) };
    if (result.isError) throw Object.defineProperty(GatewayError.ofResult(result), "json", json);
    const { content, structuredContent } = result;
    return Object.defineProperty({ text: content[0]?.text ?? "", structured: structuredContent, content }, "json", json);
  }

  async fetch(request) {
    this.#alive();
    return respond(this.#driver, request, () => this.#ended());
  }

  transport(options) {
    const { scope = this.#scope } = checkOptions(options, ["scope"], "transport");
    this.#alive();
    return new Transport((write, end) => this.#connect(scope, write, end));
  }

  port(options) {
    const { scope = this.#scope } = checkOptions(options, ["scope"], "port");
    this.#alive();
    return openPort((write, end) => this.#connect(scope, write, end));
  }

  async logIn(server, redirectUri) {
    this.#alive();
    return this.#driver.logIn(String(server), String(redirectUri));
  }

  async finishLogin(server, query) {
    this.#alive();
    return this.#driver.finishLogin(String(server), String(query).replace(/^[^?]*\?/, ""));
  }

  isLoginExpected(server, query) {
    return this.#driver.isLoginExpected(String(server), String(query).replace(/^[^?]*\?/, ""));
  }

  configure(config) {
    this.#direct((driver) => driver.configure(config));
  }

  snapshot(options) {
    checkOptions(options, ["secrets"], "snapshot");
    this.#alive();
    return this.#driver.snapshot(options);
  }

  explain(tool, options) {
    const given = checkOptions(options, ["agent", "sender", "channel", "arguments", "approvedBefore"], "explain");
    const { approvedBefore: approved_before, ...question } = given;
    this.#alive();
    return this.#driver.explain({ tool, approved_before, ...question });
  }

  heldTools() {
    this.#alive();
    return this.#driver.heldTools();
  }

  acceptTool({ server, tool, digest }) {
    this.#direct((driver) => driver.acceptTool({ server, tool, digest }));
  }

  trace(onTrace) {
    checkFunctions({ onTrace }, ["onTrace"]);
    this.#alive();
    this.#driver.trace(onTrace);
  }

  dispose() {
    this.#driver.dispose();
  }

  async #request(method, params, options) {
    this.#alive();
    return this.#client.request(method, params, options);
  }

  /** A connection of an MCP client, numbered like no other. */
  #connect(scope, write, end) {
    const peer = (this.#peers += 1);
    this.#driver.open(peer, scope, write, end);
    let open = true;
    return {
      send: (text) => {
        if (open) this.#driver.message(peer, text);
      },
      close: () => {
        if (open) this.#driver.close(peer);
        open = false;
      },
    };
  }

  #direct(call) {
    this.#alive();
    call(this.#driver);
  }

  #alive() {
    if (this.#driver.stopped) throw this.#ended();
  }

  #ended() {
    const { dead, unsaved } = this.#driver;
    if (unsaved) return new GatewayError("storage", `${dead}: open a new one from what was kept`);
    if (dead === undefined) return new GatewayError("disposed", "this gateway was disposed; open a new one");
    return new GatewayError("dead", `a fault in Narrows ended this gateway; open a new one (${dead})`);
  }
}

for (const [method, tool] of Object.entries(SHORTHANDS)) {
  Object.defineProperty(Gateway.prototype, method, {
    value(args, options) {
      return this.call(tool, args, options);
    },
    configurable: true,
    writable: true,
  });
}
if (Symbol.dispose) Gateway.prototype[Symbol.dispose] = Gateway.prototype.dispose;
