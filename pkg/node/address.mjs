import net from "node:net";

import { builtin } from "./builtin.mjs";
import { BLOCKED } from "./cause.mjs";

/**
 * Never reached by anyone: link-local networks and the addresses at which clouds hand out credentials (Azure, Alibaba,
 * Oracle; Amazon's and Google's are link-local in IPv4 and have these in IPv6).
 */
const ALWAYS_REFUSED = [
  "169.254.0.0/16",
  "168.63.129.16/32",
  "100.100.100.200/32",
  "192.0.0.192/32",
  "fe80::/10",
  "fd00:ec2::254/128",
  "fd20:ce::254/128",
];

/** This machine and private networks (RFC 6890 and its registries), multicast and reserved addresses. */
const PRIVATE = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "::/128",
  "::1/128",
  "fc00::/7",
  "fec0::/10",
  "ff00::/8",
];

function blockList(subnets) {
  const list = new net.BlockList();
  for (const subnet of subnets) {
    const [address, prefix] = subnet.split("/");
    const bits = Number(prefix);
    if (net.isIPv6(address)) {
      list.addSubnet(address, bits, "ipv6");
      continue;
    }
    // An IPv6 address that holds an IPv4 one reaches it: NAT64 (RFC 6052), the old compatible form, 6to4 (RFC 3056).
    // A BlockList sees through the mapped form (::ffff:a.b.c.d) by itself.
    const [a, b, c, d] = address.split(".").map((byte) => Number(byte).toString(16).padStart(2, "0"));
    list.addSubnet(address, bits, "ipv4");
    list.addSubnet(`64:ff9b::${a}${b}:${c}${d}`, 96 + bits, "ipv6");
    list.addSubnet(`::${a}${b}:${c}${d}`, 96 + bits, "ipv6");
    list.addSubnet(`2002:${a}${b}:${c}${d}::`, 16 + bits, "ipv6");
  }
  return list;
}

const lists = {};

/**
 * Whether an IP address is not to be reached.
 *
 * @param {string} address IPv4 or IPv6, with or without a zone
 * @param {boolean} allowPrivate whether this machine and private networks may be reached
 */
export function isRefused(address, allowPrivate) {
  const family = net.isIPv6(address) ? "ipv6" : "ipv4";
  lists.always ??= blockList(ALWAYS_REFUSED);
  if (lists.always.check(address, family)) return true;
  if (allowPrivate) return false;
  lists.private ??= blockList(PRIVATE);
  return lists.private.check(address, family);
}

/** The error for a host that is not to be reached. @param {string} host @param {boolean} publicOnly */
export function refusal(host, publicOnly = false) {
  const why = publicOnly ? "that is not public, and an agent at a public one named it (network.allowed_hosts can list it)" : "that is not to be reached";
  return Object.assign(new Error(`${host} is at an address ${why}`), { code: BLOCKED });
}

/**
 * A `lookup` for `net.connect` that leaves out refused addresses. It checks what is connected to, so a name that
 * changes its address between a check and the connection gains nothing.
 *
 * @param {(host: string) => boolean} allowsPrivate whether private addresses may be reached at a host
 * @param {typeof import("node:dns").lookup} resolve
 * @param {boolean} publicOnly whether private addresses may be reached nowhere
 */
export function guardedLookup(allowsPrivate, resolve = builtin("node:dns").lookup, publicOnly = false) {
  return (host, options, callback) => {
    resolve(host, { ...options, all: true }, (error, found) => {
      if (error) return callback(error);
      const allowed = found.filter(({ address }) => !isRefused(address, !publicOnly && allowsPrivate(host)));
      if (allowed.length === 0)
        return callback(
          found.length === 0 ? Object.assign(new Error(`${host} has no address`), { code: "ENOTFOUND" }) : refusal(host, publicOnly),
        );
      if (options.all) callback(null, allowed);
      else callback(null, allowed[0].address, allowed[0].family);
    });
  };
}
