//! Numbers that belong to persons: telephones, payment cards, social security.

use super::super::rule::{Rule, Rules};
use super::scan::{before, byte};

/// Groups of digits that are looked at together.
const GROUPS: usize = 6;
/// Digits of the longest number.
const DIGITS: usize = 19;

/// First digits of payment cards, as a range, and how many digits their numbers have (ISO/IEC 7812, the issuers' own
/// tables). 13 digits and more, as shorter ones are too often something else.
const CARDS: &str = "34-34:15 37-37:15 300-305:14 36-36:14 38-39:14 4-4:13 4-4:16 4-4:19 51-55:16 2221-2720:16 \
6011-6011:16 644-649:16 65-65:16 65-65:19 3528-3589:16 62-62:16 62-62:17 62-62:18 62-62:19 \
5018-5018:16 5020-5020:16 5038-5038:16 5893-5893:16 6304-6304:16 6759-6759:16 6761-6763:16 ";

/// Digits in groups, as they are written.
#[derive(Default)]
struct Written {
    digits: [u8; DIGITS],
    total: usize,
    lengths: [u8; GROUPS],
    /// What stands after each group; `(` for anything with a parenthesis, 0 where no digit follows.
    marks: [u8; GROUPS],
    /// Where each group ends.
    ends: [usize; GROUPS],
    count: usize,
}

impl Written {
    /// Reads the groups that begin at a digit.
    fn read(text: &[u8], start: usize) -> Self {
        let (mut written, mut at) = (Self::default(), start);
        for group in 0..GROUPS {
            let length = text.get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count();
            let Some(place) = written.digits.get_mut(written.total..written.total + length) else { break };
            place.copy_from_slice(text.get(at..at + length).unwrap_or_default());
            written.total += length;
            at += length;
            let (mark, skipped) = separator(text, at);
            set(&mut written.lengths, group, u8::try_from(length).unwrap_or(u8::MAX));
            set(&mut written.marks, group, mark);
            set(&mut written.ends, group, at);
            written.count += 1;
            if mark == 0 {
                break;
            }
            at += skipped;
        }
        written
    }

    fn lengths(&self) -> &[u8] {
        self.lengths.get(..self.count).unwrap_or_default()
    }

    /// The marks between the first groups.
    fn between(&self, groups: usize) -> &[u8] {
        self.marks.get(..groups.saturating_sub(1)).unwrap_or_default()
    }

    /// The digits of the first groups.
    fn first(&self, groups: usize) -> &[u8] {
        let total = self.lengths.iter().take(groups).map(|length| usize::from(*length)).sum();
        self.digits.get(..total).unwrap_or_default()
    }

    fn digit(&self, at: usize) -> u8 {
        byte(&self.digits, at)
    }

    fn end(&self, groups: usize) -> usize {
        groups.checked_sub(1).and_then(|at| self.ends.get(at)).copied().unwrap_or(0)
    }
}

fn set<T>(list: &mut [T], at: usize, value: T) {
    if let Some(place) = list.get_mut(at) {
        *place = value;
    }
}

/// What stands between two groups of digits, and how long it is.
fn separator(text: &[u8], at: usize) -> (u8, usize) {
    let is_mark = |byte: &u8| matches!(byte, b' ' | b'-' | b'.' | b'/' | b'(' | b')');
    let length = text.get(at..).unwrap_or_default().iter().take(4).take_while(|byte| is_mark(byte)).count();
    let marks = text.get(at..at + length).unwrap_or_default();
    if !byte(text, at + length).is_ascii_digit() {
        return (0, 0);
    }
    match marks {
        [mark] => (*mark, 1),
        [..] if length < 4 && marks.iter().any(|mark| matches!(mark, b'(' | b')')) => (b'(', length),
        [..] => (0, 0),
    }
}

