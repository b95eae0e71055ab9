//! Pages of a directory: the cards that fit, and where to go on.

use alloc::string::{String, ToString};

use memchr::memchr;

use super::cursor::{BadCursor, Cursor};
use super::{Question, folded, searched};
use crate::a2a::Card;
use crate::json::{self, Array, Json, Object, Raw};
use crate::table::Table;
use crate::text;

/// A page ends early where its cards have so many bytes.
const PAGE_BYTES: usize = 8 << 20;

/// How a directory is asked, for those who ask with `help`.
pub const HELP: &str = r#"{"description":"Lists agent cards, sorted by name.","syntax":"A filter is a text; it finds the cards whose name, description or skill tags hold it, in upper or lower case. limit is the greatest number of cards, cursor the next_token of the page before.","examples":["translation","code review"],"filterable_fields":["name","description","skills.tags"]}"#;

/// Some cards, in ascending order of their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// an array of the cards as they were registered
    pub cards: Json,
    /// where to go on, where more remain
    pub next: Option<String>,
}

impl Listing {
    /// `{"cards", "next_token"?}`.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut out = Object::with_capacity(self.cards.as_str().len() + 64);
        out.json("cards", &self.cards).optional_string("next_token", self.next.as_deref());
        out.finish()
    }
}

/// A page that is being filled.
#[derive(Debug)]
pub(super) struct Sheet {
    filter: String,
    after: Option<Cursor>,
    limit: u64,
    cards: Array,
    bytes: usize,
    last: Option<String>,
    more: bool,
}

impl Sheet {
    pub(super) fn new(question: &Question) -> Result<Self, BadCursor> {
        let filter = folded(&question.filter);
        let after = question.cursor.as_deref().map(|text| Cursor::read(text, &filter)).transpose()?;
        let (limit, cards) = (question.limit(), Array::new());
        Ok(Self { filter, after, limit, cards, bytes: 0, last: None, more: false })
    }

    /// The filter in lower case.
    pub(super) fn filter(&self) -> &str {
        &self.filter
    }

    /// The name behind which the page begins.
    pub(super) fn after(&self) -> Option<&str> {
        self.after.as_ref().map(Cursor::name)
    }

    /// Whether the filter is in a text. What stands between the parts of a text is in none of them.
    pub(super) fn lets_through(&self, text: &str) -> bool {
        match self.filter.as_bytes() {
            [] => true,
            [byte] => *byte != 0 && memchr(*byte, text.as_bytes()).is_some(),
            filter => memchr(0, filter).is_none() && text::holds(text, &self.filter),
        }
    }

    /// Adds a card, where the page is not full.
    pub(super) fn add(&mut self, name: &str, card: Raw<'_>) -> bool {
        if self.limit == 0 || self.bytes >= PAGE_BYTES {
            self.more = true;
            return false;
        }
        self.limit -= 1;
        self.bytes += card.get().len();
        self.cards.json(&Json::from_raw(card));
        self.last = Some(name.into());
        true
    }

    pub(super) fn finish(self) -> Listing {
        let next = self.last.filter(|_| self.more).map(|name| Cursor::new(&self.filter, &name).to_string());
        Listing { cards: self.cards.finish(), next }
    }
}

/// A page of cards that a host has in any order; those without a name are left out. `filters` tells whether the filter is
/// to be applied here.
///
/// # Errors
/// A cursor that was not given for that filter.
pub fn page_of(cards: &[Raw<'_>], question: &Question, filters: bool) -> Result<Listing, BadCursor> {
    let mut sheet = Sheet::new(question)?;
    let mut sorted = Table::<String, Raw<'_>>::new();
    for raw in cards {
        let name = json::members(*raw).and_then(|members| members.string("name")).filter(|name| !name.trim().is_empty());
        let Some(name) = name.filter(|name| sheet.after().is_none_or(|after| name.as_str() > after)) else { continue };
        if !filters || sheet.lets_through(&text_of(*raw, &name)) {
            sorted.insert(name, *raw);
        }
    }
    for (name, raw) in sorted.iter() {
        if !sheet.add(name, *raw) {
            break;
        }
    }
    Ok(sheet.finish())
}

/// What a filter is held against; the name alone of what is no card in full.
fn text_of(raw: Raw<'_>, name: &str) -> String {
    Card::from_raw(raw).map_or_else(|_| folded(name), |card| searched(&card))
}
