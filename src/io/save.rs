//! What a host is to keep.

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::{Array, Json, Object};
use crate::snapshot::pieces_of;

/// One entry of a host's storage.
///
/// What is kept under a key replaces what was kept there before. Keys are paths whose parts are separated by `/` and
/// hold nothing but letters, digits, `-._~` and `%`; together with an entry that goes, every one goes whose key begins
/// with its key and a `/`. All pieces that are kept, in any order, are what
/// [`Gateway::restore`](crate::gateway::Gateway::restore) continues from. They hold credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Save {
    /// where
    pub key: String,
    /// what; `None` where nothing is kept under this key any more, nor below it
    pub record: Option<Json>,
}

impl Save {
    /// What is to be kept, as pieces of JSON text under 1 MiB each; none where the entry goes.
    #[must_use]
    pub fn pieces(&self) -> Vec<String> {
        self.record.clone().map(|record| pieces_of(&self.key, record)).unwrap_or_default()
    }

    pub(super) fn to_json(&self) -> Json {
        let mut out = Object::new();
        out.string("type", "save").string("key", &self.key);
        let mut pieces = Array::new();
        for piece in self.pieces() {
            pieces.string(&piece);
        }
        out.nested("pieces", pieces);
        out.finish()
    }

    /// The form of a trace: the record as it is, so that what is a secret in it can be found.
    pub(crate) fn to_trace(&self) -> Json {
        let mut out = Object::new();
        out.string("type", "save").string("key", &self.key).optional_json("record", self.record.as_ref());
        out.finish()
    }
}
