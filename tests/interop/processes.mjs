// Agents and drivers as child processes that speak in lines. Each is a process group of its own and none outlives the run.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const alive = new Set();

function end(child) {
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group is gone already.
  }
}

process.on('exit', () => alive.forEach(end));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(130));

/** A promise that fails with `what` after `limit_ms`. */
export function within(limit_ms, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: nothing after ${limit_ms} ms`)), limit_ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Starts a program. `line()` is its next line of output, `end()` closes its input and waits, then kills what is left of its group. */
export function start(argv, env = {}) {
  const child = spawn(argv[0], argv.slice(1), { env: { ...process.env, ...env }, stdio: 'pipe', detached: true });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let errors = '';
  child.stderr.on('data', (chunk) => (errors = (errors + chunk).slice(-4000)));
  child.stdin.on('error', () => {});
  const gone = new Promise((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => resolve(code ?? signal));
  });
  alive.add(child);
  return {
    pid: child.pid,
    errors: () => errors,
    say: (value) => child.stdin.write(`${JSON.stringify(value)}\n`),
    async line() {
      const { value, done } = await lines.next();
      if (done) throw new Error(`ended early (${await gone}): ${errors.trim().slice(-600)}`);
      return value;
    },
    async end(grace_ms = 8000) {
      child.stdin.end();
      const status = await within(grace_ms, 'end', gone).catch(() => 'killed');
      end(child);
      alive.delete(child);
      return status;
    },
  };
}

/** Starts one of the agents and waits for its URL. */
export async function startAgent({ argv, env, label }) {
  const agent = start(argv, env);
  try {
    for (;;) {
      const line = await within(30_000, `agent ${label}`, agent.line());
      if (line.startsWith('READY ')) return { url: line.slice(6), end: agent.end, errors: agent.errors };
    }
  } catch (error) {
    await agent.end(0);
    throw error;
  }
}

/** Starts the gateway as a server over HTTP and waits for its URL. `end()` tells it to end and gives its exit code. */
export async function startServer(gateway, more = []) {
  const server = start([...gateway, 'serve', '--port', '0', ...more]);
  const end = () => {
    try {
      process.kill(server.pid, 'SIGTERM');
    } catch {
      // It has ended already.
    }
    return server.end();
  };
  try {
    const [url] = /http:\S+/.exec(await within(30_000, 'serve', server.line())) ?? [];
    if (!url) throw new Error(`no URL: ${server.errors()}`);
    return { url, end };
  } catch (error) {
    await server.end(0);
    throw error;
  }
}

/** Starts a client driver and waits until it is connected. After a lost answer nothing more is asked: answers would no longer match. */
export async function startDriver(argv) {
  const driver = start(argv);
  let lost;
  const ask = async (wish, limit_ms) => {
    if (lost) throw new Error(`not asked, since an earlier call was lost: ${lost.message}`);
    try {
      driver.say(wish);
      return JSON.parse(await within(limit_ms, wish.name ?? wish.op, driver.line()));
    } catch (error) {
      lost = error;
      throw error;
    }
  };
  try {
    await within(30_000, 'connect', driver.line());
  } catch (error) {
    await driver.end(0);
    throw error;
  }
  return { ask, end: driver.end, errors: driver.errors };
}
