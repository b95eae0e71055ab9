import { Gateway } from "../node.mjs";
import { logIn } from "./login.mjs";
import { EXIT_FAILED, EXIT_OK } from "./process.mjs";
import { TokenStore } from "./token-store.mjs";
import { UsageError } from "./usage.mjs";
import { visibleLines } from "./visible.mjs";

/** A server at a URL. @throws {UsageError} there is none of that name */
function remoteServer({ mcp_servers: servers = [] }, name) {
  const server = servers.find((server) => server?.name === name);
  if (server === undefined) throw new UsageError(`The configuration has no server ${JSON.stringify(name)}: see narrows mcp list.`);
  if (server.transport?.type === "stdio") throw new UsageError(`${name} is a process, where nobody logs in.`);
  return server;
}

/** `narrows mcp login NAME`: a person logs in at one server, in the browser. */
export async function login(configuration, name, { json, output, noOpen }) {
  const server = remoteServer(configuration, name);
  const config = { mcp_servers: [server], ...(configuration.network && { network: configuration.network }) };
  const gateway = await Gateway.open({ config, tokens: new TokenStore(), onNotice: () => {} });
  const answer = (fields, text) => output.write(json ? `${JSON.stringify({ server: name, ...fields })}\n` : `${visibleLines(text)}\n`);
  try {
    await logIn(gateway, name, { say, open: noOpen ? () => {} : undefined });
    answer({ logged_in: true }, `Logged in: ${name}. To try it: narrows mcp test ${name}`);
    return EXIT_OK;
  } catch (error) {
    answer({ logged_in: false, why: error.message }, `Not logged in: ${error.message}`);
    return EXIT_FAILED;
  } finally {
    gateway.dispose();
  }
}

/** What is printed for programs stays on standard output alone. */
const say = (text) => process.stderr.write(`${visibleLines(text)}\n`);

/** `narrows mcp logout NAME`: the tokens for one server are forgotten. */
export function logout(configuration, name, { json, output }) {
  const { transport } = remoteServer(configuration, name);
  const removed = new TokenStore().remove(name, new URL(transport.url).href);
  const told = removed ? `Logged out: the tokens for ${name} are forgotten.` : `There are no tokens for ${name}.`;
  output.write(json ? `${JSON.stringify({ server: name, removed })}\n` : `${told}\n`);
  return EXIT_OK;
}
