// The Inspector's command line. Each wish is a process of its own and so is the gateway behind it: nothing is kept from call to call.
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { args, command, mode, serve, url } from './serve.mjs';

const program = join(dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json')), 'clients/launcher/build/index.js');
/** The exit status for an answer with `isError`. Any other than 0, such as 6 for a fault that `--strict` finds in a schema, is a failure. */
const toolError = 5;

const inspect = (...options) =>
  new Promise((resolve, reject) => {
    const line = [program, '--cli', ...(url ? [url.href] : [command, ...args]), ...options, '--protocol-era', mode, '--format', 'json', '-q'];
    execFile(process.execPath, line, { timeout: 15_000, maxBuffer: 1 << 24 }, (error, stdout, stderr) => {
      if (error && error.code !== toolError) return reject(new Error(`exit ${error.code ?? error.signal}: ${stderr.trim() || stdout.trim()}`));
      resolve(JSON.parse(stdout).result);
    });
  });

await serve({
  tools: () => inspect('--method', 'tools/list', '--strict'),
  call: (name, input) => inspect('--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(input)),
  close: () => undefined,
});
