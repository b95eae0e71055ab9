// The demo page as the command serves it: which files, and which not. What the page does is tested in tests/browser.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Command } from "./process.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));

async function page(t) {
  const command = new Command(t, ["page", "--no-open", "--port", "0"]);
  const [, url] = await command.until(() => /page is at (\S+)\n/.exec(command.stdout));
  return { command, url };
}

/** The status of a target that no URL parser has tidied up. */
function statusOf(url, path) {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path }, (response) => resolve(response.resume().statusCode))
      .on("error", reject)
      .end();
  });
}

test("the page is served with all that its modules refer to", async (t) => {
  const { command, url } = await page(t);
  const index = await fetch(url);
  assert.equal(index.headers.get("content-type"), "text/html; charset=utf-8");
  assert.equal(index.headers.get("content-security-policy"), "frame-ancestors 'none'");
  assert.equal(index.headers.get("x-content-type-options"), "nosniff");
  const html = await index.text();
  assert.match(html, /name="narrows-gateway" content=""/);
  const seen = new Map();
  const visit = async (address) => {
    if (seen.has(address)) return;
    const response = await fetch(address);
    seen.set(address, response.status);
    if (!address.endsWith(".mjs")) return;
    const references = (await response.text()).matchAll(/(?:from |import\(|new URL\()"(\.{1,2}\/[^"]+)"/g);
    for (const [, reference] of references) await visit(new URL(reference, address).href);
  };
  for (const [, reference] of html.matchAll(/(?:src|href)="([^":]+)"/g)) await visit(new URL(reference, url).href);
  assert.deepEqual(
    [...seen].filter(([, status]) => status !== 200),
    [],
  );
  assert.ok([...seen.keys()].some((address) => address.endsWith("/pkg/dist/narrows_bg.wasm")));
  const modules = readdirSync(join(root, "www"), { recursive: true }).filter((name) => name.endsWith(".mjs"));
  for (const name of modules) assert.ok(seen.has(`${url}${name.replaceAll("\\", "/")}`), `${name} is of no use to the page`);

  const head = await fetch(url, { method: "HEAD" });
  assert.deepEqual([head.status, await head.text()], [200, ""]);
  assert.equal((await fetch(url, { method: "POST" })).status, 404);
  for (const path of [
    "/pkg/cli.js",
    "/pkg/package.json",
    "/pkg/node/host.mjs",
    "/../pkg/package.json",
    "/pkg/%2e%2e/README.md",
    "//etc/passwd",
  ]) {
    assert.equal(await statusOf(url, path), 404, path);
  }
  command.child.kill("SIGTERM");
  assert.equal(await command.exit(), 0);
});

test("a port that is taken is said, where it was asked for", async (t) => {
  const { url } = await page(t);
  const second = new Command(t, ["page", "--no-open", "--port", new URL(url).port]);
  assert.equal(await second.exit(), 2);
  assert.match(second.stderr, /Port \d+ is taken, choose another with --port\./);
});

test("a gateway serves the page attached to itself", async (t) => {
  const command = new Command(t, ["serve", "--port", "0"]);
  const [, url] = await command.until(() => /In a browser: (\S+)\n/.exec(command.stdout));
  assert.match(await (await fetch(url)).text(), /name="narrows-gateway" content="mcp"/);
  assert.equal((await fetch(`${url}main.mjs`)).headers.get("content-type"), "text/javascript; charset=utf-8");
  assert.equal(await (await fetch(`${url}healthz`)).text(), "ok");
  assert.equal((await fetch(`${url}nothing`)).status, 404);
  assert.equal((await fetch(url, { method: "POST" })).status, 404);
});

test("a gateway shows the page under the names that it serves, and no other", async (t) => {
  const statusUnder = (url, host) =>
    new Promise((resolve, reject) => {
      request(url, { headers: { host } }, (response) => resolve(response.resume().statusCode)).on("error", reject).end();
    });
  const here = new Command(t, ["serve", "--port", "0"]);
  const [, url] = await here.until(() => /In a browser: (\S+)\n/.exec(here.stdout));
  const { port } = new URL(url);
  const names = { [`localhost:${port}`]: 200, "127.9.9.9": 200, "[::1]:1": 200, "evil.example:4545": 403, "127.0.0.1.evil.example": 403 };
  for (const [name, status] of Object.entries(names)) assert.equal(await statusUnder(url, name), status, name);
  const folder = mkdtempSync(join(tmpdir(), "narrows-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const configured = (...hosts) => JSON.stringify({ server: { hosts }, auth: { tokens: [{ token: "a-token-12345", principal: "ada" }] } });
  writeFileSync(join(folder, "config.json"), configured("Gateway.example", "With.example:99"));
  const named = new Command(t, ["serve", "--host", "0.0.0.0", "--port", "0", "--config", join(folder, "config.json")]);
  const [, there] = await named.until(() => /In a browser: (\S+)\n/.exec(named.stdout));
  const local = there.replace("0.0.0.0", "127.0.0.1");
  assert.deepEqual([await statusUnder(local, "gateway.example:80"), await statusUnder(local, "WITH.example:99"), await statusUnder(local, "localhost")], [200, 200, 403]);
  writeFileSync(join(folder, "config.json"), configured("other.example"));
  named.child.kill("SIGHUP");
  for (let turn = 0; turn < 200 && (await statusUnder(local, "other.example")) !== 200; turn += 1) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual([await statusUnder(local, "other.example"), await statusUnder(local, "gateway.example")], [200, 403]);
});

test("each request is a line on standard error where that is asked for", async (t) => {
  const command = new Command(t, ["serve", "--port", "0", "--access-log"]);
  const [, url] = await command.until(() => /In a browser: (\S+)\n/.exec(command.stdout));
  await fetch(`${url}api/a2a/agents?secret=here`);
  const [line] = await command.until(() => /^\{.*\}$/m.exec(command.stderr));
  const { at, ms, bytes, ...rest } = JSON.parse(line);
  assert.ok(!Number.isNaN(Date.parse(at)) && ms >= 0 && bytes > 0);
  assert.deepEqual(rest, { event: "request_served", method: "GET", route: "/api/a2a/*", status: 200, principal: "local" });
});

test("the page is written into a folder, by itself or attached to a gateway", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "narrows-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const written = async (...words) => {
    const command = new Command(t, ["page", "--out", join(folder, "new", "page"), ...words]);
    assert.equal(await command.exit(), 0, command.stderr);
    assert.match(command.stdout, /the page is in .*page, \d+ files/);
    return (name) => readFileSync(join(folder, "new", "page", name), "utf8");
  };
  const alone = await written();
  const { url } = await page(t);
  for (const name of ["index.html", "main.mjs", "pkg/web.mjs", "ui/app.mjs"]) assert.equal(alone(name), await (await fetch(url + name)).text(), name);
  assert.match(alone("_headers"), /^\/\*\n {2}Content-Security-Policy: frame-ancestors 'none'\n/);
  for (const words of [["--port", "0"], ["--no-open"]]) {
    const both = new Command(t, ["page", "--out", folder, ...words]);
    assert.equal(await both.exit(), 2);
    assert.match(both.stderr, /--out writes the page and serves nothing/);
  }
  const attached = await written("--gateway", 'https://a.test/"><mcp');
  assert.match(attached("index.html"), /name="narrows-gateway" content="https:\/\/a\.test\/&quot;><mcp"/);
});

test("the packed package has the page in it, and leaves no copy behind", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "narrows-"));
  t.after(() => rmSync(folder, { recursive: true }));
  execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], {
    cwd: join(root, "pkg"),
    env: { ...process.env, npm_config_ignore_scripts: "false" },
  });
  assert.equal(existsSync(join(root, "pkg/www")), false);
  const [archive] = readdirSync(folder);
  execFileSync("tar", ["-xzf", archive], { cwd: folder });
  assert.equal(readFileSync(join(folder, "package/www/index.html"), "utf8"), readFileSync(join(root, "www/index.html"), "utf8"));
  const child = spawn(process.execPath, [join(folder, "package/cli.js"), "page", "--no-open", "--port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill());
  let text = "";
  for await (const piece of child.stdout.setEncoding("utf8")) {
    text += piece;
    if (text.includes("page is at")) break;
  }
  const [url] = /http:\S+/.exec(text);
  assert.equal((await fetch(`${url}pkg/dist/narrows_bg.wasm`)).headers.get("content-type"), "application/wasm");
});
