// What breaks, and how the gateway takes it, as the page shows it.
import assert from "node:assert/strict";
import test from "node:test";

import { hurry, launch, openPage, picture, rest, servedPage, story } from "./support.mjs";

test("breaking things", async (t) => {
  const browser = await launch(t);
  const url = `${await servedPage(t)}#break`;
  const page = await openPage(t, browser, url);
  await rest(page);
  await hurry(page);
  const told = page.locator(".story");
  const lane = (alias) => page.locator(`[data-lane="https://${alias}.test"]`);
  const itemOf = (name) => page.locator(".experiments li", { hasText: name });
  const lastCall = () => page.evaluate(() => [...narrows.session.calls.values()].at(-1).result.structuredContent);
  /** Presses an experiment and waits until it has found what it is about; gives what was told since. */
  const attempt = async (name, found) => {
    const before = (await story(page)).length;
    const item = itemOf(name);
    await item.getByRole("button").first().press("Enter");
    await page.waitForFunction(() => !document.querySelector(".experiments [aria-disabled]"));
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    assert.match(await item.locator(".finding").textContent(), found);
    assert.equal(await item.locator(".finding").getAttribute("data-state"), "done");
    return (await story(page)).slice(before).join("\n");
  };

  await t.test("a stream that is cut is taken up again", async () => {
    const said = await attempt("Cut a stream", /one answer, whole/);
    assert.match(
      said,
      /cut in half[^]*writer drops the connection[^]*asks writer how the task stands[^]*takes up the stream of writer again[^]*send_message to writer is answered: completed/,
    );
    await page.getByRole("tab", { name: "Play" }).click();
    const answer = await page.locator(".answer").first().textContent();
    assert.match(answer, /About a broken line: a narrows is a strait between two wide waters\. .*to keep things in order\./);
    await page.getByRole("tab", { name: "Break things" }).click();
    await picture(page, "cut");
  });

  await t.test("a pressed experiment keeps the focus while it runs, and another one waits its turn", async () => {
    await page.getByRole("button", { name: "1×", exact: true }).click();
    const button = itemOf("Clock jumps").getByRole("button").first();
    await button.press("Enter");
    await itemOf("Clock jumps").locator(".finding[data-state=running]").waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Clock jumps while a call runs");
    const other = itemOf("Flood").getByRole("button").first();
    assert.equal(await other.getAttribute("aria-disabled"), "true");
    await other.click({ force: true });
    assert.equal(await itemOf("Flood").locator(".finding").isVisible(), false);
    await hurry(page);
    await itemOf("Clock jumps").locator(".finding[data-state=done]").waitFor();
    await button.focus();
  });

  await t.test("three refusals make an agent unhealthy, and a broadcast skips it, until it is pinged", async () => {
    await page.getByRole("group", { name: "echo", exact: true }).getByLabel("The agent").selectOption("refuses");
    const said = await attempt("Let an agent refuse", /skipped echo/);
    assert.match(said, /The way to echo is as it was at first/);
    assert.equal(said.match(/echo refuses the connection/g)?.length, 3);
    assert.match(said, /holds echo for unhealthy now/);
    await lane("echo").getByText("unhealthy").waitFor();
    assert.equal((await lastCall()).results.echo.status, "skipped");
    await picture(page, "unhealthy");
    await itemOf("Let an agent refuse").getByRole("button", { name: "Ping echo" }).click();
    await lane("echo").getByText("healthy", { exact: true }).waitFor();
    await told.getByText("The gateway holds echo for healthy again.").waitFor();
  });

  await t.test("to heal everything is to heal it: nobody is skipped afterwards", async () => {
    await attempt("Let an agent refuse", /skipped echo/);
    await page.getByRole("button", { name: "Heal everything" }).click();
    await lane("echo").getByText("healthy", { exact: true }).waitFor();
    await rest(page);
    await page.getByRole("button", { name: "Race all three" }).click();
    await rest(page);
    const { results } = await lastCall();
    assert.deepEqual(
      ["echo", "writer", "clerk"].map((alias) => results[alias].status),
      ["success", "success", "input-required"],
    );
    await page.getByRole("tab", { name: "Break things" }).click();
  });

  await t.test("a flood empties the bucket; the timeline counts the rest and keeps its height", async () => {
    const height = () => page.locator(".timeline").evaluate(({ offsetHeight }) => offsetHeight);
    const before = await height();
    const said = await attempt("Flood", /5 of 20 answered, 15 refused at once: retry after \d+s/);
    assert.equal(await height(), before);
    const refused = page.locator('[data-lane="client"] .span', { hasText: "15 refused" });
    await refused.waitFor();
    await page.locator('[data-lane="client"] .span', { hasText: "5 answered" }).waitFor();
    assert.match(said, /send_message to echo failed with rate_limited: [^]*15 times/);
    assert.match(said, /The client calls send_message to echo\. 20 times/);
    await refused.click();
    await page.getByRole("heading", { name: "15 × send_message to echo" }).waitFor();
    assert.equal(await page.locator(".records li").count(), 30);
    await page.getByRole("button", { name: "Close", exact: true }).click();
    await rest(page);
    await lane("echo").getByText("5 of 5 sends").waitFor();
  });

  await t.test("an answer without end is cut off at the limit", async () => {
    const said = await attempt("Let an answer never end", /too_large/);
    assert.match(said, /The gateway hangs up on echo[^]*failed with too_large|failed with too_large[^]*hangs up on echo/);
  });

  await t.test("a clock that jumps ends a call by its deadline, with what was received", async () => {
    const said = await attempt("Clock jumps", /Ended as timeout, with the task and \d+ pieces/);
    assert.match(said, /The clock jumps ahead by 90 s/);
    const kept = await lastCall();
    assert.equal(kept.error.code, "timeout");
    assert.ok(kept.task.artifacts.length > 0);
  });

  await t.test("an agent's own limit closes its bucket until then, and the silence passes by itself", async () => {
    const said = await attempt("Agent asks for silence", /Refused by the gateway itself/);
    assert.match(said, /writer answers with status 429/);
    await rest(page);
    const left = await page.evaluate(() => narrows.session.closedFor(narrows.session.agents.find(({ alias }) => alias === "writer")));
    assert.equal(left, 0);
  });

  await t.test("an async send waits in the inbox until somebody reads it, also right after a silence", async () => {
    await attempt("Agent asks for silence", /Refused by the gateway itself/);
    const said = await attempt("Send without waiting", /waits in the inbox/);
    assert.match(
      said,
      /is accepted: the outcome will be in the inbox[^]*writer is done[^]*The outcome of writer is in the inbox: completed/,
    );
    await lane("writer").getByText("1 in the inbox").waitFor();
    await itemOf("Send without waiting").getByRole("button", { name: "Read the inbox" }).click();
    await told.getByText("read_inbox to writer is answered.").waitFor();
    assert.deepEqual(
      (await lastCall()).messages.map(({ state }) => state),
      ["completed"],
    );
    await page.getByRole("tab", { name: "Break things" }).click();
  });

  await t.test("latency, by the arrow keys", async () => {
    const slider = page.getByLabel(/^Latency, each way/).nth(2);
    await slider.focus();
    await page.keyboard.press("End");
    await page.keyboard.press("Tab");
    await told.getByText("Each way to or from clerk takes 5.00 s.").waitFor();
    await page.getByRole("button", { name: "Jump ahead 10 s" }).click();
    assert.equal(await page.evaluate(() => narrows.session.world.faults.clerk.latency_ms), 5000);
    await page.getByRole("button", { name: "Heal everything" }).click();
  });

  await t.test("an experiment that is left by starting again says so", async () => {
    const item = itemOf("Cut a stream");
    await rest(page);
    await page.getByRole("button", { name: "1×", exact: true }).click();
    await item.getByRole("button").first().click();
    await item.getByText("Running: watch the timeline.").waitFor();
    await page.getByRole("button", { name: "Start again" }).click();
    await item.getByText("Left off.").waitFor();
    await rest(page);
    await hurry(page);
  });

  await t.test("nonsense and silence are answers to the caller too", async () => {
    for (const [mode, code] of [
      ["babbles", /protocol_error|agent_error|http_status/],
      ["fails", /http_status|agent_error/],
      ["silent", /timeout/],
    ]) {
      await page.getByRole("group", { name: "clerk", exact: true }).getByLabel("The agent").selectOption(mode);
      await page.evaluate((agent) => void narrows.call("send_message", { agent, message: "hello", poll_timeout_seconds: 5 }), "clerk");
      await rest(page);
      assert.match((await lastCall()).error.code, code, mode);
    }
    assert.deepEqual(page.complaints, []);
  });
});
