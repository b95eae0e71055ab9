//! Small work on texts: short words found, numbers read, lists joined. The standard library's ways are made for more than
//! that and are larger than all they are for here.

use alloc::string::String;
use alloc::vec::Vec;

/// Where a text holds some words first, ASCII letters in either case.
#[must_use]
pub fn find(text: &str, words: &str) -> Option<usize> {
    let windows = text.as_bytes().windows(words.len().max(1));
    windows.into_iter().position(|window| window.eq_ignore_ascii_case(words.as_bytes()))
}

/// Whether a text holds some words, ASCII letters in either case.
#[must_use]
pub fn holds(text: &str, words: &str) -> bool {
    find(text, words).is_some()
}

/// What stands before and after the first mark.
#[must_use]
pub fn split_once<'a>(text: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    let at = find(text, mark)?;
    Some((text.get(..at)?, text.get(at + mark.len()..)?))
}

/// The number that a text of decimal digits stands for; `None` for any other text, and for one that is too large.
#[must_use]
pub fn whole(text: &str) -> Option<u64> {
    let mut number = (!text.is_empty()).then_some(0_u64)?;
    for byte in text.bytes() {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit <= 9)?;
        number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(number)
}

/// How many code points a text has.
#[must_use]
pub fn code_points(text: &str) -> u64 {
    // Every byte of a code point but the first has these two bits.
    text.bytes().map(|byte| u64::from(byte & 0b1100_0000 != 0b1000_0000)).sum()
}

/// The texts of a list with something between them.
#[must_use]
pub fn joined<T: AsRef<str>>(list: &[T], between: &str) -> String {
    let mut out = String::new();
    for (number, text) in list.iter().enumerate() {
        out.push_str(if number == 0 { "" } else { between });
        out.push_str(text.as_ref());
    }
    out
}

/// Of some words the one that a mistyped word is nearest to, if it is near: a third of its letters may be wrong.
#[must_use]
pub fn nearest<'w>(word: &str, known: &[&'w str]) -> Option<&'w str> {
    let mut best = (word.len() / 3 + 1, None);
    for other in known {
        let distance = distance(word.as_bytes(), other.as_bytes());
        if distance < best.0 || distance == best.0 && best.1.is_none() {
            best = (distance, Some(*other));
        }
    }
    best.1
}

/// How many letters have to be changed, added or left out to make one text of the other.
fn distance(from: &[u8], to: &[u8]) -> usize {
    let mut row: Vec<usize> = Vec::new();
    for at in 0..=to.len() {
        row.push(at);
    }
    for (number, letter) in from.iter().enumerate() {
        let mut left = number + 1;
        let mut corner = number;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (other, above) in to.iter().zip(row.iter_mut().skip(1)) {
            let changed = corner + usize::from(letter != other);
            corner = *above;
            left = changed.min(left + 1).min(corner + 1);
            *above = left;
        }
    }
    row.last().copied().unwrap_or(0)
}

/// The first bytes of a text, so many or a few less.
#[must_use]
pub fn start(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// The last bytes of a text, so many or a few more.
#[must_use]
pub fn end(text: &str, bytes: usize) -> &str {
    let mut start = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    text.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_digits_and_nothing_else() {
        for (text, number) in [("0", 0), ("007", 7), ("18446744073709551615", u64::MAX)] {
            assert_eq!(whole(text), Some(number), "{text}");
        }
        for text in ["", "+1", "-1", " 1", "1.0", "18446744073709551616", "99999999999999999999999", "\u{661}"] {
            assert_eq!(whole(text), None, "{text}");
        }
    }

    #[test]
    fn code_points_are_counted_and_lists_joined() {
        for text in ["", "abc", "é\u{20ac}🙂x", "\u{301}"] {
            assert_eq!(code_points(text), text.chars().count() as u64, "{text}");
        }
        for list in [&[][..], &["a"], &["a", "", "é"]] {
            assert_eq!(joined(list, ", "), list.join(", "));
        }
    }

    #[test]
    fn words_are_found_anywhere_in_either_case() {
        for (text, at) in
            [("Task not found", Some(5)), ("NOT", Some(0)), ("é not", Some(3)), ("no", None), ("", None), ("nono not", Some(5))]
        {
            assert_eq!(find(text, "not"), at, "{text}");
            assert_eq!(holds(text, "Not"), at.is_some());
        }
    }

    #[test]
    fn a_mistyped_word_is_known_by_its_letters() {
        for (from, to, steps) in [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("flaw", "lawn", 2), ("ab", "ba", 2)] {
            assert_eq!((distance(from.as_bytes(), to.as_bytes()), distance(to.as_bytes(), from.as_bytes())), (steps, steps));
        }
        let known = ["require_approval", "timeout_secs", "timeout_fallback"];
        assert_eq!(nearest("require_aproval", &known), Some("require_approval"));
        assert_eq!(nearest("timeout_seconds", &known), Some("timeout_secs"));
        assert_eq!(nearest("users", &known), None);
        assert_eq!(nearest("", &known), None);
    }

    #[test]
    fn texts_are_split_at_the_first_mark() {
        assert_eq!(split_once("a://b://c", "://"), Some(("a", "b://c")));
        assert_eq!(split_once("é::", "::"), Some(("é", "")));
        assert_eq!(split_once("a:b", "::"), None);
    }
}
