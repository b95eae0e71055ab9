/** Fetches from real agents on behalf of the gateway, with the page's own fetch, and reports what became of it. */
export class Live {
  #open = new Map();
  #report = () => {};

  /** @param {(input: object) => void} report */
  attach(report) {
    this.#report = report;
  }

  /** @param {{ exchange: number, method: string, url: string, headers: [string, string][], body?: string }} request */
  fetch({ exchange, method, url, headers, body }) {
    const controller = new AbortController();
    this.#open.set(exchange, controller);
    const told = (input) => {
      if (this.#open.get(exchange) === controller) this.#report({ ...input, exchange });
    };
    const init = { method, headers, body, signal: controller.signal, ...PLAIN };
    this.#run(url, init, told).finally(() => {
      if (this.#open.get(exchange) === controller) this.#open.delete(exchange);
    });
  }

  abort(exchange) {
    const controller = this.#open.get(exchange);
    this.#open.delete(exchange);
    controller?.abort();
  }

  abortAll() {
    for (const exchange of [...this.#open.keys()]) this.abort(exchange);
  }

  async #run(url, init, told) {
    try {
      const response = await fetch(url, init);
      if (response.type === "opaqueredirect") return told({ type: "failed", cause: "redirect" });
      told({ type: "head", status: response.status, headers: [...response.headers] });
      const reader = response.body?.getReader();
      for (let piece; reader && !(piece = await reader.read()).done;) told({ type: "body", base64: base64(piece.value) });
      told({ type: "end" });
    } catch (error) {
      // A page is not told why: nobody there, a policy, a name without an address are all the same TypeError.
      const detail = error instanceof TypeError ? "the browser does not say why" : String(error?.message ?? error);
      told({ type: "failed", cause: "other", detail });
    }
  }
}

/** Nothing of the page's own goes along, and no redirect is followed. */
const PLAIN = { redirect: "manual", credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer" };

function base64(bytes) {
  let binary = "";
  for (let i = 0; i < bytes.length; i += 0x8000) binary += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(binary);
}
