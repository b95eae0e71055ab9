//! Texts and JSON with what a rule fires on replaced: as little of it as the rules can tell apart, and never less.

use alloc::string::String;

use super::super::rule::{Rule, Rules};
use super::{BARE, fire, fired_by_number, is_sensitive, walk};
use crate::json::{self, Json, Raw};

/// What stands in the place of something.
fn mark(rules: Rules) -> String {
    let mut out = String::from("[redacted: ");
    for (number, rule) in rules.list().into_iter().enumerate() {
        out.push_str(if number > 0 { ", " } else { "" });
        out.push_str(rule.name());
    }
    out.push(']');
    out
}

/// The text without what the rules fire on, and which those were; none where there is nothing of that.
///
/// Words are replaced where a rule fires on the word alone, else the line. A private key goes up to its last line. Where a
/// rule fires on the lines together only, nothing of them is left.
#[must_use]
pub fn redacted(text: &str, rules: Rules) -> Option<(String, Rules)> {
    let fired = fire(text, rules);
    if fired.is_empty() {
        return None;
    }
    let (mut out, mut in_key) = (String::with_capacity(text.len()), false);
    for line in text.split_inclusive('\n') {
        let found = fire(line, fired);
        let end = if line.ends_with('\n') { "\n" } else { "" };
        let is_key = |edge: &str| line.contains(edge) && line.contains("PRIVATE KEY");
        if in_key || found.is_empty() {
            out.push_str(if in_key { "" } else { line });
            in_key &= !is_key("-----END");
            continue;
        }
        in_key = is_key("-----BEGIN") && !is_key("-----END");
        let words = words_redacted(line, found);
        if in_key || !fire(&words, found).is_empty() {
            out.push_str(&mark(found));
            out.push_str(end);
        } else {
            out.push_str(&words);
        }
    }
    let left = fire(&out, fired);
    Some((if left.is_empty() { out } else { mark(fired) }, fired))
}

/// A line with each word replaced that a rule fires on.
fn words_redacted(line: &str, rules: Rules) -> String {
    let is_mark = |char: char| char.is_ascii() && !char.is_ascii_alphanumeric() && !"_-.:=@/+%&#~*!?$\\".contains(char);
    let mut out = String::with_capacity(line.len());
    for piece in line.split_inclusive(is_mark) {
        let word = piece.strip_suffix(is_mark).unwrap_or(piece);
        let after = piece.get(word.len()..).unwrap_or_default();
        let found = fire(piece, rules);
        if found.is_empty() {
            out.push_str(piece);
        } else if fire(word, rules) == found {
            out.push_str(&mark(found));
            out.push_str(after);
        } else {
            out.push_str(&mark(found));
        }
    }
    out
}

/// JSON without what the rules fire on, and which those were; none where there is nothing of that. Strings are treated as
/// [`redacted`] does, values of sensitive keys are replaced whole, and numbers and keys that are secrets by a mark.
#[must_use]
pub fn redacted_json(raw: Raw<'_>, rules: Rules) -> Option<(Json, Rules)> {
    let (text, bytes) = (raw.get(), raw.get().as_bytes());
    let (mut out, mut all, mut copied, mut at) = (String::new(), Rules::NONE, 0, 0);
    while let Some(byte) = bytes.get(at) {
        let start = at;
        let (new, fired) = match byte {
            b'"' => {
                at = json::string_end(bytes, at).unwrap_or(bytes.len());
                let content = walk::unquoted(text.get(start..at).unwrap_or_default());
                let rest = text.get(at..).unwrap_or_default();
                match rest.trim_ascii_start().strip_prefix(':') {
                    Some(value) if rules.has(Rule::SensitiveKeyName) && is_sensitive(&content, value.trim_ascii_start()) => {
                        let value_start = text.len() - value.trim_ascii_start().len();
                        out.push_str(text.get(copied..value_start).unwrap_or_default());
                        at = value_start + value_length(value.trim_ascii_start());
                        copied = value_start;
                        let fired = Rules::only(Rule::SensitiveKeyName);
                        (Some(mark(fired)), fired)
                    }
                    Some(_) => {
                        let fired = fire(&content, rules.and(BARE));
                        ((!fired.is_empty()).then(|| mark(fired)), fired)
                    }
                    None => redacted(&content, rules).map_or((None, Rules::NONE), |(new, fired)| (Some(new), fired)),
                }
            }
            b'-' | b'0'..=b'9' => {
                at += value_length(text.get(at..).unwrap_or_default());
                let fired = rules.and(fired_by_number(text.get(start..at).unwrap_or_default()));
                ((!fired.is_empty()).then(|| mark(fired)), fired)
            }
            _ => {
                at += 1;
                continue;
            }
        };
        if let Some(new) = new {
            out.push_str(text.get(copied..start.max(copied)).unwrap_or_default());
            json::write_string(&mut out, &new);
            (copied, all) = (at, all.with(fired));
        }
    }
    if all.is_empty() {
        return None;
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Some((Json::from_raw(json::parse(&out, u32::MAX).ok()?), all))
}

/// How long the value is that a text begins with.
fn value_length(text: &str) -> usize {
    let (bytes, mut open, mut at) = (text.as_bytes(), 0_u32, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = json::string_end(bytes, at).unwrap_or(bytes.len());
                continue;
            }
            b'{' | b'[' => open += 1,
            b'}' | b']' | b',' if open == 0 => break,
            b'}' | b']' => open -= 1,
            b' ' | b'\t' | b'\r' | b'\n' if open == 0 => break,
            _ => {}
        }
        at += 1;
    }
    at
}
