// Node: the module is read from the package and ready on import; requests go out through node:http.
import { Gateway as Base } from "./lib/gateway.mjs";
import { connect } from "./node/connect.mjs";

export { Core } from "./node/core.mjs";
export { GatewayError } from "./lib/error.mjs";
export class Gateway extends Base {
  static platform = { connect };
}
export default async function init() {}
