import { createInterface } from "node:readline";
import { Writable } from "node:stream";

/**
 * Asks a person on a terminal for one line.
 *
 * @param {string} question
 * @param {{ input: import("node:tty").ReadStream, output: import("node:tty").WriteStream, hidden?: boolean }} terminal
 *   `hidden`: what is typed is not shown
 * @returns {Promise<string>} without blanks around it; empty where the input ended
 */
export async function ask(question, { input, output, hidden = false }) {
  const silent = new Writable({ write: (_bytes, _encoding, done) => done() });
  const lines = createInterface({ input, output: hidden ? silent : output, terminal: true });
  if (hidden) output.write(question);
  return new Promise((resolve) => {
    lines.once("close", () => resolve(""));
    lines.question(question, (answer) => {
      resolve(answer.trim());
      lines.close();
      if (hidden) output.write("\n");
    });
  });
}
