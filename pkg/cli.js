#!/usr/bin/env node
// Syntax that every Node can read, so that an old one gets a sentence and not a stack.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`narrows: Node 20.19 or later is needed, this is ${process.versions.node}.\n`);
  process.exit(1);
}
import("./node/command.mjs").then(({ run }) => run(process.argv.slice(2)));
