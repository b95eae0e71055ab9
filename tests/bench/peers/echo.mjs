// The gateway's echo as an agent on @a2a-js/sdk: the task, that it is worked on, what was said, and its end.
import { once } from "node:events";

import { AGENT_CARD_PATH, TaskState } from "@a2a-js/sdk";
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { UserBuilder, agentCardHandler, jsonRpcHandler } from "@a2a-js/sdk/server/express";
import express from "express";

const status = (state) => ({ state, timestamp: new Date().toISOString(), message: undefined });

const echo = {
  async execute({ userMessage, taskId, contextId }, bus) {
    const ids = { taskId, contextId, metadata: undefined };
    const about = { name: "echo", description: "", metadata: undefined, extensions: [] };
    const submitted = status(TaskState.TASK_STATE_SUBMITTED);
    bus.publish(AgentEvent.task({ id: taskId, contextId, status: submitted, artifacts: [], history: [userMessage], metadata: undefined }));
    bus.publish(AgentEvent.statusUpdate({ ...ids, status: status(TaskState.TASK_STATE_WORKING) }));
    const artifact = { artifactId: "echo", parts: userMessage.parts, ...about };
    bus.publish(AgentEvent.artifactUpdate({ ...ids, artifact, append: false, lastChunk: true }));
    bus.publish(AgentEvent.statusUpdate({ ...ids, status: status(TaskState.TASK_STATE_COMPLETED) }));
    bus.finished();
  },
  async cancelTask() {},
};

const app = express();
const server = app.listen(0, "127.0.0.1");
await once(server, "listening");
const url = `http://127.0.0.1:${server.address().port}/a2a`;
const card = {
  name: "Echo", description: "Says it back.", version: "1", documentationUrl: "", signatures: [], provider: undefined,
  supportedInterfaces: [{ url, protocolBinding: "JSONRPC", tenant: "", protocolVersion: "1.0" }],
  capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
  securitySchemes: {}, securityRequirements: [], defaultInputModes: ["text/plain"], defaultOutputModes: ["text/plain"],
  skills: [{ id: "echo", name: "Echo", description: "Says it back.", tags: ["echo"], examples: [], inputModes: [], outputModes: [], securityRequirements: [] }],
};
const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), echo);
app.use(`/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider: requestHandler }));
app.use("/a2a", jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
process.stdin.resume().on("end", () => process.exit());
console.log(`at ${url}`);
