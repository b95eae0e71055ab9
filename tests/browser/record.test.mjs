// A session as a trace: replayed, saved, opened, copied as a test that runs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";

import { hurry, launch, openPage, picture, rest, root, servedPage } from "./support.mjs";

test("recording", async (t) => {
  const browser = await launch(t);
  const url = await servedPage(t);
  const page = await openPage(t, browser, url, { permissions: ["clipboard-read", "clipboard-write"], acceptDownloads: true });
  await rest(page);
  await hurry(page);
  for (const name of ["Watch writer stream", "Let clerk ask back", "Race all three"]) await page.getByRole("button", { name }).click();
  await rest(page);
  await page.getByRole("tab", { name: "Record" }).click();
  const folder = mkdtempSync(join(tmpdir(), "narrows-record-"));
  const file = join(folder, "session.jsonl");

  await t.test("a fresh gateway says the same, byte for byte", async () => {
    await page.getByRole("button", { name: "Replay and compare" }).click();
    await page.getByText(/said the same, byte for byte: [\d,]+ lines/).waitFor();
    await picture(page, "record");
  });

  await t.test("it is saved as a file whose lines are JSON", async () => {
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save as a file" }).press("Enter");
    await (await download).saveAs(file);
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    assert.ok(JSON.parse(lines[0]).genesis);
    assert.deepEqual(lines, await page.evaluate(() => narrows.session.trace.lines));
  });

  await t.test("it is copied as a test, which passes, and fails where the gateway would differ", async () => {
    await page.getByRole("button", { name: "Copy as a test" }).click();
    await page.getByText("The test is on the clipboard").waitFor();
    const text = await page.evaluate(() => navigator.clipboard.readText());
    mkdirSync(join(folder, "node_modules"), { recursive: true });
    symlinkSync(join(root, "pkg"), join(folder, "node_modules/narrows"));
    writeFileSync(join(folder, "good.test.mjs"), text);
    writeFileSync(join(folder, "bad.test.mjs"), text.replace("You said", "You sang"));
    const run = (name) =>
      execFileSync(process.execPath, ["--test", "--test-reporter=tap", join(folder, name)], {
        encoding: "utf8",
        env: { ...process.env, NODE_TEST_CONTEXT: undefined },
      });
    assert.match(run("good.test.mjs"), /# pass 1/);
    assert.throws(() => run("bad.test.mjs"));
  });

  await t.test("it is shared as a file where the system can, and kept where the person thinks better of it", async () => {
    assert.equal(await page.getByRole("button", { name: "Share" }).count(), 0, "this Chromium shares nothing");
    const other = await openPage(t, browser, `${url}#record`, { acceptDownloads: true, share: true });
    await rest(other);
    const shared = () => other.evaluate(() => globalThis.shared);
    await other.getByRole("button", { name: "Share" }).press("Enter");
    await other.waitForFunction(() => globalThis.shared?.length === 1);
    const [{ name, type, text }] = await shared();
    assert.deepEqual([name, type], ["narrows-session.txt", "text/plain"]);
    assert.deepEqual(text.trimEnd().split("\n"), await other.evaluate(() => narrows.session.trace.lines));
    await other.evaluate(() => (globalThis.refuses = true));
    await other.getByRole("button", { name: "Share" }).click();
    await other.waitForFunction(() => globalThis.shared.length === 2);
    await other.evaluate(() => (navigator.canShare = () => false));
    const download = other.waitForEvent("download");
    await other.getByRole("button", { name: "Share" }).click();
    assert.equal((await download).suggestedFilename(), "narrows-session.jsonl");
    assert.deepEqual(other.complaints, []);
  });

  await t.test("a file is opened, played, scrubbed, and left again", async () => {
    await page.getByLabel("Open a file").setInputFiles(file);
    await page.getByText(/You look at session\.jsonl/).waitFor();
    await page.getByRole("slider", { name: "Scrub" }).fill("600");
    await page.locator('[data-lane="https://writer.test"]').getByText("healthy", { exact: true }).waitFor();
    await picture(page, "opened-trace");
    await hurry(page);
    await page.getByRole("button", { name: "Play", exact: true }).click();
    await rest(page);
    await page.getByRole("button", { name: "Replay and compare" }).click();
    await page.getByText(/said the same, byte for byte/).waitFor();
    await page.getByRole("button", { name: "Back to the session of this page" }).click();
    await page.getByText(/You look at session\.jsonl/).waitFor({ state: "hidden" });
  });

  await t.test("a changed line is found, and what is no trace is refused in words", async () => {
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    const at = lines.findIndex((line) => line.startsWith('{"output"'));
    const changed =
      lines.with?.(at, lines[at].replace("protocolVersion", "protocolversion")) ??
      lines.map((line, i) => (i === at ? line.replace("protocolVersion", "protocolversion") : line));
    const send = (name, text) =>
      page.getByLabel("Open a file").setInputFiles({ name, mimeType: "application/jsonl", buffer: Buffer.from(text) });
    await send("changed.jsonl", changed.join("\n"));
    await page.getByText(/You look at changed\.jsonl/).waitFor();
    await page.getByRole("button", { name: "Replay and compare" }).click();
    await page.getByText(`Line ${at + 1} is not what this gateway says.`).waitFor();
    await picture(page, "replay-differs");
    const strange = [
      lines[0],
      '{"now":1,"input":{"type":"frobnicate"}}',
      '{"output":{"type":"fetch","exchange":1,"method":"GET","url":"no url"}}',
      '{"now":2,"input":{"type":"head","exchange":1}}',
      '{"output":{"type":"message"}}',
    ];
    await send("strange.jsonl", strange.join("\n"));
    await page.getByText(/You look at strange\.jsonl/).waitFor();
    await page.locator(".lanes .span.moment").last().press("Enter");
    await page.getByText("is not as a gateway writes it").first().waitFor();
    await send("novel.txt", "Call me Ishmael.");
    await page.getByText("novel.txt cannot be opened. Line 1 is not JSON, so this is no trace.").waitFor();
    assert.deepEqual(page.complaints, []);
  });
});
