// What bundlers made of the package (tests/loading/bundlers.test.mjs) in a real browser: the module is an asset that is fetched.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

import { launch, root, serveFolder } from "./support.mjs";

const BUILT = { esbuild: "out/main.js", vite: "dist/index.html", webpack: "dist/main.js" };

test("bundles in Chromium", async (t) => {
  const browser = await launch(t);
  for (const [bundler, file] of Object.entries(BUILT)) {
    await t.test(bundler, async (s) => {
      const path = join(root, "tests/.work/programs", bundler, file);
      assert.ok(existsSync(path), `${path}: tests/loading/run builds it`);
      const page = await browser.newPage();
      s.after(() => page.close());
      const said = new Promise((resolve, reject) => {
        page.on("console", (message) => {
          if (message.type() !== "error") resolve(message.text());
          else if (!message.location().url.endsWith("/favicon.ico")) reject(new Error(message.text()));
        });
        page.on("pageerror", reject);
      });
      const wasm = page.waitForResponse((response) => response.url().endsWith(".wasm"));
      const url = await serveFolder(s, join(path, ".."));
      await page.goto(file.endsWith(".html") ? `${url}index.html` : `${url}blank`);
      if (file.endsWith(".js")) await page.addScriptTag({ type: "module", url: `${url}main.js` });
      assert.equal(await said, "17 https://agent.example/.well-known/agent-card.json");
      assert.equal((await wasm).headers()["content-type"], "application/wasm");
    });
  }
});
