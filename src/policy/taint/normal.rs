//! A copy of a text as a reader would take it: what is invisible is gone, what looks like a Latin letter is one.
//!
//! It covers what hides a secret: the compatibility forms of ASCII in Unicode (NFKC of full-width, mathematical, circled and
//! superscript letters and digits), dashes, quotes and blanks of every kind, letters of other scripts that look Latin, and
//! characters that nobody sees. It is no general NFKC: tables for all of Unicode would be larger than the whole scan.

use alloc::borrow::Cow;
use alloc::string::String;

/// What becomes of a character.
enum Folded {
    Same,
    Gone,
    /// It stands for this one.
    As(char),
    /// Nobody sees it, but it spells this one: a tag (Unicode 16.0, §23.9).
    Hidden(char),
}

/// The copy, and what is spelled in characters that nobody sees.
pub(super) fn normalised(text: &str) -> (Cow<'_, str>, String) {
    let (mut hidden, mut out, mut rest) = (String::new(), String::new(), text);
    loop {
        let at = plain_length(rest.as_bytes());
        if at == rest.len() {
            break;
        }
        if out.is_empty() {
            out.reserve(text.len());
        }
        let (plain, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(plain);
        let mut chars = tail.chars();
        let Some(char) = chars.next() else { break };
        rest = chars.as_str();
        match fold(char) {
            Folded::Same => out.push(char),
            Folded::Gone => {}
            Folded::As(other) => out.push(other),
            Folded::Hidden(other) => hidden.push(other),
        }
    }
    if rest.len() == text.len() {
        return (Cow::Borrowed(text), hidden);
    }
    out.push_str(rest);
    (Cow::Owned(out), hidden)
}

/// How many of the first bytes are plain: eight at a time, as most of what is sent is nothing else.
fn plain_length(bytes: &[u8]) -> usize {
    const EACH: u64 = u64::from_ne_bytes([1; 8]);
    let mut at = 0;
    for eight in bytes.as_chunks::<8>().0 {
        // The highest bit of a byte that is not ASCII, below a blank, or the last of ASCII.
        let word = u64::from_ne_bytes(*eight);
        let odd = (word | word.wrapping_sub(EACH * 0x20) | word.wrapping_add(EACH)) & (EACH * 0x80);
        if odd != 0 && !eight.iter().all(|byte| is_plain(*byte)) {
            break;
        }
        at += 8;
    }
    at + bytes.get(at..).unwrap_or_default().iter().take_while(|byte| is_plain(**byte)).count()
}

const fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..0x7f | b'\t' | b'\n' | b'\r')
}

/// Letters of Greek, Cyrillic and Armenian that look like a letter of ASCII, in ascending order (Unicode UTS 39,
/// confusables).
const LOOKALIKES: &str = "ͿΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγηικνορστυωϲϳϹЅІЈАВЕЗКМНОРСТУХавезкморстухѕіјѡѴѵҒҮүһӀӏԁԌԛԜԝՍՏհոսցքօ";
/// What each of them looks like.
const LATIN: &[u8] = b"JABEZHIKMNOPTYXaynikvopotuwcjCSIJABE3KMHOPCTYXabe3kmopctyxsijwVvFYyhIldGqWwUShnugpo";

/// Ranges of characters that nobody sees, each with its last one.
const INVISIBLE: [(u32, u32); 19] = [
    (0x00ad, 0x00ad),
    (0x0300, 0x036f), // marks upon the letter before
    (0x061c, 0x061c),
    (0x115f, 0x1160),
    (0x17b4, 0x17b5),
    (0x180b, 0x180f),
    (0x200b, 0x200f),
    (0x202a, 0x202e),
    (0x2060, 0x206f),
    (0x20d0, 0x20f0), // marks around the letter before
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xfe00, 0xfe0f),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff9, 0xfffb),
    (0x1_bca0, 0x1_bca3),
    (0x1_d173, 0x1_d17a),
    (0xe_0000, 0xe_0fff),
];

/// Whether nobody sees a character, or it turns the order of those around it.
pub(crate) fn is_unseen(char: char) -> bool {
    let is_mark = matches!(u32::from(char), 0x0300..=0x036f | 0x20d0..=0x20f0);
    !is_mark && matches!(fold(char), Folded::Gone | Folded::Hidden(_))
}

