//! URLs are cut up, resolved and normalised as fluent-uri does it: the same texts are taken, and end in the same text.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::std_instead_of_core)]

#[path = "support/chance.rs"]
#[allow(dead_code, unreachable_pub, missing_docs, reason = "shared with other tests")]
mod chance;
#[path = "fuzz/properties/url.rs"]
#[allow(dead_code, unreachable_pub, missing_docs, reason = "shared with the fuzz targets")]
mod judge;

use chance::{Chance, seeds};
use narrows::url::Url;

const BASE: &str = "https://base.test:8443/x/.well-known/card.json?q";

/// What URLs are made of, and what breaks them.
const PIECES: [&str; 72] = [
    "http",
    "HTTPS",
    "ftp",
    "1a",
    "+",
    ":",
    ":",
    "//",
    "//",
    "/",
    "/",
    "///",
    "?",
    "?",
    "#",
    "#",
    "@",
    "@",
    "u",
    "u:p",
    "agent.test",
    "Agent",
    "a",
    "%41",
    "%7e",
    "%2f",
    "%2E",
    "%2e%2e",
    "%c3%A9",
    "%",
    "%4",
    "%zz",
    "é",
    "🙂",
    " ",
    "\t",
    "\\",
    "|",
    "[",
    "]",
    "[::1]",
    "[::]",
    "[1:0:0:2:0:0:0:3]",
    "[0:0:1:0:0:1:0:0]",
    "[1::2::3]",
    "[::ffff:1.2.3.4]",
    "[::01.2.3.4]",
    "[1:2:3:4:5:6:7:8]",
    "[1:2:3:4:5:6:7::]",
    "[::2:3:4:5:6:7:8]",
    "[1:2:3:4:5:6:7:8:9]",
    "[12345::]",
    "[fe80::1%25eth0]",
    "[1.2.3.4::]",
    "[:1]",
    "[1:]",
    ":80",
    ":443",
    ":0080",
    ":8443",
    ":65536",
    ":8o",
    "127.0.0.1",
    "0x7f.1",
    "2130706433",
    "256.1",
    ".",
    "..",
    "./",
    "../",
    "!$&'()*+,;=",
    "-_~",
];

fn text(chance: &mut Chance) -> String {
    let mut text = String::new();
    if !chance.one_in(3) {
        text.push_str(chance.pick::<&str>(&[
            "http://",
            "https://",
            "HTTP://agent.test",
            "http://agent.test/",
            "//",
            "http://a/b/../",
            "../",
        ]));
    }
    for _ in 0..chance.below(6) {
        text.push_str(chance.pick::<&str>(&PIECES));
    }
    text
}

#[test]
fn any_text_is_read_as_fluent_uri_reads_it() {
    let base = Url::parse(BASE).unwrap();
    let mut taken = 0_u64;
    for seed in seeds(50_000) {
        let text = text(&mut Chance::new(seed));
        taken += u64::from(judge::compare(&text, Url::parse(&text), None));
        taken += u64::from(judge::compare(&text, base.join(&text), Some(BASE)));
        if let Ok(url) = Url::parse(&text) {
            assert_eq!(Url::parse(url.as_str()), Ok(url), "seed {seed}: {text:?}");
        }
    }
    assert!(taken > 0, "no text was taken");
}
