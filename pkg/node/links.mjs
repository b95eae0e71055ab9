import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { StringDecoder } from "node:string_decoder";

import { Lines } from "./lines.mjs";
import { windowsCommand } from "./windows.mjs";

const WINDOWS = process.platform === "win32";

/** Variables of ours that every server gets. Whatever else is in our environment is none of its business. */
const SAFE = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TMPDIR", "TMP", "TEMP"];
const SAFE_PREFIXES = ["LC_", "XDG_"];
const SAFE_ON_WINDOWS = ["SYSTEMROOT", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "COMSPEC", "PATHEXT", "HOMEDRIVE", "HOMEPATH"];

/** The core's own default of `limits.link_line_bytes`, and what a JavaScript string can hold. */
const LINE_BYTES = 16 << 20;
const MAX_LINE_BYTES = 256 << 20;

/** How much may wait for a server that does not read. */
const QUEUE_BYTES = 64 << 20;

/** What is kept of the standard error, and how often it is told at most. */
const STDERR_CHARACTERS = 2048;
const STDERR_MS = 200;

/** How long the output of a server that ended may still come. */
const DRAIN_MS = 500;

/**
 * Runs a server in a process group of its own, beside a watchdog that waits for the other end of descriptor 3 to close:
 * by us, or by whatever ends us. Then the server has a second to end by itself, as its input is closed too; what is left
 * of the group is told to end, and two seconds later it is ended.
 */
const WATCHED = `
(
  trap '' TERM HUP INT
  exec </dev/null >/dev/null 2>&1
  wait_for() { n=0; while kill -0 $$ && [ $n -lt $1 ]; do sleep 0.1 || sleep 1; n=$((n + 1)); done; }
  read -r _ <&3
  wait_for 10
  kill -TERM 0
  wait_for 20
  kill -KILL 0
) &
exec 3<&-
exec "$@"
`;

/**
 * Starts processes of MCP servers.
 *
 * @param {{ limits?: { link_line_bytes?: number } }} [configuration]
 * @param {Record<string, string | undefined>} [environment] ours
 */
export function linkOpener({ limits } = {}, environment = process.env) {
  const lineBytes = Math.min(Number(limits?.link_line_bytes ?? LINE_BYTES), MAX_LINE_BYTES);
  return (server, report) => new ServerProcess(server, report, { lineBytes, environment });
}

/**
 * The environment of a server: a safe list, and what its configuration names.
 *
 * @param {string[]} entries `NAME` or `NAME=value`
 * @param {Record<string, string | undefined>} ours
 * @param {(name: string) => void} unset takes the names of variables that we do not have
 */
export function serverEnvironment(entries, ours, unset) {
  const env = {};
  const isSafe = (name) =>
    SAFE.includes(name) ||
    SAFE_PREFIXES.some((prefix) => name.startsWith(prefix)) ||
    (WINDOWS && SAFE_ON_WINDOWS.includes(name.toUpperCase()));
  for (const [name, value] of Object.entries(ours)) if (isSafe(WINDOWS ? name.toUpperCase() : name)) env[name] = value;
  for (const entry of entries) {
    const at = entry.indexOf("=");
    const name = at < 0 ? entry : entry.slice(0, at);
    if (at >= 0) env[name] = entry.slice(at + 1);
    else if (ours[name] === undefined) unset(name);
    else env[name] = ours[name];
  }
  return env;
}

/**
 * @typedef {object} LinkReport what becomes of a process; nothing comes after `closed`, nor after its own `close`
 * @property {() => void} opened
 * @property {(text: string) => void} line
 * @property {(start: string, end: string, bytes: number) => void} lineTooLong
 * @property {(text: string) => void} stderr
 * @property {(detail: string) => void} closed
 * @property {(variable: string) => void} unset
 */
class ServerProcess {
  #child;
  #report;
  #over = false;
  #words = "";
  #wordsTimer;