/// The rules that fire on a number that begins at a digit.
pub(super) fn rules(text: &[u8], at: usize, wanted: Rules) -> Rules {
    let mut found = Rules::NONE;
    let previous = before(text, at);
    if !has_digits(text, at) {
        return found;
    }
    if previous.is_ascii_alphanumeric()
        || !(wanted.has(Rule::PiiCreditCard) || wanted.has(Rule::PiiPhone) || wanted.has(Rule::PiiSsn))
    {
        return found;
    }
    let written = Written::read(text, at);
    // A point, a dash or a slash before it makes it a part of something longer.
    let begins = !matches!(previous, b'.' | b'-' | b'_' | b'/' | b'+');
    if previous != b'.' && wanted.has(Rule::PiiCreditCard) && is_card(text, &written) {
        found.add(Rule::PiiCreditCard);
    }
    if begins && wanted.has(Rule::PiiSsn) && is_social_security(text, &written) {
        found.add(Rule::PiiSsn);
    }
    if begins && wanted.has(Rule::PiiPhone) && (is_north_american(text, &written) || is_national(text, at, &written)) {
        found.add(Rule::PiiPhone);
    }
    found
}

/// Digits of the shortest number of a person.
const FEWEST: usize = 9;

/// Whether there are enough digits, with marks between them, for any number that is looked for.
fn has_digits(text: &[u8], at: usize) -> bool {
    let mut digits = 0;
    for byte in text.get(at..).unwrap_or_default() {
        match byte {
            b'0'..=b'9' => digits += 1,
            b' ' | b'-' | b'.' | b'/' | b'(' | b')' => {}
            _ => return false,
        }
        if digits >= FEWEST {
            return true;
        }
    }
    false
}

/// Whether a number ends at a place, and nothing longer goes on.
fn ends_at(text: &[u8], end: usize) -> bool {
    let next = byte(text, end);
    let goes_on = matches!(next, b'-' | b'.' | b'/') && byte(text, end + 1).is_ascii_digit();
    !(next.is_ascii_alphanumeric() || next == b'_' || goes_on)
}

fn is_card(text: &[u8], written: &Written) -> bool {
    (1..=written.count).any(|groups| {
        let lengths = written.lengths().get(..groups).unwrap_or_default();
        let grouped = match lengths {
            [_] => true,
            [4, 6, 4 | 5] => true,
            [first @ .., last] => groups >= 4 && first.iter().all(|length| *length == 4) && (1..=4).contains(last),
            [] => false,
        };
        let marks = written.between(groups);
        let alike = marks.iter().all(|mark| matches!(mark, b' ' | b'-') && Some(mark) == marks.first());
        let digits = written.first(groups);
        grouped && alike && is_card_number(digits) && ends_at(text, written.end(groups))
    })
}

/// Whether digits are those of a payment card, bare.
pub(super) fn is_card_number(digits: &[u8]) -> bool {
    (13..=19).contains(&digits.len()) && is_issued(digits) && passes_luhn(digits)
}

fn is_issued(digits: &[u8]) -> bool {
    let number = |text: &[u8]| text.iter().fold(0_u32, |number, digit| number * 10 + u32::from(digit & 15));
    CARDS.split_ascii_whitespace().any(|row| {
        let (range, length) = row.split_once(':').unwrap_or_default();
        let (first, last) = range.split_once('-').unwrap_or_default();
        let start = number(digits.get(..first.len()).unwrap_or_default());
        number(length.as_bytes()) as usize == digits.len()
            && (number(first.as_bytes())..=number(last.as_bytes())).contains(&start)
    })
}

/// The check digit (ISO/IEC 7812-1, annex B).
fn passes_luhn(digits: &[u8]) -> bool {
    let mut sum = 0;
    for (number, digit) in digits.iter().rev().enumerate() {
        let value = u32::from(digit & 15) << (number % 2);
        sum += if value > 9 { value - 9 } else { value };
    }
    sum % 10 == 0
}

