//! Sessions of the handshake era over HTTP as the books have them: streams, and every event that was seen on them.

use std::collections::BTreeMap;

use narrows::io::{PeerId, RequestId};
use narrows::time::Instant;

/// A session that a gateway named.
#[derive(Clone, Debug)]
pub struct Session {
    pub principal: String,
    /// the number under which the books know its client
    pub peer: PeerId,
    /// the version of its handshake
    pub version: String,
    pub streams: BTreeMap<u64, Log>,
    pub used: Instant,
}

/// One stream of a session.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// every event that anybody saw, in order: their numbers are their places
    pub events: Vec<String>,
    /// the calls whose answers it carries
    pub calls: Vec<u64>,
    pub standing: bool,
    pub reader: Option<RequestId>,
}

impl Session {
    pub fn new(principal: String, peer: PeerId, version: String, used: Instant) -> Self {
        Self { principal, peer, version, streams: BTreeMap::new(), used }
    }

    /// A new stream; its number.
    pub fn open(&mut self, reader: RequestId, calls: Vec<u64>) -> u64 {
        let number = self.streams.len() as u64 + 1;
        let standing = calls.is_empty();
        self.streams.insert(number, Log { events: Vec::new(), calls, standing, reader: Some(reader) });
        number
    }

    pub fn leave(&mut self, stream: u64) {
        if let Some(log) = self.streams.get_mut(&stream) {
            log.reader = None;
        }
    }

    /// An event that goes out on a stream as its `number`th: one that was seen before must be the same, but for an answer
    /// that was forgotten. Whether it is new. Where `scarce`, those before it may be forgotten.
    pub fn event(&mut self, stream: u64, number: u64, wire: &str, scarce: bool) -> bool {
        let log = self.streams.get_mut(&stream).expect("a stream of the session");
        let place = usize::try_from(number).unwrap();
        match log.events.get(place) {
            Some(known) => {
                let lost = scarce && wire.contains("`session_event_bytes`");
                assert!(known == wire || lost, "an event that is told again is the same: {known} {wire}");
                false
            }
            None => {
                assert!(log.events.len() == place || scarce && log.events.len() < place, "no event is lost");
                log.events.resize(place, String::new());
                log.events.push(wire.to_owned());
                true
            }
        }
    }
}

/// The stream and the event that an event id names.
pub fn event_id(text: &str) -> Option<(u64, u64)> {
    let (stream, event) = text.split_once('-')?;
    Some((stream.parse().ok()?, event.parse().ok()?))
}
