import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { makeFolder } from "./folder.mjs";

/** The package, and the page: inside it where it was installed, beside it in a checkout. */
const PACKAGE = new URL("../", import.meta.url);
const PLACES = [new URL("www/", PACKAGE), new URL("../www/", PACKAGE)];

const KINDS = /\.(html|css|m?js)$/;
const IMPORT = /\bfrom\s+"(\.{1,2}\/[^"]+)"/g;

/** Beside what the page says of itself: nobody frames it, and nothing is taken for what it is not. */
export const PAGE_HEADERS = {
  "Content-Security-Policy": "frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
};

/**
 * The files of the demo page and those of the package that it loads.
 *
 * @param {string} gateway where the MCP endpoint is that the page is attached to, from the page; with "" it has its own
 * @returns {Map<string, Buffer>} by path from the page, none where the page is missing
 */
export function pageSource(gateway) {
  const files = new Map();
  const page = PLACES.find((place) => existsSync(new URL("index.html", place)));
  if (!page) return files;
  const add = (path, place) => files.set(path, readFileSync(fileURLToPath(place)));
  for (const name of readdirSync(page, { recursive: true }).map((name) => name.replaceAll("\\", "/"))) {
    if (KINDS.test(name)) add(name, new URL(name, page));
  }
  for (const name of ["dist/narrows_bg.wasm", ...modules("web.mjs")]) add(`pkg/${name}`, new URL(name, PACKAGE));
  const html = files.get("index.html").toString();
  const attached = html.replace('name="narrows-gateway" content=""', () => `name="narrows-gateway" content="${escaped(gateway)}"`);
  return files.set("index.html", Buffer.from(preloading(attached, [...files.keys()])));
}

/**
 * Writes the page into a folder, for servers of files. What they have to say with each of them is in `_headers`, which
 * Cloudflare and others read.
 *
 * @param {string} folder made where it is missing
 * @param {string} gateway as `pageSource`
 * @returns {number} how many files the page has
 */
export function writePage(folder, gateway) {
  const files = pageSource(gateway);
  const said = Object.entries(PAGE_HEADERS).map(([name, value]) => `  ${name}: ${value}\n`);
  for (const [path, bytes] of [...files, ["_headers", `/*\n${said.join("")}`]]) {
    const place = join(folder, path);
    makeFolder(dirname(place));
    writeFileSync(place, bytes);
  }
  return files.size;
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
}

/** The page with every module named in its head, so that all come in one wave. */
function preloading(html, paths) {
  const named = (path) => [`src="${path}"`, `href="${path}"`, `href="../${path}"`].some((place) => html.includes(place));
  const missing = paths.filter((path) => /\.m?js$/.test(path) && !named(path));
  const links = missing.map((path) => `    <link rel="modulepreload" href="${path}">\n`);
  return html.replace("  </head>", `${links.join("")}  </head>`);
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
