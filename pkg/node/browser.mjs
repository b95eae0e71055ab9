import { spawn } from "node:child_process";

/** How each system opens an address. None of them is a shell, to which an address could say something. */
const OPENERS = { darwin: ["open"], win32: ["rundll32", "url.dll,FileProtocolHandler"] };

/** Opens an address in the browser. Where there is none, nothing happens. @param {string} url of http or https */
export function openInBrowser(url) {
  const [command, ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  const child = spawn(command, [...args, url], { detached: true, stdio: "ignore" });
  child.on("error", () => {});
  child.unref();
}
