import { cardPlaces, interfacesOf, isCard } from "./card.mjs";

/** What a browser never sends for a page, or replaces by its own (Fetch standard, forbidden request-headers). */
const DROPPED =
  /^(accept-(charset|encoding)|access-control-request-.*|connection|content-length|cookie2?|date|dnt|expect|host|keep-alive|origin|proxy-.*|referer|sec-.*|set-cookie|te|trailer|transfer-encoding|upgrade|user-agent|via)$/i;

/** Ports at which a browser asks nobody anything (Fetch standard, bad port). */
const BAD_PORTS = new Set(
  (
    "0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137 139 " +
    "143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 " +
    "3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080"
  ).split(" "),
);

/** A host with or without a port and a path, but without a scheme. */
const SCHEMELESS = /^(\[[0-9a-f:]+\]|[\w-]+(\.[\w-]+)*)(:\d+)?([/?#]|$)/i;

const TIMEOUT_MS = 8000;
const BINDINGS = { JSONRPC: "JSON-RPC", "HTTP+JSON": "HTTP+JSON" };

/** The steps, in the order in which they are taken. */
export const STEPS = {
  address: "The address",
  headers: "Headers",
  reach: "Reachable",
  cors: "Readable from a page (CORS)",
  redirect: "No redirect",
  auth: "Let in",
  card: "The card",
  version: "Version and binding",
  preflight: "The gateway's own headers",
  endpoint: "The agent answers",
};

/**
 * @typedef {object} Finding
 * @property {keyof STEPS} step
 * @property {"ok" | "warning" | "failed"} state
 * @property {string} says what was found
 * @property {string} [fix] what to do about it
 */

/**
 * Takes the steps of a connection one by one, and ends at the first that fails.
 *
 * @param {{ url: string, headers: [string, string][], faults?: string[], page: URL | Location, fetch?: typeof fetch }} options
 *   `faults`: what is wrong with headers that were left out
 * @returns {AsyncGenerator<Finding>}
 */
export async function* examine({ url, headers, faults = [], page, fetch = globalThis.fetch.bind(globalThis) }) {
  const visit = new Visit(fetch, page, headers);
  const address = visit.address(url);
  yield address.finding;
  if (address.finding.state === "failed") return;
  const sent = visit.headers(faults);
  yield sent;
  if (sent.state === "failed") return;
  let interfaceOf;
  for await (const finding of visit.card(address.url)) {
    interfaceOf = finding.interface ?? interfaceOf;
    yield finding;
    if (finding.state === "failed") return;
  }
  if (interfaceOf) yield* visit.endpoint(interfaceOf);
}

const ok = (step, says) => ({ step, state: "ok", says });
const warning = (step, says, fix) => ({ step, state: "warning", says, fix });
const failed = (step, says, fix) => ({ step, state: "failed", says, fix });

class Visit {
  #fetch;
  #page;
  #headers;

  constructor(fetch, page, headers) {
    this.#fetch = fetch;
    this.#page = page;
    this.#headers = headers.filter(([name]) => !DROPPED.test(name));
    this.dropped = headers.map(([name]) => name).filter((name) => DROPPED.test(name));
  }

  address(text) {
    const bare = !/^https?:/i.test(text) && SCHEMELESS.exec(text);
    if (bare && (bare[3] || bare[2] || bare[1] === "localhost" || !URL.canParse(text))) {
      const whole = `${isLocal(bare[1]) ? "http" : "https"}://${text}`;
      if (URL.canParse(whole))
        return { finding: failed("address", "The scheme is missing.", `Write ${whole.split("://")[0]}:// before it: ${whole}`) };
    }
    let url;
    try {
      url = new URL(text);
    } catch {
      return { finding: failed("address", "This is not a whole URL.", "Write it with its scheme, such as https://agent.example.com.") };
    }
    if (url.protocol !== "https:" && url.protocol !== "http:") {
      return {
        finding: failed("address", `Agents are reached over http or https, not ${url.protocol}`, "Use the agent's http or https address."),
      };
    }
    if (BAD_PORTS.has(url.port)) {
      return {
        finding: failed(
          "address",
          `No browser connects to port ${url.port}: it belongs to another protocol.`,
          "Let the agent listen on another port, or run the gateway in Node: node pkg/cli.js.",
        ),
      };
    }
    if (url.username || url.password) {
      return { finding: failed("address", "The URL holds a name or a password.", "Take it out, and put the credential into a header.") };
    }
    if (this.#page.protocol === "https:" && url.protocol === "http:" && !isLocal(url.hostname)) {
      return {
        finding: failed(
          "address",
          "This page came over https, so the browser blocks plain http.",
          "Give the agent https, or open this page from your own machine: node pkg/cli.js page.",
        ),
      };
    }
    return { url, finding: ok("address", `${url.origin}, path ${url.pathname}`) };
  }

  headers(faults) {
    if (faults.length > 0) return failed("headers", faults.join("\n"), "Write each header on a line of its own, as Name: value.");
    if (this.dropped.length === 0) return ok("headers", this.#headers.length === 0 ? "None of your own." : "All of yours are sent.");
    const names = this.dropped.join(", ");
    return warning(
      "headers",
      `The browser will not send ${names}.`,
      "Only the browser may set it. Use another header, such as Authorization, or run the gateway in Node: node pkg/cli.js.",
    );
  }

  async *card(url) {
    const places = cardPlaces(url);
    let refused;
    for (const [i, place] of places.entries()) {
      const seen = await this.#look(place);
      if (i === 0) {
        yield* this.#reached(seen, url);
        if (!seen.response) return;
      }
      if (seen.response?.type === "opaqueredirect") {
        yield await this.#redirected(place);
        return;
      }
      if ([401, 403].includes(seen.response?.status)) refused ??= seen.response;
      const card = seen.response?.ok ? readJson(await seen.response.text()) : undefined;
      if (!isCard(card)) continue;
      yield ok("redirect", "It answers at this very address.");
      yield ok("auth", "The card is there for everybody or for your credentials.");
      yield ok("card", `${card.name ?? "An agent without a name"}, at ${place.pathname}`);
      yield* this.#version(card, url);
      yield* this.#preflight(place);
      return;
    }
    if (refused) {
      const asks = refused.headers.get("www-authenticate");
      yield failed(
        "auth",
        `It answers with status ${refused.status}${asks ? `: ${asks}` : ""}.`,
        "Put the credential into a header above, usually Authorization: Bearer and the token.",
      );
    } else {
      const tried = places.map(({ pathname }) => pathname).join(", ");
      yield failed(
        "card",
        `There is no agent card. Looked at ${tried}.`,
        "Check the path. An agent without a card can still be called: connect it, and the gateway speaks A2A 1.0 to this URL.",
      );
    }
  }

  async *endpoint({ url, binding, version }) {
    const legacy = version.startsWith("0.");
    const id = "narrows-doctor";
    const rest = binding === "HTTP+JSON";
    const target = rest ? `${url.replace(/\/$/, "")}${legacy ? "/v1" : ""}/tasks/${id}` : url;
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: legacy ? "tasks/get" : "GetTask", params: { id } });
    const sent = [...this.#headers, ["A2A-Version", legacy ? "0.3" : "1.0"], ...(rest ? [] : [["Content-Type", "application/json"]])];
    const { response, error } = await this.#try(target, rest ? { headers: sent } : { method: "POST", headers: sent, body });
    if (error) {
      yield failed("endpoint", `${new URL(url).origin} does not let this page ask.`, this.#corsFix("POST"));
    } else if (response.type === "opaqueredirect") {
      yield failed(
        "endpoint",
        "It redirects what is sent to it, and a page cannot see where to.",
        "Put the final address into the agent's card.",
      );
    } else if ([401, 403].includes(response.status)) {
      yield failed(
        "endpoint",
        `It reads its card to everybody but answers questions with status ${response.status}.`,
        "Put the credential into a header above, usually Authorization: Bearer and the token.",
      );
    } else if (!rest && [404, 405].includes(response.status)) {
      yield failed(
        "endpoint",
        `The address in its card answers with status ${response.status}.`,
        `The card names ${url}: it should be where the agent takes messages.`,
      );
    } else if (response.status >= 500) {
      yield failed("endpoint", `It answers with status ${response.status}.`, "The agent itself has a fault: look into its log.");
    } else yield ok("endpoint", "It was asked for a task that it cannot know, and says so.");
  }

  async *#reached({ response, error, answers }, url) {
    if (response) {
      yield ok("reach", `${url.host} answers.`);
      yield ok("cors", "It lets this page read its answers.");
    } else if (answers) {
      yield ok("reach", `${url.host} answers.`);
      yield failed("cors", "It answers, but does not let this page read the answer.", this.#corsFix("GET"));
    } else {
      yield failed(
        "reach",
        `Nothing answers at ${url.host}: ${error}.`,
        "Check that the agent runs, the host name and the port. With https, the certificate must be valid. If this page is on the internet and the agent on your own machine, the browser asks you first, or refuses.",
      );
    }
  }

  async #redirected(place) {
    const { response } = await this.#try(place, { redirect: "follow" });
    const to = response?.url ? new URL(response.url) : undefined;
    const end = to?.pathname.replace(/\/\.well-known\/agent(-card)?\.json$/, "");
    return failed(
      "redirect",
      to ? `It redirects to ${to.href}` : "It redirects, and the browser does not say where to.",
      to ? `Use that address: ${to.origin}${end}` : "Use the agent's final address.",
    );
  }

  async *#preflight(place) {
    const { error } = await this.#try(place, { headers: [["A2A-Version", "1.0"], ...this.#headers] });
    if (error) yield failed("preflight", "It allows plain requests, but not those with headers.", this.#corsFix("GET"));
    else yield ok("preflight", "They are allowed.");
  }

  *#version(card, url) {
    const offers = interfacesOf(card, url);
    const chosen = offers.find(({ binding, version }) => binding in BINDINGS && /^(0\.[23]|1)(\.|$)/.test(version));
    if (!chosen) {
      const what = offers.map(({ binding, version }) => `${binding} ${version}`).join(", ") || "nothing";
      yield failed(
        "version",
        `It offers ${what}.`,
        "Narrows speaks A2A 1.0 and 0.3 over JSON-RPC and HTTP+JSON. Add one of these to the agent.",
      );
      return;
    }
    const elsewhere = new URL(chosen.url).origin !== url.origin && this.#headers.length > 0;
    const says = `A2A ${chosen.version} over ${BINDINGS[chosen.binding]}, at ${chosen.url}`;
    const finding = elsewhere
      ? warning(
          "version",
          `${says}. That is another origin, so your headers stay behind.`,
          "Register the agent at the origin where it takes messages.",
        )
      : ok("version", says);
    yield { ...finding, interface: chosen };
  }

  #corsFix(method) {
    const names = ["A2A-Version", "Content-Type", ...this.#headers.map(([name]) => name)];
    const allow = `Access-Control-Allow-Origin: ${this.#page.origin}\nAccess-Control-Allow-Methods: GET, POST\nAccess-Control-Allow-Headers: ${[...new Set(names)].join(", ")}`;
    return `The agent, or what is in front of it, should answer ${method} and the OPTIONS request before it with:\n${allow}\nOr run the gateway in Node, where no such rule holds: node pkg/cli.js`;
  }

  /** A plain request, with your headers where it wants them; where it fails, whether anybody is there at all. */
  async #look(place) {
    const seen = await this.#try(place);
    if ([401, 403].includes(seen.response?.status) && this.#headers.length > 0) {
      const shown = await this.#try(place, { headers: this.#headers });
      return shown.error ? seen : shown;
    }
    if (!seen.error) return seen;
    const { response } = await this.#try(place, { mode: "no-cors", redirect: "follow" });
    return { ...seen, answers: response !== undefined };
  }

  async #try(url, init = {}) {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    try {
      const response = await this.#fetch(url, {
        redirect: "manual",
        credentials: "omit",
        cache: "no-store",
        referrerPolicy: "no-referrer",
        signal,
        ...init,
      });
      return { response };
    } catch (error) {
      return { error: error?.name === "TimeoutError" ? "no answer within 8 s" : "the browser could not connect" };
    }
  }
}

function isLocal(host) {
  return host === "localhost" || host.endsWith(".localhost") || /^127\.|^\[::1\]$/.test(host);
}

function readJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
