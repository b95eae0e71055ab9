import { Core } from "../node.mjs";
import { mcpJson } from "./command.mjs";
import { readConfiguration } from "./configuration.mjs";
import { Host } from "./host.mjs";
import { HttpClient } from "./http.mjs";
import { Log } from "./log.mjs";
import { EXIT_OK, EXIT_SOFTWARE, endingSignal, genesis } from "./process.mjs";
import { serveStdio } from "./stdio.mjs";
import { openTrace } from "./trace.mjs";

/** The core's own default of `limits.message_bytes`. */
const MESSAGE_BYTES = 32 << 20;

/** JavaScript strings end at half a GiB: a longer message cannot be taken in, whatever the configuration says. */
const MAX_MESSAGE_BYTES = 256 << 20;

/**
 * Serves MCP on stdin and stdout.
 *
 * @param {{ config?: string, trace?: string }} files
 * @returns {Promise<number>} the exit code
 * @throws {import("./usage.mjs").UsageError | Error} the configuration is no good
 */
export async function serve({ config, trace }) {
  const configuration = readConfiguration(config, process.env);
  const core = new Core(genesis(), configuration);
  const onTrace = trace === undefined ? undefined : openTrace(trace);
  const log = new Log(process.stderr);
  const { allow_private: allowPrivate, allowed_hosts: allowedHosts } = configuration.network ?? {};
  const http = new HttpClient({ allowPrivate, allowedHosts });
  let broke;
  const broken = new Promise((resolve) => {
    broke = (message) => {
      log.say(`the gateway broke and ends: ${message}`);
      resolve(EXIT_SOFTWARE);
    };
  });
  const host = new Host(core, {
    fetch: (request, report) => http.fetch(request, report),
    onNotice: (notice) => log.notice(notice),
    onTrace,
    onDeath: broke,
  });
  const served = serveStdio(host, {
    input: process.stdin,
    output: process.stdout,
    messageBytes: Math.min(configuration.limits?.message_bytes ?? MESSAGE_BYTES, MAX_MESSAGE_BYTES),
    signal: endingSignal(),
    say: (text) => log.say(text),
  });
  // From here on stdout carries the protocol alone: what anything else prints goes to stderr.
  process.stdout.write = process.stderr.write.bind(process.stderr);
  if (process.stdin.isTTY) {
    log.say(`waiting for MCP messages on stdin. An MCP host starts this command by its mcp.json:\n  ${mcpJson()}`);
    log.say("to see it work: narrows demo. To end it: Ctrl-C.");
  }
  return Promise.race([served.then(() => EXIT_OK), broken]);
}
