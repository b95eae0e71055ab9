/**
 * Rows as a table that fits the terminal: the last column gives way first.
 *
 * @param {string[]} heads
 * @param {string[][]} rows
 * @param {{ columns?: number, isTTY?: boolean }} output
 */
export function table(heads, rows, { columns = 100, isTTY = false }) {
  const widths = heads.map((head, i) => Math.max(...[head, ...rows.map((row) => row[i])].map(width)));
  const others = widths.slice(0, -1).reduce((sum, each) => sum + each + 2, 0);
  const last = isTTY ? Math.max(columns - others, 10) : Infinity;
  const line = (cells) => cells.map((cell, i) => (i === cells.length - 1 ? cut(cell, last) : padded(cell, widths[i] + 2))).join("").trimEnd();
  const bold = isTTY && !process.env.NO_COLOR;
  return [bold ? `\u001b[1m${line(heads)}\u001b[0m` : line(heads), ...rows.map(line)].join("\n");
}

/** Columns that a text takes: wide characters of East Asia take two. */
function width(text) {
  let columns = 0;
  for (const char of text) columns += /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}]/u.test(char) ? 2 : 1;
  return columns;
}

const padded = (text, columns) => text + " ".repeat(Math.max(columns - width(text), 0));

function cut(text, columns) {
  if (width(text) <= columns) return text;
  let [out, used] = ["", 1];
  for (const char of text) {
    used += width(char);
    if (used > columns) break;
    out += char;
  }
  return `${out}…`;
}
