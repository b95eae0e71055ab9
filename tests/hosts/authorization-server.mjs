// An MCP server behind OAuth, and its authorization server, small enough to be read: for tests of logins.
import { createHash, randomUUID } from "node:crypto";
import { createServer } from "node:http";

const TOOLS = [
  { name: "read", inputSchema: { type: "object" } },
  { name: "write", inputSchema: { type: "object" } },
];

/** Both, at one address: the server at `/mcp`, which wants the scope `write` for the tool of that name. */
export class Guarded {
  /** how often each place was asked */
  counts = {};
  /** everything that was given out and is nobody else's business */
  secrets = [];
  /** how long a token is good, in seconds; `undefined` is not told */
  lasts = 3600;
  #server = createServer((request, response) => this.#answer(request, response));
  #tokens = new Map();
  #refreshes = new Map();
  #codes = new Map();

  async listen() {
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.origin = `http://127.0.0.1:${this.#server.address().port}`;
    this.url = `${this.origin}/mcp`;
    return this;
  }

  close() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** No token is good any more, refresh tokens are. */
  expire() {
    this.#tokens.clear();
  }

  /** Nothing is good any more. */
  revoke() {
    this.expire();
    this.#refreshes.clear();
  }

  /** What a browser does whose user says yes, or no. @returns {Promise<Response>} of the page that it comes back to */
  async visit(url, { yes = true, iss = this.origin } = {}) {
    const back = new URL((await fetch(url, { redirect: "manual" })).headers.get("location"));
    if (!yes) {
      back.searchParams.delete("code");
      back.searchParams.set("error", "access_denied");
    }
    back.searchParams.set("iss", iss);
    return fetch(back);
  }

  async #answer(request, response) {
    const { pathname, searchParams } = new URL(request.url, this.origin);
    this.counts[pathname] = (this.counts[pathname] ?? 0) + 1;
    let body = "";
    for await (const chunk of request) body += chunk;
    const json = (status, value, headers = {}) => response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(value));
    switch (pathname) {
      case "/.well-known/oauth-protected-resource/mcp":
        return json(200, { resource: this.url, authorization_servers: [this.origin], scopes_supported: ["read"] });
      case "/.well-known/oauth-authorization-server":
        return json(200, {
          issuer: this.origin,
          authorization_endpoint: `${this.origin}/authorize`,
          token_endpoint: `${this.origin}/token`,
          registration_endpoint: `${this.origin}/register`,
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["client_secret_post"],
          authorization_response_iss_parameter_supported: true,
        });
      case "/register":
        return json(201, { client_id: "client", client_secret: this.#secret("client"), redirect_uris: JSON.parse(body).redirect_uris });
      case "/authorize": {
        const code = this.#secret("code");
        this.#codes.set(code, Object.fromEntries(searchParams));
        const back = new URL(searchParams.get("redirect_uri"));
        back.searchParams.set("code", code);
        back.searchParams.set("state", searchParams.get("state"));
        return response.writeHead(302, { Location: back.href }).end();
      }
      case "/token":
        return this.#give(new URLSearchParams(body), json);
      case "/mcp":
        return this.#serve(request, body && JSON.parse(body), json, response);
      default:
        return response.writeHead(404).end();
    }
  }

  #give(form, json) {
    const asked = { authorization_code: this.#codes, refresh_token: this.#refreshes }[form.get("grant_type")];
    const key = form.get("code") ?? form.get("refresh_token");
    const grant = asked?.get(key);
    asked?.delete(key); // a second use is none
    if (grant === undefined || form.get("resource") !== this.url) return json(400, { error: "invalid_grant" });
    if (form.has("code")) {
      const challenge = createHash("sha256").update(form.get("code_verifier")).digest("base64url");
      if (challenge !== grant.code_challenge || form.get("redirect_uri") !== grant.redirect_uri) return json(400, { error: "invalid_grant" });
    }
    const [access, refresh] = [this.#secret("access"), this.#secret("refresh")];
    this.#tokens.set(access, grant.scope);
    this.#refreshes.set(refresh, grant);
    json(200, { access_token: access, token_type: "Bearer", refresh_token: refresh, scope: grant.scope, expires_in: this.lasts });
  }

  #serve(request, message, json, response) {
    const scope = this.#tokens.get(request.headers.authorization?.replace("Bearer ", ""));
    if (scope === undefined) return json(401, {}, { "WWW-Authenticate": `Bearer resource_metadata="${this.origin}/.well-known/oauth-protected-resource/mcp"` });
    if (request.method !== "POST") return response.writeHead(405).end();
    if (message.id === undefined) return response.writeHead(202).end();
    const { method, params } = message;
    if (params?.name === "write" && !scope.split(" ").includes("write")) {
      return json(403, {}, { "WWW-Authenticate": 'Bearer error="insufficient_scope", scope="write"' });
    }
    const result = {
      initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "guarded", version: "1" } },
      "tools/list": { tools: TOOLS },
      // It repeats what it was sent, as careless servers do.
      "tools/call": { content: [{ type: "text", text: `you are ${request.headers.authorization}` }] },
    }[method];
    if (result === undefined) return json(200, { jsonrpc: "2.0", id: message.id, error: { code: -32601, message: "no such method" } });
    json(200, { jsonrpc: "2.0", id: message.id, result });
  }

  #secret(kind) {
    const secret = `${kind}-${randomUUID()}`;
    this.secrets.push(secret);
    return secret;
  }
}
