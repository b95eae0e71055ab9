import { createServer } from "node:http";

import { openInBrowser } from "./browser.mjs";

const HOST = "127.0.0.1";
const PATH = "/callback";

/**
 * A person logs in at an MCP server: the browser is opened, or the address printed, and comes back to this machine (RFC 8252
 * §7.3).
 *
 * @param {{ logIn(server: string, redirectUri: string): Promise<string>, finishLogin(server: string, query: string):
 *   Promise<void>, isLoginExpected(server: string, query: string): boolean }} gateway
 * @param {string} server
 * @param {{ say: (text: string) => void, open?: (url: string) => void, signal?: AbortSignal }} options `open`: what opens an
 *   address, if anything does
 * @throws {Error} nobody is logged in: why
 */
export async function logIn(gateway, server, { say, open = openInBrowser, signal }) {
  let outcome;
  const done = new Promise((resolve, reject) => (outcome = { resolve, reject }));
  done.catch(() => {}); // told below, once
  const listener = createServer(async (request, response) => {
    const { pathname, search } = new URL(request.url, "http://localhost");
    const query = search.slice(1);
    if (request.method !== "GET" || pathname !== PATH || !gateway.isLoginExpected(server, query)) {
      return show(response, 404, "Nobody waits for this.");
    }
    try {
      await gateway.finishLogin(server, query);
      show(response, 200, `You are logged in at ${server}. This window may be closed.`);
      outcome.resolve();
    } catch (error) {
      show(response, 400, error.message);
      outcome.reject(error);
    }
  });
  await new Promise((resolve, reject) => listener.once("error", reject).listen(0, HOST, resolve));
  const stop = () => outcome.reject(new Error("nobody logged in"));
  signal?.addEventListener("abort", stop, { once: true });
  try {
    const url = await gateway.logIn(server, `http://${HOST}:${listener.address().port}${PATH}`);
    say(`To log in at ${server}, open this address:\n  ${url}`);
    open(url);
    await done;
  } finally {
    signal?.removeEventListener("abort", stop);
    listener.close();
    listener.closeIdleConnections();
  }
}

/** One sentence in the browser. It may hold words of somebody else's. */
function show(response, status, text) {
  const escaped = text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
  response.writeHead(status, {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": "default-src 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    Connection: "close",
  });
  response.end(`<!doctype html><meta charset="utf-8"><title>narrows</title><p>${escaped}</p>\n`);
}
