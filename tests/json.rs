//! JSON is taken apart as serde_json does it: the same texts are valid, and the same values stand in them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::std_instead_of_core)]

#[path = "support/chance.rs"]
#[allow(dead_code, unreachable_pub, missing_docs, reason = "shared with other tests")]
mod chance;
#[path = "fuzz/properties/json.rs"]
#[allow(dead_code, unreachable_pub, missing_docs, reason = "shared with the fuzz targets")]
mod judge;

use chance::{Chance, seeds};

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

#[test]
fn any_text_is_read_as_serde_json_reads_it() {
    let mut valid = 0_u64;
    for seed in seeds(50_000) {
        let text = text(&mut Chance::new(seed));
        valid += u64::from(judge::agrees(&text));
    }
    assert!(valid > 0, "no text was valid");
}
