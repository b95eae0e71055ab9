/** The name of a header field (RFC 9110 §5.6.2, token). */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * Reads `Name: value` lines.
 *
 * @param {string} text
 * @returns {{ headers: Record<string, string>, faults: string[] }} what is wrong with lines, in words; they are left out
 */
export function headerLines(text) {
  const headers = {};
  const faults = [];
  const seen = new Set();
  for (const line of text.split("\n").map((one) => one.trim())) {
    if (line === "") continue;
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).trim();
    if (colon < 0) faults.push(`“${line}” has no colon: a header is written Name: value.`);
    else if (!NAME.test(name)) faults.push(`“${name}” is no name for a header.`);
    else if (seen.has(name.toLowerCase())) faults.push(`“${name}” stands there twice, and only one of them could be sent.`);
    else headers[name] = line.slice(colon + 1).trim();
    seen.add(name.toLowerCase());
  }
  return { headers, faults };
}
