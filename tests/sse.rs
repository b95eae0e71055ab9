//! Event streams: every case at every cut, random streams against a plain reading of the standard, and the bounds.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::std_instead_of_core, clippy::std_instead_of_alloc)]

use std::borrow::Cow;

use narrows::ids::Random;
use narrows::json::{self, Members};
use narrows::sse::{Decoder, TooLarge};

const PLENTY: u64 = 1 << 30;

/// Event type, data and last event id.
type Seen = (String, String, Option<String>);

/// All that a stream gives.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    events: Vec<Seen>,
    unterminated: Option<Seen>,
    last_event_id: Option<String>,
    retry_ms: Option<u64>,
}

fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    let mut decoder = Decoder::new(PLENTY, PLENTY);
    let mut outcome = Outcome::default();
    for chunk in chunks {
        for event in decoder.feed(chunk) {
            let event = event.unwrap();
            outcome.events.push((event.event.into_owned(), event.data.into_owned(), event.id));
        }
    }
    outcome.last_event_id = decoder.last_event_id().map(str::to_owned);
    outcome.retry_ms = decoder.retry_ms();
    outcome.unterminated = decoder.finish().map(|event| (event.event.into_owned(), event.data.into_owned(), event.id));
    outcome
}

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

/// WHATWG HTML §9.2.6 to the letter, on the whole text at once.
fn reference(bytes: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let unified = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut lines: Vec<&str> = unified.split('\n').collect();
    let last = lines.pop().unwrap();
    let (mut data, mut event, mut id) = (String::new(), String::new(), String::new());
    let mut outcome = Outcome::default();
    let nonempty = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let finished = |data: &str, event: &str, id: &str| {
        let name = if event.is_empty() { "message" } else { event };
        nonempty(data).map(|data| (name.to_owned(), data[..data.len() - 1].to_owned(), nonempty(id)))
    };
    let total = lines.len();
    for (number, line) in lines.into_iter().chain([last]).enumerate() {
        if line.is_empty() {
            if number < total {
                outcome.last_event_id = nonempty(&id);
                outcome.events.extend(finished(&data, &event, &id));
                data.clear();
                event.clear();
            }
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            // Of a line without its end only data is taken.
            _ if number == total && field != "data" => {}
            "data" => data += &format!("{value}\n"),
            "event" => event = value.to_owned(),
            "id" if !value.contains('\0') => id = value.to_owned(),
            "retry" if !value.is_empty() && value.chars().all(|digit| digit.is_ascii_digit()) => {
                outcome.retry_ms = Some(value.parse().unwrap_or(u64::MAX));
            }
            _ => {}
        }
    }
    outcome.unterminated = finished(&data, &event, &id);
    outcome
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

/// The data of the events before the bound, and the bound.
fn bounded<'a>(
    event_bytes: u64,
    stream_bytes: u64,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<String>, Option<TooLarge>) {
    let mut decoder = Decoder::new(event_bytes, stream_bytes);
    let (mut events, mut fault) = (Vec::new(), None);
    for chunk in chunks {
        for event in decoder.feed(chunk) {
            match event {
                Ok(event) => events.push(event.data.into_owned()),
                Err(too_large) => {
                    assert!(fault.is_none_or(|earlier| earlier == too_large));
                    fault = Some(too_large);
                }
            }
        }
    }
    if fault.is_some() {
        assert_eq!(decoder.finish(), None);
        assert!(decoder.feed(b"data: late\n\n").all(|event| event == Err(fault.unwrap())));
    }
    (events, fault)
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
