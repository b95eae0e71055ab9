import { mcpJson } from "./command.mjs";
import { readConfiguration } from "./configuration.mjs";
import { driven } from "./driven.mjs";
import { EXIT_OK, endingSignal } from "./process.mjs";
import { WatchedFile } from "./reload.mjs";
import { serveStdio } from "./stdio.mjs";
import { UNREAD_BYTES } from "./writer.mjs";

/** The core's own default of `limits.message_bytes`. */
const MESSAGE_BYTES = 32 << 20;

/** JavaScript strings end at half a GiB: a longer message cannot be taken in, whatever the configuration says. */
const MAX_MESSAGE_BYTES = 256 << 20;

/**
 * Serves MCP on stdin and stdout.
 *
 * @param {{ config?: string, trace?: string, state?: string, agent?: string, sender?: string, channel?: string }} options
 *   files, and who the caller is
 * @returns {Promise<number>} the exit code
 * @throws {import("./usage.mjs").UsageError | Error} the configuration is no good
 */
export async function serve({ config, trace, state, ...caller }) {
  const file = new WatchedFile(config);
  const read = () => {
    const configuration = readConfiguration(config, process.env);
    if (Object.keys(caller).length > 0) configuration.caller = { ...configuration.caller, ...caller };
    return configuration;
  };
  const configuration = read();
  const { driver, log, broken } = driven(configuration, { config, trace, state });
  file.follow(driver, read, log);
  const served = serveStdio(driver, {
    input: process.stdin,
    output: process.stdout,
    messageBytes: Math.min(configuration.limits?.message_bytes ?? MESSAGE_BYTES, MAX_MESSAGE_BYTES),
    unreadBytes: configuration.limits?.unread_bytes ?? UNREAD_BYTES,
    signal: endingSignal(() => file.reload()),
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
