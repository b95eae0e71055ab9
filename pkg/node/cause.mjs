/**
 * What went wrong with an HTTP round, in the words of the core: `refused`, `dns`, `tls` and `blocked` say that the
 * request surely did not arrive, `reset`, `protocol`, `headers` and `other` do not.
 */

/** Words for people stay short: a certificate error may quote a page of names. */
const DETAIL_CHARACTERS = 200;

/** The code of an error that the address check made. */
export const BLOCKED = "ERR_ADDRESS_BLOCKED";

/** The code of an error made here about an answer that is no HTTP, or HTTP that was not asked for. */
export const PROTOCOL = "ERR_PROTOCOL";

const LOST = new Set(["ECONNRESET", "EPIPE", "ECONNABORTED"]);

/** The other end is not whom it should be: found out when it is known, before anything is sent to it. */
const DISTRUSTED = new Set([
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CERT_REVOKED",
  "CERT_REJECTED",
  "CERT_UNTRUSTED",
  "CERT_SIGNATURE_FAILURE",
  "CERT_CHAIN_TOO_LONG",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "INVALID_CA",
  "INVALID_PURPOSE",
  "HOSTNAME_MISMATCH",
  "PATH_LENGTH_EXCEEDED",
]);

/** Whether the connection was lost, as opposed to never made. @param {NodeJS.ErrnoException} error */
export function isLost(error) {
  return LOST.has(error.code);
}

/**
 * The cause of a failed exchange and words for it, without credentials.
 *
 * @param {NodeJS.ErrnoException & { errors?: Error[] }} error as Node's HTTP, TLS, DNS or zlib gave it
 * @param {{ handshaking?: boolean, short?: boolean }} state whether TLS was still being agreed on, and whether the
 *   body ended before the length that was promised
 * @returns {{ cause: string, detail: string }}
 */
export function failure(error, { handshaking = false, short = false } = {}) {
  // Several addresses were tried and each failed: the first failure stands for all.
  const first = error.errors?.[0] ?? error;
  const cause = causeOf(first, handshaking, short);
  // OpenSSL's message names source files; its reason is what a person can use.
  const words = short
    ? "the body is shorter than its Content-Length"
    : (first.library && first.reason) || first.message || String(first);
  return { cause, detail: words.replace(/\s+/g, " ").slice(0, DETAIL_CHARACTERS) };
}

function causeOf(error, handshaking, short) {
  const code = String(error.code ?? "");
  if (code === BLOCKED) return "blocked";
  if (code === "ENOTFOUND" || code.startsWith("EAI_") || error.syscall?.startsWith("getaddrinfo")) return "dns";
  // Whatever ended the attempt to connect, nothing was sent yet.
  if (error.syscall === "connect") return "refused";
  if (handshaking || DISTRUSTED.has(code)) return "tls";
  if (code === "HPE_HEADER_OVERFLOW") return "headers";
  // Node's names for broken HTTP, for broken gzip and deflate, and for broken brotli.
  if (short || code === PROTOCOL || code.startsWith("HPE_") || code.startsWith("Z_") || code.startsWith("ERR__ERROR_"))
    return "protocol";
  // A fault of TLS on a connection that stood, such as the alert of a server that misses a certificate: it may have read all.
  if (LOST.has(code) || code === "EPROTO" || code.startsWith("ERR_TLS_") || code.startsWith("ERR_SSL_")) return "reset";
  return "other";
}
