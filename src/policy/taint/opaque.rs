//! Long tokens that look random, told from ids, hashes, dates, paths and names.
//!
//! A token is taken apart at its marks. Pieces that explain themselves are set aside: words, numbers, hexadecimal, ULIDs.
//! What is left has to be long, to mix letters and digits, and to hold more than 3.5 bits in each character.

use super::scan::byte;

/// The shortest token.
const SHORTEST: usize = 32;
/// What is longer is content.
const LONGEST: usize = 2048;
/// How much of a token has to be unexplained, all pieces together and the longest piece.
const UNEXPLAINED: (u32, u32) = (24, 16);
/// Bits in each character that an unexplained token holds more than, times 256.
const BITS: u32 = 896;
/// Where this stands before a digit of base64, it is the hash of something public (W3C Subresource Integrity §3.1), or a
/// public key (RFC 4253 §6.6).
const PUBLIC: &str = "sha1- sha256- sha384- sha512- AAAAB3NzaC1 AAAAC3NzaC1 AAAAE2VjZHNh";

/// Whether the token between two places is one.
pub(super) fn is_opaque(text: &[u8], start: usize, end: usize) -> bool {
    let token = text.get(start..end).unwrap_or_default();
    let fits = (SHORTEST..=LONGEST).contains(&token.len()) && token.iter().any(u8::is_ascii_digit);
    if !fits || is_named_as_id(text, start) {
        return false;
    }
    let may_be_public = matches!(byte(token, 0), b's' | b'A');
    if may_be_public && PUBLIC.split_ascii_whitespace().any(|known| token.starts_with(known.as_bytes())) {
        return false;
    }
    if is_data_url(text, start) {
        return false;
    }
    if is_secret_access_key(token) {
        return true;
    }
    let in_path = token.iter().filter(|byte| **byte == b'/').count() > 1;
    let mut seen = Seen::default();
    for piece in token.split(|byte| !byte.is_ascii_alphanumeric()) {
        if !is_explained(piece, in_path) {
            seen.add(piece);
        }
    }
    let (all, longest) = UNEXPLAINED;
    seen.total >= all && seen.longest >= longest && seen.digits > 0 && seen.digits < seen.total && seen.is_dense()
}

/// How long a secret access key of AWS is, and how often one kind of digit follows another in it at least.
const ACCESS_KEY: (usize, usize) = (40, 16);

/// A key of 40 digits of base64, which its strokes make look like a path.
fn is_secret_access_key(token: &[u8]) -> bool {
    let kind = |byte: u8| match byte {
        b'a'..=b'z' => 0_u8,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        b'+' | b'/' => 3,
        _ => 4,
    };
    let (length, least) = ACCESS_KEY;
    let has = |wanted: u8| token.iter().any(|byte| kind(*byte) == wanted);
    let steps = token.iter().zip(token.iter().skip(1)).filter(|(one, next)| kind(**one) != kind(**next)).count();
    token.len() == length && has(0) && has(1) && has(2) && has(3) && !has(4) && steps >= least
}

/// An id is no secret, so what stands in a query as one is none.
fn is_named_as_id(text: &[u8], start: usize) -> bool {
    let before = text.get(start.saturating_sub(4)..start).unwrap_or_default();
    let Some(name) = before.strip_suffix(b"=") else { return false };
    matches!(name, [b'?' | b'&' | b'_' | b'-', b'i', b'd'] | [b'a'..=b'z', b'I', b'd'])
}

/// Content that stands in a URL (RFC 2397).
fn is_data_url(text: &[u8], start: usize) -> bool {
    text.get(..start).is_some_and(|before| before.ends_with(b";base64,"))
}

/// What was not explained.
struct Seen {
    counts: [u16; 128],
    total: u32,
    digits: u32,
    longest: u32,
}

impl Default for Seen {
    fn default() -> Self {
        Self { counts: [0; 128], total: 0, digits: 0, longest: 0 }
    }
}

impl Seen {
    fn add(&mut self, piece: &[u8]) {
        let length = u32::try_from(piece.len()).unwrap_or(u32::MAX);
        self.total += length;
        self.longest = self.longest.max(length);
        for byte in piece {
            self.digits += u32::from(byte.is_ascii_digit());
            if let Some(count) = self.counts.get_mut(usize::from(*byte)) {
                *count += 1;
            }
        }
    }

    /// Shannon's entropy: log2 of the total, less the mean of the log2 of each character's count.
    fn is_dense(&self) -> bool {
        let mut bits = u64::from(self.total) * u64::from(log2(self.total));
        for count in self.counts.iter().filter(|count| **count > 1) {
            bits -= u64::from(*count) * u64::from(log2(u32::from(*count)));
        }
        bits > u64::from(self.total) * u64::from(BITS)
    }
}

