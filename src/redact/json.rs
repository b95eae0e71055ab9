//! Secrets in JSON text: whatever their spelling, the text stays JSON.

use alloc::borrow::Cow;
use alloc::collections::BinaryHeap;
use alloc::string::String;
use alloc::vec::Vec;

use memchr::memchr2;

use super::effort::Effort;
use super::{Form, Secrets};
use crate::json::{unescape_lossy, write_string};
use crate::list::gather;

/// The JSON text with its secrets replaced; none where it holds none. The members `text` of objects that follow each other
/// in a list are read as one, as pieces of what an agent or a server says.
pub(super) fn replace(secrets: &Secrets, text: &str, form: Form) -> Option<String> {
    if secrets.secrets.is_empty() {
        return None;
    }
    let effort = Effort::for_bytes(text.len());
    let mut edits = Edits { secrets, text, form, effort, new: BinaryHeap::new() };
    let (mut at, mut depth, mut is_said) = (0, 0_u32, false);
    let mut runs = Vec::<(u32, Vec<Token>)>::new();
    while let Some(token) = next_token(text, at) {
        for byte in text.as_bytes().get(at..token.start).unwrap_or_default() {
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    // What the objects of a run are in is over.
                    while let Some((_, run)) = runs.pop_if(|(at, _)| *at > depth + 1) {
                        edits.across(&run);
                    }
                }
                _ => {}
            }
        }
        at = token.end;
        let raw = raw(text, &token);
        let is_text = core::mem::replace(&mut is_said, raw == "\"text\"" && text.as_bytes().get(at) == Some(&b':'));
        if !is_text || !raw.starts_with('"') || matches!(form, Form::Placeholder) {
            edits.alone(&token);
            continue;
        }
        while let Some((_, run)) = runs.pop_if(|(at, _)| *at > depth) {
            edits.across(&run);
        }
        match runs.last_mut().filter(|(at, _)| *at == depth) {
            Some((_, run)) => run.push(token),
            None => runs.push((depth, alloc::vec![token])),
        }
    }
    runs.iter().for_each(|(_, run)| edits.across(run));
    let (mut out, mut copied) = (String::new(), 0);
    for (start, end, new) in edits.new.into_sorted_vec() {
        out.push_str(text.get(copied..start).unwrap_or_default());
        write_string(&mut out, &new);
        copied = end;
    }
    (copied > 0).then(|| out + text.get(copied..).unwrap_or_default())
}

fn raw<'t>(text: &'t str, token: &Token) -> &'t str {
    text.get(token.start..token.end).unwrap_or_default()
}

fn content<'t>(text: &'t str, token: &Token) -> Cow<'t, str> {
    let raw = raw(text, token);
    if token.escaped { Cow::Owned(unescape_lossy(raw)) } else { Cow::Borrowed(raw.trim_matches('"')) }
}

/// What is replaced in a JSON text.
struct Edits<'a> {
    secrets: &'a Secrets,
    text: &'a str,
    form: Form,
    effort: Effort,
    /// where a token starts and ends, and what its string is then
    new: BinaryHeap<(usize, usize, String)>,
}

impl Edits<'_> {
    fn alone(&mut self, token: &Token) {
        let content = content(self.text, token);
        if let Some(new) = self.secrets.replace(&content, self.form, &mut self.effort) {
            self.new.push((token.start, token.end, new));
        }
    }

    fn across(&mut self, run: &[Token]) {
        if let [token] = run {
            return self.alone(token);
        }
        let texts = gather(run.iter().map(|token| content(self.text, token)));
        let new = self.secrets.replace_across("", &texts, false, &mut self.effort);
        for (token, new) in run.iter().zip(new) {
            if let Some(new) = new {
                self.new.push((token.start, token.end, new));
            }
        }
    }
}

/// A string with its quotes, or a number.
struct Token {
    start: usize,
    end: usize,
    /// It holds backslashes.
    escaped: bool,
}

/// The next string or number at or after `from`.
fn next_token(text: &str, from: usize) -> Option<Token> {
    let rest = text.as_bytes().get(from..)?;
    let skipped = rest.iter().position(|byte| matches!(byte, b'"' | b'-' | b'0'..=b'9'))?;
    let start = from + skipped;
    let token = rest.get(skipped..)?;
    if token.first() == Some(&b'"') {
        let (length, escaped) = string_length(token);
        return Some(Token { start, end: start + length, escaped });
    }
    let in_number = |byte: &u8| matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E' | b'0'..=b'9');
    let length = token.iter().position(|byte| !in_number(byte)).unwrap_or(token.len());
    Some(Token { start, end: start + length, escaped: false })
}

/// How long the string is that the bytes begin with, and whether it holds escapes.
fn string_length(bytes: &[u8]) -> (usize, bool) {
    let (mut at, mut escaped) = (1, false);
    while let Some(skipped) = bytes.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += skipped;
        if bytes.get(at) == Some(&b'"') {
            return (at + 1, escaped);
        }
        escaped = true;
        at += 2;
    }
    (bytes.len(), escaped)
}
