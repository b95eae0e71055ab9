import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Gateway } from "../../pkg/node.mjs";
import { Command } from "./process.mjs";

const SERVER = fileURLToPath(new URL("mcp-server.mjs", import.meta.url));

function folder(t) {
  const path = mkdtempSync(join(tmpdir(), "narrows-reload-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const server = (name, ...words) => ({ name, transport: { type: "stdio", command: process.execPath, args: [SERVER, ...words] } });

/** Puts another file in the place of one, as editors do. */
function replace(file, text) {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

/** Waits until the command offers tools of these servers and of no others. */
async function offers(command, servers) {
  for (let id = 0; ; id += 1) {
    const name = `offers-${servers.join()}-${id}`;
    command.send({ id: name, method: "tools/list" });
    const { result } = await command.answer(name);
    const found = new Set(result.tools.map((tool) => /^mcp_(\w+)_echo$/.exec(tool.name)?.[1]).filter(Boolean));
    if (servers.length === found.size && servers.every((one) => found.has(one))) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const pids = (file) => readFileSync(file, "utf8").split("\n").filter(Boolean).map(Number);

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("a file that is replaced is taken up: servers come and go, and one that stays is not touched", async (t) => {
  const path = folder(t);
  const [config, first, second] = ["narrows.json", "first", "second"].map((name) => join(path, name));
  const stays = server("stays", "plain", first);
  writeFileSync(config, JSON.stringify({ mcp_servers: [stays, server("goes", "plain", second)] }));
  const command = new Command(t, ["--config", config]);
  await command.initialize();
  await offers(command, ["stays", "goes"]);
  command.send({ id: "slow", method: "tools/call", params: { name: "mcp_stays_hang", arguments: {} } });
  replace(config, JSON.stringify({ mcp_servers: [stays, server("comes")] }));
  await offers(command, ["stays", "comes"]);
  assert.ok(command.messages.some(({ method }) => method === "notifications/tools/list_changed"));
  assert.equal(pids(first).length, 1);
  assert.ok(isAlive(pids(first)[0]));
  while (isAlive(pids(second)[0])) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(command.messages.find(({ id }) => id === "slow"), undefined, "a call that runs goes on");
  const again = await command.call("echo", "mcp_stays_echo", { text: "hi" });
  assert.equal(again.content[0].text, "hi");
});

test("a link that leads elsewhere is another file", async (t) => {
  const path = folder(t);
  const [one, two, config] = ["one.json", "two.json", "narrows.json"].map((name) => join(path, name));
  writeFileSync(one, JSON.stringify({ mcp_servers: [server("one")] }));
  writeFileSync(two, JSON.stringify({ mcp_servers: [server("two")] }));
  symlinkSync(one, config);
  const command = new Command(t, ["--config", config]);
  await command.initialize();
  await offers(command, ["one"]);
  symlinkSync(two, `${config}.new`);
  renameSync(`${config}.new`, config);
  await offers(command, ["two"]);
});

test("a file with faults changes nothing, and every fault of it is told", async (t) => {
  const config = join(folder(t), "narrows.toml");
  const text = `[[mcp_servers]]\nname = "s"\ntransport = { type = "stdio", command = ${JSON.stringify(process.execPath)}, args = [${JSON.stringify(SERVER)}] }\n`;
  writeFileSync(config, text);
  const command = new Command(t, ["--config", config]);
  await command.initialize();
  await offers(command, ["s"]);
  replace(config, 'nmae = "x"\n[approval]\ntimeout_secs = 1\n');
  await command.until(() => command.stderr.includes("stays in force"));
  assert.match(command.stderr, /`nmae` \(line 1, column 1\)/);
  assert.match(command.stderr, /`approval\.timeout_secs` \(line 3, column 1\)/);
  const refused = () => command.stderr.split("\n").filter((line) => line.includes('"configuration_refused"'));
  assert.equal(JSON.parse(refused()[0]).faults.length, 2);
  replace(config, "name = \n[x\n");
  await command.until(() => refused().length === 2);
  assert.match(command.stderr, /is not TOML: line 1, column[^]*line 2, column/);
  const fine = await command.call("echo", "mcp_s_echo", { text: "hi" });
  assert.equal(fine.content[0].text, "hi");
  replace(config, `name = "other"\n${text}`);
  await command.until(() => command.stderr.includes('"configuration_changed"'));
});

test("SIGHUP takes the file up, again and again", async (t) => {
  const config = join(folder(t), "narrows.json");
  writeFileSync(config, JSON.stringify({ mcp_servers: [server("a")] }));
  const command = new Command(t, ["--config", config]);
  await command.initialize();
  for (const names of [["a", "b"], ["b"], ["a"]]) {
    writeFileSync(config, JSON.stringify({ mcp_servers: names.map((name) => server(name)) }));
    command.child.kill("SIGHUP");
    await offers(command, names);
  }
  command.leave();
  assert.equal(await command.exit(), 0);
});

test("over HTTP too: a token that is gone is refused, and a file that would let everybody in changes nothing", async (t) => {
  const config = join(folder(t), "narrows.json");
  const tokens = (...names) => ({ auth: { tokens: names.map((name) => ({ token: `token-of-${name}`, principal: name })) } });
  writeFileSync(config, JSON.stringify(tokens("ada", "bob")));
  const command = new Command(t, ["serve", "--host", "0.0.0.0", "--port", "0", "--config", config]);
  const [, port] = await command.until(() => /http:\S+:(\d+)\/mcp/.exec(command.stdout));
  const status = async (name) => {
    const headers = { Authorization: `Bearer token-of-${name}` };
    return (await fetch(`http://127.0.0.1:${port}/api/a2a/agents`, { headers })).status;
  };
  const before = await status("ada");
  assert.notEqual(before, 401);
  replace(config, JSON.stringify(tokens("bob")));
  await command.until(() => command.stderr.includes('"configuration_changed"'));
  assert.deepEqual([await status("ada"), await status("bob")], [401, before]);
  replace(config, "{}");
  await command.until(() => command.stderr.includes("can be reached by others") && command.stderr.includes("stays in force"));
  assert.deepEqual([await status("ada"), await status("bob")], [401, before]);
});

test("an embedding program gives another configuration, whole or not at all", async (t) => {
  const notices = [];
  const gateway = await Gateway.open({ config: { mcp_servers: [server("a")] }, onNotice: (notice) => notices.push(notice) });
  t.after(() => gateway.dispose());
  const names = async () => (await gateway.tools()).map(({ name }) => name).filter((name) => name.endsWith("_echo"));
  const until = async (wanted) => {
    while ((await names()).join() !== wanted) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  await until("mcp_a_echo");
  assert.throws(() => gateway.configure({ nmae: "x", mcp_servers: [] }), { code: "config", message: /nmae/ });
  assert.ok(notices.some(({ event }) => event === "configuration_refused"));
  await until("mcp_a_echo");
  gateway.configure({ mcp_servers: [server("a"), server("b")] });
  await until("mcp_a_echo,mcp_b_echo");
  gateway.configure(new Map([["mcp_servers", []]]));
  await until("");
  const changed = notices.filter(({ event }) => event === "configuration_changed").map(({ fields }) => fields);
  assert.deepEqual(changed, [
    { started: ["b"], restarted: [], stopped: [], policy: false },
    { started: [], restarted: [], stopped: ["a", "b"], policy: false },
  ]);
});
