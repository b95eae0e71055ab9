// The client of @a2a-js/sdk 1.3: `node a2a-js13.mjs URL BINDING`.
import { Role, TaskState } from '@a2a-js/sdk';
import { ClientFactory, ClientFactoryOptions, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import { all, first, nine } from './nine.mjs';

const [url, binding] = process.argv.slice(2);
const options = {
  cardResolver: new DefaultAgentCardResolver(),
  transports: [new JsonRpcTransportFactory(), new RestTransportFactory()],
  preferredTransports: [binding],
};
const client = await new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, options)).createFromUrl(url);

const part = (text) => ({ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' });
const request = (text, configuration) => ({
  tenant: '', metadata: undefined, configuration,
  message: {
    messageId: crypto.randomUUID(), role: Role.ROLE_USER, parts: [part(text)], contextId: '', taskId: '',
    metadata: undefined, extensions: [], referenceTaskIds: [],
  },
});
const state = (task) => TaskState[task.status.state];
const text = (task) => task.artifacts.flatMap((artifact) => artifact.parts).map((part) => part.content.value).join('');

await nine({
  async send(kept) {
    kept.task = await client.sendMessage(request('hello'));
    return { state: state(kept.task), text: text(kept.task) };
  },
  async stream() {
    const events = await all(client.sendMessageStream(request('hello')));
    const kinds = events.map((event) => event.payload?.$case ?? event.$case);
    return { first: kinds[0], last: kinds.at(-1), events: kinds.length };
  },
  async 'message-only'() {
    const message = await client.sendMessage(request('message-only'));
    return { text: message.parts.map((part) => part.content.value).join('') };
  },
  async get({ task }) {
    const read = await client.getTask({ tenant: '', id: task.id, historyLength: 1 });
    return { same: read.id === task.id, state: state(read), turns: read.history.length };
  },
  'unknown task': () => client.getTask({ tenant: '', id: 'nope', historyLength: undefined }),
  async list() {
    const page = await client.listTasks({
      tenant: '', contextId: '', status: 0, pageSize: 1, pageToken: '', historyLength: undefined,
      statusTimestampAfter: undefined, includeArtifacts: undefined,
    });
    return { tasks: page.tasks.length, more: page.nextPageToken !== '' };
  },
  async 'immediate send'(kept) {
    const configuration = { acceptedOutputModes: [], taskPushNotificationConfig: undefined, historyLength: undefined, returnImmediately: true };
    kept.slow = await client.sendMessage(request('slow 20', configuration));
    return { state: state(kept.slow) };
  },
  async 're-attach'({ slow }) {
    const event = await first(client.resubscribeTask({ tenant: '', id: slow.id }));
    const task = (event.payload ?? event).value;
    return { same: (task.id ?? task.taskId) === slow.id };
  },
  async cancel({ slow }) {
    return { state: state(await client.cancelTask({ tenant: '', id: slow.id, metadata: undefined })) };
  },
});
