//! Credentials that were given to the gateway, kept out of everything it says.
//!
//! One pass over a text finds every known credential, however many there are: the next eight bytes are looked up in a
//! small filter, and only where it says so in the table.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::json::{Json, Members, members, string};
use crate::list::gather;

mod credentials;
mod effort;
mod escapes;
mod filter;
mod json;
mod said;

use effort::Effort;
pub use escapes::at_end;
use filter::{Filter, WINDOW};

/// How many secrets are kept. One more, and the older half makes room: far more than the agents of a scope have is left.
const CAPACITY: usize = 16_384;

/// How many bytes they have in all: twice as many as 256 agents with 64 KiB of header fields each.
const CAPACITY_BYTES: usize = 32 << 20;

/// How many header fields of one request are looked at: far more than any tool takes.
const HEADERS: usize = 256;

/// Arguments of tools that are URLs.
const URLS: [&str; 4] = ["agent", "agent_url", "directory_url", "url"];

/// How a secret is written, and its number.
type Spelling = (Box<[u8]>, u64);

/// The credentials of one scope, numbered from 1 as they were learned.
#[derive(Clone, Default)]
pub struct Secrets {
    secrets: VecDeque<Box<str>>,
    /// How many bytes they have.
    bytes: usize,
    /// How many were forgotten: the number before the first one's.
    forgotten: u64,
    /// Every spelling, sorted.
    spellings: Vec<Spelling>,
    filter: Filter,
}

/// What stands in for a secret.
#[derive(Clone, Copy)]
enum Form {
    /// `[redacted]`, for everyone
    Redacted,
    /// `secret:1`, for traces, which stay replayable
    Placeholder,
}

impl Form {
    fn write(self, number: u64) -> Cow<'static, str> {
        match self {
            Self::Redacted => Cow::Borrowed("[redacted]"),
            Self::Placeholder => Cow::Owned(format!("secret:{number}")),
        }
    }
}

/// Secrets in a text that overlap, taken as one.
struct Run {
    start: usize,
    end: usize,
    /// The longest of them.
    number: u64,
    length: usize,
}

impl Secrets {
    /// A table without secrets.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Learns the credentials of a header field: without the scheme word, those of at least eight characters, none of
    /// harmless fields, nor ordinary words in fields that say where a request belongs; each cookie's value; the password
    /// of `Basic` (RFC 7617 §2) too.
    pub fn learn(&mut self, name: &str, value: &str) {
        credentials::of_header(name, value).iter().for_each(|secret| self.add(secret));
    }

    /// Whether a header field holds anything that is learned.
    #[must_use]
    pub fn is_credential(name: &str, value: &str) -> bool {
        !credentials::of_header(name, value).is_empty()
    }

    /// Learns the user information of what was meant as a URL, where it has any of at least eight characters.
    pub fn learn_url(&mut self, text: &str) {
        credentials::of_url(text).iter().for_each(|secret| self.add(secret));
    }

    /// Learns what the arguments of a tool call hold: header fields, user information of URLs.
    pub fn learn_arguments(&mut self, arguments: &Members<'_>) {
        for (argument, value) in arguments.iter() {
            if URLS.contains(&argument) {
                self.learn_url(&string(value).unwrap_or_default());
            }
            let headers = members(value).filter(|_| argument == "headers").unwrap_or_default();
            for (name, value) in headers.iter().take(HEADERS) {
                self.learn(name, &string(value).unwrap_or_default());
            }
        }
    }

    /// Takes in a secret as it stands, if it is new: one that another table gave.
    pub fn add(&mut self, secret: &str) {
        if secret.len() >= WINDOW && !self.knows(secret) {
            self.insert(secret);
        }
    }

    /// Takes in a secret that another one says, if it is new: `Basic` credentials are their password once more. Both
    /// have the password's number.
    pub fn add_related(&mut self, secret: &str) {
        if self.place(secret.as_bytes()).is_ok() {
            return;
        }
        let password = credentials::password(secret).and_then(|password| self.place(password.as_bytes()).ok());
        match password.and_then(|at| self.spellings.get(at)).map(|(_, number)| *number) {
            Some(number) => {
                self.spell(secret, number, true);
                credentials::other_spellings(secret).iter().for_each(|spelling| self.spell(spelling, number, false));
            }
            None => self.add(secret),
        }
    }

