import { h, write } from "./dom.mjs";

/** Where agents ask back, their questions and a place for each answer. */
export class Replies {
  #app;
  #forms = new Map();
  element = h("div.replies");

  constructor(app) {
    this.#app = app;
  }

  /** @param {object} call */
  update(call) {
    const asking = this.#asking(call);
    this.element.hidden = asking.length === 0;
    for (const [alias, form] of this.#forms) form.element.hidden = !asking.some((one) => one.alias === alias);
    for (const { alias, ...question } of asking) {
      if (!this.#forms.has(alias)) this.#forms.set(alias, this.#form(alias));
      const form = this.#forms.get(alias);
      form.question = question;
      write(form.words, `${alias} asks: ${question.words}`);
    }
  }

  /** The questions of a call that are still open. */
  #asking({ tool, arguments: args }) {
    const aliases = tool === "broadcast_message" ? args.aliases : tool === "send_message" ? [args.agent] : [];
    if (!Array.isArray(aliases)) return [];
    return aliases.map((alias) => ({ alias, ...this.#app.asking(alias) })).filter(({ task }) => task !== undefined);
  }

  #form(alias) {
    const words = h("p.question");
    const answer = h("input", { type: "text", id: `reply-${alias}`, autocomplete: "off", placeholder: "four people, at eight" });
    const form = { words, question: undefined };
    const send = (event) => {
      event.preventDefault();
      const { task, context } = form.question;
      this.#app.call("send_message", { agent: alias, message: answer.value, task_id: task, ...(context && { context_id: context }) });
      answer.value = "";
    };
    form.element = h(
      "form.reply",
      { onsubmit: send, "aria-label": `Answer ${alias}` },
      words,
      h("label", { htmlFor: `reply-${alias}` }, `Your answer to ${alias}`),
      h("div.bar", {}, answer, h("button.primary", { type: "submit" }, "Answer")),
    );
    this.element.append(form.element);
    return form;
  }
}

/**
 * The question of an agent that nobody has answered yet, as the calls of the client tell it.
 *
 * @param {Iterable<object>} calls in their order
 * @param {string} alias
 * @returns {{ task: string, context?: string, words: string } | undefined}
 */
export function openQuestion(calls, alias) {
  let found;
  for (const { tool, arguments: args, state, result } of calls) {
    if (tool === "send_message" && args.agent === alias) {
      if (state === "running") found = undefined;
      else if (state === "done") found = questionOf(result.structuredContent?.task, result.content?.[0]?.text);
    } else if (tool === "broadcast_message" && state === "done") {
      const { task, response } = Object(result.structuredContent?.results?.[alias]);
      found = questionOf(task, response) ?? found;
    } else if (tool === "cancel_task" && state === "done" && args.task_id === found?.task) found = undefined;
  }
  return found;
}

function questionOf(task, words) {
  if (task?.status?.state !== "TASK_STATE_INPUT_REQUIRED") return undefined;
  return { task: task.id, context: task.contextId, words: words ?? "" };
}
