//! What must hold for any bytes. The fuzz targets try bytes of their own making, `tests/fuzz.rs` those that were kept.

mod a2a;
mod json;
mod sse;
mod steps;
mod url;
mod words;
mod world;

use narrows::config::Config;
use narrows::gateway::{Gateway, Secrets};
use narrows::io::{Input, read_input};
use narrows::json::{Json, integer, scaled, scaled_up};
use narrows::jsonrpc::{self, Incoming};
use narrows::time::Instant;
use narrows::url::Url;

use super::support::host::genesis;
use super::support::memory;
use super::support::wire::is_json;

pub use a2a::{card, events, reply};
pub use world::inputs;

/// What is checked of any bytes.
pub type Target = fn(&[u8]);

/// Every target with its name.
pub const TARGETS: [(&str, Target); 10] = [
    ("card", card),
    ("config", config),
    ("events", events),
    ("inputs", inputs),
    ("json", json),
    ("message", message),
    ("reply", reply),
    ("snapshot", snapshot),
    ("sse", sse),
    ("url", url),
];

/// What a decoder may hold beyond the event that it is reading, and beside the buffers that grow by doubling.
const DECODER_BYTES: i64 = 1024;

/// An event stream: any cut gives what the standard says, bounds hold at any cut, and no more than an event is held.
/// The first two bytes say how it is cut and what is allowed.
pub fn sse(bytes: &[u8]) {
    let [cut, allowed, stream @ ..] = bytes else { return };
    let wanted = sse::reference(stream);
    let size = usize::from(*cut % 64) + 1;
    assert_eq!(sse::decode([stream]), wanted, "whole");
    assert_eq!(sse::decode(stream.chunks(1)), wanted, "byte by byte");
    assert_eq!(sse::decode(stream.chunks(size)), wanted, "in pieces of {size}");
    let (event_bytes, stream_bytes) = (u64::from(*allowed % 16) * 8, u64::from(*allowed / 16) * 32);
    let bounded = sse::bounded(event_bytes, stream_bytes, [stream]);
    assert_eq!(sse::bounded(event_bytes, stream_bytes, stream.chunks(1)), bounded, "byte by byte");
    assert_eq!(sse::bounded(event_bytes, stream_bytes, stream.chunks(size)), bounded, "in pieces of {size}");
    let mut decoder = narrows::sse::Decoder::new(event_bytes, sse::PLENTY);
    let before = memory::held();
    for chunk in stream.chunks(size) {
        memory::take_peak();
        decoder.feed(chunk).for_each(drop);
        let most = 4 * (i64::try_from(event_bytes).unwrap() + i64::from(*cut % 64) + 1) + DECODER_BYTES;
        assert!(memory::take_peak() - before <= most, "no more than one event is held");
    }
}

/// JSON: read as serde_json reads it; what is written is read back; numbers are what they are.
pub fn json(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let quoted = Json::string(&text);
    assert_eq!(serde_json::from_str::<String>(quoted.as_str()).unwrap(), text);
    assert_eq!(narrows::json::string(quoted.raw()).unwrap(), text);
    for digits in [0, 3, 6] {
        let (down, up) = (scaled(&text, digits), scaled_up(&text, digits));
        if let (Some(down), Some(up)) = (down, up) {
            assert!(up.abs_diff(down) <= 1 && up.unsigned_abs() >= down.unsigned_abs(), "{text} is between {down} and {up}");
        }
    }
    if let Ok(plain) = text.parse::<i64>() {
        // A sign in front and zeros are no JSON, and nobody asks for them.
        assert!(integer(&text).is_none_or(|read| read == plain), "{text}");
    }
    if !json::agrees(&text) {
        return;
    }
    let compact = Json::parse(&text, json::DEPTH).unwrap();
    assert_eq!(Json::parse(compact.as_str(), json::DEPTH).unwrap(), compact, "compact text is what it is");
    assert!(!compact.as_str().contains(['\n', '\r']), "one line");
    json::agrees(compact.as_str());
    assert_eq!(a2a::numbers(compact.as_str()), a2a::numbers(&text), "numbers stay as they are written");
}

/// JSON-RPC messages and the border's own: what is answered is read back, an id is found at every cut, and an input
/// that is read is the same when it is written.
pub fn message(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match jsonrpc::read(&text, 100) {
        Incoming::Request { id, .. } => answered(&text, &id),
        Incoming::Batch(list) => list.into_iter().for_each(|element| drop(jsonrpc::read_raw(element))),
        Incoming::Notification { .. } | Incoming::Response { .. } | Incoming::Invalid { .. } | Incoming::Noise => {}
    }
    if let Ok(input) = read_input(&text) {
        let written = input.to_json();
        assert_eq!(read_input(written.as_str()), Ok(input), "{text}");
    }
}

