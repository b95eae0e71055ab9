import { HttpClient } from "./http.mjs";

/**
 * Outgoing HTTP for one gateway, with the address checks of its configuration.
 *
 * @param {{ network?: { allow_private?: boolean, allowed_hosts?: string[] } }} [configuration]
 */
export function connect({ network } = {}) {
  const http = new HttpClient({ allowPrivate: network?.allow_private, allowedHosts: network?.allowed_hosts });
  return { fetch: (request, report) => http.fetch(request, report), close: () => http.close() };
}
