// The TypeScript SDK, line 2, in the mode given: legacy, auto or a pinned revision.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { args, command, mode, serve } from './serve.mjs';

const client = new Client(
  { name: 'interop-ts2', version: '1.0.0' },
  { versionNegotiation: { mode: mode === 'legacy' || mode === 'auto' ? mode : { pin: mode } } },
);
await client.connect(new StdioClientTransport({ command, args, stderr: 'inherit' }));
await serve({
  tools: () => client.listTools(),
  call: (name, input, onprogress) => client.callTool({ name, arguments: input }, { onprogress }),
  close: () => client.close(),
});