    /// How many bytes at the end of a text may be the beginning of a secret.
    #[must_use]
    pub fn begun_at_end(&self, bytes: &[u8]) -> usize {
        let first = bytes.len().saturating_sub(self.longest().saturating_sub(1));
        let mut effort = Effort::for_bytes(bytes.len() - first);
        let begins = |start: &usize| {
            let end = bytes.get(*start..).unwrap_or_default();
            let [_, after] = nearest(&self.spellings, end, &mut effort);
            after.is_some_and(|(_, shared)| shared == end.len()) || effort.is_spent()
        };
        (first..bytes.len()).find(begins).map_or(0, |start| bytes.len() - start)
    }

    /// Puts the placeholder of a secret where a text breaks off in the middle of one. A beginning that is shorter than
    /// any secret stays.
    pub fn complete_at_end(&self, bytes: &mut Vec<u8>) {
        let readings = escapes::readings(bytes);
        let seen = readings.last().map_or(bytes.as_slice(), |read| &read.bytes);
        let begun = self.begun_at_end(seen);
        let start = seen.len() - begun;
        let end = seen.get(start..).unwrap_or_default();
        if begun < WINDOW || end.strip_prefix(b"secret:").is_some_and(|number| number.iter().all(u8::is_ascii_digit)) {
            return;
        }
        let at = self.spellings.partition_point(|(spelling, _)| spelling.as_ref() <= end);
        if let Some((_, number)) = self.spellings.get(at) {
            let place = escapes::place(&readings, start);
            bytes.truncate(place);
            bytes.extend_from_slice(Form::Placeholder.write(*number).as_bytes());
        }
    }

    /// Replaces every secret in a text that may break off in the middle of one.
    #[must_use]
    pub fn redact_broken(&self, mut text: String) -> String {
        let begun = at_end(text.as_bytes(), |bytes| self.begun_at_end(bytes));
        if begun >= WINDOW {
            text.truncate(text.len() - begun);
            text.push_str(&Form::Redacted.write(0));
        }
        self.redact(text)
    }

    /// The number of the first secret that is kept, and that of the next one.
    #[must_use]
    pub fn numbers(&self) -> (u64, u64) {
        let first = self.forgotten + 1;
        (first, first + self.secrets.len() as u64)
    }

    /// Every secret with its number, from that number on.
    pub fn since(&self, number: u64) -> impl Iterator<Item = (u64, &str)> {
        (self.forgotten + 1..).zip(self.iter()).filter(move |(at, _)| *at >= number)
    }

