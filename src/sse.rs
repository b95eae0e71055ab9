//! Event streams, decoded exactly as WHATWG HTML §9.2.6 says, at any cut of their bytes and in bounded memory.
//!
//! The decoder is pulled: [`Decoder::feed`] gives an iterator over the events that a chunk completes, so nothing is
//! queued. The data of an event that lies whole in one chunk as one line is borrowed from that chunk.

use alloc::borrow::{Cow, ToOwned};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::mem;

use memchr::{memchr, memchr2};

const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// One event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event<'c> {
    /// the event type, `message` where the stream names none
    pub event: Cow<'c, str>,
    /// the data lines, joined by line feeds; may be empty
    pub data: Cow<'c, str>,
    /// the last event id of the stream at this event, where there is one
    pub id: Option<String>,
}

/// A bound of the stream was passed. The decoder gives no more events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLarge {
    /// The lines of one event, comments and line ends not counted.
    Event,
    /// The whole stream, every byte counted.
    Stream,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Event => "one event of the stream is larger than `event_bytes`",
            Self::Stream => "the stream is larger than `stream_bytes`",
        })
    }
}

impl core::error::Error for TooLarge {}

/// The fields of the block that is being read.
#[derive(Clone, Debug, Default)]
struct Block<'c> {
    data: Option<Cow<'c, str>>,
    event: Option<Cow<'c, str>>,
}

impl Block<'_> {
    fn into_owned(self) -> Block<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        Block { data: self.data.map(owned), event: self.event.map(owned) }
    }
}

/// The decoder of one stream.
///
/// ```
/// # use narrows::sse::Decoder;
/// let mut decoder = Decoder::new(8 << 20, 64 << 20);
/// assert_eq!(decoder.feed(b"id: 7\r\ndata: {\"a\":1}\r").count(), 0);
/// let event = decoder.feed(b"\n\r\n").next().unwrap()?;
/// assert_eq!((&*event.event, &*event.data, event.id.as_deref()), ("message", "{\"a\":1}", Some("7")));
/// # Ok::<_, narrows::sse::TooLarge>(())
/// ```
#[derive(Clone, Debug)]
pub struct Decoder {
    event_bytes: u64,
    stream_bytes: u64,
    /// Bytes of the stream so far.
    stream_size: u64,
    /// Bytes of the whole lines of the block so far.
    block_size: u64,
    /// How much of a byte order mark has been seen, while the stream may still begin with one.
    mark: Option<usize>,
    /// The last byte was a CR: an LF that follows belongs to the same line end.
    after_cr: bool,
    /// The start of a line whose end has not come, unless it is a comment.
    line: Vec<u8>,
    /// That line is a comment.
    comment: bool,
    block: Block<'static>,
    id: Option<String>,
    last_event_id: String,
    retry_ms: Option<u64>,
    fault: Option<TooLarge>,
}

impl Decoder {
    /// A decoder that takes events of at most `event_bytes` and a stream of at most `stream_bytes`.
    #[must_use]
    pub fn new(event_bytes: u64, stream_bytes: u64) -> Self {
        Self {
            event_bytes,
            stream_bytes,
            stream_size: 0,
            block_size: 0,
            mark: Some(0),
            after_cr: false,
            line: Vec::new(),
            comment: false,
            block: Block::default(),
            id: None,
            last_event_id: String::new(),
            retry_ms: None,
            fault: None,
        }
    }

    /// How much it holds of an event that is not complete.
    #[must_use]
    pub const fn held_bytes(&self) -> u64 {
        self.block_size.saturating_add(self.line.len() as u64)
    }

    /// Takes the next bytes of the stream. They are read as the iterator is: what is left when it is dropped is lost.
    ///
    /// The iterator ends with an error where a bound is passed, and so does every later one.
    #[must_use = "the bytes are read by taking the events"]
    pub fn feed<'d, 'c>(&'d mut self, bytes: &'c [u8]) -> Events<'d, 'c> {
        let room = usize::try_from(self.stream_bytes - self.stream_size).unwrap_or(usize::MAX);
        let (within, beyond) = bytes.split_at(room.min(bytes.len()));
        self.stream_size += within.len() as u64;
        let rest = self.skip_mark(within);
        let block = mem::take(&mut self.block);
        Events { decoder: self, rest, beyond: !beyond.is_empty(), block, done: false }
    }

