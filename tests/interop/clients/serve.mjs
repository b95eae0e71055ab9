// A driver: one MCP client behind a line protocol, so that one script can be run through every client.
//   in   {"op":"tools"}  or  {"op":"call","name":…,"arguments":{…},"progress":true}, "op":"cancel" to call off at the first progress
//   out  {"result":…,"progress":[…]}  or  {"failure":{"message":…,"code":…}}
// The first line out is {"ready":true}; the end of standard input closes the client.
import { createInterface } from 'node:readline';

const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

/** `client` is `{ tools(), call(name, arguments, onprogress, signal), close() }`. */
export async function serve(client) {
  say({ ready: true });
  for await (const line of createInterface({ input: process.stdin })) {
    const { op, name, arguments: input, progress } = JSON.parse(line);
    const seen = [];
    const stop = new AbortController();
    const told = (p) => {
      seen.push(p);
      if (op === 'cancel') stop.abort(new Error('called off'));
    };
    try {
      const call = () => client.call(name, input, progress || op === 'cancel' ? told : undefined, stop.signal);
      const result = op === 'tools' ? await client.tools() : await call();
      say({ result, progress: seen });
    } catch (error) {
      say({ failure: { message: String(error?.message ?? error), code: error?.code }, progress: seen });
    }
  }
  await client.close();
}

/** The gateway's command line or its URL, and the mode, as the runner gives them. */
const target = JSON.parse(process.argv[2] ?? '[]');
export const url = typeof target === 'string' ? new URL(target) : undefined;
export const [command, ...args] = typeof target === 'string' ? [] : target;
export const mode = process.argv[3];
