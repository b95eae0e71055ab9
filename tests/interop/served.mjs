// Official A2A clients on one side, the gateway as an agent in the middle, behind it an agent on an official SDK.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { start, startAgent, startServer, within } from './processes.mjs';

const here = import.meta.dirname;
const python = (venv) => join(process.env.INTEROP_WORK, venv, 'bin/python');
const script = (name) => join(here, 'clients', name);

const clients = [
  { label: 'a2a-js 1.3', argv: [process.execPath, script('a2a-js13.mjs')], is10: true },
  { label: 'a2a-js 0.3', argv: [process.execPath, script('a2a-js03.mjs')] },
  { label: 'a2a-python 1.3', argv: [python('py13'), script('a2a_py13.py')], is10: true },
  { label: 'a2a-python 0.3', argv: [python('py03'), script('a2a_py03.py')] },
];
const bindings = ['JSONRPC', 'HTTP+JSON'];
const greeting = 'Hello wörld 🌍\nline two';

const seen = (t, step) => {
  const line = t.lines.get(step);
  assert.ok(line?.seen, `${step}: ${line?.error ?? 'not done'}`);
  return line.seen;
};
const state = (spelled) => spelled.replace('TASK_STATE_', '').toLowerCase();

/** What each of the nine steps must have seen. */
const steps = [
  ['send is answered with the finished task', (t) => {
    const { state: spelled, text } = seen(t, 'send');
    assert.deepEqual([state(spelled), text], ['completed', greeting]);
  }],
  ['a stream begins with the task and ends with a status', (t) => {
    const { first, last, events } = seen(t, 'stream');
    assert.match(first, /^task$/);
    assert.match(last, /status/);
    assert.ok(events >= 4, `${events} events`);
  }],
  ['a message alone comes back as one', (t) => assert.equal(seen(t, 'message-only').text, 'No task was needed.')],
  ['get reads the task with as much history as asked for', (t) => {
    const { same, state: spelled, turns } = seen(t, 'get');
    assert.deepEqual([same, state(spelled), turns], [true, 'completed', 1]);
  }],
  ['an unknown task is an error', (t) => assert.match(t.lines.get('unknown task').error, /no task nope|not found/i)],
  ['tasks are listed in pages, where the version has that', (t) => {
    if (t.client.is10) assert.deepEqual(seen(t, 'list'), { tasks: 1, more: true });
    else assert.match(t.lines.get('list').error, /not part of 0.3/);
  }],
  ['an immediate send gives a task that goes on', (t) => assert.match(state(seen(t, 'immediate send').state), /submitted|working/)],
  ['re-attaching finds the task', (t) => assert.equal(seen(t, 're-attach').same, true)],
  ['cancel cancels it', (t) => assert.equal(state(seen(t, 'cancel').state), 'canceled')],
];

async function meet(client, binding, url) {
  const running = start([...client.argv, url, binding]);
  const lines = new Map();
  try {
    while (lines.size < steps.length) {
      const line = JSON.parse(await within(40_000, client.label, running.line()));
      lines.set(line.step, line);
    }
  } catch (error) {
    lines.set('failure', { error: error.message });
  } finally {
    await running.end(2000);
  }
  return lines;
}

/** Runs every client over both bindings; `count(label, error)` is told of each test. */
export async function served(gateway, only, count) {
  const groups = clients.flatMap((client) => bindings.map((binding) => ({ client, binding, label: `${client.label} client × the gateway/${binding}` })));
  const wanted = groups.filter(({ label }) => steps.some(([name]) => `${label}: ${name}`.includes(only)));
  if (wanted.length === 0) return;
  const folder = mkdtempSync(join(tmpdir(), 'served-'));
  const agent = await startAgent({ argv: [process.execPath, join(here, 'agents/js13.mjs')], env: { COMPAT: '0', STREAMING: '1' }, label: 'js13' });
  let server;
  try {
    const config = join(folder, 'narrows.json');
    const behind = [{ name: 'behind', url: agent.url }];
    writeFileSync(config, JSON.stringify({ external_agents: behind, a2a: { responder: 'relay:behind' } }));
    server = await startServer([...gateway], ['--config', config]);
    const url = new URL(server.url).origin;
    await Promise.all(wanted.map(async ({ client, binding, label }) => {
      const t = { client, lines: await meet(client, binding, url) };
      for (const [name, test] of steps) {
        if (!`${label}: ${name}`.includes(only)) continue;
        try {
          test(t);
          count(`${label}: ${name}`);
        } catch (error) {
          count(`${label}: ${name}`, `${error.message}${t.lines.has('failure') ? ` (${t.lines.get('failure').error})` : ''}`);
        }
      }
    }));
  } finally {
    await server?.end();
    await agent.end(0);
    rmSync(folder, { recursive: true, force: true });
  }
}
