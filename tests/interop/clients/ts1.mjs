// The TypeScript SDK, line 1.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { args, command, serve } from './serve.mjs';

const client = new Client({ name: 'interop-ts1', version: '1.0.0' });
await client.connect(new StdioClientTransport({ command, args, stderr: 'inherit' }));
await serve({
  tools: () => client.listTools(),
  call: (name, input, onprogress) => client.callTool({ name, arguments: input }, undefined, { onprogress }),
  close: () => client.close(),
});
