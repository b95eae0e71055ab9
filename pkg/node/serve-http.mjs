import { ApprovalPage, Invitations } from "./approval-page.mjs";
import { readConfiguration } from "./configuration.mjs";
import { driven } from "./driven.mjs";
import { HttpServer } from "./http-server.mjs";
import { PageFiles } from "./page-files.mjs";
import { EXIT_OK, endingSignal } from "./process.mjs";
import { WatchedFile } from "./reload.mjs";
import { UsageError, reason } from "./usage.mjs";

const { lookup } = process.getBuiltinModule("node:dns/promises");
const { BlockList, isIP, isIPv6 } = process.getBuiltinModule("node:net");
const { hostname, networkInterfaces } = process.getBuiltinModule("node:os");

const HOST = "127.0.0.1";

/** A gateway with all its faces. */
const GATEWAY = { port: 4545, configured, files, welcome };

/** How long the requests that cancel tasks may take at the end. */
const GRACE_MS = 300;

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/**
 * Serves MCP, A2A and a directory of agents over HTTP until the process is told to end.
 *
 * @param {{ config?: string, trace?: string, state?: string, host?: string, port?: number, insecure?: true,
 *   accessLog?: true }} options
 * @param {{ port: number, configured(file: object): object, files(configuration: () => object): { answer(request: object, response: object): boolean },
 *   welcome(url: string, file: object): string }} [service] what is served: at which port, under which configuration,
 *   behind what is answered without the core, under the configuration that holds by then, and what is said about it
 * @returns {Promise<number>} the exit code
 * @throws {UsageError | Error} the configuration is no good, or the address cannot be listened on
 */
export async function serveHttp({ config, trace, state, host: name = HOST, port, insecure = false, accessLog = false }, service = GATEWAY) {
  const watched = new WatchedFile(config);
  let file = readConfiguration(config, process.env);
  const onlyHere = await isLoopback(name);
  const prepared = () => {
    if (!onlyHere && !insecure && !file.auth?.tokens?.length) {
      throw new UsageError(
        `${name} can be reached by others: give auth.tokens in the configuration, or --insecure to let everybody in.`,
      );
    }
    if (worksByFunction(file)) {
      throw new UsageError("the responder `function` is for programs that embed the gateway: take inbox, echo, or relay: with an agent.");
    }
    return placed(service.configured(file), onlyHere, name);
  };
  let configuration = prepared();
  const invitations = new Invitations((text) => log.say(text));
  const onNotice = (notice) => {
    const { event, fields } = notice;
    if (accessLog && event === "request_served") log.line({ at: new Date().toISOString(), event, ...fields });
    invitations.notice(notice);
  };
  const { driver, log, broken } = driven(configuration, { config, trace, state, onNotice });
  const read = () => {
    file = readConfiguration(config, process.env);
    return prepared();
  };
  watched.follow(driver, read, log, (taken) => (configuration = taken));
  const server = new HttpServer(driver, configuration.limits, service.files(() => configuration));
  const told = endingSignal(() => watched.reload());
  const { address, port: actual } = await listen(server, name, port ?? service.port).catch((error) => {
    // It has begun its work before it listens.
    driver.dispose();
    throw error;
  });
  const origin = addressed(onlyHere ? name : address, actual);
  invitations.open(origin);
  process.stdout.write(`${service.welcome(origin, file)}To end it: Ctrl-C.\n`);
  const ended = new Promise((resolve) => told.addEventListener("abort", resolve, { once: true }));
  return Promise.race([broken, ended.then(() => end(server, driver))]);
}

async function end(server, driver) {
  await server.close();
  await driver.stop(GRACE_MS);
  return EXIT_OK;
}

async function isLoopback(name) {
  let found;
  try {
    found = await lookup(name, { all: true });
  } catch (error) {
    throw new UsageError(`${name} cannot be listened on: ${error.message}.`);
  }
  return found.every(({ address }) => loopback.check(address, isIPv6(address) ? "ipv6" : "ipv4"));
}

function worksByFunction({ a2a }) {
  return [a2a, ...(a2a?.skills ?? [])].some((section) => section?.responder === "function");
}

/** What is answered without the core, under the names under which the core answers. */
function files(configuration) {
  const pages = [new ApprovalPage(), new PageFiles({ gateway: "mcp" })];
  const isNamed = (host) => {
    const { loopback: onlyHere, hosts = [] } = configuration().server;
    const name = host.replace(/:\d*$/, "").toLowerCase();
    if (hosts.some((known) => [host.toLowerCase(), name].includes(known.toLowerCase()))) return true;
    return onlyHere ? isHere(name) : hosts.length === 0;
  };
  return { answer: (request, response) => isNamed(request.headers.host ?? "") && pages.some((page) => page.answer(request, response)) };
}

/** Whether a host of an address means this machine. */
function isHere(name) {
  const address = name.replace(/^\[(.*)\]$/, "$1");
  return name === "localhost" || (isIP(address) > 0 && loopback.check(address, isIPv6(address) ? "ipv6" : "ipv4"));
}

/** The inbox has tools, and agents are discovered in the directory that is served, where no other is configured. */
function configured(file) {
  const { directory = {} } = file;
  const isSource = directory?.constructor === Object && directory.url === undefined;
  return { ...file, a2a: { ...file.a2a }, directory: isSource ? { built_in: true, ...directory } : directory };
}

/**
 * The configuration at its place: whoever can be reached by others reaches no private address for them. Where everybody is let
 * in, a page of elsewhere whose name was led here is not: names that nobody listed are this machine's own.
 */
function placed(file, onlyHere, name) {
  const open = !onlyHere && !file.auth?.tokens?.length && !file.server?.hosts?.length;
  return {
    ...file,
    server: { ...file.server, ...(open && { hosts: ownNames(name) }), loopback: onlyHere },
    network: { allow_private: onlyHere, ...file.network },
  };
}

function ownNames(name) {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list.map(({ address }) => address));
  const names = ["localhost", hostname(), name, ...addresses].map((own) => (isIPv6(own) ? `[${own}]` : own));
  return [...new Set(names)].filter((own) => /^[a-z0-9.-]+$|^\[[0-9a-f:.]+\]$/i.test(own));
}

async function listen(server, name, port) {
  try {
    return await server.listen(port, name);
  } catch (error) {
    const taken = error.code === "EADDRINUSE" ? `port ${port} is taken, choose another with --port` : reason(error);
    throw new UsageError(`${name} cannot be listened on: ${taken}.`);
  }
}

function addressed(host, port) {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

function welcome(origin, { auth, a2a, directory }) {
  const url = `${origin}/mcp`;
  const headers = auth?.tokens?.length ? { headers: { Authorization: "Bearer YOUR-TOKEN" } } : {};
  const entry = JSON.stringify({ mcpServers: { narrows: { type: "http", url, ...headers } } });
  const agent = a2a?.enabled === false ? "" : `As an A2A agent: its card is at ${origin}/.well-known/agent-card.json\n`;
  const agents = directory?.built_in === false ? "" : `Directory of agents: ${origin}/agents\n`;
  return `narrows: MCP over HTTP at ${url}\nIn mcp.json: ${entry}\nIn a browser: ${origin}/\n${agent}${agents}`;
}
