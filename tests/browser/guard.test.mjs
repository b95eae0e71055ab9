// The policy on calls to MCP servers: a person's word, attempts to get around it, and what may not leave.
import assert from "node:assert/strict";
import test from "node:test";

import { hurry, launch, openPage, picture, rest, servedPage, story } from "./support.mjs";

test("guarding calls", async (t) => {
  const browser = await launch(t);
  const page = await openPage(t, browser, `${await servedPage(t)}#guard`);
  await rest(page);
  await hurry(page);
  const waiting = page.locator(".guard .task", { hasText: "waits for you" });
  const lifeOf = (task) => task.locator(".life strong").allTextContents();
  const paid = () => page.evaluate(() => narrows.session.world.ledger.paid.length);
  const lastCall = () => page.evaluate(() => [...narrows.session.calls.values()].at(-1));
  const settled = async () => {
    await rest(page);
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  };
  const ask = async (note) => {
    await page.getByLabel("Note", { exact: true }).first().fill(note);
    await page.getByRole("button", { name: "Ask to pay" }).press("Enter");
    await waiting.filter({ hasText: note }).waitFor();
    return page.locator(".guard .task", { hasText: note });
  };

  await t.test("what is not gated runs at once, and no lane of it was there before", async () => {
    await page.getByText("No call waits.").waitFor();
    await page.getByRole("button", { name: "Read the balance" }).click();
    await settled();
    assert.equal((await lastCall()).result.content[0].text, "There are 10000 in the box.");
    await page.locator('[data-lane="https://ledger.test"] .span', { hasText: "call balance" }).waitFor();
  });

  await t.test("a call waits, time stands still, and a yes lets it out once", async () => {
    const task = await ask("mooring, three nights");
    assert.match(await task.locator(".answer").textContent(), /^pay of ledger with \{.*"amount":40/);
    assert.match(await task.locator("code").getAttribute("title"), /^[0-9a-f]{64}$/);
    const held = await page.evaluate(() => narrows.session.now);
    await page.waitForTimeout(300);
    assert.equal(await page.evaluate(() => narrows.session.now), held, "no time passes while somebody thinks");
    await picture(page, "guard-waits");
    await task.getByRole("button", { name: "Approve" }).press("Enter");
    await settled();
    assert.deepEqual(await lifeOf(task), ["pending", "approved", "executed"]);
    assert.equal(await paid(), 1);
    assert.equal((await lastCall()).result.content[0].text, "Paid 40 to the harbour office.");
    assert.match((await story(page)).join("\n"), /waits for your word[^]*You say yes[^]*goes out, once[^]*calls pay of ledger/);
  });

  await t.test("a no is told to the client", async () => {
    const task = await ask("a round for everybody");
    await task.getByRole("button", { name: "Deny" }).click();
    await settled();
    assert.deepEqual(await lifeOf(task), ["pending", "rejected"]);
    assert.equal((await lastCall()).result.structuredContent.error.code, "approval_denied");
    assert.equal(await paid(), 1);
  });

  await t.test("an edited call has another digest, and what was asked before is void", async () => {
    const task = await ask("one rope");
    const digest = await task.locator("code").getAttribute("title");
    await task.getByRole("button", { name: "Edit" }).press("Enter");
    await task.getByLabel("Amount").fill("75");
    await task.getByLabel("Note").fill("two ropes");
    await task.getByRole("button", { name: "Ask again with these" }).click();
    const edited = page.locator(".guard .task", { hasText: "two ropes" });
    await edited.waitFor();
    await settled();
    assert.deepEqual(await lifeOf(task), ["pending", "withdrawn"]);
    assert.notEqual(await edited.locator("code").getAttribute("title"), digest);
    await edited.getByRole("button", { name: "Approve" }).click();
    await settled();
    assert.equal((await lastCall()).result.content[0].text, "Paid 75 to the harbour office.");
    assert.equal(await paid(), 2);
  });

  await t.test("no amount, no call", async () => {
    await page.getByLabel("Amount").first().fill("0");
    const { id } = await lastCall();
    await page.getByRole("button", { name: "Ask to pay" }).click();
    assert.equal(await page.getByLabel("Amount").first().getAttribute("aria-invalid"), "true");
    assert.equal((await lastCall()).id, id);
    await page.getByLabel("Amount").first().fill("40");
  });

  const attempts = {
    "Swap the arguments": /^Held\. The word was for [0-9a-f]{12} and was used up; this is [0-9a-f]{12}/,
    "Use a yes twice": /^Held\. The second yes: “it was decided already, or its time is up”/,
    "Say yes too late": /^Held\. The call ended as approval_denied, expired\./,
    "Rename the tool": /^Held\. Both have names of their own now, mcp_ledger_pay_[0-9a-f]{8} and mcp_ledger_pay_[0-9a-f]{8}/,
    "Change the description": /^Held\. It is offered to nobody until a person accepts it\. Before: “Pays somebody out of the cash box\.” Now: “Pays somebody\. Always/,
    "Smuggle a secret out": /^Held twice, before anybody was asked: well_known_prefix at \$\.note; well_known_prefix at \$\.note/,
  };
  for (const [name, found] of Object.entries(attempts)) {
    await t.test(`attack: ${name}`, async () => {
      const item = page.locator(".guard .experiments li", { hasText: name });
      const before = await paid();
      await item.getByRole("button").first().press("Enter");
      await item.locator('.finding:not([data-state="running"])').waitFor();
      assert.match(await item.locator(".finding").textContent(), found);
      assert.equal(await item.locator(".finding").getAttribute("data-state"), "done");
      const honest = ["Swap the arguments", "Use a yes twice"].includes(name) ? 1 : 0;
      assert.equal(await paid(), before + honest, "only what was approved is paid");
    });
  }

  await t.test("the box says which rule fires where", async () => {
    const rules = page.locator(".rules li");
    const firing = async () => (await rules.allTextContents()).join("\n");
    await page.getByRole("button", { name: "JSON", exact: true }).click();
    await page.locator(".rules li", { hasText: "pii_credit_card" }).waitFor();
    assert.match(await firing(), /sensitive_key_name.*\$\.login\.password/);
    await page.getByLabel("It goes").selectOption("agent_message");
    await page.waitForFunction(() => !document.querySelector(".rules").textContent.includes("pii_credit_card"));
    await page.getByLabel("It goes").selectOption("mcp_tool_call");
    await page.getByRole("button", { name: "The same in base64" }).press("Enter");
    await page.locator(".rules li", { hasText: "well_known_prefix" }).waitFor();
    await page.getByRole("button", { name: "Harmless" }).click();
    await page.getByText("This may leave: no rule fires.").waitFor();
    assert.equal(await rules.count(), 0);
    await page.getByLabel("What is to leave").fill("write to ada@example.com");
    await page.locator(".rules li", { hasText: "pii_email" }).waitFor();
    await picture(page, "guard");
  });

  await t.test("time goes back in it, and the recorded session says the same again", async () => {
    await page.getByRole("button", { name: "All", exact: true }).click();
    await page.getByRole("slider", { name: "Scrub" }).fill("100");
    await page.getByText("No call waits.").waitFor();
    await page.getByRole("button", { name: "Play", exact: true }).click();
    await page.locator(".guard .task").first().waitFor();
    await settled();
    await page.getByRole("tab", { name: "Record" }).click();
    await page.getByRole("button", { name: "Replay and compare" }).click();
    await page.getByText(/said the same, byte for byte/).waitFor();
    assert.deepEqual(page.complaints, []);
  });
});
