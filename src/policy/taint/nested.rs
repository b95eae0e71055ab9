//! What an encoding hides: base64, hex, percent and character references, taken off and looked at again.

use alloc::vec::Vec;

use memchr::memchr;

use super::super::rule::{Rule, Rules};
use super::scan::{FIRST, byte, class, scan};

/// How many encodings are taken off.
pub(super) const LAYERS: u32 = 2;
/// How many bytes of what is decoded are looked at for each text.
pub(super) const BYTES: usize = 64 << 10;
/// The shortest token with a known prefix takes as many characters in base64.
pub(super) const SHORTEST: usize = 24;
/// Fewer bytes hold no token.
const FEWEST: usize = 16;

/// Whether a token with a known prefix is found in what the long tokens or the whole text decode to.
pub(super) fn holds(text: &[u8], long: &[(usize, usize)], escaped: bool, layer: u32, budget: &mut usize) -> bool {
    let mut buffer = Vec::new();
    if escaped {
        unescape(text, &mut buffer, *budget);
        // Where nothing was undone it would be the same once more.
        if buffer.len() < text.len() && look(&mut buffer, layer, budget) {
            return true;
        }
        buffer.clear();
    }
    for (start, end) in long {
        let token = text.get(*start..*end).unwrap_or_default();
        if of_hex(token, &mut buffer, layer, budget) || of_base64(token, &mut buffer, layer, budget) {
            return true;
        }
    }
    let mut joined = Vec::new();
    let mut at = 0;
    while let Some(end) = next_line_end(text, at) {
        at = wrapped(text, end, &mut joined).max(end + 1);
        let is_new = joined.len() >= SHORTEST;
        if is_new && (of_hex(&joined, &mut buffer, layer, budget) || of_base64(&joined, &mut buffer, layer, budget)) {
            return true;
        }
    }
    false
}

/// Where the next line ends, from a place on; the last one ends nowhere.
fn next_line_end(text: &[u8], from: usize) -> Option<usize> {
    memchr(b'\n', text.get(from..)?).map(|at| from + at)
}

/// What stands around the end of a line and is cut by it, in one piece with what the lines after it are made of, as long as
/// they are of nothing else. Gives where that ends.
fn wrapped(text: &[u8], mut end: usize, joined: &mut Vec<u8>) -> usize {
    joined.clear();
    let before = text.get(..end).unwrap_or_default().trim_ascii_end();
    let length = before.iter().rev().take_while(|byte| is_digit(**byte)).count();
    joined.extend_from_slice(before.get(before.len() - length..).unwrap_or_default());
    while joined.len() >= FEWEST_IN_LINE && byte(text, end) == b'\n' {
        let rest = text.get(end + 1..).unwrap_or_default();
        let blank = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let piece = rest.get(blank..).unwrap_or_default();
        let length = piece.iter().take_while(|byte| is_digit(**byte)).count();
        joined.extend_from_slice(piece.get(..length).unwrap_or_default());
        end += 1 + blank + length;
        end += usize::from(byte(text, end) == b'\r');
        if length == 0 {
            break;
        }
    }
    end
}

/// Fewer digits in a line are no piece of something that was wrapped.
const FEWEST_IN_LINE: usize = 4;

/// Whether something is a digit of base64 in either alphabet.
const fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// Looks at what was decoded, and empties it.
fn look(buffer: &mut Vec<u8>, layer: u32, budget: &mut usize) -> bool {
    if buffer.len() < FEWEST || *budget == 0 {
        buffer.clear();
        return false;
    }
    *budget = budget.saturating_sub(buffer.len());
    let found = !scan(buffer, Rules::only(Rule::WellKnownPrefix), layer + 1, budget).is_empty();
    buffer.clear();
    found
}

fn of_hex(token: &[u8], buffer: &mut Vec<u8>, layer: u32, budget: &mut usize) -> bool {
    let digits = token.strip_prefix(b"0x").unwrap_or(token);
    if digits.len() < 2 * FEWEST || !digits.iter().all(u8::is_ascii_hexdigit) {
        return false;
    }
    for pair in digits.as_chunks::<2>().0.iter().take(*budget) {
        buffer.push(pair.iter().fold(0, |value, digit| value << 4 | hex(*digit).unwrap_or(0)));
    }
    look(buffer, layer, budget)
}

/// 20 digits in a row hold the fewest bytes which are looked at, wherever in a group of four these begin. They are counted
/// four at a time, so that up to three are not met yet.
const DIGITS: u32 = 20 - 3;

