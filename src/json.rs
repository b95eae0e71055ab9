//! JSON as it is relayed: raw text whose numbers, order, duplicates and unknown members survive.
//!
//! Other people's JSON is never turned into a tree. A [`Members`] takes the known members of one object and keeps the
//! rest raw; [`Json`] owns one value as compact text; [`Object`] and [`Array`] write text.
//!
//! The text is checked once at the door and only cut up after that. A general library would read numbers into floats
//! and build errors that nobody shows: 22 KB gzip of a page's download, and each level of a value scanned anew.

use alloc::borrow::{Cow, ToOwned};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

mod number;
mod scan;
mod write;

pub use number::{integer, scaled, scaled_up};
pub use scan::string_end;
pub use write::{Array, Object, escaped_bytes, write_string};

use crate::list::gather;
use scan::Inside;
use write::write_integer;

/// What kind of value a JSON text holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// any number
    Number,
    /// a string
    String,
    /// an array
    Array,
    /// an object
    Object,
}

impl Kind {
    /// The kind as it is named in error messages: `an object`, `a string`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

/// One value inside a text that was checked: valid JSON without white space around it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// The text.
    #[must_use]
    pub const fn get(self) -> &'a str {
        self.0
    }
}

impl fmt::Display for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Why a text was not taken as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The text is no JSON value.
    Syntax,
    /// The text nests deeper than the limit.
    Depth,
}

/// One JSON value as compact text on one line, owned.
#[derive(Clone, PartialEq, Eq)]
pub struct Json(String);

impl Json {
    /// Checks and compacts a text. `depth` is the number of nested arrays and objects allowed.
    ///
    /// # Errors
    /// [`Fault::Depth`] where it nests deeper, [`Fault::Syntax`] where it is no JSON.
    pub fn parse(text: &str, depth: u32) -> Result<Self, Fault> {
        parse(text, depth).map(Self::from_raw)
    }

    /// Copies a raw value, dropping insignificant white space.
    #[must_use]
    pub fn from_raw(raw: Raw<'_>) -> Self {
        Self(compact(raw.get()).into_owned())
    }

    /// A JSON string with this content.
    #[must_use]
    pub fn string(text: &str) -> Self {
        let mut out = String::with_capacity(text.len() + 2);
        write_string(&mut out, text);
        Self(out)
    }

    /// An integer.
    #[must_use]
    pub fn integer(value: impl Into<i128>) -> Self {
        let mut out = String::new();
        write_integer(&mut out, value.into());
        Self(out)
    }

    /// `null`.
    #[must_use]
    pub fn null() -> Self {
        Self("null".into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, owned.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }

    /// What kind of value it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        kind_of(&self.0)
    }

    /// The value as something that can be taken apart.
    #[must_use]
    pub fn raw(&self) -> Raw<'_> {
        Raw(&self.0)
    }

    /// The members, where it is an object.
    #[must_use]
    pub fn members(&self) -> Option<Members<'_>> {
        members(self.raw())
    }

    /// Text that the writers of this module made, or that was checked before: compact and valid.
    pub(crate) fn trusted(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Checks syntax and depth in one pass; the value stays where it is.
///
/// # Errors
/// As [`Json::parse`]; of two faults the one that stands first.
pub fn parse(text: &str, depth: u32) -> Result<Raw<'_>, Fault> {
    scan::check(text, depth)
}

/// What kind of value a raw value is.
#[must_use]
pub fn kind(raw: Raw<'_>) -> Kind {
    kind_of(raw.get())
}

fn kind_of(text: &str) -> Kind {
    match text.as_bytes().first() {
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        Some(b'"') => Kind::String,
        Some(b't' | b'f') => Kind::Boolean,
        Some(b'n') | None => Kind::Null,
        Some(_) => Kind::Number,
    }
}

/// Whether the value is `null`.
#[must_use]
pub fn is_null(raw: Raw<'_>) -> bool {
    kind(raw) == Kind::Null
}

/// The content of a string. A lone surrogate becomes U+FFFD: what an agent said is not lost to its escapes.
#[must_use]
pub fn string(raw: Raw<'_>) -> Option<String> {
    (kind(raw) == Kind::String).then(|| unescape_lossy(raw.get()))
}

