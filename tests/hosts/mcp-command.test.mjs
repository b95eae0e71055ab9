import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Command } from "./process.mjs";

/** A user's home for the length of a test, with files in it. */
function home(t, files = {}) {
  const folder = mkdtempSync(join(tmpdir(), "narrows-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const environment = { HOME: folder, XDG_CONFIG_HOME: "", XDG_STATE_HOME: "", APPDATA: "", NARROWS_CONFIG: "", BRAVE_API_KEY: "", LANG: "C", LC_ALL: "" };
  const run = async (words, more = {}) => {
    const command = new Command(t, ["mcp", ...words], { ...environment, ...more });
    command.child.stdin.end();
    return { code: await command.exit(), stdout: command.stdout, stderr: command.stderr };
  };
  return { folder, run, file: join(folder, ".config/narrows/narrows.toml") };
}

test("the catalog is searched by its words, as a table and as JSON", async (t) => {
  const { run } = home(t, { ".config/narrows/catalog/mine.toml": 'id = "mine"\nname = "Mine"\ndescription = "of my own"\n[transport]\ntype = "stdio"\ncommand = "mine"\n[i18n.de]\ndescription = "meines"\n' });
  const all = await run(["catalog"]);
  assert.equal(all.code, 0);
  for (const id of ["filesystem", "github", "postgres", "everyapi", "mine"]) assert.match(all.stdout, new RegExp(`^${id} `, "m"));
  const found = JSON.parse((await run(["catalog", "SQL", "database", "--json"])).stdout);
  assert.deepEqual(found.map(({ id }) => id), ["postgres", "sqlite"]);
  assert.match((await run(["catalog", "mine"], { LANG: "de_DE.UTF-8" })).stdout, /meines/);
  assert.match((await run(["catalog", "nothing like it"])).stdout, /No entry has/);
});

test("an entry of the catalog that is no good is told and left out", async (t) => {
  const broken = { "bad.toml": "id = ", "odd.toml": 'id = "odd"\nname = "x"\ndescription = "x"\nenvs = 1\n[transport]\ntype = "stdio"\n' };
  const { run } = home(t, Object.fromEntries(Object.entries(broken).map(([name, text]) => [`.config/narrows/catalog/${name}`, text])));
  const { code, stdout, stderr } = await run(["catalog"]);
  assert.equal(code, 0);
  assert.match(stderr, /bad\.toml is left out: line 1/);
  assert.match(stderr, /odd\.toml is left out: `envs` is not a known key/);
  assert.ok(!stdout.includes("odd") && stdout.includes("github"));
});

test("servers are added to the file and taken out of it, and its comments stay", async (t) => {
  const mine = '# mine\nname = "g" # short\n';
  const { run, file } = home(t, { ".config/narrows/narrows.toml": mine });
  const added = await run(["add", "filesystem", "--arg", "/tmp/a b", "--name", "files"]);
  assert.deepEqual([added.code, added.stdout.startsWith("Ready: files is in ")], [0, true], added.stderr);
  const text = readFileSync(file, "utf8");
  assert.ok(text.startsWith(mine));
  assert.match(text, /args = \["-y", "@modelcontextprotocol\/server-filesystem", "\/tmp\/a b"\]/);
  const again = await run(["add", "filesystem", "--name", "FILES"]);
  assert.equal(again.code, 2);
  assert.match(again.stderr, /already/);
  assert.deepEqual(JSON.parse((await run(["remove", "files", "--json"])).stdout), { removed: "files", file });
  assert.equal(readFileSync(file, "utf8"), mine);
  const gone = await run(["remove", "files"]);
  assert.deepEqual([gone.code, /no \[\[mcp_servers\]\] table/.test(gone.stderr)], [2, true]);
});

test("a value that is missing is named, one of the environment is forwarded, one that is given is kept", async (t) => {
  const { run, file } = home(t);
  const missing = await run(["add", "brave-search"]);
  assert.equal(missing.code, 2);
  assert.match(missing.stderr, /Nothing was added[^]*--key BRAVE_API_KEY=/);
  assert.equal((await run(["add", "brave-search"], { BRAVE_API_KEY: "from-outside" })).code, 0);
  assert.match(readFileSync(file, "utf8"), /env = \["BRAVE_API_KEY"\]/);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal((await run(["add", "brave-search", "--name", "two", "--key", "BRAVE_API_KEY=a=b"])).code, 0);
  assert.match(readFileSync(file, "utf8"), /env = \["BRAVE_API_KEY=a=b"\]/);
  const secret = await run(["add", "brave-search", "--name", "three", "--key", "hunter2"]);
  assert.deepEqual([secret.code, secret.stderr.includes("hunter2")], [2, false]);
});

test("bad usage is one sentence and exit code 2", async (t) => {
  const { run } = home(t);
  for (const [words, said] of [
    [["nonsense"], /no command of narrows mcp/],
    [["add"], /the ID of a catalog entry/],
    [["add", "githb"], /no "githb"; near: [^]*github/],
    [["remove", "a", "b"], /the NAME of a server/],
    [["catalog", "--nope"], /Unknown option '--nope'/],
    [["catalog", "--config", "/nowhere/x.toml"], /cannot be read/],
  ]) {
    const { code, stdout, stderr } = await run(words);
    assert.deepEqual([code, stdout, stderr.split("\n").length], [2, "", 2], words.join(" "));
    assert.match(stderr, said);
  }
  assert.match((await run(["--help"])).stdout, /narrows mcp add ID[^]*narrows mcp explain TOOL/);
});

test("a configuration in TOML is read, and every fault of it is told with its place", async (t) => {
  const { run, file } = home(t, { ".config/narrows/narrows.toml": 'name = "mine"\n\n[history]\ndepht = 3\nmax_entry_length = "x"\n' });
  const refused = await run([]);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /`history\.depht` \(line 4, column 1\)/);
  assert.match(refused.stderr, /`history\.max_entry_length` \(line 5, column 1\)/);
  writeFileSync(file, "name = \"a\"\nnam = 1\n");
  assert.match((await run([])).stderr, /`nam` \(line 2, column 1\) is not a known key: did you mean `name`\?/);
  writeFileSync(file, "name = \n[x\n");
  const broken = await run([]);
  assert.match(broken.stderr, /is not TOML: line 1, column[^]*line 2, column/);
});

test("a server of the catalog is asked whether it is alive as its entry says, unless it says so itself", async (t) => {
  const program = fileURLToPath(new URL("mcp-server.mjs", import.meta.url));
  const entry = (id, check) => `id = "${id}"\nname = "x"\ndescription = "x"\n[transport]\ntype = "stdio"\ncommand = "x"\n${check}`;
  const server = (name, more, mode = "plain") => `[[mcp_servers]]\nname = "${name}"\ntransport = { type = "stdio", command = "node", args = [${JSON.stringify(program)}, "${mode}"] }\n${more}\n`;
  const { run } = home(t, {
    ".config/narrows/catalog/often.toml": entry("often", "[health_check]\ninterval_secs = 7\n"),
    ".config/narrows/catalog/plain.toml": entry("plain", ""),
    ".config/narrows/catalog/wrong.toml": entry("wrong", "[health_check]\ninterval_secs = 0\n"),
    ".config/narrows/narrows.toml": [
      server("a", 'template_id = "often"'),
      server("b", 'template_id = "plain"'),
      server("c", 'template_id = "often"\nhealth_check = { interval_secs = 9, unhealthy_threshold = 1 }'),
      server("d", 'template_id = "wrong"'),
      server("e", 'template_id = "../often"'),
      server("f", ""),
      server("g", "health_check = {}", "deaf"),
    ].join("\n"),
  });
  const seen = JSON.parse((await run(["list", "--json"])).stdout);
  assert.deepEqual(seen.map(({ name, state, health, health_check }) => [name, state, health, health_check]), [
    ["a", "ready", "healthy", { interval_secs: 7 }],
    ["b", "ready", "healthy", {}],
    ["c", "ready", "healthy", { interval_secs: 9, unhealthy_threshold: 1 }],
    ["d", "ready", undefined, undefined],
    ["e", "ready", undefined, undefined],
    ["f", "ready", undefined, undefined],
    ["g", "ready", "unhealthy", {}],
  ]);
  const { stdout } = await run(["list"]);
  assert.match(stdout, /^a .* healthy, asked each 7 s +ready/m);
  assert.match(stdout, /^g .* unhealthy, asked each 60 s +ready/m);
});

test("servers are started side by side and told with what they offer, or why they failed", async (t) => {
  const program = fileURLToPath(new URL("mcp-server.mjs", import.meta.url));
  const server = (name, command, ...args) => `[[mcp_servers]]\nname = "${name}"\ntransport = { type = "stdio", command = "${command}", args = ${JSON.stringify(args)} }\n`;
  const text = server("mine", "node", program) + server("gone", "no-such-program") + server("dies", "node", program, "broken") + server("bare", "node", program, "bare");
  const { run } = home(t, { ".config/narrows/narrows.toml": text });
  const listed = await run(["list"]);
  assert.equal(listed.code, 0, listed.stderr);
  assert.match(listed.stdout, /^mine +stdio node +5 +ready/m);
  assert.match(listed.stdout, /^gone .*failed: .*no-such-program/m);
  const states = JSON.parse((await run(["list", "--json"])).stdout).map(({ name, state, tools }) => [name, state, tools]);
  assert.deepEqual(states, [["mine", "ready", 5], ["gone", "failed", 0], ["dies", "failed", 0], ["bare", "ready", 5]]);
  assert.match((await run(["test", "bare"])).stdout, /, 5 tools\n {2}mcp_bare_echo\n/);
  const tested = await run(["test", "mine"]);
  assert.match(tested.stdout, /^mine: ready after [\d.]+ s, .*MCP 2025-\d\d-\d\d, 5 tools\n {2}mcp_mine_echo: echo it\n/);
  const dead = await run(["test", "dies"]);
  assert.equal(dead.code, 1);
  assert.match(dead.stdout, /^dies: failed after [^]*\n {2}\| SyntaxError: x/);
  assert.equal((await run(["test", "none"])).code, 2);
});

test("a call is explained rule by rule without any server, and with it by what it lists", async (t) => {
  const program = fileURLToPath(new URL("mcp-server.mjs", import.meta.url));
  const text = `[[mcp_servers]]
name = "mine"
transport = { type = "stdio", command = "node", args = ${JSON.stringify([program])} }
[[mcp_servers]]
name = "other"
transport = { type = "stdio", command = "no-such-program" }
[approval]
require_approval = ["mcp_mine_e*"]
[[approval.channel_rules]]
channel = "web"
denied_tools = ["mcp_mine_echo"]
[[users]]
id = "ada"
[agents.cron]
mcp_servers = ["other"]
[agents.default]
mcp_servers = ["*"]
`;
  const { run } = home(t, { ".config/narrows/narrows.toml": text });
  const asks = await run(["explain", "mcp_mine_echo", "--sender", "ada"]);
  assert.equal(asks.code, 3, asks.stderr);
  assert.match(asks.stdout, /^mcp_mine_echo of mine: the call would wait for a person$/m);
  assert.match(asks.stdout, /^ 5 +approval +needed +`approval.require_approval` has mcp_mine_e\*$/m);
  assert.match(asks.stdout, /^Not known here:\n {2}whether mine has such a tool/m);
  for (const [words, code, said] of [
    [["--sender", "ada", "--approved"], 0, /approved the tool before/],
    [["--sender", "eve"], 3, /whatever was approved before[^]*force human +the sender eve is not in `users`/],
    [["--sender", "ada", "--channel", "web"], 4, /refused: the channel web denies mcp_mine_echo/],
    [["--sender", "ada", "--agent", "cron"], 4, /`agents\.cron\.mcp_servers` does not have mine/],
    [["--sender", "ada", "--arguments", '{"password":"hunter2x"}'], 4, /scan +deny +.*\$\.password/],
  ]) {
    const answer = await run(["explain", "mcp_mine_echo", ...words]);
    assert.deepEqual([answer.code, said.test(answer.stdout)], [code, true], answer.stdout + answer.stderr);
  }
  const listed = await run(["explain", "mcp_mine_echo", "--sender", "ada", "--start", "--json"]);
  assert.equal(listed.code, 3, listed.stderr);
  const { answers } = JSON.parse(listed.stdout);
  assert.deepEqual(answers.map(({ raw_tool, trace }) => [raw_tool, trace[0].outcome]), [["echo", "pass"]]);
  const none = await run(["explain", "mcp_mine_eco", "--sender", "ada", "--start"]);
  assert.equal(none.code, 4);
  assert.match(none.stdout, /no server offers a tool of that name; offered are mcp_mine_echo/);
  assert.equal((await run(["explain", "x", "--arguments", "[]"])).code, 2);
  assert.equal((await run(["explain", "send_message"])).code, 0);
});

test("nothing is added that the gateway would refuse, and what a server at a URL needs goes into its header fields", async (t) => {
  const entry = (id, transport, more = "") => `id = "${id}"\nname = "x"\ndescription = "x"\n${more}[transport]\n${transport}\n[[required_env]]\nname = "REMOTE_KEY"\n`;
  const remote = 'type = "http"\nurl = "https://x.test/mcp"';
  const mine = 'name = "g"\n[[external_agents]]\nname = "a"\nurl = "${AGENT_URL_OF_ELSEWHERE}"\n';
  const { run, file } = home(t, {
    ".config/narrows/narrows.toml": mine,
    ".config/narrows/catalog/remote.toml": entry("remote", remote, 'headers = ["X-Key: ${REMOTE_KEY}"]\n'),
    ".config/narrows/catalog/mute.toml": entry("mute", remote),
    ".config/narrows/catalog/shell.toml": 'id = "shell"\nname = "x"\ndescription = "x"\n[transport]\ntype = "stdio"\ncommand = "bash"\n',
  });
  for (const [words, said] of [
    [["add", "shell"], /Nothing was added[^]*`mcp_servers\[0\]\.transport\.command` \(line \d+, column \d+\) must not be a shell/],
    [["add", "filesystem", "--name", ""], /Nothing was added[^]*`mcp_servers\[0\]\.name`/],
    [["add", "mute", "--key", "REMOTE_KEY=k"], /mute\.toml is left out: `required_env` has REMOTE_KEY, which none of the `headers` names[^]*no "mute"/],
    [["add", "remote", "--key", "REMOTE_KEY=a\nb"], /Nothing was added[^]*`mcp_servers\[0\]\.headers`/],
  ]) {
    const { code, stdout, stderr } = await run(words);
    assert.deepEqual([code, stdout], [2, ""], words.join(" "));
    assert.match(stderr, said);
    assert.equal(readFileSync(file, "utf8"), mine);
  }
  assert.equal((await run(["add", "remote"], { REMOTE_KEY: "k" })).code, 0);
  assert.equal((await run(["add", "remote", "--name", "two", "--key", "REMOTE_KEY=a=b"])).code, 0);
  const text = readFileSync(file, "utf8");
  assert.match(text, /headers = \["X-Key: \$\{REMOTE_KEY\}"\]/);
  assert.match(text, /headers = \["X-Key: a=b"\]/);
  assert.ok(!text.includes("env ="));
});