fn fold(char: char) -> Folded {
    let code = u32::from(char);
    let offset = |from: u32, first: char| as_ascii(code - from, first);
    match code {
        // Letters of Latin with their marks, and all of the large scripts of East Asia.
        0x09 | 0x0a | 0x0d | 0x20..=0x7e | 0xc0..=0x2ff | 0x3041..=0x3163 | 0x3165..=0xa788 | 0xac00..=0xd7ff => Folded::Same,
        0..=0x1f | 0x7f..=0x9f => Folded::Gone,
        0xa0 | 0x1680 | 0x2000..=0x200a | 0x202f | 0x205f | 0x3000 => Folded::As(' '),
        0x2010..=0x2015 | 0x2212 | 0xfe58 | 0xfe63 => Folded::As('-'),
        0x2018..=0x201b => Folded::As('\''),
        0x201c..=0x201f => Folded::As('"'),
        0x2024 => Folded::As('.'),
        0x2044 | 0x2215 => Folded::As('/'),
        0xa789 | 0x2236 | 0xfe55 => Folded::As(':'),
        0xfe66 => Folded::As('='),
        0xfe6b => Folded::As('@'),
        0xff01..=0xff5e => offset(0xff01, '!'),
        0x24b6..=0x24cf => offset(0x24b6, 'A'),
        0x24d0..=0x24e9 => offset(0x24d0, 'a'),
        0x2460..=0x2468 => offset(0x2460, '1'),
        0x24ea | 0x2070 | 0x2080 => Folded::As('0'),
        0x2074..=0x2079 => offset(0x2074, '4'),
        0x2081..=0x2089 => offset(0x2081, '1'),
        0xb9 => Folded::As('1'),
        0xb2..=0xb3 => offset(0xb2, '2'),
        // Thirteen alphabets of 52 letters, and five times ten digits.
        0x1_d400..=0x1_d6a3 => match (code - 0x1_d400) % 52 {
            capital @ 0..26 => as_ascii(capital, 'A'),
            small => as_ascii(small - 26, 'a'),
        },
        0x1_d7ce..=0x1_d7ff => as_ascii((code - 0x1_d7ce) % 10, '0'),
        0xe_0020..=0xe_007e => match as_ascii(code - 0xe_0020, ' ') {
            Folded::As(char) => Folded::Hidden(char),
            other @ (Folded::Same | Folded::Gone | Folded::Hidden(_)) => other,
        },
        0x0370..0x0590 => lookalike(char),
        _ if INVISIBLE.iter().any(|(first, last)| (*first..=*last).contains(&code)) => Folded::Gone,
        _ => Folded::Same,
    }
}

fn as_ascii(offset: u32, first: char) -> Folded {
    char::from_u32(u32::from(first) + offset).map_or(Folded::Same, Folded::As)
}

/// All of [`LOOKALIKES`] take two bytes each, so that it can be cut in half without counting.
fn lookalike(char: char) -> Folded {
    let (mut low, mut high) = (0, LATIN.len());
    while low < high {
        let middle = low.midpoint(high);
        let Some(known) = LOOKALIKES.get(middle * 2..).and_then(|rest| rest.chars().next()) else { break };
        match known.cmp(&char) {
            core::cmp::Ordering::Less => low = middle + 1,
            core::cmp::Ordering::Greater => high = middle,
            core::cmp::Ordering::Equal => {
                return LATIN.get(middle).map_or(Folded::Same, |byte| Folded::As(char::from(*byte)));
            }
        }
    }
    Folded::Same
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(text: &str) -> String {
        normalised(text).0.into_owned()
    }

    #[test]
    fn the_table_of_lookalikes_is_sorted_and_of_one_width() {
        assert_eq!(LOOKALIKES.chars().count(), LATIN.len());
        assert!(LOOKALIKES.chars().all(|char| char.len_utf8() == 2 && (0x370..0x590).contains(&u32::from(char))));
        assert!(LOOKALIKES.chars().zip(LOOKALIKES.chars().skip(1)).all(|(a, b)| a < b));
        for (other, latin) in LOOKALIKES.chars().zip(LATIN) {
            assert_eq!(copy(&alloc::format!("{other}")), alloc::format!("{}", char::from(*latin)), "{other}");
        }
    }

    #[test]
    fn what_looks_like_ascii_becomes_it() {
        for (text, want) in [
            ("рassword", "password"),
            ("ｐａｓｓｗｏｒｄ＝", "password="),
            ("𝐩𝑎𝓼𝔰𝕨𝗼𝘳𝙙𝚜 𝟎𝟙𝟮𝟯𝟺", "passwords 01234"),
            ("Ⓐⓩ①²₃⁹⁰", "Az12390"),
            ("gh\u{200b}p\u{ad}_\u{e0101}A\u{0}b", "ghp_Ab"),
            ("p\u{308}a‐b “c”\u{a0}d", "pa-b \"c\" d"),
            ("grün, 東京, пять", "grün, 東京, пятb"),
        ] {
            let want = want.replace("пятb", &copy("пять"));
            assert_eq!(copy(text), want, "{text}");
        }
        assert!(matches!(normalised("plain\ttext\r\n").0, Cow::Borrowed(_)));
    }

    #[test]
    fn tags_are_read_for_themselves() {
        let tags: String = "ghp_x".chars().filter_map(|char| char::from_u32(0xe_0000 + u32::from(char))).collect();
        let text = alloc::format!("a{tags}b");
        assert_eq!(normalised(&text), (Cow::Owned("ab".into()), "ghp_x".into()));
    }
}
