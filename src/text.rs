//! Small work on texts: short words found, numbers read, lists joined. The standard library's ways are made for more than
//! that and are larger than all they are for here.

use alloc::string::String;

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
    fn texts_are_split_at_the_first_mark() {
        assert_eq!(split_once("a://b://c", "://"), Some(("a", "b://c")));
        assert_eq!(split_once("é::", "::"), Some(("é", "")));
        assert_eq!(split_once("a:b", "::"), None);
    }
}
