// Official MCP clients on one side, agents on official A2A SDKs on the other, the gateway in between. `run` installs and starts this.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Ajv from 'ajv/dist/2020.js';
import { groups } from './matrix.mjs';
import { startAgent, startDriver, startServer } from './processes.mjs';
import { served } from './served.mjs';

const { values: options } = parseArgs({ options: { only: { type: 'string', default: '' }, jobs: { type: 'string', default: '3' } } });
const here = import.meta.dirname;
const gateway = process.env.NARROWS_CMD?.trim().split(/\s+/) ?? [process.execPath, join(here, '../../pkg/cli.js')];
const logs = mkdtempSync(join(tmpdir(), 'interop-'));
process.on('exit', () => rmSync(logs, { recursive: true, force: true }));

/** What the wire shows once the client has gone. */
const wire = [
  ['the revision is the one expected', (t) => {
    const opened = t.wire('<').find((message) => message.result?.protocolVersion)?.result.protocolVersion;
    const used = t.wire('>').find((message) => message.method === 'tools/list')?.params?._meta?.['io.modelcontextprotocol/protocolVersion'];
    assert.equal(used ?? opened, t.client.revision);
  }],
  ['standard output is nothing but JSON-RPC', (t) => {
    const messages = t.wire('<');
    assert.ok(messages.length > 0, 'no output');
    for (const message of messages) assert.equal(message.jsonrpc, '2.0', JSON.stringify(message));
  }],
  // A process that a client started only to probe the era is ended by that client with a signal.
  ['the gateway ends when its input does', (t) => {
    const worked = t.processes().filter((lines) => lines.some((line) => line.startsWith('>') && line.includes('"tools/')));
    assert.ok(worked.length > 0, 'no process');
    for (const lines of worked) assert.deepEqual(marked(lines, '=').slice(1), ['ended 0']);
  }],
];

/** What a gateway that serves over HTTP does once the client has gone. */
const service = [['the gateway ends when it is told to', async (t) => assert.equal(await t.server.end(), 0)]];

const afterwards = (group) => (group.client.over === 'http' ? service : wire);

/** The transcripts of a group, one for each gateway process, from the taps in front of them. */
function transcripts(log) {
  const files = readdirSync(logs).filter((file) => file.startsWith(`${log}.`)).sort();
  return files.map((file) => readFileSync(join(logs, file), 'utf8').trimEnd().split('\n'));
}

const marked = (lines, mark) => lines.filter((line) => line.startsWith(`${mark} `)).map((line) => line.slice(2));

function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    return { unreadable: line };
  }
}

/** What a test works with: the tools and their schemas, the agents, and calls whose results have been held against the schemas. */
function bench(driver, client, agents, log) {
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  const validators = new Map();
  return {
    client, agents, agent: agents[0], alias: agents[0]?.alias, kept: {}, tools: [],
    compile: (schema) => ajv.compile(schema),
    ask: (wish) => driver.ask(wish, 20_000),
    processes: () => transcripts(log),
    wire: (mark) => marked(transcripts(log).flat(), mark).map(parse),
    async list() {
      this.listed = await this.ask({ op: 'tools' });
      this.tools = this.listed.result?.tools ?? [];
    },
    async call(name, input, { progress = false } = {}) {
      const answer = await this.ask({ op: 'call', name, arguments: input, progress });
      if (answer.failure) throw new Error(`${name}: ${answer.failure.message}`);
      const { content = [], structuredContent, isError = false } = answer.result;
      if (!validators.has(name)) validators.set(name, ajv.compile(this.tools.find((tool) => tool.name === name)?.outputSchema ?? false));
      const validate = validators.get(name);
      if (!validate(structuredContent)) throw new Error(`${name}: against its output schema: ${ajv.errorsText(validate.errors).slice(0, 400)}`);
      const texts = content.filter((item) => item.type === 'text').map((item) => item.text);
      return { texts, text: texts[0] ?? '', structured: structuredContent, error: structuredContent.error, isError, progress: answer.progress };
    },
  };
}

const counts = { passed: 0, failed: 0 };
const failed = [];
let serial = 0;

/** Runs tests against a bench and counts them; the failures come back as text. */
async function attempt(label, tests, t) {
  const failures = [];
  for (const [name, test] of tests) {
    try {
      await test(t);
      counts.passed += 1;
    } catch (error) {
      counts.failed += 1;
      failed.push(`${label}: ${name}`);
      failures.push(`FAIL ${label}: ${name}\n  ${String(error.message).trim().replaceAll('\n', '\n  ')}`);
    }
  }
  return failures;
}

/** Every test of a group that could not be set up has failed, for one cause. */
function hopeless(group, error) {
  const names = [...group.tests, ...afterwards(group)].map(([name]) => name);
  counts.failed += names.length;
  failed.push(`${group.label}: all ${names.length}`);
  return [`FAIL ${group.label}: ${names.join('; ')}\n  ${String(error.message).trim().replaceAll('\n', '\n  ')}`];
}

async function run(group) {
  const log = `${(serial += 1)}`;
  const started = [];
  const failures = [];
  const end = async () => {
    while (started.length > 0) await started.pop().end();
  };
  try {
    const agents = await Promise.all(group.agents.map(async (one) => {
      const running = await startAgent(one);
      started.push(running);
      return { ...one, url: running.url };
    }));
    const server = group.client.over === 'http' ? await startServer(gateway) : undefined;
    if (server) started.push(server);
    const command = [process.execPath, join(here, 'clients/tap.mjs'), join(logs, log), ...gateway];
    const target = JSON.stringify(server?.url ?? command);
    started.push(await startDriver([...group.client.argv, target, group.client.mode ?? '']));
    const t = { ...bench(started.at(-1), group.client, agents, log), server };
    await t.list();
    failures.push(...await attempt(group.label, group.tests, t));
    if (server) await started.pop().end();
    else await end();
    failures.push(...await attempt(group.label, afterwards(group), t));
    await end();
  } catch (error) {
    await end();
    failures.push(...hopeless(group, error));
  }
  const lines = transcripts(log).flat();
  for (const line of marked(lines, '=')) if (line.startsWith('pid ')) kill(Number(line.slice('pid '.length)));
  if (failures.length > 0) console.log([...failures, '  transcript, its end:', ...lines.slice(-12).map(shortened)].join('\n'));
}

const shortened = (line) => `    ${line.length > 500 ? `${line.slice(0, 500)} …` : line}`;

/** Ends a gateway that outlived its client. */
function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended, as it should.
  }
}

const wanted = groups.filter((group) => [...group.tests, ...afterwards(group)].some(([name]) => `${group.label}: ${name}`.includes(options.only)));
const queue = [...wanted];
const worker = async () => {
  for (let group = queue.shift(); group; group = queue.shift()) await run(group);
};
await Promise.all(Array.from({ length: Number(options.jobs) }, worker));
await served(gateway, options.only, (label, error) => {
  counts[error === undefined ? 'passed' : 'failed'] += 1;
  if (error === undefined) return;
  failed.push(label);
  console.log(`FAIL ${label}\n  ${error.replaceAll('\n', '\n  ')}`);
});
if (counts.failed > 0) console.log(['failed:', ...failed].join('\n  '));
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed > 0 || counts.passed === 0 ? 1 : 0);
