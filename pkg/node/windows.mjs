import { statSync } from "node:fs";
import { win32 } from "node:path";

/** Programs that Windows starts itself, and scripts that it has its shell run. */
const PROGRAMS = [".exe", ".com"];
const SCRIPTS = [".cmd", ".bat"];

/** What a shell of Windows takes for more than itself, in quotes too: such an argument could run another program. */
const SPECIAL = /["%!^\r\n\0]/;

/**
 * How a program is started on Windows. Node starts no `.cmd` and no `.bat`, which is what npm makes of every command, and
 * its option `shell` leaves arguments as they are. Here they are quoted, and those that no quotes can hold are refused.
 *
 * @param {string} command @param {string[]} args
 * @param {Record<string, string | undefined>} env names in any case
 * @param {(file: string) => boolean} [exists]
 * @returns {{ program: string, args: string[], verbatim: boolean }} `verbatim`: nothing more is to be quoted
 * @throws {Error} it cannot be started, in words for people
 */
export function windowsCommand(command, args, env, exists = isFile) {
  const program = found(command, env, exists);
  if (program === undefined) throw new Error(`${command} was not found`);
  const ending = win32.extname(program).toLowerCase();
  if (PROGRAMS.includes(ending)) return { program, args, verbatim: false };
  if (!SCRIPTS.includes(ending)) throw new Error(`${program} is no program: name what runs it, with the file as an argument`);
  // Arguments are not repeated: they may be secrets.
  const bad = [program, ...args].findIndex((text) => SPECIAL.test(text));
  if (bad >= 0) {
    throw new Error(`${program} is a script of the Windows shell, which would not pass on argument ${bad} as it is: name the program that it runs`);
  }
  // The quotes around the whole are taken off by the shell; without /s it would guess whether to.
  const line = [program, ...args].map(quoted).join(" ");
  return { program: value(env, "COMSPEC") ?? "cmd.exe", args: ["/d", "/s", "/c", `"${line}"`], verbatim: true };
}

/** In quotes, with the backslashes before the last of them doubled, as the program that the script runs will read it. */
function quoted(text) {
  return `"${text.replace(/\\+$/, "$&$&")}"`;
}

/** What a shell of Windows would start: in the folders of PATH, with the endings of PATHEXT where the name has none. */
function found(command, env, exists) {
  const endings = (value(env, "PATHEXT") || ".COM;.EXE;.BAT;.CMD").toLowerCase().split(";").filter(Boolean);
  const hasEnding = win32.extname(command) !== "";
  const names = hasEnding ? [command, ...endings.map((ending) => command + ending)] : endings.map((ending) => command + ending);
  const folders = /[\\/]/.test(command) ? [""] : (value(env, "PATH") ?? "").split(";").filter(Boolean);
  for (const folder of folders) {
    for (const name of names) {
      const file = folder === "" ? name : win32.join(folder, name);
      if (exists(file)) return file;
    }
  }
  return undefined;
}

/** A variable: their names have no case on Windows. */
function value(env, name) {
  const key = Object.keys(env).find((key) => key.toUpperCase() === name);
  return key === undefined ? undefined : env[key];
}

function isFile(file) {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}
