// The corpus of a target as one file: a line for each input, a JSON string, or its base64 where it is no text.
// `node corpus.mjs unpack TARGET FOLDER`, `node corpus.mjs pack TARGET FOLDER BYTES`
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const [what, target, folder, limit] = process.argv.slice(2);
const packed = fileURLToPath(new URL(`corpus/${target}.jsonl`, import.meta.url));
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function written(bytes) {
  try {
    return JSON.stringify(strict.decode(bytes));
  } catch {
    return JSON.stringify({ base64: bytes.toString("base64") });
  }
}

function read(line) {
  const value = JSON.parse(line);
  return Buffer.from(value.base64 ?? value, value.base64 === undefined ? "utf8" : "base64");
}

const known = existsSync(packed) ? readFileSync(packed, "utf8").split("\n").slice(0, -1) : [];
if (what === "unpack") {
  mkdirSync(folder, { recursive: true });
  for (const line of known) {
    const bytes = read(line);
    writeFileSync(join(folder, createHash("sha1").update(bytes).digest("hex")), bytes);
  }
} else if (what === "pack") {
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
  const sorted = files.sort((a, b) => a.length - b.length || a.compare(b)).map(written);
  let left = Number(limit);
  const kept = sorted.filter((line) => (left -= Buffer.byteLength(line) + 1) >= 0);
  mkdirSync(fileURLToPath(new URL("corpus/", import.meta.url)), { recursive: true });
  writeFileSync(packed, kept.map((line) => `${line}\n`).join(""));
  console.log(`${target}: ${kept.length} of ${files.length} inputs kept, ${Number(limit) - Math.max(left, 0)} bytes`);
} else {
  throw new Error("unpack or pack?");
}
