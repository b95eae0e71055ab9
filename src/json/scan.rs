//! Passes over JSON text (RFC 8259): whether it is valid, and where the values inside it stand. None recurses.

use alloc::string::String;
use alloc::vec::Vec;

use memchr::{memchr, memchr2};

use super::write::to_escape;
use super::{Fault, Raw};

/// The one JSON value that the text is, without the white space around it.
pub(super) fn check(text: &str, depth: u32) -> Result<Raw<'_>, Fault> {
    let bytes = text.as_bytes();
    let (start, mut too_deep) = (skip_space(bytes, 0), false);
    let end = end_of_checked_value(bytes, start, depth, &mut too_deep);
    let whole = end.filter(|end| skip_space(bytes, *end) == bytes.len()).and_then(|end| text.get(start..end));
    whole.map(Raw).ok_or(if too_deep { Fault::Depth } else { Fault::Syntax })
}

/// Where the value ends that begins at `at`; none where it is no JSON, or nests deeper than that.
fn end_of_checked_value(bytes: &[u8], mut at: usize, depth: u32, too_deep: &mut bool) -> Option<usize> {
    // The closing brackets of what is open.
    let mut open: Vec<u8> = Vec::new();
    loop {
        let first = *bytes.get(at)?;
        match first {
            b'{' | b'[' => {
                // In ASCII the closing bracket is the second character after the opening one.
                let close = first + 2;
                *too_deep = open.len() >= depth as usize;
                if *too_deep {
                    return None;
                }
                at = skip_space(bytes, at + 1);
                if bytes.get(at) == Some(&close) {
                    at += 1;
                } else {
                    open.push(close);
                    at = if close == b'}' { skip_name(bytes, at)? } else { at };
                    continue;
                }
            }
            b'"' => at = end_of_checked_string(bytes, at)?,
            b'-' | b'0'..=b'9' => at = end_of_number(bytes, at)?,
            _ => {
                let rest = bytes.get(at..)?;
                let literal = ["true", "false", "null"].into_iter().find(|literal| rest.starts_with(literal.as_bytes()));
                at += literal?.len();
            }
        }
        // A value has ended: what may follow it depends on what is open around it.
        loop {
            let Some(close) = open.last().copied() else { return Some(at) };
            at = skip_space(bytes, at);
            let next = *bytes.get(at)?;
            at += 1;
            if next == b',' {
                at = skip_space(bytes, at);
                at = if close == b'}' { skip_name(bytes, at)? } else { at };
                break;
            }
            if next != close {
                return None;
            }
            open.pop();
        }
    }
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\r' | b'\n') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Where the value of the member begins whose name stands at `at`.
fn skip_name(bytes: &[u8], at: usize) -> Option<usize> {
    let at = skip_space(bytes, end_of_checked_string(bytes, at)?);
    (bytes.get(at) == Some(&b':')).then(|| skip_space(bytes, at + 1))
}

/// Where the string ends that begins at `at`, after its closing quote; none where it is not valid.
fn end_of_checked_string(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = (bytes.get(at) == Some(&b'"')).then_some(at + 1)?;
    loop {
        at += to_escape(bytes.get(at..)?)?;
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => {}
            _ => return None,
        }
        at += match bytes.get(at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
            b'u' if bytes.get(at + 2..at + 6)?.iter().all(u8::is_ascii_hexdigit) => 6,
            _ => return None,
        };
    }
}

/// Where the number ends that begins at `at` (RFC 8259 §6).
fn end_of_number(bytes: &[u8], at: usize) -> Option<usize> {
    let at = at + usize::from(bytes.get(at) == Some(&b'-'));
    let mut at = if bytes.get(at) == Some(&b'0') { at + 1 } else { end_of_digits(bytes, at)? };
    if bytes.get(at) == Some(&b'.') {
        at = end_of_digits(bytes, at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let signed = matches!(bytes.get(at + 1), Some(b'+' | b'-'));
        at = end_of_digits(bytes, at + 1 + usize::from(signed))?;
    }
    Some(at)
}

fn end_of_digits(bytes: &[u8], at: usize) -> Option<usize> {
    let digits = bytes.get(at..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (digits > 0).then_some(at + digits)
}

/// Where the string that begins at `start` ends, after its closing quote.
#[must_use]
pub fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
        match bytes.get(at) {
            Some(b'"') => return Some(at + 1),
            Some(_) | None => at += 2,
        }
    }
}

