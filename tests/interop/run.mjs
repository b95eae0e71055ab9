// Official MCP clients on one side, agents on official A2A SDKs on the other, the gateway in between. `run` installs and starts this.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Ajv from 'ajv/dist/2020.js';
import { listing, refusals } from './listing.mjs';
import { startAgent, startDriver } from './processes.mjs';
import { alone, crowd, script } from './script.mjs';

const { values: options } = parseArgs({ options: { only: { type: 'string', default: '' }, jobs: { type: 'string', default: '3' } } });
const here = import.meta.dirname;
const python = (venv) => join(process.env.INTEROP_WORK, venv, 'bin/python');
const gateway = process.env.NARROWS_CMD?.trim().split(/\s+/) ?? [process.execPath, join(here, '../../pkg/cli.js')];
const logs = mkdtempSync(join(tmpdir(), 'interop-'));
process.on('exit', () => rmSync(logs, { recursive: true, force: true }));

const sdks = {
  js13: { name: 'Agent on a2a-js 1.3', argv: [process.execPath, join(here, 'agents/js13.mjs')] },
  js03: { name: 'Agent on a2a-js 0.3', argv: [process.execPath, join(here, 'agents/js03.mjs')] },
  py13: { name: 'Agent on a2a-python 1.3', argv: [python('py13'), join(here, 'agents/py13.py')] },
  py03: { name: 'Agent on a2a-python 0.3', argv: [python('py03'), join(here, 'agents/py03.py')] },
};

/** One agent as a test meets it. `compat` is the agents' COMPAT; a hybrid card, which offers both versions, is taken as 1.0. */
function agent(sdk, binding, { compat = '0', streaming = true } = {}) {
  const version = sdk.endsWith('03') || compat === '0.3' ? '0.3' : '1.0';
  const oldRest = version === '0.3' && binding === 'HTTP+JSON';
  return {
    ...sdks[sdk],
    alias: sdk,
    label: [sdk, binding, compat === '0' ? '' : compat === '1' ? 'hybrid' : 'as 0.3', streaming ? '' : 'no streaming'].filter(Boolean).join('/'),
    env: { BINDING: binding, COMPAT: compat, STREAMING: streaming ? '1' : '0' },
    binding,
    version,
    streaming,
    // What is lost in the 0.3 form over HTTP: file names, and in Python's own 0.3 the error codes. Python encodes a file's base64 once more.
    dropsFilenames: oldRest,
    bareErrors: oldRest && sdk === 'py03',
    encodesTwice: oldRest && sdk.startsWith('py'),
  };
}

const both = ['JSONRPC', 'HTTP+JSON'];
const matrix = [
  ...Object.keys(sdks).flatMap((sdk) => both.map((binding) => agent(sdk, binding))),
  ...['js13', 'py13'].flatMap((sdk) => both.map((binding) => agent(sdk, binding, { compat: '0.3' }))),
  agent('js13', 'JSONRPC', { compat: '1' }),
  agent('py13', 'HTTP+JSON', { compat: '1' }),
  agent('js13', 'HTTP+JSON', { streaming: false }),
  agent('py13', 'JSONRPC', { streaming: false }),
  agent('js03', 'JSONRPC', { streaming: false }),
  agent('py03', 'HTTP+JSON', { streaming: false }),
];
const some = [agent('js13', 'JSONRPC'), agent('py13', 'HTTP+JSON')];
const old = [agent('js03', 'HTTP+JSON'), agent('py03', 'JSONRPC')];

const driver = (name) => [process.execPath, join(here, 'clients', name)];
const LEGACY = '2025-11-25';
const MODERN = '2026-07-28';
const clients = [
  { label: 'ts1', argv: driver('ts1.mjs'), revision: LEGACY, agents: matrix, crowd: true },
  { label: 'ts2/legacy', argv: driver('ts2.mjs'), mode: 'legacy', revision: LEGACY, agents: some },
  { label: 'ts2/auto', argv: driver('ts2.mjs'), mode: 'auto', revision: MODERN, agents: some },
  { label: 'ts2/pin', argv: driver('ts2.mjs'), mode: MODERN, revision: MODERN, agents: old, crowd: true },
  { label: 'python/auto', argv: [python('py13'), join(here, 'clients/py.py')], mode: 'auto', revision: MODERN, agents: some },
  { label: 'python/legacy', argv: [python('py13'), join(here, 'clients/py.py')], mode: 'legacy', revision: LEGACY, agents: old },
  { label: 'inspector/legacy', argv: driver('inspector.mjs'), mode: 'legacy', revision: LEGACY, agents: [some[0]], alone: true },
  { label: 'inspector/auto', argv: driver('inspector.mjs'), mode: 'auto', revision: MODERN, agents: [some[1]], alone: true },
  { label: 'inspector/modern', argv: driver('inspector.mjs'), mode: 'modern', revision: MODERN, agents: [old[0]], alone: true },
];

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

const groups = clients.flatMap((client) => {
  const group = (label, agents, tests) => ({ client, agents, label: label ? `${client.label} × ${label}` : client.label, tests, after: wire });
  return [
    group('', [], [...listing, ...(client.alone ? [] : refusals)]),
    ...client.agents.map((one) => group(one.label, [one], client.alone ? alone : script(one))),
    ...(client.crowd ? [group('all agents', [some[0], old[0], some[1], old[1]], crowd)] : []),
  ];
});

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
      failures.push(`FAIL ${label}: ${name}\n  ${String(error.message).trim().replaceAll('\n', '\n  ')}`);
    }
  }
  return failures;
}

/** Every test of a group that could not be set up has failed, for one cause. */
function hopeless(group, error) {
  const names = [...group.tests, ...group.after].map(([name]) => name);
  counts.failed += names.length;
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
    const command = [process.execPath, join(here, 'clients/tap.mjs'), join(logs, log), ...gateway];
    started.push(await startDriver([...group.client.argv, JSON.stringify(command), group.client.mode ?? '']));
    const t = bench(started.at(-1), group.client, agents, log);
    await t.list();
    failures.push(...await attempt(group.label, group.tests, t));
    await end();
    failures.push(...await attempt(group.label, group.after, t));
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

const wanted = groups.filter((group) => [...group.tests, ...group.after].some(([name]) => `${group.label}: ${name}`.includes(options.only)));
const queue = [...wanted];
const worker = async () => {
  for (let group = queue.shift(); group; group = queue.shift()) await run(group);
};
await Promise.all(Array.from({ length: Number(options.jobs) }, worker));
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed > 0 || counts.passed === 0 ? 1 : 0);
