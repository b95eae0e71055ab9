//! Short words found in texts. The standard library's search is made for long ones and is larger than what it is for here.

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

#[cfg(test)]
mod tests {
    use super::*;

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
