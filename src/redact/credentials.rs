//! What in a header field is a credential, and how it may come back spelled.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::iter;

use crate::base64;
use crate::json;
use crate::text;
use crate::url;

/// Shorter values are too likely to be ordinary words.
const FEWEST_CHARACTERS: u64 = 8;

/// Fields that hold no credentials.
const HARMLESS: [&str; 26] = [
    "A2A-Extensions",
    "A2A-Version",
    "Accept",
    "Accept-Charset",
    "Accept-Encoding",
    "Accept-Language",
    "Baggage",
    "Cache-Control",
    "Content-Language",
    "Content-Type",
    "Correlation-Id",
    "Date",
    "DNT",
    "From",
    "Last-Event-ID",
    "MCP-Protocol-Version",
    "Origin",
    "Pragma",
    "Priority",
    "Referer",
    "Traceparent",
    "Tracestate",
    "User-Agent",
    "X-A2A-Extensions",
    "X-Correlation-Id",
    "X-Request-Id",
];

/// How the names of fields end that say where a request belongs, or who it is from.
const PLACES: &str = "app branch channel client cluster country department deployment domain env environment group \
                      instance language locale location mode name namespace organization platform project realm region \
                      role service site source stage team tenant type username version workspace zone";

/// The longest value that may be ordinary words, and the longest of those.
const WORDS: usize = 24;
const WORD: usize = 14;
/// How many words stand together, and how many letters of a kind.
const TOGETHER: usize = 4;
const ALIKE: u32 = 3;

/// How many things a value may list of which each is looked at.
const PIECES: usize = 16;

/// Scheme words that stand before a credential in fields of any name.
const SCHEMES: [&str; 4] = ["ApiKey", "Basic", "Bearer", "Token"];

/// Whether a value is what anybody may say, such as `production`, `eu-west-1` or `app.example.com`: few words, none of
/// which looks drawn by lot.
fn is_ordinary(value: &str) -> bool {
    let pieces = || value.split(['-', '_', '.', ' ']);
    let is_number = |piece: &str| piece.len() <= 2 && piece.bytes().all(|byte| byte.is_ascii_digit());
    value.len() <= WORDS
        && pieces().count() <= TOGETHER
        && pieces().all(|piece| is_word(piece) || !piece.is_empty() && is_number(piece))
        && pieces().any(|piece| piece.len() > 2)
}

/// Whether it can be pronounced and is written in one case.
fn is_word(piece: &str) -> bool {
    let rest = piece.get(1..).unwrap_or_default();
    let one_case = rest.bytes().all(|byte| byte.is_ascii_lowercase()) || piece.bytes().all(|byte| byte.is_ascii_uppercase());
    let (mut vowels, mut alike, mut last) = (0, 0, None);
    for byte in piece.bytes() {
        let is_vowel = matches!(byte.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u' | b'y');
        alike = if last == Some(is_vowel) { alike + 1 } else { 1 };
        if alike > ALIKE || !byte.is_ascii_alphabetic() {
            return false;
        }
        last = Some(is_vowel);
        vowels += usize::from(is_vowel);
    }
    one_case && (1..=WORD).contains(&piece.len()) && vowels * 4 >= piece.len()
}

/// Whether a value is ordinary in a field, or what is said by that name in one, that says where a request belongs.
fn says_where(name: &str, value: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let last = lower.rsplit(['-', '_', ' ']).next().unwrap_or_default();
    PLACES.split_ascii_whitespace().any(|place| place == last) && is_ordinary(value)
}

/// The credentials of a header field, without scheme words and short ones. A field that says where a request belongs has
/// none where its value is ordinary.
pub(super) fn of_header(name: &str, value: &str) -> Vec<String> {
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    let value = value.trim_ascii();
    let mut secrets = Vec::new();
    if HARMLESS.iter().any(|known| is(known)) {
        return secrets;
    }
    if is("Cookie") {
        let cookies = value.split(';').filter_map(|cookie| cookie.split_once('='));
        secrets.extend(cookies.map(|(_, value)| value.trim_ascii().trim_matches('"').to_owned()));
    } else {
        let authorization = is("Authorization") || is("Proxy-Authorization");
        let (scheme, rest) = value.split_once(' ').unwrap_or_default();
        let known = SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme));
        let credential = if known || (authorization && !scheme.is_empty()) { rest.trim_ascii() } else { value };
        if !known && says_where(name, value) {
            return secrets;
        }
        if scheme.eq_ignore_ascii_case("Basic") {
            secrets.extend(password(credential));
        }
        secrets.push(credential.to_owned());
        // What is quoted, or one of several, may come back by itself. A word among several is no secret by itself.
        for piece in iter::once(credential).chain(credential.split([',', ';']).take(PIECES)) {
            for (name, said) in [(name, piece), piece.split_once('=').unwrap_or((name, piece))] {
                let said = said.trim_ascii().trim_matches('"');
                let is_word = piece != credential && is_word(said);
                if said != credential && !is_word && !says_where(name, said) {
                    secrets.push(said.to_owned());
                }
            }
        }
    }
    secrets.retain(|secret| text::code_points(secret) >= FEWEST_CHARACTERS);
    secrets
}

