//! Sessions of the handshake era over HTTP: one peer each, and the events that a client may ask for again.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::held::Share;
use crate::io::{PeerId, RequestId};
use crate::json::{self, Object};
use crate::jsonrpc::{self, INTERNAL_ERROR, Id};
use crate::limits::Limits;
use crate::list::gather;
use crate::saved::{Saved, Unsaved};
use crate::snapshot::Record;
use crate::table::Table;
use crate::text;
use crate::time::Instant;

/// How many streams of a session are remembered that nobody reads and nothing comes to.
const IDLE_STREAMS: u64 = 256;

/// What the id of an answer that was forgotten takes beside its text.
const LOST_BYTES: u64 = 32;

/// What stands in for an answer that was forgotten.
const LOST: &str = "the answer is more than what is kept for clients that come back (limits `session_event_bytes` and \
                    `kept_event_bytes`): ask again";

/// A session.
#[derive(Debug)]
pub struct HttpSession {
    /// on whose behalf
    pub principal: String,
    /// its peer
    pub peer: PeerId,
    /// when it was last used
    pub used: Instant,
    /// which stream carries the answer to which request, by its literal id
    routes: Table<String, u64>,
    streams: Table<u64, Stream>,
    next_stream: u64,
    /// what its events take
    share: Share,
    /// streams that are not saved as they are
    changed: Table<u64, ()>,
}

/// The events of one response.
#[derive(Debug, Default)]
struct Stream {
    events: VecDeque<(u64, String)>,
    /// the events before these that were answers, by the literal ids of their requests
    lost: VecDeque<(u64, String)>,
    next_event: u64,
    reader: Option<RequestId>,
    /// how many answers are still to come on it
    awaited: u64,
    /// whether it waits for no answer, but for what the gateway says unasked
    standing: bool,
    saved: Saved,
}

impl Stream {
    fn first_event(&self) -> u64 {
        self.events.front().map_or(self.next_event, |(event, _)| *event)
    }
}

/// Where to go on in a stream that was interrupted.
#[derive(Debug, PartialEq, Eq)]
pub struct Resumption {
    /// the stream
    pub stream: u64,
    /// what was missed, as it goes on the wire
    pub missed: String,
    /// the requests whose answers are still to come on it, by their literal ids
    pub awaited: Vec<String>,
    /// whether it goes on without end
    pub standing: bool,
    /// who read it until now
    pub reader: Option<RequestId>,
}

impl HttpSession {
    /// A session without streams.
    #[must_use]
    pub fn new(principal: String, peer: PeerId, now: Instant, share: Share) -> Self {
        let (routes, streams) = (Table::new(), Table::new());
        Self { principal, peer, used: now, routes, streams, next_stream: 1, share, changed: Table::new() }
    }

    /// Whether a request of that id is not answered yet.
    #[must_use]
    pub fn awaits(&self, id: &str) -> bool {
        self.routes.has(id)
    }

    /// A new stream for the answers to these requests, or a standing one where there are none.
    pub fn open(&mut self, reader: RequestId, ids: &[String]) -> u64 {
        let stream = self.next_stream;
        self.next_stream += 1;
        for id in ids {
            self.routes.insert(id.clone(), stream);
        }
        let awaited = u64::try_from(ids.len()).unwrap_or(u64::MAX);
        let standing = ids.is_empty();
        self.streams.insert(stream, Stream { reader: Some(reader), awaited, standing, ..Stream::default() });
        self.changed.insert(stream, ());
        stream
    }