    /// Every secret, in the order they were learned.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.secrets.iter().map(AsRef::as_ref)
    }

    fn knows(&self, secret: &str) -> bool {
        let found = self.place(secret.as_bytes()).ok().and_then(|at| self.spellings.get(at));
        let place = found.and_then(|(_, number)| usize::try_from(number - self.forgotten - 1).ok());
        place.and_then(|place| self.secrets.get(place)).is_some_and(|known| **known == *secret)
    }

    fn insert(&mut self, secret: &str) {
        self.bytes += secret.len();
        if self.secrets.len() == CAPACITY || self.bytes > CAPACITY_BYTES {
            while self.secrets.len() > CAPACITY / 2 || self.bytes > CAPACITY_BYTES / 2 && !self.secrets.is_empty() {
                self.forget_oldest();
            }
        }
        self.secrets.push_back(secret.into());
        let number = self.forgotten + self.secrets.len() as u64;
        self.spell(secret, number, true);
        credentials::other_spellings(secret).iter().for_each(|spelling| self.spell(spelling, number, false));
    }

    /// Adds a spelling, for the newest secret that is spelled so in itself.
    fn spell(&mut self, spelling: &str, number: u64, itself: bool) {
        match self.place(spelling.as_bytes()) {
            Ok(at) if itself => self.spellings.get_mut(at).map_or((), |(_, owner)| *owner = number),
            Ok(_) => {}
            Err(at) => {
                self.spellings.insert(at, (spelling.as_bytes().into(), number));
                if self.filter.is_full() {
                    self.filter = Filter::with_room_beyond(self.spellings.len());
                    self.spellings.iter().for_each(|(known, _)| self.filter.add(known));
                }
                self.filter.add(spelling.as_bytes());
            }
        }
    }

    fn forget_oldest(&mut self) {
        let Some(secret) = self.secrets.pop_front() else { return };
        self.forgotten += 1;
        self.bytes -= secret.len();
        let mut spellings = credentials::other_spellings(&secret);
        spellings.push(secret.into());
        for spelling in spellings {
            if let Ok(at) = self.place(spelling.as_bytes())
                && self.spellings.get(at).is_some_and(|(_, number)| *number == self.forgotten)
            {
                self.spellings.remove(at);
            }
        }
    }

    fn place(&self, spelling: &[u8]) -> Result<usize, usize> {
        self.spellings.binary_search_by(|(known, _)| known.as_ref().cmp(spelling))
    }

    /// Replaces every secret in plain text by `[redacted]`. Text without one is given back as it is.
    #[must_use]
    pub fn redact(&self, text: String) -> String {
        self.replace(&text, Form::Redacted, &mut Effort::for_bytes(text.len())).unwrap_or(text)
    }

    /// Replaces every secret in the strings and member names of a JSON value, in whatever escapes they are spelled. A
    /// number that holds a secret becomes a string.
    #[must_use]
    pub fn redact_json(&self, value: Json) -> Json {
        json::replace(self, value.as_str(), Form::Redacted).map_or(value, Json::trusted)
    }

    /// Replaces every secret in plain text by `secret:N`, `N` its number.
    #[must_use]
    pub fn placeholders(&self, text: String) -> String {
        self.replace(&text, Form::Placeholder, &mut Effort::for_bytes(text.len())).unwrap_or(text)
    }

    /// The same in bytes that need not be text.
    #[must_use]
    pub fn placeholders_in_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            out.extend_from_slice(self.placeholders(chunk.valid().into()).as_bytes());
            out.extend_from_slice(chunk.invalid());
        }
        out
    }

    /// As [`redact_json`](Self::redact_json), with `secret:N`.
    #[must_use]
    pub fn placeholders_json(&self, value: Json) -> Json {
        json::replace(self, value.as_str(), Form::Placeholder).map_or(value, Json::trusted)
    }

    /// The text with its secrets replaced, as they are known and as they are written in escapes; none where it holds none.
    fn replace(&self, text: &str, form: Form, effort: &mut Effort) -> Option<String> {
        if self.secrets.is_empty() {
            return None;
        }
        let plain = written(&self.runs(text.as_bytes(), effort), text, 0..text.len(), form);
        let text = plain.as_deref().unwrap_or(text);
        written(&self.escaped_runs(text, effort), text, 0..text.len(), form).or(plain)
    }

    /// Replaces every secret in texts that follow each other and are read as one, in each of them that has a piece of it;
    /// none for a text without. Where more may follow, so is what may be the beginning of a secret at the end.
    fn replace_across(&self, before: &str, texts: &[Cow<'_, str>], more: bool, effort: &mut Effort) -> Vec<Option<String>> {
        let mut joined = String::from(before);
        texts.iter().for_each(|text| joined.push_str(text));
        let plain = self.runs(joined.as_bytes(), effort);
        let mut runs = merged(plain, self.escaped_runs(&joined, effort));
        let begun = if more { at_end(joined.as_bytes(), |text| self.begun_at_end(text)) } else { 0 };
        if begun >= WINDOW {
            let (start, end) = (joined.len() - begun, joined.len());
            match runs.last_mut().filter(|run| run.end > start) {
                Some(run) => run.end = end,
                None => runs.push(Run { start, end, number: 0, length: begun }),
            }
        }
        let mut start = before.len();
        let pieces = texts.iter().map(|text| {
            let piece = start..start + text.len();
            start = piece.end;
            written(&runs, &joined, piece, Form::Redacted)
        });
        gather(pieces)
    }

    /// Where secrets stand in a text that are written in escapes.
    fn escaped_runs(&self, text: &str, effort: &mut Effort) -> Vec<Run> {
        let (readings, mut all) = (escapes::readings(text.as_bytes()), Vec::new());
        for (level, read) in (1..).zip(&readings) {
            let mut runs = self.runs(&read.bytes, effort);
            let place = |at| escapes::place(readings.get(..level).unwrap_or_default(), at);
            runs.iter_mut().for_each(|run| (run.start, run.end) = (place(run.start), place(run.end)));
            all = merged(all, runs);
        }
        all
    }

    /// How long a secret may be, as it is written.
    fn longest(&self) -> usize {
        self.spellings.iter().map(|(spelling, _)| spelling.len()).max().unwrap_or(0)
    }

    /// Where secrets stand in a text. Where looking for them takes more effort than there is, the rest of the text is one.
    fn runs(&self, bytes: &[u8], effort: &mut Effort) -> Vec<Run> {
        let mut runs = Vec::<Run>::new();
        if self.secrets.is_empty() {
            return runs;
        }
        for start in self.filter.candidates(bytes) {
            let rest = bytes.get(start..).unwrap_or_default();
            let found = self.longest_at(rest, effort);
            let found = if effort.is_spent() { Some((rest.len(), 0)) } else { found };
            let Some((length, number)) = found else { continue };
            let end = start + length;
            match runs.last_mut() {
                Some(run) if start < run.end => {
                    run.end = run.end.max(end);
                    if length > run.length {
                        (run.length, run.number) = (length, number);
                    }
                }
                Some(_) | None => runs.push(Run { start, end, number, length }),
            }
            if end == bytes.len() {
                break;
            }
        }
        runs
    }

    /// The length and number of the longest secret that the bytes begin with.
    fn longest_at(&self, bytes: &[u8], effort: &mut Effort) -> Option<(usize, u64)> {
        let window = bytes.get(..WINDOW)?;
        let first = self.spellings.partition_point(|(spelling, _)| spelling.as_ref() < window);
        let alike = self.spellings.get(first..)?;
        let alike = alike.get(..alike.partition_point(|(spelling, _)| spelling.starts_with(window)))?;
        // In byte order a secret that the bytes begin with stands before them, the longest last. Where another one stands
        // between, only what it shares with the bytes can hold a shorter one.
        let mut bound = bytes;
        while bound.len() >= WINDOW {
            let [before, _] = nearest(alike, bound, effort);
            let ((spelling, number), shared) = before?;
            if shared == spelling.len() {
                return Some((shared, *number));
            }
            if effort.is_spent() {
                return None;
            }
            bound = bound.get(..shared)?;
        }
        None
    }
}

