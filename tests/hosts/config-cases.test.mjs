// Configuration files as they are found in the field, names and hosts replaced.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { readConfigFile } from "../../pkg/node/config-file.mjs";
import { readConfiguration } from "../../pkg/node/configuration.mjs";
import { Core } from "../../pkg/node/core.mjs";
import { fromMcpJson } from "../../pkg/node/mcp-json.mjs";
import { genesis } from "../../pkg/node/process.mjs";
import { Command } from "./process.mjs";

const file = (name) => fileURLToPath(new URL(`../data/cases/configs/${name}`, import.meta.url));

/** What the core makes of a file: nothing but faults, if it has any. */
function loaded(name, environment = {}) {
  const configuration = readConfiguration(file(name), environment);
  new Core(genesis(), configuration).free();
  return configuration.mcp_servers;
}

const short = ({ name, transport, env, headers }) => [name, transport.type, transport.command ?? transport.url, ...(env ?? headers ?? [])];

test("01: other members of the file are another program's", () => {
  assert.deepEqual(loaded("01-mcphub-settings.json").map(short), [
    ["maps", "stdio", "npx", "MAPS_API_KEY=your-api-key"],
    ["playwright", "stdio", "npx"],
    ["fetch", "stdio", "uvx"],
    ["slack", "stdio", "npx", "SLACK_BOT_TOKEN=your-bot-token", "SLACK_TEAM_ID=your-team-id"],
  ]);
});

test("a server that is switched off is none, in either spelling", () => {
  const mcpServers = { a: { command: "x", enabled: true }, b: { command: "x", enabled: false }, c: { command: "x", disabled: true } };
  const { value, warnings } = fromMcpJson({ mcpServers }, {});
  assert.deepEqual([value.mcp_servers.map(({ name }) => name), warnings], [["a"], []]);
});

test("02: an input that another program asks for is an error that names it, and is never sent", () => {
  assert.throws(() => loaded("02-vscode-slash-names-inputs.json"), /`docs7` wants the input DOCS7_API_KEY/);
  const { value, warnings } = readConfigFile(file("02-vscode-slash-names-inputs.json"));
  assert.ok(!JSON.stringify(value).includes("${"));
  assert.equal(warnings.filter((words) => words.includes("gallery, version")).length, 2);
  new Core(genesis(), value).free();
  assert.deepEqual(value.mcp_servers.map(({ name }) => name), ["sequential-thinking", "docs7", "vendor/playwright-mcp", "io.github.vendor/next-devtools-mcp"]);
});

test("04: ten servers whose names begin alike", () => {
  const servers = loaded("04-ten-hyphenated-servers.json");
  assert.equal(new Set(servers.map(({ name }) => name)).size, 10);
  assert.deepEqual(servers[0].transport.args, ["mcp-servers/github/src/server.py"]);
});

test("05: processes and URLs in one file", () => {
  assert.deepEqual(loaded("05-http-and-stdio.json").map(short), [["page-extension", "stdio", "npx"], ["errors", "http", "https://mcp.errors.test/mcp"]]);
});

test("07: tables inline and below, a variable passed on and one that is set", () => {
  const configuration = readConfiguration(file("07-librefang.toml"), {});
  new Core(genesis(), configuration).free();
  assert.deepEqual(configuration.mcp_servers.map(short), [["files", "stdio", "npx"], ["forge", "stdio", "npx", "FORGE_TOKEN", "MODE=readonly"]]);
});

test("08: a flat entry is refused, and its members are named", () => {
  const read = () => loaded("08-toml-flat-entry.toml");
  for (const words of [/mcp_servers\[0\]\.command` is not a known key/, /mcp_servers\[0\]\.env` must be a list/, /transport` is missing/]) assert.throws(read, words);
});

test("10: comments, commas before brackets, and variables with a value in their place", () => {
  assert.throws(() => loaded("10-env-default-headers.jsonc"), /API_KEY, which is not set/);
  const value = JSON.parse(readFileSync(file("10-env-default-headers.jsonc"), "utf8").replace(/^\s*\/\/.*|,(?=\s*})/gm, ""));
  const of = (environment) => fromMcpJson(value, environment).value.mcp_servers.map(short);
  assert.deepEqual(of({ API_KEY: "k" }), [["api-server", "sse", "https://api.test/mcp", "Authorization: Bearer k"]]);
  assert.deepEqual(of({ API_KEY: "k", API_BASE_URL: "https://b.test" })[0][2], "https://b.test/mcp");
});

test("what looks like a comment in a text is none", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "narrows-config-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "narrows.jsonc");
  writeFileSync(path, '// first\n{ "mcpServers": { "a": { "command": "x", /* why */ "args": ["https://a.test/,]", "\\"//", "/* no */",], }, }, }\n');
  const { value } = readConfigFile(path);
  assert.deepEqual(value.mcp_servers[0].transport.args, ["https://a.test/,]", '"//', "/* no */"]);
  writeFileSync(path, '{ "a": 1,\n /* never closed \n}');
  assert.throws(() => readConfigFile(path), /is not JSON/);
});

test("11, 13: a word for the transport, a name with an underscore, a field without a value", () => {
  assert.deepEqual(loaded("11-url-with-transport-word.json").map(short), [["netbox", "http", "http://localhost:8000/mcp"]]);
  assert.deepEqual(loaded("13-headers-api-key.json").map(short), [["server-name", "http", "http://localhost:3000/mcp", "API_KEY: value"]]);
});

test("14: the command as another host starts it", async (t) => {
  const { env } = JSON.parse(readFileSync(file("14-a2a-gateway-env.json"), "utf8")).mcpServers["a2a-gateway"];
  const command = new Command(t, [], { ...env, HOME: "/nonexistent", XDG_CONFIG_HOME: "" });
  const { serverInfo } = await command.initialize();
  assert.deepEqual([serverInfo.name, serverInfo.version], ["my-gateway", "1.0.0"]);
});