/// The binary logarithm times 256, rounded down.
fn log2(number: u32) -> u32 {
    let whole = number.checked_ilog2().unwrap_or(0);
    // The number between 1 and 2 with 16 bits behind the point; squaring it doubles its logarithm.
    let mut rest = (u64::from(number) << 16) >> whole;
    let mut out = whole;
    for _ in 0..8 {
        rest = (rest * rest) >> 16;
        let bit = u32::from(rest >= 2 << 16);
        rest >>= bit;
        out = out << 1 | bit;
    }
    out
}

fn is_explained(piece: &[u8], in_path: bool) -> bool {
    let (mut digits, mut capitals, mut steps) = (0_usize, 0_usize, 0_usize);
    let mut last = b'A';
    for byte in piece {
        digits += usize::from(byte.is_ascii_digit());
        capitals += usize::from(byte.is_ascii_uppercase());
        // A change of kind, but for that from a capital to the rest of its word.
        let kind = |byte: u8| if byte.is_ascii_digit() { 2 } else { u8::from(byte.is_ascii_lowercase()) };
        steps += usize::from(kind(last) != kind(*byte) && !(kind(last) == 0 && kind(*byte) == 1));
        last = *byte;
    }
    let letters = piece.len() - digits;
    if letters == 0 || piece.iter().all(u8::is_ascii_hexdigit) || is_ulid(piece, capitals, letters) {
        return true;
    }
    if letters <= 2 && digits >= 4 || in_path && capitals == 0 {
        return true;
    }
    let tail = piece.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    if tail == digits && tail <= 4 {
        // Words in camel case have three letters each at least.
        return letters >= 3 * steps.max(1) || letters < 3;
    }
    steps * 5 <= piece.len()
}

/// A ULID: 26 digits in base 32 of one case, the first of which is at most 7.
fn is_ulid(piece: &[u8], capitals: usize, letters: usize) -> bool {
    let one_case = capitals == 0 || capitals == letters;
    piece.len() == 26 && one_case && matches!(byte(piece, 0), b'0'..=b'7')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fires(text: &str) -> bool {
        is_opaque(text.as_bytes(), 0, text.len())
    }

    #[test]
    fn logarithms_are_near_enough() {
        for (number, want) in [(1, 0), (2, 256), (3, 405), (10, 850), (1000, 2551), (1024, 2560)] {
            assert!(log2(number).abs_diff(want) <= 1, "{number}: {}", log2(number));
        }
    }

    #[test]
    fn random_tokens_are_told_from_what_explains_itself() {
        for text in [
            "xAbCdEfGhIjKlMnOpQrStUvWxYz1234567890ABcd",
            "/xAbCdEfGhIjKlMnOpQrStUvWxYz1234567890ABcd",
            "xAbCdEfGhIjKlMnOpQr-2026-04-16-StUvWxYz1234567890ABcdefGHIJ",
            "q8Zr3Vn1Lx7Tk5Wb9Yc2Md6Hf4Gj0Ps8",
            "k3v9x2m7q1w8z4t6b5n0c2d8f3g7h1j4",
            "session_q8Zr3Vn1Lx7Tk5Wb9Yc2Md6Hf4",
            "7QW2E9RT5YU1IO8PA4SD6FG3HJ0KLZ2X",
        ] {
            assert!(fires(text), "{text}");
        }
        for text in [
            "550e8400-e29b-41d4-a716-446655440000",
            "550E8400-E29B-41D4-A716-446655440000",
            "ctx-550e8400-e29b-41d4-a716-446655440000",
            "550e8400e29b41d4a716446655440000",
            "7c1d09e2b4a35f6681d0c9e7f2a3b4c5d6e7f809",
            "pane-2025-11-03-q7w8e9-r4t5y6-u1i2o3",
            "task-01ARZ3NDEKTSV4RRFFQ69G5FAV-retry",
            "backup-20251103T101500Z-production-eu-west-1",
            "/srv/ada/projects/narrows/src/policy/taint2/mod3",
            "/nix/store/0c1iy8wwfgq5d3xk2z7v9b4n6m8lhs1r-bash-5",
            "mcp_wiki_searchWikiUsersByQuery24_andMore",
            "getPagesInWikiSpaceAllOrSearchWikiUsersByQuery24",
            "aaaa1111bbbb2222cccc3333dddd4444eeee",
            "sha512-Q0awS7mZr2Xk9Lp4Vt8Yb1Nc6Df3Gh5Jj0Mn+oPqRsTuVwXyZ",
            "feature/JIRA-12345-add-oauth2-login-for-ios17",
        ] {
            assert!(!fires(text), "{text}");
        }
    }
}
