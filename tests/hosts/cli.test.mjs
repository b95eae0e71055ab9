import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { runDemo } from "../../pkg/node/demo.mjs";
import { Command, PROGRAM } from "./process.mjs";
import { httpServer } from "./servers.mjs";

/** A file for the length of a test. */
function file(t, name, text) {
  const folder = mkdtempSync(join(tmpdir(), "narrows-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, name);
  if (text !== undefined) writeFileSync(path, text);
  return path;
}

/** An address on loopback where nobody listens. */
async function freeAddress() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return address;
}

async function started(t, words, environment) {
  const command = new Command(t, words, environment);
  const hello = await command.initialize();
  return { command, hello };
}

test("--help and --version say what they should and serve nothing", async (t) => {
  const help = new Command(t, ["--help"]);
  assert.equal(await help.exit(), 0);
  for (const word of ["narrows demo", "narrows serve", "narrows page", "--no-open", "--host", "--port", "--insecure", "--config FILE", "--trace FILE", "--version", "A2A_GATEWAY_NAME", "mcpServers"])
    assert.ok(help.stdout.includes(word), word);
  const version = new Command(t, ["--version"]);
  assert.equal(await version.exit(), 0);
  const { version: expected } = JSON.parse(readFileSync(new URL("../../pkg/package.json", import.meta.url), "utf8"));
  assert.equal(version.stdout, `${expected}\n`);
});

test("bad usage is one sentence and exit code 2", async (t) => {
  const missing = join(file(t, "x"), "none.json");
  const cases = [
    [["--frobnicate"], /"--frobnicate"/],
    [["server"], /"server"/],
    [["demo", "demo"], /"demo"/],
    [["--config"], /--config needs a value: --config FILE/],
    [["serve", "--port"], /--port needs a value: --port NUMBER/],
    [["serve", "--port", "65536"], /from 0 to 65535, not "65536"/],
    [["--port", "1"], /--port belongs to narrows serve, narrows directory and narrows page/],
    [["page", "--host", "0.0.0.0"], /--host belongs to narrows serve/],
    [["page", "--trace", "t.jsonl"], /--trace is none of narrows page/],
    [["serve", "--no-open"], /--no-open belongs to narrows page/],
    [["serve", "--out", "public"], /--out belongs to narrows page/],
    [["page", "--gateway", "mcp"], /--gateway needs --out/],
    [["page", "--out", "/dev/null/page"], /cannot be written to \/dev\/null\/page/],
    [["serve", "--host", "0.0.0.0"], /0\.0\.0\.0 can be reached by others.*auth\.tokens.*--insecure/],
    [["serve", "--host", "no.such.host.invalid"], /no\.such\.host\.invalid cannot be listened on/],
    [["--config=a.json", "--config", "b.json"], /given twice/],
    [["demo", "--trace", "t.jsonl"], /demo takes no options/],
    [["--config", missing], /none\.json cannot be read/],
    [["--config", file(t, "a.json", "{ not json")], /a\.json is not JSON/],
    [["--config", file(t, "b.json", "[1]")], /b\.json must hold one JSON object/],
    [
      ["--config", file(t, "c.json", '{"external_agents":[{"name":"a","url":"http://a.test/${NARROWS_TEST_UNSET}"}]}')],
      /external_agents\[0\]\.url.*NARROWS_TEST_UNSET/,
    ],
    [["--trace", join(missing, "t.jsonl")], /trace cannot be written/],
  ];
  for (const [words, sentence] of cases) {
    const command = new Command(t, words);
    assert.equal(await command.exit(), 2, words.join(" "));
    assert.match(command.stderr, sentence);
    assert.match(command.stderr, /^narrows: [^\n]*\n$/);
    assert.equal(command.stdout, "");
  }
});

test("a configuration that the core refuses is told by its key", async (t) => {
  const command = new Command(t, ["--config", file(t, "a.json", '{"histroy":{"depth":1},"poll_timeout_seconds":"soon"}')]);
  assert.equal(await command.exit(), 2);
  assert.match(command.stderr, /histroy/);
  assert.match(command.stderr, /poll_timeout_seconds/);
});

test("a configuration is refused with every fault of it, those that only the command sees included", async (t) => {
  const text = `{"histroy":1,"name":"a","external_agents":[
    {"name":"a","url":"\${NARROWS_TEST_UNSET_URL}","headers":{"X-Key":"\${NARROWS_TEST_UNSET_KEY}","X-Key":"\${HOME}"}},
    {"name":"b","url":"http://169.254.169.254/","url":"http://b.test/"},{"name":"c","url":"http://169.254.169.254/"}],
    "auth":{"tokens":[{"token":"\${NARROWS_TEST_UNSET_TOKEN}","principal":"ada"}]},"name":"b,\\"{"}`;
  const command = new Command(t, ["--config", file(t, "a.json", text)]);
  assert.equal(await command.exit(), 2);
  for (const part of [
    "`name` is given twice",
    "`external_agents[0].headers.X-Key` is given twice",
    "`external_agents[1].url` is given twice",
    "`external_agents[0].url` names the environment variable NARROWS_TEST_UNSET_URL",
    "`auth.tokens[0].token` names the environment variable NARROWS_TEST_UNSET_TOKEN",
    "`histroy` is not a known key",
    "`external_agents[2].url` is not called",
  ]) {
    assert.ok(command.stderr.includes(part), `${part}: ${command.stderr}`);
  }
  assert.equal(command.stderr.split(";").length, 7, command.stderr);
  assert.match(command.stderr, /^narrows: [^\n]*\n$/);
});

test("name and version come from the environment, else from the file, else from the package", async (t) => {
  const config = file(t, "a.json", '\uFEFF{"name":"from-file","version":"1.2.3"}');
  const both = await started(t, ["--config", config], { A2A_GATEWAY_NAME: "from-env", A2A_GATEWAY_VERSION: "" });
  assert.deepEqual([both.hello.serverInfo.name, both.hello.serverInfo.version], ["from-env", "1.2.3"]);
  const neither = await started(t, []);
  assert.equal(neither.hello.serverInfo.name, "narrows");
});

test("messages are read however they arrive, and noise between them is survived", async (t) => {
  const { command } = await started(t, []);
  const bytes = Buffer.from('{"jsonrpc":"2.0","id":"é🙂","method":"ping"}\r\n');
  for (const byte of bytes) {
    command.raw(Buffer.from([byte]));
    if (byte >= 0x80) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await command.answer("é🙂");
  command.raw("\n\r\n  \nnot json\n{broken\nnull\n123\n\u0000\u0001\nINFO {}\n");
  command.raw(
    '{"jsonrpc":"2.0","id":1,"method":"ping"}\n{"jsonrpc":"2.0","id":2,"method":"ping"}\n{"jsonrpc":"2.0","id":3,"meth',
  );
  await command.answer(2);
  command.raw('od":"ping"}\n');
  await command.answer(3);
  assert.ok(command.messages.every((message) => message.jsonrpc === "2.0"));
});

test("a byte order mark before the first message is passed over", async (t) => {
  const command = new Command(t);
  command.raw('\uFEFF{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  await command.answer(1);
});

test("Content-Length framing is explained on stderr, and answered", async (t) => {
  const command = new Command(t);
  command.raw('Content-Length: 40\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  await command.answer(1);
  await command.until(() => /Content-Length/.test(command.stderr));
});

test("a message of 33 MiB is refused by its id, and the session goes on", async (t) => {
  const { command } = await started(t, []);
  command.raw(
    `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"send_message","arguments":{"agent":"a","message":"`,
  );
  command.raw(Buffer.alloc(33 << 20, "y"));
  command.raw('"}}}\n{"jsonrpc":"2.0","id":8,"method":"ping"}\n');
  await command.answer(8);
  const { error, result } = await command.answer(7);
  assert.ok(error !== undefined || result.isError);
});

test("the last line needs no line end", async (t) => {
  const command = new Command(t);
  command.raw('{"jsonrpc":"2.0","id":1,"method":"ping"}');
  command.leave();
  assert.equal(await command.exit(), 0);
  assert.equal(command.messages[0].id, 1);
});

/** A command with a call under way to an agent that never answers; `closed` settles when its connection closes. */
async function withCallInFlight(t) {
  let arrived;
  const arrival = new Promise((resolve) => (arrived = resolve));
  const origin = await httpServer(t, (request, response) => {
    if (request.method === "GET") return response.writeHead(404).end();
    arrived(request);
  });
  const { command } = await started(t, []);
  await command.call(1, "connect_agent", { alias: "mute", agent_url: origin });
  command.send({
    id: 2,
    method: "tools/call",
    params: { name: "send_message", arguments: { agent: "mute", message: "hello?" } },
  });
  const request = await arrival;
  return { command, closed: once(request.socket, "close") };
}

test("when the client leaves or the process is told to end, calls in flight end with it, with code 0", async (t) => {
  for (const end of [
    (command) => command.leave(),
    (command) => command.child.kill("SIGTERM"),
    (command) => command.child.kill("SIGINT"),
    (command) => command.child.stdout.destroy(),
  ]) {
    const { command, closed } = await withCallInFlight(t);
    const since = performance.now();
    end(command);
    if (command.child.stdout.destroyed) command.send({ id: 3, method: "ping" }); // so that it notices
    assert.equal(await command.exit(), 0);
    await closed;
    assert.ok(performance.now() - since < 3000, "it hangs");
  }
});

test("a client that is there when the process is told to end is told what became of its calls", async (t) => {
  const { command } = await withCallInFlight(t);
  command.child.kill("SIGTERM");
  const { result } = await command.answer(2);
  assert.equal(result.structuredContent.error.code, "canceled");
  assert.match(result.content[0].text, /the gateway is stopping/);
  assert.equal(await command.exit(), 0);
});

test("the trace holds every input, for its owner alone", async (t) => {
  const trace = file(t, "t.jsonl", "older and longer than what comes");
  const { command } = await started(t, ["--trace", trace]);
  command.leave();
  assert.equal(await command.exit(), 0);
  const lines = readFileSync(trace, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.ok(lines.length >= 4);
  assert.ok(readFileSync(trace, "utf8").includes("initialize"));
  assert.equal(statSync(trace).mode & 0o777, 0o600);
});

/** What the demo writes, and its exit code. */
async function demo(options) {
  let text = "";
  const code = await runDemo({ isTTY: false, write: (piece) => (text += piece) }, { pace_ms: 10, ...options });
  return { code, text };
}

test("the demo shows a conversation and succeeds", async () => {
  const { code, text } = await demo();
  assert.equal(code, 0, text);
  for (const words of [
    /tools: .*send_message/,
    /mushroom risotto/,
    /For how many, and when\?/,
    /A table is booked: Four people, at eight\./,
    /Called off\. \(state: canceled\)/,
    /bistro at http.* is healthy/,
  ]) {
    assert.match(text, words);
  }
  assert.ok(!text.includes("\u001b"), "no colours where there is no terminal");
});

test("a demo whose reader leaves ends, and a server goes on", async (t) => {
  const demo = new Command(t, ["demo"]);
  demo.child.stdout.destroy();
  assert.equal(await demo.exit(), 0);
  assert.equal(demo.stderr, "");
  const { port } = await freeAddress();
  const server = new Command(t, ["serve", "--port", String(port)]);
  server.child.stdout.destroy();
  let answer;
  while (answer === undefined && server.child.exitCode === null) {
    answer = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => sleep(20));
  }
  assert.equal(answer?.status, 200, server.stderr);
});

test("a demo whose gateway does not run says which step failed", async (t) => {
  const { code, text } = await demo({ program: file(t, "broken.mjs", 'throw new Error("no such gateway")') });
  assert.equal(code, 1);
  assert.match(text, /The step "an MCP client meets the gateway" failed: .*no such gateway/s);
});

test("the program is executable by itself", () => {
  assert.ok(statSync(PROGRAM).mode & 0o111);
  assert.ok(readFileSync(PROGRAM, "utf8").startsWith("#!/usr/bin/env node\n"));
});
