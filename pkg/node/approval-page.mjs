import { readFileSync } from "node:fs";

const { createHash } = process.getBuiltinModule("node:crypto");

/** Where a person decides a call that waits. */
const PATH = "/approve";

/** The page on which a person decides: what it needs to know stands behind the `#` of its address, which is never sent. */
export class ApprovalPage {
  #html;

  /**
   * Answers a request for the page.
   *
   * @param {import("node:http").IncomingMessage} request
   * @param {import("node:http").ServerResponse} response
   * @returns {boolean} whether it was one
   */
  answer({ method, url }, response) {
    if ((method !== "GET" && method !== "HEAD") || url.split("?")[0] !== PATH) return false;
    this.#html ??= readFileSync(new URL("approval.html", import.meta.url), "utf8");
    response.writeHead(200, {
      "Cache-Control": "no-cache",
      "Content-Security-Policy": policy(this.#html),
      "Content-Type": "text/html; charset=utf-8",
      "Cross-Origin-Opener-Policy": "same-origin",
      "Referrer-Policy": "no-referrer",
      "X-Content-Type-Options": "nosniff",
    });
    response.end(method === "HEAD" ? undefined : this.#html);
    return true;
  }
}

/** Nothing but what stands in the page itself may run in it, and nobody frames it. */
function policy(html) {
  const hash = (tag) => {
    const [, text] = new RegExp(`<${tag}[^>]*>([^]*?)</${tag}>`).exec(html);
    return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  };
  return [
    "default-src 'none'",
    "connect-src 'self'",
    `script-src ${hash("script")}`,
    `style-src ${hash("style")}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/**
 * What a person is told about a call that waits, where there are no tokens to tell people apart: how to decide it with what
 * its caller does not know.
 *
 * @param {string} origin of the gateway
 * @param {{ id: string, tool: string, code?: string }} request
 * @returns {string | undefined} nothing where whoever decides shows a token
 */
export function invitation(origin, { id, tool, code }) {
  if (code === undefined) return undefined;
  const place = `${origin}/api/approvals/${id}`;
  const curl = `curl -d '{"code":"${code}"}' ${place}/approve (or …/reject)`;
  return `${tool} waits for you: open ${origin}${PATH}#${id}.${code}, or ${curl}`;
}
