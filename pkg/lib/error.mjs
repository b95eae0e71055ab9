/** The names that the wasm gives its errors, and the codes that they have here. */
const CODES = { Misuse: "misuse", ConfigError: "config", RestoreError: "restore", Dead: "dead", Disposed: "disposed" };

/**
 * What went wrong, with a `code`: one of the tools' own (`timeout`, `rate_limited`, …), or one about the gateway
 * itself (`config`, `restore`, `misuse`, `storage`, `disposed`, `dead`).
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
    const { error = common(structuredContent.results), ...received } = structuredContent;
    const { code = "internal", message = content[0]?.text ?? "the call failed", ...details } = error;
    return new GatewayError(code, message, { ...details, ...received, content, structured: structuredContent });
  }

  /** An error that a core threw, with its code; any other error as it is. @param {unknown} error */
  static of(error) {
    const code = Object.hasOwn(CODES, error?.name ?? "") ? CODES[error.name] : undefined;
    return code === undefined ? error : new GatewayError(code, error.message, { cause: error });
  }
}

/** Why a broadcast failed, of which no agent answered: the code that its agents have in common, if they have one. */
function common(results) {
  if (results === undefined) return {};
  const codes = new Set(Object.values(results).map(({ error }) => error?.code));
  const [code] = codes;
  return { code: codes.size === 1 && code !== undefined ? code : "broadcast_failed" };
}

/**
 * Options as an object, each of a known name.
 *
 * @param {unknown} options @param {readonly string[]} names @param {string} whose what takes them
 * @returns {object}
 * @throws {GatewayError} `misuse`
 */
export function checkOptions(options, names, whose) {
  if (options === undefined) return {};
  if (typeof options !== "object" || options === null) throw new GatewayError("misuse", `${whose} takes its options in an object`);
  for (const name of Object.keys(options)) {
    if (names.includes(name)) continue;
    const near = nearest(name, names);
    const inside = names.includes("config") ? "; what configures the gateway stands in `config`" : "";
    const advice = near === undefined ? `it knows ${names.join(", ")}${inside}` : `did you mean \`${near}\`?`;
    throw new GatewayError("misuse", `${whose} has no option \`${name}\`: ${advice}`);
  }
  return options;
}

/** @param {object} options @param {readonly string[]} names those that must be functions, where they are there */
export function checkFunctions(options, names, prefix = "") {
  for (const name of names) {
    if (options[name] === undefined || typeof options[name] === "function") continue;
    throw new GatewayError("misuse", `\`${prefix}${name}\` must be a function`);
  }
}

/** The name that was meant, if one is near: at most a third of its letters is different. */
function nearest(name, names) {
  const [best] = names.map((known) => ({ known, by: distance(name.toLowerCase(), known.toLowerCase()) })).sort((a, b) => a.by - b.by);
  return best.by <= Math.ceil(best.known.length / 3) ? best.known : undefined;
}

/** How many letters have to be put in, taken out or changed. */
function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      next[j] = Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length];
}
