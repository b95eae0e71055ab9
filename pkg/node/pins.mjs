import { createHash } from "node:crypto";
import { readFileSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

import { makeFolder } from "./folder.mjs";
import { replaceFile } from "./whole-file.mjs";

/** A pin: its name is a digest of its key, which may be longer than a name. */
const NAME = /^[0-9a-f]{64}\.json$/;

/** What keys of pins begin with. */
const PREFIX = "pin/";

/** How often it is looked whether somebody accepted a tool, while one is held back. */
const LOOK_MS = 2000;

/** The folder for what programs of the user keep between their runs. */
function stateFolder({ env, platform }) {
  if (platform === "win32" && (env.LOCALAPPDATA ?? env.APPDATA)) return join(env.LOCALAPPDATA ?? env.APPDATA, "narrows");
  return join(env.XDG_STATE_HOME || join(homedir(), ".local/state"), "narrows");
}

/**
 * The pins of the servers of one configuration file, in a folder of the user's: a file for each tool, replaced as a whole.
 * Several gateways with the same file share it, and what one accepts the others see.
 */
export class Pins {
  #folder;
  #watching = false;

  /** @param {string | undefined} file the configuration file; none: that of no file */
  constructor(file) {
    const place = createHash("sha256").update(file === undefined ? "" : real(file)).digest("hex");
    this.#folder = join(stateFolder(process), "pins", place.slice(0, 16));
  }

  get folder() {
    return this.#folder;
  }

  /** Whether something under that key is a pin. @param {string} key */
  static has(key) {
    return key.startsWith(PREFIX);
  }

  /** All pieces that were kept. @returns {string[]} */
  pieces() {
    return this.#files().flatMap((file) => readFileSync(file, "utf8").split("\n").slice(0, -1));
  }

  /** @param {string} key @param {readonly string[]} pieces none: nothing is kept under that key any more */
  keep(key, pieces) {
    const file = join(this.#folder, `${createHash("sha256").update(key).digest("hex")}.json`);
    if (pieces.length === 0) return rmSync(file, { force: true });
    makeFolder(this.#folder, 0o700);
    replaceFile(file, pieces.map((piece) => `${piece}\n`).join(""));
  }

  /** Forgets the tools of a server. @param {string} server */
  forget(server) {
    for (const file of this.#files()) {
      const [piece] = readFileSync(file, "utf8").split("\n");
      if (keyOf(piece)?.startsWith(`${PREFIX}${encoded(server)}/`)) rmSync(file, { force: true });
    }
  }

  /**
   * Tells what is kept, once and whenever that changed, for as long as somebody waits for it.
   *
   * @param {(pieces: string[]) => void} tell
   * @param {() => boolean} waits
   */
  watch(tell, waits) {
    if (this.#watching) return;
    this.#watching = true;
    let seen;
    const look = () => {
      if (!waits()) {
        this.#watching = false;
        return clearInterval(timer);
      }
      const now = this.#files().map((file) => `${file} ${statSync(file, { throwIfNoEntry: false })?.mtimeMs}`).join();
      if (now !== seen) tell(this.pieces());
      seen = now;
    };
    const timer = setInterval(look, LOOK_MS);
    timer.unref();
    look();
  }

  #files() {
    try {
      return readdirSync(this.#folder).filter((name) => NAME.test(name)).sort().map((name) => join(this.#folder, name));
    } catch (error) {
      if (error.code === "ENOENT") return [];
      throw error;
    }
  }
}

/** Parts of keys are written as the core writes them: everything but letters, digits and `-._~` as the bytes of UTF-8. */
const encoded = (part) => encodeURIComponent(part).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

function keyOf(piece) {
  try {
    return JSON.parse(piece).key;
  } catch {
    return undefined;
  }
}

function real(file) {
  try {
    return realpathSync(file);
  } catch {
    return resolve(file);
  }
}
