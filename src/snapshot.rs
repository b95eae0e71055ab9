//! Snapshots: agents, conversations, sessions and calls as records, in pieces of JSON text under 1 MiB each.
//!
//! A record has a key, and a host with a storage is told of every key whose record an input changed. A snapshot is all
//! records at once. Pieces and the records in them may be read in any order. Exchanges in flight are not part of it: a
//! call that was running is answered after a restore with an error that names its task.

use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;
use core::fmt;

use crate::gateway::Gateway;
use crate::json::{self, Json};
use crate::link::pins::Pins;

mod agent;
mod pieces;
mod record;
mod records;
mod restoring;
mod saving;

use pieces::Pieces;
pub use record::Record;
use records::Form;
pub(crate) use saving::Keeper;

/// The version of the form.
const VERSION: i64 = 1;
/// Nesting of a piece.
const DEPTH: u32 = 128;

/// Whether a snapshot holds credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// for the host's own storage
    Keep,
    /// to hand on
    Drop,
}

/// Why a snapshot was not taken up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreError(pub String);

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for RestoreError {}

impl Gateway {
    /// All state, in pieces of JSON text under 1 MiB each.
    #[must_use]
    pub fn snapshot(&self, secrets: Secrets) -> Vec<String> {
        let mut pieces = Pieces::default();
        let form = match secrets {
            Secrets::Keep => Form::Whole,
            Secrets::Drop => Form::HandedOn,
        };
        self.records(form, &mut |record| pieces.add(record));
        pieces.finish()
    }
}

/// Takes back the pins of pieces.
///
/// # Errors
/// A piece that is unreadable, or holds something else.
pub(crate) fn pins(pieces: &[String], into: &mut Pins) -> Result<(), RestoreError> {
    let unreadable = || RestoreError(String::from("a piece is none of a pin"));
    let faulty = Cell::new(false);
    for text in pieces::read(pieces)?.0 {
        let record = Record::new(json::parse(text.as_str(), DEPTH).ok(), &faulty);
        if record.text("kind") != "pin" {
            return Err(unreadable());
        }
        into.take(&record);
    }
    if faulty.get() { Err(unreadable()) } else { Ok(()) }
}

/// The pieces of a record that is kept under a key.
pub(crate) fn pieces_of(key: &str, record: Json) -> Vec<String> {
    let mut pieces = Pieces::under(key);
    pieces.add(record);
    pieces.finish()
}