    /// The end of the stream: the block whose closing blank line never came.
    ///
    /// It is no event (WHATWG HTML §9.2.6): the stream may have been cut there. All that a caller learns from it is what to
    /// ask for next. [`last_event_id`](Self::last_event_id) does not change.
    pub fn finish(&mut self) -> Option<Event<'static>> {
        if self.fault.is_some() {
            return None;
        }
        let mut block = mem::take(&mut self.block);
        let line = mem::take(&mut self.line);
        // A line that is cut off may be cut anywhere. Of data the caller sees whether it is whole, of an id nobody does.
        if line.starts_with(b"data") {
            self.field(&mut block, Cow::Owned(line));
        }
        let id = self.id.take().unwrap_or_else(|| self.last_event_id.clone());
        event(block, &id)
    }

    /// The id to resume after, as of the last finished block (the header `Last-Event-ID`).
    #[must_use]
    pub fn last_event_id(&self) -> Option<&str> {
        Some(self.last_event_id.as_str()).filter(|id| !id.is_empty())
    }

    /// How long the server asks to wait before reconnecting, in milliseconds.
    #[must_use]
    pub fn retry_ms(&self) -> Option<u64> {
        self.retry_ms
    }

    /// Skips a byte order mark at the start of the stream, wherever it is cut.
    fn skip_mark<'c>(&mut self, mut bytes: &'c [u8]) -> &'c [u8] {
        while let (Some(matched), Some((first, rest))) = (self.mark, bytes.split_first()) {
            let (begun, expected) = BYTE_ORDER_MARK.split_at(matched);
            if expected.first() == Some(first) {
                bytes = rest;
                self.mark = (expected.len() > 1).then_some(matched + 1);
            } else {
                self.line.extend_from_slice(begun);
                self.mark = None;
            }
        }
        bytes
    }

    /// Keeps the start of a line until the rest comes.
    fn keep(&mut self, part: &[u8]) -> Result<(), TooLarge> {
        if self.line.is_empty() && part.first() == Some(&b':') {
            self.comment = true;
        }
        if self.comment {
            return Ok(());
        }
        self.check(part.len())?;
        self.line.extend_from_slice(part);
        Ok(())
    }

    fn check(&mut self, more: usize) -> Result<(), TooLarge> {
        if self.block_size + self.line.len() as u64 + more as u64 > self.event_bytes {
            return Err(self.fail(TooLarge::Event));
        }
        Ok(())
    }

    /// Notes the fault and gives back all memory.
    fn fail(&mut self, fault: TooLarge) -> TooLarge {
        self.fault = Some(fault);
        self.line = Vec::new();
        self.block = Block::default();
        fault
    }

    /// Ends the block at its blank line.
    fn dispatch<'c>(&mut self, block: &mut Block<'c>) -> Option<Event<'c>> {
        self.block_size = 0;
        if let Some(id) = self.id.take() {
            self.last_event_id = id;
        }
        event(mem::take(block), &self.last_event_id)
    }

    /// Takes in one line that is neither blank nor a comment.
    fn field<'c>(&mut self, block: &mut Block<'c>, line: Cow<'c, [u8]>) {
        let bytes = line.as_ref();
        let (name, value_at) = match memchr(b':', bytes) {
            Some(at) if bytes.get(at + 1) == Some(&b' ') => (bytes.get(..at), at + 2),
            Some(at) => (bytes.get(..at), at + 1),
            None => (Some(bytes), bytes.len()),
        };
        let value = bytes.get(value_at..).unwrap_or_default();
        match name.unwrap_or_default() {
            b"data" => match &mut block.data {
                Some(data) => {
                    let data = data.to_mut();
                    data.push('\n');
                    data.push_str(&lossy(value));
                }
                None => block.data = Some(text(line, value_at)),
            },
            b"event" => block.event = Some(text(line, value_at)),
            b"id" if !value.contains(&0) => self.id = Some(lossy(value).into_owned()),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let digit = |ms: u64, byte: &u8| ms.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
                self.retry_ms = Some(value.iter().fold(0, digit));
            }
            _ => {}
        }
    }
}

