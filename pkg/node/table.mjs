import { visible } from "./visible.mjs";

/** What is left of a column at least. */
const LEAST = 4;

/**
 * Rows as a table that fits the terminal: the last column gives way first, then the widest of the others.
 *
 * @param {string[]} heads
 * @param {string[][]} rows
 * @param {{ columns?: number, isTTY?: boolean }} output
 */
export function table(heads, rows, { columns, isTTY = false }) {
  const texts = rows.map((row) => row.map(visible));
  const widths = heads.map((head, i) => Math.max(...[head, ...texts.map((row) => row[i])].map(width)));
  // A terminal that does not know how wide it is says 0.
  if (isTTY) fit(widths, (columns || 100) - 2 * (widths.length - 1));
  const line = (cells) => cells.map((cell, i) => padded(cut(cell, widths[i]), widths[i] + 2)).join("").trimEnd();
  const bold = isTTY && !process.env.NO_COLOR;
  return [bold ? `\u001b[1m${line(heads)}\u001b[0m` : line(heads), ...texts.map(line)].join("\n");
}

/** Takes from the widths what is too much for them all. @param {number[]} widths @param {number} room */
function fit(widths, room) {
  const excess = () => widths.reduce((sum, each) => sum + each, -room);
  const last = widths.length - 1;
  widths[last] = Math.max(widths[last] - Math.max(excess(), 0), Math.min(widths[last], 10));
  while (excess() > 0 && Math.max(...widths) > LEAST) widths[widths.indexOf(Math.max(...widths))] -= 1;
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
