//! The directory: agent cards by name, found by a filter, given out in pages.

mod cursor;
mod index;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::a2a::Card;
use crate::json::{self, Json};
use crate::table::Table;

pub use cursor::{BadCursor, Cursor};
use index::{Index, Slot};

/// How many cards a page has where nobody asks for fewer, and at most.
pub const PAGE: u64 = 1000;

/// The cards, sorted by name.
#[derive(Debug, Default)]
pub struct Directory {
    entries: Table<String, Box<Entry>>,
    index: Index,
    bytes: u64,
    revision: u64,
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
}

/// Some cards, in ascending order of their names.
#[derive(Debug, PartialEq, Eq)]
pub struct Page<'a> {
    /// the cards as they were registered
    pub cards: Vec<&'a Json>,
    /// where to go on, where more remain
    pub next: Option<Cursor>,
}

impl Directory {
    /// Registers a card under its name, or replaces the one that is there.
    ///
    /// # Errors
    /// What is no card of that name, an entry of another principal, and a directory that is full.
    pub fn register(&mut self, owner: &str, name: &str, card: &str, bounds: Bounds) -> Result<Registered, Refused> {
        let read = Card::read(card, bounds.depth).map_err(|fault| Refused::Card(alloc::format!("{fault}")))?;
        if read.name.trim().is_empty() {
            return Err(Refused::Card("the card has no name".into()));
        }
        if read.name != name {
            return Err(Refused::Card(alloc::format!("the card is named {:?}, the path says {name:?}", read.name)));
        }
        let text = searched(&read);
        let old = self.entries.get(name);
        if old.is_some_and(|old| old.owner != owner) {
            return Err(Refused::Owner);
        }
        let freed = old.map_or(0, |old| old.bytes());
        let entry = Entry { owner: owner.into(), card: read.whole, text, slot: Slot::default() };
        let bytes = (self.bytes - freed).saturating_add(entry.bytes());
        if bytes > bounds.bytes || old.is_none() && self.entries.len() >= bounds.cards {
            return Err(Refused::Full);
        }
        let old = self.entries.remove(name);
        if let Some(old) = &old {
            self.index.remove(old.slot);
        }
        let slot = self.index.insert(&entry.text);
        self.entries.insert(name.into(), Box::new(Entry { slot, ..entry }));
        (self.bytes, self.revision) = (bytes, self.revision + 1);
        Ok(if old.is_some() { Registered::Replaced } else { Registered::New })
    }

    /// Removes the card of a name.
    ///
    /// # Errors
    /// An unknown name, and an entry of another principal.
    pub fn unregister(&mut self, owner: &str, name: &str) -> Result<(), Refused> {
        let entry = self.entries.get(name).ok_or(Refused::Unknown)?;
        if entry.owner != owner {
            return Err(Refused::Owner);
        }
        let (slot, bytes) = (entry.slot, entry.bytes());
        self.index.remove(slot);
        self.entries.remove(name);
        (self.bytes, self.revision) = (self.bytes - bytes, self.revision + 1);
        Ok(())
    }

    /// The cards that a filter lets through, from a place on. An empty filter lets all through; another one those whose
    /// name, description or tag holds it, in any case. `limit` is at least 1.
    #[must_use]
    pub fn page(&self, filter: &str, limit: u64, after: Option<&Cursor>) -> Page<'_> {
        let filter = filter.to_lowercase();
        let finder = memchr::memmem::Finder::new(&filter);
        let candidates = self.index.candidates(&filter);
        let limit = limit.clamp(1, PAGE);
        // What stands between the texts is in none of them.
        let between = filter.contains('\0');
        let (mut cards, mut last) = (Vec::new(), None);
        for (name, entry) in self.entries.after(after.map(Cursor::name)) {
            if between || !candidates.has(entry.slot) || finder.find(entry.text.as_bytes()).is_none() {
                continue;
            }
            if u64::try_from(cards.len()).is_ok_and(|count| count == limit) {
                return Page { cards, next: last.map(|name: &String| Cursor::new(&filter, name)) };
            }
            cards.push(&entry.card);
            last = Some(name);
        }
        Page { cards, next: None }
    }

    /// Every entry with its owner, in order.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &str, &Json)> {
        self.entries.iter().map(|(name, entry)| (name.as_str(), entry.owner.as_str(), &entry.card))
    }

    /// A number that grows with every change.
    #[must_use]
    pub const fn revision(&self) -> u64 {
        self.revision
    }
}

impl Entry {
    fn bytes(&self) -> u64 {
        u64::try_from(self.card.as_str().len()).unwrap_or(u64::MAX)
    }
}

/// What a filter is held against.
fn searched(card: &Card) -> String {
    let mut text = card.name.to_lowercase();
    let mut add = |more: &str| {
        text.push('\0');
        text.push_str(&more.to_lowercase());
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
