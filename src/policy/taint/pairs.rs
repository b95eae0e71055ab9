//! What stands around a mark: a secret's name and its value, a credential after its scheme, a user before a host.

use super::super::rule::{Rule, Rules};
use super::names::{self, Named};
use super::prefixes;
use super::scan::{before, byte};

/// How far a value is looked at.
const VALUE: usize = 256;
/// How far a blank may stretch.
const BLANK: usize = 64;
/// The shortest value that is one.
const SHORTEST: usize = 6;

/// Schemes of HTTP authentication, and those of services that use the same field.
const SCHEMES: &str = "basic bearer digest token apikey api-key negotiate ntlm hawk oauth mac signature dpop aws4-hmac-sha256 \
sharedkey sso-key";

/// Words that stand where a value would.
const PLACEHOLDERS: &str = "absent boolean changeme change-me change_me default disabled dummy enabled encrypted example expired \
filtered forbidden forgotten hidden hunter included incorrect invalid masked mismatch missing needed number object omitted \
optional passwd password present private protected provided redacted rejected removed required sanitized secret string stripped \
undefined unknown unset";

/// The rules that fire on a name before `:` or `=` and the value after it.
pub(super) fn rules(text: &[u8], mark: usize, wanted: Rules) -> Rules {
    let mut found = Rules::NONE;
    if !(wanted.has(Rule::KeyValueSecret) || wanted.has(Rule::AuthorizationLiteral)) {
        return found;
    }
    let named = names::before(text, mark);
    if named == Named::Nothing {
        return found;
    }
    let Some(value) = Value::after(text, mark) else { return found };
    match named {
        Named::Authorization if wanted.has(Rule::AuthorizationLiteral) && value.is_authorization(text) => {
            found.add(Rule::AuthorizationLiteral);
        }
        Named::Secret if wanted.has(Rule::KeyValueSecret) && value.is_secret(text, byte(text, mark) == b':') => {
            found.add(Rule::KeyValueSecret);
        }
        Named::Authorization | Named::Secret | Named::Nothing => {}
    }
    found
}

/// Where a value stands.
#[derive(Clone, Copy)]
struct Value {
    start: usize,
    end: usize,
}

impl Value {
    /// The value after a mark: behind blanks, further marks of assignment and a quote.
    fn after(text: &[u8], mark: usize) -> Option<Self> {
        let mut at = mark + 1;
        while matches!(byte(text, at), b'=' | b'>' | b':') {
            at += 1;
        }
        at = blanks(text, at);
        while byte(text, at) == b'\\' {
            at += 1;
        }
        at += usize::from(matches!(byte(text, at), b'"' | b'\'' | b'`'));
        (at < text.len()).then(|| Self { start: at, end: word_end(text, at) })
    }

    /// The next word.
    fn next(self, text: &[u8]) -> Option<Self> {
        let start = blanks(text, self.end);
        (start > self.end && start < text.len()).then(|| Self { start, end: word_end(text, start) })
    }

    fn bytes(self, text: &[u8]) -> &[u8] {
        text.get(self.start..self.end).unwrap_or_default()
    }

    fn is_secret(self, text: &[u8], after_colon: bool) -> bool {
        let value = self.bytes(text);
        let call = byte(text, self.end) == b'(';
        let is_none = call || is_placeholder(value) || after_colon && self.is_prose(text);
        value.len() >= SHORTEST && !is_none
    }

    /// A plain word with another one behind it: a sentence goes on.
    fn is_prose(self, text: &[u8]) -> bool {
        let plain = self.bytes(text).iter().skip(1).all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'\'' | b'-'));
        plain && self.next(text).is_some_and(|next| next.bytes(text).iter().any(u8::is_ascii_alphabetic))
    }

    /// A scheme with a credential behind it, or a credential alone.
    fn is_authorization(self, text: &[u8]) -> bool {
        let scheme = self.bytes(text);
        let known = SCHEMES.split_ascii_whitespace().any(|known| scheme.eq_ignore_ascii_case(known.as_bytes()));
        match self.next(text) {
            Some(next) if known => is_credential(next.bytes(text)) || byte(text, next.end.saturating_sub(1)) == b'=',
            Some(_) | None => scheme.len() >= 16 && is_credential(scheme),
        }
    }
}

