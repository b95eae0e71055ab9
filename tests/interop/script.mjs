// What every client does with every agent, through the gateway. The steps run in order and later ones use what earlier ones kept.
import assert from 'node:assert/strict';

const hello = 'Hello wörld 🌍\nline two';
const given = { key: 'value', count: 42, ratio: 0.5, list: [1, 'two', null, true], deep: { empty: {} } };
const bytes = Buffer.from([0xfb, 0xff, 0xfe, 0x00, 0x0a]).toString('base64');

const parts = (task, id) => task.artifacts.find((artifact) => artifact.artifactId === id)?.parts ?? [];
const said = (task, id) => parts(task, id).map((part) => part.text).join('');

/** The answer a person reads, then the machine's facts one text each. */
function finished(reply, state) {
  assert.equal(reply.isError, false, reply.text);
  const { task } = reply.structured;
  assert.equal(task?.status.state, state);
  const kebab = state.replace('TASK_STATE_', '').toLowerCase().replace('_', '-');
  assert.deepEqual(reply.texts.slice(-3), [`state: ${kebab}`, `task_id: ${task.id}`, `context_id: ${task.contextId}`]);
  return task;
}

function refused(reply, ...codes) {
  assert.equal(reply.isError, true, reply.text);
  assert.ok(codes.includes(reply.error.code), `${reply.error.code} is none of ${codes}: ${reply.text}`);
  assert.ok(reply.text.length > 0 && reply.error.message, 'an error has a sentence and a message');
  return reply.error;
}

/**
 * Progress as the client reports it and as it was on the wire. A client may drop the last notification when the answer is right behind
 * it, so the count is the wire's. The only call of a group that asks for progress is the one looked at.
 */
function rising(t, reply, least) {
  const sent = t.wire('<').filter((message) => message.method === 'notifications/progress').map((message) => message.params);
  assert.ok(sent.length >= least, `${sent.length} notifications`);
  assert.ok(reply.progress.length >= Math.min(least, 1), `the client has ${reply.progress.length} of ${sent.length}`);
  for (const told of [sent, reply.progress]) {
    told.slice(1).forEach((now, at) => assert.ok(now.progress > told[at].progress, JSON.stringify(told)));
  }
  return sent;
}

const connected = [
  ['connect_agent reports the card', async (t) => {
    const { structured, isError, text } = await t.call('connect_agent', { alias: t.alias, agent_url: t.agent.url });
    assert.equal(isError, false, text);
    assert.equal(structured.alias, t.alias);
    assert.equal(structured.replaced, false);
    const { card } = structured;
    assert.equal(card?.name, t.agent.name, JSON.stringify(structured));
    assert.equal(card.version, '1.0.0');
    assert.ok(card.protocol_version.startsWith(t.agent.version), card.protocol_version);
    assert.equal(card.transport, t.agent.binding);
    assert.equal(card.streaming, t.agent.streaming);
    assert.deepEqual(card.skills, ['Echo']);
  }],
  ['list_agents lists it', async (t) => {
    const { structured } = await t.call('list_agents', {});
    assert.equal(structured.agents.length, 1);
    const [agent] = structured.agents;
    assert.equal(agent.alias, t.alias);
    assert.equal(agent.rate_limit, 'unlimited');
    assert.equal(agent.transport, t.agent.binding);
    assert.equal(agent.streaming, t.agent.streaming);
    assert.notEqual(agent.health, 'unhealthy');
  }],
  ['get_agent_card returns the card whole', async (t) => {
    const { structured } = await t.call('get_agent_card', { agent: t.alias });
    const { card } = structured;
    assert.equal(card.name, t.agent.name);
    assert.equal(card.description, 'Says hello.');
    assert.deepEqual(card.skills.map((skill) => skill.tags), [['sample']]);
    assert.deepEqual(card.defaultInputModes, ['text/plain']);
    assert.equal(typeof structured.normalized, 'object');
  }],
  ['ping_agent reaches it', async (t) => {
    const { structured } = await t.call('ping_agent', { alias: t.alias });
    assert.deepEqual([structured.reachable, structured.health, structured.status], [true, 'healthy', 200]);
  }],
];

