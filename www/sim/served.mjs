import { Bodies, readJson, said, textOf } from "./a2a.mjs";

/**
 * A task that somebody sent to the gateway, as its records tell it.
 *
 * @typedef {object} Served
 * @property {string} id
 * @property {string} text what was asked for
 * @property {{ at: number, state: string, words?: string }[]} life every state it was in
 * @property {Set<number>} watchers the requests that wait for what comes next
 */

/** Reads the life of served tasks from records, as they come. */
export class ServedTasks {
  /** @type {Map<string, Served>} */
  tasks = new Map();
  #asked = new Map();
  #bodies = new Bodies();
  /** the request that has just come in whole */
  #complete;

  take({ now, input, output }) {
    if (input) this.#complete = input.type === "request_end" ? input.request : undefined;
    if (input?.type === "request_body") this.#asks(input);
    else if (input?.type === "request_gone") this.#ends(input.request);
    else if (output?.type === "response_body")
      for (const event of this.#bodies.add(output.request, output)) this.#hears(now, output.request, event);
    else if (output?.type === "response_end") {
      this.#hears(now, output.request, this.#bodies.end(output.request));
      this.#ends(output.request);
    } else if (output?.event === "task_received") this.#received(now, output.fields?.task);
    else if (output?.type === "message") this.#answered(now, readJson(output.text));
  }

  #asks({ request, text }) {
    const { params } = Object(readJson(text));
    const known = { text: textOf(params?.message), task: params?.id ?? params?.message?.taskId };
    this.#asked.set(request, known);
    this.tasks.get(known.task)?.watchers.add(request);
  }

  /** The request that has just come in became a task; who waits for its end hears nothing of it yet. */
  #received(now, id) {
    const asked = this.#asked.get(this.#complete);
    if (!asked || asked.task || id === undefined) return;
    asked.task = id;
    const task = this.#task(id, asked.text);
    task.watchers.add(this.#complete);
    this.#lives(task, now, { state: "submitted" });
  }

  #hears(now, request, event) {
    const heard = said(event);
    const asked = this.#asked.get(request);
    if (!heard?.task || !asked) return;
    const task = this.#task(heard.task, asked.text);
    if (!asked.task) {
      asked.task = heard.task;
      task.watchers.add(request);
    }
    this.#lives(task, now, heard);
  }

  /** What the client said of a task through the tool. */
  #answered(now, message) {
    const { task } = Object(message?.result?.structuredContent);
    const heard = task && this.tasks.has(task.id) ? said({ task }) : undefined;
    if (heard) this.#lives(this.tasks.get(task.id), now, heard);
  }

  #lives({ life }, at, { state, words }) {
    if (state === undefined || life.at(-1)?.state === state) return;
    life.push({ at, state, words });
  }

  #task(id, text) {
    if (!this.tasks.has(id)) this.tasks.set(id, { id, text, life: [], watchers: new Set() });
    return this.tasks.get(id);
  }

  #ends(request) {
    this.tasks.get(this.#asked.get(request)?.task)?.watchers.delete(request);
  }
}
