import { GatewayError } from "./error.mjs";

/** The events of a stream of A2A 1.0 (§3.2.3), which a function may say as they are. */
const EVENTS = ["statusUpdate", "artifactUpdate", "message", "task"];

/** The artifact of pieces that name none. */
const ARTIFACT = "result";

/** What the caller of a task is told whose function failed. Why is for whoever runs it: the words may name anything. */
const FAILED = "the function that works on this task failed";

/**
 * Has the work of served tasks done by a function of the embedder's, as `GatewayOptions.onWork` describes it.
 *
 * What the function says goes to the core as updates. What it returns, or the promise that it gives, is its last word.
 */
export class Responder {
  #onWork;
  #input;
  #complain;
  #running = new Map();

  /**
   * @param {((work: object) => unknown) | undefined} onWork
   * @param {(input: object) => void} input tells the core; throws what it refuses
   * @param {(error: unknown) => void} complain
   */
  constructor(onWork, input, complain) {
    this.#onWork = onWork;
    this.#input = input;
    this.#complain = complain;
  }

  /** The output `work`. @param {number} work @param {object} order */
  async begin(work, order) {
    const controller = new AbortController();
    this.#running.set(work, controller);
    const is = () => this.#running.get(work) === controller;
    try {
      const text = (order.message.parts ?? []).flatMap((part) => part.text ?? []).join("\n");
      const made = this.#call({ ...order, text, signal: controller.signal });
      const last = await this.#follow(made, (said) => this.#say(work, update(said, "working")), is);
      if (!is()) return;
      if (last !== undefined) this.#say(work, update(last, "done"));
      this.#input({ type: "work_end", work });
    } catch (error) {
      if (is()) this.#fail(work, error);
    } finally {
      if (is()) this.#running.delete(work);
    }
  }

  #fail(work, error) {
    this.#complain(error);
    try {
      this.#input({ type: "work_failed", work, detail: FAILED });
    } catch {
      // The core broke by it, which its driver tells.
    }
  }

  /** The output `work_abort`. @param {number} work */
  abort(work) {
    const controller = this.#running.get(work);
    this.#running.delete(work);
    controller?.abort(new GatewayError("canceled", "this work is not wanted any more"));
  }

  /** The gateway ends: nothing is wanted any more. */
  end() {
    for (const work of [...this.#running.keys()]) this.abort(work);
  }

  #call(work) {
    if (this.#onWork === undefined) throw new GatewayError("misuse", "this host has no function that does the work");
    return this.#onWork(work);
  }

  /** Hands on what is said, one after the other, while it is wanted. Gives the last word. */
  async #follow(made, say, is) {
    const words = made?.[Symbol.asyncIterator]?.();
    if (words === undefined) return made;
    try {
      for (let said = await words.next(); is(); said = await words.next()) {
        if (said.done) return said.value;
        say(said.value);
      }
    } catch (error) {
      // Where its own words are refused it stands at them; where it threw, it has ended.
      await words.return?.();
      throw error;
    }
    await words.return?.();
    return undefined;
  }

  #say(work, event) {
    this.#input({ type: "update", work, text: JSON.stringify(event) });
  }
}

/** An event of A2A 1.0 that means what was said, on the way or at the end. */
function update(said, when) {
  if (typeof said === "string") return when === "done" ? { message: words(said) } : status("TASK_STATE_WORKING", said);
  if (typeof said?.ask === "string") return status("TASK_STATE_INPUT_REQUIRED", said.ask);
  if (said?.artifact !== undefined) {
    const { artifact, append = false } = said;
    const whole = typeof artifact === "string" ? { parts: [{ text: artifact }] } : artifact;
    if (whole?.parts?.length > 0) return { artifactUpdate: { artifact: { artifactId: whole.name ?? ARTIFACT, ...whole }, append } };
  } else if (EVENTS.some((name) => isObject(said?.[name]))) return said;
  throw new GatewayError("misuse", "onWork says texts, { ask }, { artifact } with a text or parts, or events of A2A 1.0, and nothing else");
}

/** Whatever made it: another realm, a class, or nothing at all. */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

const words = (text) => ({ role: "ROLE_AGENT", parts: [{ text }] });

const status = (state, text) => ({ statusUpdate: { status: { state, message: words(text) } } });
