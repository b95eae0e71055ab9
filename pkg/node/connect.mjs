import { HttpClient } from "./http.mjs";
import { linkOpener } from "./links.mjs";

/**
 * Outgoing HTTP for one gateway, with the address checks of its configuration, and processes of MCP servers.
 *
 * @param {{ network?: { allow_private?: boolean, allowed_hosts?: string[] }, limits?: object }} [configuration]
 */
export function connect({ network, limits } = {}) {
  const http = new HttpClient(reach(network, limits));
  return {
    configured: (configuration) => http.reach(reach(configuration.network, configuration.limits)),
    fetch: (request, report) => http.fetch(request, report),
    openLink: linkOpener({ limits }),
    close: () => http.close(),
  };
}

const reach = (network, limits) => ({
  allowPrivate: network?.allow_private,
  allowedHosts: network?.allowed_hosts,
  header_bytes: limits?.header_bytes,
});
