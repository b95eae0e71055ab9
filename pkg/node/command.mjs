import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { parseArguments } from "./arguments.mjs";
import { explained } from "./config-file.mjs";
import { EXIT_USAGE } from "./process.mjs";
import { UsageError } from "./usage.mjs";
import { visibleLines } from "./visible.mjs";

/** What a host's `mcp.json` says to start this command, wherever it is installed. */
export function mcpJson() {
  const program = fileURLToPath(new URL("../cli.js", import.meta.url));
  return JSON.stringify({ mcpServers: { narrows: { command: "node", args: [program] } } });
}

/** How long what was written and begun may take where a command ends before it served. */
const LEAVING_MS = 1000;

const HELP = `narrows: an MCP server whose tools talk to A2A agents.

Usage
  narrows                 serve MCP over stdio, for a host such as Claude Desktop, Cursor or VS Code
  narrows serve           serve MCP over HTTP, at http://127.0.0.1:4545/mcp
  narrows directory       serve a directory of agents over HTTP, at http://127.0.0.1:4547/agents, and nothing else
  narrows page            show the demo page in a browser: all of it at work, with pretend agents
  narrows mcp COMMAND     list, test, add and remove MCP servers behind the gateway: narrows mcp --help
  narrows demo            show a whole conversation with an example agent, here and now

Options
  --config FILE           configuration: TOML, JSON of the same shape, or the mcp.json of another host
  --trace FILE            write every input and output as a line of JSON (secrets left out)
  --state PATH            keep agents, conversations, inbox and sessions there, credentials too, for the next start:
                          a directory, or one file of JSON lines where its name ends in .jsonl
  --agent NAME            which agent calls, as agents of the configuration names it (stdio)
  --sender ID             on whose behalf, as users names it (stdio)
  --channel NAME          from where, as approval.channel_rules names it (stdio)
  --host ADDRESS          serve, directory: where to listen (127.0.0.1)
  --port NUMBER           serve, directory, page: the port (4545, 4547, 4546; 0 for any that is free)
  --insecure              serve, directory: let others reach it without a token
  --access-log            serve, directory: a line of JSON on standard error for each request, but those for the page
  --no-open               page: print its address and open no browser
  --out FOLDER            page: write its files there instead, for any server of files
  --gateway ADDRESS       page: with --out, the MCP endpoint that it is attached to, as mcp beside it
  -h, --help              this text
  -V, --version           the version

Environment
  NARROWS_CONFIG          the configuration file, where --config names none
  A2A_GATEWAY_NAME        the server's name, over the configuration's
  A2A_GATEWAY_VERSION     the server's version, over the configuration's

In mcp.json
  `;

/** Runs the command. @param {string[]} words its arguments */
export async function run(words) {
  try {
    const code = isMcp(words) ? await mcp(words.slice(1)) : await perform(parseArguments(words));
    if (code !== undefined) process.exit(code);
  } catch (error) {
    const refused = error.code === "config";
    if (!refused && !(error instanceof UsageError)) throw error;
    const words = refused ? `The configuration is refused: ${explained(error.message)}` : error.message;
    process.stderr.write(`narrows: ${visibleLines(words)}\n`);
    process.exitCode = EXIT_USAGE;
    // What was begun by then is let go of. If something of it stays, nobody waits for it.
    setTimeout(() => process.exit(), LEAVING_MS).unref();
  }
}

/** Whether a command about MCP servers is meant: `mcp` alone, or with options, serves. */
function isMcp([first, second]) {
  return first === "mcp" && second !== undefined && (!second.startsWith("-") || second === "--help" || second === "-h");
}

async function mcp(words) {
  mindReader({ ends: true });
  const { MCP_HELP, runMcp } = await import("./mcp.mjs");
  if (!words[0].startsWith("-")) return runMcp(words, { input: process.stdin, output: process.stdout });
  process.stdout.write(MCP_HELP);
}

/**
 * Whoever reads what is printed may stop reading, as `head` does. A demo has nobody left to show anything to then; a
 * server goes on.
 */
function mindReader({ ends }) {
  process.stdout.on("error", (error) => {
    if (error.code !== "EPIPE") throw error;
    if (ends) process.exit(0);
  });
}

async function perform({ command, help, version, ...options }) {
  if (help || version || command !== "stdio") mindReader({ ends: help || version || command === "demo" });
  if (help) process.stdout.write(`${HELP}${mcpJson()}\n`);
  else if (version) process.stdout.write(`${packageVersion()}\n`);
  else if (command === "demo") return (await import("./demo.mjs")).runDemo(process.stdout);
  else if (command === "page") return (await import("./page.mjs")).servePage(options);
  else if (command === "directory") return (await import("./serve-directory.mjs")).serveDirectory(options);
  else if (command === "serve") return (await import("./serve-http.mjs")).serveHttp(options);
  else return (await import("./serve.mjs")).serve(options);
}

function packageVersion() {
  return JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;
}
