// How the page comes: in how many waves, with how many bytes, and with how few the second time. Times are the machine's.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { join, posix } from "node:path";
import test from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

import { launch, openPage, rest, root, servedPage } from "./support.mjs";

/** What the whole page may weigh on the wire. At 1.5 Mbit/s a hundred kilobytes are half a second. */
const SENT_BYTES = 540_000;

/** An answer as it is sent. */
function ask(url, headers = {}) {
  return new Promise((resolve, reject) => {
    const take = (response) => {
      const pieces = [];
      response.on("data", (piece) => pieces.push(piece));
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(pieces) }));
    };
    request(url, { headers }, take).on("error", reject).end();
  });
}

/** A module of the page and all that it imports, as paths from the repository. */
function graph(path, found = new Set()) {
  if (found.has(path)) return found;
  found.add(path);
  const references = readFileSync(join(root, path), "utf8").matchAll(/(?:\bfrom\s+|\bimport\()"(\.{1,2}\/[^"]+)"/g);
  for (const [, to] of references) graph(posix.join(posix.dirname(path), to), found);
  return found;
}

const preloads = (html) => [...html.matchAll(/rel="modulepreload" href="([^"]+)"/g)].map(([, href]) => href);

test("the page comes fast", async (t) => {
  const url = await servedPage(t);

  await t.test("packed as the browser likes it, and not again where it is known", async () => {
    const wasm = new URL("pkg/dist/narrows_bg.wasm", url);
    const whole = await ask(wasm);
    assert.equal(whole.headers["content-encoding"], undefined);
    assert.equal(whole.headers.vary, "Accept-Encoding");
    for (const [accept, coding, unpack] of [
      ["gzip, deflate, br, zstd", "br", brotliDecompressSync],
      ["gzip", "gzip", gunzipSync],
      ["br;q=0, gzip;q=0.5", "gzip", gunzipSync],
    ]) {
      const { headers, body } = await ask(wasm, { "accept-encoding": accept });
      assert.equal(headers["content-encoding"], coding, accept);
      assert.equal(Number(headers["content-length"]), body.length);
      assert.ok(body.length < whole.body.length / 2);
      assert.deepEqual(unpack(body), whole.body);
    }
    const refused = await ask(wasm, { "accept-encoding": "identity, br;q=0, gzip;q=0" });
    assert.equal(refused.headers["content-encoding"], undefined);
    const { etag } = whole.headers;
    for (const condition of [etag, etag.replace("W/", ""), `"other", ${etag}`, "*"]) {
      const known = await ask(wasm, { "if-none-match": condition });
      assert.deepEqual([known.status, known.body.length, known.headers.etag], [304, 0, etag], condition);
    }
    assert.equal((await ask(wasm, { "if-none-match": '"other"' })).status, 200);
    const [page, style] = [await ask(url), await ask(new URL("style.css", url))];
    assert.equal(new Set([etag, page.headers.etag, style.headers.etag]).size, 3);
  });

  await t.test("every module is named in the head: one wave after the page itself", async () => {
    const modules = [...graph("www/main.mjs")].filter((path) => path !== "www/main.mjs");
    const served = preloads((await ask(url)).body.toString()).map((href) => new URL(href, url).pathname.slice(1));
    assert.deepEqual([...served].sort(), modules.map((path) => path.replace(/^www\//, "")).sort());
    const own = preloads(readFileSync(join(root, "www/index.html"), "utf8")).map((href) => posix.join("www", href));
    const missing = modules.filter((path) => path.startsWith("www/") && !own.includes(path));
    assert.deepEqual(missing, [], "also from any static server");
    for (const path of own) assert.ok(modules.includes(path), `${path} is preloaded for nothing`);
  });

  await t.test("few bytes the first time, next to none the second", async (s) => {
    const browser = await launch(s);
    const page = await openPage(s, browser, url);
    await rest(page);
    const weigh = () =>
      page.evaluate(() => {
        const entries = [...performance.getEntriesByType("resource"), ...performance.getEntriesByType("navigation")];
        const sum = (key) => entries.reduce((total, entry) => total + entry[key], 0);
        return { files: entries.length, bytes: sum("encodedBodySize"), sent: sum("transferSize") };
      });
    const first = await weigh();
    assert.ok(first.bytes < SENT_BYTES, `${first.bytes} bytes`);
    console.log(`# the page is ${first.files} files and ${first.bytes} bytes as they are sent`);
    await page.reload();
    await page.locator("main:not([aria-busy])").waitFor();
    const again = await weigh();
    assert.ok(again.sent < first.bytes / 10, `${again.sent} bytes the second time`);
  });
});
