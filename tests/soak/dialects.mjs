// A2A as an agent sees it, in the four dialects: 1.0 and 0.3, each as JSON-RPC and as HTTP+JSON.

export const DIALECTS = ["rpc10", "rest10", "rpc03", "rest03"];

const METHODS = {
  SendMessage: "send",
  SendStreamingMessage: "stream",
  GetTask: "get",
  CancelTask: "cancel",
  SubscribeToTask: "subscribe",
  "message/send": "send",
  "message/stream": "stream",
  "tasks/get": "get",
  "tasks/cancel": "cancel",
  "tasks/resubscribe": "subscribe",
};

const isRpc = (dialect) => dialect.startsWith("rpc");

/** What a request asks. `path` is what follows the agent's own. */
export function read(dialect, method, path, body) {
  if (path.includes(".well-known")) return { ask: path.endsWith("agent-card.json") ? "card" : "nothing" };
  const value = body === "" ? {} : JSON.parse(body);
  if (isRpc(dialect)) {
    return { ask: METHODS[value.method] ?? "nothing", id: value.id, taskId: value.params?.id, said: value.params?.message };
  }
  const [, taskId, verb] = /\/tasks\/([^:?]*)(?::(\w+))?/.exec(path) ?? [];
  const named = taskId && decodeURIComponent(taskId);
  if (path.includes("/message:")) return { ask: path.includes(":stream") ? "stream" : "send", said: value.message ?? value.request };
  if (named) return { ask: verb ?? "get", taskId: named };
  return { ask: method === "GET" ? "nothing" : "send" };
}

/** A card with one interface. */
export function card(dialect, name, url, streaming) {
  const shared = {
    name,
    description: "An agent that has bad days.",
    version: "1.0.0",
    capabilities: { streaming },
    skills: [{ id: "talk", name: "Talk", description: "Answers.", tags: ["soak"] }],
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
  };
  const transport = isRpc(dialect) ? "JSONRPC" : "HTTP+JSON";
  if (dialect.endsWith("03")) return { ...shared, protocolVersion: "0.3.0", url, preferredTransport: transport };
  return { ...shared, supportedInterfaces: [{ url, protocolBinding: transport, protocolVersion: "1.0" }] };
}

const kind = (dialect, name) => (dialect === "rpc03" ? { kind: name } : {});

/** A message of the agent. */
export function message(dialect, { contextId }, text) {
  const parts = [{ ...kind(dialect, "text"), text }];
  const role = dialect === "rpc03" ? "agent" : "ROLE_AGENT";
  const content = dialect === "rest03" ? { content: parts } : { parts };
  return { ...kind(dialect, "message"), messageId: `m-${contextId}`, role, contextId, ...content };
}

const state = (dialect, name) => (dialect === "rpc03" ? name : `TASK_STATE_${name.toUpperCase().replaceAll("-", "_")}`);

function status(dialect, ids, name, words) {
  const said = words === undefined ? {} : { [dialect === "rest03" ? "update" : "message"]: message(dialect, ids, words) };
  return { state: state(dialect, name), ...said };
}

const artifact = (dialect, text) => ({ artifactId: "answer", parts: [{ ...kind(dialect, "text"), text }] });

/** A task as it is now. */
export function task(dialect, { id, contextId, now, words, answer }) {
  const artifacts = answer === "" ? {} : { artifacts: [artifact(dialect, answer)] };
  return { ...kind(dialect, "task"), id, contextId, status: status(dialect, { contextId }, now, words), ...artifacts };
}

/** The event of a new state. */
export function statusEvent(dialect, { id, contextId, now }, words, final) {
  const update = { ...kind(dialect, "status-update"), taskId: id, contextId, status: status(dialect, { contextId }, now, words), final };
  return dialect === "rpc03" ? update : { statusUpdate: update };
}

/** The event of more text of the answer. */
export function artifactEvent(dialect, { id, contextId }, text, append, lastChunk) {
  const update = { ...kind(dialect, "artifact-update"), taskId: id, contextId, artifact: artifact(dialect, text), append, lastChunk };
  return dialect === "rpc03" ? update : { artifactUpdate: update };
}

/** A task or message as the result of a send or as an event. */
export function wrapped(dialect, name, value) {
  if (dialect === "rpc03") return value;
  return { [dialect === "rest03" && name === "message" ? "msg" : name]: value };
}

/** A result as it goes on the wire. */
export function enveloped(dialect, id, result) {
  return JSON.stringify(isRpc(dialect) ? { jsonrpc: "2.0", id, result } : result);
}

/** An error of the protocol: the HTTP status and the body. */
export function fault(dialect, id, code, words) {
  const error = { code, message: words };
  return isRpc(dialect) ? [200, JSON.stringify({ jsonrpc: "2.0", id, error })] : [404, JSON.stringify({ error })];
}
