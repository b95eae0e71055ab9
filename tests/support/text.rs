//! Texts as the tests look at them: JSON taken apart, escapes undone.

use narrows::json::{self, Json, Members, Raw};

pub fn raw(text: &str) -> Raw<'_> {
    json::parse(text, 200).unwrap_or_else(|fault| panic!("{fault:?}: {text}"))
}

pub fn members(text: &str) -> Members<'_> {
    json::members(raw(text)).unwrap_or_else(|| panic!("no object: {text}"))
}

/// The value at a path of member names and list indices, as JSON text; `None` where there is none.
pub fn at(text: &str, path: &[&str]) -> Option<String> {
    let mut value = json::parse(text, 200).ok()?;
    for step in path {
        value = match step.parse::<usize>() {
            Ok(index) => *json::elements(value)?.get(index)?,
            Err(_) => json::members(value)?.get_any(step)?,
        };
    }
    Some(value.get().to_owned())
}

/// The string at a path.
pub fn string_at(text: &str, path: &[&str]) -> Option<String> {
    json::string(raw(&at(text, path)?))
}

pub fn quoted(text: &str) -> String {
    Json::string(text).into_string()
}

/// A JSON string whose escapes are spelled as the writers of .NET do.
pub fn quoted_with_escapes(text: &str) -> String {
    let spelled = |char: char| match char {
        '"' | '+' | '<' | '>' | '&' | '\'' | '`' | '\0'..='\u{1f}' => format!("\\u{:04X}", u32::from(char)),
        '\\' => "\\\\".to_owned(),
        other => other.to_string(),
    };
    format!("\"{}\"", text.chars().map(spelled).collect::<String>())
}

/// Whether a text holds a word, however often it was escaped for JSON or for a URL.
pub fn holds(text: &str, word: &str) -> bool {
    // Letters, digits and hyphens are written as they are everywhere, which spares most of the work.
    let letters = word.find(|char: char| !char.is_ascii_alphanumeric() && char != '-').map_or(word, |at| &word[..at]);
    if !text.contains(letters) {
        return false;
    }
    let mut level = text.to_owned();
    for _ in 0..4 {
        if level.contains(word) || percent_decoded(&level).contains(word) {
            return true;
        }
        if !level.contains('\\') {
            return false;
        }
        level = json::unescape_lossy(&level);
    }
    false
}

fn percent_decoded(text: &str) -> String {
    if !text.contains('%') {
        return String::new();
    }
    let mut out = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let hex = (bytes[at] == b'%').then(|| bytes.get(at + 1..at + 3)).flatten();
        let byte = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        out.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The numbers that follow a word in a text, such as 17 of `task-17`.
pub fn numbers_after(text: &str, word: &str) -> Vec<u64> {
    let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
    text.match_indices(word).filter_map(|(at, _)| digits(&text[at + word.len()..])).collect()
}

/// A text cut to a readable length.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(400) {
        Some((at, _)) => format!("{}… ({} bytes)", &text[..at], text.len()),
        None => text.to_owned(),
    }
}
