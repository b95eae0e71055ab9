//! Hosts as WHATWG URL §3.5 reads them, in one spelling each.

use alloc::format;
use alloc::string::String;
use core::fmt::Write;
use core::net::{IpAddr, Ipv4Addr};

use super::reference::{self, Host};
use super::{Address, UrlFault};
use crate::list::gather_all;

/// The host in its one spelling, which is what a `fetch` makes of it, and what kind of place it is.
pub(super) fn canonical(host: Host<'_>) -> Result<(String, Address), UrlFault> {
    let name = match host {
        Host::Ipv6(groups) => return Ok((ipv6_text(groups), Address::of_ip(IpAddr::V6(groups.into())))),
        Host::Name(name) => lower_case(&reference::decode(name))?,
    };
    if !ends_in_a_number(&name) {
        let address = Address::of_name(&name);
        return Ok((name, address));
    }
    let address = ipv4(&name).ok_or(UrlFault::Host)?;
    let [a, b, c, d] = address.octets();
    Ok((format!("{a}.{b}.{c}.{d}"), Address::of_ip(address.into())))
}

/// A name without the characters that WHATWG URL §3.2 forbids.
fn lower_case(bytes: &[u8]) -> Result<String, UrlFault> {
    if !bytes.is_ascii() {
        return Err(UrlFault::NotAscii);
    }
    let name = core::str::from_utf8(bytes).map_err(|_| UrlFault::Host)?.to_ascii_lowercase();
    if name.is_empty() {
        return Err(UrlFault::NoHost);
    }
    if name.bytes().any(is_forbidden) { Err(UrlFault::Host) } else { Ok(name) }
}

/// The text of WHATWG URL §3.5 in its brackets: the first longest run of two or more zeros is left out, and there is no
/// dotted form.
fn ipv6_text(groups: [u16; 8]) -> String {
    let zeros = |start: usize| groups.iter().skip(start).take_while(|group| **group == 0).count();
    // Of equal runs the last one that is asked for wins.
    let start = (0..8).rev().max_by_key(|start| zeros(*start)).unwrap_or(0);
    let left_out = Some(start..start + zeros(start)).filter(|run| run.len() > 1).unwrap_or(8..8);
    let mut out = String::from("[");
    for (at, group) in groups.into_iter().enumerate() {
        if at == left_out.start {
            out.push_str("::");
        } else if !left_out.contains(&at) {
            let colon = if at == 0 || at == left_out.end { "" } else { ":" };
            let _ = write!(out, "{colon}{group:x}");
        }
    }
    out.push(']');
    out
}

/// The forbidden domain code points of WHATWG URL §3.2, and those that cannot stand in a name as they are (RFC 3986
/// §3.2.2): a URL is kept as its text, which has to be read again.
const fn is_forbidden(byte: u8) -> bool {
    matches!(byte, 0..=b' ' | 0x7f | b'#' | b'%' | b'/' | b':' | b'<' | b'>' | b'?' | b'@' | b'[' | b'\\' | b']' | b'^' | b'|')
        || matches!(byte, b'"' | b'`' | b'{' | b'}')
}

/// Whether a host is meant as an IPv4 address ("ends in a number checker").
fn ends_in_a_number(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let last = name.rsplit('.').next().unwrap_or_default();
    !last.is_empty() && (last.bytes().all(|byte| byte.is_ascii_digit()) || number(last).is_some())
}

/// One to four numbers, each decimal, octal or hexadecimal, the last of which fills what is left.
fn ipv4(name: &str) -> Option<Ipv4Addr> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let numbers = gather_all(name.split('.').map(number))?;
    let (last, leading) = numbers.split_last()?;
    let bits_left = 32 - 8 * u32::try_from(leading.len()).ok().filter(|count| *count <= 3)?;
    if leading.iter().any(|number| *number > 255) || *last >= 1 << bits_left {
        return None;
    }
    let head = leading.iter().fold(0, |value, number| value << 8 | number);
    u32::try_from(head << bits_left | last).ok().map(Ipv4Addr::from_bits)
}

/// A number of an IPv4 address, saturating.
fn number(part: &str) -> Option<u64> {
    let (digits, radix) = if let Some(digits) = part.strip_prefix("0x") {
        (digits, 16)
    } else if part.len() > 1 && part.starts_with('0') {
        (part, 8)
    } else {
        (part, 10)
    };
    if part.is_empty() {
        return None;
    }
    let step = |value: u64, digit: char| Some(value.saturating_mul(radix.into()).saturating_add(digit.to_digit(radix)?.into()));
    digits.chars().try_fold(0, step)
}
