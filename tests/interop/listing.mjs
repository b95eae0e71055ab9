// What every client must find in the list of tools, and how calls that cannot be carried out are answered.
import assert from 'node:assert/strict';

const names = [
  'broadcast_message', 'cancel_task', 'check_inbox', 'clear_history', 'connect_agent', 'create_caller_card', 'disconnect_agent',
  'discover_agents', 'get_agent_card', 'get_history', 'get_task', 'list_agents', 'ping_agent', 'read_inbox', 'remove_caller_card',
  'send_message', 'view_caller_card',
];
const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];
const INVALID_PARAMS = -32602;

const every = (holds) => (t) => {
  assert.ok(t.tools.length > 0, 'no tools');
  for (const tool of t.tools) holds(tool, tool.name, t);
};

export const listing = [
  ['tools/list is answered and the client finds no fault in it', (t) => assert.equal(t.listed.failure, undefined, t.listed.failure?.message)],
  ['the 17 tools are listed by name', (t) => assert.deepEqual(t.tools.map((tool) => tool.name), names)],
  ['every name is one that hosts accept', every((tool, at) => assert.match(at, /^[A-Za-z0-9_-]{1,64}$/))],
  ['every tool has a title and a description', every((tool, at) => assert.ok(tool.title?.trim() && tool.description?.trim(), at))],
  ['every tool has all four hints', every((tool, at) => {
    for (const hint of hints) assert.equal(typeof tool.annotations?.[hint], 'boolean', `${at}: ${hint}`);
  })],
  ['every input and output schema is an object schema that compiles', every((tool, at, t) => {
    for (const schema of [tool.inputSchema, tool.outputSchema]) {
      assert.equal(schema?.type, 'object', at);
      assert.equal(typeof t.compile(schema), 'function', at);
    }
  })],
];

export const refusals = [
  ['a wrong argument is a tool error that names it', async (t) => {
    const reply = await t.call('connect_agent', { alias: 'agent', agent_url: 7 });
    assert.equal(reply.isError, true);
    assert.equal(reply.error.code, 'invalid_argument');
    assert.match(reply.text, /agent_url/);
  }],
  ['an unknown agent is a tool error', async (t) => {
    const reply = await t.call('send_message', { agent: 'nobody', message: 'hello' });
    assert.equal(reply.isError, true);
    assert.equal(reply.error.code, 'unknown_agent');
    assert.match(reply.text, /nobody/);
  }],
  ['an unknown tool is a protocol error', async (t) => {
    const { failure } = await t.ask({ op: 'call', name: 'no_such_tool', arguments: {} });
    assert.equal(failure?.code, INVALID_PARAMS, JSON.stringify(failure));
  }],
];
