// A pass-through process in front of the gateway that writes down what goes either way: `node tap.mjs LOG COMMAND…`.
// Lines are marked `>` (to the gateway), `<` (from it), `!` (its standard error) and `=` (what became of it).
import { spawn } from 'node:child_process';
import { openSync, writeSync } from 'node:fs';

const [log, command, ...args] = process.argv.slice(2);
const file = openSync(`${log}.${process.pid}`, 'a');
const write = (mark, text) => writeSync(file, `${mark} ${text}\n`);
const gateway = spawn(command, args, { stdio: 'pipe' });
write('=', `pid ${gateway.pid}`);

function pass(from, to, mark) {
  let rest = '';
  from.setEncoding('utf8');
  from.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) write(mark, line);
    to.write(chunk);
  });
  from.on('end', () => rest && write(mark, rest));
}
pass(process.stdin, gateway.stdin, '>');
pass(gateway.stdout, process.stdout, '<');
pass(gateway.stderr, process.stderr, '!');
process.stdin.on('end', () => gateway.stdin.end());
gateway.stdin.on('error', () => {});
process.stdout.on('error', () => gateway.stdin.end());
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => {
    write('=', `was sent ${signal}`);
    gateway.kill('SIGKILL');
  });
}
gateway.on('error', (error) => (write('=', `did not start: ${error.message}`), process.exit(127)));
gateway.on('close', (code, signal) => (write('=', `ended ${code ?? signal}`), process.exit(code ?? 1)));
