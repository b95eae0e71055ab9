// A driver: one MCP client behind a line protocol, so that one script can be run through every client.
//   in   {"op":"tools"}  or  {"op":"call","name":…,"arguments":{…},"progress":true}
//   out  {"result":…,"progress":[…]}  or  {"failure":{"message":…,"code":…}}
// The first line out is {"ready":true}; the end of standard input closes the client.
import { createInterface } from 'node:readline';

const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

/** `client` is `{ tools(), call(name, arguments, onprogress), close() }`. */
export async function serve(client) {
  say({ ready: true });
  for await (const line of createInterface({ input: process.stdin })) {
    const { op, name, arguments: input, progress } = JSON.parse(line);
    const seen = [];
    try {
      const result = op === 'tools' ? await client.tools() : await client.call(name, input, progress ? (p) => seen.push(p) : undefined);
      say({ result, progress: seen });
    } catch (error) {
      say({ failure: { message: String(error?.message ?? error), code: error?.code }, progress: seen });
    }
  }
  await client.close();
}

/** The gateway's command line and the mode, as the runner gives them. */
export const [command, ...args] = JSON.parse(process.argv[2] ?? '[]');
export const mode = process.argv[3];
