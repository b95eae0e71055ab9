// The example agent behind a front that can be strict, closed or confused, as agents on the web are.
import { createServer, request as ask } from "node:http";

import { DemoAgent } from "../../pkg/node/demo-agent.mjs";

const ALLOW = { "access-control-allow-origin": "*" };
const PREFLIGHT = { ...ALLOW, "access-control-allow-methods": "GET, POST", "access-control-allow-headers": "*, authorization" };

/**
 * Starts an agent.
 *
 * @param {import("node:test").TestContext} t
 * @param {object} [how]
 * @param {"all" | "plain" | "none"} [how.cors] whom it lets read: everybody, only requests without headers of their own, nobody
 * @param {string} [how.redirect] where it redirects everything
 * @param {string} [how.token] what it wants to see in Authorization
 * @param {boolean} [how.openCard] whether its card needs no token
 * @param {(card: object) => object | undefined} [how.card] what becomes of its card
 * @returns {Promise<{ url: string, requests: { method: string, url: string, headers: object, body: string }[] }>}
 */
export async function startAgent(t, { cors = "all", redirect, token, openCard = false, card = (given) => given } = {}) {
  const agent = new DemoAgent({ pace_ms: 20 });
  await agent.listen();
  const requests = [];
  const front = createServer((request, response) => {
    const seen = { method: request.method, url: request.url, headers: request.headers, body: "" };
    requests.push(seen);
    request.on("data", (bytes) => (seen.body += bytes));
    const headers = cors === "none" ? {} : ALLOW;
    const say = (status, text, more = {}) => response.writeHead(status, { ...headers, ...more }).end(text);
    if (request.method === "OPTIONS") return response.writeHead(204, cors === "all" ? PREFLIGHT : headers).end();
    if (redirect) return say(302, "", { location: new URL(request.url, redirect).href });
    const isCard = request.method === "GET";
    const let_in = token === undefined || request.headers.authorization === `Bearer ${token}` || (isCard && openCard);
    if (!let_in) return say(401, "who are you?", { "www-authenticate": "Bearer", "access-control-expose-headers": "WWW-Authenticate" });
    if (isCard) {
      const found = request.url.endsWith("agent-card.json")
        ? card({ ...agent.card, supportedInterfaces: [{ ...agent.card.supportedInterfaces[0], url }] })
        : undefined;
      return found ? say(200, JSON.stringify(found), { "content-type": "application/json" }) : say(404, "not found");
    }
    return pass(request, response, agent.url, headers);
  });
  await new Promise((resolve) => front.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${front.address().port}/`;
  t.after(() => {
    agent.close();
    front.close();
    front.closeAllConnections();
  });
  return { url, requests };
}

/** Hands a request on to the agent, and what it answers back piece by piece. */
function pass(request, response, to, headers) {
  const { host, ...rest } = request.headers;
  const behind = ask(new URL(request.url, to), { method: request.method, headers: rest }, (answer) => {
    response.writeHead(answer.statusCode, { ...answer.headers, ...headers });
    answer.pipe(response);
  });
  behind.on("error", () => response.destroy());
  response.on("close", () => behind.destroy());
  request.pipe(behind);
}
