// Programs that have the package, and what their tests need, in node_modules.
import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Where `run` installed what the tests need. */
export const installed = join(root, "tests/.work/loading/node_modules");

/**
 * An empty folder with the package and all that is installed.
 *
 * @param {string} name
 * @param {{ copy?: boolean }} [options] whether the package is copied, as an installation would, and not linked
 * @returns {string} its path
 */
export function program(name, { copy = false } = {}) {
  const folder = join(root, "tests/.work/programs", name);
  const modules = join(folder, "node_modules");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(modules, { recursive: true });
  for (const each of readdirSync(installed)) if (!each.startsWith(".")) symlinkSync(join(installed, each), join(modules, each));
  if (copy) cpSync(join(root, "pkg"), join(modules, "narrows"), { recursive: true });
  else symlinkSync(join(root, "pkg"), join(modules, "narrows"));
  return folder;
}
