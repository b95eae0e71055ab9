// For tests of what is built on the gateway, and of hosts of one's own.
export { FakeHost } from "./lib/fake-host.mjs";
export { checkHost, respondToChecks } from "./lib/check-host.mjs";
