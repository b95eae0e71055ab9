//! Event streams: every case at every cut, random streams against a plain reading of the standard, and the bounds.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::std_instead_of_core, clippy::std_instead_of_alloc)]

#[path = "fuzz/properties/sse.rs"]
#[allow(dead_code, unreachable_pub, missing_docs, reason = "shared with the fuzz targets")]
mod judge;

use std::borrow::Cow;

use judge::{Outcome, PLENTY, Seen, bounded, decode, reference};
use narrows::ids::Random;
use narrows::json::{self, Members};
use narrows::sse::{Decoder, TooLarge};

/// The bytes whole, one by one, and in two parts at each place.
fn at_every_cut(bytes: &[u8], check: impl Fn(Outcome, &str)) {
    check(decode([bytes]), "whole");
    check(decode(bytes.chunks(1)), "byte by byte");
    for cut in 0..=bytes.len() {
        let (head, tail) = bytes.split_at(cut);
        check(decode([head, tail]), &format!("cut at {cut}"));
        check(decode([head, &[], tail, &[]]), &format!("cut at {cut}, with empty chunks"));
    }
}

struct Case {
    name: String,
    bytes: Vec<u8>,
    events: Vec<Seen>,
    unterminated: Option<String>,
    last_event_id: Option<String>,
    retry_ms: Option<u64>,
}

fn bytes_of(members: &Members<'_>) -> Vec<u8> {
    let hex = |text: String| text.as_bytes().chunks(2).map(hex_byte).collect();
    members.string("hex").map(hex).unwrap_or_else(|| members.string("stream").unwrap().into_bytes())
}

fn hex_byte(digits: &[u8]) -> u8 {
    u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap()
}

fn cases() -> Vec<Case> {
    let raw = json::parse(include_str!("data/sse/streams.json"), 8).unwrap();
    let read = |raw| {
        let members = json::members(raw).unwrap();
        let event = |raw| {
            let parts = json::elements(raw).unwrap();
            (json::string(parts[0]).unwrap(), json::string(parts[1]).unwrap(), json::string(parts[2]))
        };
        Case {
            name: members.string("name").unwrap(),
            bytes: bytes_of(&members),
            events: json::elements(members.get("events").unwrap()).unwrap().into_iter().map(event).collect(),
            unterminated: members.string("unterminated"),
            last_event_id: members.string("last_event_id"),
            retry_ms: members.get("retry_ms").map(|raw| raw.get().parse().unwrap()),
        }
    };
    json::elements(raw).unwrap().into_iter().map(read).collect()
}

#[test]
fn every_case_at_every_cut() {
    let cases = cases();
    assert_eq!(cases.len(), 47);
    for case in cases {
        let name = &case.name;
        at_every_cut(&case.bytes, |outcome, cut| {
            assert_eq!(outcome.events, case.events, "{name}, {cut}");
            assert_eq!(outcome.unterminated.map(|(_, data, _)| data), case.unterminated, "{name}, {cut}");
            assert_eq!(outcome.last_event_id, case.last_event_id, "{name}, {cut}");
            assert_eq!(outcome.retry_ms, case.retry_ms, "{name}, {cut}");
        });
        assert_eq!(decode([&case.bytes[..]]), reference(&case.bytes), "{name}, the plain reading");
    }
}

#[test]
fn an_unterminated_block_keeps_its_name_and_id() {
    let outcome = decode([&b"id: 1\ndata: a\n\nevent: b\nid: 2\ndata: c"[..]]);
    assert_eq!(outcome.unterminated, Some(("b".into(), "c".into(), Some("2".into()))));
    assert_eq!(outcome.last_event_id.as_deref(), Some("1"));
    for cut in ["event: er", "id: 1", "retry: 30", "database: x"] {
        let outcome = decode([format!("id: 5\ndata: a\n{cut}").as_bytes()]);
        assert_eq!(outcome.unterminated, Some(("message".into(), "a".into(), Some("5".into()))), "{cut}");
    }
}

