/** The words for the states of a task. */
const STATES = {
  submitted: "has the task",
  working: "is at work",
  "input-required": "asks back",
  "auth-required": "asks for credentials",
  completed: "is done",
  failed: "has failed",
  canceled: "has stopped",
  rejected: "rejects the task",
};

/** A state as it is written here, such as `input-required`, from the spelling of either version. */
export function stateName(state) {
  return typeof state === "string" ? state.replace("TASK_STATE_", "").toLowerCase().replaceAll("_", "-") : undefined;
}

/** What somebody does whose task is in a state. @param {string | undefined} state */
export function stateWords(state) {
  return STATES[state] ?? `says that the task is ${state ?? "somewhere"}`;
}

/**
 * What a result or an event of A2A says: 1.0 names its kind by the member, 0.3 in `kind`.
 *
 * @param {object | undefined} value a JSON-RPC response, or what is in one
 * @returns {{ kind: "task" | "status" | "artifact" | "message", task?: string, state?: string, words?: string, name?: string } | undefined}
 */
export function said(value) {
  const result = Object(value?.result ?? value);
  const of = (member, kind) => Object(result[member] ?? (result.kind === kind ? result : undefined));
  const status = of("statusUpdate", "status-update");
  if (status.status)
    return { kind: "status", task: status.taskId, state: stateName(status.status.state), words: textOf(status.status.message) };
  const { artifact, taskId } = of("artifactUpdate", "artifact-update");
  if (artifact) return { kind: "artifact", task: taskId, name: String(artifact.name ?? artifact.artifactId ?? "a result") };
  const message = of("message", "message");
  if (Array.isArray(message.parts)) return { kind: "message", words: textOf(message) };
  const task = Object(result.task ?? result);
  if (!task.status) return undefined;
  return { kind: "task", task: task.id, state: stateName(task.status.state), words: textOf(task.status.message) };
}

/** The text of a message. */
export function textOf(message) {
  const parts = Array.isArray(message?.parts) ? message.parts : [];
  return parts
    .map((part) => part?.text)
    .filter((text) => typeof text === "string")
    .join(" ")
    .trim();
}

/** Puts bodies together and takes them apart: events of a stream as they come, a plain answer at its end. */
export class Bodies {
  #texts = new Map();
  #decoders = new Map();

  /** Some of a body. @param {unknown} key @param {{ text?: string, base64?: string }} piece @returns {object[]} the events in it */
  add(key, { text, base64 }) {
    const more = text ?? this.#decoded(key, base64 ?? "");
    const pieces = ((this.#texts.get(key) ?? "") + more).split(/\r?\n\r?\n/);
    this.#texts.set(key, pieces.pop());
    const lines = pieces.map((event) => event.split("\n").filter((line) => line.startsWith("data:")));
    return lines.map((data) => readJson(data.map((line) => line.slice(5)).join("\n"))).filter((event) => event !== undefined);
  }

  /** The end of a body. @param {unknown} key @returns {object | undefined} what it was, unless it was a stream */
  end(key) {
    const text = this.#texts.get(key);
    this.#texts.delete(key);
    this.#decoders.delete(key);
    return readJson(text);
  }

  #decoded(key, base64) {
    if (!this.#decoders.has(key)) this.#decoders.set(key, new TextDecoder());
    return this.#decoders.get(key).decode(
      Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)),
      { stream: true },
    );
  }
}

export function readJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
