//! Hosts as WHATWG URL §3.5 reads them, in one spelling each.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use fluent_uri::component::Host;
use fluent_uri::pct_enc::encoder::RegName;

use super::{Address, UrlFault};

/// The host in its one spelling, which is what a `fetch` makes of it, and what kind of place it is.
pub(super) fn canonical(host: Host<'_, RegName>) -> Result<(String, Address), UrlFault> {
    let ip = |address: IpAddr, text: String| (text, Address::of_ip(address));
    match host {
        Host::Ipv4(address) => Ok(ip(address.into(), address.to_string())),
        Host::Ipv6(address) => Ok(ip(address.into(), format!("[{}]", ipv6_text(address)))),
        Host::RegName(name) => {
            let name = lower_case(&name.decode().to_bytes())?;
            if ends_in_a_number(&name) {
                let address = ipv4(&name).ok_or(UrlFault::Host)?;
                return Ok(ip(address.into(), address.to_string()));
            }
            let address = Address::of_name(&name);
            Ok((name, address))
        }
        _ => Err(UrlFault::Host),
    }
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

/// The text of WHATWG URL §3.5, which knows no dotted form.
fn ipv6_text(address: Ipv6Addr) -> String {
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] => format!("::ffff:{high:x}:{low:x}"),
        _ => address.to_string(),
    }
}

/// The forbidden domain code points of WHATWG URL §3.2.
const fn is_forbidden(byte: u8) -> bool {
    matches!(byte, 0..=b' ' | 0x7f | b'#' | b'%' | b'/' | b':' | b'<' | b'>' | b'?' | b'@' | b'[' | b'\\' | b']' | b'^' | b'|')
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
    let numbers: Vec<u64> = name.split('.').map(number).collect::<Option<_>>()?;
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