#[test]
fn a_long_line_in_many_reads_is_one_event() {
    let data = format!(r#"{{"jsonrpc":"2.0","id":3,"result":{{"text":"{}"}}}}"#, "x".repeat(61_000));
    let stream = format!("data: {data}\r\n\r\n");
    for size in [1, 7, 1460, 16_384] {
        let outcome = decode(stream.as_bytes().chunks(size));
        assert_eq!(outcome.events, [("message".into(), data.clone(), None)], "in reads of {size}");
    }
}

#[test]
fn data_in_one_line_of_one_chunk_is_borrowed() {
    let chunk = b"data: a\n\nevent: b\ndata: c\n\ndata: d\ndata: e\n\n";
    let mut decoder = Decoder::new(PLENTY, PLENTY);
    let borrowed: Vec<bool> = decoder.feed(chunk).map(|event| matches!(event.unwrap().data, Cow::Borrowed(_))).collect();
    assert_eq!(borrowed, [true, true, false]);
}

#[test]
fn random_streams_in_random_cuts_read_as_the_standard_says() {
    const PIECES: [&[u8]; 32] = [
        b"data",
        b"data:",
        b"data: ",
        b"event",
        b"event: ",
        b"id:",
        b"id: ",
        b"retry: ",
        b":",
        b": ",
        b" ",
        b"\n",
        b"\n",
        b"\n\n",
        b"\r",
        b"\r\n",
        b"\r\n\r\n",
        b"\r\r",
        b"x",
        b"{\"a\":1}",
        b"12",
        b"\0",
        b"\xef\xbb\xbf",
        b"\xef",
        b"\xbb\xbf",
        b"\xf0\x9f\x99\x82",
        b"\xf0\x9f",
        b"\x99\x82",
        b"\xff",
        b"\xe2\x80\xa8",
        b"foo: bar",
        b"\t",
    ];
    let mut random = Random::new([9; 32]);
    let mut below = |bound: usize| usize::try_from(random.below(bound as u64)).unwrap();
    for round in 0..20_000 {
        let bytes: Vec<u8> = (0..below(40)).flat_map(|_| PIECES[below(PIECES.len())]).copied().collect();
        let mut chunks = Vec::new();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (head, tail) = rest.split_at(below(rest.len().min(12) + 1));
            chunks.push(head);
            rest = tail;
        }
        assert_eq!(
            decode(chunks.iter().copied()),
            reference(&bytes),
            "round {round}: {:?} in {chunks:?}",
            bytes.escape_ascii().to_string()
        );
    }
}

#[test]
fn bounds_hold_at_every_cut() {
    type Row = (u64, u64, &'static str, &'static [&'static str], Option<TooLarge>);
    let cases: [Row; 13] = [
        (7, 100, "data: a\n\ndata: b\n\n", &["a", "b"], None),
        (6, 100, "data:a\n\ndata: b\n\ndata:c\n\n", &["a"], Some(TooLarge::Event)),
        (6, 100, "data: a", &[], Some(TooLarge::Event)),
        (14, 100, "data: a\r\ndata: b\r\n\r\n", &["a\nb"], None),
        (13, 100, "data: a\r\ndata: b\r\n\r\n", &[], Some(TooLarge::Event)),
        (8, 100, "event: x\ndata\n\n", &[], Some(TooLarge::Event)),
        (8, 100, "nothing: known\n\n", &[], Some(TooLarge::Event)),
        (7, 100, ": a comment counts for the stream alone\n: twice\ndata: a\n\n", &["a"], None),
        (7, 100, "\u{feff}: and so does one after the mark\ndata: a\n\n: as does one without an end", &["a"], None),
        (100, 18, "data: a\n\ndata: b\n\n", &["a", "b"], None),
        (100, 17, "data: a\n\ndata: b\n\n", &["a"], Some(TooLarge::Stream)),
        (100, 20, "data: a\n\n: a comment without an end", &["a"], Some(TooLarge::Stream)),
        (100, 0, "x", &[], Some(TooLarge::Stream)),
    ];
    for (event_bytes, stream_bytes, stream, events, fault) in cases {
        let bytes = stream.as_bytes();
        let expected = (events.iter().map(|data| (*data).to_owned()).collect::<Vec<_>>(), fault);
        assert_eq!(bounded(event_bytes, stream_bytes, [bytes]), expected, "{stream:?}");
        assert_eq!(bounded(event_bytes, stream_bytes, bytes.chunks(1)), expected, "{stream:?}, byte by byte");
        for cut in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(cut);
            assert_eq!(bounded(event_bytes, stream_bytes, [head, tail]), expected, "{stream:?}, cut at {cut}");
        }
    }
}

#[test]
fn random_bounds_give_the_same_at_any_cut() {
    let mut random = Random::new([4; 32]);
    let mut below = |bound: u64| random.below(bound);
    for _ in 0..5_000 {
        let lines = ["data: abc\n", "data\n", ": comment\n", "event: e\n", "\n", "\n", "data: é", "\r", "\r\n"];
        let stream: String = (0..below(12)).map(|_| lines[usize::try_from(below(9)).unwrap()]).collect();
        let (event_bytes, stream_bytes) = (below(40), below(80));
        let whole = bounded(event_bytes, stream_bytes, [stream.as_bytes()]);
        let cut = usize::try_from(below(stream.len() as u64 + 1)).unwrap();
        let (head, tail) = stream.as_bytes().split_at(cut);
        assert_eq!(bounded(event_bytes, stream_bytes, [head, tail]), whole, "{stream:?} cut at {cut}");
        assert_eq!(bounded(event_bytes, stream_bytes, stream.as_bytes().chunks(1)), whole, "{stream:?} byte by byte");
    }
}
