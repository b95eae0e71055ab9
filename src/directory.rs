//! The directory: agent cards by name, found by a filter, given out in pages.

mod check;
mod cursor;
mod index;
pub mod listing;
pub mod lookups;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::a2a::Card;
use crate::json::{self, Json, Object};
use crate::limits::Limits;
use crate::snapshot::Record;
use crate::table::Table;

pub use cursor::{BadCursor, Cursor};
use index::{Index, Slot};
use listing::{Listing, Sheet};

/// How many cards a page has where nobody asks for fewer, and at most.
pub const PAGE: u64 = 1000;

/// How deep a card stands in the answer of a tool, at most.
const AROUND: u32 = 8;

/// The owner of what the program itself registered; it may change every entry.
pub const PROGRAM: &str = "";

/// The cards, sorted by name.
#[derive(Debug, Default)]
pub struct Directory {
    entries: Table<String, Box<Entry>>,
    index: Index,
    bytes: u64,
    /// the names whose entries came, changed or went and are not saved so yet
    changed: Table<String, ()>,
}

/// One registered card.
#[derive(Debug)]
struct Entry {
    /// the principal that made it
    owner: String,
    card: Json,
    /// what a filter is held against: name, description and tags in lower case, with a NUL between each
    text: String,
    slot: Slot,
}

/// What a directory may hold.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// how many cards
    pub cards: u64,
    /// how many bytes all cards have
    pub bytes: u64,
    /// how deep a card nests
    pub depth: u32,
}

impl Bounds {
    /// Those of the configuration. A card stands in lists and answers, which nest deeper than it and are read by others
    /// with the same limit.
    #[must_use]
    pub fn of(limits: &Limits) -> Self {
        Self { cards: limits.directory_cards, bytes: limits.directory_bytes, depth: limits.depth().saturating_sub(AROUND) }
    }
}

/// What became of a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registered {
    /// there was no card of that name
    New,
    /// the card of that name made room
    Replaced,
}

/// Why a change was not made. Nothing changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// the document is no card, or has another name; words for people
    Card(String),
    /// somebody else made the entry
    Owner,
    /// no entry has that name
    Unknown,
    /// the directory is full
    Full,
    /// there is no directory that could be changed from here
    Closed,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Card(why) => why,
            Self::Owner => "another principal registered this name: take another one",
            Self::Unknown => "no card of this name is registered",
            Self::Full => "the directory is as large as directory_cards and directory_bytes allow",
            Self::Closed => "this gateway has no directory of its own: see directory.built_in and directory.store",
        })
    }
}

impl core::error::Error for Refused {}

/// A question to a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// what the cards are to hold in their name, description or a tag, in any case; empty for all
    pub filter: String,
    /// how many cards at most; [`PAGE`] where absent
    pub limit: Option<u64>,
    /// where to go on; absent for the first page
    pub cursor: Option<String>,
}

impl Question {
    /// How many cards a page has.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limit.unwrap_or(PAGE).clamp(1, PAGE)
    }
}

impl Directory {
    /// Registers a card, or replaces the one of its name. Where a name is given, the card must have it.
    ///
    /// # Errors
    /// What is no card of that name, an entry of another principal, and a directory that is full.
    pub fn register(&mut self, owner: &str, name: Option<&str>, card: &str, bounds: Bounds) -> Result<Registered, Refused> {
        let read = check::card(card, bounds.depth).map_err(Refused::Card)?;
        if let Some(name) = name.filter(|name| *name != read.name) {
            let (of_card, of_path) = (Json::string(&read.name), Json::string(name));
            return Err(Refused::Card(format!("the card's name is {}, the path's {}", of_card.as_str(), of_path.as_str())));
        }
        let old = self.entries.get(read.name.as_str());
        if old.is_some_and(|old| old.is_closed_to(owner)) {
            return Err(Refused::Owner);
        }
        if old.is_some_and(|old| old.owner == owner && old.card == read.whole) {
            return Ok(Registered::Replaced);
        }
        let freed = old.map_or(0, |old| old.bytes());
        let is_new = old.is_none();
        let bytes = (self.bytes - freed).saturating_add(length(&read.whole));
        if bytes > bounds.bytes || is_new && self.entries.len() >= bounds.cards {
            return Err(Refused::Full);
        }
        self.put(owner, read);
        Ok(if is_new { Registered::New } else { Registered::Replaced })
    }

