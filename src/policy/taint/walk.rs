//! The walk over JSON: every string, key and number is met once, with the steps that lead to it. It needs no stack of its
//! own, however deep a value is.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use memchr::memchr;

use super::path::Step;
use crate::json::{self, Raw};

/// What is met.
pub(super) enum Met<'a> {
    /// The name of a member, and the text that its value begins with.
    Key(Cow<'a, str>, &'a str),
    /// A string.
    Text(Cow<'a, str>),
    /// A number, as it is written.
    Number(&'a str),
}

/// What the walk tells of each thing it meets.
pub(super) trait Visit {
    /// Something was met; `steps` lead to it, a key's own among them. Gives whether the name of a key is hidden from now on.
    fn meet(&mut self, steps: &[Step<'_>], met: Met<'_>) -> bool;
    /// A value is nested deeper than is looked at; the walk ends.
    fn too_deep(&mut self, steps: &[Step<'_>]);
}

/// Walks over a value; `depth` is how many steps may lead to something.
pub(super) fn walk(raw: Raw<'_>, depth: usize, visit: &mut impl Visit) {
    let (text, bytes) = (raw.get(), raw.get().as_bytes());
    let (mut steps, mut at): (Vec<Step<'_>>, usize) = (Vec::new(), 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' => steps.push(Step::Key { token: "", hidden: false }),
            b'[' => steps.push(Step::Index(0)),
            b'}' | b']' => {
                steps.pop();
            }
            b',' => {
                if let Some(Step::Index(index)) = steps.last_mut() {
                    *index += 1;
                }
            }
            b'"' => {
                let end = json::string_end(bytes, at).unwrap_or(bytes.len());
                let token = text.get(at..end).unwrap_or_default();
                at = end;
                let rest = text.get(end..).unwrap_or_default().trim_ascii_start();
                match rest.strip_prefix(':') {
                    Some(value) => meet_key(&mut steps, token, value.trim_ascii_start(), visit),
                    None => {
                        visit.meet(&steps, Met::Text(unquoted(token)));
                    }
                }
                continue;
            }
            b'-' | b'0'..=b'9' => {
                let rest = text.get(at..).unwrap_or_default();
                let length =
                    rest.find(|char: char| !matches!(char, '0'..='9' | '+' | '-' | '.' | 'e' | 'E')).unwrap_or(rest.len());
                visit.meet(&steps, Met::Number(rest.get(..length).unwrap_or_default()));
                at += length;
                continue;
            }
            _ => {}
        }
        if steps.len() > depth {
            // The step just taken leads to nothing yet.
            visit.too_deep(steps.get(..depth).unwrap_or_default());
            return;
        }
        at += 1;
    }
}

fn meet_key<'a>(steps: &mut [Step<'a>], token: &'a str, value: &str, visit: &mut impl Visit) {
    if let Some(step) = steps.last_mut() {
        *step = Step::Key { token, hidden: false };
    }
    let hide = visit.meet(steps, Met::Key(unquoted(token), value));
    if let Some(Step::Key { hidden, .. }) = steps.last_mut() {
        *hidden = hide;
    }
}

/// The content of a string token.
pub(super) fn unquoted(token: &str) -> Cow<'_, str> {
    if memchr(b'\\', token.as_bytes()).is_some() {
        return Cow::Owned(json::unescape_lossy(token));
    }
    let inside = token.strip_prefix('"').and_then(|token| token.strip_suffix('"'));
    Cow::Borrowed(inside.unwrap_or(token))
}
