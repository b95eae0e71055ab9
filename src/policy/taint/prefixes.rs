//! Tokens that say whose they are.

use super::scan::{before, byte};

/// What follows a prefix.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// letters and digits
    Letters,
    /// capitals and digits, as many as there are to be
    Capitals,
    /// letters, digits, `-` and `_`
    Token,
    /// the same, of which sixteen stand together and hold a digit and a letter
    Random,
}

/// A prefix, how many characters follow at least, and which.
static PREFIXES: [(&str, usize, Shape); 31] = [
    ("sk-", 20, Shape::Random),
    ("ghp_", 36, Shape::Letters),
    ("gho_", 36, Shape::Letters),
    ("ghu_", 36, Shape::Letters),
    ("ghs_", 36, Shape::Letters),
    ("ghr_", 36, Shape::Letters),
    ("github_pat_", 40, Shape::Token),
    ("glpat-", 20, Shape::Token),
    ("gldt-", 20, Shape::Token),
    ("glrt-", 20, Shape::Token),
    ("glptt-", 20, Shape::Token),
    ("xoxa-", 20, Shape::Random),
    ("xoxb-", 20, Shape::Random),
    ("xoxp-", 20, Shape::Random),
    ("xoxr-", 20, Shape::Random),
    ("xoxs-", 20, Shape::Random),
    ("xoxe-", 20, Shape::Random),
    ("xapp-", 20, Shape::Random),
    ("AKIA", 16, Shape::Capitals),
    ("ASIA", 16, Shape::Capitals),
    ("AIza", 35, Shape::Token),
    ("ya29.", 20, Shape::Token),
    ("npm_", 36, Shape::Letters),
    ("pypi-", 32, Shape::Random),
    ("hf_", 30, Shape::Letters),
    ("sk_live_", 16, Shape::Letters),
    ("rk_live_", 16, Shape::Letters),
    ("GOCSPX-", 20, Shape::Token),
    ("dop_v1_", 40, Shape::Letters),
    ("shpat_", 32, Shape::Letters),
    ("whsec_", 24, Shape::Letters),
];

/// How long the token with a prefix is that begins at a place which nothing but a mark stands before.
pub(super) fn length_at(text: &[u8], at: usize) -> Option<usize> {
    if before(text, at).is_ascii_alphanumeric() {
        return None;
    }
    let rest = text.get(at..).unwrap_or_default();
    match byte(rest, 0) {
        b'-' => private_key(rest),
        b'e' if rest.starts_with(b"eyJ") => of_parts(rest, WEB_TOKEN),
        b'S' if rest.starts_with(b"SG.") => of_parts(rest, MAIL_KEY),
        b's' | b'g' | b'x' | b'A' | b'y' | b'n' | b'p' | b'h' | b'r' | b'G' | b'd' | b'w' => listed(rest),
        _ => None,
    }
}

fn listed(rest: &[u8]) -> Option<usize> {
    let (prefix, least, shape) = PREFIXES.iter().find(|(prefix, ..)| rest.starts_with(prefix.as_bytes()))?;
    let rest = rest.get(prefix.len()..).unwrap_or_default();
    let length = run(rest, |byte| match shape {
        Shape::Letters => byte.is_ascii_alphanumeric(),
        Shape::Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        Shape::Token | Shape::Random => is_in_token(byte),
    });
    let token = rest.get(..length).unwrap_or_default();
    let fits = match shape {
        Shape::Letters | Shape::Token => length >= *least,
        Shape::Capitals => length == *least && !byte(rest, length).is_ascii_alphanumeric(),
        Shape::Random => length >= *least && token.split(|byte| matches!(byte, b'-' | b'_')).any(is_random),
    };
    // What manuals print in the place of a key.
    (fits && !token.ends_with(b"EXAMPLE")).then_some(prefix.len() + length)
}

fn is_in_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

fn is_random(piece: &[u8]) -> bool {
    piece.len() >= 16 && piece.iter().any(u8::is_ascii_digit) && piece.iter().any(u8::is_ascii_alphabetic)
}

/// How many of the first bytes fit.
fn run(text: &[u8], fits: impl Fn(u8) -> bool) -> usize {
    text.iter().position(|byte| !fits(*byte)).unwrap_or(text.len())
}

/// A JSON web token (RFC 7519 §3): how long its three parts are at least.
const WEB_TOKEN: &[usize] = &[12, 8, 10];
/// A key that begins with `SG.`.
const MAIL_KEY: &[usize] = &[2, 16, 24];

/// The length of parts of at least that many characters with a point between them.
fn of_parts(text: &[u8], least: &[usize]) -> Option<usize> {
    let mut end = 0;
    for (number, least) in least.iter().enumerate() {
        if number > 0 {
            end += (byte(text, end) == b'.').then_some(1)?;
        }
        let length = run(text.get(end..).unwrap_or_default(), is_in_token);
        end += (length >= *least).then_some(length)?;
    }
    Some(end)
}

/// The first line of a private key (RFC 7468 §2).
fn private_key(rest: &[u8]) -> Option<usize> {
    let label = rest.strip_prefix(b"-----BEGIN ")?;
    let length = run(label, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ').min(40);
    let (label, end) = label.split_at_checked(length)?;
    let named = label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK");
    (named && end.starts_with(b"-----")).then_some(length + 16)
}
