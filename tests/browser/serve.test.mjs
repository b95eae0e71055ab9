// The gateway as an agent: a visitor's tasks, the table of them, who watches, and a person who answers.
import assert from "node:assert/strict";
import test from "node:test";

import { hurry, launch, openPage, picture, rest, servedPage, story } from "./support.mjs";

test("serving others", async (t) => {
  const browser = await launch(t);
  const page = await openPage(t, browser, `${await servedPage(t)}#serve`);
  await rest(page);
  await hurry(page);
  const tasks = page.locator(".task");
  const life = (task) => task.locator(".life strong").allTextContents();
  const send = async (words, how) => {
    const before = await tasks.count();
    await page.getByLabel("A visitor asks").fill(words);
    await page.getByRole("button", { name: how }).click();
    await tasks.nth(before).waitFor();
    return page.locator(".task", { hasText: words });
  };
  /** Waits until what was pressed has gone through. */
  const settled = async () => {
    await rest(page);
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  };

  await t.test("a task is watched, asked back, answered, and everybody who watches is told", async () => {
    await page.getByText("No tasks yet.").waitFor();
    const task = await send("Please name my boat.", "Send and watch");
    await page.locator('[data-lane="visitor"] .span').first().waitFor();
    await task.getByText("1 watches").waitFor();
    await task.getByRole("button", { name: "One more watches" }).press("Enter");
    await task.getByText("2 watches").waitFor();
    assert.match(await page.locator(".status").textContent(), /A visitor waits for your answer/);
    const held = await page.evaluate(() => narrows.session.now);
    await page.waitForTimeout(300);
    assert.equal(await page.evaluate(() => narrows.session.now), held, "no time passes while somebody thinks");
    await picture(page, "serve-watched");

    await task.getByLabel("You answer").fill("I look at her.");
    await task.getByRole("button", { name: "At work" }).press("Enter");
    await settled();
    assert.equal(await task.locator(".badge").textContent(), "working");
    await task.getByRole("button", { name: "Ask back" }).click();
    await task.getByText("A question needs words.").waitFor();
    await task.getByLabel("You answer").fill("What colour is she?");
    await task.getByRole("button", { name: "Ask back" }).click();
    await settled();
    await task.getByText("nobody watches").waitFor();
    await task.getByLabel("The visitor answers").fill("Blue.");
    await task.getByLabel("The visitor answers").press("Enter");
    await settled();
    await task.getByText("1 watches").waitFor();
    await task.getByLabel("You answer").fill("The Blue Hour");
    await task.getByLabel("You answer").press("Enter");
    await settled();
    await task.getByText("The answer: The Blue Hour").waitFor();
    assert.deepEqual(await life(task), ["submitted", "working", "input-required", "working", "completed"]);
    assert.equal(await task.getByLabel("You answer").isVisible(), false, "an ended task stays as it is");
    const told = (await story(page)).join("\n");
    assert.match(
      told,
      /A visitor sends a task: “Please name my boat\.”[^]*the task is working: “I look at her\.” 2 times[^]*input-required: “What colour is she\?” 2 times[^]*one more message: “Blue\.”[^]*the task is completed/,
    );
    const at = await page.evaluate(() => narrows.session.now);
    await page.waitForTimeout(300);
    await page.getByRole("button", { name: "Step", exact: true }).click();
    assert.equal(await page.evaluate(() => narrows.session.now), at, "no step leads to the day when the task is forgotten");
    await page.getByRole("button", { name: "Play", exact: true }).click();
    await picture(page, "serve-answered");
  });

  await t.test("the tools tell of it: list_tasks and check_inbox", async () => {
    const task = await send("Mend my net.", "Send and wait");
    await task.getByText("1 waits").waitFor();
    await page.getByRole("button", { name: "Call list_tasks" }).click();
    await settled();
    const last = () => page.evaluate(() => [...narrows.session.calls.values()].at(-1).result.structuredContent);
    assert.deepEqual((await last()).tasks.map(({ status }) => status.state).sort(), ["TASK_STATE_COMPLETED", "TASK_STATE_SUBMITTED"]);
    await page.getByRole("button", { name: "Call check_inbox" }).click();
    await settled();
    assert.deepEqual(
      (await last()).inbound.map(({ text }) => text),
      ["Mend my net."],
    );
    await task.getByLabel("You answer").fill("Not before spring.");
    await task.getByRole("button", { name: "Refuse" }).click();
    await settled();
    assert.deepEqual(await life(task), ["submitted", "rejected"]);
    await page.locator('[data-lane="visitor"] .span[data-state="ok"]', { hasText: "send" }).last().waitFor();
  });

  await t.test("a visitor who leaves stops nothing; one who takes it back does", async () => {
    const task = await send("Find my anchor.", "Send and watch");
    await task.getByRole("button", { name: /Request \d+ leaves/ }).click();
    await settled();
    await task.getByText("nobody watches").waitFor();
    assert.equal(await task.locator(".badge").textContent(), "submitted");
    await task.getByRole("button", { name: "Ask how it stands" }).click();
    await settled();
    await task.getByRole("button", { name: "Take it back" }).click();
    await settled();
    assert.deepEqual(await life(task), ["submitted", "canceled"]);
    const later = await send("Sing to me.", "Send, look later");
    await later.getByText("nobody watches").waitFor();
  });

  await t.test("time goes back in it, and a bar of the visitor shows its bytes", async () => {
    const count = await tasks.count();
    await page.getByRole("button", { name: "All", exact: true }).click();
    await page.locator('[data-lane="visitor"] .span').first().press("Enter");
    await page.locator(".records pre", { hasText: "POST /a2a" }).waitFor();
    await page.locator(".records pre", { hasText: "SendStreamingMessage" }).waitFor();
    await page.getByRole("button", { name: "Close", exact: true }).click();
    await page.getByRole("slider", { name: "Scrub" }).fill("100");
    await page.getByText("No tasks yet.").waitFor();
    await page.getByRole("button", { name: "Play", exact: true }).click();
    await tasks.nth(count - 1).waitFor();
    await settled();
    await page.getByRole("tab", { name: "Record" }).click();
    await page.getByRole("button", { name: "Replay and compare" }).click();
    await page.getByText(/said the same, byte for byte/).waitFor();
    assert.deepEqual(page.complaints, []);
  });
});
