/**
 * The text of a value inside of JSON text, as it was written: what `JSON.parse` makes of a number may be another one.
 *
 * @param {string} text a JSON object
 * @param {readonly string[]} path the names of members, from the outside in
 * @returns {string | undefined}
 */
export function textOf(text, path) {
  return path.reduce((outer, name) => (outer === undefined ? undefined : member(outer, name)), text);
}

/** The text of a member of an object; of several with the name the last one, as `JSON.parse` has it. */
function member(text, name) {
  let found;
  for (let at = solid(text, 1); text[at] === '"'; ) {
    const after = stringEnd(text, at);
    const start = solid(text, solid(text, after) + 1);
    const end = valueEnd(text, start);
    if (JSON.parse(text.slice(at, after)) === name) found = text.slice(start, end);
    at = solid(text, end);
    if (text[at] === ",") at = solid(text, at + 1);
  }
  return found;
}

/** The next place that is no white space. */
function solid(text, at) {
  while (" \t\r\n".includes(text[at] ?? "-")) at += 1;
  return at;
}

function stringEnd(text, at) {
  for (let quote = text.indexOf('"', at + 1); ; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text[quote - 1 - slashes] === "\\") slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
  }
}

function valueEnd(text, start) {
  const marks = /["{}[\],]/g;
  let depth = 0;
  for (let at = start; ; at = marks.lastIndex) {
    marks.lastIndex = at;
    const { 0: mark, index } = marks.exec(text);
    if (mark === '"') marks.lastIndex = stringEnd(text, index);
    else if (mark === "{" || mark === "[") depth += 1;
    else if (mark !== ",") depth -= 1;
    if (depth < 0 || (depth === 0 && mark === ",")) return start + text.slice(start, index).trimEnd().length;
    if (depth === 0) return marks.lastIndex;
  }
}
