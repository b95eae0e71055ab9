// Cases whose input is a way to use the package: each of them is named beside a test.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

const tests = new URL("..", import.meta.url);
const sources = ["hosts", "worker", "loading"].flatMap((folder) => {
  const names = readdirSync(new URL(`${folder}/`, tests)).filter((name) => name.endsWith(".mjs"));
  return names.map((name) => readFileSync(new URL(`${folder}/${name}`, tests), "utf8"));
});

for (const kind of ["wasm-js-boundary", "workers-limits"]) {
  test(`every case of ${kind} is named beside a test`, () => {
    const cases = JSON.parse(readFileSync(new URL(`data/cases/${kind}.json`, tests), "utf8"));
    assert.ok(cases.length > 5);
    for (const { id } of cases) assert.ok(sources.some((text) => text.includes(`// ${id}`) || text.includes(`, ${id}`) || text.includes(`(${id})`)), id);
  });
}
