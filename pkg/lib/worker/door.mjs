import { GatewayError } from "../error.mjs";
import { openDriver } from "../open.mjs";
import { respond } from "../serving.mjs";
import { DIRECTORY, asksDirectory } from "./directory.mjs";

const SESSION = "Mcp-Session-Id";

/** The versions that know no sessions name themselves in this header. */
const VERSION = "MCP-Protocol-Version";
const FIRST_WITHOUT_SESSIONS = "2026-07-28";

/** Where A2A is served beside the configured path: the cards, and the API. */
const AGENT_PATHS = ["/.well-known/agent-card.json", "/.well-known/agent.json", "/api/a2a"];
const LISTEN_PATH = "/a2a";

/** Names to which nobody can lead a page of somebody else's: the platform's own, and those of this machine. */
const OWN_NAMES = /^(localhost|127\.0\.0\.1|\[::1\]|.+\.workers\.dev)$/;

/**
 * The handler of a worker whose gateways live in Durable Objects, one for each caller.
 *
 * With tokens a caller is the principal of its token, and its object has the principal's name. Without tokens a caller
 * of MCP is its session: its object is a new one, whose id stands in the name of the session. The runtime signs such ids,
 * so that nobody wakes an object but who was told of it. Callers of A2A have no sessions: without tokens they share one
 * object, where there is to be one.
 *
 * The directory has one object for all. Everybody reads it; what else is asked of it wakes it with a known token only.
 *
 * @param {object} options
 * @param {(env: object) => DurableObjectNamespace} options.objects
 * @param {(env: object) => object} options.configure as `GatewayObject.configure`
 * @param {(env: object) => string | undefined} [options.publicAgent] the name of the object that is everybody's agent
 * @param {object} platform as `Gateway.platform`
 * @returns {(request: Request, env: object) => Promise<Response>}
 */
export function door({ objects, configure, publicAgent = () => undefined }, platform) {
  let lobby;
  return async (asked, env) => {
    const config = configure(env) ?? {};
    const tokens = config.auth?.tokens ?? [];
    const request = tokens.length === 0 && isOwnPage(asked) ? withoutOrigin(asked) : asked;
    const answer = request.method !== "OPTIONS" && (await inObject());
    if (answer) return answer;
    lobby ??= openLobby(config, tokens.length > 0, platform);
    return respond(lobby, request, () => new GatewayError("dead", "a fault in Narrows ended this gateway"));

    /** The answer of the caller's object, or nothing where the caller has none. */
    async function inObject() {
      if (asksDirectory(request, config)) {
        const reads = request.method === "GET" || request.method === "HEAD";
        const known = reads || (await principalOf(request, tokens)) !== undefined;
        return known ? objects(env).getByName(DIRECTORY).fetch(request) : undefined;
      }
      if (tokens.length > 0) {
        const principal = await principalOf(request, tokens);
        return principal === undefined ? undefined : objects(env).getByName(principal).fetch(request);
      }
      const path = new URL(request.url).pathname.replace(/\/+$/, "");
      if (path === "/mcp") return bySession(request, objects(env));
      const name = isAgents(path, config.a2a) ? publicAgent(env) : undefined;
      return name === undefined ? undefined : objects(env).getByName(publicly(config.a2a, name)).fetch(request);
    }
  };
}

/**
 * The gateway of those who have no object: they are refused, told that all is well, or shown the card. Nothing is kept
 * there, so it takes no tasks: with tokens, whoever may send one has an object, and without it is no agent.
 */
function openLobby(config, hasTokens, platform) {
  const a2a = hasTokens ? config.a2a : { enabled: false };
  const isWorking = [a2a, ...(a2a?.skills ?? [])].some((each) => each?.responder === "function");
  const onWork = isWorking ? () => undefined : undefined;
  return openDriver({ config: { ...config, a2a }, onWork, host: { setTimer: () => () => {} } }, platform);
}

/**
 * Whether a page asks that this worker serves. Where no token is asked for, a gateway takes a name for its own only if it
 * was told: `server.hosts` is for names that are not known here.
 */
function isOwnPage({ url, headers }) {
  const { origin, hostname } = new URL(url);
  return headers.get("Origin") === origin && OWN_NAMES.test(hostname);
}

function withoutOrigin(asked) {
  const request = new Request(asked);
  request.headers.delete("Origin");
  return request;
}

/** Whether a path is one of the agent's, where there is an agent. */
function isAgents(path, a2a) {
  if (a2a === undefined) return false;
  return [a2a.listen_path ?? LISTEN_PATH, ...AGENT_PATHS].some((known) => path === known || path.startsWith(`${known}/`));
}

/** The name of everybody's object. Nobody could read its inbox. */
function publicly({ responder = "inbox", skills = [] }, name) {
  if ([responder, ...skills.map((skill) => skill.responder)].includes("inbox")) {
    throw new GatewayError("config", "`a2a.responder`: without tokens nobody could answer what comes to the inbox");
  }
  return name;
}

/** Digests are compared: how long that takes tells nothing of a token. */
async function principalOf(request, tokens) {
  const [, shown] = /^bearer +(\S+) *$/i.exec(request.headers.get("Authorization") ?? "") ?? [];
  if (shown === undefined) return undefined;
  const wanted = await digest(shown);
  let principal;
  for (const { token, principal: name } of tokens) if ((await digest(token)) === wanted) principal = name;
  return principal;
}

async function digest(text) {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return bytes.join();
}

/** The answer of a session's object, or nothing where there is no such session. */
function bySession(request, objects) {
  const session = request.headers.get(SESSION);
  if (session !== null) {
    const [id, name] = session.split(".");
    try {
      const object = objects.get(objects.idFromString(id));
      return inSession(object, id, request, name ?? "");
    } catch {
      return undefined;
    }
  }
  if (request.method !== "POST") return undefined;
  if ((request.headers.get(VERSION) ?? "") >= FIRST_WITHOUT_SESSIONS) {
    const text = "callers are known by their sessions here: send initialize, or ask for a token";
    return new Response(text, { status: 400, headers: { "Content-Type": "text/plain; charset=utf-8" } });
  }
  const id = objects.newUniqueId();
  return inSession(objects.get(id), id.toString(), request);
}

/** Asks an object, which knows nothing of the id before its session's name. */
async function inSession(object, id, request, name) {
  const inner = new Request(request);
  if (name !== undefined) inner.headers.set(SESSION, name);
  const response = await object.fetch(inner);
  const begun = response.headers.get(SESSION);
  if (begun === null) return response;
  const outer = new Response(response.body, response);
  outer.headers.set(SESSION, `${id}.${begun}`);
  return outer;
}