/// The values inside an array, or the names and values inside an object in turn.
pub(super) struct Inside<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Inside<'a> {
    pub(super) fn new(raw: Raw<'a>) -> Self {
        Self { text: raw.get(), at: 1 }
    }
}

impl<'a> Iterator for Inside<'a> {
    type Item = Raw<'a>;

    fn next(&mut self) -> Option<Raw<'a>> {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\t' | b'\r' | b'\n' | b',' | b':') = bytes.get(self.at) {
            self.at += 1;
        }
        let start = self.at;
        self.at = end_of_valid_value(bytes, start);
        self.text.get(start..self.at).filter(|value| !value.is_empty()).map(Raw)
    }
}

/// Where the value ends that begins at `start` in valid text; `start` itself where the closing bracket stands there.
fn end_of_valid_value(bytes: &[u8], start: usize) -> usize {
    let (mut open, mut at) = (0_u32, start);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = string_end(bytes, at).unwrap_or(bytes.len());
                continue;
            }
            b'{' | b'[' => open += 1,
            b'}' | b']' | b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' if open == 0 => break,
            b'}' | b']' => open -= 1,
            _ => {}
        }
        at += 1;
    }
    at
}

/// What stands between the quotes of a string.
fn inside_quotes(quoted: &str) -> &str {
    let bytes = quoted.as_bytes();
    let start = usize::from(bytes.first() == Some(&b'"'));
    let end = bytes.len() - usize::from(bytes.len() > start && bytes.last() == Some(&b'"'));
    quoted.get(start..end).unwrap_or(quoted)
}

/// The content of a quoted string that holds no escapes.
pub(super) fn plain(quoted: &str) -> Option<&str> {
    memchr(b'\\', quoted.as_bytes()).is_none().then(|| inside_quotes(quoted))
}

/// The content of a quoted string, and whether every escape was a character: what is none becomes U+FFFD.
pub(super) fn unescape(quoted: &str) -> (String, bool) {
    if let Some(content) = plain(quoted) {
        return (content.into(), true);
    }
    let mut rest = inside_quotes(quoted);
    let mut out = String::with_capacity(rest.len());
    // The first half of a surrogate pair whose second half has not come.
    let (mut half, mut exact) = (None::<u32>, true);
    loop {
        let plain = memchr(b'\\', rest.as_bytes()).unwrap_or(rest.len());
        let (plain, tail) = rest.split_at_checked(plain).unwrap_or((rest, ""));
        let (code, after) = escape(tail);
        let pair = match (half, code) {
            (Some(high), Some(low @ 0xdc00..0xe000)) if plain.is_empty() => {
                Some(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00))
            }
            (_, code) => {
                if half.is_some() {
                    out.push(char::REPLACEMENT_CHARACTER);
                    exact = false;
                }
                out.push_str(plain);
                code
            }
        };
        half = pair.filter(|code| (0xd800..0xdc00).contains(code));
        let Some(code) = pair else { break };
        if half.is_none() {
            exact &= char::from_u32(code).is_some();
            out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        rest = after;
    }
    (out, exact)
}

/// The code point or the half of one that the text begins with an escape of, and the rest; none at the end of the text.
fn escape(text: &str) -> (Option<u32>, &str) {
    let mut chars = text.chars();
    if chars.next().is_none() {
        return (None, "");
    }
    let code = match chars.next() {
        Some('n') => 0x0a,
        Some('t') => 0x09,
        Some('r') => 0x0d,
        Some('b') => 0x08,
        Some('f') => 0x0c,
        Some('u') => {
            let hex = text.get(2..6).filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
            let code = hex.and_then(|hex| u32::from_str_radix(hex, 16).ok());
            return match code {
                Some(code) => (Some(code), text.get(6..).unwrap_or_default()),
                None => (Some(u32::from(char::REPLACEMENT_CHARACTER)), chars.as_str()),
            };
        }
        Some(other) => u32::from(other),
        None => u32::from(char::REPLACEMENT_CHARACTER),
    };
    (Some(code), chars.as_str())
}
