//! Records packed into pieces of bounded size, and back.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::Cell;

use super::{DEPTH, Record, RestoreError, VERSION};
use crate::json::{self, Array, Json, Object};
use crate::table::Table;

/// A piece is closed when it has grown to this many bytes; a longer record is cut.
const PIECE_BYTES: usize = 256 << 10;

/// Collects records into pieces.
#[derive(Default)]
pub(super) struct Pieces {
    done: Vec<String>,
    records: Array,
    bytes: usize,
    cut: u64,
    key: Option<String>,
}

impl Pieces {
    /// Pieces that are kept under a key.
    pub(super) fn under(key: &str) -> Self {
        Self { key: Some(key.to_string()), ..Self::default() }
    }

    /// Adds a record, in chunks where it is longer than a piece should be.
    pub(super) fn add(&mut self, record: Json) {
        if record.as_str().len() <= PIECE_BYTES {
            return self.put(&record);
        }
        self.cut += 1;
        let mut rest = record.as_str();
        let mut index = 0_u64;
        while !rest.is_empty() {
            let mut at = rest.len().min(PIECE_BYTES);
            while !rest.is_char_boundary(at) {
                at -= 1;
            }
            let (head, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
            let mut chunk = Object::new();
            chunk.string("kind", "chunk").integer("record", self.cut).integer("index", index).string("text", head);
            self.put(&chunk.finish());
            rest = tail;
            index += 1;
        }
    }

    fn put(&mut self, record: &Json) {
        self.records.json(record);
        self.bytes += record.as_str().len();
        if self.bytes >= PIECE_BYTES {
            self.close();
        }
    }

    fn close(&mut self) {
        if self.bytes > 0 {
            let mut piece = Object::new();
            piece
                .integer("narrows", VERSION)
                .optional_string("key", self.key.as_deref())
                .json("records", &core::mem::take(&mut self.records).finish());
            self.done.push(piece.finish().into_string());
            self.bytes = 0;
        }
    }

    /// The pieces.
    pub(super) fn finish(mut self) -> Vec<String> {
        self.close();
        self.done
    }
}

/// Pieces by the keys they are kept under.
pub(super) type Kept = Table<String, Vec<String>>;

/// The records of pieces in any order, those that were cut put together; and which pieces are kept under which key.
pub(super) fn read(pieces: &[String]) -> Result<(Vec<Json>, Kept), RestoreError> {
    let unreadable = || RestoreError("a piece of the snapshot is unreadable".to_string());
    let (mut records, mut kept) = (Vec::new(), Kept::new());
    let mut cut = Table::<(String, u64), Table<u64, String>>::new();
    let faulty = Cell::new(false);
    for text in pieces {
        let piece = Record::new(json::parse(text, DEPTH).ok(), &faulty);
        let version = piece.integer("narrows");
        if version != VERSION && !faulty.get() {
            let message = alloc::format!("the snapshot has version {version}; this gateway reads version {VERSION}");
            return Err(RestoreError(message));
        }
        let key = piece.optional("key");
        if let Some(key) = &key {
            kept.get_or_default(key.as_str()).push(text.clone());
        }
        for raw in piece.list("records") {
            let record = piece.of(Some(raw));
            if record.optional("kind").as_deref() == Some("chunk") {
                let whole = (key.clone().unwrap_or_default(), record.number("record"));
                if !cut.has(&whole) {
                    cut.insert(whole.clone(), Table::new());
                }
                if let Some(chunks) = cut.get_mut(&whole) {
                    chunks.insert(record.number("index"), record.text("text"));
                }
            } else {
                records.push(Json::from_raw(raw));
            }
        }
        if faulty.get() {
            return Err(unreadable());
        }
    }
    for chunks in cut.values() {
        let mut text = String::new();
        chunks.values().for_each(|chunk| text.push_str(chunk));
        records.push(Json::parse(&text, DEPTH).map_err(|_| unreadable())?);
    }
    Ok((records, kept))
}