fn answered(text: &str, id: &jsonrpc::Id) {
    for answer in [jsonrpc::result(id, &Json::null()), jsonrpc::error(Some(id), -32603, text, None)] {
        assert!(is_json(answer.as_str()) && matches!(jsonrpc::read(answer.as_str(), 100), Incoming::Response { .. }));
        let said = narrows::json::members(answer.raw()).unwrap().get_any("id").unwrap().get().to_owned();
        assert_eq!(said, id.as_json().as_str(), "the id comes back as it was");
    }
    // Of several ids the last one counts, which the beginning of a text cannot know; nor does it undo escapes of names.
    let plain = text.matches("\"id\"").count() == 1 && !text.contains('\\');
    for end in (0..=text.len()).filter(|end| plain && text.is_char_boundary(*end)) {
        if let Some(found) =
            jsonrpc::id_from_start(&text[..end]).filter(|_| end == text.len() || !text[end..].starts_with(in_number))
        {
            assert_eq!(&found, id, "the id at {end}");
        }
    }
}

fn in_number(char: char) -> bool {
    char.is_ascii_digit() || matches!(char, '.' | 'e' | 'E' | '+' | '-')
}

/// A configuration: refused with every fault named, or read, written and read back, and good for a gateway.
pub fn config(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match Config::from_json(&text) {
        Err(faults) => assert!(!faults.0.is_empty() && faults.0.iter().all(|fault| !fault.is_empty())),
        Ok(config) => {
            let written = config.to_json();
            assert!(is_json(written.as_str()), "{written:?}");
            assert_eq!(Config::from_json(written.as_str()), Ok(config.clone()), "{written:?}");
            let mut gateway = Gateway::new(genesis(1, 0, 0), config);
            world::open(&mut gateway, 1);
            assert!(std::iter::from_fn(|| gateway.poll_output()).all(|output| is_json(output.to_json().as_str())));
        }
    }
}

/// Pieces of a snapshot, one a line: refused, or taken up by a gateway that gives them on as they are and lives.
pub fn snapshot(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let pieces: Vec<String> = text.lines().map(str::to_owned).collect();
    let restored = |pieces: &[String]| Gateway::restore(genesis(1, 0, 0), Config::default(), pieces);
    let storage = Config { storage: true, ..Config::default() };
    let stored = Gateway::restore(genesis(1, 0, 0), storage, &pieces);
    let Ok(mut gateway) = restored(&pieces) else { return };
    assert!(stored.is_ok(), "a storage makes no difference");
    while gateway.poll_output().is_some() {}
    let own = gateway.snapshot(Secrets::Keep);
    let mut again = restored(&own).expect("its own snapshot");
    while again.poll_output().is_some() {}
    assert_eq!(again.snapshot(Secrets::Keep), own, "a snapshot is taken up whole");
    let handed_on = gateway.snapshot(Secrets::Drop);
    restored(&handed_on).expect("its own snapshot, without credentials");
    for tick in 0..50_u64 {
        let Some(deadline) = gateway.poll_timeout() else { break };
        let now = Instant::from_ms(deadline.at.as_ms().max(tick));
        gateway.handle_input(now, Input::Tick).unwrap();
        assert!(std::iter::from_fn(|| gateway.poll_output()).all(|output| is_json(output.to_json().as_str())));
    }
}

/// Two texts on two lines: URLs as fluent-uri reads them, and what is put into a URL comes out of it.
pub fn url(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (first, second) = text.split_once('\n').unwrap_or((&text, ""));
    url::compare(first, Url::parse(first), None);
    let Ok(url) = Url::parse(first) else { return };
    assert_eq!(Url::parse(url.as_str()).as_ref(), Ok(&url), "what was read is read again");
    url::compare(second, url.join(second), Some(url.as_str()));
    if let Ok(joined) = url.join(second) {
        assert_eq!(Url::parse(joined.as_str()), Ok(joined));
    }
    if let Ok(inside) = url.with_path_segments(&[second], ":x") {
        assert_eq!(inside.origin(), url.origin());
        let base = url.path().trim_end_matches('/').len();
        assert_eq!(inside.path()[base + 1..].matches('/').count(), 0, "one segment stays one: {inside:?}");
    }
    if url.query_value(second).is_none() {
        assert_eq!(url.with_query(second, second).query_value(second).as_deref(), Some(second));
    }
    assert_eq!(Url::parse(url.origin_url().as_str()).unwrap().origin(), url.origin());
}
