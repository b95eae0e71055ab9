// The TypeScript SDK, line 2, in the mode given: legacy, auto or a pinned revision.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { args, command, mode, serve, url } from './serve.mjs';

const client = new Client(
  { name: 'interop-ts2', version: '1.0.0' },
  { versionNegotiation: { mode: mode === 'legacy' || mode === 'auto' ? mode : { pin: mode } } },
);
await client.connect(url ? new StreamableHTTPClientTransport(url) : new StdioClientTransport({ command, args, stderr: 'inherit' }));
await serve({
  tools: () => client.listTools(),
  call: (name, input, onprogress, signal) => client.callTool({ name, arguments: input }, { onprogress, signal }),
  close: () => client.close(),
});