/// The event of a block; none without data (WHATWG HTML §9.2.6, "dispatch the event").
fn event<'c>(block: Block<'c>, id: &str) -> Option<Event<'c>> {
    let event = block.event.filter(|name| !name.is_empty()).unwrap_or(Cow::Borrowed("message"));
    let id = Some(id).filter(|id| !id.is_empty()).map(ToOwned::to_owned);
    block.data.map(|data| Event { event, data, id })
}

/// The line from `start` on as text; what is no UTF-8 becomes U+FFFD. A line that is owned gives its memory.
fn text(line: Cow<'_, [u8]>, start: usize) -> Cow<'_, str> {
    match line {
        Cow::Borrowed(bytes) => lossy(bytes.get(start..).unwrap_or_default()),
        Cow::Owned(mut bytes) => {
            bytes.drain(..start.min(bytes.len()));
            let text = String::from_utf8(bytes);
            Cow::Owned(text.unwrap_or_else(|fault| String::from_utf8_lossy(fault.as_bytes()).into_owned()))
        }
    }
}

/// Bytes as text; checking first is many times as fast as repairing at once.
fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    core::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// The events that a chunk completes.
#[derive(Debug)]
pub struct Events<'d, 'c> {
    decoder: &'d mut Decoder,
    rest: &'c [u8],
    /// The chunk went on past the bound of the stream.
    beyond: bool,
    block: Block<'c>,
    done: bool,
}

impl<'c> Events<'_, 'c> {
    /// The next whole line that is no comment; none where the chunk is used up.
    fn line(&mut self) -> Result<Option<Cow<'c, [u8]>>, TooLarge> {
        let decoder = &mut *self.decoder;
        loop {
            let Some(first) = self.rest.first() else { return Ok(None) };
            if mem::take(&mut decoder.after_cr) && *first == b'\n' {
                self.rest = self.rest.get(1..).unwrap_or_default();
                continue;
            }
            let Some(at) = memchr2(b'\n', b'\r', self.rest) else {
                decoder.keep(mem::take(&mut self.rest))?;
                return Ok(None);
            };
            let (head, tail) = self.rest.split_at(at);
            let (end, rest) = tail.split_first().unwrap_or((&b'\n', tail));
            decoder.after_cr = *end == b'\r';
            self.rest = rest;
            if mem::take(&mut decoder.comment) || (decoder.line.is_empty() && head.first() == Some(&b':')) {
                continue;
            }
            decoder.check(head.len())?;
            if decoder.line.is_empty() {
                return Ok(Some(Cow::Borrowed(head)));
            }
            decoder.line.extend_from_slice(head);
            return Ok(Some(Cow::Owned(mem::take(&mut decoder.line))));
        }
    }

    fn read(&mut self) -> Result<Option<Event<'c>>, TooLarge> {
        if let Some(fault) = self.decoder.fault {
            return Err(fault);
        }
        while let Some(line) = self.line()? {
            if line.is_empty() {
                if let Some(event) = self.decoder.dispatch(&mut self.block) {
                    return Ok(Some(event));
                }
            } else {
                self.decoder.block_size += line.len() as u64;
                self.decoder.field(&mut self.block, line);
            }
        }
        self.decoder.block = mem::take(&mut self.block).into_owned();
        if self.beyond {
            return Err(self.decoder.fail(TooLarge::Stream));
        }
        Ok(None)
    }
}

impl<'c> Iterator for Events<'_, 'c> {
    type Item = Result<Event<'c>, TooLarge>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let item = self.read().transpose();
        self.done = !matches!(item, Some(Ok(_)));
        item
    }
}
