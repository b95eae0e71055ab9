import { EXIT_OK } from "./process.mjs";
import { table } from "./table.mjs";
import { visible } from "./visible.mjs";

/** The exit codes beside that of a call that would be made. */
const EXIT_ASK = 3;
const EXIT_REFUSED = 4;

/** The gravest answer decides: who asks must not take a call for allowed that one server would refuse. */
export function exitCode({ answers }) {
  const codes = { run: EXIT_OK, ask: EXIT_ASK, refused: EXIT_REFUSED };
  return Math.max(...answers.map(({ verdict }) => codes[verdict]));
}

/**
 * An explanation for people: the verdict, the gates in order, and what is not known.
 *
 * @param {import("../index.d.ts").Explanation} explanation
 * @param {{ columns?: number, isTTY?: boolean }} output
 */
export function told({ tool, answers, unknown }, output) {
  const parts = answers.map(({ server, trace, ...answer }) => {
    const head = visible(`${tool}${server === undefined ? "" : ` of ${server}`}: ${sentence(answer)}`);
    const rows = trace.map(({ gate, outcome, rule }, i) => [` ${i + 1}`, gate, outcome.replace("_", " "), rule]);
    return `${head}\n${table(["", "GATE", "SAYS", "BECAUSE"], rows, output)}`;
  });
  if (unknown.length > 0) parts.push(`Not known here:\n${unknown.map((line) => `  ${visible(line)}`).join("\n")}`);
  return parts.join("\n\n");
}

function sentence({ verdict, force_human, reason }) {
  if (verdict === "run") return "the call would be made";
  if (verdict === "refused") return `the call would be refused: ${reason}`;
  return `the call would wait for a person${force_human ? ", whatever was approved before" : ""}`;
}
