import { existsSync, readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const { createHash } = process.getBuiltinModule("node:crypto");
const { brotliCompressSync, constants, gzipSync } = process.getBuiltinModule("node:zlib");

/** The package, and the page: inside it where it was installed, beside it in a checkout. */
const PACKAGE = new URL("../", import.meta.url);
const PLACES = [new URL("www/", PACKAGE), new URL("../www/", PACKAGE)];

const TYPES = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  mjs: "text/javascript; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  wasm: "application/wasm",
};

/** Beside what the page says of itself: nobody frames it, and nothing is taken for what it is not. */
const HEADERS = {
  "Cache-Control": "no-cache",
  "Content-Security-Policy": "frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
};

/** How files are packed, the best first. The last steps of brotli would take a second more for a tenth less. */
const PACKINGS = [
  ["br", (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })],
  ["gzip", (bytes) => gzipSync(bytes, { level: 9 })],
];

const IMPORT = /\bfrom\s+"(\.{1,2}\/[^"]+)"/g;

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
    const add = (path, place) => files.set(path, fileOf(TYPES[path.split(".").at(-1)], readFileSync(place)));
    const page = PLACES.find((place) => existsSync(new URL("index.html", place)));
    if (!page) return files;
    for (const name of readdirSync(page, { recursive: true }).map((name) => name.replaceAll("\\", "/"))) {
      if (name.split(".").at(-1) in TYPES) add(`/${name}`, fileURLToPath(new URL(name, page)));
    }
    for (const name of ["dist/narrows_bg.wasm", ...modules("web.mjs")]) add(`/pkg/${name}`, fileURLToPath(new URL(name, PACKAGE)));
    const html = readFileSync(new URL("index.html", page), "utf8");
    const attached = html.replace('name="narrows-gateway" content=""', `name="narrows-gateway" content="${this.#gateway}"`);
    const index = fileOf(TYPES.html, Buffer.from(preloading(attached, [...files.keys()])));
    files.set("/", index).set("/index.html", index);
    return files;
  }
}

/** The page with every module named in its head, so that all come in one wave. */
function preloading(html, paths) {
  const modules = paths.filter((path) => /\.m?js$/.test(path) && !html.includes(`src="${path.slice(1)}"`));
  const missing = modules.filter((path) => !html.includes(`href="${path.slice(1)}"`) && !html.includes(`href="..${path}"`));
  const links = missing.map((path) => `    <link rel="modulepreload" href="${path.slice(1)}">\n`);
  return html.replace("  </head>", `${links.join("")}  </head>`);
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

/** A module of the package and all that it imports, as paths from the package. */
function modules(entry, found = new Set()) {
  if (found.has(entry)) return found;
  found.add(entry);
  const place = new URL(entry, PACKAGE);
  for (const [, path] of readFileSync(place, "utf8").matchAll(IMPORT)) {
    modules(new URL(path, place).href.slice(PACKAGE.href.length), found);
  }
  return found;
}
