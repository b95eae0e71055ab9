//! One pass over a text: each run of token characters is looked at once, and a few marks say where else to look.

use alloc::vec::Vec;

use super::super::rule::{Rule, Rules};
use super::{nested, numbers, opaque, pairs, prefixes};

/// Letters, digits, `-` and `_`.
const WORD: u8 = 1;
/// What a token is made of: words, `+` and `/`.
const TOKEN: u8 = 2;
/// A mark that something may stand before or after.
const MARK: u8 = 4;
/// A digit: numbers are short words that are looked at.
const DIGIT: u8 = 8;
/// A digit of base64 that may be the first of a group of four which stands for a text in ASCII; and the two bits above it, the same
/// of the second and of the third.
pub(super) const FIRST: u8 = 16;
/// A mark in a word, behind which something may begin.
const DASH: u8 = 128;

/// The scheme of most credentials.
const SCHEME: &[u8] = b"bearer";
/// Shorter words hold no token.
const SHORTEST_TOKEN: usize = 16;

static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        let word = byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let token = word || byte == b'+' || byte == b'/';
        let mark = matches!(byte, b':' | b'=' | b'@' | b'(' | b'%' | b'&' | b'\\');
        let mut class = if word { WORD } else { 0 };
        class |= if token { TOKEN } else { 0 };
        class |= if mark { MARK } else { 0 };
        class |= if byte.is_ascii_digit() { DIGIT } else { 0 };
        class |= if byte == b'-' || byte == b'_' { DASH } else { 0 };
        if token {
            let value = nested::base64(byte);
            // Neither is it a character of control, but for tabs and the ends of lines, as far as the digit tells.
            let first = matches!(value, 2 | 3 | 8..=31);
            let (second, third) = (matches!(value & 15, 0 | 2..=7), value & 2 == 0);
            class |= FIRST * (first as u8 | (second as u8) << 1 | (third as u8) << 2);
        }
        #[expect(clippy::indexing_slicing, reason = "evaluated when it is compiled")]
        {
            table[byte as usize] = class;
        }
        byte += 1;
    }
    table
}

pub(super) fn class(byte: u8) -> u8 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(0)
}

/// The byte at a place, 0 where there is none.
pub(super) fn byte(text: &[u8], at: usize) -> u8 {
    text.get(at).copied().unwrap_or(0)
}

/// The byte before a place, 0 where there is none. A letter that is escaped there stands for a mark.
pub(super) fn before(text: &[u8], at: usize) -> u8 {
    let Some(at) = at.checked_sub(1) else { return 0 };
    let letter = byte(text, at);
    let escaped = is_escape(letter) && at.checked_sub(1).is_some_and(|at| byte(text, at) == b'\\');
    if escaped { b'\n' } else { letter }
}

/// Letters that stand for a mark after a backslash.
fn is_escape(letter: u8) -> bool {
    matches!(letter, b'n' | b'r' | b't' | b'b' | b'f')
}

/// What is left to do of a text.
struct Scan<'a> {
    text: &'a [u8],
    wanted: Rules,
    found: Rules,
    /// Tokens that may be the encoding of something.
    long: Vec<(usize, usize)>,
    /// Something is written by number.
    escaped: bool,
    /// Where the last token with a known prefix ends.
    named: usize,
    /// Host and path of the URL that was met last: what stands in them is an address.
    address: (usize, usize),
}

/// The rules that fire on a text, of those that are wanted. `layer` counts the encodings that were taken off, `budget` the
/// bytes that may still be decoded.
pub(super) fn scan(text: &[u8], wanted: Rules, layer: u32, budget: &mut usize) -> Rules {
    let mut scan = Scan { text, wanted, found: Rules::NONE, long: Vec::new(), escaped: false, named: 0, address: (0, 0) };
    scan.pass();
    let is_open = wanted.has(Rule::WellKnownPrefix) && !scan.found.has(Rule::WellKnownPrefix);
    if is_open && layer < nested::LAYERS && nested::holds(text, &scan.long, scan.escaped, layer, budget) {
        scan.found.add(Rule::WellKnownPrefix);
    }
    scan.found
}

