/** A moment or a stretch of a session. @param {number} ms */
export function seconds(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}

/** A moment, always in the same unit. @param {number} ms */
export function moment(ms) {
  return `${(ms / 1000).toFixed(2)} s`;
}

/** A size. @param {number} bytes */
export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(2)} MB`;
}

/** A whole number with its thousands apart. @param {number} number */
export function count(number) {
  return Math.round(number).toLocaleString("en");
}

const encoder = new TextEncoder();

/** How many bytes a text has on the wire. @param {string} text */
export function byteLength(text) {
  return encoder.encode(text).length;
}

/** JSON laid out for reading, or the text itself where it is none. */
export function readable(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** The text of a body that was noted in base64. @param {string} base64 */
export function decoded(base64) {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));
}
