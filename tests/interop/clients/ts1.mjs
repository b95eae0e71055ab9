// The TypeScript SDK, line 1.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { args, command, serve, url } from './serve.mjs';

const client = new Client({ name: 'interop-ts1', version: '1.0.0' });
await client.connect(url ? new StreamableHTTPClientTransport(url) : new StdioClientTransport({ command, args, stderr: 'inherit' }));
await serve({
  tools: () => client.listTools(),
  call: (name, input, onprogress, signal) => client.callTool({ name, arguments: input }, undefined, { onprogress, signal }),
  close: () => client.close(),
});
