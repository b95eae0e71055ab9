/** The names that a core gives its errors, and the codes that they have here. */
const CODES = { Misuse: "misuse", ConfigError: "config", RestoreError: "restore", Dead: "dead", Disposed: "disposed" };

/**
 * What went wrong, with a `code`: one of the tools' own (`timeout`, `rate_limited`, …), or one about the gateway
 * itself (`config`, `restore`, `misuse`, `disposed`, `dead`).
 */
export class GatewayError extends Error {
  /** @param {string} code @param {string} message @param {object} [details] more fields, such as `retry_after_ms` */
  constructor(code, message, details = {}) {
    super(message);
    for (const [name, value] of Object.entries(details)) {
      if (!(name in this)) Object.defineProperty(this, name, { value, enumerable: true });
    }
    this.name = "GatewayError";
    this.code = code;
  }

  /** The error of a failed tool call. @param {{ content?: object[], structuredContent?: object }} result */
  static ofResult({ content = [], structuredContent = {} }) {
    const { error = {}, ...received } = structuredContent;
    const { code = "internal", message = content[0]?.text ?? "the call failed", ...details } = error;
    return new GatewayError(code, message, { ...details, ...received, content, structured: structuredContent });
  }

  /** An error that a core threw, with its code; any other error as it is. @param {unknown} error */
  static of(error) {
    const code = Object.hasOwn(CODES, error?.name ?? "") ? CODES[error.name] : undefined;
    return code === undefined ? error : new GatewayError(code, error.message, { cause: error });
  }
}
