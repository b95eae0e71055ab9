// From opening the demo page to its being ready, in Chromium, as the page's own marks tell it.
//   node tests/bench/page.mjs [--quick]    BROWSER names the Chromium; tests/browser/run installs what drives it
import { execFileSync, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { median, quick, table } from "./measure.mjs";

const place = (path) => fileURLToPath(new URL(path, import.meta.url));
const { chromium } = createRequire(place("../.work/browser/package.json"))("playwright-core");

const MBIT = 1e6 / 8;

/** How the page is opened. A throughput and a latency are each way, a slowness is that of the processor. */
const WAYS = [
  { name: "this machine" },
  { name: "this machine, opened again", again: true },
  { name: "a processor four times as slow", slowness: 4 },
  { name: "50 Mbit/s, 20 ms", mbit: 50, latency_ms: 20 },
  { name: "10 Mbit/s, 40 ms", mbit: 10, latency_ms: 40 },
  { name: "1.6 Mbit/s, 150 ms", mbit: 1.6, latency_ms: 150 },
];

/** In the page: when what was there, from the moment it was opened. */
function moments() {
  const at = (name) => performance.getEntriesByName(name)[0].startTime;
  return { painted: at("first-contentful-paint"), fetched: at("fetched"), compiled: at("compiled"), ready: at("ready") };
}

function found() {
  const words = ["chromium", "chromium-browser", "google-chrome"].map((name) => `command -v ${name}`).join(" || ");
  return execFileSync("sh", ["-c", words], { encoding: "utf8" }).trim();
}

async function opened(browser, url, { again, slowness, mbit, latency_ms }) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 } });
  try {
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    if (slowness) await devtools.send("Emulation.setCPUThrottlingRate", { rate: slowness });
    if (mbit) {
      const throughput = mbit * MBIT;
      await devtools.send("Network.enable");
      await devtools.send("Network.emulateNetworkConditions", {
        offline: false,
        latency: latency_ms,
        downloadThroughput: throughput,
        uploadThroughput: throughput,
      });
    }
    await page.goto(url);
    await page.locator("main:not([aria-busy])").waitFor();
    if (again) {
      await page.reload();
      await page.locator("main:not([aria-busy])").waitFor();
    }
    await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0);
    return await page.evaluate(moments);
  } finally {
    await context.close();
  }
}

const child = spawn(process.execPath, [place("../../pkg/cli.js"), "page", "--no-open", "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
const browser = await chromium.launch({ executablePath: process.env.BROWSER ?? found(), args });
try {
  let url;
  for await (const line of createInterface({ input: child.stdout })) {
    url = /page is at (\S+)/.exec(line)?.[1];
    if (url) break;
  }
  const seen = new Map(WAYS.map((way) => [way, []]));
  for (let round = quick ? 0 : -1; round < (quick ? 1 : 9); round += 1) {
    for (const way of WAYS) {
      const taken = await opened(browser, url, way);
      if (round >= 0) seen.get(way).push(taken);
    }
  }
  const columns = ["painted", "fetched", "compiled", "ready"];
  table(
    "From opening the page to its being ready, milliseconds",
    ["", ...columns, "ready at most"],
    WAYS.map((way) => [
      way.name,
      ...columns.map((what) => median(seen.get(way).map((one) => one[what])).toFixed(0)),
      Math.max(...seen.get(way).map(({ ready }) => ready)).toFixed(0),
    ]),
  );
} finally {
  await browser.close();
  child.kill();
}
