// Who meets whom: one client with every agent in every form, the other clients with one or two agents each.
import { join } from 'node:path';
import { listing, refusals } from './listing.mjs';
import { overHttp } from './over-http.mjs';
import { alone, crowd, script } from './script.mjs';

const here = import.meta.dirname;
const python = (venv) => join(process.env.INTEROP_WORK, venv, 'bin/python');

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
    // What is lost in the 0.3 form over HTTP: file names, and in Python's own 0.3 the error codes.
    dropsFilenames: oldRest,
    bareErrors: oldRest && sdk === 'py03',
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

/** The same clients over HTTP, where `cancels` says that a client can call off. */
const remote = clients
  .filter(({ label }) => label !== 'inspector/modern')
  .map((client) => ({ ...client, label: `${client.label} over HTTP`, over: 'http', cancels: client.label.startsWith('ts') }));

/** A group is one gateway, one client, its agents and the tests they go through. */
export const groups = [...clients.flatMap(onStdio), ...remote.map(onHttp)];

function onHttp(client) {
  return { client, agents: [some[0]], label: client.label, tests: overHttp(client) };
}

function onStdio(client) {
  const group = (label, agents, tests) => ({ client, agents, label: label ? `${client.label} × ${label}` : client.label, tests });
  return [
    group('', [], [...listing, ...(client.alone ? [] : refusals)]),
    ...client.agents.map((one) => group(one.label, [one], client.alone ? alone : script(one))),
    ...(client.crowd ? [group('all agents', [some[0], old[0], some[1], old[1]], crowd)] : []),
  ];
}