/// The value of a boolean.
#[must_use]
pub fn boolean(raw: Raw<'_>) -> Option<bool> {
    match raw.get() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// The elements of an array.
#[must_use]
pub fn elements(raw: Raw<'_>) -> Option<Vec<Raw<'_>>> {
    (kind(raw) == Kind::Array).then(|| gather(Inside::new(raw)))
}

/// The elements of an array that holds nothing but strings.
#[must_use]
pub fn strings(raw: Raw<'_>) -> Option<Vec<String>> {
    let mut list = Vec::new();
    for element in elements(raw)? {
        list.push(string(element)?);
    }
    Some(list)
}

/// The members of an object; `None` too where a name is no text for a lone surrogate.
#[must_use]
pub fn members(raw: Raw<'_>) -> Option<Members<'_>> {
    if kind(raw) != Kind::Object {
        return None;
    }
    let (mut inside, mut list) = (Inside::new(raw), Vec::with_capacity(8));
    while let (Some(name), Some(value)) = (inside.next(), inside.next()) {
        list.push((name_of(name)?, value));
    }
    Some(Members(list))
}

/// How many members of an object are no pieces of their own: all that a message, an artifact and a part have.
const MEMBERS: u64 = 9;

/// How many elements stand in a value, and members beyond those that any object may have, and how many inside its elements
/// and its members of some names, so deep.
#[must_use]
pub fn count(raw: Raw<'_>, names: &[&str], depth: u32) -> u64 {
    let is_object = kind(raw) == Kind::Object;
    let Some(depth) = depth.checked_sub(1).filter(|_| is_object || kind(raw) == Kind::Array) else { return 0 };
    let (mut inside, mut own, mut found) = (Inside::new(raw), 0_u64, 0);
    while let Some(first) = inside.next() {
        let value = if is_object { inside.next() } else { Some(first) };
        let leads = !is_object || name_of(first).is_some_and(|name| names.contains(&name.as_ref()));
        own += 1;
        found += value.filter(|_| leads).map_or(0, |value| count(value, names, depth));
    }
    found + if is_object { own.saturating_sub(MEMBERS) } else { own }
}

fn name_of(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    if let Some(name) = scan::plain(raw.get()) {
        return Some(Cow::Borrowed(name));
    }
    let (name, exact) = scan::unescape(raw.get());
    exact.then_some(Cow::Owned(name))
}

/// The members of one object in their order, duplicates included.
#[derive(Clone, Debug, Default)]
pub struct Members<'a>(Vec<(Cow<'a, str>, Raw<'a>)>);

impl<'a> Members<'a> {
    /// Takes a member out, whatever its value; of duplicates the last one counts, as in every common parser.
    pub fn take_any(&mut self, name: &str) -> Option<Raw<'a>> {
        let mut found = None;
        self.0.retain(|(key, raw)| {
            let is_other = key != name;
            if !is_other {
                found = Some(*raw);
            }
            is_other
        });
        found
    }

    /// Takes a member out, with `null` as absent.
    pub fn take(&mut self, name: &str) -> Option<Raw<'a>> {
        self.take_any(name).filter(|raw| !is_null(*raw))
    }

    /// Takes a string out; a member of another type stays.
    pub fn take_string(&mut self, name: &str) -> Option<String> {
        let text = string(self.get(name)?)?;
        self.take_any(name);
        Some(text)
    }

    /// A member, whatever its value.
    #[must_use]
    pub fn get_any(&self, name: &str) -> Option<Raw<'a>> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, raw)| *raw)
    }

    /// A member, with `null` as absent.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Raw<'a>> {
        self.get_any(name).filter(|raw| !is_null(*raw))
    }

    /// The string member of that name.
    #[must_use]
    pub fn string(&self, name: &str) -> Option<String> {
        self.get(name).and_then(string)
    }

    /// Whether a member of that name stands there, `null` included.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.get_any(name).is_some()
    }

    /// All that is left, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Raw<'a>)> {
        self.0.iter().map(|(key, raw)| (key.as_ref(), *raw))
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All that is left, owned, to be kept and written back later.
    #[must_use]
    pub fn keep(&self) -> Vec<(String, Json)> {
        gather(self.iter().map(|(key, raw)| (key.to_owned(), Json::from_raw(raw))))
    }
}

/// Drops white space outside strings; text that has none is borrowed.
#[must_use]
pub fn compact(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let (mut out, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = string_end(bytes, at).unwrap_or(bytes.len()),
            b' ' | b'\t' | b'\r' | b'\n' => {
                out.push_str(text.get(copied..at).unwrap_or_default());
                at += 1;
                copied = at;
            }
            _ => at += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// Reads the escapes of a quoted string; what is no character becomes U+FFFD.
#[must_use]
pub fn unescape_lossy(quoted: &str) -> String {
    scan::unescape(quoted).0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw<'_> {
        parse(text, 128).unwrap()
    }

    #[test]
    fn members_keep_order_numbers_and_the_last_of_duplicates() {
        let mut members = members(raw(r#"{"b":1e400,"a":1,"a":9007199254740993,"n":null}"#)).unwrap();
        assert_eq!(members.take_any("a").unwrap().get(), "9007199254740993");
        assert!(members.take("n").is_none());
        assert_eq!(members.keep(), [("b".into(), Json("1e400".into()))]);
    }

    #[test]
    fn private_keys_of_the_parser_are_plain_members() {
        let text = r#"{"$serde_json::private::RawValue":"[1, 2]"}"#;
        assert_eq!(Json::parse(text, 128).unwrap().as_str(), text.replace(": ", ":"));
        let members = members(raw(r#"{"$serde_json::private::Number":"12"}"#)).unwrap();
        assert_eq!(members.string("$serde_json::private::Number").unwrap(), "12");
    }

    #[test]
    fn depth_is_bounded_without_recursion() {
        let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert!(Json::parse(&nested(128), 128).is_ok());
        assert_eq!(Json::parse(&nested(129), 128), Err(Fault::Depth));
        assert_eq!(Json::parse(&nested(200_000), 128), Err(Fault::Depth));
        assert!(Json::parse(r#"["\"[[[[", "]"]"#, 1).is_ok());
        assert_eq!(Json::parse("[[]]", 1), Err(Fault::Depth));
        assert_eq!(Json::parse("[x[[]]]", 1), Err(Fault::Syntax));
    }

    #[test]
    fn compacting_leaves_strings_alone() {
        assert_eq!(compact("{ \"a b\" :\n[1 , \"\\\" \"] }"), "{\"a b\":[1,\"\\\" \"]}");
        assert!(matches!(compact(r#"{"a b":1}"#), Cow::Borrowed(_)));
    }

    #[test]
    fn a_lone_surrogate_is_repaired() {
        assert_eq!(string(raw(r#""a\ud800b\n\u00e9\ud83d\ude42""#)).unwrap(), "a\u{fffd}b\né🙂");
    }
}
