//! Bytes as text (RFC 4648): the standard alphabet is written and read, the URL-safe one is read where callers may use it.

use alloc::string::String;
use alloc::vec::Vec;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The bytes in the standard alphabet, padded (RFC 4648 §4).
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0_usize, |bits, at| bits << 8 | usize::from(group.get(at).copied().unwrap_or_default()));
        for at in 0..4 {
            let digit = ALPHABET.get(bits >> (18 - 6 * at) & 63).filter(|_| at <= group.len());
            out.push(char::from(digit.copied().unwrap_or(b'=')));
        }
    }
    out
}

/// The bytes of a text in the standard alphabet with its padding; `None` where it is anything else, bits that no byte
/// takes included.
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(text);
    text.len().is_multiple_of(4).then(|| of_digits(digits, *b"+/"))?
}

/// The bytes of a text in either alphabet, with its padding, a part of it or none.
#[must_use]
pub fn decode_any(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(text);
    let padding = text.len() - digits.len();
    let last = if text.contains(['-', '_']) { *b"-_" } else { *b"+/" };
    (padding <= (4 - digits.len() % 4) % 4).then(|| of_digits(digits, last))?
}

/// The bytes of digits whose last two are written so.
fn of_digits(digits: &str, [plus, slash]: [u8; 2]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    let (mut bits, mut count) = (0_u32, 0_u32);
    for byte in digits.bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            _ if byte == plus => 62,
            _ if byte == slash => 63,
            _ => return None,
        };
        (bits, count) = (bits << 6 | u32::from(digit), count + 6);
        if count >= 8 {
            count -= 8;
            out.extend(u8::try_from(bits >> count));
            bits &= (1 << count) - 1;
        }
    }
    // A digit of its own begins no byte, and what is left over is zero.
    (count < 6 && bits == 0).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::base64::Engine;
    use ::base64::alphabet;
    use ::base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD};

    #[test]
    fn bytes_come_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        for (start, length) in (0..256).flat_map(|start| [(start, 0), (start, 1), (start, 2), (start, 3), (start, 40)]) {
            let bytes = bytes.get(start..start + length).unwrap_or_default();
            assert_eq!(encode(bytes), STANDARD.encode(bytes));
            assert_eq!(decode(&encode(bytes)).as_deref(), Some(bytes));
            assert_eq!(decode_any(encode(bytes).trim_end_matches('=')).as_deref(), Some(bytes));
        }
    }

    #[test]
    fn any_text_is_read_as_a_library_reads_it() {
        const LENIENT: GeneralPurposeConfig =
            GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
        let pieces = ["A", "Q", "g", "w", "8", "+", "/", "-", "_", "=", "==", " ", "é"];
        for number in 0..13_usize.pow(5) {
            let text: String = (0..5).map(|place| pieces[number / 13_usize.pow(place) % 13]).collect();
            let text = text.trim_start_matches(['A', '=']);
            assert_eq!(decode(text), STANDARD.decode(text).ok(), "{text}");
            let alphabet = if text.contains(['-', '_']) { alphabet::URL_SAFE } else { alphabet::STANDARD };
            assert_eq!(decode_any(text), GeneralPurpose::new(&alphabet, LENIENT).decode(text).ok(), "{text}");
        }
    }
}
