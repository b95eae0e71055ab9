// MCP over HTTP from servers that are there already: node mounted.mjs [http|hono|express] [PORT]
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { serve } from "@hono/node-server";
import express from "express";
import { Hono } from "hono";
import { Gateway } from "narrows";

const gateway = await Gateway.open({ config: { name: "mounted" } });

/** A listener of node:http, which Express takes too. */
async function listener(incoming, outgoing) {
  const leave = new AbortController();
  outgoing.on("close", () => leave.abort());
  const { method, headers, url, originalUrl = url } = incoming;
  const body = method === "GET" || method === "HEAD" ? undefined : Readable.toWeb(incoming);
  const init = { method, headers, body, duplex: "half", signal: leave.signal };
  try {
    const response = await gateway.fetch(new Request(`http://${headers.host}${originalUrl}`, init));
    outgoing.writeHead(response.status, [...response.headers].flat());
    outgoing.flushHeaders();
    await pipeline(response.body ?? [], outgoing);
  } catch {
    outgoing.destroy(); // who asked has left
  }
}

const mounts = {
  http: (port, told) => createServer(listener).listen(port, "127.0.0.1", told),
  hono: (port, told) => {
    const app = new Hono();
    app.all("/mcp", (context) => gateway.fetch(context.req.raw));
    return serve({ fetch: app.fetch, port, hostname: "127.0.0.1" }, told);
  },
  express: (port, told) => {
    const app = express();
    app.all("/mcp", listener);
    return app.listen(port, "127.0.0.1", told);
  },
};

const [which = "http", port = "0"] = process.argv.slice(2);
if (!(which in mounts)) throw new Error("usage: node mounted.mjs [http|hono|express] [PORT]");
const server = mounts[which](Number(port), () => console.log(`MCP at http://127.0.0.1:${server.address().port}/mcp`));
process.once("SIGTERM", () => {
  gateway.dispose();
  server.close();
  server.closeAllConnections();
});
