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
  /** Presses an experiment and waits until it is over; gives what was told since. */
  const attempt = async (name, last) => {
    const before = (await story(page)).length;
    const item = page.locator(".experiments li", { hasText: name });
    await item.getByRole("button").press("Enter");
    await told.getByText(last).first().waitFor();
    await item.getByText("watch it above").waitFor();
    await rest(page);
    return (await story(page)).slice(before).join("\n");
  };

  await t.test("a stream that is cut is taken up again", async () => {
    const said = await attempt("Cut a stream", "send_message is answered: completed.");
    assert.match(
      said,
      /cut in half[^]*writer drops the connection[^]*asks writer how the task stands[^]*takes up the stream of writer again[^]*answered: completed/,
    );
    await page.getByRole("tab", { name: "Play" }).click();
    const answer = await page.locator(".answer").first().textContent();
    assert.match(answer, /About a broken line: a narrows is a strait between two wide waters\. .*to keep things in order\./);
    await page.getByRole("tab", { name: "Break things" }).click();
    await picture(page, "cut");
  });

  await t.test("three refusals make an agent unhealthy, and a broadcast skips it", async () => {
    await page.getByRole("group", { name: "echo" }).getByLabel("The agent").selectOption("refuses");
    await lane("echo").getByText("healthy", { exact: true }).or(lane("echo").getByText("not tried yet")).waitFor();
    await page.getByRole("button", { name: "Heal everything" }).click();
    const said = await attempt("Let an agent refuse", "broadcast_message is answered.");
    assert.equal(said.match(/echo refuses the connection/g)?.length, 3);
    await lane("echo").getByText("unhealthy").waitFor();
    const skipped = await page.evaluate(() => [...narrows.session.calls.values()].at(-1).result.structuredContent.results.echo.status);
    assert.equal(skipped, "skipped");
    await picture(page, "unhealthy");
  });

  await t.test("a flood empties the bucket, and the rest is told how long to wait", async () => {
    const said = await attempt("Flood", "rate_limited");
    assert.ok(said.match(/failed with rate_limited/g).length >= 15, said);
    assert.match(said, /retry after \d+/);
    await lane("echo")
      .getByText(/5 of 5 sends left/)
      .waitFor();
  });

  await t.test("an answer without end is cut off at the limit", async () => {
    const said = await attempt("Let an answer never end", "too_large");
    assert.match(said, /The gateway hangs up on echo[^]*failed with too_large|failed with too_large[^]*hangs up on echo/);
  });

  await t.test("a clock that jumps ends a call by its deadline, with what was received", async () => {
    const said = await attempt("Clock jumps", "failed with timeout");
    assert.match(said, /The clock jumps ahead by 90 s/);
    const kept = await page.evaluate(() => [...narrows.session.calls.values()].at(-1).result.structuredContent);
    assert.equal(kept.error.code, "timeout");
    assert.ok(kept.task.artifacts.length > 0);
  });

  await t.test("an async send waits in the inbox until it is read", async () => {
    await attempt("Send without waiting", "read_inbox is answered.");
    const states = await page.evaluate(() =>
      [...narrows.session.calls.values()].at(-1).result.structuredContent.messages.map(({ state }) => state),
    );
    assert.deepEqual(states, ["completed"]);
  });

  await t.test("an agent's own limit closes its bucket until then", async () => {
    const said = await attempt("Agent asks for silence", "the rate limit of agent 'writer' is reached");
    assert.match(said, /writer answers with status 429/);
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
    const item = page.locator(".experiments li", { hasText: "Cut a stream" });
    await page.getByRole("button", { name: "1×", exact: true }).click();
    await item.getByRole("button").click();
    await item.getByText("running").waitFor();
    await page.getByRole("button", { name: "Start again" }).click();
    await item.getByText("left off").waitFor();
    await rest(page);
    await hurry(page);
  });

  await t.test("nonsense and silence are answers to the caller too", async () => {
    for (const [mode, code] of [
      ["babbles", /protocol_error|agent_error|http_status/],
      ["fails", /http_status|agent_error/],
      ["silent", /timeout/],
    ]) {
      await page.getByRole("group", { name: "clerk" }).getByLabel("The agent").selectOption(mode);
      await page.evaluate((agent) => void narrows.call("send_message", { agent, message: "hello", poll_timeout_seconds: 5 }), "clerk");
      await rest(page);
      const found = await page.evaluate(() => [...narrows.session.calls.values()].at(-1).result.structuredContent.error.code);
      assert.match(found, code, mode);
    }
    assert.deepEqual(page.complaints, []);
  });
});
