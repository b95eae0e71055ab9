// The classes of the wasm, without their module: an entry brings it, to `init` or `initSync`.
import load, * as glue from "../dist/narrows.js";
import { GatewayError } from "./error.mjs";

export const { Fetch } = glue;

let ready = false;

// The generated functions warn on the console about a source that is not a member of one object.
const named = (name, source) => {
  const isObject = typeof source === "object" && source !== null && Object.getPrototypeOf(source) === Object.prototype;
  return source === undefined || isObject ? source : { [name]: source };
};

/** As the generated module's own, which loads the wasm. */
export default async function init(source) {
  const module = await load(named("module_or_path", source));
  ready = true;
  return module;
}

/** As the generated module's own, which takes the wasm at once. */
export function initSync(source) {
  const module = glue.initSync(named("module", source));
  ready = true;
  return module;
}

/** What fires on a payload that is to leave, as `Gateway.checkOutboundText` describes it. */
export function checkOutbound(payload, isJson, sink, skipRules) {
  demandModule();
  try {
    return JSON.parse(glue.checkOutbound(payload, isJson, sink, skipRules));
  } catch (error) {
    throw GatewayError.of(error);
  }
}

/** The core, with errors as all of the package has them. */
export class Core extends glue.Core {
  constructor(genesis, config) {
    demandModule();
    try {
      super(genesis, config);
    } catch (error) {
      throw GatewayError.of(error);
    }
  }

  static restore(genesis, config, pieces) {
    demandModule();
    try {
      return Object.setPrototypeOf(super.restore(genesis, config, pieces), Core.prototype);
    } catch (error) {
      throw GatewayError.of(error);
    }
  }
}

for (const name of ["input", "message", "body", "requestBody", "configure", "output", "next", "timeout", "snapshot", "explain", "heldTools", "trace", "traceLine"]) {
  const own = glue.Core.prototype[name];
  Core.prototype[name] = function (a, b, c) {
    try {
      return own.call(this, a, b, c);
    } catch (error) {
      throw GatewayError.of(error);
    }
  };
}

// `free` and `using` dispose, so that a later call says what happened to the object instead of meeting a null pointer.
Core.prototype.free = glue.Core.prototype.dispose;
if (Symbol.dispose) Core.prototype[Symbol.dispose] = glue.Core.prototype.dispose;

function demandModule() {
  if (!ready) throw new GatewayError("misuse", "the module is not loaded: call init() or initSync() first");
}
