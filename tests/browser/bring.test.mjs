// An agent of one's own: the connection doctor at every step, and the connection.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import test from "node:test";

import { startAgent } from "./agent.mjs";
import { launch, openPage, picture, rest, servedPage } from "./support.mjs";

/** A port at which nobody listens any more. */
async function closedPort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}

test("bring your own", async (t) => {
  const browser = await launch(t);
  const page = await openPage(t, browser, `${await servedPage(t)}#bring`);
  await rest(page);

  /** Examines an address and gives each finding as `step: state`, with the last one's words. */
  const examine = async (url, headers = "") => {
    await page.getByLabel("Address of the agent").fill(url);
    await page.getByLabel("Headers, one a line").fill(headers);
    await page.getByLabel("Address of the agent").press("Enter");
    await page.locator(".verdict:not([data-state=running])", { hasText: /fails at|in the way|reservation/ }).waitFor();
    await page.waitForFunction(() => !document.querySelector(".bring button[aria-busy]"));
    const items = page.locator(".findings li");
    const steps = await items.evaluateAll((list) => list.map(({ dataset }) => `${dataset.step} ${dataset.state}`));
    return { steps, last: steps.at(-1), text: await items.last().textContent(), all: await page.locator(".findings").textContent() };
  };

  await t.test("the address", async () => {
    assert.equal((await examine("agent.example.com")).last, "address failed");
    assert.equal((await examine("ftp://agent.example.com")).last, "address failed");
    assert.equal((await examine("https://ada:secret@agent.example.com")).last, "address failed");
  });

  await t.test("the scheme that everybody forgets", async () => {
    for (const [written, meant] of [
      ["localhost:4546", "http://localhost:4546"],
      ["127.0.0.1:8080/a2a", "http://127.0.0.1:8080/a2a"],
      ["agent.example.com", "https://agent.example.com"],
      ["agent.example.com:8443", "https://agent.example.com:8443"],
    ]) {
      const { last, text } = await examine(written);
      assert.equal(last, "address failed", written);
      assert.ok(text.includes(`before it: ${meant}`), text);
    }
  });

  await t.test("a port at which a browser asks nobody", async () => {
    const { last, text } = await examine("http://127.0.0.1:6667/");
    assert.equal(last, "address failed");
    assert.match(text, /No browser connects to port 6667/);
  });

  await t.test("nobody there", async () => {
    const port = await closedPort();
    const { last, text } = await examine(`http://127.0.0.1:${port}/`);
    assert.equal(last, "reach failed");
    assert.ok(text.includes(`Nothing answers at 127.0.0.1:${port}`), text);
  });

  await t.test("header lines that are none are named, not sent", async () => {
    const agent = await startAgent(t);
    for (const [lines, fault] of [
      ["nonsense", /“nonsense” has no colon/],
      ["X-Key: one\nx-key: two", /“x-key” stands there twice/],
      ["my key: one", /“my key” is no name for a header/],
    ]) {
      const { last, text } = await examine(agent.url, lines);
      assert.equal(last, "headers failed");
      assert.match(text, fault);
      assert.equal(await page.getByLabel("Headers, one a line").getAttribute("aria-invalid"), "true");
    }
    assert.equal(agent.requests.length, 0);
  });

  await t.test("connecting checks first; where nobody answers, no word says success", async () => {
    const url = `http://127.0.0.1:${await closedPort()}/`;
    await page.getByLabel("Headers, one a line").fill("");
    await page.getByLabel("Address of the agent").fill(url);
    await page.getByRole("button", { name: "Connect it" }).click();
    await page.getByText("It fails at: Reachable.").waitFor();
    assert.equal(
      await page.evaluate(() => [...narrows.session.calls.values()].some(({ tool, byUser }) => byUser && tool === "connect_agent")),
      false,
    );
    await page.getByRole("button", { name: "Connect it all the same" }).click();
    await page.locator(".outcome[data-state=warn]", { hasText: "connect_agent to mine: no card" }).waitFor();
    await picture(page, "connected-not-reached");
    await page.getByRole("button", { name: "Check the connection" }).click();
    await page.getByText("It fails at: Reachable.").waitFor();
    assert.equal(await page.getByLabel("Address of the agent").inputValue(), url);
  });

  await t.test("CORS: not at all, and not with headers", async () => {
    const closed = await examine((await startAgent(t, { cors: "none" })).url);
    assert.deepEqual(closed.steps.slice(-2), ["reach ok", "cors failed"]);
    assert.match(closed.text, /Access-Control-Allow-Origin: http:\/\/127\.0\.0\.1:\d+/);
    await picture(page, "doctor-cors");
    const plain = await examine((await startAgent(t, { cors: "plain" })).url);
    assert.equal(plain.last, "preflight failed");
    assert.match(plain.text, /Access-Control-Allow-Headers: A2A-Version, Content-Type/);
  });

  await t.test("a redirect, with the final address", async () => {
    const target = await startAgent(t);
    const { last, text } = await examine((await startAgent(t, { redirect: target.url })).url);
    assert.equal(last, "redirect failed");
    assert.ok(text.includes(`Use that address: ${target.url.replace(/\/$/, "")}`), text);
  });

  await t.test("no card, and a card of another world", async () => {
    assert.equal((await examine((await startAgent(t, { card: () => undefined })).url)).last, "card failed");
    const grpc = (card) => ({ ...card, supportedInterfaces: [{ url: "https://a.test", protocolBinding: "GRPC", protocolVersion: "1.0" }] });
    const { last, text } = await examine((await startAgent(t, { card: grpc })).url);
    assert.equal(last, "version failed");
    assert.match(text, /It offers GRPC 1\.0/);
    const strange = () => ({ name: "Strange", url: 7, skills: null, supportedInterfaces: [null, 5], additionalInterfaces: "none" });
    assert.equal((await examine((await startAgent(t, { card: strange })).url)).last, "version failed");
    const future = (card) => ({ ...card, supportedInterfaces: [{ ...card.supportedInterfaces[0], protocolVersion: "2.0" }] });
    assert.equal((await examine((await startAgent(t, { card: future })).url)).last, "version failed");
  });

  await t.test("credentials: none, for the card, for the questions alone", async () => {
    const strict = await startAgent(t, { token: "t-0123456789" });
    const without = await examine(strict.url);
    assert.equal(without.last, "auth failed");
    assert.match(without.text, /status 401/);
    const half = await startAgent(t, { token: "t-0123456789", openCard: true });
    assert.equal((await examine(half.url)).last, "endpoint failed");
    assert.equal((await examine(half.url, "Authorization: Bearer t-0123456789")).last, "endpoint ok");
    assert.equal((await examine(strict.url, "Authorization: Bearer t-0123456789")).last, "endpoint ok");
  });

  await t.test("a credential goes to its agent and into no trace, which replays all the same", async () => {
    const strict = await startAgent(t, { token: "t-0123456789" });
    await examine(strict.url, "Authorization: Bearer t-0123456789");
    await page.getByLabel("What to call it here").fill("strict");
    await page.getByRole("button", { name: "Connect it" }).click();
    await page.locator(".answer", { hasText: "Connected 'strict'" }).waitFor();
    await page.getByLabel("message", { exact: true }).fill("menu");
    await page.getByRole("button", { name: "Call the tool" }).click();
    await page.locator(".answer", { hasText: "plum tart" }).waitFor();
    await rest(page);
    const trace = await page.evaluate(() => narrows.session.trace.lines.join("\n"));
    assert.ok(trace.includes("Bearer secret:1") && !trace.includes("t-0123456789"));
    await page.getByRole("tab", { name: "Record" }).click();
    await page.getByRole("button", { name: "Replay and compare" }).click();
    await page.getByText(/said the same, byte for byte/).waitFor();
    assert.ok(!(await page.locator("body").textContent()).includes("t-0123456789"));
    await page.getByRole("tab", { name: "Bring your own" }).click();
    await page.getByLabel("What to call it here").fill("mine");
  });

  await t.test("headers that a browser drops", async () => {
    const { steps, all } = await examine((await startAgent(t)).url, "Cookie: a=b\nUser-Agent: me");
    assert.ok(steps.includes("headers warning"));
    assert.match(all, /will not send Cookie, User-Agent/);
    await page.getByText("It can be connected, with the reservation above.").waitFor();
  });

  await t.test("a sound agent is connected and answers; scrubbing back leaves it be", async () => {
    const agent = await startAgent(t);
    const { steps } = await examine(agent.url);
    assert.ok(
      steps.every((step) => step.endsWith(" ok")),
      steps.join(),
    );
    await picture(page, "doctor-fine");
    await page.getByRole("button", { name: "Connect it" }).click();
    await page.locator(".answer", { hasText: "Connected 'mine'" }).waitFor();
    await page.locator(`[data-lane="${new URL(agent.url).origin}"]`, { hasText: "mine" }).waitFor();
    await page.getByLabel("message", { exact: true }).fill("What is for dinner?");
    await page.getByRole("button", { name: "Call the tool" }).click();
    await page.locator(".answer", { hasText: "leek and potato soup" }).waitFor();
    await rest(page);
    await picture(page, "own-agent");
    const asked = agent.requests.length;
    await page.getByRole("button", { name: "All", exact: true }).click();
    const before = await page.evaluate(() => narrows.session.trace.lines.join("\n"));
    await page.getByRole("slider", { name: "Scrub" }).fill("100");
    await page.getByRole("button", { name: "10×" }).click();
    await page.getByRole("button", { name: "Play", exact: true }).click();
    await rest(page);
    assert.equal(await page.evaluate(() => narrows.session.trace.lines.join("\n")), before);
    assert.equal(agent.requests.length, asked, "what it said is remembered, not asked again");
  });
});
