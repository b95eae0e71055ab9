//! Where in JSON something stands, and patterns for that: `$.files[0].content`, `$.headers.*`, `$.rows[*]["a.b"]`.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::walk;
use crate::json::{self, write_string};

/// The longest part of a key that a path shows.
const SHOWN: usize = 64;

/// One step down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step<'a> {
    /// into a member of an object
    Key {
        /// its name, as the token that it was written as
        token: &'a str,
        /// it holds something that is not to be shown
        hidden: bool,
    },
    /// into an element of an array
    Index(u64),
}

/// A path as it is told. A key that could be taken for more than one step is written `["…"]`, and so is one that is hidden.
pub(super) fn written(steps: &[Step<'_>]) -> String {
    let mut out = String::from("$");
    for step in steps {
        match step {
            Step::Index(index) => {
                out.push('[');
                out.push_str(&index.to_string());
                out.push(']');
            }
            Step::Key { hidden: true, .. } => out.push_str("[\"…\"]"),
            Step::Key { token, hidden: false } => {
                let name = walk::unquoted(token);
                let short = name.char_indices().nth(SHOWN).map_or(name.as_ref(), |(at, _)| name.get(..at).unwrap_or_default());
                let cut = short.len() < name.len();
                let odd = |byte: u8| matches!(byte, b'.' | b'[' | b']' | b'"' | b'*' | b'\\') || byte < b' ';
                if name.is_empty() || cut || short.bytes().any(odd) {
                    out.push('[');
                    write_string(&mut out, &[short, if cut { "…" } else { "" }].concat());
                    out.push(']');
                } else {
                    out.push('.');
                    out.push_str(short);
                }
            }
        }
    }
    out
}

/// What a configuration says of a text that is no pattern.
pub const EXPECTED: &str = "a path such as $.key, $.*, $.list[0], $.list[*] or $[\"a.b\"]";

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Key(String),
    AnyKey,
    Index(u64),
    AnyIndex,
}

/// A pattern for paths: `*` is any one key, `[*]` any one index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern {
    text: String,
    parts: Vec<Part>,
}

impl PathPattern {
    /// Reads a pattern.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let (mut rest, mut parts) = (text.strip_prefix('$')?, Vec::new());
        while !rest.is_empty() {
            let (part, after) = next_part(rest)?;
            parts.push(part);
            rest = after;
        }
        Some(Self { text: text.to_string(), parts })
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a path fits it, step by step.
    pub(super) fn matches(&self, steps: &[Step<'_>]) -> bool {
        let fits = |(part, step): (&Part, &Step<'_>)| match (part, step) {
            (Part::Key(wanted), Step::Key { token, .. }) => *wanted == walk::unquoted(token),
            (Part::Index(wanted), Step::Index(index)) => wanted == index,
            (Part::AnyKey, Step::Key { .. }) | (Part::AnyIndex, Step::Index(_)) => true,
            (Part::Key(_) | Part::AnyKey, Step::Index(_)) | (Part::Index(_) | Part::AnyIndex, Step::Key { .. }) => false,
        };
        self.parts.len() == steps.len() && self.parts.iter().zip(steps).all(fits)
    }
}

fn next_part(text: &str) -> Option<(Part, &str)> {
    if let Some(rest) = text.strip_prefix('.') {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (key, rest) = rest.split_at_checked(end)?;
        let part = if key == "*" { Part::AnyKey } else { Part::Key(key.to_string()) };
        return (!key.is_empty()).then_some((part, rest));
    }
    let rest = text.strip_prefix('[')?;
    if rest.starts_with('"') {
        let end = json::string_end(rest.as_bytes(), 0)?;
        let (quoted, rest) = rest.split_at_checked(end)?;
        let key = json::string(json::parse(quoted, 1).ok()?)?;
        return Some((Part::Key(key), rest.strip_prefix(']')?));
    }
    let (index, rest) = rest.split_once(']')?;
    let part = if index == "*" { Part::AnyIndex } else { Part::Index(crate::text::whole(index)?) };
    Some((part, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn key(name: &str) -> Step<'static> {
        Step::Key { token: json::Json::string(name).into_string().leak(), hidden: false }
    }

    #[test]
    fn a_key_never_borrows_the_path_of_another() {
        let deep = [key("a"), key("b")];
        let flat = [key("a.b")];
        assert_eq!((written(&deep), written(&flat)), ("$.a.b".into(), "$[\"a.b\"]".into()));
        let pattern = PathPattern::read("$.a.b").unwrap();
        assert!(pattern.matches(&deep) && !pattern.matches(&flat));
        let quoted = PathPattern::read("$[\"a.b\"]").unwrap();
        assert!(quoted.matches(&flat) && !quoted.matches(&deep));
        for name in ["", "a[0]", "a\"b", "*", "a]", "a\nb", "\\"] {
            let steps = [key(name), Step::Index(3)];
            let path = written(&steps);
            assert!(path.starts_with("$[\"") && PathPattern::read(&path).unwrap().matches(&steps), "{path}");
        }
    }

    #[test]
    fn stars_are_for_one_step() {
        let pattern = PathPattern::read("$.files[*].*").unwrap();
        assert!(pattern.matches(&[key("files"), Step::Index(7), key("content")]));
        for steps in [vec![key("files"), Step::Index(7)], vec![key("files"), key("x"), key("content")], vec![]] {
            assert!(!pattern.matches(&steps), "{}", written(&steps));
        }
        assert!(PathPattern::read("$").unwrap().matches(&[]));
        for text in ["", "a", "$a", "$.", "$..a", "$[", "$[x]", "$[-1]", "$[\"a\"", "$.a[", "$[\"a\"x]"] {
            assert_eq!(PathPattern::read(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_hidden_or_long_is_not_shown() {
        let steps = [Step::Key { token: "\"ghp_x\"", hidden: true }, key(&"k".repeat(65))];
        assert_eq!(written(&steps), alloc::format!("$[\"…\"][\"{}…\"]", "k".repeat(64)));
    }
}
