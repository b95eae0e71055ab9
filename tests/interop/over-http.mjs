// What every client goes through with a gateway that it reaches over HTTP.
import assert from 'node:assert/strict';

/** The tests for a client; one that starts anew for each wish finds its agents where the era keeps them for its principal alone. */
export function overHttp({ alone, cancels, mode }) {
  const kept = !alone || mode === 'auto';
  return [
    ['all tools are listed', (t) => assert.equal(t.tools.length, 19)],
    ['an agent is connected', async (t) => {
      const { isError, text } = await t.call('connect_agent', { alias: t.alias, agent_url: t.agent.url });
      assert.ok(!isError, text);
    }],
    ['what was connected is kept', async (t) => {
      const { structured } = await t.call('list_agents', {});
      assert.deepEqual(structured.agents.map(({ alias }) => alias), kept ? [t.alias] : []);
    }],
    ...(alone ? [] : [['a message is answered while its progress is told', answered]]),
    ...(cancels ? [['a call that is called off ends, and the next one is answered', calledOff]] : []),
  ];
}

async function answered(t) {
  const { isError, texts, progress } = await t.call('send_message', { agent: t.alias, message: 'hello' }, { progress: true });
  assert.ok(!isError && texts.join().includes('wörld'), texts.join());
  assert.ok(progress.length > 0, 'no progress');
  progress.slice(1).forEach((now, at) => assert.ok(now.progress > progress[at].progress, JSON.stringify(progress)));
}

async function calledOff(t) {
  const { failure, progress } = await t.ask({ op: 'cancel', name: 'send_message', arguments: { agent: t.alias, message: 'slow 30' } });
  assert.match(failure?.message ?? '', /called off|abort/i);
  assert.ok(progress.length > 0, 'no progress');
  await answered(t);
}
