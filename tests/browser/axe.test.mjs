// Nothing keeps anybody out: axe-core, WCAG 2.2 A and AA, in both colour schemes, on a desk and on a phone.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import test from "node:test";

import { hurry, launch, openPage, picture, rest, servedPage } from "./support.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** What axe finds, in a line each. */
async function faults(page) {
  await page.evaluate(axe);
  return page.evaluate(async (values) => {
    const { violations } = await globalThis.axe.run(document, { runOnly: { type: "tag", values } });
    return violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .slice(0, 4)
          .map(({ target, failureSummary }) => `${target} (${failureSummary})`)
          .join("; ")}`,
    );
  }, TAGS);
}

test("axe finds nothing", async (t) => {
  const browser = await launch(t);
  const url = await servedPage(t);
  for (const colorScheme of ["light", "dark"]) {
    for (const [device, viewport] of [
      ["desk", { width: 1360, height: 900 }],
      ["phone", { width: 390, height: 844 }],
    ]) {
      await t.test(`${colorScheme}, ${device}`, async (s) => {
        const page = await openPage(s, browser, url, { colorScheme, viewport, hasTouch: device === "phone" });
        await rest(page);
        assert.deepEqual(await faults(page), [], "at the start");
        await hurry(page);
        await page.getByRole("button", { name: "Race all three" }).click();
        await page.getByRole("button", { name: "Let clerk ask back" }).click();
        await page.getByText("clerk asks:").waitFor();
        await rest(page);
        await page.locator('.story button:has-text("sends the message to clerk")').first().click();
        assert.deepEqual(await faults(page), [], "with a question and bytes");
        await picture(page, `${colorScheme}-${device}-play`);
        for (const name of ["Break things", "Guard calls", "Serve others", "Bring your own", "Record", "Measure"]) {
          await page.getByRole("tab", { name }).click();
          if (name === "Break things") {
            await page.getByRole("button", { name: "Flood" }).click();
            await page.getByText("15 refused at once").waitFor();
            await rest(page);
          }
          if (name === "Guard calls") {
            await page.getByRole("button", { name: "Swap the arguments" }).click();
            await page.getByText("which waits for a word of its own").waitFor();
            await page.getByRole("button", { name: "Edit" }).click();
            await page.getByRole("button", { name: "A header" }).click();
            await page.getByText("authorization_literal").waitFor();
          }
          if (name === "Serve others") {
            await page.getByRole("button", { name: "Send and watch" }).click();
            await page.getByLabel("You answer").fill("Which colour?");
            await page.getByRole("button", { name: "Ask back", exact: true }).click();
            await page.getByLabel("The visitor answers").waitFor();
          }
          if (name === "Bring your own") {
            await page.getByLabel("Address of the agent").fill("nowhere");
            await page.getByRole("button", { name: "Check the connection" }).click();
            await page.getByText("It fails at: The address.").waitFor();
          }
          assert.deepEqual(await faults(page), [], name);
          await picture(page, `${colorScheme}-${device}-${name.split(" ")[0].toLowerCase()}`);
        }
        await page.getByRole("slider", { name: "Scrub" }).fill("700");
        assert.deepEqual(await faults(page), [], "looking back");
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.equal(overflow, 0, "nothing sticks out to the side");
      });
    }
  }
});
