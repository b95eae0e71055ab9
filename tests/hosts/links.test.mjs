import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { serverEnvironment } from "../../pkg/node/links.mjs";
import { Gateway } from "../../pkg/node.mjs";
import { Gateway as WebGateway } from "../../pkg/web.mjs";
import { Command } from "./process.mjs";

const SERVER = fileURLToPath(new URL("mcp-server.mjs", import.meta.url));

function folder(t) {
  const path = mkdtempSync(join(tmpdir(), "narrows-links-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A server of the test's own. @param {string} name @param {string[]} [words] */
const server = (name, words = [], more = {}) => ({
  name,
  transport: { type: "stdio", command: process.execPath, args: [SERVER, ...words] },
  ...more,
});

/** The command with these servers behind it, once their tools are there. */
async function commanded(t, servers, environment) {
  const config = join(folder(t), "narrows.json");
  writeFileSync(config, JSON.stringify({ mcp_servers: servers }));
  const command = new Command(t, ["--config", config], environment);
  await command.initialize();
  return command;
}

/** Waits for the tools of a server. */
async function tools(command, server) {
  let id = 0;
  for (;;) {
    id += 1;
    command.send({ id: `list-${id}`, method: "tools/list" });
    const { result } = await command.answer(`list-${id}`);
    const names = result.tools.map(({ name }) => name).filter((name) => name.startsWith(`mcp_${server}_`));
    if (names.length > 0) return names;
    await command.until(() => command.messages.filter(({ method }) => method?.endsWith("list_changed")).length >= id);
  }
}

const isAlive = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Waits until none of the processes noted in a file is left. */
async function gone(file, count) {
  const pids = readFileSync(file, "utf8").split("\n").filter(Boolean).map(Number);
  assert.equal(pids.length, count);
  const deadline = performance.now() + 15_000;
  for (;;) {
    const left = pids.filter(isAlive);
    if (left.length === 0) return;
    assert.ok(performance.now() < deadline, `left: ${left}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test("tools of a process are listed and called by the command", async (t) => {
  const command = await commanded(t, [server("My-Server")]);
  assert.deepEqual(await tools(command, "my_server"), ["echo", "environment", "long", "die", "hang"].map((name) => `mcp_my_server_${name}`));
  const result = await command.call(1, "mcp_my_server_echo", { text: "né\u2028 \n🙂" });
  assert.deepEqual(result, { content: [{ type: "text", text: "né\u2028 \n🙂" }] });
  const [long] = (await command.call(2, "mcp_my_server_long", { length: 3 << 20 })).content;
  assert.equal(long.text.length, 3 << 20);
  command.leave();
  assert.equal(await command.exit(), 0);
});

test("a served gateway starts its servers before anybody asks", { timeout: 60_000 }, async (t) => {
  const [config, file] = ["narrows.json", "pids"].map((name) => join(folder(t), name));
  writeFileSync(config, JSON.stringify({ mcp_servers: [server("s", ["plain", file])] }));
  const command = new Command(t, ["serve", "--port", "0", "--config", config]);
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 50));
  command.child.kill("SIGTERM");
  await command.exit();
  await gone(file, 1);
});

test("a gateway that cannot listen ends with the servers that it started", { timeout: 60_000 }, async (t) => {
  const [config, file] = ["narrows.json", "pids"].map((name) => join(folder(t), name));
  writeFileSync(config, JSON.stringify({ mcp_servers: [server("s", ["plain", file])] }));
  const taken = createServer();
  await new Promise((resolve) => taken.listen(0, "127.0.0.1", resolve));
  t.after(() => taken.close());
  const command = new Command(t, ["serve", "--port", String(taken.address().port), "--config", config]);
  assert.equal(await command.exit(), 2);
  if (existsSync(file)) await gone(file, 1);
});

test("a server sees a safe part of the environment, and what it is given", async (t) => {
  const env = ["GIVEN", "SET=a=b", "MISSING"];
  const command = await commanded(t, [server("s", [], { env })], { GIVEN: "yes", SECRET_OF_OURS: "no", LC_TIME: "C" });
  await tools(command, "s");
  const result = await command.call(1, "mcp_s_environment", {});
  const seen = JSON.parse(result.content[0].text);
  assert.deepEqual([seen.GIVEN, seen.SET, seen.LC_TIME, seen.PATH], ["yes", "a=b", "C", process.env.PATH]);
  assert.equal(seen.SECRET_OF_OURS, undefined);
  await command.until(() => command.stderr.includes('"link_variable_unset"') && command.stderr.includes('"MISSING"'));
});

test("the environment is made of a safe list and of entries", () => {
  const ours = { PATH: "/bin", HOME: "/h", XDG_CONFIG_HOME: "/x", LC_ALL: "C", AWS_SECRET: "s", A: "1" };
  const unset = [];
  const env = serverEnvironment(["A", "B", "C=", "PATH=/other"], ours, (name) => unset.push(name));
  assert.deepEqual(env, { PATH: "/other", HOME: "/h", XDG_CONFIG_HOME: "/x", LC_ALL: "C", A: "1", C: "" });
  assert.deepEqual(unset, ["B"]);
});

test("a process that dies fails its call with the cause and its last words, and comes back", async (t) => {
  const command = await commanded(t, [server("s")]);
  await tools(command, "s");
  const result = await command.call(1, "mcp_s_die", {});
  assert.equal(result.structuredContent.error.code, "unreachable");
  assert.match(result.content[0].text, /exit code 7.*dying, as I was told/);
  for (let id = 2; ; id += 1) {
    const { isError, content } = await command.call(id, "mcp_s_echo", { text: "again" });
    if (!isError) {
      assert.equal(content[0].text, "again");
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
});

test("what cannot be started is told, and others go on", async (t) => {
  const missing = { name: "missing", transport: { type: "stdio", command: "no-such-program-here" } };
  const command = await commanded(t, [missing, server("broken", ["broken"]), server("s")]);
  await tools(command, "s");
  await command.until(() => command.stderr.includes("no-such-program-here was not found"));
  await command.until(() => command.stderr.includes("SyntaxError: x"));
});

test("a shell as the command is refused at the start", async (t) => {
  const config = join(folder(t), "narrows.json");
  writeFileSync(config, JSON.stringify({ mcp_servers: [{ name: "a", transport: { type: "stdio", command: "bash", args: ["-c", "x"] } }] }));
  const command = new Command(t, ["--config", config]);
  assert.equal(await command.exit(), 2);
  assert.match(command.stderr, /mcp_servers\[0\]\.transport\.command/);
});

for (const mode of ["plain", "family", "stubborn"]) {
  for (const [how, end] of [
    ["its client leaves", (command) => command.leave()],
    ["it is told to end", (command) => command.child.kill("SIGTERM")],
    ["it is killed", (command) => command.child.kill("SIGKILL")],
  ]) {
    test(`nothing of a ${mode} server is left when ${how}`, async (t) => {
      const file = join(folder(t), "pids");
      const command = await commanded(t, [server("s", [mode, file])]);
      await tools(command, "s");
      end(command);
      await command.exit();
      await gone(file, mode === "plain" ? 1 : 2);
    });
  }
}

test("what a server started goes when the server dies", async (t) => {
  const file = join(folder(t), "pids");
  const command = await commanded(t, [server("s", ["family", file])]);
  await tools(command, "s");
  const pids = readFileSync(file, "utf8").split("\n").filter(Boolean).map(Number);
  await command.call(1, "mcp_s_die", {});
  writeFileSync(`${file}-first`, pids.join("\n"));
  await gone(`${file}-first`, 2);
});

test("a gateway in a program starts them too, and ends them", async (t) => {
  const file = join(folder(t), "pids");
  const gateway = await Gateway.open({ config: { mcp_servers: [server("s", ["family", file])] } });
  t.after(() => gateway.dispose());
  for (;;) {
    const names = (await gateway.tools()).map(({ name }) => name);
    if (names.includes("mcp_s_echo")) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.equal((await gateway.call("mcp_s_echo", { text: "here" })).text, "here");
  gateway.dispose();
  await gone(file, 2);
});

test("a page refuses processes when it is configured, and says who can", async () => {
  await assert.rejects(
    () => WebGateway.open({ config: { mcp_servers: [server("s")] } }),
    (error) => error.code === "config" && /mcp_servers\[0\].*Node host/.test(error.message),
  );
});
