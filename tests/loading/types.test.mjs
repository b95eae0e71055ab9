// The types describe the package: a sample compiles, and each mistake marked in it is found.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { installed, program, root } from "./program.mjs";

const here = join(root, "tests/loading");
const tsc = join(installed, "typescript/bin/tsc");
const folder = program("types");
for (const name of readdirSync(join(here, "types"))) symlinkSync(join(here, "types", name), join(folder, name));

function compile(name, options, file = "sample.mts") {
  const compilerOptions = { strict: true, skipLibCheck: false, noEmit: true, types: [], exactOptionalPropertyTypes: true, preserveSymlinks: true, ...options };
  const config = join(folder, `tsconfig.${name}.json`);
  writeFileSync(config, JSON.stringify({ compilerOptions, files: [file] }));
  const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", config], { encoding: "utf8" });
  assert.equal(stdout, "");
  assert.equal(status, 0);
}

test("a host compiles without the DOM, as Node resolves it", () => {
  compile("node", { module: "nodenext", target: "es2022", lib: ["es2022"] });
});

test("a host compiles with the DOM, as bundlers resolve it", () => {
  compile("bundler", { module: "esnext", moduleResolution: "bundler", target: "es2022", lib: ["es2022", "dom"] });
});

test("the generated types are the written ones", () => {
  compile("generated", { module: "nodenext", target: "es2022", lib: ["es2022", "dom"] }, "generated.mts");
});

test("the official SDK takes a transport, both of its lines, with Node's own types beside", () => {
  const options = { module: "nodenext", target: "es2022", lib: ["es2022"], types: ["node"], skipLibCheck: true };
  compile("sdk", options, "sdk.mts");
});

test("a program in CommonJS is told by its compiler that it can require the package", () => {
  compile("commonjs", { module: "node20", target: "es2022", lib: ["es2022"] }, "commonjs.cts");
});

// Every key set, so that a trace, which begins with the whole configuration, shows every key.
const everything = {
  rate_limit: { rps: 0.5, burst: 2 },
  directory: { url: "https://directory.example/", built_in: true, store: "list" },
  tools: ["send_message"],
  external_agents: [{ name: "a", url: "https://agent.example/", headers: { "X-A": "b" } }],
  auth: { tokens: [{ token: "token-of-a", principal: "a" }] },
  storage: true,
  mcp: { search: true, pins: false },
  // The first has every key that a server may have.
  mcp_servers: [
    { name: "notes", transport: { type: "http", url: "https://notes.example/mcp" }, oauth: { client_id: "c", scopes: ["s"] }, health_check: { interval_secs: 5 }, timeout_secs: 5, template_id: "notes", taint_scanning: false, taint_policy: { tools: { t: { default: "skip" } } } },
    { name: "files", transport: { type: "stdio", command: "files", args: ["a"] }, env: ["HOME"] },
  ],
  approval: { require_approval: ["mcp_*"], elicitation: true, channel_rules: [{ channel: "c", denied_tools: ["mcp_*"] }] },
  users: [{ id: "ada", tool_policy: { deny: ["mcp_*"] } }],
  agents: { a: { mcp_servers: ["files"] } },
  mcp_taint_policy: [{ tool: "mcp_*", skip_rules: ["PiiEmail"] }],
  taint_rules: [{ name: "soft", action: "warn", rules: ["PiiEmail"] }],
  taint_policy: { results: "warn" },
  caller: { agent: "a", sender: "ada", channel: "c" },
  a2a: {
    name: "N",
    description: "D",
    url: "https://gateway.example/",
    responder: "inbox",
    skills: [{ id: "e", name: "E", description: "D", tags: ["t"], responder: "echo" }],
  },
};

test("the configuration's type has the keys that the gateway has", async () => {
  const { Core } = await import("../../pkg/node.mjs");
  const core = new Core({ seed: new Uint8Array(32), now: 0, unixMs: 0 }, everything);
  core.trace(true);
  const { config } = JSON.parse(core.traceLine());
  const code = `import type { ConfigObject, ExternalAgent, McpServer } from "narrows";
    const config = ${JSON.stringify(config)} satisfies ConfigObject;
    type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;
    // Agents that a2a names are written where the others are.
    type Keys<T> = Exclude<keyof NonNullable<T>, "external_agents">;
    export const all: Same<keyof ConfigObject, keyof typeof config> = true;
    export const agent: Same<keyof ExternalAgent, keyof (typeof config.external_agents)[0]> = true;
    export const server: Same<keyof McpServer, keyof (typeof config.mcp_servers)[0]> = true;
    export const sections: { [K in keyof typeof config]: (typeof config)[K] extends string | number | boolean | readonly unknown[]
      ? true : string extends Keys<ConfigObject[K]> ? true : Same<Keys<ConfigObject[K]>, keyof (typeof config)[K]> } = ${JSON.stringify(Object.fromEntries(Object.keys(config).map((key) => [key, true])))};`;
  writeFileSync(join(folder, "config.mts"), code);
  compile("config", { module: "nodenext", target: "es2022", lib: ["es2022"] }, "config.mts");
});
