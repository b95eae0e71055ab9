//! References as RFC 3986 §4.1 writes them, cut into their parts, and their normal form (§6.2.2).

use alloc::string::String;
use core::fmt::Write;

use crate::text;

/// What stands where something else is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// a character that is not allowed there, or the end of the text
    Character,
    /// a `%` without two hexadecimal digits
    PercentEncoding,
    /// brackets that hold no IPv6 address
    Address,
}

/// Why a text is no reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) kind: FaultKind,
    /// the place, in bytes
    pub(super) at: usize,
}

/// A host as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Host<'a> {
    /// a name or an IPv4 address
    Name(&'a str),
    /// an IPv6 address
    Ipv6([u16; 8]),
}

/// What follows two slashes (RFC 3986 §3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Authority<'a> {
    pub(super) has_user_information: bool,
    pub(super) host: Host<'a>,
    /// the digits, which may be none
    pub(super) port: &'a str,
}

/// The parts of a reference; its fragment is checked and dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reference<'a> {
    pub(super) scheme: Option<&'a str>,
    pub(super) authority: Option<Authority<'a>>,
    pub(super) path: &'a str,
    pub(super) query: Option<&'a str>,
}

/// What user information, paths and queries hold besides unreserved characters, sub-delimiters and percent-encoding.
const IN_USER_INFORMATION: &[u8] = b":";
const IN_FIRST_SEGMENT: &[u8] = b"@";
const IN_PATH: &[u8] = b":@/";
const IN_QUERY: &[u8] = b":@/?";

impl<'a> Reference<'a> {
    /// Cuts a text into its parts.
    ///
    /// # Errors
    /// The first place where it is no reference.
    pub(super) fn read(text: &'a str) -> Result<Self, Fault> {
        let mut reader = Reader { text, at: 0 };
        reader.skip_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
        let scheme = if reader.peek() == Some(b':') {
            Some(reader.since(0)).filter(|scheme| scheme.starts_with(|first: char| first.is_ascii_alphabetic()))
        } else {
            None
        };
        reader.at = match scheme {
            Some(scheme) => scheme.len() + 1,
            None if reader.peek() == Some(b':') => return Err(Fault { kind: FaultKind::Character, at: 0 }),
            None => 0,
        };
        let authority = if reader.skip("//") { Some(reader.authority()?) } else { None };
        let path_start = reader.at;
        if scheme.is_none() && authority.is_none() {
            // The first segment of a relative path holds no colon: it would be a scheme.
            reader.skip_part(IN_FIRST_SEGMENT)?;
            if reader.peek() == Some(b':') {
                return Err(reader.fault(FaultKind::Character));
            }
        }
        reader.skip_part(IN_PATH)?;
        let path = reader.since(path_start);
        if authority.is_some() && !path.is_empty() && !path.starts_with('/') {
            return Err(Fault { kind: FaultKind::Character, at: path_start });
        }
        let mut query = None;
        if reader.skip("?") {
            let start = reader.at;
            reader.skip_part(IN_QUERY)?;
            query = Some(reader.since(start));
        }
        if reader.skip("#") {
            reader.skip_part(IN_QUERY)?;
        }
        if reader.peek().is_some() {
            Err(reader.fault(FaultKind::Character))
        } else {
            Ok(Self { scheme, authority, path, query })
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn fault(&self, kind: FaultKind) -> Fault {
        Fault { kind, at: self.at }
    }

    fn skip(&mut self, token: &str) -> bool {
        let is_there = self.text.get(self.at..).is_some_and(|rest| rest.starts_with(token));
        self.at += if is_there { token.len() } else { 0 };
        is_there
    }

    fn skip_while(&mut self, is_wanted: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&is_wanted) {
            self.at += 1;
        }
    }

    /// Skips a part of a reference up to the first character that it cannot hold.
    fn skip_part(&mut self, also: &[u8]) -> Result<(), Fault> {
        loop {
            self.skip_while(|byte| is_unreserved(byte) || b"!$&'()*+,;=".contains(&byte) || also.contains(&byte));
            if self.peek() != Some(b'%') {
                return Ok(());
            }
            if encoded(self.text.as_bytes(), self.at).is_none() {
                return Err(self.fault(FaultKind::PercentEncoding));
            }
            self.at += 3;
        }
    }

    /// User information, host and port, whose borders show only afterwards.
    fn authority(&mut self) -> Result<Authority<'a>, Fault> {
        let start = self.at;
        self.skip_part(IN_USER_INFORMATION)?;
        let (end, has_user_information) = (self.at, self.skip("@"));
        if has_user_information || end == start {
            let host = if self.skip("[") { self.ipv6()? } else { self.name()? };
            let port = self.port();
            return Ok(Authority { has_user_information, host, port });
        }
        let whole = self.since(start);
        let (name, port) = whole.split_once(':').unwrap_or((whole, ""));
        if port.as_bytes().contains(&b':') {
            let last = whole.rfind(':').unwrap_or_default();
            return Err(Fault { kind: FaultKind::Character, at: start + last });
        }
        if let Some(at) = port.bytes().position(|byte| !byte.is_ascii_digit()) {
            return Err(Fault { kind: FaultKind::Character, at: start + name.len() + 1 + at });
        }
        Ok(Authority { has_user_information, host: Host::Name(name), port })
    }