/// Area, group and serial number, none of them zero, no area that is never given out.
fn is_social_security(text: &[u8], written: &Written) -> bool {
    let [3, 2, 4, ..] = written.lengths() else { return false };
    let digits = written.first(3);
    let never = [&b"000"[..], b"666", b"9"].iter().any(|area| digits.starts_with(area));
    let valid = !never && digits.get(3..5) != Some(b"00") && !digits.ends_with(b"0000");
    let marks = written.between(4);
    let alike = matches!(marks, [b'-', b'-', ..] | [b' ', b' ', ..]);
    let goes_on = written.count > 3 && marks.get(1) == marks.get(2);
    valid && alike && !goes_on && ends_at(text, written.end(3))
}

/// Three, three and four digits, with or without the 1 before them.
fn is_north_american(text: &[u8], written: &Written) -> bool {
    let skipped = usize::from(written.lengths().first() == Some(&1) && written.digit(0) == b'1');
    let Some([3, 3, 4, ..]) = written.lengths().get(skipped..) else { return false };
    let valid = (b'2'..=b'9').contains(&written.digit(skipped)) && (b'2'..=b'9').contains(&written.digit(skipped + 3));
    let marks = written.between(3 + skipped);
    let marked = marks.iter().all(|mark| matches!(mark, b'-' | b'.' | b' ' | b'('));
    // A part of a regulation: `252.227-7013`.
    let is_clause = marks.contains(&b'.') && marks.contains(&b'-');
    valid && marked && !is_clause && ends_at(text, written.end(3 + skipped))
}

/// A trunk zero, and two to five groups of nine to eleven digits in all; no date, no part of a row of numbers, and no postal
/// code behind a state: `MA 02110-1301`.
fn is_national(text: &[u8], at: usize, written: &Written) -> bool {
    let lengths = written.lengths();
    let in_row = before(text, at) == b' ' && before(text, at - 1).is_ascii_digit();
    let is_date = matches!(lengths, [2, 2, 4, ..]) && matches!(written.between(2), [b'-' | b'/']);
    let is_postal_code = matches!(lengths, [5, 4])
        && before(text, at) == b' '
        && before(text, at - 1).is_ascii_uppercase()
        && at >= 2
        && before(text, at - 2).is_ascii_uppercase();
    let begins =
        written.digit(0) == b'0' && written.digit(1) != b'0' && lengths.first().is_some_and(|first| (2..=5).contains(first));
    let grouped = lengths.iter().all(|length| *length >= 2) && (lengths.iter().any(|length| *length > 2) || lengths.len() == 5);
    let marks = written.between(written.count);
    let marked = marks.iter().all(|mark| matches!(mark, b' ' | b'-' | b'/' | b'('));
    let fits = (2..=5).contains(&written.count) && (9..=11).contains(&written.total);
    begins && grouped && marked && fits && !in_row && !is_date && !is_postal_code && ends_at(text, written.end(written.count))
}

/// Whether a `+` begins an international number (ITU-T E.164): eight to fifteen digits, ten at least where they stand in
/// one group.
pub(super) fn is_international(text: &[u8], plus: usize) -> bool {
    let previous = before(text, plus);
    let written = Written::read(text, plus + 1);
    let least = if written.count == 1 { 10 } else { 8 };
    let begins = !previous.is_ascii_alphanumeric() && previous != b')' && (b'1'..=b'9').contains(&written.digit(0));
    begins && (least..=15).contains(&written.total) && ends_at(text, written.end(written.count))
}

/// Whether a parenthesis holds the area of a number: `(555) 123-4567`, `(030) 1234567`.
pub(super) fn is_in_parentheses(text: &[u8], open: usize) -> bool {
    let at = open + 1;
    if !byte(text, at).is_ascii_digit() || before(text, open).is_ascii_alphanumeric() {
        return false;
    }
    let written = Written::read(text, at);
    written.marks.first() == Some(&b'(') && (is_north_american(text, &written) || is_national(text, at, &written))
}
