//! Event streams: read here, and as the standard says to the letter.

use narrows::sse::{Decoder, TooLarge};

pub const PLENTY: u64 = 1 << 30;

/// Event type, data and last event id.
pub type Seen = (String, String, Option<String>);

/// All that a stream gives.
#[derive(Debug, Default, PartialEq)]
pub struct Outcome {
    pub events: Vec<Seen>,
    pub unterminated: Option<Seen>,
    pub last_event_id: Option<String>,
    pub retry_ms: Option<u64>,
}

pub fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
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

/// WHATWG HTML §9.2.6 to the letter, on the whole text at once.
pub fn reference(bytes: &[u8]) -> Outcome {
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

/// The data of the events before the bound, and the bound.
pub fn bounded<'a>(
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
