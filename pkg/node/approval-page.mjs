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
 * Tells a person of calls that wait, where there are no tokens to tell people apart: how to decide each with what its caller
 * does not know. What waits before the gateway has its address is told when it has, unless it was decided or given up by then.
 */
export class Invitations {
  #say;
  #origin;
  #waiting = new Map();

  /** @param {(text: string) => void} say */
  constructor(say) {
    this.#say = say;
  }

  /** A notice of the gateway. Only those that ask have a code. @param {{ event: string, fields: { id: string, tool: string, code?: string } }} notice */
  notice({ event, fields }) {
    if (!event.startsWith("approval_")) return;
    if (fields.code === undefined) this.#waiting.delete(fields.id);
    else if (this.#origin === undefined) this.#waiting.set(fields.id, fields);
    else this.#tell(fields);
  }

  /** The gateway is reached from here on. @param {string} origin */
  open(origin) {
    this.#origin = origin;
    for (const fields of this.#waiting.values()) this.#tell(fields);
    this.#waiting.clear();
  }

  #tell({ id, tool, code }) {
    const place = `${this.#origin}/api/approvals/${id}`;
    const curl = `curl -d '{"code":"${code}"}' ${place}/approve (or …/reject)`;
    this.#say(`${tool} waits for you: open ${this.#origin}${PATH}#${id}.${code}, or ${curl}`);
  }
}
