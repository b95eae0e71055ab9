//! What kind of place a host is, from its text alone.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What kind of place a host is (the special-purpose address registries of RFC 6890, and what clouds put there).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Address {
    /// a name; only the one who resolves it knows more
    Name,
    /// any other address
    Public,
    /// an address for private use or another that is not reachable from everywhere: 10/8, 172.16/12, 192.168/16
    /// (RFC 1918), 192.0.0/24, 198.18/15, multicast, reserved blocks
    Private,
    /// the address space shared by carriers: 100.64/10 (RFC 6598)
    Shared,
    /// an IPv6 address for private use: fc00::/7 (RFC 4193), fec0::/10
    UniqueLocal,
    /// `localhost` and names under it (RFC 6761 §6.3), 127/8, ::1
    Loopback,
    /// 0/8 and `::`, which reach the machine itself
    Unspecified,
    /// 169.254/16 (RFC 3927), fe80::/10
    LinkLocal,
    /// where clouds serve credentials to their machines
    Metadata,
}

/// Names of the metadata services of Google and Amazon.
const METADATA_NAMES: [&str; 5] =
    ["metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal"];

/// Names that systems resolve to the machine itself without asking anyone.
const LOOPBACK_NAMES: [&str; 5] = ["localhost", "localhost.localdomain", "localhost6", "ip6-localhost", "ip6-loopback"];

/// Metadata services of most clouds, Alibaba, Oracle and Azure.
const METADATA_V4: [Ipv4Addr; 4] = [
    Ipv4Addr::new(169, 254, 169, 254),
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(192, 0, 0, 192),
    Ipv4Addr::new(168, 63, 129, 16),
];

/// Metadata services of Amazon and Google.
const METADATA_V6: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)];

impl Address {
    /// The kind of a resolved address, for hosts that check where a name leads.
    #[must_use]
    pub fn of_ip(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => v4(address),
            IpAddr::V6(address) => v6(address),
        }
    }

    /// The kind of a host that is no address, in lower case.
    pub(super) fn of_name(name: &str) -> Self {
        let name = name.strip_suffix('.').unwrap_or(name);
        if METADATA_NAMES.contains(&name) {
            Self::Metadata
        } else if LOOPBACK_NAMES.contains(&name) || name.ends_with(".localhost") {
            Self::Loopback
        } else {
            Self::Name
        }
    }

    /// Whether requests there are refused whatever the configuration says.
    #[must_use]
    pub const fn is_always_refused(self) -> bool {
        match self {
            Self::LinkLocal | Self::Metadata => true,
            Self::Name | Self::Public | Self::Private | Self::Shared | Self::UniqueLocal | Self::Loopback | Self::Unspecified => {
                false
            }
        }
    }

    /// Whether the place lies behind the door of whoever runs the gateway: everything but names and public addresses.
    #[must_use]
    pub const fn is_internal(self) -> bool {
        match self {
            Self::Name | Self::Public => false,
            Self::Private
            | Self::Shared
            | Self::UniqueLocal
            | Self::Loopback
            | Self::Unspecified
            | Self::LinkLocal
            | Self::Metadata => true,
        }
    }
}

fn v4(address: Ipv4Addr) -> Address {
    if METADATA_V4.contains(&address) {
        return Address::Metadata;
    }
    match address.octets() {
        [0, ..] => Address::Unspecified,
        [127, ..] => Address::Loopback,
        [169, 254, ..] => Address::LinkLocal,
        [100, 64..=127, ..] => Address::Shared,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] | [192, 0, 0, _] | [198, 18..=19, ..] | [224..=255, ..] => {
            Address::Private
        }
        _ => Address::Public,
    }
}

fn v6(address: Ipv6Addr) -> Address {
    if METADATA_V6.contains(&address) {
        return Address::Metadata;
    }
    let segments = address.segments();
    match segments {
        [0, 0, 0, 0, 0, 0, 0, 0] => Address::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => Address::Loopback,
        // IPv4-compatible and IPv4-mapped (RFC 4291 §2.5.5), translated (RFC 2765 §2.1), NAT64 (RFC 6052 §2.1)
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            v4_of(high, low)
        }
        // 6to4 (RFC 3056 §2)
        [0x2002, high, low, ..] => v4_of(high, low),
        // Teredo (RFC 4380 §4): the client's address, inverted
        [0x2001, 0, .., high, low] => v4_of(!high, !low),
        // NAT64 of one network (RFC 8215), whose prefix may end at several places (RFC 6052 §2.2)
        [0x64, 0xff9b, 1, ..] => nat64_local(address.octets()),
        [0x100, 0, 0, 0, ..] | [0xff00..=0xffff, ..] => Address::Private,
        [0xfe80..=0xfebf, ..] => Address::LinkLocal,
        [0xfc00..=0xfdff, ..] | [0xfec0..=0xfeff, ..] => Address::UniqueLocal,
        _ => Address::Public,
    }
}

fn v4_of(high: u16, low: u16) -> Address {
    v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
}

