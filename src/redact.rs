//! Credentials that were given to the gateway, kept out of everything it says.
//!
//! One pass over a text finds every known credential, however many there are: the next eight bytes are looked up in a
//! small filter, and only where it says so in the table.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use core::fmt;
use core::iter;
use core::ops::Bound::{Included, Unbounded};

use crate::json::Json;

mod credentials;
mod filter;
mod json;

use filter::{Filter, WINDOW};

/// How many secrets are kept; the oldest make room.
const CAPACITY: usize = 16_384;

/// The credentials of one scope, numbered from 1 as they were learned.
#[derive(Clone, Default)]
pub struct Secrets {
    by_number: BTreeMap<u64, Box<str>>,
    /// Every spelling with the number of its secret.
    spellings: BTreeMap<Box<[u8]>, u64>,
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
    /// harmless fields; each cookie's value; the password of `Basic` (RFC 7617 §2) too.
    pub fn learn(&mut self, name: &str, value: &str) {
        for secret in credentials::of_header(name, value) {
            if !self.knows(&secret) {
                let number = self.by_number.last_key_value().map_or(1, |(number, _)| number + 1);
                self.insert(number, &secret);
            }
        }
    }

    fn knows(&self, secret: &str) -> bool {
        let number = self.spellings.get(secret.as_bytes());
        number.and_then(|number| self.by_number.get(number)).is_some_and(|known| **known == *secret)
    }

    /// Every secret with its number, in the order they were learned.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &str)> {
        self.by_number.iter().map(|(number, secret)| (*number, secret.as_ref()))
    }

    /// Takes a secret back under the number it had, which is free.
    pub fn insert(&mut self, number: u64, secret: &str) {
        self.spell(secret.as_bytes().into(), number);
        for spelling in credentials::other_spellings(secret) {
            if !self.spellings.contains_key(spelling.as_bytes()) {
                self.spell(spelling.into_bytes().into(), number);
            }
        }
        self.by_number.insert(number, secret.into());
        if self.by_number.len() > CAPACITY {
            self.forget_oldest();
        }
    }

    fn spell(&mut self, spelling: Box<[u8]>, number: u64) {
        if self.filter.is_full() {
            self.filter = Filter::with_room_beyond(self.spellings.len());
            for known in self.spellings.keys() {
                self.filter.add(known);
            }
        }
        self.filter.add(&spelling);
        self.spellings.insert(spelling, number);
    }

    fn forget_oldest(&mut self) {
        let Some((number, secret)) = self.by_number.pop_first() else { return };
        for spelling in iter::once(String::from(&*secret)).chain(credentials::other_spellings(&secret)) {
            if self.spellings.get(spelling.as_bytes()) == Some(&number) {
                self.spellings.remove(spelling.as_bytes());
            }
        }
    }

    /// Replaces every secret in plain text by `[redacted]`. Text without one is given back as it is.
    #[must_use]
    pub fn redact(&self, text: String) -> String {
        self.replace(&text, Form::Redacted).unwrap_or(text)
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
        self.replace(&text, Form::Placeholder).unwrap_or(text)
    }

    /// As [`redact_json`](Self::redact_json), with `secret:N`.
    #[must_use]
    pub fn placeholders_json(&self, value: Json) -> Json {
        json::replace(self, value.as_str(), Form::Placeholder).map_or(value, Json::trusted)
    }

    /// The text with its secrets replaced; none where it holds none.
    fn replace(&self, text: &str, form: Form) -> Option<String> {
        let (mut out, mut copied) = (None::<String>, 0);
        let mut run = None::<Run>;
        let mut write = |run: Run| {
            let out = out.get_or_insert_with(|| String::with_capacity(text.len()));
            out.push_str(text.get(copied..run.start).unwrap_or_default());
            out.push_str(&form.write(run.number));
            copied = run.end;
        };
        for start in self.filter.candidates(text.as_bytes()) {
            let Some((length, number)) = self.longest_at(text.as_bytes().get(start..).unwrap_or_default()) else { continue };
            let end = start + length;
            match &mut run {
                Some(run) if start < run.end => {
                    run.end = run.end.max(end);
                    if length > run.length {
                        (run.length, run.number) = (length, number);
                    }
                }
                Some(_) | None => {
                    if let Some(run) = run.replace(Run { start, end, number, length }) {
                        write(run);
                    }
                }
            }
        }
        write(run?);
        let tail = text.get(copied..).unwrap_or_default();
        out.map(|out| out + tail)
    }

    /// The length and number of the longest secret that the bytes begin with.
    fn longest_at(&self, bytes: &[u8]) -> Option<(usize, u64)> {
        // In byte order a secret that the bytes begin with stands before them, the longest last. Where another one stands
        // between, only what it shares with the bytes can hold a shorter one.
        let mut bound = bytes;
        while bound.len() >= WINDOW {
            let (spelling, number) = self.spellings.range::<[u8], _>((Unbounded, Included(bound))).next_back()?;
            let shared = spelling.iter().zip(bound).take_while(|(a, b)| a == b).count();
            if shared == spelling.len() {
                return Some((shared, *number));
            }
            bound = bound.get(..shared)?;
        }
        None
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.by_number.len())
    }
}

#[cfg(test)]
mod tests;
