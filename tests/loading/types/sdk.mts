// The connection fits the official SDK, and Node's own Request, Response, MessagePort and AbortSignal are the ones taken.
import { Client as Client2 } from "@modelcontextprotocol/client";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import type { MessagePort } from "node:worker_threads";
import { Gateway } from "narrows";

export async function join(gateway: Gateway, request: Request): Promise<Response> {
  const implementation = { name: "sample", version: "1" };
  await new Client1(implementation).connect(gateway.transport());
  await new Client2(implementation).connect(gateway.transport());
  await gateway.tools({ signal: AbortSignal.timeout(1000) });
  const port: MessagePort = gateway.port();
  port.close();
  const serve: (request: Request) => Promise<Response> = gateway.fetch;
  return serve(request);
}