    fn put(&mut self, owner: &str, card: Card) {
        let text = searched(&card);
        if let Some(old) = self.entries.remove(card.name.as_str()) {
            self.index.remove(old.slot);
            self.bytes -= old.bytes();
        }
        let entry = Entry { owner: owner.into(), slot: self.index.insert(&text), text, card: card.whole };
        self.bytes += entry.bytes();
        self.changed.insert(card.name.clone(), ());
        self.entries.insert(card.name, Box::new(entry));
    }

    /// Removes the card of a name.
    ///
    /// # Errors
    /// An unknown name, and an entry of another principal.
    pub fn unregister(&mut self, owner: &str, name: &str) -> Result<(), Refused> {
        let entry = self.entries.get(name).ok_or(Refused::Unknown)?;
        if entry.is_closed_to(owner) {
            return Err(Refused::Owner);
        }
        let (slot, bytes) = (entry.slot, entry.bytes());
        self.index.remove(slot);
        self.entries.remove(name);
        self.bytes -= bytes;
        self.changed.insert(name.into(), ());
        Ok(())
    }

    /// The card of a name, as it was registered.
    #[must_use]
    pub fn card(&self, name: &str) -> Option<&Json> {
        self.entries.get(name).map(|entry| &entry.card)
    }

    /// The cards that a filter lets through, in ascending order of their names, from a place on.
    ///
    /// # Errors
    /// A cursor that this directory did not give for that filter.
    pub fn page(&self, question: &Question) -> Result<Listing, BadCursor> {
        let mut sheet = Sheet::new(question)?;
        let candidates = self.index.candidates(sheet.filter());
        let after = sheet.after().map(String::from);
        for (name, entry) in self.entries.after(after.as_deref()) {
            if candidates.has(entry.slot) && sheet.lets_through(&entry.text) && !sheet.add(name, entry.card.raw()) {
                break;
            }
        }
        Ok(sheet.finish())
    }

    /// The record of an entry, for a host that keeps it.
    #[must_use]
    pub fn record(&self, name: &str) -> Option<Json> {
        let entry = self.entries.get(name)?;
        let mut record = Object::new();
        // As text: a card may nest as deep as a record.
        record.string("kind", "listed").string("owner", &entry.owner).string("card", entry.card.as_str());
        Some(record.finish())
    }

    /// Takes an entry of a snapshot up, whatever the bounds are now.
    pub fn restore(&mut self, record: &Record<'_, '_>) {
        let (owner, text) = (record.text("owner"), record.text("card"));
        let card = Card::read(&text, u32::MAX).ok();
        if let Some(card) = record.found(card.map(Some)) {
            self.put(&owner, card);
        }
    }

    /// Every name, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_str())
    }

    /// How many cards there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.entries.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The names whose entries came, changed or went since this was last asked.
    pub fn take_changed(&mut self) -> Table<String, ()> {
        core::mem::take(&mut self.changed)
    }
}

impl Entry {
    fn bytes(&self) -> u64 {
        length(&self.card)
    }

    fn is_closed_to(&self, owner: &str) -> bool {
        owner != self.owner && owner != PROGRAM
    }
}

fn length(card: &Json) -> u64 {
    u64::try_from(card.as_str().len()).unwrap_or(u64::MAX)
}

/// A text as it is compared: each character in lower case by itself, so that a part of a text is a part of it here too.
fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter == '\u{3c2}' {
            // The sigma at the end of a word is a sigma.
            out.push('\u{3c3}');
        } else if letter.is_ascii() {
            out.push(letter.to_ascii_lowercase());
        } else {
            out.extend(letter.to_lowercase());
        }
    }
    out
}

/// What a filter is held against.
fn searched(card: &Card) -> String {
    let mut text = folded(&card.name);
    let mut add = |more: &str| {
        text.push('\0');
        text.push_str(&folded(more));
    };
    add(card.description.as_deref().unwrap_or_default());
    let members = json::members(card.whole.raw()).unwrap_or_default();
    for skill in members.get("skills").and_then(json::elements).unwrap_or_default() {
        let skill = json::members(skill).unwrap_or_default();
        for tag in skill.get("tags").and_then(json::elements).unwrap_or_default() {
            add(&json::string(tag).unwrap_or_default());
        }
    }
    text
}

#[cfg(test)]
mod tests;