const answered = [
  ['hello is answered with one whole artifact', async (t) => {
    t.kept.hello = await t.call('send_message', { agent: t.alias, message: 'hello' }, { progress: true });
    const task = finished(t.kept.hello, 'TASK_STATE_COMPLETED');
    assert.equal(task.artifacts.length, 1);
    assert.equal(said(task, 'greeting'), hello);
    assert.match(t.kept.hello.text, /Hello[^]*wörld 🌍/);
  }],
  ['progress is told and rises', (t) => void rising(t, t.kept.hello, t.agent.streaming ? 3 : 0)],
  ['get_task reads the finished task', async (t) => {
    const { id } = t.kept.hello.structured.task;
    const { structured, isError, text } = await t.call('get_task', { agent: t.alias, task_id: id });
    assert.equal(isError, false, text);
    assert.equal(structured.task.id, id);
    assert.equal(structured.task.status.state, 'TASK_STATE_COMPLETED');
    assert.equal(said(structured.task, 'greeting'), hello);
  }],
  ['get_task of an unknown task is refused', async (t) => {
    const reply = await t.call('get_task', { agent: t.alias, task_id: 'no-such-task' });
    refused(reply, 'task_not_found', ...(t.agent.bareErrors ? ['agent_error', 'http_status'] : []));
  }],
  ['cancel_task of a finished task is refused', async (t) => {
    const reply = await t.call('cancel_task', { agent: t.alias, task_id: t.kept.hello.structured.task.id });
    refused(reply, 'task_not_cancelable', ...(t.agent.bareErrors ? ['agent_error', 'http_status'] : []));
  }],
  ['a lone message comes back as a message', async (t) => {
    const reply = await t.call('send_message', { agent: t.alias, message: 'message-only' });
    assert.equal(reply.isError, false, reply.text);
    assert.equal(reply.text, 'No task was needed.');
    assert.equal(reply.structured.task, undefined);
    assert.deepEqual(reply.structured.message.parts.map((part) => part.text), ['No task was needed.']);
  }],
  ['input is asked for', async (t) => {
    t.kept.input = await t.call('send_message', { agent: t.alias, message: 'input' });
    finished(t.kept.input, 'TASK_STATE_INPUT_REQUIRED');
    assert.match(t.kept.input.text, /Which colour\?/);
  }],
  ['input is continued', async (t) => {
    const task = finished(await t.call('send_message', { agent: t.alias, message: 'blue' }), 'TASK_STATE_COMPLETED');
    assert.equal(task.id, t.kept.input.structured.task.id);
    assert.equal(task.contextId, t.kept.input.structured.task.contextId);
    assert.equal(said(task, 'choice'), 'got: blue');
  }],
  ['a finished task is not continued', async (t) => {
    const task = finished(await t.call('send_message', { agent: t.alias, message: 'more' }), 'TASK_STATE_COMPLETED');
    assert.notEqual(task.id, t.kept.input.structured.task.id);
    assert.equal(task.contextId, t.kept.input.structured.task.contextId);
    assert.equal(said(task, 'echo'), 'you said: more');
  }],
  ['a data part goes there and back', async (t) => {
    const reply = await t.call('send_message', { agent: t.alias, parts: [{ text: 'data' }, { data: given }] });
    assert.deepEqual(parts(finished(reply, 'TASK_STATE_COMPLETED'), 'data').map((part) => part.data), [given]);
  }],
  ['a file comes back', async (t) => {
    const task = finished(await t.call('send_message', { agent: t.alias, message: 'file' }), 'TASK_STATE_COMPLETED');
    const [file] = parts(task, 'file');
    assert.equal(file.raw, bytes);
    assert.equal(file.mediaType, 'application/octet-stream');
    if (!t.agent.dropsFilenames) assert.equal(file.filename, 'five.bin');
  }],
  ['a failed task is an error that keeps the task', async (t) => {
    const reply = await t.call('send_message', { agent: t.alias, message: 'fail' });
    refused(reply, 'task_failed');
    assert.match(reply.text, new RegExp(t.alias));
    assert.equal(reply.structured.task.status.state, 'TASK_STATE_FAILED');
    assert.deepEqual(reply.structured.task.status.message.parts.map((part) => part.text), ['The oven broke.']);
  }],
  ['a slow task times out', async (t) => {
    const reply = await t.call('send_message', { agent: t.alias, message: 'slow 30', poll_timeout_seconds: 1 });
    t.kept.slow = refused(reply, 'timeout');
    if (t.agent.streaming) assert.match(String(t.kept.slow.task_id), /./, 'no task id');
  }],
];

