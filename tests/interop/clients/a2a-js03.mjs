// The client of @a2a-js/sdk 0.3: `node a2a-js03.mjs URL BINDING`.
import { ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory, RestTransportFactory } from 'a2a-js-sdk-0.3/client';
import { all, first, nine } from './nine.mjs';

const [url, binding] = process.argv.slice(2);
const options = { transports: [new JsonRpcTransportFactory(), new RestTransportFactory()], preferredTransports: [binding] };
const client = await new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, options)).createFromUrl(url);

const request = (text, configuration) => ({
  configuration,
  message: { kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts: [{ kind: 'text', text }] },
});
const text = (task) => task.artifacts.flatMap((artifact) => artifact.parts).map((part) => part.text).join('');

await nine({
  async send(kept) {
    kept.task = await client.sendMessage(request('hello'));
    return { state: kept.task.status.state, text: text(kept.task) };
  },
  async stream() {
    const events = await all(client.sendMessageStream(request('hello')));
    const kinds = events.map((event) => event.kind);
    return { first: kinds[0], last: kinds.at(-1), events: kinds.length };
  },
  async 'message-only'() {
    const message = await client.sendMessage(request('message-only'));
    return { text: message.parts.map((part) => part.text).join('') };
  },
  async get({ task }) {
    const read = await client.getTask({ id: task.id, historyLength: 1 });
    return { same: read.id === task.id, state: read.status.state, turns: read.history.length };
  },
  'unknown task': () => client.getTask({ id: 'nope' }),
  list: () => { throw new Error('not part of 0.3'); },
  async 'immediate send'(kept) {
    kept.slow = await client.sendMessage(request('slow 20', { blocking: false }));
    return { state: kept.slow.status.state };
  },
  async 're-attach'({ slow }) {
    const event = await first(client.resubscribeTask({ id: slow.id }));
    return { same: (event.taskId ?? event.id) === slow.id };
  },
  async cancel({ slow }) {
    return { state: (await client.cancelTask({ id: slow.id })).status.state };
  },
});
