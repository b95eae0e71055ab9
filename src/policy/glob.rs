//! Patterns for names of tools: `*` is any run of characters, everything else is itself, and the whole name is meant.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The longest pattern.
const LONGEST: usize = 128;

/// What a configuration says of a text that is no pattern.
pub const EXPECTED: &str = "1 to 128 of A-Z, a-z, 0-9, _ and *";

/// One pattern.
///
/// One that begins with `mcp__` is also read with single underscores, as `mcp__server__tool` is written elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    written: String,
    single: Option<String>,
}

/// The names that a tool goes by. They differ where a name was cut or given a suffix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names<'a> {
    /// the name that is offered
    pub offered: &'a str,
    /// `mcp_{server}_{tool}` in full
    pub composed: &'a str,
}

impl Glob {
    /// Reads a pattern: 1 to 128 of `[A-Za-z0-9_*]`.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'*');
        let valid = (1..=LONGEST).contains(&text.len()) && text.bytes().all(fits);
        valid.then(|| Self { written: text.to_string(), single: with_single_underscores(text) })
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Whether it matches a name, in either reading.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        matches(&self.written, name) || self.single.as_deref().is_some_and(|single| matches(single, name))
    }

    /// Whether one of a tool's names is enough: for denying and for asking, so that renaming switches nothing off.
    #[must_use]
    pub fn matches_either(&self, names: Names<'_>) -> bool {
        self.matches(names.offered) || self.matches(names.composed)
    }

    /// Whether all names of a tool match: for allowing and for skipping, so that renaming lets nothing in.
    #[must_use]
    pub fn matches_both(&self, names: Names<'_>) -> bool {
        self.matches(names.offered) && self.matches(names.composed)
    }
}

/// `mcp__server__tool` as `mcp_server_tool`.
fn with_single_underscores(text: &str) -> Option<String> {
    let rest = text.strip_prefix("mcp__")?;
    let (server, tool) = rest.split_once("__").unwrap_or((rest, ""));
    let mut parts = Vec::from(["mcp", server]);
    if !tool.is_empty() {
        parts.push(tool);
    }
    Some(crate::text::joined(&parts, "_"))
}

/// Whether a pattern matches a whole text. What follows a star is looked for where it stands first: taking it later could
/// only leave less for the rest, so nothing before the last star is ever tried twice.
#[must_use]
pub fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut seen) = (0, 0);
    // Where to go on when what follows the last star does not fit: behind the star, and one later in the text.
    let mut again: Option<(usize, usize)> = None;
    while let Some(byte) = text.get(seen) {
        match pattern.get(at) {
            Some(b'*') => {
                again = Some((at + 1, seen + 1));
                at += 1;
            }
            Some(wanted) if wanted == byte => (at, seen) = (at + 1, seen + 1),
            Some(_) | None => {
                let Some((behind, later)) = again else { return false };
                (at, seen, again) = (behind, later, Some((behind, later + 1)));
            }
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// The definition, word for word.
    fn by_definition(pattern: &[u8], text: &[u8]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some((b'*', rest)) => (0..=text.len()).any(|cut| by_definition(rest, &text[cut..])),
            Some((byte, rest)) => text.first() == Some(byte) && by_definition(rest, &text[1..]),
        }
    }

    fn words(letters: &[char], longest: usize) -> Vec<String> {
        let (mut all, mut last) = (vec![String::new()], vec![String::new()]);
        for _ in 0..longest {
            last = last.iter().flat_map(|word| letters.iter().map(move |letter| alloc::format!("{word}{letter}"))).collect();
            all.extend(last.clone());
        }
        all
    }

    #[test]
    fn every_short_pattern_means_what_the_definition_says() {
        let texts = words(&['a', 'b'], 6);
        for pattern in words(&['a', 'b', '*'], 6) {
            for text in &texts {
                assert_eq!(matches(&pattern, text), by_definition(pattern.as_bytes(), text.as_bytes()), "{pattern} {text}");
            }
        }
    }

    #[test]
    fn a_hostile_pattern_costs_no_more_than_its_length_times_the_name() {
        let pattern = "a*".repeat(63) + "b";
        assert!(!matches(&pattern, &"a".repeat(1 << 16)));
    }

    #[test]
    fn patterns_are_held_to_their_characters() {
        for text in ["", "mcp_x?", "mcp_[x]", "mcp-x", "mcp x", "é", &"a".repeat(129)] {
            assert_eq!(Glob::read(text), None, "{text}");
        }
        assert!(Glob::read(&"a".repeat(128)).is_some());
    }

    #[test]
    fn double_underscores_are_read_as_single_ones_too() {
        for (pattern, name) in [
            ("mcp__github__create_pr", "mcp_github_create_pr"),
            ("mcp__github__*", "mcp_github_create_pr"),
            ("mcp__*", "mcp_github_create_pr"),
            ("mcp__x__y", "mcp__x__y"),
        ] {
            assert!(Glob::read(pattern).unwrap().matches(name), "{pattern} {name}");
        }
        assert!(!Glob::read("mcp__github__create_pr").unwrap().matches("mcp_github__create_pr"));
    }

    #[test]
    fn renaming_switches_no_gate_off_and_lets_nothing_in() {
        let cut = Names { offered: "mcp_long_name_0123abcd", composed: "mcp_long_name_delete" };
        let (deletes, suffix) = (Glob::read("*_delete").unwrap(), Glob::read("*0123abcd").unwrap());
        assert!(deletes.matches_either(cut) && suffix.matches_either(cut));
        assert!(!deletes.matches_both(cut) && !suffix.matches_both(cut));
        assert!(Glob::read("mcp_long_*").unwrap().matches_both(cut));
    }
}
