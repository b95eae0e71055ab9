// Sends to an agent with the official A2A client.
import { Role } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";

const part = (text) => ({ content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "" });

const request = (text) => ({
  tenant: "",
  message: {
    messageId: crypto.randomUUID(),
    role: Role.ROLE_USER,
    parts: [part(text)],
    contextId: "",
    taskId: "",
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  },
  configuration: undefined,
  metadata: undefined,
});

/** The agent behind a URL: a function from a text to the text of its answer. */
export async function agent(url) {
  const client = await new ClientFactory().createFromUrl(url);
  const { capabilities } = await client.getAgentCard();
  return async (text) => (capabilities.streaming ? streamed(client, text) : blocking(client, text));
}

const textOf = (artifacts) => artifacts.flatMap(({ parts }) => parts.map(({ content }) => content.value)).join("");

async function blocking(client, text) {
  const { artifacts } = await client.sendMessage(request(text));
  return textOf(artifacts);
}

async function streamed(client, text) {
  const artifacts = [];
  for await (const { payload } of client.sendMessageStream(request(text))) {
    if (payload.$case === "artifactUpdate") artifacts.push(payload.value.artifact);
  }
  return textOf(artifacts);
}