/// The password of `Basic` credentials, or of the user information of a URL.
pub(super) fn password(credential: &str) -> Option<String> {
    let pair = base64::decode(credential).and_then(|pair| String::from_utf8(pair).ok());
    let pair = pair.as_deref().unwrap_or(credential);
    pair.split_once(':').map(|(_, password)| password.to_owned())
}

/// The user information in what was meant as a URL (RFC 3986 §3.2.1): its password and all of it, as they are written
/// and as they are meant. What can be read as a URL has none.
pub(super) fn of_url(text: &str) -> Vec<String> {
    let mut secrets = Vec::new();
    if !text.contains('@') || url::Url::parse(text).is_ok() {
        return secrets;
    }
    let (scheme, after) = text.split_once(':').unwrap_or_default();
    let is_url = after.starts_with("//") || ["http", "https"].iter().any(|known| known.eq_ignore_ascii_case(scheme));
    let rest = if is_url { after.trim_start_matches(['/', '\\']) } else { text };
    // A password with a slash in it ends the authority too early: then all up to the last `@` may belong to it.
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    for (user, _) in [authority, rest].iter().filter_map(|part| part.rsplit_once('@')) {
        let password = user.split_once(':').map(|(_, password)| password);
        if password.is_none() && !is_url {
            continue;
        }
        for written in password.into_iter().chain([user]) {
            let meant = String::from_utf8(url::decode(written)).unwrap_or_default();
            let is_other = meant != written && !other_spellings(&meant).iter().any(|spelling| spelling == written);
            secrets.push(meant);
            if is_other {
                secrets.push(written.to_owned());
            }
        }
    }
    secrets.retain(|secret| text::code_points(secret) >= FEWEST_CHARACTERS);
    secrets
}

/// How a secret may be spelled where it is quoted: in JSON text that is itself a string, as the writers of common
/// languages escape it there, and in a URL with digits of either case.
pub(super) fn other_spellings(secret: &str) -> Vec<String> {
    let mut quoted = String::new();
    json::write_string(&mut quoted, secret);
    let escaped = quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned();
    let slashes = escaped.replace('/', "\\/");
    let mut encoded = String::new();
    url::percent_encode(&mut encoded, secret);
    let small = in_lower_case(&encoded);
    // Go, Ruby and PHP escape what HTML minds, .NET the quote and the plus too.
    let lower = numbered(&escaped, "<>&", |code| format!("\\u{code:04x}"));
    let mut bare = String::new();
    for piece in escaped.split_inclusive('"') {
        match piece.strip_suffix("\\\"") {
            Some(plain) => {
                bare.push_str(plain);
                bare.push('"');
            }
            None => bare.push_str(piece),
        }
    }
    let upper = numbered(&bare, "\"<>&'+`", |code| format!("\\u{code:04X}"));
    let mut list = Vec::new();
    for spelling in [escaped, slashes, encoded, small, lower, upper] {
        if spelling != secret && !list.contains(&spelling) {
            list.push(spelling);
        }
    }
    list
}

/// The text with some characters written by number.
fn numbered(text: &str, which: &str, write: fn(u32) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        if which.chars().any(|known| known == char) {
            out.push_str(&write(u32::from(char)));
        } else {
            out.push(char);
        }
    }
    out
}

/// A percent-encoded text with its hexadecimal digits in lower case.
fn in_lower_case(encoded: &str) -> String {
    let (mut digits, mut lower) = (0, String::with_capacity(encoded.len()));
    for char in encoded.chars() {
        let digit = digits > 0;
        digits = if char == '%' { 2 } else { digits - u8::from(digit) };
        lower.push(if digit { char.to_ascii_lowercase() } else { char });
    }
    lower
}
