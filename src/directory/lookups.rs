//! Looks into the directory of a host that has one of its own.

use alloc::string::{String, ToString};

use super::Question;
use super::cursor::BadCursor;
use super::listing::{self, Listing};
use crate::call::CallId;
use crate::io::{Lookup, LookupId, PageWish, RequestId};
use crate::json::{self, Json, Kind};
use crate::table::Table;

/// What a host's own directory can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// it filters and pages
    Query,
    /// it filters, the gateway pages
    Filter,
    /// it gives all cards
    List,
}

impl Store {
    /// Every kind with its name in the configuration.
    pub const NAMES: [(Self, &'static str); 3] = [(Self::Query, "query"), (Self::Filter, "filter"), (Self::List, "list")];
}

/// Who waits for a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    /// an incoming request
    Request(RequestId),
    /// a call of a tool
    Call(CallId),
}

/// The lookups that run.
#[derive(Debug)]
pub struct Lookups {
    waiting: Table<LookupId, (Asker, Question)>,
    next: u64,
}

impl Default for Lookups {
    fn default() -> Self {
        Self { waiting: Table::new(), next: 1 }
    }
}

impl Lookups {
    /// Begins one: what the host is to be asked.
    ///
    /// # Errors
    /// A cursor that was not given for that filter, where the pages are the gateway's own.
    pub fn begin(&mut self, store: Store, asker: Asker, question: Question) -> Result<Lookup, BadCursor> {
        let (filter, cursor) = (question.filter.clone(), question.cursor.clone());
        let (filter, page) = match store {
            Store::Query => (Some(filter), Some(PageWish { limit: question.limit(), cursor })),
            Store::Filter => (Some(filter), None),
            Store::List => (None, None),
        };
        if page.is_none() {
            listing::page_of(&[], &question, false)?;
        }
        let lookup = LookupId(self.next);
        self.next += 1;
        self.waiting.insert(lookup, (asker, question));
        Ok(Lookup { lookup, filter: filter.filter(|filter| !filter.is_empty()), page })
    }

    /// Who waits for a lookup, and what was asked; `None` where nobody does any more.
    ///
    /// # Errors
    /// One that was never asked for.
    pub fn take(&mut self, lookup: LookupId) -> Result<Option<(Asker, Question)>, LookupId> {
        match self.waiting.remove(&lookup) {
            None if lookup.0 == 0 || lookup.0 >= self.next => Err(lookup),
            taken => Ok(taken),
        }
    }

    /// Nobody waits for a lookup any more.
    pub fn forget(&mut self, lookup: LookupId) {
        self.waiting.remove(&lookup);
    }

    /// How many run.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.waiting.len()
    }

    /// Whether none runs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// How many there were, for a snapshot.
    #[must_use]
    pub const fn counter(&self) -> u64 {
        self.next
    }

    /// Takes up the count of a snapshot; it never goes back.
    pub fn restore_counter(&mut self, next: u64) {
        self.next = self.next.max(next);
    }
}

/// Reads what a host found.
///
/// # Errors
/// Words about what is no list of cards.
pub fn read(store: Store, question: &Question, text: &str, depth: u32) -> Result<Listing, String> {
    let unreadable = || "the directory's store did not answer with a list of cards".to_string();
    let raw = json::parse(text, depth).map_err(|_| unreadable())?;
    let members = json::members(raw).unwrap_or_default();
    let list = if json::kind(raw) == Kind::Array { Some(raw) } else { members.get("cards") };
    let list = list.filter(|raw| json::kind(*raw) == Kind::Array).ok_or_else(unreadable)?;
    match store {
        Store::Query => {
            let next = members.string("next_token").filter(|token| !token.is_empty());
            Ok(Listing { cards: Json::from_raw(list), next })
        }
        Store::Filter | Store::List => {
            let cards = json::elements(list).unwrap_or_default();
            listing::page_of(&cards, question, store == Store::List).map_err(|fault| fault.to_string())
        }
    }
}
