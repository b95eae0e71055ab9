//! What is different between two descriptions of a tool, place by place.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::json::{self, Kind, Members, Object, Raw};

/// How many places are told.
const PLACES: usize = 32;
/// How much of a value is told, in characters.
const SHOWN: usize = 2000;
/// How deep objects and lists are looked into; deeper ones are told as a whole.
const DEPTH: u32 = 16;
/// Nesting of a description: what a link lets through.
const NESTING: u32 = 1 << 10;

/// One place at which two descriptions differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// where, such as `inputSchema.properties.path`
    pub path: String,
    /// what stood there: a text as it is, anything else as JSON
    pub before: Option<String>,
    /// what stands there
    pub after: Option<String>,
}

impl Change {
    /// The JSON form; `before` or `after` is absent where there was or is nothing.
    #[must_use]
    pub fn to_object(&self) -> Object {
        let mut out = Object::new();
        out.string("path", &self.path);
        out.optional_string("before", self.before.as_deref()).optional_string("after", self.after.as_deref());
        out
    }
}

/// The places at which two JSON texts in canonical spelling differ, the first 32 of them.
#[must_use]
pub fn changes(before: &str, after: &str) -> Vec<Change> {
    let mut found = Vec::new();
    let (before, after) = (json::parse(before, NESTING).ok(), json::parse(after, NESTING).ok());
    compare(&mut found, "", before, after, DEPTH);
    found
}

fn compare(found: &mut Vec<Change>, path: &str, before: Option<Raw<'_>>, after: Option<Raw<'_>>, depth: u32) {
    if found.len() >= PLACES || before.map(Raw::get) == after.map(Raw::get) {
        return;
    }
    if let (Some(one), Some(other), Some(depth)) = (before, after, depth.checked_sub(1)) {
        if let (Some(one), Some(other)) = (json::members(one), json::members(other)) {
            return compare_members(found, path, &one, &other, depth);
        }
        if let (Some(one), Some(other)) = (json::elements(one), json::elements(other)) {
            for at in 0..one.len().max(other.len()) {
                compare(found, &format!("{path}[{at}]"), one.get(at).copied(), other.get(at).copied(), depth);
            }
            return;
        }
    }
    found.push(Change { path: path.to_string(), before: before.map(shown), after: after.map(shown) });
}

fn compare_members(found: &mut Vec<Change>, path: &str, one: &Members<'_>, other: &Members<'_>, depth: u32) {
    let at = |name: &str| if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
    for (name, raw) in one.iter() {
        compare(found, &at(name), Some(raw), other.get_any(name), depth);
    }
    for (name, raw) in other.iter().filter(|(name, _)| one.get_any(name).is_none()) {
        compare(found, &at(name), None, Some(raw), depth);
    }
}

/// A value for people.
fn shown(raw: Raw<'_>) -> String {
    let text = if json::kind(raw) == Kind::String { json::string(raw) } else { None };
    let text = text.unwrap_or_else(|| raw.get().to_string());
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_is_told_with_what_stood_there_and_stands_there() {
        let before = r#"{"description":"adds","s":{"properties":{"a":{"type":"string"},"b":1},"required":["a"]}}"#;
        let after = r#"{"description":"adds\nmore","s":{"properties":{"a":{"type":"number"},"c":{}},"required":["a","c"]}}"#;
        let told: Vec<_> = changes(before, after)
            .into_iter()
            .map(|change| format!("{} {:?} {:?}", change.path, change.before, change.after))
            .collect();
        assert_eq!(
            told,
            [
                r#"description Some("adds") Some("adds\nmore")"#,
                r#"s.properties.a.type Some("string") Some("number")"#,
                r#"s.properties.b Some("1") None"#,
                r#"s.properties.c None Some("{}")"#,
                r#"s.required[1] None Some("c")"#,
            ]
        );
        assert!(changes(before, before).is_empty());
    }

    #[test]
    fn the_difference_is_bounded() {
        let list = |value: &str| format!("[{}]", alloc::vec![value; 100].join(","));
        assert_eq!(changes(&list("1"), &list("2")).len(), PLACES);
        let deep = |value: &str| format!("{}{value}{}", "[".repeat(40), "]".repeat(40));
        assert_eq!(changes(&deep("1"), &deep("2"))[0].path, "[0]".repeat(16));
        let long = changes("1", &format!("\"{}\"", "é".repeat(3000)));
        assert_eq!(long[0].after.as_ref().unwrap().chars().count(), SHOWN + 1);
    }
}