fn blanks(text: &[u8], start: usize) -> usize {
    let blank = text.get(start..).unwrap_or_default().iter().take(BLANK);
    start + blank.take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Where a word ends: at a blank, a quote, or what separates values.
fn word_end(text: &[u8], start: usize) -> usize {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`\\,;)}]&|<(".contains(byte);
    let word = text.get(start..).unwrap_or_default().iter().take(VALUE);
    // What begins with such a mark is a placeholder, and is taken with it.
    let first = word.clone().take(1).filter(|byte| !byte.is_ascii_whitespace()).count();
    start + first + word.skip(first).take_while(|byte| !ends(byte)).count()
}

/// Whether a word is a credential and not one of a sentence.
fn is_credential(word: &[u8]) -> bool {
    let odd = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'=' | b'+' | b'/' | b'_' | b'~');
    let mixed = word.iter().skip(1).any(u8::is_ascii_uppercase) && word.iter().any(u8::is_ascii_lowercase);
    word.len() >= SHORTEST && !is_placeholder(word) && (word.iter().any(odd) || mixed || word.len() >= 16)
}

/// Whether a credential without a doubt comes after a scheme that ends at a place.
pub(super) fn is_bare_credential(text: &[u8], end: usize) -> bool {
    let start = blanks(text, end);
    let word = text.get(start..word_end(text, start)).unwrap_or_default();
    let mixed = word.iter().any(u8::is_ascii_digit) && word.iter().any(u8::is_ascii_alphabetic);
    // One that says whose it is fires by that.
    word.len() >= 16 && mixed && is_credential(word) && prefixes::length_at(text, start).is_none()
}

/// Whether a value only says that there would be one.
fn is_placeholder(value: &[u8]) -> bool {
    let value = value.strip_suffix(b".").or(value.strip_suffix(b"!")).or(value.strip_suffix(b"?")).unwrap_or(value);
    let begins = |start: &str| value.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()));
    let first = byte(value, 0);
    let second = byte(value, 1);
    let variable = first == b'$' && (matches!(second, b'{' | b'(') || value.iter().skip(1).all(|byte| is_capital(*byte)));
    let marked = matches!(first, b'<' | b'[' | b'{' | b'(' | b'&' | b'|' | b')' | b'}' | b']' | b',' | b';') || variable;
    let quoted = first == b'%' && value.ends_with(b"%");
    let filler = value.iter().all(|byte| b"xX*.-_#?".contains(byte)) || value.iter().all(|byte| *byte == first);
    let version = value.contains(&b'.') && value.iter().all(|byte| b"0123456789.^~*<>=v".contains(byte));
    let constant = value.contains(&b'_') && value.iter().all(|byte| is_capital(*byte));
    let starts = ["your", "example", "placeholder", "dummy", "insert", "replace", "http://", "https://", "process.env", "xxxx"];
    marked
        || quoted
        || filler
        || version
        || constant
        || is_reference(value)
        || starts.iter().any(|start| begins(start))
        || is_word(value)
}

fn is_word(value: &[u8]) -> bool {
    PLACEHOLDERS.split_ascii_whitespace().any(|known| value.eq_ignore_ascii_case(known.as_bytes()))
}

fn is_capital(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte == b'_'
}

/// Names of a program with points between them, `request.headers.token`, or up to the quote of what one holds under a name,
/// `config["token"]`.
fn is_reference(value: &[u8]) -> bool {
    let (value, least) = value.strip_suffix(b"[").map_or((value, 2), |value| (value, 1));
    let named = value.iter().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'.' | b'_' | b'$'));
    named && value.split(|byte| *byte == b'.').filter(|part| !part.is_empty()).count() >= least
}

/// The host and path of a URL whose authority begins at a place: what stands in them is an address.
pub(super) fn address(text: &[u8], start: usize) -> (usize, usize) {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>\\?#".contains(byte);
    let rest = text.get(start..).unwrap_or_default();
    let length = rest.iter().position(ends).unwrap_or(rest.len());
    let authority = rest.iter().take(length.min(VALUE)).take_while(|byte| **byte != b'/');
    let user = authority.enumerate().filter(|(_, byte)| **byte == b'@').last().map_or(0, |(at, _)| at + 1);
    (start + user, start + length)
}

/// The rules that fire on what stands around an `@`: a password before a host, or an address for mail.
pub(super) fn at_sign(text: &[u8], at: usize, wanted: Rules) -> Rules {
    let mut found = Rules::NONE;
    let fits = |byte: &u8| byte.is_ascii_graphic() && !b"\"'`<>\\@/".contains(byte);
    let length = text.get(..at).unwrap_or_default().iter().rev().take(VALUE).take_while(|byte| fits(byte)).count();
    let start = at - length;
    let user = text.get(start..at).unwrap_or_default();
    if text.get(..start).is_some_and(|before| before.ends_with(b"://")) {
        let password = user.iter().position(|byte| *byte == b':').and_then(|colon| user.get(colon + 1..));
        let secret = password.is_some_and(|password| password.len() >= SHORTEST && !is_placeholder(password));
        if secret && wanted.has(Rule::AuthorizationLiteral) {
            found.add(Rule::AuthorizationLiteral);
        }
    } else if wanted.has(Rule::PiiEmail) && is_mail(text, at) {
        found.add(Rule::PiiEmail);
    }
    found
}

/// Whether an address for mail has its `@` at a place (RFC 5321 §4.1.2, without quoted local parts).
fn is_mail(text: &[u8], at: usize) -> bool {
    let in_local = |byte: &u8| byte.is_ascii_alphanumeric() || b"._%+-'".contains(byte);
    let local = text.get(..at).unwrap_or_default().iter().rev().take(65).take_while(|byte| in_local(byte)).count();
    let in_domain = |byte: &u8| byte.is_ascii_alphanumeric() || b".-".contains(byte);
    let domain = text.get(at + 1..).unwrap_or_default();
    let length = domain.iter().take(254).take_while(|byte| in_domain(byte)).count();
    let (domain, rest) = domain.split_at_checked(length).unwrap_or_default();
    let domain = domain.strip_suffix(b".").unwrap_or(domain);
    // A remote repository, as ssh and git write it.
    let is_remote = byte(rest, 0) == b':' && before(text, at - local) != b':' && byte(rest, 1).is_ascii_alphanumeric();
    let mut labels = domain.split(|byte| *byte == b'.').rev();
    let top = labels.next().unwrap_or_default();
    let valid = (2..=24).contains(&top.len()) && top.iter().all(u8::is_ascii_alphabetic);
    let others = labels.clone().count() > 0 && labels.all(|label| !label.is_empty() && byte(label, 0) != b'-');
    (1..=64).contains(&local) && byte(text, at - local).is_ascii_alphanumeric() && valid && others && !is_remote
}
