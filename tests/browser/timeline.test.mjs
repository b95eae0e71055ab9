// The timeline: time that a person holds, bars with names and bytes, one ruler.
import assert from "node:assert/strict";
import test from "node:test";

import { hurry, launch, openPage, picture, rest, servedPage } from "./support.mjs";

const example = (page, name) => page.getByRole("button", { name }).click();
const outcome = (page) => page.locator(".outcome");

test("the timeline", async (t) => {
  const browser = await launch(t);
  const url = await servedPage(t);
  const open = (s, options) => openPage(s, browser, url, options);

  await t.test("time is held, stepped, scrubbed back, and goes on as before or otherwise", async (s) => {
    const page = await open(s);
    await rest(page);
    await hurry(page);
    await example(page, "Watch writer stream");
    await rest(page);
    const before = await page.evaluate(() => narrows.session.trace.lines.join("\n"));
    await page.getByRole("slider", { name: "Scrub" }).fill("1500");
    await page.locator(".status", { hasText: "You look back" }).waitFor();
    await outcome(page).filter({ hasText: "running for" }).waitFor();
    await picture(page, "looking-back");
    await page.getByRole("button", { name: "Step", exact: true }).press("Enter");
    await page.getByRole("button", { name: "Step back" }).press("Enter");
    assert.ok((await page.evaluate(() => narrows.session.now)) <= 1500);
    await page.getByRole("button", { name: "Play", exact: true }).press("Enter");
    await rest(page);
    assert.equal(await page.evaluate(() => narrows.session.trace.lines.join("\n")), before, "the same future");

    await page.getByRole("slider", { name: "Scrub" }).fill("1500");
    await page.getByRole("button", { name: "Cancel the call" }).click();
    await page.getByRole("button", { name: "Play", exact: true }).click();
    await rest(page);
    await outcome(page).filter({ hasText: "given up" }).waitFor();
    assert.notEqual(await page.evaluate(() => narrows.session.trace.lines.join("\n")), before, "another future");
  });

  await t.test("what comes later than the moment is not shown, and after a fork it is gone", async (s) => {
    const page = await open(s);
    await rest(page);
    await hurry(page);
    await example(page, "Say hello to echo");
    await rest(page);
    await example(page, "Watch writer stream");
    await rest(page);
    const bytes = page.getByRole("region", { name: "What it is made of" });
    const stream = page.locator('[data-lane="https://writer.test"] .span', { hasText: "send, streaming" });
    await stream.click();
    const whole = await bytes.locator(".records li").count();
    const began = await page.evaluate((id) => narrows.timeline.find(id).start, await stream.getAttribute("data-span"));
    const seek = (at) => page.getByRole("slider", { name: "Scrub" }).fill(String(Math.round(at)));

    await seek(began + 1500);
    await page.locator(".status", { hasText: "You look back" }).waitFor();
    const part = await bytes.locator(".records li").count();
    assert.ok(part > 2 && part < whole, `${part} of ${whole}`);
    assert.equal(await stream.getAttribute("data-state"), "open");
    assert.match(await stream.getAttribute("aria-label"), /under way/);
    const { left, width, marks } = await stream.evaluate((bar) => {
      const [box, rest] = [bar.getBoundingClientRect(), bar.querySelector(".rest").getBoundingClientRect()];
      const marks = [...bar.querySelectorAll("i")].map((mark) => mark.getBoundingClientRect().left - box.left);
      return { left: rest.left - box.left, width: box.width, marks };
    });
    assert.ok(left > width * 0.2 && left < width * 0.6, "dashed behind the playhead");
    assert.ok(marks.length > 0 && marks.every((at) => at <= left + 3), "no mark behind it");

    await seek(began - 200);
    await bytes.getByText(/^Not yet: this begins at/).waitFor();
    assert.equal(await bytes.locator(".records li").count(), 0);
    await example(page, "Let clerk ask back");
    await bytes.waitFor({ state: "hidden" });
  });

  await t.test("a bar says its name where the pointer or the focus is, and Escape puts that away", async (s) => {
    const page = await open(s);
    await rest(page);
    const tip = page.locator(".tip");
    await page.locator('[data-lane="https://echo.test"] .span').first().hover();
    await tip.getByText(/^read the card, from 100 ms, took 80 ms/).waitFor();
    await tip.hover();
    await page.waitForTimeout(250);
    assert.equal(await tip.isVisible(), true, "it stays under the pointer");
    await page.keyboard.press("Escape");
    await tip.waitFor({ state: "hidden" });
    await page.mouse.move(5, 5);
    await page.getByRole("button", { name: "Pause" }).focus();
    await page.keyboard.press("Tab");
    for (let i = 0; i < 8 && !(await page.evaluate(() => document.activeElement.dataset.span)); i += 1) await page.keyboard.press("Tab");
    await tip.getByText(/initialize, from/).waitFor();
    await page.keyboard.press("ArrowRight");
    await tip.getByText(/tools\/list, from/).waitFor();
  });

  await t.test("one ruler: the knob stands at the playhead, at every zoom", async (s) => {
    const page = await open(s);
    await rest(page);
    await hurry(page);
    await example(page, "Watch writer stream");
    await rest(page);
    const gap = () =>
      page.evaluate(() => {
        const scrub = document.querySelector(".scrub");
        const { left, width } = scrub.getBoundingClientRect();
        const knob = left + 8 + ((scrub.value - scrub.min) / (scrub.max - scrub.min)) * (width - 16);
        const track = document.querySelector('[data-lane="gateway"] .track').getBoundingClientRect();
        const share = parseFloat(getComputedStyle(document.querySelector(".timeline")).getPropertyValue("--now"));
        return { off: Math.abs(knob - (track.left + (track.width * share) / 100)), share };
      });
    for (const name of [
      "Show less time",
      "Show less time",
      "Show less time",
      "Show more time",
      "Show more time",
      "Show the whole session",
    ]) {
      await page.getByTitle(name).click();
      const { off, share } = await gap();
      assert.ok(off < 3, `${name}: ${off} px`);
      assert.ok(share > 40 && share < 95, `${name}: the playhead is at ${share} %`);
      assert.ok((await page.locator(".lanes .span").count()) > 0, `${name}: nothing is in view`);
    }
    await page.getByRole("slider", { name: "Scrub" }).focus();
    await page.keyboard.press("Home");
    await page.locator(".time", { hasText: "0.00 s" }).waitFor();
  });

  await t.test("more lanes are drawn lower, and the timeline stays below half of the window", async (s) => {
    const page = await open(s);
    await rest(page);
    const height = () => page.locator(".timeline").evaluate(({ offsetHeight }) => offsetHeight);
    const before = await height();
    await page.evaluate(() => {
      for (const i of [1, 2, 3, 4, 5, 6]) narrows.call("connect_agent", { alias: `own-${i}`, agent_url: `https://own-${i}.invalid` });
    });
    await page.locator('[data-lane="https://own-6.invalid"]').waitFor();
    assert.equal(await page.locator('.lane[data-lane*="own-"]').count(), 6);
    assert.ok((await height()) < before * 1.25, `${await height()} px after ${before} px`);
    assert.ok((await height()) < 450);
    await picture(page, "many-lanes");
  });

  await t.test("single keys work wherever no text is typed, and can be turned off", async (s) => {
    const page = await open(s);
    await rest(page);
    const play = page.getByRole("button", { name: "Play", exact: true });
    await page.getByRole("button", { name: "Say hello to echo" }).focus();
    await page.keyboard.press("p");
    await play.waitFor();
    await page.keyboard.press("Enter");
    const steps = await page.evaluate(() => narrows.session.world.steps);
    await page.keyboard.press(".");
    await page.keyboard.press(".");
    await page.keyboard.press(",");
    assert.equal(await page.evaluate(() => narrows.session.world.steps), steps + 1);
    await page.getByLabel("message", { exact: true }).fill("");
    await page.getByLabel("message", { exact: true }).pressSequentially("p.,p");
    assert.equal(await page.getByLabel("message", { exact: true }).inputValue(), "p.,p");
    assert.equal(await play.isVisible(), true);
    const keys = page.getByRole("button", { name: /^Keys/ });
    await keys.press("Enter");
    await page.keyboard.press("p");
    await page.waitForTimeout(100);
    assert.equal(await play.isVisible(), true);
    await keys.press("Enter");
    await page.setViewportSize({ width: 390, height: 844 });
    assert.equal(await keys.isVisible(), false);
    await page.getByRole("button", { name: "Say hello to echo" }).focus();
    await page.keyboard.press("p");
    await page.waitForTimeout(100);
    assert.equal(await play.isVisible(), true, "no keys where there is no switch for them");
  });

  await t.test("held time stands still, and a step lets one thing happen", async (s) => {
    const page = await open(s);
    await rest(page);
    await page.getByRole("button", { name: "Pause" }).click();
    await example(page, "Say hello to echo");
    await outcome(page).filter({ hasText: "running" }).waitFor();
    const steps = () => page.evaluate(() => narrows.session.world.steps);
    const at = await steps();
    await page.waitForTimeout(300);
    assert.equal(await steps(), at);
    await page.getByRole("button", { name: "Step", exact: true }).click();
    assert.equal(await steps(), at + 1);
  });

  await t.test("the arrow keys move along the timeline, Enter shows the bytes, Escape closes them", async (s) => {
    const page = await open(s);
    await rest(page);
    await example(page, "Say hello to echo");
    await rest(page);
    const focused = () => page.evaluate(() => document.activeElement.dataset.span);
    const bars = page.locator(".lanes .span[tabindex='0']");
    assert.equal(await bars.count(), 1, "one bar is in the order of Tab");
    await bars.focus();
    await page.keyboard.press("End");
    const last = await focused();
    await page.keyboard.press("ArrowLeft");
    assert.notEqual(await focused(), last);
    await page.keyboard.press("End");
    for (let i = 0; i < 6 && !(await focused())?.startsWith("x"); i += 1) await page.keyboard.press("ArrowDown");
    assert.match(await focused(), /^x\d+$/);
    await page.keyboard.press("End");
    const bar = await focused();
    await page.keyboard.press("Enter");
    const bytes = page.getByRole("region", { name: "What it is made of" });
    await bytes.getByText("POST https://echo.test/").waitFor();
    await page.getByRole("button", { name: "As sent" }).click();
    await picture(page, "bytes");
    await bytes.locator("pre", { hasText: /^POST https:\/\/echo\.test\/\n[^{]*\n\n\{"jsonrpc":"2\.0",.*"Hello, narrows!"/s }).waitFor();
    await page.getByRole("button", { name: "As sent" }).press("Escape");
    assert.equal(await focused(), bar);
    await page.keyboard.press("p");
    await page.getByRole("button", { name: "Play", exact: true }).waitFor();
  });

  await t.test("an agent's label opens what the gateway knows of it", async (s) => {
    const page = await open(s);
    await rest(page);
    await page.getByTitle("What the gateway knows of echo").press("Enter");
    await page.getByRole("heading", { name: "What the gateway knows of echo" }).waitFor();
    await page.locator(".records pre", { hasText: '"micro_rps": 1000000' }).waitFor();
  });
});
