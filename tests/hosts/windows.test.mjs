import assert from "node:assert/strict";
import { test } from "node:test";

import { windowsCommand } from "../../pkg/node/windows.mjs";

const NODE = "C:\\Program Files\\nodejs";
const ENV = { Path: `C:\\Windows;${NODE}`, PathExt: ".COM;.EXE;.BAT;.CMD;.JS", ComSpec: "C:\\Windows\\System32\\cmd.exe" };
const FILES = new Set([`${NODE}\\node.exe`, `${NODE}\\npx.cmd`, `${NODE}\\npx`, "C:\\tools\\run.bat", "C:\\tools\\plain.js", "C:\\tools\\v1.2.exe"]);

const of = (command, ...args) => windowsCommand(command, args, ENV, (file) => [...FILES].some((known) => known.toLowerCase() === file.toLowerCase()));

test("a program is started as it is", () => {
  assert.deepEqual(of("node", "a b", 'say "hi"'), { program: `${NODE}\\node.exe`, args: ["a b", 'say "hi"'], verbatim: false });
  assert.equal(of("node.exe").program, `${NODE}\\node.exe`);
  assert.equal(of("C:\\tools\\v1.2").program, "C:\\tools\\v1.2.exe");
});

test("a script of the shell is run by it, with every argument in quotes", () => {
  const { program, args, verbatim } = of("npx", "-y", "server@1", "C:\\my files\\", "https://a.test/?b=c&d=e|f>g", "");
  assert.deepEqual([program, verbatim], ["C:\\Windows\\System32\\cmd.exe", true]);
  const words = `"${NODE}\\npx.cmd" "-y" "server@1" "C:\\my files\\\\" "https://a.test/?b=c&d=e|f>g" ""`;
  assert.deepEqual(args, ["/d", "/s", "/c", `"${words}"`]);
});

test("an argument that the shell would read as more than itself is refused", () => {
  for (const bad of ['x" & calc.exe & "', "%PATH%", "a!b!", "a^b", "a\nb", "a\0"]) {
    assert.throws(() => of("npx", "-y", bad), /is a script of the Windows shell, which would not pass on argument 2 as it is/);
    assert.throws(() => of("C:\\tools\\run.bat", bad), /is a script of the Windows shell/);
  }
});

test("what is no program is told", () => {
  assert.throws(() => of("nothing"), /^Error: nothing was not found$/);
  assert.throws(() => of("C:\\tools\\plain.js"), /is no program: name what runs it/);
});
