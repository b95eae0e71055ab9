import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { Gateway } from "../../pkg/node.mjs";
import { logIn } from "../../pkg/node/login.mjs";
import { TokenStore } from "../../pkg/node/token-store.mjs";
import { Guarded } from "./authorization-server.mjs";
import { Command } from "./process.mjs";

async function guarded(t) {
  const server = await new Guarded().listen();
  t.after(() => server.close());
  return server;
}

function folder(t) {
  const made = mkdtempSync(join(tmpdir(), "narrows-login-"));
  t.after(() => rmSync(made, { recursive: true }));
  return made;
}

/** A gateway before a server; `heard` waits for a notice. */
async function opened(t, { url }, options = {}) {
  const notices = [];
  const waiting = [];
  const onNotice = (notice) => {
    notices.push(notice);
    for (const look of waiting.splice(0)) look();
  };
  const config = { network: { allow_private: true }, mcp_servers: [{ name: "g", transport: { type: "http", url }, taint_scanning: false }] };
  const gateway = await Gateway.open({ config, onNotice, ...options });
  t.after(() => gateway.dispose());
  const heard = async (event) => {
    for (;;) {
      const found = notices.findIndex((notice) => notice.event === event);
      if (found >= 0) return notices.splice(found, 1)[0];
      await new Promise((resolve) => waiting.push(resolve));
    }
  };
  return { gateway, heard, notices };
}

/** A login whose browser is the test's. @returns {Promise<string>} the page at its end */
async function loggedIn(gateway, server, options) {
  let page;
  await logIn(gateway, "g", { say: () => {}, open: (url) => (page = server.visit(url, options)) });
  return (await page).text();
}

test("somebody logs in, and calls are made; more scopes are asked for by the next login", async (t) => {
  const server = await guarded(t);
  const { gateway, heard } = await opened(t, server);
  const { fields } = await heard("authorization_needed");
  assert.equal(fields.server, "g");
  assert.match(await loggedIn(gateway, server), /You are logged in at g/);
  await heard("link_ready");
  assert.match((await gateway.call("mcp_g_read")).text, /you are Bearer \[redacted\]/);
  await assert.rejects(gateway.call("mcp_g_write"), /wants more scopes \(write\).*narrows mcp login g/);
  await loggedIn(gateway, server);
  await gateway.call("mcp_g_write");
  assert.equal(server.counts["/register"], 2);
});

test("a login that comes to nothing says why, and another may follow", async (t) => {
  const server = await guarded(t);
  const { gateway, heard } = await opened(t, server);
  await heard("authorization_needed");
  await assert.rejects(loggedIn(gateway, server, { yes: false }), /access_denied/);
  await assert.rejects(loggedIn(gateway, server, { iss: "https://evil.test" }), /another authorization server/);
  assert.equal(server.counts["/token"], undefined);
  await loggedIn(gateway, server);
  await heard("link_ready");
});

test("the listener takes what was asked for and nothing else", async (t) => {
  const server = await guarded(t);
  const { gateway, heard } = await opened(t, server);
  await heard("authorization_needed");
  const seen = [];
  const ending = new AbortController();
  const login = logIn(gateway, "g", {
    say: () => {},
    signal: ending.signal,
    open: async (url) => {
      const back = new URL(new URL(url).searchParams.get("redirect_uri"));
      assert.equal(back.hostname, "127.0.0.1");
      for (const query of ["", "?code=x", "?code=x&state=other"]) seen.push((await fetch(back.href + query)).status);
      seen.push((await fetch(back.href + "?" + new URL(url).search, { method: "POST" })).status);
      ending.abort();
    },
  });
  await assert.rejects(login, /nobody logged in/);
  assert.deepEqual(seen, [404, 404, 404, 404]);
  assert.equal(server.counts["/token"], undefined);
});

test("one new token serves all calls, and all gateways that share a store", async (t) => {
  const server = await guarded(t);
  const at = folder(t);
  const tokens = new TokenStore(at);
  const one = await opened(t, server, { tokens });
  await one.heard("authorization_needed");
  await loggedIn(one.gateway, server);
  await one.heard("link_ready");
  const two = await opened(t, server, { tokens: new TokenStore(at) });
  await two.heard("link_ready");
  server.expire();
  const before = server.counts["/token"];
  const calls = [one, two].flatMap(({ gateway }) => Array.from({ length: 5 }, () => gateway.call("mcp_g_read")));
  for (const { text } of await Promise.all(calls)) assert.match(text, /you are/);
  assert.equal(server.counts["/token"], before + 1);
  // What is no good any more is for the person to renew.
  server.revoke();
  await assert.rejects(one.gateway.call("mcp_g_read"), /narrows mcp login g/);
});

