//! Writers of compact JSON text.
#![expect(clippy::single_char_add_str, reason = "a piece of text is copied, a character is first encoded")]

use alloc::string::String;

use super::Json;
use crate::list::gather;

/// How many bytes a JSON string with this content takes, without its quotes.
#[must_use]
pub fn escaped_bytes(text: &str) -> u64 {
    let (mut bytes, mut rest) = (text.len(), text.as_bytes());
    while let Some(at) = to_escape(rest) {
        bytes += match rest.get(at) {
            Some(b'"' | b'\\' | b'\n' | b'\r' | b'\t') => 1,
            Some(_) | None => 5,
        };
        rest = rest.get(at + 1..).unwrap_or_default();
    }
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// Appends a JSON string with this content.
pub fn write_string(out: &mut String, text: &str) {
    out.push_str("\"");
    write_content(out, text, "\"");
}

/// Appends what stands between the quotes of a JSON string, and then what follows.
fn write_content(out: &mut String, text: &str, after: &str) {
    let mut rest = text;
    while let Some((plain, tail)) = to_escape(rest.as_bytes()).and_then(|at| rest.split_at_checked(at)) {
        out.push_str(plain);
        let Some((escaped, tail)) = tail.split_at_checked(1) else { break };
        let known = ["\"\\\"", "\\\\\\", "\n\\n", "\r\\r", "\t\\t"].iter().find_map(|pair| pair.strip_prefix(escaped));
        match (known, escaped.as_bytes()) {
            (Some(spelling), _) => out.push_str(spelling),
            (None, bytes) => {
                let code = bytes.first().copied().unwrap_or_default();
                out.push_str(if code < 0x10 { "\\u000" } else { "\\u001" });
                out.push_str(digit(code % 16));
            }
        }
        rest = tail;
    }
    out.push_str(rest);
    out.push_str(after);
}

/// One digit, of either base in use here.
fn digit(value: u8) -> &'static str {
    let at = usize::from(value);
    "0123456789abcdef".get(at..=at).unwrap_or_default()
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
    if value < 0 {
        out.push_str("-");
    }
    write_digits(out, u64::try_from(value.unsigned_abs()).unwrap_or(u64::MAX));
}

fn write_digits(out: &mut String, value: u64) {
    if value >= 10 {
        write_digits(out, value / 10);
    }
    out.push_str(digit((value % 10) as u8));
}

/// The room that a text begins with: most values are as short, and growing to it byte by byte takes five moves.
const FEW_BYTES: usize = 64;

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
        Self::with_capacity(FEW_BYTES)
    }

    /// An object whose text will be about this long.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        let mut text = String::with_capacity(bytes);
        text.push_str("{");
        Self { text }
    }

    fn key(&mut self, name: &str, after: &str) -> &mut String {
        self.text.push_str(if self.text.len() > 1 { ",\"" } else { "\"" });
        write_content(&mut self.text, name, after);
        &mut self.text
    }

    /// Adds a string.
    pub fn string(&mut self, name: &str, value: &str) -> &mut Self {
        write_content(self.key(name, "\":\""), value, "\"");
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
        write_integer(self.key(name, "\":"), value.into());
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

    /// Adds an object or an array.
    pub fn nested(&mut self, name: &str, value: impl Into<Json>) -> &mut Self {
        self.json(name, &value.into())
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
        self.key(name, "\":").push_str(value);
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
        let fresh = gather(list.iter().filter(|(name, _)| !own.has(name)));
        self.text.pop();
        for (name, value) in fresh {
            self.json(name, value);
        }
        self
    }

    /// Adds an array of strings.
    pub fn strings(&mut self, name: &str, values: impl IntoIterator<Item = impl AsRef<str>>) -> &mut Self {
        let mut array = Array::new();
        for value in values {
            array.string(value.as_ref());
        }
        self.nested(name, array)
    }

    /// Whether nothing was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.len() == 1
    }

    /// The value.
    #[must_use]
    pub fn finish(mut self) -> Json {
        self.text.push_str("}");
        Json::trusted(self.text)
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
        let mut text = String::with_capacity(FEW_BYTES);
        text.push_str("[");
        Self { text }
    }

    /// Adds a value.
    pub fn json(&mut self, value: &Json) -> &mut Self {
        self.next().push_str(value.as_str());
        self
    }

    /// Adds an object or an array.
    pub fn nested(&mut self, value: impl Into<Json>) -> &mut Self {
        self.json(&value.into())
    }

    /// Adds a string.
    pub fn string(&mut self, value: &str) -> &mut Self {
        write_string(self.next(), value);
        self
    }

    /// Where the next element is written.
    fn next(&mut self) -> &mut String {
        if self.text.len() > 1 {
            self.text.push_str(",");
        }
        &mut self.text
    }

    /// The value.
    #[must_use]
    pub fn finish(mut self) -> Json {
        self.text.push_str("]");
        Json::trusted(self.text)
    }
}

impl From<Object> for Json {
    fn from(object: Object) -> Self {
        object.finish()
    }
}

impl From<Array> for Json {
    fn from(array: Array) -> Self {
        array.finish()
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
        assert_eq!(escaped_bytes("\"\\\n\r\t\u{0}\u{1f}\u{7f}"), out.len() as u64 - 2);
        assert_eq!(out, "\"\\\"\\\\\\n\\r\\t\\u0000\\u001f\u{7f}\"");
    }
}
