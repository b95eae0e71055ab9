//! URLs are cut up, resolved and normalised as fluent-uri does it: the same texts are taken, and end in the same text.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::std_instead_of_core)]

#[path = "support/chance.rs"]
#[allow(dead_code, unreachable_pub, missing_docs, reason = "shared with other tests")]
mod chance;

use chance::{Chance, seeds};
use fluent_uri::normalize::Normalizer;
use fluent_uri::{ParseErrorKind, Uri, UriRef};
use narrows::url::{Url, UrlFault};

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

/// Whether fluent-uri takes it, for the reasons that both know; and its normal form but for the host.
fn peer(reference: UriRef<&str>, base: Option<&str>) -> Result<String, UrlFault> {
    let resolved = match base {
        Some(base) => reference.resolve_against(&Uri::parse(base).unwrap()).map_err(|_| UrlFault::NotAbsolute)?,
        None => Uri::try_from(reference).map_err(|_| UrlFault::NotAbsolute)?.to_owned(),
    };
    let uri = Normalizer::new().default_port_with(|_| None).normalize(&resolved).unwrap();
    if !matches!(uri.scheme().as_str(), "http" | "https") {
        return Err(UrlFault::Scheme);
    }
    let authority = uri.authority().ok_or(UrlFault::NoHost)?;
    if authority.has_userinfo() {
        return Err(UrlFault::UserInfo);
    }
    // The host in a plain form, then everything after the authority.
    let host = if let fluent_uri::component::Host::Ipv6(address) = authority.host_parsed() {
        format!("{:?}", address.segments())
    } else {
        "a name".to_owned()
    };
    let port = authority.port_to_u16().map_err(|_| UrlFault::Port)?;
    let port = port.unwrap_or(if uri.scheme().as_str() == "http" { 80 } else { 443 });
    let path = if uri.path().is_empty() { "/" } else { uri.path().as_str() };
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    Ok(format!("{} {host} {port} {path}{query}", uri.scheme()))
}

fn ours(url: &Url) -> String {
    let address = url.host().strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let host = address.map_or("a name".into(), |host| format!("{:?}", host.parse::<core::net::Ipv6Addr>().unwrap().segments()));
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    format!("{} {host} {} {}{query}", url.scheme().name(), url.port(), url.path())
}

/// Compares a reading with fluent-uri's. Hosts have rules of their own beyond RFC 3986, so only they may be refused here.
fn compare(seed: u64, text: &str, found: Result<Url, UrlFault>, base: Option<&str>) -> bool {
    let reference = match UriRef::parse(text) {
        Ok(reference) => reference,
        Err(fault) => {
            let refused = found.expect_err(text);
            let at = text.get(..fault.index()).unwrap().chars().count() as u64 + 1;
            match (refused, fault.kind()) {
                (UrlFault::Character { at: ours, .. }, kind) => {
                    assert_eq!((ours, kind), (at, ParseErrorKind::UnexpectedChar), "seed {seed}: {text:?}");
                }
                (UrlFault::PercentEncoding, kind) => {
                    assert_eq!(kind, ParseErrorKind::InvalidPctEncodedOctet, "seed {seed}: {text:?}")
                }
                _ => {}
            }
            return false;
        }
    };
    match (found, peer(reference, base)) {
        (Ok(url), Ok(peer)) => {
            assert_eq!(ours(&url), peer, "seed {seed}: {text:?}");
            true
        }
        (Err(UrlFault::Host | UrlFault::NoHost | UrlFault::NotAscii), Ok(_)) => false,
        (Err(fault), Err(peer)) => {
            let host = matches!(fault, UrlFault::Host | UrlFault::NoHost | UrlFault::NotAscii);
            assert!(fault == peer || host, "seed {seed}: {text:?} is {fault:?} here and {peer:?} there");
            false
        }
        (found, peer) => panic!("seed {seed}: {text:?} is {found:?} here and {peer:?} there"),
    }
}

#[test]
fn any_text_is_read_as_fluent_uri_reads_it() {
    let base = Url::parse(BASE).unwrap();
    let mut taken = 0_u64;
    for seed in seeds(50_000) {
        let text = text(&mut Chance::new(seed));
        taken += u64::from(compare(seed, &text, Url::parse(&text), None));
        taken += u64::from(compare(seed, &text, base.join(&text), Some(BASE)));
        if let Ok(url) = Url::parse(&text) {
            assert_eq!(Url::parse(url.as_str()), Ok(url), "seed {seed}: {text:?}");
        }
    }
    assert!(taken > 0, "no text was taken");
}
