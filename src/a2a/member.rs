//! Members as agents write them: in either case, `null` for absent, numbers where strings belong.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::json::{self, Kind, Members, Raw};
use crate::list::gather_all;

/// Why a value is no part of the model: where it stands and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misread {
    /// the path from the value that was to be read, such as `task.status`; empty for the value itself
    pub path: String,
    /// what was expected, such as `an object`
    pub expected: &'static str,
}

impl Misread {
    /// A fault of the value itself.
    pub(super) const fn new(expected: &'static str) -> Self {
        Self { path: String::new(), expected }
    }

    /// The same fault seen from one level above.
    pub(super) fn under(self, name: &str) -> Self {
        let path = if self.path.is_empty() { name.to_owned() } else { format!("{name}.{}", self.path) };
        Self { path, expected: self.expected }
    }
}

impl fmt::Display for Misread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not {}", self.path, self.expected)
    }
}

impl core::error::Error for Misread {}

/// Takes the first member of these names that can be read. One that is `null` is dropped, one that cannot be read stays.
pub(super) fn take<'a, T>(members: &mut Members<'a>, names: &[&str], read: impl Fn(Raw<'a>) -> Option<T>) -> Option<T> {
    for name in names {
        let Some(raw) = members.get_any(name) else { continue };
        if json::is_null(raw) {
            members.take_any(name);
        } else if let Some(value) = read(raw) {
            members.take_any(name);
            return Some(value);
        }
    }
    None
}

/// How long an id may be that others choose, in bytes. It is kept beyond its call, and comes again in much that is said: a
/// longer one names nothing, and stays with the members of no known meaning.
pub(super) const ID_BYTES: usize = 4096;

/// Takes an id. Empty means unset; one that is too long stays.
pub(super) fn take_id(members: &mut Members<'_>, names: &[&str]) -> Option<String> {
    take(members, names, |raw| text(raw).filter(|id| id.len() <= ID_BYTES)).filter(|id| !id.is_empty())
}

/// Takes a text. Empty means unset, as in ProtoJSON; a number is taken by its digits.
pub(super) fn take_text(members: &mut Members<'_>, names: &[&str]) -> Option<String> {
    take(members, names, text).filter(|text| !text.is_empty())
}

/// Takes any value and keeps it raw.
pub(super) fn take_json(members: &mut Members<'_>, name: &str) -> Option<json::Json> {
    members.take(name).map(json::Json::from_raw)
}

/// The text of a string, or the digits of a number.
pub(super) fn text(raw: Raw<'_>) -> Option<String> {
    match json::kind(raw) {
        Kind::String => json::string(raw),
        Kind::Number => Some(raw.get().trim().to_owned()),
        Kind::Null | Kind::Boolean | Kind::Array | Kind::Object => None,
    }
}

/// An array of texts; `None` where any element is something else.
pub(super) fn texts(raw: Raw<'_>) -> Option<Vec<String>> {
    gather_all(json::elements(raw)?.into_iter().map(text))
}

/// A boolean, also one that was written as a string.
pub(super) fn flag(raw: Raw<'_>) -> Option<bool> {
    json::boolean(raw).or_else(|| match json::string(raw)?.as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    })
}

/// A whole number; `2.0` is one.
pub(super) fn integer(raw: Raw<'_>) -> Option<i64> {
    json::integer(&text(raw)?)
}

/// An array whose elements all read, but those that are `null`; one object is a list of one. `None` for anything else.
pub(super) fn list<T>(raw: Raw<'_>, read: impl Fn(Raw<'_>) -> Option<T>) -> Option<Vec<T>> {
    let elements = if json::kind(raw) == Kind::Object { alloc::vec![raw] } else { json::elements(raw)? };
    gather_all(elements.into_iter().filter(|raw| !json::is_null(*raw)).map(read))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_either_case_and_values_of_either_type() {
        let raw = json::parse(r#"{"a":null,"b":7,"c":{"d":1},"e":"","f":"true"}"#, 8).unwrap();
        let mut members = json::members(raw).unwrap();
        assert_eq!(take_text(&mut members, &["a", "b"]).unwrap(), "7");
        assert_eq!(take_text(&mut members, &["c", "e"]), None);
        assert_eq!(take(&mut members, &["f"], flag), Some(true));
        assert_eq!(members.keep().len(), 1, "what cannot be read stays: {members:?}");
    }

    #[test]
    fn faults_name_their_path() {
        let fault = Misread::new("an object").under("status").under("task");
        assert_eq!(format!("{fault}"), "`task.status` is not an object");
    }
}
