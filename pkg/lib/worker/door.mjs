import { openDriver } from "../open.mjs";
import { respond } from "../serving.mjs";

const SESSION = "Mcp-Session-Id";

/** The versions that know no sessions name themselves in this header. */
const VERSION = "MCP-Protocol-Version";
const FIRST_WITHOUT_SESSIONS = "2026-07-28";

/**
 * The handler of a worker whose gateways live in Durable Objects, one for each caller.
 *
 * With tokens a caller is the principal of its token, and its object has the principal's name. Without tokens a caller
 * is its session: its object is a new one, whose id stands in the name of the session. The runtime signs such ids, so
 * that nobody wakes an object but who was told of it.
 *
 * @param {object} options
 * @param {(env: object) => DurableObjectNamespace} options.objects
 * @param {(env: object) => object} options.configure as `GatewayObject.configure`
 * @param {object} platform as `Gateway.platform`
 * @returns {(request: Request, env: object) => Promise<Response>}
 */
export function door({ objects, configure }, platform) {
  let lobby;
  return async (request, env) => {
    const config = configure(env);
    const tokens = config?.auth?.tokens ?? [];
    const asks = new URL(request.url).pathname.replace(/\/+$/, "") === "/mcp" && request.method !== "OPTIONS";
    if (asks && tokens.length > 0) {
      const principal = await principalOf(request, tokens);
      if (principal !== undefined) return objects(env).getByName(principal).fetch(request);
    } else if (asks) {
      const answer = bySession(request, objects(env));
      if (answer) return answer;
    }
    // Whoever has no object is answered without one: refused, or told that all is well. Nothing is kept there, so it takes no tasks.
    lobby ??= openDriver({ config: { ...config, a2a: { enabled: false } }, host: { setTimer: () => () => {} } }, platform);
    return respond(lobby, request, () => new Error("a fault in Narrows ended this gateway"));
  };
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
