//! Writers of compact JSON text.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use super::Json;

/// Appends a JSON string with this content.
pub fn write_string(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some((plain, tail)) = to_escape(rest.as_bytes()).and_then(|at| rest.split_at_checked(at)) {
        out.push_str(plain);
        let mut escaped = tail.chars();
        let Some(char) = escaped.next() else { break };
        match char {
            '"' | '\\' => escape(out, char),
            '\n' => escape(out, 'n'),
            '\r' => escape(out, 'r'),
            '\t' => escape(out, 't'),
            _ => {
                let _ = write!(out, "\\u{:04x}", u32::from(char));
            }
        }
        rest = escaped.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

fn escape(out: &mut String, char: char) {
    out.push('\\');
    out.push(char);
}

/// Where the first byte stands that a JSON string holds only escaped (RFC 8259 §7): a quote, a backslash, a control
/// character. Eight bytes are looked at in one step.
pub(super) fn to_escape(bytes: &[u8]) -> Option<usize> {
    let (words, tail) = bytes.as_chunks::<8>();
    for (number, word) in words.iter().enumerate() {
        // In each byte of a sum the highest bit says that the byte was in question; what a borrow adds lies above it.
        let word = u64::from_le_bytes(*word);
        let below = |bytes: u64, bound: u8| bytes.wrapping_sub(EACH * u64::from(bound)) & !bytes;
        let is = |byte: u8| below(word ^ (EACH * u64::from(byte)), 1);
        let found = (below(word, b' ') | is(b'"') | is(b'\\')) & (EACH << 7);
        if found != 0 {
            return Some(number * 8 + (found.trailing_zeros() / 8) as usize);
        }
    }
    let in_tail = tail.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..b' '))?;
    Some(words.len() * 8 + in_tail)
}

/// A one in each byte.
const EACH: u64 = u64::MAX / 255;

/// Appends an integer of at most 64 bits: those of JSON, signed or not, as the larger type holds both.
pub(super) fn write_integer(out: &mut String, value: i128) {
    let magnitude = u64::try_from(value.unsigned_abs()).unwrap_or(u64::MAX);
    let _ = write!(out, "{}{magnitude}", if value < 0 { "-" } else { "" });
}

/// Writes one object, member by member.
#[derive(Debug)]
pub struct Object {
    text: String,
}

impl Default for Object {
    fn default() -> Self {
        Self::new()
    }
}

impl Object {
    /// An object without members.
    #[must_use]
    pub fn new() -> Self {
        Self { text: String::from("{") }
    }

    /// An object whose text will be about this long.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        let mut text = String::with_capacity(bytes);
        text.push('{');
        Self { text }
    }

    fn key(&mut self, name: &str) {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        write_string(&mut self.text, name);
        self.text.push(':');
    }

    /// Adds a string.
    pub fn string(&mut self, name: &str, value: &str) -> &mut Self {
        self.key(name);
        write_string(&mut self.text, value);
        self
    }

    /// Adds a string where there is one.
    pub fn optional_string(&mut self, name: &str, value: Option<&str>) -> &mut Self {
        if let Some(value) = value {
            self.string(name, value);
        }
        self
    }

    /// Adds an integer.
    pub fn integer(&mut self, name: &str, value: impl Into<i128>) -> &mut Self {
        self.key(name);
        write_integer(&mut self.text, value.into());
        self
    }

    /// Adds a boolean.
    pub fn boolean(&mut self, name: &str, value: bool) -> &mut Self {
        self.raw(name, if value { "true" } else { "false" })
    }

    /// Adds `null`.
    pub fn null(&mut self, name: &str) -> &mut Self {
        self.raw(name, "null")
    }

    /// Adds a value.
    pub fn json(&mut self, name: &str, value: &Json) -> &mut Self {
        self.raw(name, value.as_str())
    }

    /// Adds a value where there is one.
    pub fn optional_json(&mut self, name: &str, value: Option<&Json>) -> &mut Self {
        if let Some(value) = value {
            self.json(name, value);
        }
        self
    }

    /// Adds text that is one compact JSON value: the caller's promise.
    pub(crate) fn raw(&mut self, name: &str, value: &str) -> &mut Self {
        self.key(name);
        self.text.push_str(value);
        self
    }

    /// Adds members that were kept, but for those whose name stands here already: of two members with one name every
    /// reader takes another one (RFC 8259 §4).
    pub fn members(&mut self, list: &[(String, Json)]) -> &mut Self {
        if list.is_empty() {
            return self;
        }
        self.text.push('}');
        let own = super::members(super::Raw(&self.text)).unwrap_or_default();
        let fresh: Vec<&(String, Json)> = list.iter().filter(|(name, _)| !own.has(name)).collect();
        self.text.pop();
        for (name, value) in fresh {
            self.json(name, value);
        }
        self
    }

    /// Adds an array of strings.
    pub fn strings<'a>(&mut self, name: &str, values: impl IntoIterator<Item = &'a str>) -> &mut Self {
        let mut array = Array::new();
        for value in values {
            array.string(value);
        }
        self.json(name, &array.finish())
    }

    /// Whether nothing was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.len() == 1
    }

    /// The value.
    #[must_use]
    pub fn finish(self) -> Json {
        let mut text = self.text;
        text.push('}');
        Json::trusted(text)
    }
}

/// Writes one array, element by element.
#[derive(Debug)]
pub struct Array {
    text: String,
}

impl Default for Array {
    fn default() -> Self {
        Self::new()
    }
}

impl Array {
    /// An array without elements.
    #[must_use]
    pub fn new() -> Self {
        Self { text: String::from("[") }
    }

    /// Adds a value.
    pub fn json(&mut self, value: &Json) -> &mut Self {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        self.text.push_str(value.as_str());
        self
    }

    /// Adds a string.
    pub fn string(&mut self, value: &str) -> &mut Self {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        write_string(&mut self.text, value);
        self
    }

    /// The value.
    #[must_use]
    pub fn finish(self) -> Json {
        let mut text = self.text;
        text.push(']');
        Json::trusted(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;
    use alloc::format;

    #[test]
    fn a_kept_member_does_not_stand_beside_one_of_its_name() {
        let mut out = Object::new();
        let list = ["b", "a", "é\"", "c", "b"].map(|name| (String::from(name), Json::integer(2)));
        out.integer("a", 1).string("é\"", "x").members(&list);
        assert_eq!(out.finish().as_str(), r#"{"a":1,"é\"":"x","b":2,"c":2,"b":2}"#);
        let mut out = Object::new();
        out.members(&list[..1]);
        assert_eq!(out.finish().as_str(), r#"{"b":2}"#);
    }

    #[test]
    fn what_must_be_escaped_is_at_any_place_and_nothing_else() {
        let all: String = (0..=0x2ff).filter_map(char::from_u32).collect();
        for before in 0..=17 {
            for char in all.chars() {
                let text = format!("{}{char}\u{fffd}{}", "é".repeat(before / 2), "~".repeat(before % 9));
                let mut out = String::new();
                write_string(&mut out, &text);
                assert_eq!(json::string(json::parse(&out, 1).unwrap()).unwrap(), text);
                let escaped = matches!(char, '"' | '\\') || char < ' ';
                assert_eq!(out.contains('\\'), escaped, "{out}");
                assert_eq!(out == format!("\"{text}\""), !escaped, "{out}");
            }
        }
        let mut out = String::new();
        write_string(&mut out, "\"\\\n\r\t\u{0}\u{1f}\u{7f}");
        assert_eq!(out, "\"\\\"\\\\\\n\\r\\t\\u0000\\u001f\u{7f}\"");
    }
}
