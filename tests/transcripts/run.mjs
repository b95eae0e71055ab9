// Plays every transcript through the wasm core and compares what it says, byte for byte. The folder with narrows.js and
// narrows_bg.wasm is NARROWS_DIST, or that of the package; the folder with the transcripts is the argument, or this one.
// The last line is `N passed, M failed`.
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const dist = process.env.NARROWS_DIST ?? join(here, "../../pkg/dist");
const { Core, initSync } = await import(pathToFileURL(join(dist, "narrows.js")));
initSync({ module: readFileSync(join(dist, "narrows_bg.wasm")) });

const genesis = ({ seed, now, unix_ms }) => ({ seed: new Uint8Array(Buffer.from(seed, "hex")), now, unixMs: unix_ms });

/** What the core says now, as lines: outputs, then the time-out where it changed. */
function said(core, state) {
  const lines = [];
  for (let output; (output = core.output()) !== undefined; ) lines.push(`{"output":${output}}`);
  const timeout = core.timeout() ?? "null";
  if (timeout !== state.timeout) lines.push(`{"timeout":${timeout}}`);
  state.timeout = timeout;
  return lines;
}

/** Fails where a line of the transcript is not what the core said. */
function compare(want, got, number) {
  if (want !== got) throw new Error(`line ${number}:\n  - ${want ?? "(nothing)"}\n  + ${got ?? "(nothing)"}`);
}

function play(text) {
  const lines = text.trimEnd().split("\n");
  const birth = JSON.parse(lines[0]);
  let core = new Core(genesis(birth.genesis), birth.config);
  const state = { timeout: "null" };
  let got = [];
  for (const [index, line] of lines.entries()) {
    const parsed = JSON.parse(line);
    if ("output" in parsed || "timeout" in parsed) {
      compare(line, got.shift(), index + 1);
      continue;
    }
    compare(undefined, got.shift(), index + 1);
    if (parsed.input) {
      let misuse;
      try {
        core.input(parsed.now, JSON.stringify(parsed.input));
      } catch (error) {
        if (error.name !== "Misuse") throw error;
        misuse = error.message;
      }
      compare(parsed.misuse, misuse, index + 1);
      got = said(core, state);
    } else if (parsed.snapshot) {
      const pieces = core.snapshot();
      compare(JSON.stringify(parsed.snapshot), JSON.stringify(pieces), index + 1);
      core.dispose();
      core = Core.restore(genesis(parsed.restore), birth.config, pieces);
      state.timeout = "null";
      got = said(core, state);
    }
  }
  compare(undefined, got.shift(), lines.length + 1);
  core.dispose();
}

let passed = 0;
let failed = 0;
const folder = process.argv[2] ?? here;
for (const name of readdirSync(folder).filter((name) => name.endsWith(".jsonl")).sort()) {
  try {
    play(readFileSync(join(folder, name), "utf8"));
    passed += 1;
  } catch (error) {
    failed += 1;
    console.log(`not ok - ${name}, ${error.message}`);
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
