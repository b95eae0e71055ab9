// An agent on @a2a-js/sdk 0.3: A2A 0.3 as it was, without a compatibility layer.
import { AGENT_CARD_PATH } from 'a2a-js-sdk-0.3';
import { DefaultRequestHandler, InMemoryTaskStore } from 'a2a-js-sdk-0.3/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from 'a2a-js-sdk-0.3/server/express';
import { executor } from './behaviour.mjs';
import { bindings, paths, serve, skills, streaming } from './serve.mjs';

const part = ({ text, data, raw, filename, mediaType }) => {
  if (raw) return { kind: 'file', file: { bytes: raw.toString('base64'), name: filename, mimeType: mediaType } };
  return data === undefined ? { kind: 'text', text } : { kind: 'data', data };
};
const ended = ['completed', 'failed', 'canceled', 'input-required'];

function events(taskId, contextId) {
  const message = (text) => ({ kind: 'message', messageId: crypto.randomUUID(), role: 'agent', parts: [part({ text })], contextId });
  const status = (state, text) => ({ state, timestamp: new Date().toISOString(), ...(text && { message: { ...message(text), taskId } }) });
  return {
    task: ({ task, userMessage }) =>
      task ? undefined : { kind: 'task', id: taskId, contextId, status: status('submitted'), artifacts: [], history: [userMessage] },
    message: (step) => message(step.text),
    status: (step) => ({ kind: 'status-update', taskId, contextId, status: status(step.state, step.text), final: ended.includes(step.state) }),
    artifact: (step) => ({
      kind: 'artifact-update', taskId, contextId, append: step.append, lastChunk: step.last,
      artifact: { artifactId: step.id, name: step.name, parts: step.parts.map(part) },
    }),
  };
}

const read = ({ userMessage, task }) => ({
  said: userMessage.parts.find((p) => p.kind === 'text')?.text ?? '',
  data: userMessage.parts.filter((p) => p.kind === 'data').map((p) => p.data),
  continued: task?.status.state === 'input-required',
});

await serve((app, base) => {
  const interfaces = bindings.map((transport) => ({ url: base + paths[transport], transport }));
  const card = {
    name: 'Agent on a2a-js 0.3', description: 'Says hello.', version: '1.0.0', protocolVersion: '0.3.0',
    url: interfaces[0].url, preferredTransport: interfaces[0].transport, additionalInterfaces: interfaces,
    capabilities: { streaming, pushNotifications: false }, defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'], skills,
  };
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor({ read, events }));
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication };
  app.use(`/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider: requestHandler }));
  if (bindings.includes('JSONRPC')) app.use(paths.JSONRPC, jsonRpcHandler(options));
  if (bindings.includes('HTTP+JSON')) app.use(paths['HTTP+JSON'], restHandler(options));
});
