// The demo page, driven by keyboard and mouse.
import assert from "node:assert/strict";
import test from "node:test";

import { hurry, launch, openPage, picture, rest, serveFolder, servedPage, story } from "./support.mjs";

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
    assert.equal(tools.length, 17);
    for (const tool of tools) {
      await page.getByLabel("Tool", { exact: true }).selectOption(tool);
      assert.equal(await page.locator(".about").first().isVisible(), true, tool);
    }
    await page.getByLabel("Tool", { exact: true }).selectOption("send_message");
    await page.getByLabel("agent needed").fill("echo");
    await page.locator("summary").click();
    await page.getByLabel("metadata").fill("{ no json");
    await page.getByRole("button", { name: "Call the tool" }).click();
    await page.getByRole("alert").filter({ hasText: "“metadata” is not JSON" }).waitFor();
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
    await page.locator('[data-lane="https://clerk.test"]', { hasText: "waits for your answer" }).waitFor();
    await picture(page, "input-required");
    await page.getByLabel("Your answer").fill("four, at eight");
    await page.getByLabel("Your answer").press("Enter");
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
    await outcome(page).filter({ hasText: "Answered after" }).waitFor();
    assert.equal(await runners.count(), 3);
    assert.match((await runners.allTextContents()).join(), /clerkinput-required.*echosuccess.*writersuccess/);
  });

  await t.test("a call is cancelled, and its task with it", async (s) => {
    const page = await open(s);
    await rest(page);
    await example(page, "Watch writer stream");
    await page.locator(".progress li").nth(1).waitFor();
    await picture(page, "running");
    await page.getByRole("button", { name: "Cancel the call" }).click();
    await outcome(page).filter({ hasText: "Given up" }).waitFor();
    await page.getByText("The gateway tells writer to cancel the task.").waitFor();
  });

  await t.test("time is held, stepped, scrubbed back, and goes on as before or otherwise", async (s) => {
    const page = await open(s);
    await rest(page);
    await hurry(page);
    await example(page, "Watch writer stream");
    await rest(page);
    const before = await page.evaluate(() => narrows.session.trace.lines.join("\n"));
    await page.getByRole("slider", { name: "Scrub" }).fill("1500");
    await page.locator(".status", { hasText: "You look back" }).waitFor();
    await outcome(page).filter({ hasText: "Running for" }).waitFor();
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
    await outcome(page).filter({ hasText: "Given up" }).waitFor();
    assert.notEqual(await page.evaluate(() => narrows.session.trace.lines.join("\n")), before, "another future");
  });

  await t.test("held time stands still, and a step lets one thing happen", async (s) => {
    const page = await open(s);
    await rest(page);
    await page.getByRole("button", { name: "Pause" }).click();
    await example(page, "Say hello to echo");
    await outcome(page).filter({ hasText: "Running" }).waitFor();
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
