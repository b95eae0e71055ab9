// A caller of A2A 1.0 over JSON-RPC, in front of anything that answers a Request.

export class Caller {
  #fetch;
  #url;
  #headers;
  #ids = 0;

  /** @param {(request: Request) => Promise<Response>} fetch @param {{ url?: string, headers?: object }} [options] */
  constructor(fetch, { url = "http://localhost/a2a", headers = {} } = {}) {
    this.#fetch = fetch;
    this.#url = url;
    this.#headers = headers;
  }

  /** The response to a method, as it comes. */
  ask(method, params, init = {}) {
    const headers = { "content-type": "application/json", "a2a-version": "1.0", ...this.#headers };
    const body = JSON.stringify({ jsonrpc: "2.0", id: (this.#ids += 1), method, params });
    return this.#fetch(new Request(this.#url, { method: "POST", headers, body, ...init }));
  }

  /** The result of a method; an error is thrown with its code. */
  async call(method, params) {
    const { result, error } = await (await this.ask(method, params)).json();
    if (error) throw Object.assign(new Error(error.message), { code: error.code });
    return result;
  }

  send(text, { configuration, ...message } = {}) {
    return this.call("SendMessage", { message: said(text, message), ...(configuration && { configuration }) });
  }

  /** The events of a streamed message, one at a time. */
  async *stream(text, message) {
    yield* events(await this.ask("SendStreamingMessage", { message: said(text, message) }));
  }
}

/** The results in a stream of events, as they come. */
export async function* events(response) {
  let text = "";
  for await (const bytes of response.body) {
    text += Buffer.from(bytes).toString();
    for (let at; (at = text.indexOf("\n\n")) >= 0; text = text.slice(at + 2)) {
      const data = text.slice(0, at).split("\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6)).join("");
      if (data) yield JSON.parse(data).result;
    }
  }
}

let messages = 0;

const said = (text, message) => ({ messageId: `m${(messages += 1)}`, role: "ROLE_USER", parts: [{ text }], ...message });

/** The text of a message, or of anything with parts. */
export const textOf = ({ parts }) => parts.map(({ text }) => text).join("");
