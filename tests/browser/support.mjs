// What the browser tests share: a Chromium, the page served in several ways, and waiting for what it shows.
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { mkdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

export const root = fileURLToPath(new URL("../../", import.meta.url));

const TYPES = {
  ".html": "text/html",
  ".css": "text/css",
  ".mjs": "text/javascript",
  ".js": "text/javascript",
  ".wasm": "application/wasm",
};

/** One Chromium for a file of tests. Root has no sandbox to offer. */
export async function launch(t) {
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const browser = await chromium.launch({ executablePath: process.env.BROWSER ?? "chromium", args });
  t.after(() => browser.close());
  return browser;
}

/** Starts the command and waits for the address that it prints. @returns {Promise<string>} */
export function command(t, words, pattern, options = {}) {
  const child = spawn(process.execPath, [join(root, "pkg/cli.js"), ...words], { stdio: ["ignore", "pipe", "inherit"], ...options });
  t.after(() => child.kill());
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (more) => {
      text += more;
      const found = pattern.exec(text);
      if (found) resolve(found[1]);
    });
    child.on("exit", (code) => reject(new Error(`the command ended with ${code}: ${text}`)));
  });
}

/** The page as `narrows page` serves it. */
export function servedPage(t) {
  return command(t, ["page", "--no-open", "--port", "0"], /page is at (\S+)/);
}

/** A folder as any static server would serve it. */
export async function serveFolder(t, folder = root) {
  const server = createServer((request, response) => {
    const path = new URL(request.url, "http://localhost").pathname;
    if (path === "/blank") return response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>blank</title>");
    try {
      const bytes = readFileSync(join(folder, path.endsWith("/") ? `${path}index.html` : path));
      response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "text/html" }).end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close() && server.closeAllConnections());
  return `http://127.0.0.1:${server.address().port}/`;
}

/** Opens the page and waits until it is ready. What the console complains about is a failure. */
export async function openPage(t, browser, url, options = {}) {
  const { viewport = { width: 1360, height: 900 }, share = false, ...rest } = options;
  const context = await browser.newContext({ viewport, ...rest });
  t.after(() => context.close());
  if (share) await context.addInitScript(shareWithNobody);
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  page.complaints = [];
  page.on("pageerror", (error) => page.complaints.push(error.stack));
  page.on("console", (message) => message.type() === "error" && page.complaints.push(message.text()));
  await page.goto(url);
  await page.locator("main:not([aria-busy])").waitFor();
  return page;
}

/** In the page: what a system with a share sheet offers; what was shared is kept. */
function shareWithNobody() {
  globalThis.shared = [];
  navigator.canShare = ({ files }) => files.every((file) => file instanceof File);
  navigator.share = async ({ files: [file] }) => {
    globalThis.shared.push({ name: file.name, type: file.type, text: await file.text() });
    if (globalThis.refuses) throw new DOMException("closed", "AbortError");
  };
}

const REST_MS = 15_000;

/** Waits until nothing is under way in the session of the page. */
export async function rest(page) {
  const deadline = Date.now() + REST_MS;
  while (await page.evaluate(() => globalThis.narrows.session.isBusy)) {
    if (Date.now() > deadline) throw new Error("the page does not come to rest");
    await page.waitForTimeout(30);
  }
}

/** Lets time run ten times as fast. */
export function hurry(page) {
  return page.getByRole("button", { name: "10×" }).click();
}

/** The sentences of what happened, the oldest first. */
export async function story(page) {
  return (await page.locator(".story li > :last-child").allTextContents()).reverse();
}

/** A picture, where they are wanted. */
export async function picture(page, name) {
  if (!process.env.SCREENSHOTS) return;
  mkdirSync(process.env.SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(process.env.SCREENSHOTS, `${name}.png`), fullPage: true });
}
