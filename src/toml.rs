//! TOML files of the command: read into JSON with the place of every key, and edited in their text.
//!
//! What a configuration means is decided by [`config`](crate::config) alone, which reads JSON. A file keeps its
//! comments, its order and its layout through every edit.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};

use crate::json::{self, Array, Json, Object};

pub mod bindings;
mod edit;

pub use edit::{add, remove};

/// Where something stands in a text, both counted from 1; columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// the line
    pub line: u32,
    /// the character in it
    pub column: u32,
}

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// a sentence without its end
    pub message: String,
    /// where it stands
    pub place: Place,
}

/// A file as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// the table of the whole file; dates and times are strings, numbers are as JSON writes them
    pub json: Json,
    /// where each key stands, under its path as the configuration's faults write it (`mcp_servers[0].name`)
    pub places: Vec<(String, Place)>,
}

/// Reads a TOML 1.0 text.
///
/// # Errors
/// Every fault of the text, in its order, none of which is repeated on the same line.
pub fn read(text: &str) -> Result<Document, Vec<Fault>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader { text, places: Vec::new(), faults: Vec::new() };
    for error in errors {
        reader.fault(error.span().map_or(0, |span| span.start), error.message());
    }
    let json = reader.table(table.get_ref(), "");
    if reader.faults.is_empty() {
        return Ok(Document { json, places: reader.places });
    }
    let mut faults = reader.faults;
    faults.sort_by_key(|fault| (fault.place.line, fault.place.column));
    // What is left of a broken line is seldom a fault of its own.
    faults.dedup_by_key(|fault| fault.place.line);
    Err(faults)
}

struct Reader<'t> {
    text: &'t str,
    places: Vec<(String, Place)>,
    faults: Vec<Fault>,
}

impl Reader<'_> {
    fn fault(&mut self, at: usize, message: &str) {
        self.faults.push(Fault { message: message.into(), place: place(self.text, at) });
    }

    fn table(&mut self, table: &DeTable<'_>, path: &str) -> Json {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let mut out = Object::new();
        for (key, value) in entries {
            let name = key.get_ref();
            let path = if path.is_empty() { name.as_ref().into() } else { format!("{path}.{name}") };
            self.places.push((path.clone(), place(self.text, key.span().start)));
            let value = self.value(value, &path);
            out.json(name, &value);
        }
        out.finish()
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, path: &str) -> Json {
        let at = value.span().start;
        match value.get_ref() {
            DeValue::String(text) => Json::string(text),
            DeValue::Boolean(truth) => Json::trusted((if *truth { "true" } else { "false" }).into()),
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => Json::integer(number),
                Err(_) => self.no_number(at, "the whole number does not fit 64 bits"),
            },
            DeValue::Float(number) => {
                // TOML and JSON differ in the sign and in what is no number.
                let text = number.as_str().trim_start_matches('+');
                match Json::parse(text, 0) {
                    Ok(number) => number,
                    Err(_) => self.no_number(at, "the number is not finite"),
                }
            }
            DeValue::Datetime(time) => Json::string(&format!("{time}")),
            DeValue::Array(list) => {
                let mut out = Array::new();
                for (number, element) in list.iter().enumerate() {
                    let path = format!("{path}[{number}]");
                    self.places.push((path.clone(), place(self.text, element.span().start)));
                    let value = self.value(element, &path);
                    out.json(&value);
                }
                out.finish()
            }
            DeValue::Table(table) => self.table(table, path),
        }
    }

    fn no_number(&mut self, at: usize, message: &str) -> Json {
        self.fault(at, message);
        Json::null()
    }
}

/// Where a byte of a text stands.
fn place(text: &str, at: usize) -> Place {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let count = |count: usize| u32::try_from(count).map_or(u32::MAX, |count| count.saturating_add(1));
    Place {
        line: count(before.matches('\n').count()),
        column: count(before.get(line_start..).map_or(0, |rest| rest.chars().count())),
    }
}

/// A document or its faults as JSON: `{config, places: [[path, line, column]…]}` or `{faults: [{message, line, column}…]}`.
#[must_use]
pub fn read_to_json(text: &str) -> Json {
    let mut out = Object::new();
    match read(text) {
        Ok(document) => {
            let mut places = Array::new();
            for (path, place) in &document.places {
                let mut entry = Array::new();
                entry.string(path).json(&Json::integer(place.line)).json(&Json::integer(place.column));
                places.nested(entry.finish());
            }
            out.json("config", &document.json).nested("places", places.finish());
        }
        Err(faults) => {
            out.nested("faults", faults_json(&faults));
        }
    }
    out.finish()
}

fn faults_json(faults: &[Fault]) -> Json {
    let mut list = Array::new();
    for fault in faults {
        let mut entry = Object::new();
        entry.string("message", &fault.message).integer("line", fault.place.line).integer("column", fault.place.column);
        list.nested(entry.finish());
    }
    list.finish()
}

/// A key as TOML, bare where it may be.
fn key(name: &str) -> String {
    let is_bare = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if is_bare { name.into() } else { Json::string(name).into_string() }
}

/// The value as TOML, on one line.
fn inline(value: json::Raw<'_>) -> String {
    if let Some(members) = json::members(value) {
        let list: Vec<String> = members.iter().map(|(name, value)| format!("{} = {}", key(name), inline(value))).collect();
        return if list.is_empty() { "{}".into() } else { format!("{{ {} }}", list.join(", ")) };
    }
    if let Some(elements) = json::elements(value) {
        let list: Vec<String> = elements.into_iter().map(inline).collect();
        return format!("[{}]", list.join(", "));
    }
    match json::string(value) {
        // JSON may escape what TOML may not, such as a slash or half of a pair.
        Some(text) => Json::string(&text).into_string(),
        None => value.get().into(),
    }
}

#[cfg(test)]
mod tests;
