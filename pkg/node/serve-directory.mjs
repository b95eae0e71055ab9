import { serveHttp } from "./serve-http.mjs";

/** What a directory answers; everything else of the core has no place here. */
const SERVED = /^\/(?:agents|healthz|metrics)(?:[/?]|$)/;

/** Says where what is served is, instead of handing the rest to the core. */
const files = () => ({
  answer(request, response) {
    if (SERVED.test(request.url)) return false;
    request.resume();
    response.writeHead(404, { "Content-Type": "text/plain; charset=utf-8" }).end("the directory is at /agents");
    return true;
  },
});

/** A directory of agents and nothing else. */
const DIRECTORY = {
  port: 4547,
  configured: ({ external_agents: _, ...file }) => ({ ...file, a2a: { enabled: false }, directory: { ...file.directory, built_in: true } }),
  files,
  welcome: (origin, { auth }) => {
    const token = auth?.tokens?.length ? " -H 'Authorization: Bearer YOUR-TOKEN'" : "";
    const put = `curl -X PUT${token} --data-binary @card.json ${origin}/agents/NAME`;
    return `narrows: a directory of agents at ${origin}/agents\nTo register: ${put}\n`;
  },
};

/**
 * Serves a directory of agents over HTTP until the process is told to end.
 *
 * @param {object} options as `serveHttp`
 * @returns {Promise<number>} the exit code
 */
export function serveDirectory(options) {
  return serveHttp(options, DIRECTORY);
}
