// The page that a gateway serves: its MCP endpoint takes the place of the one in the page.
import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";

import { startAgent } from "./agent.mjs";
import { command, launch, openPage, picture, root } from "./support.mjs";

const address = /In a browser: (\S+)/;

test("a page attached to a gateway", async (t) => {
  const browser = await launch(t);
  const agent = await startAgent(t);

  await t.test("lists the tools of the gateway, connects, sends, streams and cancels", async (s) => {
    const url = await command(s, ["serve", "--port", "0"], address);
    const page = await openPage(s, browser, url);
    await page.getByText(`Attached to the gateway at ${new URL(url).host}`).waitFor();
    await page.locator("#tool option").nth(16).waitFor({ state: "attached" });
    assert.equal(await page.getByRole("tab", { name: "Break things" }).count(), 0);
    await page.getByRole("tab", { name: "Bring your own" }).click();
    await page.getByLabel("Address of the agent").fill(agent.url);
    await page.getByLabel("What to call it here").fill("bistro");
    const asked = agent.requests.length;
    await page.getByLabel("What to call it here").press("Enter");
    await page.locator(".answer", { hasText: "Connected 'bistro'" }).waitFor();
    const origins = agent.requests.slice(asked).map(({ headers }) => headers.origin);
    assert.deepEqual([...new Set(origins)], [undefined], "the gateway asked, not the page");
    assert.equal(await page.getByText("Press one of the examples").count(), 0);
    assert.equal(await page.getByRole("button", { name: /^Keys/ }).count(), 0);
    await page.getByLabel("message", { exact: true }).fill("What is for dinner?");
    await page.getByRole("button", { name: "Call the tool" }).click();
    await page.locator(".answer", { hasText: "leek and potato soup" }).waitFor();
    await picture(page, "attached");
    const progress = await page.evaluate(() => [...narrows.session.calls.values()].at(-1).progress);
    assert.ok(progress.length > 1, "progress came through the stream");
    await page.getByLabel("message", { exact: true }).fill("Plan a banquet.");
    await page.getByRole("button", { name: "Call the tool" }).click();
    await page.locator(".progress li").nth(1).waitFor();
    await page.getByRole("button", { name: "Cancel the call" }).click();
    await page.locator(".outcome", { hasText: "given up" }).waitFor();
    assert.deepEqual(page.complaints, []);
  });

  await t.test("asks for the token where there are tokens, and keeps it in memory", async (s) => {
    const config = join(mkdtempSync(join(tmpdir(), "narrows-page-")), "config.json");
    writeFileSync(config, JSON.stringify({ auth: { tokens: [{ token: "page-token-12345", principal: "ada" }] } }));
    const url = await command(s, ["serve", "--port", "0", "--config", config], address);
    const page = await openPage(s, browser, url);
    await page.getByText("This gateway asks for a token.").waitFor();
    await page.getByRole("tab", { name: "Play" }).waitFor({ state: "hidden" });
    await picture(page, "token");
    await page.getByRole("textbox", { name: "Token" }).fill("wrong-token-12345");
    await page.getByRole("textbox", { name: "Token" }).press("Enter");
    await page.getByText("That token is not known here.").waitFor();
    await page.getByRole("textbox", { name: "Token" }).fill("page-token-12345");
    await page.getByRole("button", { name: "Go on" }).click();
    await page.locator("#tool option").nth(16).waitFor({ state: "attached" });
    await page.getByText("This gateway asks for a token.").waitFor({ state: "hidden" });
    const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]));
    assert.ok(!kept.includes("page-token"), kept);
    await page.reload();
    await page.getByText("This gateway asks for a token.").waitFor();
  });

  await t.test("answers the tasks that others sent to the gateway", async (s) => {
    const url = await command(s, ["serve", "--port", "0"], address);
    const page = await openPage(s, browser, url);
    await page.locator("#tool option").nth(16).waitFor({ state: "attached" });
    await page.getByRole("tab", { name: "Serve others" }).click();
    await page.getByText("No tasks, as far as was listed.").waitFor();
    const message = { messageId: "m1", role: "ROLE_USER", parts: [{ text: "Please name my boat." }] };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } });
    const headers = { "Content-Type": "application/json", "A2A-Version": "1.0" };
    const answer = fetch(new URL("a2a", url), { method: "POST", headers, body }).then((response) => response.json());
    const task = page.locator(".task", { hasText: "Please name my boat." });
    for (let i = 0; i < 50 && !(await task.isVisible()); i += 1) {
      await page.getByRole("button", { name: "Call list_tasks" }).click();
      await page.waitForTimeout(100);
    }
    assert.equal(await page.getByLabel("A visitor asks").isVisible(), false);
    await task.getByLabel("You answer").fill("The Blue Hour");
    await task.getByLabel("You answer").press("Enter");
    const { result } = await answer;
    assert.deepEqual([result.task.status.state, result.task.artifacts[0].parts[0].text], ["TASK_STATE_COMPLETED", "The Blue Hour"]);
    await task.locator(".badge", { hasText: "completed" }).waitFor();
    assert.deepEqual(page.complaints, []);
  });

  await t.test("tells what waits for a person, and takes a word of who may say it", async (s) => {
    const config = join(mkdtempSync(join(tmpdir(), "narrows-page-")), "config.json");
    const server = { name: "t", transport: { type: "stdio", command: process.execPath, args: [join(root, "tests/hosts/mcp-server.mjs")] } };
    const tokens = [
      { token: "asker-token-12345", principal: "ada" },
      { token: "person-token-12345", principal: "bob", may_approve: true },
    ];
    const approval = { require_approval: ["mcp_t_echo"], timeout_secs: 60 };
    writeFileSync(config, JSON.stringify({ auth: { tokens }, mcp_servers: [server], approval }));
    const url = await command(s, ["serve", "--port", "0", "--config", config], address);
    const page = await openPage(s, browser, `${url}#guard`);
    await page.getByRole("textbox", { name: "Token" }).fill("person-token-12345");
    await page.getByRole("textbox", { name: "Token" }).press("Enter");
    await page.getByText("No call waits.").waitFor();
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "ada", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const call = async (text) => {
      const params = { name: "mcp_t_echo", arguments: { text }, _meta };
      const headers = {
        Authorization: "Bearer asker-token-12345",
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "mcp_t_echo",
      };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
      const response = await fetch(new URL("mcp", url), { method: "POST", headers, body });
      const told = await response.text();
      return JSON.parse(told.startsWith("{") ? told : told.match(/data: (.*"result".*)/)[1]).result;
    };
    const [yes, no] = [call("the tide is out"), call("the tide is in")];
    const waiting = page.locator(".guard .task");
    await waiting.filter({ hasText: "the tide is out" }).waitFor();
    await picture(page, "attached-guard");
    await waiting.filter({ hasText: "the tide is out" }).getByRole("button", { name: "Approve" }).click();
    assert.equal((await yes).content[0].text, "the tide is out");
    await waiting.filter({ hasText: "the tide is in" }).getByRole("button", { name: "Deny" }).press("Enter");
    assert.equal((await no).structuredContent.error.code, "approval_denied");
    await page.getByText("No call waits.").waitFor();
    assert.deepEqual(
      page.complaints.filter((words) => !words.includes("401")),
      [],
    );
  });

  await t.test("has no place for tasks where there is no inbox", async (s) => {
    const config = join(mkdtempSync(join(tmpdir(), "narrows-page-")), "config.json");
    writeFileSync(config, JSON.stringify({ a2a: { enabled: false } }));
    const url = await command(s, ["serve", "--port", "0", "--config", config], address);
    const page = await openPage(s, browser, `${url}#serve`);
    await page.locator("#tool option").nth(16).waitFor({ state: "attached" });
    await page.getByRole("tab", { name: "Serve others" }).waitFor({ state: "hidden" });
    await page.getByRole("tabpanel", { name: "Play" }).waitFor();
  });

  await t.test("says so when the gateway is gone", async (s) => {
    const url = await command(s, ["serve", "--port", "0"], address);
    const page = await openPage(s, browser, url);
    await page.locator("#tool option").nth(16).waitFor({ state: "attached" });
    await page.route("**/mcp", (route) => route.abort());
    await page.getByLabel("Tool", { exact: true }).selectOption("list_agents");
    await page.getByRole("button", { name: "Call the tool" }).click();
    const { host } = new URL(url);
    await page.getByRole("alert").getByText(`The gateway at ${host} cannot be reached.`).waitFor();
    await page.getByText(`Not attached: ${host} is gone`).waitFor();
    await page.locator(".story").getByText(`The gateway at ${host} cannot be reached.`).waitFor();
    await page.locator(".answer", { hasText: "The gateway is gone" }).waitFor();
    await page.locator(".outcome", { hasText: "no answer" }).waitFor();
    await picture(page, "gone");
    await page.unroute("**/mcp");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText(`Attached to the gateway at ${host}`).waitFor();
  });
});