/// Which places of a digit may begin a group of four. The texts looked for are ASCII, which shows in the highest bits of each
/// byte: those of the first stand in the first digit of a group, those of the second in the second, and so on.
fn places(token: &[u8]) -> [bool; 4] {
    /// Each lane counts for one place: how many digits in a row may be part of a text.
    const EACH: u32 = u32::from_ne_bytes([1; 4]);
    let (mut runs, mut found) = (0_u32, 0_u32);
    let lanes = |digit: u8| LANES.get(usize::from((class(digit) / FIRST) & 7)).copied().unwrap_or(0);
    for [one, two, three, four] in token.as_chunks::<4>().0 {
        runs = (runs + EACH) & lanes(*one);
        runs = (runs + EACH) & lanes(*two).rotate_left(8);
        runs = (runs + EACH) & lanes(*three).rotate_left(16);
        runs = (runs + EACH) & lanes(*four).rotate_left(24);
        let full = (runs + EACH * (0x80 - DIGITS)) & (EACH * 0x80);
        found |= full;
        // What is full counts anew, so that no lane runs over.
        runs &= !(full >> 7).wrapping_mul(0xff);
    }
    found.to_le_bytes().map(|lane| lane != 0)
}

/// The lanes of the places for which the first digit of a token fits, by what it may be: the first of a group, the second
/// and the third. It is the last of a group for the second lane, where any digit fits.
static LANES: [u32; 8] = {
    let (first, second, third, any) = (0xff, 0xff00_0000, 0x00ff_0000, 0xff00);
    [any, any | first, any | second, any | second | first, any | third, any | third | first, any | third | second, u32::MAX]
};

/// Base64 of either alphabet. Something may stand right before what was encoded, so every place of a digit in its group of
/// four is tried. The texts looked for are ASCII: other bytes end a piece.
fn of_base64(token: &[u8], buffer: &mut Vec<u8>, layer: u32, budget: &mut usize) -> bool {
    for (skipped, _) in places(token).iter().enumerate().filter(|(_, may)| **may) {
        let (mut bits, mut count) = (0_u32, 0_u32);
        for digit in token.iter().skip(skipped) {
            bits = bits << 6 | u32::from(base64(*digit));
            count += 6;
            if count < 8 {
                continue;
            }
            count -= 8;
            let byte = (bits >> count & 0xff) as u8;
            if byte.is_ascii() {
                buffer.push(byte);
            } else if buffer.len() < FEWEST {
                buffer.clear();
            } else if look(buffer, layer, budget) {
                return true;
            }
            if buffer.len() >= *budget {
                break;
            }
        }
        if look(buffer, layer, budget) {
            return true;
        }
    }
    false
}

pub(super) const fn base64(digit: u8) -> u8 {
    match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' | b'-' => 62,
        _ => 63,
    }
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// Percent-encoding (RFC 3986 §2.1), numeric character references (WHATWG HTML §13.5), and the escapes of JSON strings.
fn unescape(text: &[u8], out: &mut Vec<u8>, most: usize) {
    let mut at = 0;
    while let Some(found) = text.get(at).filter(|_| out.len() < most) {
        let (code, length) = match (found, byte(text, at + 1)) {
            (b'%', _) => number(text, at + 1, 16, 2, 2),
            (b'&', b'#') => reference(text, at),
            (b'\\', b'u') => number(text, at + 2, 16, 4, 4),
            (b'\\', b'x') => number(text, at + 2, 16, 2, 2),
            _ => None,
        }
        .unwrap_or((u32::from(*found), at + 1));
        // What is no ASCII is no part of a token.
        out.push(u8::try_from(code).unwrap_or(b' '));
        at = length;
    }
}

/// The number that the digits stand for, and where they end.
fn number(text: &[u8], start: usize, radix: u32, least: usize, most: usize) -> Option<(u32, usize)> {
    let (mut value, mut at) = (0_u32, start);
    while at < start + most {
        let Some(digit) = text.get(at).and_then(|byte| char::from(*byte).to_digit(radix)) else { break };
        (value, at) = (value * radix + digit, at + 1);
    }
    (at >= start + least).then_some((value, at))
}

fn reference(text: &[u8], at: usize) -> Option<(u32, usize)> {
    let (code, end) = match byte(text, at + 2) {
        b'x' | b'X' => number(text, at + 3, 16, 1, 6),
        _ => number(text, at + 2, 10, 1, 7),
    }?;
    Some((code, end + usize::from(byte(text, end) == b';')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base64;

    #[test]
    fn every_place_where_a_text_may_begin_is_known() {
        for text in [&b"0123456789abcdef"[..], b"~~~~~~~~~~~~~~~~", b"\t            \r\n\n", b"ghp_xxxxxxxxxxxxxxxxxxxxx"] {
            for (bytes, digits) in (0..9).flat_map(|bytes| (0..9).map(move |digits| (bytes, digits))) {
                let whole = [&[0xff; 9][..bytes], text, &[0xff; 4]].concat();
                let token = "/".repeat(digits) + base64::encode(&whole).trim_end_matches('=');
                assert!(places(token.as_bytes())[digits & 3], "{token}");
            }
        }
    }

    #[test]
    fn what_is_no_text_is_not_decoded() {
        let image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAABJRU5ErkJggg";
        assert_eq!(places(image.as_bytes()), [false; 4]);
    }
}
