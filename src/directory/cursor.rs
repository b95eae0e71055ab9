//! Where a listing goes on.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::base64;

/// A place in the listing of one filter: behind a name, which need not be there any more. So a card that is there from
/// the first page to the last is shown exactly once, whatever is added and removed meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    filter: u32,
    name: String,
}

/// A text is no cursor, or one of another filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadCursor;

impl fmt::Display for BadCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the cursor is none that this directory gave for this filter: ask for the first page again")
    }
}

impl core::error::Error for BadCursor {}

impl Cursor {
    /// The place behind a name in the listing of a filter, which is folded.
    #[must_use]
    pub(super) fn new(filter: &str, name: &str) -> Self {
        Self { filter: hash(filter), name: name.into() }
    }

    /// The last name that was shown.
    #[must_use]
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Reads what [`Display`](fmt::Display) wrote. The filter is folded.
    ///
    /// # Errors
    /// What was not written so, or for another filter.
    pub fn read(text: &str, filter: &str) -> Result<Self, BadCursor> {
        let bytes = base64::decode_any(text).ok_or(BadCursor)?;
        let (head, name) = bytes.split_first_chunk::<4>().ok_or(BadCursor)?;
        let name = core::str::from_utf8(name).map_err(|_| BadCursor)?;
        let cursor = Self::new(filter, name);
        (cursor.filter == u32::from_be_bytes(*head) && !name.is_empty()).then_some(cursor).ok_or(BadCursor)
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = Vec::from(self.filter.to_be_bytes());
        bytes.extend_from_slice(self.name.as_bytes());
        // In the alphabet that stands in a URL as it is (RFC 4648 §5).
        let text = base64::encode(&bytes).trim_end_matches('=').to_string();
        f.write_str(&text.replace('+', "-").replace('/', "_"))
    }
}

/// Tells filters apart (FNV-1a).
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
