// A loopback server for one agent, on a port the system chooses. It ends when its standard input does, so that no agent outlives
// whoever started it.
import { once } from 'node:events';
import express from 'express';

export const bindings = process.env.BINDING ? [process.env.BINDING] : ['JSONRPC', 'HTTP+JSON'];
export const streaming = process.env.STREAMING !== '0';
export const paths = { JSONRPC: '/rpc', 'HTTP+JSON': '/rest' };
export const skills = [{ id: 'echo', name: 'Echo', description: 'Says back what it was told.', tags: ['sample'] }];

/** `mount(app, base)` adds the agent's routes once the base URL is known. */
export async function serve(mount) {
  const app = express();
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${server.address().port}`;
  mount(app, base);
  process.stdin.resume().on('end', () => process.exit(0));
  console.log(`READY ${base}`);
}
