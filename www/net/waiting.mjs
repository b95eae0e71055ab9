/** How often the gateway is asked what waits. */
const ASK_MS = 2000;

/**
 * What waits for a person at a gateway elsewhere, asked for again and again as long as somebody looks.
 *
 * @typedef {{ id: string, tool: string, summary: string, arguments_digest: string, state: string, expires_at: string }} Waiting
 */
export class WaitingCalls {
  /** @type {Waiting[]} */
  list = [];
  /** why nothing can be told, or why a decision was not taken */
  trouble;
  #ask;
  #timer;
  #onChange;

  /** @param {(path: string, init?: RequestInit) => Promise<Response>} ask @param {() => void} onChange */
  constructor(ask, onChange) {
    this.#ask = ask;
    this.#onChange = onChange;
  }

  /** Somebody looks, or looks away. @param {boolean} isLooked */
  look(isLooked) {
    if (isLooked === (this.#timer !== undefined)) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (isLooked) this.#again();
  }

  /**
   * Decides.
   *
   * @param {string} id
   * @param {boolean} approved
   * @param {string} [code] what a gateway without tokens wrote beside the request
   */
  async decide(id, approved, code) {
    const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(code ? { code } : {}) };
    await this.#try(`api/approvals/${encodeURIComponent(id)}/${approved ? "approve" : "reject"}`, init);
    const { trouble } = this;
    await this.#read();
    this.trouble = trouble ?? this.trouble;
    this.#onChange();
  }

  async #again() {
    this.#timer = setTimeout(() => this.#again(), ASK_MS);
    await this.#read();
    this.#onChange();
  }

  async #read() {
    const told = await this.#try("api/approvals?state=pending");
    this.list = told?.items ?? [];
  }

  async #try(path, init) {
    try {
      const response = await this.#ask(path, init);
      const body = await response.json().catch(() => undefined);
      this.trouble = response.ok ? undefined : (body?.error?.message ?? body?.error ?? `status ${response.status}`);
      return response.ok ? body : undefined;
    } catch {
      this.trouble = "The gateway cannot be reached.";
      return undefined;
    }
  }
}
