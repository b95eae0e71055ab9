// Puts the demo page into the package before it is packed, and removes it afterwards: its source is www/.
//   node scripts/pack-page.mjs put|remove
import { cpSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const from = fileURLToPath(new URL("../www", import.meta.url));
const to = fileURLToPath(new URL("../pkg/www", import.meta.url));

rmSync(to, { recursive: true, force: true });
if (process.argv[2] === "put") cpSync(from, to, { recursive: true });
