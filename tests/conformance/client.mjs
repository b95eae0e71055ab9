// What the conformance suite runs as a client: the gateway with the suite's server behind it, and a host in front of it
// that calls that server's tools.
//   node tests/conformance/client.mjs URL
// The suite says in MCP_CONFORMANCE_PROTOCOL_VERSION which version it tests, and in MCP_CONFORMANCE_CONTEXT what it wants
// to be called. The exit status is 0 where its tools were listed and every call was answered.
import { Gateway } from "../../pkg/node.mjs";
import { logIn } from "../../pkg/node/login.mjs";

const url = process.argv[2];
const version = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION ?? "2025-11-25";
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
/** How long a server may take until it is ready: the suite starts everything at once. */
const PATIENCE_MS = 60_000;
const SERVER = "s";
/** The name that the suite's authorization servers know clients by that have a document of their own. */
const CLIENT = "https://conformance-test.local/client-metadata.json";
const CAPABILITIES = { elicitation: {}, sampling: {}, roots: {} };

/** What a user would fill in: the defaults of a form, and something for what must be there. */
function filledIn({ properties = {}, required = [] } = {}) {
  const some = { boolean: true, integer: 1, number: 1, array: [], object: {} };
  const content = {};
  for (const [name, schema] of Object.entries(properties)) {
    if (schema.default !== undefined) content[name] = schema.default;
    else if (required.includes(name)) content[name] = schema.enum?.[0] ?? schema.oneOf?.[0]?.const ?? some[schema.type] ?? "text";
  }
  return content;
}

/** What the host answers to a question. */
function answerTo({ method, params }) {
  if (method === "elicitation/create") return { action: "accept", content: filledIn(params.requestedSchema) };
  if (method === "roots/list") return { roots: [{ uri: "file:///tmp", name: "tmp" }] };
  return { role: "assistant", content: { type: "text", text: "four" }, model: "none", stopReason: "endTurn" };
}

/** Arguments that a tool takes. One that wants a schema gets that of the first tool, as it came. */
function argumentsFor({ inputSchema: { properties = {} } }, [first]) {
  const given = filledIn({ properties, required: Object.keys(properties) });
  if (properties.schema?.type === "object") given.schema = first.inputSchema;
  return given;
}

/** A host of either era over a transport in this process. */
class Host {
  #transport;
  #waiting = new Map();
  #next = 1;
  #isModern = version >= "2026";

  async connect(gateway) {
    this.#transport = gateway.transport();
    this.#transport.onmessage = (message) => this.#take(message);
    await this.#transport.start();
    if (this.#isModern) return;
    const clientInfo = { name: "conformance-host", version: "1.0.0" };
    await this.#request("initialize", { protocolVersion: version, capabilities: CAPABILITIES, clientInfo });
    await this.#transport.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  }

  async tools() {
    const { tools } = await this.#request("tools/list", {});
    return tools.filter(({ name }) => name.startsWith(`mcp_${SERVER}_`));
  }

  /** Calls a tool, again with answers for as long as it asks. */
  async call(name, args) {
    const params = { name, arguments: args };
    let result = await this.#request("tools/call", params);
    while (result.resultType === "input_required") {
      const answers = Object.entries(result.inputRequests ?? {}).map(([key, question]) => [key, answerTo(question)]);
      const more = { inputResponses: Object.fromEntries(answers) };
      if (result.requestState !== undefined) more.requestState = result.requestState;
      result = await this.#request("tools/call", { ...params, ...more });
    }
    return result;
  }

  #request(method, params) {
    const id = this.#next++;
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": version,
      "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
      "io.modelcontextprotocol/clientInfo": { name: "conformance-host", version: "1.0.0" },
    };
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#transport.send({ jsonrpc: "2.0", id, method, params: this.#isModern ? { ...params, _meta } : params });
    });
  }

  #take(message) {
    if (message.method !== undefined && message.id !== undefined) {
      this.#transport.send({ jsonrpc: "2.0", id: message.id, result: answerTo(message) });
    } else if (message.method === undefined) {
      const { resolve, reject } = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (message.error) reject(new Error(JSON.stringify(message.error)));
      else resolve(message.result);
    }
  }
}

/** A gateway whose one server is ready; it fails with what the gateway says where the server is lost. */
async function linked() {
  let settle;
  const isReady = new Promise((resolve, reject) => (settle = { resolve, reject }));
  let login;
  const timer = setTimeout(() => settle.reject(new Error("the server was not ready in time")), PATIENCE_MS);
  const onNotice = ({ level, event, fields }) => {
    console.error(level, event, JSON.stringify(fields));
    if (event === "link_ready") settle.resolve();
    if (event === "link_lost") settle.reject(new Error(fields.why));
    // Who goes to an address of the suite's authorization servers says yes.
    if (event === "authorization_needed") {
      login = logIn(gateway, SERVER, { say: () => {}, open: (url) => fetch(url).catch(() => {}) });
      login.catch(settle.reject);
    }
  };
  const { client_id = CLIENT, client_secret } = context;
  const oauth = client_secret === undefined ? { client_id } : { client_id, client_secret };
  const config = {
    // The suite's servers are on this machine, and what they are told is nobody's secret.
    network: { allow_private: true },
    mcp_servers: [{ name: SERVER, transport: { type: "http", url }, taint_scanning: false, timeout_secs: 60, oauth }],
  };
  const gateway = await Gateway.open({ config, onNotice });
  await isReady;
  clearTimeout(timer);
  return { gateway, loggedIn: () => login };
}

const { gateway, loggedIn } = await linked();
const host = new Host();
await host.connect(gateway);
const tools = await host.tools();
const named = (name) => tools.find((tool) => tool.name === `mcp_${SERVER}_${name.toLowerCase()}`);
const wanted = context.toolCalls?.map(({ name, arguments: args }) => [named(name), args]);
for (const [{ name }, args] of wanted ?? tools.map((tool) => [tool, argumentsFor(tool, tools)])) {
  // What a server refuses is its answer too.
  const call = () => host.call(name, args).catch((error) => error.message);
  let answer = await call();
  // What wants another login is called again after it, as a person would have it.
  if (answer.structuredContent?.error?.login_needed && (await loggedIn().then(() => true, () => false))) answer = await call();
  console.error("called", name, JSON.stringify(answer));
}
gateway.dispose();
process.exit(0);