const running = [
  ['get_task finds it still at work', async (t) => {
    const { structured, isError, text } = await t.call('get_task', { agent: t.alias, task_id: t.kept.slow.task_id });
    assert.equal(isError, false, text);
    assert.equal(structured.task.status.state, 'TASK_STATE_WORKING');
  }],
  ['cancel_task cancels it', async (t) => {
    const { structured, isError, text } = await t.call('cancel_task', { agent: t.alias, task_id: t.kept.slow.task_id });
    assert.equal(isError, false, text);
    assert.equal(structured.task.id, t.kept.slow.task_id);
    assert.equal(structured.task.status.state, 'TASK_STATE_CANCELED');
  }],
];

const left = [
  ['get_history has what was said', async (t) => {
    const { structured } = await t.call('get_history', { agent: t.alias });
    const sent = structured.entries.map((entry) => entry.sent);
    assert.deepEqual([sent[0], sent.at(-1)], ['hello', 'slow 30']);
    assert.deepEqual(structured.entries.filter((entry) => entry.is_error).map((entry) => entry.sent), ['fail', 'slow 30']);
  }],
  ['disconnect_agent forgets it', async (t) => {
    const { structured, isError, text } = await t.call('disconnect_agent', { alias: t.alias });
    assert.equal(isError, false, text);
    assert.deepEqual([structured.alias, structured.aborted], [t.alias, 0]);
    assert.deepEqual((await t.call('list_agents', {})).structured.agents, []);
    refused(await t.call('send_message', { agent: t.alias, message: 'hello' }), 'unknown_agent');
  }],
];

/** A task whose id the agent gave before the deadline can be read and canceled after it: that takes a stream. */
export const script = (agent) => [...connected, ...answered, ...(agent.streaming ? running : []), ...left];

/** Without an alias: a client that keeps nothing between two calls. */
export const alone = [
  connected[0],
  ['hello is answered with one whole artifact', async (t) => {
    const task = finished(await t.call('send_message', { agent: t.agent.url, message: 'hello' }), 'TASK_STATE_COMPLETED');
    assert.equal(said(task, 'greeting'), hello);
  }],
  ['a failed task is an error that keeps the task', async (t) => {
    const reply = await t.call('send_message', { agent: t.agent.url, message: 'fail' });
    refused(reply, 'task_failed');
    assert.equal(reply.structured.task.status.state, 'TASK_STATE_FAILED');
  }],
];

/** All agents at once. */
export const crowd = [
  ['broadcast_message reaches every agent', async (t) => {
    for (const { alias, url } of t.agents) await t.call('connect_agent', { alias, agent_url: url });
    const aliases = t.agents.map(({ alias }) => alias);
    const reply = await t.call('broadcast_message', { aliases, message: 'hello' }, { progress: true });
    const { structured } = reply;
    assert.equal(reply.isError, false, reply.text);
    assert.deepEqual([structured.succeeded, structured.failed], [aliases.length, 0]);
    for (const alias of aliases) {
      assert.equal(structured.results[alias].status, 'success');
      assert.equal(said(structured.results[alias].task, 'greeting'), hello);
    }
    assert.deepEqual(rising(t, reply, aliases.length).map(({ total }) => total), aliases.map(() => aliases.length));
  }],
  ['async answers are read from the inbox', async (t) => {
    const calls = new Map();
    for (const { alias } of t.agents) {
      const { structured } = await t.call('send_message', { agent: alias, message: 'hello', async: true });
      assert.equal(structured.async.status, 'dispatched');
      calls.set(alias, structured.async.call_id);
    }
    for (let turn = 0; (await t.call('check_inbox', {})).structured.pending.length > 0; turn += 1) {
      assert.ok(turn < 50, 'still pending');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    for (const [alias, id] of calls) {
      const { messages } = (await t.call('read_inbox', { alias })).structured;
      assert.deepEqual(messages.map((entry) => [entry.call_id, entry.state]), [[id, 'completed']]);
      assert.equal(said(messages[0].task, 'greeting'), hello);
    }
  }],
];
