import { createServer } from "node:http";

import { openInBrowser } from "./browser.mjs";
import { PageFiles } from "./page-files.mjs";
import { writePage } from "./page-source.mjs";
import { EXIT_OK, endingSignal } from "./process.mjs";
import { UsageError, reason } from "./usage.mjs";

const HOST = "127.0.0.1";

/** Where the page is by itself; where that is taken, any free port does. */
const PORT = 4546;

/**
 * Serves the demo page on loopback until the process is told to end, or writes it into a folder.
 *
 * @param {{ port?: number, noOpen?: true, out?: string, gateway?: string }} options
 * @returns {Promise<number>} the exit code
 * @throws {UsageError} the port cannot be listened on, the folder not written to, or both are asked for
 */
export async function servePage({ port, noOpen = false, out, gateway }) {
  if (out !== undefined && (noOpen || port !== undefined)) throw new UsageError("--out writes the page and serves nothing: leave out --port and --no-open.");
  if (out !== undefined) return written(out, gateway);
  if (gateway !== undefined) throw new UsageError("--gateway needs --out: narrows serve shows the page attached to itself.");
  const files = new PageFiles();
  files.load();
  const server = createServer((request, response) => {
    if (files.answer(request, response)) return;
    response.writeHead(404, { "Content-Type": "text/plain; charset=utf-8" }).end("There is nothing at this path: the page is at /.\n");
  });
  await listen(server, port);
  const url = `http://${HOST}:${server.address().port}/`;
  process.stdout.write(`narrows: the page is at ${url}\nTo end it: Ctrl-C.\n`);
  if (!noOpen) openInBrowser(url);
  const told = endingSignal();
  await new Promise((resolve) => told.addEventListener("abort", resolve, { once: true }));
  server.close();
  server.closeAllConnections();
  return EXIT_OK;
}

function written(folder, gateway = "") {
  try {
    const count = writePage(folder, gateway);
    process.stdout.write(`narrows: the page is in ${folder}, ${count} files.\n`);
  } catch (error) {
    throw new UsageError(`The page cannot be written to ${folder}: ${reason(error)}.`);
  }
  return EXIT_OK;
}

async function listen(server, wanted) {
  const tried = (port) =>
    new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, HOST, () => {
        server.off("error", reject);
        resolve();
      });
    });
  try {
    await tried(wanted ?? PORT);
  } catch (error) {
    if (error.code !== "EADDRINUSE") throw new UsageError(`${HOST} cannot be listened on: ${reason(error)}.`);
    if (wanted !== undefined) throw new UsageError(`Port ${wanted} is taken, choose another with --port.`);
    await tried(0);
  }
}
