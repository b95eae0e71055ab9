//! Tables of an array of tables, put into the text of a file and taken out of it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};

use super::{Fault, inline, key, read};
use crate::json::{self, Json};

/// The text with one more table in the array of tables `array`, at its end. Its lines end as the first of the text does.
///
/// # Errors
/// The faults of the text; of the result where the array is written as a value (`array = [ … ]`).
pub fn add(text: &str, array: &str, table: &Json) -> Result<String, Vec<Fault>> {
    read(text)?;
    let end = line_end(text);
    let mut out: String = text.trim_end().into();
    if !out.is_empty() {
        out.push_str(end);
        out.push_str(end);
    }
    out.push_str(&format!("[[{array}]]{end}"));
    for (name, value) in json::members(table.raw()).iter().flat_map(json::Members::iter) {
        out.push_str(&format!("{} = {}{end}", key(name), inline(value)));
    }
    read(&out).map(|_| out)
}

/// The text without the table of `array` whose member `name` is this string, and without the comment right above it; `None`
/// where there is none of its own. What stands behind the last member of it stays, such as the comment of what comes next.
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
    sections(text, entry, &mut own);
    own.sort_unstable();
    let mut all = Vec::new();
    table.get_ref().iter().for_each(|(_, value)| sections(text, value, &mut all));
    all.sort_unstable();
    let mut out = String::new();
    let mut kept = 0;
    let mut own = own.as_slice();
    while let Some((first, rest)) = own.split_first() {
        // With what stands between them go those that nothing else stands between.
        let next = all.iter().find(|other| other.start > first.start && !rest.contains(other));
        let run = rest.iter().take_while(|own| next.is_none_or(|next| own.start < next.start)).count();
        let last = rest.get(..run).and_then(<[Section]>::last).unwrap_or(first);
        put(&mut out, text.get(kept..with_comment(text, first.start)).unwrap_or_default(), text);
        kept = text.get(last.end..).and_then(|rest| rest.find('\n')).map_or(text.len(), |end| last.end + end + 1);
        own = rest.get(run..).unwrap_or_default();
    }
    put(&mut out, text.get(kept..).unwrap_or_default(), text);
    if out.trim().is_empty() {
        out.clear();
    } else if text.get(kept..).is_some_and(|rest| rest.trim().is_empty()) {
        out.truncate(out.trim_end().len());
        out.push_str(line_end(text));
    }
    Ok(Some(out))
}

/// Puts lines behind others, with one gap between them where both have one.
fn put(out: &mut String, lines: &str, text: &str) {
    let end = line_end(text);
    let is_apart = out.is_empty() || out.ends_with(&format!("{end}{end}"));
    out.push_str(if is_apart { lines.trim_start_matches(['\r', '\n']) } else { lines });
}

/// How the lines of a text end: as the first one does.
fn line_end(text: &str) -> &'static str {
    if text.lines().next().is_some_and(|line| text.get(line.len()..).is_some_and(|rest| rest.starts_with("\r\n"))) {
        "\r\n"
    } else {
        "\n"
    }
}

fn member<'t, 'i>(table: &'t DeTable<'i>, name: &str) -> Option<&'t DeValue<'i>> {
    table.iter().find(|(key, _)| key.get_ref() == name).map(|(_, value)| value.get_ref())
}

/// A table under a header: from where the header begins to where the last of it ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Section {
    start: usize,
    end: usize,
}

/// Whether a table stands under a header of its own, rather than in a value.
fn is_header(text: &str, value: &Spanned<DeValue<'_>>) -> bool {
    matches!(value.get_ref(), DeValue::Table(_)) && text.get(value.span().start..).is_some_and(|rest| rest.starts_with('['))
}

/// The sections of a value and of what it holds.
fn sections(text: &str, value: &Spanned<DeValue<'_>>, found: &mut Vec<Section>) {
    if is_header(text, value) {
        found.push(Section { start: value.span().start, end: end_of(text, value) });
    }
    match value.get_ref() {
        DeValue::Table(table) => table.iter().for_each(|(_, value)| sections(text, value, found)),
        DeValue::Array(list) => list.iter().for_each(|value| sections(text, value, found)),
        DeValue::String(_) | DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {}
    }
}

/// Where a value ends, without the sections that it holds.
fn end_of(text: &str, value: &Spanned<DeValue<'_>>) -> usize {
    let mut end = value.span().end;
    let DeValue::Table(table) = value.get_ref() else { return end };
    for (key, value) in table.iter() {
        let is_apart = match value.get_ref() {
            DeValue::Array(list) => list.first().is_some_and(|first| is_header(text, first)),
            DeValue::Table(_)
            | DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_) => is_header(text, value),
        };
        if !is_apart {
            end = end.max(key.span().end).max(end_of(text, value));
        }
    }
    end
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
