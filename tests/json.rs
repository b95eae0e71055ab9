//! JSON is taken apart as serde_json does it: the same texts are valid, and the same values stand in them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::std_instead_of_core)]

#[path = "support/chance.rs"]
#[allow(dead_code, unreachable_pub, missing_docs, reason = "shared with other tests")]
mod chance;

use core::fmt;

use chance::{Chance, seeds};
use narrows::json::{self, Kind, Raw};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

const DEPTH: u32 = 100;

/// What a text is made of: tokens, halves of tokens, and what breaks them.
const PIECES: [&str; 48] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    " ",
    "\n",
    "\t\r",
    "\u{c}",
    "\u{a0}",
    "0",
    "-",
    "1",
    "01",
    "1.5",
    ".",
    "1e9",
    "E+",
    "e-7",
    "true",
    "false",
    "null",
    "nul",
    "True",
    "\"a\"",
    "\"\"",
    "\"é🙂\"",
    "\"\\u0061\"",
    "\"\\ud83d\\ude42\"",
    "\"\\ud83d\"",
    "\"\\udc00\\ud800\"",
    "\"\\u12\"",
    "\"\\x\"",
    "\"\\/\\b\\f\\n\\r\\t\\\\\\\"\"",
    "\"\u{1}\"",
    "\"\u{7f}\"",
    "[]",
    "{}",
    "{\"a\":1,\"a\":2}",
    "\"\\ud800x\":",
    "\"k\":",
    "\"k\" : ",
    "9007199254740993",
    "1e400",
    "\"12345678\\n12345678\"",
];

fn space(chance: &mut Chance, out: &mut String) {
    if chance.one_in(4) {
        out.push_str(chance.pick::<&str>(&[" ", "\n", "\t", "\r\n  "]));
    }
}

fn string(chance: &mut Chance, out: &mut String) {
    let units = [
        "a",
        "key",
        "é",
        "🙂",
        "\\n",
        "\\\"",
        "\\\\",
        "\\/",
        "\\u00e9",
        "\\ud83d",
        "\\ude42",
        "\\ud83d\\ude42",
        "\\uFFFF",
        "\u{7f}",
        "{",
        "]",
        ",",
        ":",
        "a longer piece of text",
    ];
    out.push('"');
    for _ in 0..chance.below(5) {
        out.push_str(chance.pick::<&str>(&units));
    }
    out.push('"');
}

/// A valid value, in any spelling.
fn value(chance: &mut Chance, depth: u32, out: &mut String) {
    space(chance, out);
    match chance.below(if depth == 0 { 3 } else { 5 }) {
        0 => out.push_str(chance.pick::<&str>(&["0", "-0", "1", "12.50", "-3e+7", "1E-2", "1e400", "18446744073709551616"])),
        1 => out.push_str(chance.pick::<&str>(&["true", "false", "null"])),
        2 => string(chance, out),
        which => {
            let is_object = which == 3;
            out.push(if is_object { '{' } else { '[' });
            let length = chance.below(4);
            for index in 0..length {
                if is_object {
                    space(chance, out);
                    string(chance, out);
                    space(chance, out);
                    out.push(':');
                }
                value(chance, depth - 1, out);
                if index + 1 < length {
                    out.push(',');
                }
            }
            space(chance, out);
            out.push(if is_object { '}' } else { ']' });
        }
    }
    space(chance, out);
}

/// A valid text, or one that was damaged, or pieces put together.
fn text(chance: &mut Chance) -> String {
    let mut text = String::new();
    if chance.one_in(3) {
        for _ in 0..chance.between(1, 6) {
            text.push_str(chance.pick::<&str>(&PIECES));
        }
        return text;
    }
    value(chance, 4, &mut text);
    if chance.one_in(2) {
        let mut chars: Vec<char> = text.chars().collect();
        let at = chance.index(chars.len());
        if chance.one_in(2) {
            chars.remove(at);
        } else {
            chars.insert(at, *chance.pick(&['"', '\\', '{', ']', ',', ':', '0', ' ', 'e', '\u{1}']));
        }
        text = chars.into_iter().collect();
    }
    text
}

/// The members of an object as serde_json reads them.
fn members_of(text: &str) -> Option<Vec<(String, &RawValue)>> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(String, &'de RawValue)>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut list = Vec::new();
            while let Some(entry) = map.next_entry()? {
                list.push(entry);
            }
            Ok(list)
        }
    }
    serde_json::Deserializer::from_str(text).deserialize_map(Members).ok()
}

/// Compares a valid value with serde_json's, and all that stands in it.
fn compare(raw: Raw<'_>, peer: &RawValue) {
    assert_eq!(raw.get(), peer.get());
    match json::kind(raw) {
        Kind::Object => match members_of(peer.get()) {
            Some(wanted) => {
                let found = json::members(raw).expect("an object");
                let found: Vec<_> = found.iter().collect();
                assert_eq!(found.len(), wanted.len(), "{raw}");
                for ((name, value), (wanted_name, wanted_value)) in found.into_iter().zip(wanted) {
                    assert_eq!(name, wanted_name, "{raw}");
                    compare(value, wanted_value);
                }
            }
            None => assert!(json::members(raw).is_none(), "{raw}"),
        },
        Kind::Array => {
            let (found, wanted) =
                (json::elements(raw).expect("an array"), serde_json::from_str::<Vec<&RawValue>>(peer.get()).unwrap());
            assert_eq!(found.len(), wanted.len(), "{raw}");
            found.into_iter().zip(wanted).for_each(|(value, wanted)| compare(value, wanted));
        }
        Kind::String => {
            let found = json::string(raw).expect("a string");
            match serde_json::from_str::<String>(peer.get()) {
                Ok(wanted) => assert_eq!(found, wanted, "{raw}"),
                Err(_) => assert!(found.contains('\u{fffd}'), "{raw}"),
            }
        }
        Kind::Number | Kind::Boolean | Kind::Null => {}
    }
}

#[test]
fn any_text_is_read_as_serde_json_reads_it() {
    let mut valid = 0_u64;
    for seed in seeds(50_000) {
        let text = text(&mut Chance::new(seed));
        match (json::parse(&text, DEPTH), serde_json::from_str::<&RawValue>(&text)) {
            (Ok(raw), Ok(peer)) => {
                valid += 1;
                compare(raw, peer);
            }
            (Err(_), Err(_)) => {}
            (found, wanted) => panic!("seed {seed}: {text:?} is {found:?} here and {wanted:?} there"),
        }
    }
    assert!(valid > 0, "no text was valid");
}
