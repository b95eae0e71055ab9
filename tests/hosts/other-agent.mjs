// Loaded before a command (`--import`): the name `other-agent` is the address in the environment, as in a hosts file.
const dns = process.getBuiltinModule("node:dns");
const { lookup } = dns;

dns.lookup = (name, options, callback) =>
  lookup(name === "other-agent" ? process.env.OTHER_AGENT : name, options, callback);