    /// Whether any of its streams is read or waits for an answer.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.streams.values().any(|stream| stream.reader.is_some() || stream.awaited > 0)
    }

    /// The requests that read its streams.
    pub fn readers(&self) -> impl Iterator<Item = RequestId> {
        self.streams.values().filter_map(|stream| stream.reader)
    }

    /// The stream that carries the answer to a request, and who reads it.
    #[must_use]
    pub fn route(&self, id: &str) -> Option<(u64, Option<RequestId>)> {
        let stream = *self.routes.get(id)?;
        Some((stream, self.streams.get(&stream)?.reader))
    }

    /// The latest stream that waits for no answer, one that is read before others, and who reads it: what is about no
    /// request goes there.
    #[must_use]
    pub fn standing(&self) -> Option<(u64, Option<RequestId>)> {
        let standing = self.streams.iter().filter(|(_, stream)| stream.standing);
        let latest = standing.max_by_key(|(number, stream)| (stream.reader.is_some(), **number));
        latest.map(|(number, stream)| (*number, stream.reader))
    }

    /// Notes that a request is answered, or will never be.
    pub fn answered(&mut self, id: &str) {
        let Some(number) = self.routes.remove(id) else { return };
        if let Some(stream) = self.streams.get_mut(&number) {
            stream.awaited = stream.awaited.saturating_sub(1);
            self.changed.insert(number, ());
        }
    }

    /// Notes that nobody reads a stream any more; its events stay for those who missed them.
    pub fn leave(&mut self, stream: u64) {
        if let Some(stream) = self.streams.get_mut(&stream) {
            stream.reader = None;
        }
        // The oldest of many streams that nothing comes to any more are forgotten.
        while self.streams.len() > IDLE_STREAMS {
            let done = self.streams.iter().find(|(_, stream)| stream.awaited == 0 && stream.reader.is_none());
            let Some(number) = done.map(|(number, _)| *number) else { return };
            if let Some(stream) = self.streams.remove(&number) {
                self.changed.insert(number, ());
                let events = stream.events.iter().map(|(_, wire)| size(wire)).sum::<u64>();
                self.grow(0, events + stream.lost.iter().map(|(_, id)| size(id) + LOST_BYTES).sum::<u64>());
            }
        }
    }

    fn grow(&mut self, more: u64, less: u64) {
        self.share.set(self.share.bytes() + more - less);
    }

    /// Adds an event and gives it as it goes on the wire. The oldest events beyond the limits are forgotten; of answers it
    /// is kept in mind that they were there.
    pub fn event(&mut self, stream: u64, data: &str, limits: &Limits) -> String {
        let Some(known) = self.streams.get_mut(&stream) else { return String::new() };
        let number = known.next_event;
        known.next_event += 1;
        let wire =
            if data.is_empty() { format!("id: {stream}-{number}\nretry: 1000\ndata:\n\n") } else { event(stream, number, data) };
        // One that is too large by itself does not drive out the others.
        let kept = match jsonrpc::answered(data).filter(|_| size(&wire) > limits.session_event_bytes) {
            Some(id) => lost_event(stream, number, id),
            None => wire.clone(),
        };
        let bytes = size(&kept);
        known.events.push_back((number, kept));
        self.grow(bytes, 0);
        self.changed.insert(stream, ());
        self.trim(limits);
        wire
    }

    fn trim(&mut self, limits: &Limits) {
        while self.share.bytes() > limits.session_event_bytes || self.share.is_over(limits.kept_event_bytes) {
            let first = |has: fn(&Stream) -> bool| self.streams.iter().find(|(_, stream)| has(stream)).map(|(number, _)| *number);
            let oldest = first(|stream| !stream.events.is_empty()).or_else(|| first(|stream| !stream.lost.is_empty()));
            let Some((number, stream)) = oldest.and_then(|number| Some((number, self.streams.get_mut(&number)?))) else { return };
            let (mut more, mut less) = (0, 0);
            if let Some((event, wire)) = stream.events.pop_front() {
                less = size(&wire);
                let data = wire.split_once("\ndata: ").map(|(_, data)| data);
                if let Some(id) = data.and_then(jsonrpc::answered) {
                    more = size(id) + LOST_BYTES;
                    stream.lost.push_back((event, id.into()));
                }
            } else if let Some((_, id)) = stream.lost.pop_front() {
                less = size(&id) + LOST_BYTES;
            }
            self.grow(more, less);
            self.changed.insert(number, ());
        }
    }

    /// Goes on after an event that was seen; `None` where there was no such event, or where what came after it is
    /// forgotten and was about no request. On the stream of a request notifications that are forgotten are passed over, and
    /// in the place of an answer there is an error, so that nobody waits for it.
    pub fn resume(&mut self, last_event_id: &str, reader: RequestId) -> Option<Resumption> {
        let (number, seen) = last_event_id.split_once('-')?;
        let (number, seen) = (text::whole(number)?, text::whole(seen)?);
        let stream = self.streams.get_mut(&number).filter(|stream| seen < stream.next_event)?;
        if stream.standing && stream.first_event() > seen + 1 {
            return None;
        }
        let mut missed = String::new();
        let lost = stream.lost.iter().filter(|(event, _)| *event > seen);
        lost.for_each(|(event, id)| missed.push_str(&lost_event(number, *event, id)));
        stream.events.iter().filter(|(event, _)| *event > seen).for_each(|(_, wire)| missed.push_str(wire));
        let awaited = self.routes.iter().filter(|(_, to)| **to == number).map(|(id, _)| id.clone());
        let awaited = gather(awaited);
        let before = stream.reader.replace(reader);
        Some(Resumption { stream: number, missed, awaited, standing: stream.standing, reader: before })
    }

    /// Writes what a later process needs to go on, without the streams.
    pub fn record(&self, record: &mut Object) {
        record.string("principal", &self.principal).integer("peer", self.peer.0).integer("next_stream", self.next_stream);
    }

    /// Reads what [`record`](Self::record) wrote.
    #[must_use]
    pub fn read(record: &Record<'_, '_>, used: Instant, share: Share) -> Self {
        let mut session = Self::new(record.text("principal"), PeerId(record.number("peer")), used, share);
        session.next_stream = record.place("next_stream");
        session
    }

    /// The numbers of its streams.
    pub fn streams(&self) -> impl Iterator<Item = u64> {
        self.streams.iter().map(|(number, _)| *number)
    }

    /// Writes a stream without its events; whether there is one of that number.
    pub fn record_stream(&self, number: u64, record: &mut Object) -> bool {
        let Some(stream) = self.streams.get(&number) else { return false };
        let awaited = self.routes.iter().filter(|(_, to)| **to == number).map(|(id, _)| id);
        record.integer("number", number).integer("next_event", stream.next_event).boolean("standing", stream.standing);
        record.strings("awaited", awaited);
        if !stream.lost.is_empty() {
            record.strings("lost", stream.lost.iter().map(|(event, id)| format!("{event}:{id}")));
        }
        true
    }

    /// Reads what [`record_stream`](Self::record_stream) wrote. Nobody reads the stream.
    pub fn restore_stream(&mut self, record: &Record<'_, '_>) {
        let (at, next_event, standing) = (record.place("number"), record.place("next_event"), record.boolean("standing"));
        let mut stream = Stream { next_event, standing, ..Stream::default() };
        for id in record.texts("awaited") {
            self.routes.insert(id, at);
            stream.awaited += 1;
        }
        for lost in record.value("lost").map(|_| record.texts("lost")).unwrap_or_default() {
            let (event, id) = lost.split_once(':').unwrap_or_default();
            self.grow(size(id) + LOST_BYTES, 0);
            stream.lost.push_back((record.found(text::whole(event)), id.into()));
        }
        self.streams.insert(at, stream);
        self.changed.insert(at, ());
    }

    /// The events of a stream as they went on the wire, each with its number, from that number on.
    pub fn events(&self, stream: u64, from: u64) -> impl Iterator<Item = (u64, &str)> {
        let events = self.streams.get(&stream).map(|stream| &stream.events);
        events.into_iter().flatten().filter(move |(event, _)| *event >= from).map(|(event, wire)| (*event, wire.as_str()))
    }

    /// Puts an event of a stream back, after those with smaller numbers; whether there is such a stream.
    pub fn restore_event(&mut self, stream: u64, event: u64, wire: String) -> bool {
        let Some(stream) = self.streams.get_mut(&stream) else { return false };
        let bytes = size(&wire);
        stream.events.push_back((event, wire));
        self.grow(bytes, 0);
        true
    }

    /// The streams that came, changed or went since this was last asked.
    pub fn take_changed(&mut self) -> Table<u64, ()> {
        core::mem::take(&mut self.changed)
    }

    /// Takes no stream for changed any more.
    pub fn clear_changed(&mut self) {
        self.changed.clear();
    }

    /// The events of a stream that are to be saved.
    pub fn unsaved_events(&mut self, stream: u64) -> Option<Unsaved> {
        let stream = self.streams.get_mut(&stream)?;
        Some(stream.saved.go_on(stream.first_event(), stream.next_event))
    }
}

