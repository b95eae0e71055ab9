//! Event streams of the field: each read by the decoder at once and byte by byte, and the one that breaks off by a call.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc
)]

mod support;

use narrows::a2a::Dialect;
use narrows::sse::Decoder;
use support::case::{Case, connect_with_card, host, list, part, send, strings, walk, words};
use support::text::{at, string_at};

/// What a decoder makes of some chunks.
struct Seen {
    /// name, data and id of each event
    events: Vec<(String, String, Option<String>)>,
    unterminated: Option<String>,
    last_event_id: Option<String>,
    retry_ms: Option<u64>,
}

fn read<'c>(chunks: impl IntoIterator<Item = &'c [u8]>) -> Seen {
    let mut decoder = Decoder::new(1 << 20, 1 << 20);
    let mut events = Vec::new();
    for chunk in chunks {
        for event in decoder.feed(chunk) {
            let event = event.unwrap();
            events.push((event.event.into_owned(), event.data.into_owned(), event.id));
        }
    }
    let unterminated = decoder.finish().map(|event| event.data.into_owned());
    Seen { events, unterminated, last_event_id: decoder.last_event_id().map(ToOwned::to_owned), retry_ms: decoder.retry_ms() }
}

/// The chunks as they are given, and the same bytes one by one.
fn at_cuts(chunks: &[Vec<u8>], check: impl Fn(&Seen)) {
    check(&read(chunks.iter().map(Vec::as_slice)));
    check(&read(chunks.concat().chunks(1)));
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let digits = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    hex.as_bytes().chunks(2).map(digits).collect()
}

fn chunks(case: &Case) -> Vec<Vec<u8>> {
    match at(&case.input, &["chunks_hex"]) {
        Some(hex) => strings(&hex).iter().map(|hex| bytes_of(hex)).collect(),
        None => strings(&part(&case.input, &["chunks"])).into_iter().map(String::into_bytes).collect(),
    }
}

/// The events are those that are expected, as far as each of them is described.
fn assert_events(seen: &Seen, expected: &str, id: &str) {
    let expected = list(expected);
    assert_eq!(seen.events.len(), expected.len(), "{id}: {:?}", seen.events);
    for ((event, data, last_id), expected) in seen.events.iter().zip(expected) {
        let same = |name: &str, found: &str| string_at(&expected, &[name]).is_none_or(|text| text == found);
        assert!(same("event", event) && same("data", data), "{id}: {event} {data}, not {expected}");
        let wanted = string_at(&expected, &["id"]).or_else(|| string_at(&expected, &["lastEventId"]));
        assert!(wanted.is_none() || wanted == *last_id, "{id}: {last_id:?}");
    }
}

/// The events that carry anything.
fn messages(seen: &Seen) -> Vec<&str> {
    seen.events.iter().map(|(_, data, _)| data.as_str()).filter(|data| !data.trim().is_empty()).collect()
}

#[test]
fn streams_of_the_field() {
    let elsewhere = [("prog-007", "the gateway is no client of MCP servers, and one decoder reads every stream")];
    walk("sse-parsing.json", &elsewhere, |case| match case.id.as_str() {
        "sse-001" | "sse-002" | "sse-005" | "sse-011" | "sse-013" | "sse-014" => {
            at_cuts(&chunks(case), |seen| assert_events(seen, &part(&case.expected, &["events"]), &case.id));
        }
        "sse-004" => {
            at_cuts(&chunks(case), |seen| {
                assert_eq!(seen.events.len().to_string(), part(&case.expected, &["events"]));
                assert!(seen.unterminated.is_some());
            });
            breaks_off(case);
        }
        "sse-007" => at_cuts(&chunks(case), |seen| {
            let expected = list(&part(&case.expected, &["messages"]));
            assert_eq!(messages(seen), expected.iter().map(|text| narrows::json::compact(text)).collect::<Vec<_>>());
            assert_eq!(seen.last_event_id, string_at(&case.expected, &["last_event_id"]));
            assert_eq!(seen.retry_ms.map(|ms| ms.to_string()), at(&case.expected, &["retry_ms"]));
        }),
        "sse-008" => at_cuts(&chunks(case), |seen| {
            assert_eq!(messages(seen).len().to_string(), part(&case.expected, &["messages"]));
        }),
        "sse-010" => {
            let length: usize = part(&case.expected, &["text_len"]).parse().unwrap();
            let size: usize = part(&case.input, &["generate", "chunk_size"]).parse().unwrap();
            let data = part(&case.input, &["generate", "data_json"]).replace("x*61000", &"x".repeat(length));
            let stream = format!("data: {}\n\n", narrows::json::compact(&data));
            let seen = read(stream.as_bytes().chunks(size));
            assert_eq!(seen.events.len().to_string(), part(&case.expected, &["messages"]));
            assert_eq!(string_at(&seen.events[0].1, &["result", "text"]).map(|text| text.len()), Some(length));
        }
        unknown => panic!("nothing checks {unknown}"),
    });
}

#[test]
fn streams_made_for_the_standard() {
    walk("sse-synthetic.json", &[], |case| {
        let hex = string_at(&case.input, &["hex"]).map(|hex| bytes_of(&hex));
        let bytes = hex.unwrap_or_else(|| string_at(&case.input, &["stream"]).unwrap().into_bytes());
        at_cuts(&[bytes], |seen| {
            assert_events(seen, &part(&case.expected, &["events"]), &case.id);
            assert_eq!(seen.unterminated, string_at(&case.expected, &["unterminated"]), "{}", case.id);
        });
    });
}

/// A stream that ends within an event: that event is none, and the task is read instead.
fn breaks_off(case: &Case) {
    let mut host = host("{}");
    connect_with_card(&mut host, "bob", Dialect::Rest10, true);
    let number = send(&mut host, "bob", "");
    let (exchange, _) = host.fetch();
    host.head(exchange, 200, &[("Content-Type", "text/event-stream")]);
    for chunk in chunks(case) {
        host.body(exchange, &chunk);
    }
    host.end(exchange);
    assert_eq!(host.answer(number), None, "an unterminated event ends nothing");
    let (reading, request) = host.fetch();
    assert!(request.url.ends_with("/tasks/t1"), "{}", request.url);
    let task =
        r#"{"id":"t1","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[{"text":"part and the rest"}]}]}"#;
    host.reply(reading, 200, task);
    assert_eq!(words(&host.result(number)), "part and the rest");
}