    fn name(&mut self) -> Result<Host<'a>, Fault> {
        let start = self.at;
        self.skip_part(b"")?;
        Ok(Host::Name(self.since(start)))
    }

    fn port(&mut self) -> &'a str {
        let start = self.at;
        if !self.skip(":") {
            return "";
        }
        self.skip_while(|byte| byte.is_ascii_digit());
        self.since(start + 1)
    }

    /// An address and its closing bracket.
    fn ipv6(&mut self) -> Result<Host<'a>, Fault> {
        let start = self.at;
        self.skip_while(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.'));
        let address = ipv6(self.since(start)).ok_or(Fault { kind: FaultKind::Address, at: start })?;
        if self.skip("]") { Ok(Host::Ipv6(address)) } else { Err(self.fault(FaultKind::Character)) }
    }
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// The byte that is percent-encoded at a place.
fn encoded(bytes: &[u8], at: usize) -> Option<u8> {
    let digit = |place: usize| char::from(*bytes.get(at + place)?).to_digit(16);
    u8::try_from(digit(1)? << 4 | digit(2)?).ok().filter(|_| bytes.get(at) == Some(&b'%'))
}

/// Eight groups of hexadecimal digits, of which `::` leaves out zeros and the last two may be written as an IPv4 address
/// (RFC 3986 §3.2.2).
fn ipv6(text: &str) -> Option<[u16; 8]> {
    let (head, tail) = match crate::text::split_once(text, "::") {
        Some((head, tail)) => (head, Some(tail)),
        None => (text, None),
    };
    let mut address = [0; 8];
    let leading = groups(head, tail.is_none(), &mut address)?;
    let Some(tail) = tail else { return (leading == 8).then_some(address) };
    let mut end = [0; 8];
    let trailing = groups(tail, true, &mut end)?;
    let left_out = 8_usize.checked_sub(leading + trailing).filter(|zeros| *zeros > 0)?;
    for (group, value) in address.iter_mut().skip(leading + left_out).zip(end) {
        *group = value;
    }
    Some(address)
}

/// Reads groups, and tells how many there are. An IPv4 address stands at the end alone.
fn groups(text: &str, is_end: bool, into: &mut [u16; 8]) -> Option<usize> {
    if text.is_empty() {
        return Some(0);
    }
    let (mut count, mut pieces) = (0, text.split(':').peekable());
    while let Some(piece) = pieces.next() {
        if is_end && pieces.peek().is_none() && piece.as_bytes().contains(&b'.') {
            let [a, b, c, d] = ipv4(piece)?;
            *into.get_mut(count)? = u16::from_be_bytes([a, b]);
            *into.get_mut(count + 1)? = u16::from_be_bytes([c, d]);
            return Some(count + 2);
        }
        let digits = piece.bytes().all(|byte| byte.is_ascii_hexdigit()) && (1..=4).contains(&piece.len());
        *into.get_mut(count)? = u16::from_str_radix(piece, 16).ok().filter(|_| digits)?;
        count += 1;
    }
    Some(count)
}

/// Four decimal numbers without zeros before them.
fn ipv4(text: &str) -> Option<[u8; 4]> {
    let (mut octets, mut pieces) = ([0; 4], text.split('.'));
    for octet in &mut octets {
        let piece = pieces.next()?;
        let plain = piece.bytes().all(|byte| byte.is_ascii_digit()) && (piece == "0" || !piece.starts_with('0'));
        *octet = text::whole(piece).and_then(|octet| u8::try_from(octet).ok()).filter(|_| plain)?;
    }
    pieces.next().is_none().then_some(octets)
}

/// Appends a part with unreserved characters decoded, every other percent-encoding in capital letters.
pub(super) fn normalize(out: &mut String, part: &str) {
    let mut rest = part;
    while let Some((plain, tail)) = rest.split_once('%') {
        out.push_str(plain);
        let at = part.len() - tail.len() - 1;
        match encoded(part.as_bytes(), at) {
            Some(byte) if is_unreserved(byte) => out.push(char::from(byte)),
            Some(byte) => {
                let _ = write!(out, "%{byte:02X}");
            }
            None => out.push('%'),
        }
        rest = tail.get(2..).unwrap_or_default();
    }
    out.push_str(rest);
}

/// The bytes of a part, percent-encoding undone.
pub(crate) fn decode(part: &str) -> alloc::vec::Vec<u8> {
    let bytes = part.as_bytes();
    let (mut out, mut at) = (alloc::vec::Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        match encoded(bytes, at) {
            Some(byte) => (out.push(byte), at += 3),
            None => (out.push(*byte), at += 1),
        };
    }
    out
}

/// A path without the segments `.` and `..` (RFC 3986 §5.2.4). The path begins with a slash.
pub(super) fn without_dot_segments(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for segment in path.split_inclusive('/') {
        match segment.strip_suffix('/').unwrap_or(segment) {
            "." => {}
            ".." => {
                let parent = out.strip_suffix('/').and_then(|out| out.rfind('/')).map_or(1, |slash| slash + 1);
                out.truncate(parent.min(out.len()));
            }
            _ => out.push_str(segment),
        }
    }
    out
}
