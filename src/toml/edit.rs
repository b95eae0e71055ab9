//! Tables of an array of tables, put into the text of a file and taken out of it.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};

use super::{Fault, inline, key, read};
use crate::json::{self, Json};

/// The text with one more table in the array of tables `array`, at its end.
///
/// # Errors
/// The faults of the text; of the result where the array is written as a value (`array = [ … ]`).
pub fn add(text: &str, array: &str, table: &Json) -> Result<String, Vec<Fault>> {
    read(text)?;
    let mut out: String = text.trim_end().into();
    if !out.is_empty() {
        out.push_str("\n\n");
    }
    out.push_str("[[");
    out.push_str(array);
    out.push_str("]]\n");
    for (name, value) in json::members(table.raw()).iter().flat_map(json::Members::iter) {
        out.push_str(&format!("{} = {}\n", key(name), inline(value)));
    }
    read(&out).map(|_| out)
}

/// The text without the table of `array` whose member `name` is this string, and without the comment right above it; `None`
/// where there is none of its own.
///
/// # Errors
/// The faults of the text.
pub fn remove(text: &str, array: &str, name: &str, value: &str) -> Result<Option<String>, Vec<Fault>> {
    read(text)?;
    let (table, _) = DeTable::parse_recoverable(text);
    let Some(DeValue::Array(list)) = member(table.get_ref(), array) else { return Ok(None) };
    let found = list.iter().find(|entry| {
        let known = entry.get_ref().as_table().and_then(|table| member(table, name)).and_then(DeValue::as_str);
        known == Some(value)
    });
    let Some(entry) = found.filter(|entry| is_header(text, entry)) else { return Ok(None) };
    let mut own = Vec::new();
    headers(text, entry, &mut own);
    let mut all = Vec::new();
    table.get_ref().iter().for_each(|(_, value)| headers(text, value, &mut all));
    all.sort_unstable();
    let start = with_comment(text, entry.span().start);
    let next = all.into_iter().find(|header| *header > entry.span().start && !own.contains(header));
    let end = next.map_or(text.len(), |next| with_comment(text, next));
    let (before, after) = (text.get(..start).unwrap_or_default(), text.get(end..).unwrap_or_default());
    let mut out = before.to_string();
    if after.is_empty() {
        out.truncate(before.trim_end().len());
        if !out.is_empty() {
            out.push('\n');
        }
    }
    out.push_str(after);
    Ok(Some(out))
}

fn member<'t, 'i>(table: &'t DeTable<'i>, name: &str) -> Option<&'t DeValue<'i>> {
    table.iter().find(|(key, _)| key.get_ref() == name).map(|(_, value)| value.get_ref())
}

/// Whether a table stands under a header of its own, rather than in a value.
fn is_header(text: &str, value: &Spanned<DeValue<'_>>) -> bool {
    matches!(value.get_ref(), DeValue::Table(_)) && text.get(value.span().start..).is_some_and(|rest| rest.starts_with('['))
}

/// Where the headers of a value and of what it holds begin.
fn headers(text: &str, value: &Spanned<DeValue<'_>>, found: &mut Vec<usize>) {
    if is_header(text, value) {
        found.push(value.span().start);
    }
    match value.get_ref() {
        DeValue::Table(table) => table.iter().for_each(|(_, value)| headers(text, value, found)),
        DeValue::Array(list) => list.iter().for_each(|value| headers(text, value, found)),
        DeValue::String(_) | DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {}
    }
}

/// Where the lines of comment right above a header begin, or its own line where there are none.
fn with_comment(text: &str, header: usize) -> usize {
    let line_of = |at: usize| text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    let mut start = line_of(header);
    while start > 0 {
        let above = line_of(start - 1);
        if !text.get(above..start).is_some_and(|line| line.trim_start().starts_with('#')) {
            break;
        }
        start = above;
    }
    start
}