/// An event as it goes on the wire.
fn event(stream: u64, number: u64, data: &str) -> String {
    format!("id: {stream}-{number}\nevent: message\ndata: {data}\n\n")
}

/// The event in the place of an answer.
fn lost_event(stream: u64, number: u64, id: &str) -> String {
    let id = json::parse(id, 0).ok().and_then(Id::read);
    event(stream, number, jsonrpc::error(id.as_ref(), INTERNAL_ERROR, LOST, None).as_str())
}

fn size(wire: &str) -> u64 {
    u64::try_from(wire.len()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    use crate::held::{FREE_BYTES, Pool};

    const READER: RequestId = RequestId(1);

    fn session() -> HttpSession {
        HttpSession::new("a".into(), PeerId(1 << 53), Instant::from_ms(0), Pool::default().share())
    }

    fn limits(session_event_bytes: u64) -> Limits {
        Limits { session_event_bytes, ..Limits::default() }
    }

    fn resumed(session: &mut HttpSession, last_event_id: &str) -> Option<(String, Vec<String>)> {
        session.resume(last_event_id, RequestId(9)).map(|resumed| (resumed.missed, resumed.awaited))
    }

    #[test]
    fn a_stream_goes_on_after_the_last_event_seen() {
        let mut session = session();
        let (one, two) = (session.open(READER, &["7".into()]), session.open(RequestId(2), &["8".into()]));
        session.event(one, "", &limits(1000));
        session.event(two, "other", &limits(1000));
        session.event(one, "first", &limits(1000));
        session.leave(one);
        session.event(one, "second", &limits(1000));
        let missed = "id: 1-1\nevent: message\ndata: first\n\nid: 1-2\nevent: message\ndata: second\n\n".to_string();
        assert_eq!(resumed(&mut session, "1-0"), Some((missed, alloc::vec!["7".to_string()])));
        assert_eq!(session.route("7"), Some((one, Some(RequestId(9)))));
        session.answered("7");
        assert_eq!(resumed(&mut session, "1-2"), Some((String::new(), Vec::new())));
        for unknown in ["9-0", "1-7", "x", ""] {
            assert_eq!(resumed(&mut session, unknown), None, "{unknown}");
        }
    }

    #[test]
    fn what_was_forgotten_of_no_request_is_not_passed_over() {
        let mut session = session();
        let (stream, standing) = (session.open(READER, &["7".into()]), session.open(READER, &[]));
        for data in ["0123456789", "0123456789", "0123456789"] {
            session.event(stream, data, &limits(80));
        }
        assert!(resumed(&mut session, "1-0").is_some_and(|(missed, awaited)| missed.starts_with("id: 1-2") && awaited == ["7"]));
        for data in ["0123456789", "0123456789", "0123456789"] {
            session.event(standing, data, &limits(80));
        }
        assert_eq!(resumed(&mut session, "2-0"), None);
        assert!(resumed(&mut session, "2-1").is_some_and(|(missed, _)| missed.starts_with("id: 2-2")));
    }

    #[test]
    fn an_answer_that_was_forgotten_is_an_error() {
        let lost = |id: &str| {
            let error = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32603,"message":"{LOST}"}}}}"#);
            format!("event: message\ndata: {error}\n\n")
        };
        let answer = |id: &str, length: usize| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"{}"}}"#, "x".repeat(length));
        let mut session = session();
        let stream = session.open(READER, &["7".into(), "\"a\"".into(), "8".into()]);
        session.event(stream, "", &limits(500));
        // Too large by itself, which drives out nothing.
        assert!(session.event(stream, &answer("7", 600), &limits(500)).len() > 600);
        let kept = format!("id: 1-1\n{}", lost("7"));
        assert_eq!(resumed(&mut session, "1-0").map(|(missed, _)| missed), Some(kept.clone()));
        // Driven out by what came later, as is a request of ours, which nobody waits for.
        session.event(stream, &answer("\"a\"", 10), &limits(500));
        session.event(stream, r#"{"jsonrpc":"2.0","id":"q","method":"ping"}"#, &limits(500));
        session.event(stream, &answer("8", 300), &limits(500));
        let missed = resumed(&mut session, "1-0").map(|(missed, _)| missed).unwrap();
        let last = format!("id: 1-4\nevent: message\ndata: {}\n\n", answer("8", 300));
        assert_eq!(missed, format!("{kept}id: 1-2\n{}{last}", lost("\"a\"")));
        assert_eq!(resumed(&mut session, "1-2").map(|(missed, _)| missed), Some(last));
        assert!(session.share.bytes() <= 500);
    }

    #[test]
    fn all_sessions_are_bounded_together() {
        let pool = Pool::default();
        let limits = Limits { kept_event_bytes: 4 * FREE_BYTES, ..Limits::default() };
        let mut sessions = [0, 1].map(|peer| HttpSession::new("a".into(), PeerId(peer), Instant::from_ms(0), pool.share()));
        for session in &mut sessions {
            let stream = session.open(READER, &["7".into()]);
            for _ in 0..60 {
                session.event(stream, &"x".repeat(10_000), &limits);
            }
        }
        let [greedy, other] = sessions.map(|session| session.share.bytes());
        assert!(greedy > 3 * FREE_BYTES && other > FREE_BYTES / 2 && greedy + other <= 5 * FREE_BYTES, "{greedy} {other}");
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut session = session();
        let stream = session.open(READER, &["7".into()]);
        for _ in 0..100 {
            session.event(stream, "0123456789", &limits(200));
        }
        assert!(session.share.bytes() <= 200);
        for _ in 0..1000 {
            let standing = session.open(READER, &[]);
            session.leave(standing);
        }
        assert!(session.streams.len() <= 257 && session.awaits("7"));
    }

    #[test]
    fn a_session_survives_its_records() {
        let mut session = session();
        let stream = session.open(READER, &["\"a\"".into()]);
        let standing = session.open(READER, &[]);
        session.event(stream, r#"{"jsonrpc":"2.0","id":"a","result":1}"#, &limits(20));
        session.event(stream, "{\"x\":1}", &limits(1000));
        let written = |session: &HttpSession| {
            let mut records = [stream, standing].map(|number| {
                let mut record = Object::new();
                assert!(session.record_stream(number, &mut record));
                record.finish()
            });
            let mut head = Object::new();
            session.record(&mut head);
            records.reverse();
            (head.finish(), records)
        };
        let (head, streams) = written(&session);
        let faulty = core::cell::Cell::new(false);
        let mut read = HttpSession::read(&Record::new(Some(head.raw()), &faulty), Instant::from_ms(5), Pool::default().share());
        for record in &streams {
            read.restore_stream(&Record::new(Some(record.raw()), &faulty));
        }
        for (event, wire) in session.events(stream, 0) {
            assert!(read.restore_event(stream, event, wire.to_string()));
        }
        assert!(!faulty.get());
        assert_eq!(written(&read), (head, streams));
        assert!(read.awaits("\"a\"") && read.readers().next().is_none() && read.share == session.share);
        assert_eq!(read.unsaved_events(stream), Some(Unsaved { gone: 0..0, new: 1..2 }));
    }
}
