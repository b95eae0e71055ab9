//! Writers of compact JSON text.

use alloc::string::String;
use core::fmt::Write;

use super::Json;

/// Appends a JSON string with this content.
pub fn write_string(out: &mut String, text: &str) {
    out.push('"');
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..=0x1f => "",
            _ => continue,
        };
        out.push_str(text.get(plain..at).unwrap_or_default());
        if escape.is_empty() {
            let _ = write!(out, "\\u{byte:04x}");
        } else {
            out.push_str(escape);
        }
        plain = at + 1;
    }
    out.push_str(text.get(plain..).unwrap_or_default());
    out.push('"');
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
        let _ = write!(self.text, "{}", value.into());
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

    /// Adds members that were kept.
    pub fn members(&mut self, list: &[(String, Json)]) -> &mut Self {
        for (name, value) in list {
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