impl Scan<'_> {
    fn pass(&mut self) {
        let mut at = 0;
        while let Some(byte) = self.text.get(at) {
            let class = class(*byte);
            at = if class & TOKEN != 0 {
                self.token(at)
            } else if class & MARK != 0 {
                self.mark(at, *byte)
            } else {
                at + 1
            };
        }
    }

    fn lacks(&self, rule: Rule) -> bool {
        self.wanted.has(rule) && !self.found.has(rule)
    }

    fn find(&mut self, rules: Rules) {
        self.found = self.found.with(rules.and(self.wanted));
    }

    /// A run of token characters; gives its end.
    fn token(&mut self, start: usize) -> usize {
        let (mut word, mut at, mut seen) = (start, start, 0);
        for byte in self.text.get(start..).unwrap_or_default() {
            let class = class(*byte);
            if class & WORD == 0 {
                if class & TOKEN == 0 {
                    break;
                }
                self.word(word, at, seen & DASH != 0);
                (word, seen) = (at + 1, 0);
            }
            seen |= class;
            at += 1;
        }
        self.word(word, at, seen & DASH != 0);
        if byte(self.text, start) == b'+' && self.lacks(Rule::PiiPhone) && numbers::is_international(self.text, start) {
            self.found.add(Rule::PiiPhone);
        }
        if at - start >= nested::SHORTEST {
            self.long.push((start, at));
            let in_address = start >= self.address.0 && at <= self.address.1;
            let explained = in_address || self.named > start;
            if self.lacks(Rule::OpaqueToken) && !explained && opaque::is_opaque(self.text, start, at) {
                self.found.add(Rule::OpaqueToken);
            }
        }
        at
    }

    fn word(&mut self, start: usize, end: usize, dashed: bool) {
        let long = end - start >= SHORTEST_TOKEN;
        // Three prefixes go on after a mark and may be the end of a short word.
        if matches!((byte(self.text, end), byte(self.text, end.wrapping_sub(1))), (b'.', b'9' | b'G') | (b' ', b'N')) {
            let word = self.text.get(start..end).unwrap_or_default();
            for prefix in ["ya29", "SG", "-----BEGIN"].iter().filter(|prefix| word.ends_with(prefix.as_bytes())) {
                self.begin(end - prefix.len());
            }
        }
        // The scheme of a credential is known where nothing stands before it, too (RFC 6750 §2.1).
        if end - start == SCHEME.len() && byte(self.text, end) == b' ' && self.lacks(Rule::AuthorizationLiteral) {
            let word = self.text.get(start..end).unwrap_or_default();
            if word.eq_ignore_ascii_case(SCHEME) && pairs::is_bare_credential(self.text, end) {
                self.found.add(Rule::AuthorizationLiteral);
            }
        }
        if !long && class(byte(self.text, start)) & DIGIT == 0 {
            return;
        }
        self.begin(start);
        if !long || !dashed {
            return;
        }
        let mut at = start + 1;
        while at < end {
            if matches!(before(self.text, at), b'-' | b'_') {
                self.begin(at);
            }
            at += 1;
        }
    }

    /// Something may begin here.
    fn begin(&mut self, at: usize) {
        if let Some(length) = prefixes::length_at(self.text, at) {
            self.find(Rules::only(Rule::WellKnownPrefix));
            self.named = at + length;
        }
        if byte(self.text, at).is_ascii_digit() {
            self.find(numbers::rules(self.text, at, self.wanted.without(self.found)));
        }
    }

    /// A mark, and what stands around it; gives where to go on.
    fn mark(&mut self, at: usize, mark: u8) -> usize {
        match mark {
            b':' | b'=' => {
                if mark == b':' && self.text.get(at + 1..at + 3) == Some(b"//") {
                    self.address = pairs::address(self.text, at + 3);
                    return at + 1;
                }
                self.find(pairs::rules(self.text, at, self.wanted.without(self.found)));
            }
            b'@' => self.find(pairs::at_sign(self.text, at, self.wanted.without(self.found))),
            b'(' if self.lacks(Rule::PiiPhone) && numbers::is_in_parentheses(self.text, at) => self.found.add(Rule::PiiPhone),
            b'%' => self.escaped |= byte(self.text, at + 1).is_ascii_hexdigit(),
            b'&' => self.escaped |= byte(self.text, at + 1) == b'#',
            b'\\' => {
                // A letter after a backslash is no part of the word that follows.
                let letter = byte(self.text, at + 1);
                self.escaped |= matches!(letter, b'u' | b'x');
                return at + 1 + usize::from(is_escape(letter) || letter == b'\\');
            }
            _ => {}
        }
        at + 1
    }
}
