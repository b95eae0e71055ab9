/** The object of the directory. No principal has such a name. */
export const DIRECTORY = "directory/";

/** Whether a request is about the directory, and of a kind that it answers. */
export function asksDirectory({ method, url }, config) {
  const { pathname } = new URL(url);
  return /^\/agents(?:\/|$)/.test(pathname) && method !== "OPTIONS" && config?.directory?.built_in !== false;
}

/**
 * The directory as the callers' objects look into it: by asking its object, as everybody does.
 *
 * @param {DurableObjectNamespace} objects
 * @param {object} config of the gateway
 * @returns {object} as `GatewayOptions.directory`
 */
export function directoryOf(objects, config) {
  const host = config?.server?.hosts?.[0] ?? "directory";
  return {
    async query({ filter = "", limit, cursor = "" }) {
      const response = await objects.getByName(DIRECTORY).fetch(`http://${host}/agents?${new URLSearchParams({ filter, limit, cursor })}`);
      const answer = await response.json();
      if (response.status === 400) throw Object.assign(new Error(answer.error.message), { code: "bad_cursor" });
      if (!response.ok) throw new Error(`the directory's object answers with ${response.status}`);
      return answer;
    },
  };
}
