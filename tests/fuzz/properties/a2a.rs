//! What agents send: cards, replies and events. Whatever is understood is written as valid JSON of 1.0, which means
//! the same when it is read again.

use narrows::a2a::{self, Assembly, Card, Dialect, Event, Message, Reply, Task, choose, normalized};
use narrows::json::{self, Json};
use narrows::sse::Decoder;
use narrows::url::{Address, Scheme, Url};

use super::is_json;

const DIALECTS: [Dialect; 4] = [Dialect::JsonRpc10, Dialect::Rest10, Dialect::JsonRpc03, Dialect::Rest03];
const DEPTH: u32 = 100;

/// Writing adds wrappers of its own to what was read.
const DEEPER: u32 = DEPTH + 10;

/// The numbers of a JSON text as they are written, sorted.
pub fn numbers(text: &str) -> Vec<&str> {
    let (bytes, mut at, mut found) = (text.as_bytes(), 0, Vec::new());
    while at < bytes.len() {
        if bytes[at] == b'"' {
            at = json::string_end(bytes, at).unwrap_or(bytes.len());
            continue;
        }
        let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit() || b"-+.eE".contains(byte)).count();
        // The letters of `true` and `false` are no numbers.
        if length > 0 && (bytes[at] == b'-' || bytes[at].is_ascii_digit()) {
            found.push(&text[at..at + length]);
        }
        at += length.max(1);
    }
    found.sort_unstable();
    found
}

/// Every number that is told stood in what was said.
fn numbers_stood(told: &Json, said: &str) {
    let mut left = numbers(said).into_iter();
    for number in numbers(told.as_str()) {
        assert!(left.any(|known| known == number), "{number} of {told:?} stands nowhere in {said}");
    }
}

fn task_is_settled(task: &Task) -> Json {
    let written = task.to_json();
    let raw = json::parse(written.as_str(), DEEPER).unwrap_or_else(|fault| panic!("{fault:?}: {written:?}"));
    let again = Task::read(raw, Dialect::JsonRpc10).unwrap_or_else(|misread| panic!("{misread}: {written:?}"));
    assert_eq!(again.to_json(), written, "a task is what it is");
    assert_eq!(again.readable(), task.readable(), "and says what it says");
    written
}

fn message_is_settled(message: &Message) -> Json {
    let written = message.to_json();
    let raw = json::parse(written.as_str(), DEEPER).unwrap_or_else(|fault| panic!("{fault:?}: {written:?}"));
    let again = Message::read(raw, Dialect::JsonRpc10).unwrap_or_else(|misread| panic!("{misread}: {written:?}"));
    assert_eq!(again.to_json(), written, "a message is what it is");
    assert_eq!(again.readable(), message.readable(), "and says what it says");
    written
}

/// A card: kept whole, its choice a URL that stands, and no way from https to http.
pub fn card(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(card) = Card::read(&text, DEPTH) else { return };
    let plain = text.trim_start_matches('\u{feff}');
    assert_eq!(Json::parse(plain, DEPTH).as_ref(), Ok(&card.whole), "the card is kept whole");
    assert_eq!(Card::read(card.whole.as_str(), DEPTH).as_ref(), Ok(&card), "and means the same");
    for (found, registered) in [
        ("https://agent.test/x/.well-known/agent-card.json", "https://agent.test/x"),
        ("http://127.0.0.1:8000/.well-known/agent.json", "http://127.0.0.1:8000/"),
    ] {
        let (found, registered) = (Url::parse(found).unwrap(), Url::parse(registered).unwrap());
        let chosen = choose(&card, &found, &registered);
        assert!(is_json(normalized(&card, chosen.as_ref().ok()).as_str()));
        match chosen {
            Ok(choice) => {
                let url = &choice.interface.url;
                assert_eq!(Url::parse(url.as_str()).as_ref(), Ok(url));
                assert_eq!(choice.foreign, url.origin() != registered.origin());
                let is_told = registered.scheme() == Scheme::Http || url.address() == Address::Loopback;
                assert!(is_told || url.scheme() == Scheme::Https, "{url:?} leaves https");
            }
            Err(fault) => assert!(!fault.offered.is_empty()),
        }
    }
}

/// A reply. The first byte names dialect and status, the rest is the body.
pub fn reply(bytes: &[u8]) {
    let [how, body @ ..] = bytes else { return };
    let dialect = DIALECTS[usize::from(how % 4)];
    let status = [200, 200, 200, 200, 201, 204, 400, 404, 500][usize::from(how / 4) % 9];
    let said = String::from_utf8_lossy(body);
    match a2a::reply(dialect, status, "application/json", body, DEPTH) {
        Ok(Reply::Task(task)) => numbers_stood(&task_is_settled(&task), &said),
        Ok(Reply::Message(message)) => numbers_stood(&message_is_settled(&message), &said),
        Ok(Reply::Empty) => {}
        Err(fault) => {
            let words = format!("{fault}");
            assert!(!words.trim().is_empty(), "{fault:?}");
        }
    }
}

/// A stream of events. The first byte names the dialect and the limit of artifacts.
pub fn events(bytes: &[u8]) {
    let [how, stream @ ..] = bytes else { return };
    let dialect = DIALECTS[usize::from(how % 4)];
    let limit = [100, 1000, 1 << 20][usize::from(how / 4) % 3];
    let (mut decoder, mut assembly) = (Decoder::new(1 << 20, 1 << 20), Assembly::new(limit));
    let mut known = told(&assembly);
    for event in decoder.feed(stream).flatten() {
        let Ok(event) = a2a::event(dialect, &event.event, &event.data, DEPTH) else { continue };
        event_is_settled(&event);
        match assembly.apply(event) {
            Ok(_) => known = told(&assembly),
            Err(_) => assert_eq!(told(&assembly), known, "an event that is refused changes nothing"),
        }
        let held: usize = assembly
            .task()
            .iter()
            .flat_map(|task| task.artifacts())
            .flat_map(|artifact| &artifact.parts)
            .map(|part| part.bytes())
            .sum();
        assert!(held as u64 <= limit, "{held} bytes of artifacts, {limit} allowed");
    }
}

fn event_is_settled(event: &Event) {
    match event {
        Event::Task(task) => drop(task_is_settled(task)),
        Event::Message(message) => drop(message_is_settled(message)),
        Event::Status(update) => assert!(is_json(update.status.to_json().as_str())),
        Event::Artifact(update) => assert!(is_json(update.artifact.to_json().as_str())),
        Event::Other(other) => assert!(is_json(other.as_str())),
    }
}

/// All that was put together.
fn told(assembly: &Assembly) -> String {
    let task = assembly.task().map(task_is_settled).unwrap_or(Json::null());
    let message = assembly.message().map(message_is_settled).unwrap_or(Json::null());
    format!("{} {}", task.as_str(), message.as_str())
}
