import { GatewayObject, door } from "narrows/worker";

/** What `wrangler.toml` and `wrangler secret put TOKENS` say, as the gateway's configuration. */
function configure({ CONFIG = "{}", TOKENS = "[]" }) {
  return { ...JSON.parse(CONFIG), auth: { tokens: JSON.parse(TOKENS) } };
}

/** Where they are bound. */
const objects = ({ CALLERS }) => CALLERS;

/** One for each caller: its agents, conversations, inbox, sessions and served tasks. */
export class Caller extends GatewayObject {
  static configure = configure;
  static objects = objects;
}

export default { fetch: door({ objects, configure, publicAgent: ({ PUBLIC_AGENT }) => PUBLIC_AGENT }) };
