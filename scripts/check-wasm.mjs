// Check that the committed wasm is what the sources make, imports nothing unexpected and is small enough.
//   node scripts/check-wasm.mjs [--rebuild DIR]     --rebuild: also build into DIR and compare; takes a minute or two
// One line a check, then `N passed, M failed`. The allowed imports, with their reasons: scripts/wasm-imports.txt.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { outputDigests, root, sourceDigest } from "./wasm-record.mjs";

// What a page downloads, measured as gzip -9. A kilobyte is 1000 bytes. The aim is 180,000. The core with its tools and MCP over
// HTTP was 191,591; what each later part added is told in ARCHITECTURE.md.
const GZIP_LIMIT_BYTES = 435_000;
const WASM = "narrows_bg.wasm";

// The glue has no source of time and chance. An import's name could hide one: `new Date()` is `new`.
const SENSE = /\b(?:Date|Temporal|performance|crypto|Math\.random)\b[.\w]*/g;

const committed = join(root, "pkg/dist");
const scratch = process.argv[2] === "--rebuild" ? process.argv[3] : undefined;

let passed = 0;
let failed = 0;
function check(name, problem) {
  problem === undefined ? passed++ : failed++;
  console.log(problem === undefined ? `ok - ${name}` : `not ok - ${name}: ${problem}`);
}

const recordOf = (dir) => JSON.parse(readFileSync(join(dir, "build.json"), "utf8"));
const same = (left, right) => JSON.stringify(left) === JSON.stringify(right);
const moduleOf = (dir) => new WebAssembly.Module(readFileSync(join(dir, WASM)));

/** Names without the digests and numbers that differ between builds. */
const plain = (name) => name.replace(/_?h?[0-9a-f]{16}$/, "");
const importsOf = (module) => [...new Set(WebAssembly.Module.imports(module).map(({ name }) => plain(name)))].sort();
const exportsOf = (module) => [...new Set(WebAssembly.Module.exports(module).map(({ name }) => plain(name)))].sort();

/** What is in one list and not in the other, or undefined. */
function difference(found, wanted, surplus, missing) {
  const more = found.filter((name) => !wanted.includes(name));
  const less = wanted.filter((name) => !found.includes(name));
  const said = [more.length && `${surplus} ${more.join(" ")}`, less.length && `${missing} ${less.join(" ")}`];
  return said.filter(Boolean).join("; ") || undefined;
}

function checkRecord(record) {
  const digest = sourceDigest();
  check("the record names the sources that are here", record.sources === digest ? undefined : "run scripts/build-wasm.sh and commit pkg/dist");
  const files = outputDigests(committed);
  const changed = Object.keys({ ...record.files, ...files }).filter((name) => record.files[name] !== files[name]);
  check("the record names the files that are here", changed.length ? `not as recorded: ${changed.join(" ")}` : undefined);
}

function checkImports(module) {
  const lines = readFileSync(join(root, "scripts/wasm-imports.txt"), "utf8").split("\n");
  const allowed = lines.map((line) => line.replace(/#.*/, "").trim()).filter(Boolean);
  check("the imports are those of scripts/wasm-imports.txt", difference(importsOf(module), allowed, "not allowed:", "allowed but not imported:"));
  const strangers = WebAssembly.Module.imports(module).filter((entry) => entry.module !== "./narrows_bg.js");
  check("every import comes from the glue", strangers.length ? strangers.map((entry) => entry.module).join(" ") : undefined);
  const senses = readFileSync(join(committed, "narrows.js"), "utf8").match(SENSE);
  check("the glue takes time and chance from nowhere", senses ? [...new Set(senses)].join(" ") : undefined);
}

function checkSize() {
  const bytes = readFileSync(join(committed, WASM));
  const gzip = gzipSync(bytes, { level: 9 }).length;
  const brotli = brotliCompressSync(bytes).length;
  console.log(`# ${WASM}: ${bytes.length} bytes, gzip ${gzip}, brotli ${brotli}`);
  check(`gzip -9 of the wasm is at most ${GZIP_LIMIT_BYTES} bytes`, gzip <= GZIP_LIMIT_BYTES ? undefined : `${gzip} bytes`);
}

function checkRebuild(record, module) {
  try {
    execFileSync(join(root, "scripts/build-wasm.sh"), [scratch], { cwd: root, stdio: ["ignore", 2, 2] });
  } catch (error) {
    check("the wasm can be built", error.message);
    return;
  }
  check("the wasm can be built", undefined);
  const rebuilt = recordOf(scratch);
  if (same(rebuilt.tools, record.tools)) {
    const changed = Object.keys(record.files).filter((name) => record.files[name] !== rebuilt.files[name]);
    check("a rebuild with the same tools gives the same bytes", changed.length ? `other bytes: ${changed.join(" ")}` : undefined);
    return;
  }
  // Another compiler gives other bytes by nature: its module must offer and want the same.
  console.log(`# other tools than the record's: ${JSON.stringify(rebuilt.tools)}`);
  const again = moduleOf(scratch);
  check("a rebuild with other tools has the same imports", difference(importsOf(again), importsOf(module), "new:", "gone:"));
  check("a rebuild with other tools has the same exports", difference(exportsOf(again), exportsOf(module), "new:", "gone:"));
}

if (existsSync(join(committed, "build.json"))) {
  const record = recordOf(committed);
  const module = moduleOf(committed);
  checkRecord(record);
  checkImports(module);
  checkSize();
  if (scratch !== undefined) checkRebuild(record, module);
} else {
  check("pkg/dist holds a build and its record", "run scripts/build-wasm.sh and commit pkg/dist");
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
