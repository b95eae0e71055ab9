import { PAGE_HEADERS, pageSource } from "./page-source.mjs";

const { createHash } = process.getBuiltinModule("node:crypto");
const { brotliCompressSync, constants, gzipSync } = process.getBuiltinModule("node:zlib");

const TYPES = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  mjs: "text/javascript; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  wasm: "application/wasm",
};

const HEADERS = { ...PAGE_HEADERS, "Cache-Control": "no-cache" };

/** How files are packed, the best first. The last steps of brotli would take a second more for a tenth less. */
const PACKINGS = [
  ["br", (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })],
  ["gzip", (bytes) => gzipSync(bytes, { level: 9 })],
];

/** The demo page as files by path. They are read and packed once, when it is first asked for or told to. */
export class PageFiles {
  #gateway;
  #files;

  /** @param {{ gateway?: string }} [options] where the MCP endpoint is that the page is to be attached to, from the page */
  constructor({ gateway = "" } = {}) {
    this.#gateway = gateway;
  }

  /** Reads and packs the files now, so that nobody waits for it later. */
  load() {
    this.#files ??= this.#read();
  }

  /**
   * Answers a request for one of the files: packed where that is understood, and not at all where it is there already.
   *
   * @param {import("node:http").IncomingMessage} request
   * @param {import("node:http").ServerResponse} response
   * @returns {boolean} whether it was one
   */
  answer({ method, url, headers }, response) {
    if (method !== "GET" && method !== "HEAD") return false;
    this.load();
    const file = this.#files.get(url.split("?")[0]);
    if (!file) return false;
    const common = { ...HEADERS, ETag: file.tag, Vary: "Accept-Encoding" };
    if (isKnown(headers["if-none-match"], file.tag)) {
      response.writeHead(304, common).end();
      return true;
    }
    const [coding, bytes] = file.forms.find(([name]) => name === undefined || isTaken(headers["accept-encoding"], name));
    response.writeHead(200, {
      ...common,
      ...(coding && { "Content-Encoding": coding }),
      "Content-Type": file.type,
      "Content-Length": bytes.length,
    });
    response.end(method === "HEAD" ? undefined : bytes);
    return true;
  }

  #read() {
    const files = new Map();
    for (const [path, bytes] of pageSource(this.#gateway)) files.set(`/${path}`, fileOf(TYPES[path.split(".").at(-1)], bytes));
    const index = files.get("/index.html");
    return index ? files.set("/", index) : files;
  }
}

/** A file in every form in which it can be sent, the smallest first. Its tag is weak: it stands for all of them. */
function fileOf(type, bytes) {
  const packed = PACKINGS.map(([name, pack]) => [name, pack(bytes)]).filter(([, less]) => less.length < bytes.length);
  return {
    type,
    tag: `W/"${createHash("sha256").update(bytes).digest("base64url").slice(0, 16)}"`,
    forms: [...packed, [undefined, bytes]],
  };
}

/** Whether somebody has it already (RFC 9110 §13.1.2, by weak comparison). */
function isKnown(condition, tag) {
  if (condition === undefined) return false;
  const bare = (one) => one.trim().replace(/^W\//, "");
  return condition.trim() === "*" || condition.split(",").some((one) => bare(one) === bare(tag));
}

/** Whether a content coding is taken (RFC 9110 §12.5.3). */
function isTaken(accepted = "", coding) {
  const wanted = accepted.split(",").map((one) =>
    one
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/),
  );
  const [, quality = "q=1"] = wanted.find(([name]) => name === coding) ?? wanted.find(([name]) => name === "*") ?? ["", "q=0"];
  return Number(quality.slice(2)) > 0;
}