/// The worst that any length of the prefix makes of it, private at least.
fn nat64_local(octets: [u8; 16]) -> Address {
    let [.., b6, b7, _, b9, b10, b11, b12, b13, b14, b15] = octets;
    let readings = [[b6, b7, b9, b10], [b7, b9, b10, b11], [b9, b10, b11, b12], [b12, b13, b14, b15]];
    let worst = readings.into_iter().map(|octets| v4(Ipv4Addr::from(octets))).filter(|address| address.is_always_refused()).max();
    worst.unwrap_or(Address::Private)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::Url;

    fn check(address: Address, hosts: &[&str]) {
        for host in hosts {
            let url = Url::parse(&alloc::format!("http://{host}:8080/")).unwrap_or_else(|fault| panic!("{host} {fault}"));
            assert_eq!(url.address(), address, "{host}");
        }
    }

    #[test]
    fn names_are_names_unless_they_mean_the_machine_or_its_cloud() {
        check(
            Address::Name,
            &["agent.test", "localhost.test", "notlocalhost", "127.0.0.1.nip.io", "metadata.test", "xn--bcher-kva"],
        );
        check(Address::Loopback, &["localhost", "LOCALHOST", "localhost.", "a.b.localhost", "%6cocalhost", "ip6-localhost"]);
        check(Address::Metadata, &["metadata.google.internal", "Metadata.Google.Internal.", "metadata", "instance-data"]);
    }

    #[test]
    fn every_spelling_of_an_ipv4_address_is_seen() {
        check(Address::Loopback, &["127.0.0.1", "127.255.255.254", "0x7f.1", "2130706433", "0177.0.0.1", "127.1", "127.0.0.1."]);
        check(Address::Private, &["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "0xC0A80101", "3232235777"]);
        check(Address::Private, &["192.0.0.8", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"]);
        check(Address::Shared, &["100.64.0.1", "100.127.255.255", "0x64400001"]);
        check(Address::LinkLocal, &["169.254.0.1", "169.254.170.2"]);
        check(Address::Metadata, &["169.254.169.254", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "100.100.100.200"]);
        check(Address::Unspecified, &["0.0.0.0", "0", "0x0", "0.1.2.3"]);
        check(Address::Public, &["8.8.8.8", "9.255.255.255", "11.0.0.1", "172.15.255.255", "172.32.0.1", "192.167.1.1"]);
        check(Address::Public, &["100.63.255.255", "100.128.0.1", "169.253.1.1", "203.0.113.7", "126.255.255.255", "128.0.0.1"]);
    }

    #[test]
    fn every_spelling_of_an_ipv6_address_is_seen() {
        check(Address::Loopback, &["[::1]", "[0:0:0:0:0:0:0:1]", "[::0001]"]);
        check(Address::Unspecified, &["[::]", "[0::0]"]);
        check(Address::UniqueLocal, &["[fc00::1]", "[FDFF::1]", "[fec0::1]"]);
        check(Address::LinkLocal, &["[fe80::1]", "[febf::1]"]);
        check(Address::Metadata, &["[fd00:ec2::254]", "[FD00:0EC2:0::0254]", "[fd20:ce::254]"]);
        check(Address::Private, &["[ff02::1]", "[100::1]"]);
        check(Address::Public, &["[2606:4700::1111]", "[2001:db8::1]", "[fbff::1]", "[fe7f::1]", "[101::1]"]);
    }

    #[test]
    fn ipv4_within_ipv6_is_seen() {
        check(Address::Loopback, &["[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[::ffff:0:127.0.0.1]"]);
        check(Address::Loopback, &["[64:ff9b::127.0.0.1]", "[2002:7f00:1::]", "[2001:0:1::80ff:fffe]"]);
        check(Address::Private, &["[::ffff:10.0.0.1]", "[64:ff9b::c0a8:101]", "[2002:0a00:0001::1]"]);
        check(Address::Shared, &["[::ffff:100.64.0.1]"]);
        check(Address::Metadata, &["[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "[::a9fe:a9fe]", "[2002:a9fe:a9fe::]"]);
        check(Address::Metadata, &["[64:ff9b:1::a9fe:a9fe]", "[64:ff9b:1:a9fe:a9:fe00::]"]);
        check(Address::LinkLocal, &["[64:ff9b:1::169.254.0.1]", "[64:ff9b:1:a9:fe:1:0:0]"]);
        check(Address::Private, &["[64:ff9b:1::8.8.8.8]", "[64:ff9b:1::127.0.0.1]"]);
        check(Address::Public, &["[::ffff:8.8.8.8]", "[64:ff9b::8.8.8.8]", "[2002:808:808::1]", "[2001:0:1::f7f7:f7f7]"]);
    }

    #[test]
    fn what_is_refused_follows_the_kind() {
        for address in [Address::LinkLocal, Address::Metadata] {
            assert!(address.is_always_refused() && address.is_internal(), "{address:?}");
        }
        for address in [Address::Private, Address::Shared, Address::UniqueLocal, Address::Loopback, Address::Unspecified] {
            assert!(!address.is_always_refused() && address.is_internal(), "{address:?}");
        }
        for address in [Address::Name, Address::Public] {
            assert!(!address.is_always_refused() && !address.is_internal(), "{address:?}");
        }
        assert_eq!(Address::of_ip(IpAddr::V4(Ipv4Addr::LOCALHOST)), Address::Loopback);
        assert_eq!(Address::of_ip(IpAddr::V6(Ipv6Addr::UNSPECIFIED)), Address::Unspecified);
    }
}