/// The spellings on both sides of the bytes, the first of them no greater, and how many bytes each has with them.
fn nearest<'a>(spellings: &'a [Spelling], bytes: &[u8], effort: &mut Effort) -> [Option<(&'a Spelling, usize)>; 2] {
    let after = spellings.partition_point(|(spelling, _)| spelling.as_ref() <= bytes);
    let both = [after.checked_sub(1), Some(after)].map(|at| {
        let spelling = spellings.get(at?)?;
        Some((spelling, spelling.0.iter().zip(bytes).take_while(|(one, other)| one == other).count()))
    });
    let shared = both.iter().flatten().map(|(_, shared)| *shared).max();
    effort.spend(shared.unwrap_or(0), spellings.len());
    both
}

/// What was found in two readings of one text: where it overlaps it is one.
fn merged(plain: Vec<Run>, escaped: Vec<Run>) -> Vec<Run> {
    let (mut plain, mut escaped) = (plain.into_iter().peekable(), escaped.into_iter().peekable());
    let mut runs = Vec::<Run>::new();
    loop {
        let next = match (plain.peek(), escaped.peek()) {
            (Some(one), Some(other)) if other.start < one.start => escaped.next(),
            (Some(_), _) => plain.next(),
            (None, _) => escaped.next(),
        };
        let Some(next) = next else { return runs };
        match runs.last_mut() {
            Some(last) if next.start < last.end => last.end = last.end.max(next.end),
            Some(_) | None => runs.push(next),
        }
    }
}

/// A piece of a text with the secrets replaced that reach into it; none where none does.
fn written(runs: &[Run], text: &str, piece: Range<usize>, form: Form) -> Option<String> {
    let (mut out, mut copied) = (None::<String>, piece.start);
    let first = runs.partition_point(|run| run.end <= piece.start);
    for run in runs.iter().skip(first).take_while(|run| run.start < piece.end) {
        let out = out.get_or_insert_with(|| String::with_capacity(piece.len()));
        out.push_str(text.get(copied..run.start).unwrap_or_default());
        out.push_str(&form.write(run.number));
        copied = run.end;
    }
    let tail = text.get(copied..piece.end).unwrap_or_default();
    out.map(|out| out + tail)
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.secrets.len())
    }
}

#[cfg(test)]
mod tests;
