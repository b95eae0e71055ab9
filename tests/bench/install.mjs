// What the benchmarks compare with, installed on first use. Every benchmark imports this file before its peers.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const wanted = join(here, "package.json");
const folder = join(here, "../.work/bench");
const installed = join(folder, "package.json");
const link = join(here, "node_modules");

const isInstalled = () =>
  existsSync(join(folder, "node_modules")) && readFileSync(installed, "utf8") === readFileSync(wanted, "utf8");

if (!isInstalled()) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  copyFileSync(wanted, installed);
  const quietly = ["--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"];
  execFileSync("npm", ["install", ...quietly], { cwd: folder, stdio: ["ignore", 2, 2] });
}
// Imports are resolved beside the importing file, so the packages must look as if they were here.
rmSync(link, { force: true });
symlinkSync("../.work/bench/node_modules", link);
