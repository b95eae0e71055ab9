const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** A client of MCP over HTTP, of either era. */
export class Client {
  #runtime;
  #token;
  #ids = 0;
  session;

  /** @param {import("./runtime.mjs").Runtime} runtime @param {string} [token] */
  constructor(runtime, token) {
    this.#runtime = runtime;
    this.#token = token;
  }

  /** A client of the handshake era, with its session. */
  static async shaken(runtime, token) {
    const client = new Client(runtime, token);
    const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    const response = await client.post({ method: "initialize", params: hello });
    client.session = response.headers.get("mcp-session-id");
    await response.text();
    await (await client.post({ method: "notifications/initialized" }, { id: undefined })).text();
    return client;
  }

  /** One message, and its response as it comes. */
  post(message, { id = (this.#ids += 1), signal } = { id: (this.#ids += 1) }) {
    const modern = this.session === undefined && message.method !== "initialize";
    const params = modern ? { ...message.params, _meta: { ...message.params?._meta, ...META } } : message.params;
    const headers = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
    if (modern) Object.assign(headers, { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": message.method });
    if (modern && params.name) headers["Mcp-Name"] = params.name;
    const body = JSON.stringify({ jsonrpc: "2.0", id, ...message, params });
    return this.request("POST", { headers, body, signal });
  }

  request(method, { headers = {}, path = "/mcp", ...options } = {}) {
    const own = {};
    if (this.#token !== undefined) own.Authorization = `Bearer ${this.#token}`;
    if (this.session !== undefined) own["Mcp-Session-Id"] = this.session;
    return fetch(this.#runtime.url + path, { method, headers: { ...own, ...headers }, ...options });
  }

  /** Takes a stream up again, after the last event that was seen. */
  goOn(lastEventId) {
    return this.request("GET", { headers: { Accept: "text/event-stream", "Last-Event-ID": lastEventId } });
  }

  /** A tool's call, begun: its response as it comes. */
  begin(name, args = {}, { signal, progress = false } = {}) {
    const _meta = progress ? { progressToken: "p" } : {};
    return this.post({ method: "tools/call", params: { name, arguments: args, _meta } }, { id: (this.#ids += 1), signal });
  }

  /** The result of a tool. */
  async call(name, args) {
    const response = await this.begin(name, args);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
    const streams = response.headers.get("content-type").startsWith("text/event-stream");
    const { result, error } = streams ? events(text).at(-1) : JSON.parse(text);
    if (error) throw new Error(error.message);
    return { ...result.structuredContent, isError: result.isError ?? false };
  }

  connect(agents, ...names) {
    return Promise.all(names.map((alias) => this.call("connect_agent", { alias, agent_url: agents.url(alias) })));
  }
}

/** The messages in a stream of events, and the id of the last event. */
export function events(text) {
  const list = [];
  for (const block of text.split("\n\n")) {
    const id = /^id: (.*)$/m.exec(block)?.[1];
    const data = /^data: (.+)$/m.exec(block)?.[1];
    if (id !== undefined) list.lastEventId = id;
    if (data !== undefined) list.push(JSON.parse(data));
  }
  return list;
}

/** Reads a stream until something is in it, and leaves it open. */
export async function readUntil(response, holds) {
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (!holds(text)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`the stream ended: ${text}`);
    text += decoder.decode(value, { stream: true });
  }
  return { reader, text };
}
