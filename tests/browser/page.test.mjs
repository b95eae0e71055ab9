// The demo page, driven by keyboard and mouse.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";

import { hurry, launch, openPage, picture, rest, root, serveFolder, servedPage, story } from "./support.mjs";

const example = (page, name) => page.getByRole("button", { name }).click();
const outcome = (page) => page.locator(".outcome");
const tab = (page, name) => page.getByRole("tab", { name }).click();

test("the demo page", async (t) => {
  const browser = await launch(t);
  const url = await servedPage(t);
  const open = (s, options) => openPage(s, browser, url, options);

  await t.test("is ready by itself and asks for nothing more", async (s) => {
    const page = await open(s);
    const asked = [];
    page.on("request", (request) => /^https?:/.test(request.url()) && asked.push(request.url()));
    await rest(page);
    await picture(page, "start");
    await hurry(page);
    for (const name of ["Say hello to echo", "Watch writer stream", "Let clerk ask back", "Race all three"]) await example(page, name);
    await rest(page);
    for (const name of ["Break things", "Bring your own", "Record", "Measure"]) await tab(page, name);
    await page.getByRole("button", { name: "Measure now" }).click();
    await page.getByText("Measured on this machine").waitFor();
    await picture(page, "measured");
    const facts = await page.locator(".measure dd").allTextContents();
    const rates = await page.locator(".measure .value").allTextContents();
    assert.ok(facts.length === 4 && rates.every((rate) => /^[\d,]+$/.test(rate)), `${facts} ${rates}`);
    console.log(`# ${[...facts, ...rates].join("; ")}`);
    assert.deepEqual(asked, []);
    assert.deepEqual(page.complaints, []);
  });

  await t.test("works from any static server, in a folder", async (s) => {
    const page = await openPage(s, browser, `${await serveFolder(s)}www/`);
    await hurry(page);
    await example(page, "Say hello to echo");
    await page.getByText("You said: Hello, narrows!", { exact: true }).waitFor();
    assert.deepEqual(page.complaints, []);
  });

  await t.test("shows a message as text, as structure and as it was sent", async (s) => {
    const page = await open(s);
    await rest(page);
    await page.getByLabel("message", { exact: true }).fill("keyboard first");
    await page.keyboard.press("Tab");
    await page.getByRole("button", { name: "Call the tool" }).press("Enter");
    await page.locator(".answer", { hasText: "You said: keyboard first" }).waitFor();
    await page.getByRole("button", { name: "Structure" }).click();
    await page.locator(".body pre", { hasText: '"role": "ROLE_AGENT"' }).waitFor();
    await page.getByRole("button", { name: "Raw" }).click();
    await page.locator(".body pre", { hasText: /^\{"jsonrpc":"2\.0",/ }).waitFor();
    const raw = await page.locator(".body pre").textContent();
    assert.equal(JSON.parse(raw).result.structuredContent.message.parts[0].text, "You said: keyboard first");
  });

  await t.test("makes a form for every tool, and takes JSON instead", async (s) => {
    const page = await open(s);
    await rest(page);
    const tools = await page.locator("#tool option").allTextContents();
    assert.equal(tools.length, 21, "the gateway's own, and two of the ledger");
    for (const tool of tools) {
      await page.getByLabel("Tool", { exact: true }).selectOption(tool);
      assert.equal(await page.locator(".play .about").first().isVisible(), true, tool);
    }
    await page.getByLabel("Tool", { exact: true }).selectOption("send_message");
    await page.getByLabel("agent needed").selectOption("echo");
    await page.locator("summary").click();
    await page.getByLabel("metadata").fill("{ no json");
    await page.getByRole("button", { name: "Call the tool" }).click();
    await page.getByRole("alert").filter({ hasText: "The field “metadata” cannot be read." }).waitFor();
    await page.locator("#argument-metadata[aria-invalid]").waitFor();
    await page.getByLabel("metadata").fill('{"n": 9007199254740993}');
    await page.getByRole("button", { name: "Arguments" }).click();
    await page.getByLabel("JSON", { exact: true }).fill('{"agent": "echo", "message": "from JSON", "frobnicate": 1}');
    await page.getByRole("button", { name: "Call the tool" }).click();
    await page.locator(".answer", { hasText: "frobnicate" }).waitFor();
    await picture(page, "play-refused");
    await page.getByLabel("JSON", { exact: true }).fill('{"agent": "echo", "message": "from JSON"}');
    await page.getByRole("button", { name: "Whole message" }).click();
    await page.getByRole("button", { name: "Call the tool" }).click();
    await page.locator(".answer", { hasText: "You said: from JSON" }).waitFor();
  });

  await t.test("whatever a person sends as a whole message, the page goes on", async (s) => {
    const page = await open(s);
    await rest(page);
    await page.getByRole("button", { name: "Whole message" }).click();
    const texts = [
      "null",
      "[]",
      "[1]",
      "no json",
      '{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"send_message","arguments":null}}',
      '{"jsonrpc":"2.0","id":77,"method":"tools/call","params":5}',
      '{"jsonrpc":"2.0","method":"notifications/cancelled"}',
      '{"jsonrpc":"2.0","id":{},"method":7}',
    ];
    for (const text of texts) {
      await page.getByLabel("JSON", { exact: true }).fill(text);
      await page.getByRole("button", { name: "Call the tool" }).click();
      await rest(page);
    }
    await page.locator(".lanes .span[tabindex='0']").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "What it is made of" }).waitFor();
    await example(page, "Say hello to echo");
    await page.locator(".answer", { hasText: "You said: Hello" }).waitFor();
    assert.deepEqual(page.complaints, []);
  });

  await t.test("an agent asks back, and the answer goes on with its task", async (s) => {
    const page = await open(s);
    await rest(page);
    await hurry(page);
    await example(page, "Let clerk ask back");
    await page.getByText("clerk asks: Gladly. For how many people, and when?").waitFor();
    await page.locator('[data-lane="https://clerk.test"]', { hasText: "waits for you" }).waitFor();
    await picture(page, "input-required");
    await page.getByLabel("Your answer to clerk").fill("four, at eight");
    await page.getByLabel("Your answer to clerk").press("Enter");
    await page.locator(".answer", { hasText: "Booked: four, at eight" }).waitFor();
    const told = await story(page);
    assert.ok(
      told.some((line) => /waits \d\.\d\d s before it asks again/.test(line)),
      told.join("\n"),
    );
  });

  await t.test("a broadcast is a race with every agent in it", async (s) => {
    const page = await open(s);
    await rest(page);
    await example(page, "Race all three");
    const runners = page.locator(".race li");
    await runners.filter({ hasText: "writer" }).filter({ hasText: "running" }).waitFor();
    await runners.filter({ hasText: "echo" }).filter({ hasText: "answered" }).waitFor();
    await picture(page, "race");
    await hurry(page);
    await outcome(page).filter({ hasText: "asks back after" }).waitFor();
    assert.equal(await runners.count(), 3);
    assert.match((await runners.allTextContents()).join(), /1stclerkasks back, .*1stechoanswered, .*3rdwriteranswered, /);
    await page.getByText("clerk asks: Gladly.").waitFor();
    await page.locator('[data-lane="https://clerk.test"]', { hasText: "waits for you" }).waitFor();
    await page.getByLabel("Your answer to clerk").fill("two, at noon");
    await page.getByLabel("Your answer to clerk").press("Enter");
    await page.locator(".answer", { hasText: "Booked: two, at noon" }).waitFor();
    await page.locator('[data-lane="https://clerk.test"]', { hasText: "waits for you" }).waitFor({ state: "hidden" });
  });

  await t.test("a call is cancelled, and its task with it", async (s) => {
    const page = await open(s);
    await rest(page);
    await example(page, "Watch writer stream");
    await page.locator(".progress li").nth(1).waitFor();
    await picture(page, "running");
    await page.getByRole("button", { name: "Cancel the call" }).click();
    await outcome(page).filter({ hasText: "given up" }).waitFor();
    await page.getByText("The gateway tells writer to cancel the task.").waitFor();
  });

  await t.test("a field that is wrong says so, and the agent stays chosen from tool to tool", async (s) => {
    const page = await open(s);
    await rest(page);
    const tool = page.getByLabel("Tool", { exact: true });
    await tool.selectOption("connect_agent");
    await page.getByRole("button", { name: "Call the tool" }).click();
    assert.equal(await page.evaluate(() => document.activeElement.name), "alias");
    const field = page.getByLabel("agent url needed");
    assert.equal(await field.getAttribute("aria-invalid"), "true");
    const words = await field.evaluate((input) =>
      input
        .getAttribute("aria-describedby")
        .split(" ")
        .map((id) => document.getElementById(id).textContent),
    );
    assert.ok(words.at(-1).length > 0, words);
    await page.locator(".outcome[data-state=failed]", { hasText: "invalid_argument" }).waitFor();
    await tool.selectOption("send_message");
    await page.getByLabel("agent needed").selectOption("writer");
    await page.locator("summary").click();
    await page.getByLabel("history length").fill("many");
    await page.getByRole("button", { name: "Call the tool" }).click();
    await page.locator("#argument-history_length[aria-invalid]").waitFor();
    await tool.selectOption("ping_agent");
    assert.equal(await page.getByLabel("alias needed").inputValue(), "writer");
    await tool.selectOption("list_agents");
    await tool.selectOption("send_message");
    assert.notEqual(await page.getByLabel("agent needed").inputValue(), "");
  });

  await t.test("on a phone an example comes first, and its answer is in sight", async (s) => {
    const page = await open(s, { viewport: { width: 390, height: 844 }, hasTouch: true });
    await rest(page);
    const box = (selector) => page.locator(selector).evaluate((element) => element.getBoundingClientRect().toJSON());
    assert.ok((await box(".examples")).bottom < (await box(".timeline")).top);
    assert.ok((await box(".timeline")).height < 844 * 0.3, "a compact timeline");
    await page.getByRole("button", { name: "Watch writer stream" }).tap();
    await page.locator(".progress li").nth(1).waitFor();
    const { top } = await box(".progress");
    assert.ok(top > 0 && top < 844 - 100, `the answer is at ${top}`);
    await picture(page, "phone-running");
    await page.evaluate(() => scrollTo(0, 600));
    assert.ok((await box(".timeline")).top >= 0, "the timeline stays");
    await page.getByLabel("message", { exact: true }).fill("from below");
    await page.getByRole("button", { name: "Call the tool" }).tap();
    await rest(page);
    const head = await box(".outcome");
    assert.ok(head.top > (await box(".timeline")).bottom - 1 && head.bottom < 844, `what came back is at ${head.top}`);
    const cut = await page
      .locator(".tab")
      .evaluateAll((tabs) => tabs.filter((tab) => tab.getBoundingClientRect().right > innerWidth).length);
    assert.equal(cut, 0, "every tab is in sight");
  });

  await t.test("in forced colours what is chosen can be told", async (s) => {
    const page = await open(s, { forcedColors: "active" });
    await rest(page);
    const look = (locator) =>
      locator.evaluate((element) => {
        const { backgroundColor, color, borderBottomColor } = getComputedStyle(element);
        return `${backgroundColor} ${color} ${borderBottomColor}`;
      });
    const differ = async (one, other) => assert.notEqual(await look(one), await look(other));
    await differ(page.getByRole("button", { name: "1×", exact: true }), page.getByRole("button", { name: "10×" }));
    await differ(page.getByRole("button", { name: "Form", exact: true }), page.getByRole("button", { name: "Arguments" }));
    await differ(page.getByRole("tab", { name: "Play" }), page.getByRole("tab", { name: "Record" }));
    await picture(page, "forced-colors");
  });

  await t.test("less motion is respected, and everything still works", async (s) => {
    const page = await open(s, { reducedMotion: "reduce" });
    await rest(page);
    const moves = await page.evaluate(() => document.getAnimations().filter(({ transitionProperty }) => transitionProperty).length);
    assert.equal(moves, 0);
    await example(page, "Say hello to echo");
    await page.locator(".answer", { hasText: "You said" }).waitFor();
    const transitions = await page.evaluate(() => getComputedStyle(document.querySelector("button")).transitionDuration);
    assert.equal(transitions, "0s");
    assert.deepEqual(page.complaints, []);
  });

  await t.test("two pages share nothing, and one that breaks leaves the other alone", async (s) => {
    const [one, two] = [await open(s), await open(s)];
    await rest(one);
    await rest(two);
    await example(one, "Say hello to echo");
    await one.locator(".answer", { hasText: "You said" }).waitFor();
    assert.equal(await two.locator(".calls li").count(), 0);
    const alive = await one.evaluate(async () => {
      const { Session } = await import("/sim/session.mjs");
      const birth = { seed: new Uint8Array(32), unix_ms: 0 };
      const [left, right] = [new Session(birth), new Session(birth)];
      left.dispose();
      while (right.world.nextAt !== undefined) right.world.step();
      let dead;
      try {
        left.world.state;
      } catch (error) {
        dead = error.code;
      }
      return [dead, right.agents.length, narrows.session.agents.length];
    });
    assert.deepEqual(alive, ["disposed", 3, 3]);
  });

  await t.test("tabs follow the arrow keys, and the address remembers them", async (s) => {
    const page = await open(s);
    await page.getByRole("tab", { name: "Play" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.getByRole("tabpanel", { name: "Break things" }).waitFor();
    await page.keyboard.press("End");
    await page.getByRole("tabpanel", { name: "Measure" }).waitFor();
    assert.match(page.url(), /#measure$/);
    await page.reload();
    await page.getByRole("tabpanel", { name: "Measure" }).waitFor();
  });

  await t.test("opened as a file, it says at once what to do instead", async (s) => {
    const context = await browser.newContext();
    s.after(() => context.close());
    const page = await context.newPage();
    await page.goto(pathToFileURL(join(root, "www/index.html")).href);
    assert.equal(await page.getByText("This page was opened as a file").isVisible(), true);
    assert.equal(await page.getByText("Loading the gateway.").isVisible(), false);
    await picture(page, "file");
  });

  await t.test("a page that cannot load its gateway says so", async (s) => {
    const context = await browser.newContext();
    s.after(() => context.close());
    const page = await context.newPage();
    await page.route("**/*.wasm", (route) => route.fulfill({ status: 404 }));
    await page.goto(url);
    await page
      .getByRole("alert")
      .filter({ hasText: "could not be started: The WebAssembly module was answered with status 404" })
      .waitFor();
    await picture(page, "failed");
  });
});
