//! What a text says once its escapes are read as those of JSON are, and where in the text that stands: a credential may be
//! written by number, letter for letter.

use alloc::vec::Vec;

use memchr::memchr;

/// How often a text is read again: JSON that quotes JSON that quotes JSON escapes what it escaped.
const READINGS: usize = 4;

/// The readings of a text, each of the one before, as long as there is more to read.
pub(super) fn readings(text: &[u8]) -> Vec<Read> {
    let mut readings = Vec::<Read>::new();
    while readings.len() < READINGS {
        let last = readings.last().map_or(text, |read| &read.bytes);
        let Some(read) = Read::of(last).filter(|read| read.bytes.len() < last.len()) else { break };
        readings.push(read);
    }
    readings
}

/// Where in the text something stands that stands there in the last of its readings.
pub(super) fn place(readings: &[Read], at: usize) -> usize {
    readings.iter().rev().fold(at, |at, read| read.place(at))
}

/// A text with its escapes read.
pub(super) struct Read {
    pub(super) bytes: Vec<u8>,
    /// Behind each escape: the place here and the one in the text.
    places: Vec<(usize, usize)>,
}

impl Read {
    /// Nothing where the text has no escapes. One that breaks off at its end is left out.
    fn of(text: &[u8]) -> Option<Self> {
        memchr(b'\\', text)?;
        let mut read = Self { bytes: Vec::with_capacity(text.len()), places: Vec::new() };
        let mut rest = text;
        while let Some(plain) = memchr(b'\\', rest) {
            let (before, escape) = rest.split_at_checked(plain)?;
            read.bytes.extend_from_slice(before);
            let digits = escape.get(2..escape.len().min(6)).unwrap_or_default();
            let length = match escape.get(1) {
                Some(b'u') if digits.len() < 4 && digits.iter().all(u8::is_ascii_hexdigit) => return Some(read),
                None => return Some(read),
                Some(b'u') => read.push_numbered(digits),
                Some(mark @ (b'"' | b'\\' | b'/')) => {
                    read.bytes.push(*mark);
                    2
                }
                Some(_) => 0,
            };
            if length == 0 {
                read.bytes.push(b'\\');
            }
            rest = escape.get(length.max(1)..)?;
            read.places.push((read.bytes.len(), text.len() - rest.len()));
        }
        read.bytes.extend_from_slice(rest);
        Some(read)
    }

    /// Takes the character of a number; how long its escape is, 0 where it is none. Half of a pair is none.
    fn push_numbered(&mut self, digits: &[u8]) -> usize {
        let number = core::str::from_utf8(digits).ok().and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let Some(char) = number.and_then(char::from_u32) else { return 0 };
        self.bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
        6
    }

    /// Where in the text something stands that stands there here.
    fn place(&self, at: usize) -> usize {
        let before = self.places.partition_point(|(here, _)| *here <= at).checked_sub(1);
        before.and_then(|before| self.places.get(before)).map_or(at, |(here, there)| there + (at - here))
    }
}

/// How many bytes at the end of a text are what `begun` measures at the end of one, as they stand or once escapes are read.
/// An escape that breaks off there may become anything.
pub fn at_end(text: &[u8], begun: impl Fn(&[u8]) -> usize) -> usize {
    let (readings, mut most) = (readings(text), begun(text));
    for (level, read) in (1..).zip(&readings) {
        let start = place(readings.get(..level).unwrap_or_default(), read.bytes.len() - begun(&read.bytes));
        most = most.max(text.len() - start);
    }
    most
}
