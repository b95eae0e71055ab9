//! Secrets in JSON text: whatever their spelling, the text stays JSON.

use alloc::string::String;

use memchr::memchr2;

use super::effort::Effort;
use super::{Form, Secrets};
use crate::json::{unescape_lossy, write_string};

/// The JSON text with its secrets replaced; none where it holds none.
pub(super) fn replace(secrets: &Secrets, text: &str, form: Form) -> Option<String> {
    if secrets.secrets.is_empty() {
        return None;
    }
    let (mut out, mut copied, mut at) = (String::new(), 0, 0);
    let mut effort = Effort::for_bytes(text.len());
    while let Some(token) = next_token(text, at) {
        at = token.end;
        if let Some(new) =
            replaced(secrets, text.get(token.start..token.end).unwrap_or_default(), token.escaped, form, &mut effort)
        {
            out.push_str(text.get(copied..token.start).unwrap_or_default());
            out.push_str(&new);
            copied = token.end;
        }
    }
    (copied > 0).then(|| out + text.get(copied..).unwrap_or_default())
}

/// The token with its secrets replaced, as a string token.
fn replaced(secrets: &Secrets, token: &str, escaped: bool, form: Form, effort: &mut Effort) -> Option<String> {
    let content = if escaped {
        secrets.replace(&unescape_lossy(token), form, effort)
    } else {
        secrets.replace(token.trim_matches('"'), form, effort)
    };
    let content = content?;
    let mut out = String::with_capacity(content.len() + 2);
    write_string(&mut out, &content);
    Some(out)
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
