import { existsSync, readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

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

const IMPORT = /\bfrom\s+"(\.{1,2}\/[^"]+)"/g;

/** The demo page as files by path. They are read when it is first asked for. */
export class PageFiles {
  #gateway;
  #files;

  /** @param {{ gateway?: string }} [options] where the MCP endpoint is that the page is to be attached to, from the page */
  constructor({ gateway = "" } = {}) {
    this.#gateway = gateway;
  }

  /**
   * Answers a request for one of the files.
   *
   * @param {import("node:http").IncomingMessage} request
   * @param {import("node:http").ServerResponse} response
   * @returns {boolean} whether it was one
   */
  answer({ method, url }, response) {
    if (method !== "GET" && method !== "HEAD") return false;
    this.#files ??= this.#read();
    const file = this.#files.get(url.split("?")[0]);
    if (!file) return false;
    response.writeHead(200, { ...HEADERS, "Content-Type": file.type, "Content-Length": file.bytes.length });
    response.end(method === "HEAD" ? undefined : file.bytes);
    return true;
  }

  #read() {
    const files = new Map();
    const add = (path, place) => files.set(path, { type: TYPES[path.split(".").at(-1)], bytes: readFileSync(place) });
    const page = PLACES.find((place) => existsSync(new URL("index.html", place)));
    if (!page) return files;
    for (const name of readdirSync(page, { recursive: true }).map((name) => name.replaceAll("\\", "/"))) {
      if (name.split(".").at(-1) in TYPES) add(`/${name}`, fileURLToPath(new URL(name, page)));
    }
    for (const name of ["dist/narrows_bg.wasm", ...modules("web.mjs")]) add(`/pkg/${name}`, fileURLToPath(new URL(name, PACKAGE)));
    const html = files.get("/index.html").bytes.toString("utf8");
    const attached = html.replace('name="narrows-gateway" content=""', `name="narrows-gateway" content="${this.#gateway}"`);
    const index = { type: TYPES.html, bytes: Buffer.from(attached) };
    files.set("/", index).set("/index.html", index);
    return files;
  }
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
