/** What a terminal would not show, or would obey: that is where instructions are hidden and lines are forged. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Words of somebody else's on one line, with what a terminal would not show written out. @param {unknown} text */
export const visible = (text) => String(text).replace(UNSEEN, (char) => `\\u{${char.codePointAt(0).toString(16)}}`);

/** The same of a text of several lines. @param {string} text */
export const visibleLines = (text) => text.split("\n").map(visible).join("\n");

/** A value as JSON that a terminal shows as it is, and that reads back as the value. @param {unknown} value @param {number} [indent] */
export function visibleJson(value, indent) {
  const lines = JSON.stringify(value, null, indent).split("\n");
  return lines.map((line) => line.replace(UNSEEN, (char) => char.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`))).join("\n");
}