  constructor({ command, args, env: entries }, report, { lineBytes, environment }) {
    this.#report = report;
    const env = serverEnvironment(entries, environment, (name) => report.unset(name));
    try {
      this.#child = WINDOWS ? startOnWindows(command, args, env) : start(command, args, env);
    } catch (error) {
      return this.#fail(`it cannot be started: ${error.message}`);
    }
    this.#listen(lineBytes);
  }

  #listen(lineBytes) {
    const child = this.#child;
    child.on("spawn", () => this.#tell("opened"));
    child.on("error", (error) => this.#end(`it cannot be started: ${error.message}`));
    for (const stream of child.stdio) stream?.on("error", () => {});
    const lines = new Lines(
      lineBytes,
      (text) => this.#tell("line", text),
      (start, end, bytes) => this.#tell("lineTooLong", start, end, bytes),
    );
    child.stdout.on("data", (chunk) => lines.push(chunk));
    child.stdout.on("end", () => lines.end());
    const decoder = new StringDecoder("utf8");
    child.stderr.on("data", (chunk) => this.#heard(decoder.write(chunk)));
    child.on("exit", (code, signal) => {
      // Whatever it started goes with it.
      child.stdio[3]?.destroy();
      const detail = signal ? `ended by ${signal}` : `ended with exit code ${code}`;
      const timer = setTimeout(() => this.#end(detail), DRAIN_MS);
      child.on("close", () => {
        clearTimeout(timer);
        this.#end(detail);
      });
    });
  }

  /** A line to its standard input. @param {string} text */
  write(text) {
    if (this.#over || this.#child === undefined) return;
    this.#child.stdin.write(`${text}\n`);
    if (this.#child.stdin.writableLength > QUEUE_BYTES) {
      const report = this.#report;
      this.close();
      report.closed("does not read what it is sent");
    }
  }

  /** Ends it: its input is closed, and its watchdog does the rest where it does not end by itself. */
  close() {
    this.#over = true;
    clearTimeout(this.#wordsTimer);
    const child = this.#child;
    if (child === undefined) return;
    child.stdin.end();
    child.stdio[3]?.destroy();
    child.stdout.destroy();
    child.stderr.destroy();
    child.unref();
    if (WINDOWS && child.exitCode === null) spawn("taskkill", ["/pid", String(child.pid), "/T", "/F"], { windowsHide: true, stdio: "ignore" });
  }

  #heard(text) {
    this.#words = (this.#words + text).slice(-STDERR_CHARACTERS);
    this.#wordsTimer ??= setTimeout(() => this.#tellWords(), STDERR_MS).unref();
  }

  #tellWords() {
    clearTimeout(this.#wordsTimer);
    this.#wordsTimer = undefined;
    if (this.#words !== "") this.#tell("stderr", this.#words);
    this.#words = "";
  }

  #tell(what, ...details) {
    if (!this.#over) this.#report[what](...details);
  }

  #end(detail) {
    if (this.#over) return;
    this.#tellWords();
    const report = this.#report;
    this.close();
    report.closed(detail);
  }

  /** It never began: told when whoever opens it has its hands free. */
  #fail(detail) {
    queueMicrotask(() => {
      if (this.#over) return;
      this.#over = true;
      this.#report.closed(detail);
    });
  }
}

function start(command, args, env) {
  const program = found(command, env.PATH);
  if (program === undefined) throw new Error(`${command} was not found`);
  return spawn("/bin/sh", ["-c", WATCHED, "narrows", program, ...args], { env, detached: true, stdio: ["pipe", "pipe", "pipe", "pipe"] });
}

function startOnWindows(command, args, env) {
  const { program, args: words, verbatim } = windowsCommand(command, args, env);
  return spawn(program, words, { env, windowsHide: true, windowsVerbatimArguments: verbatim, stdio: ["pipe", "pipe", "pipe"] });
}

/** The program that a shell would run. */
function found(command, path = "") {
  if (command.includes("/")) return isProgram(command) ? command : undefined;
  return path
    .split(delimiter)
    .map((folder) => join(folder || ".", command))
    .find(isProgram);
}

function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
