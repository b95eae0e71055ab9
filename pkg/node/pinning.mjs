import { Pins } from "./pins.mjs";

/**
 * The pins of a gateway that runs: told to it at the start, kept as it finds new tools, and told again when another process
 * accepted one. Where they cannot be kept, whether a tool changed is known for this run alone: no reason not to serve.
 */
export class Pinning {
  #pins;
  #log;
  #driver;

  /** @param {string | undefined} file the configuration file @param {import("./log.mjs").Log} log */
  constructor(file, log) {
    this.#pins = new Pins(file);
    this.#log = log;
  }

  /** @param {string} key @param {string[]} pieces */
  keep(key, pieces) {
    this.#mind(() => this.#pins.keep(key, pieces));
  }

  /** @param {import("../lib/driver.mjs").Driver} driver which is told what is kept, before its servers have answered */
  follow(driver) {
    this.#driver = driver;
    this.#mind(() => this.#tell(this.#pins.pieces()));
  }

  /** @param {{ event: string, fields: object }} notice of the gateway */
  notice({ event, fields: { server, tool } }) {
    if (event !== "tool_held") return;
    this.#log.say(`${tool} of ${server} is another tool than before and held back. To see what changed, and to accept it: narrows mcp accept ${server}`);
    // Not while the core is told something.
    queueMicrotask(() => this.#pins.watch((pieces) => this.#mind(() => this.#tell(pieces)), () => this.#isHeld()));
  }

  #tell(pieces) {
    if (pieces.length > 0) this.#driver.pinned(pieces);
  }

  #isHeld() {
    return !this.#driver.stopped && this.#driver.heldTools().length > 0;
  }

  #mind(act) {
    try {
      act();
    } catch (error) {
      this.#log.say(`what tools were cannot be kept in ${this.#pins.folder}: ${error.message}`);
    }
  }
}
