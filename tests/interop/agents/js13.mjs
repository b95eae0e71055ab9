// An agent on @a2a-js/sdk 1.3: A2A 1.0, and with COMPAT=1 also 0.3 beside it, with COMPAT=0.3 nothing but 0.3.
import { AGENT_CARD_PATH, Role, TaskState } from '@a2a-js/sdk';
import { duplicateInterfacesForLegacy } from '@a2a-js/sdk/compat/v0_3';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import { executor } from './behaviour.mjs';
import { bindings, paths, serve, skills, streaming } from './serve.mjs';

const compat = process.env.COMPAT ?? '0';
const part = ({ text, data, raw, filename = '', mediaType = '' }) => ({
  content: raw ? { $case: 'raw', value: raw } : data === undefined ? { $case: 'text', value: text } : { $case: 'data', value: data },
  metadata: undefined,
  filename,
  mediaType,
});
const state = (name) => TaskState[`TASK_STATE_${name.toUpperCase().replace('-', '_')}`];

function events(taskId, contextId) {
  const message = (text, task) => ({
    role: Role.ROLE_AGENT, messageId: crypto.randomUUID(), parts: [part({ text })], taskId: task, contextId,
    extensions: [], metadata: undefined, referenceTaskIds: [],
  });
  const status = (name, text) => ({ state: state(name), timestamp: new Date().toISOString(), message: text ? message(text, taskId) : undefined });
  return {
    task: ({ task, userMessage }) => AgentEvent.task(
      task ?? { id: taskId, contextId, status: status('submitted'), artifacts: [], history: [userMessage], metadata: undefined },
    ),
    message: (step) => AgentEvent.message(message(step.text, '')),
    status: (step) => AgentEvent.statusUpdate({ taskId, contextId, status: status(step.state, step.text), metadata: undefined }),
    artifact: (step) => AgentEvent.artifactUpdate({
      taskId, contextId, append: step.append, lastChunk: step.last, metadata: undefined,
      artifact: { artifactId: step.id, name: step.name, description: '', parts: step.parts.map(part), metadata: undefined, extensions: [] },
    }),
  };
}

const read = ({ userMessage, task }) => {
  const contents = userMessage.parts.map((p) => p.content);
  return {
    said: contents.find((c) => c?.$case === 'text')?.value ?? '',
    data: contents.filter((c) => c?.$case === 'data').map((c) => c.value),
    continued: task?.status?.state === TaskState.TASK_STATE_INPUT_REQUIRED,
  };
};

await serve((app, base) => {
  const own = bindings.map((binding) => ({ url: base + paths[binding], protocolBinding: binding, tenant: '', protocolVersion: '1.0' }));
  const both = duplicateInterfacesForLegacy(own, bindings);
  const card = {
    name: 'Agent on a2a-js 1.3', description: 'Says hello.', version: '1.0.0', documentationUrl: '', signatures: [], provider: undefined,
    supportedInterfaces: compat === '0' ? own : compat === '1' ? both : both.filter((i) => i.protocolVersion.startsWith('0.3')),
    capabilities: { streaming, pushNotifications: false, extensions: [], extendedAgentCard: false },
    securitySchemes: {}, securityRequirements: [], defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'],
    skills: skills.map((skill) => ({ ...skill, examples: [], inputModes: [], outputModes: [], securityRequirements: [] })),
  };
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor({ read, events }));
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat: compat === '0' ? undefined : { enabled: true } };
  app.use(`/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider: requestHandler, legacyCompat: options.legacyCompat }));
  if (bindings.includes('JSONRPC')) app.use(paths.JSONRPC, jsonRpcHandler(options));
  if (bindings.includes('HTTP+JSON')) app.use(paths['HTTP+JSON'], restHandler(options));
});