test("tokens are kept in files of their owner, replaced as a whole", async (t) => {
  const at = join(folder(t), "tokens");
  const store = new TokenStore(at);
  assert.equal(await store.load("a", "https://a.test/"), undefined);
  store.save("a", "https://a.test/", '{"x":1}');
  store.save("a", "https://b.test/", '{"x":2}');
  assert.equal(await store.load("a", "https://a.test/"), '{"x":1}');
  const names = readdirSync(at);
  assert.equal(names.length, 2);
  if (process.platform !== "win32") {
    assert.equal(statSync(at).mode & 0o777, 0o700);
    for (const name of names) assert.equal(statSync(join(at, name)).mode & 0o777, 0o600);
  }
  // One at a time replaces a record; who comes second sees what the first one kept.
  assert.equal(await store.load("a", "https://a.test/", { refresh: true }), '{"x":1}');
  const second = new TokenStore(at).load("a", "https://a.test/", { refresh: true });
  store.save("a", "https://a.test/", '{"x":3}');
  assert.equal(await second, '{"x":3}');
  // A gateway that was ended meanwhile is not waited for for ever.
  const lock = join(at, readdirSync(at).find((name) => name.endsWith(".lock")));
  utimesSync(lock, new Date(0), new Date(0));
  assert.equal(await store.load("a", "https://a.test/", { refresh: true }), '{"x":3}');
  store.save("a", "https://a.test/", '{"x":4}');
  assert.deepEqual([store.remove("a", "https://a.test/"), store.remove("a", "https://a.test/")], [true, false]);
});

test("a store that fails is told of, and the login is asked for", async (t) => {
  const server = await guarded(t);
  const broken = async () => {
    throw new Error("the disk is gone");
  };
  const { heard } = await opened(t, server, { tokens: { load: broken, save: broken } });
  assert.match((await heard("host_error")).fields.message, /the disk is gone/);
  await heard("authorization_needed");
});

test("no secret of a login is in notices, answers, traces and snapshots to hand on", async (t) => {
  const server = await guarded(t);
  const lines = [];
  const { gateway, heard, notices } = await opened(t, server, { onTrace: (line) => lines.push(line) });
  const said = [];
  const keep = (notice) => said.push(JSON.stringify(notice));
  keep(await heard("authorization_needed"));
  await loggedIn(gateway, server);
  keep(await heard("link_ready"));
  said.push((await gateway.call("mcp_g_read")).text);
  server.expire();
  said.push((await gateway.call("mcp_g_read")).text);
  server.revoke();
  await gateway.call("mcp_g_read").catch((error) => said.push(error.message));
  const told = [...said, ...notices.map((notice) => JSON.stringify(notice)), ...lines, ...gateway.snapshot({ secrets: false })];
  assert.ok(lines.length > 50 && server.secrets.length >= 6);
  for (const secret of server.secrets) assert.ok(!told.some((text) => text.includes(secret)), secret);
});

test("the command logs in, tests, lists and logs out", async (t) => {
  const server = await guarded(t);
  const at = folder(t);
  const home = join(at, "narrows");
  mkdirSync(home);
  const toml = `[network]\nallow_private = true\n[[mcp_servers]]\nname = "g"\ntransport = { type = "http", url = "${server.url}" }\n`;
  writeFileSync(join(home, "narrows.toml"), toml);
  const environment = { XDG_CONFIG_HOME: at, APPDATA: at, NARROWS_CONFIG: "" };
  const run = async (...words) => {
    const command = new Command(t, ["mcp", ...words], environment);
    command.child.stdin.end();
    return { code: await command.exit(), stdout: command.stdout, stderr: command.stderr };
  };
  assert.match((await run("list")).stdout, /login needed: narrows mcp login g/);
  const failed = await run("test", "g");
  assert.deepEqual([failed.code, /narrows mcp login g/.test(failed.stdout)], [1, true]);
  const login = new Command(t, ["mcp", "login", "g", "--no-open"], environment);
  const [, url] = await login.until(() => /^ {2}(http\S+)$/m.exec(login.stderr));
  assert.match(await (await server.visit(url)).text(), /logged in at g/);
  assert.equal(await login.exit(), 0);
  assert.match(login.stdout, /Logged in: g/);
  const ready = await run("test", "g");
  assert.deepEqual([ready.code, /ready after/.test(ready.stdout)], [0, true], ready.stdout);
  const [name] = readdirSync(join(home, "tokens"));
  assert.ok(server.secrets.some((secret) => readFileSync(join(home, "tokens", name), "utf8").includes(secret)));
  for (const secret of server.secrets) assert.ok(![login.stdout, login.stderr, ready.stdout].join().includes(secret));
  assert.match((await run("logout", "g")).stdout, /Logged out/);
  assert.match((await run("logout", "g")).stdout, /no tokens/);
  assert.match((await run("list")).stdout, /login needed/);
  assert.equal((await run("login", "other")).code, 2);
});

test("the secret of a client comes from the variable that the configuration names", async (t) => {
  const server = await guarded(t);
  const at = folder(t);
  const file = join(at, "narrows.json");
  const oauth = { client_id: "mine", client_secret_env: "NARROWS_TEST_SECRET", scopes: ["read"] };
  writeFileSync(file, JSON.stringify({ network: { allow_private: true }, mcp_servers: [{ name: "g", transport: { type: "http", url: server.url }, oauth }] }));
  const run = async (environment) => {
    const command = new Command(t, ["mcp", "list", "--config", file], { XDG_CONFIG_HOME: at, APPDATA: at, ...environment });
    command.child.stdin.end();
    return { code: await command.exit(), stdout: command.stdout, stderr: command.stderr };
  };
  const unset = await run({});
  assert.equal(unset.code, 2);
  assert.match(unset.stderr, /NARROWS_TEST_SECRET, which is not set/);
  assert.match((await run({ NARROWS_TEST_SECRET: "its-secret-1" })).stdout, /login needed/);
  await assert.rejects(Gateway.open({ config: JSON.parse(readFileSync(file, "utf8")) }), /client_secret_env.*client_secret/);
});
