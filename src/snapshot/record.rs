//! A record of a snapshot, read member by member.
//!
//! What is missing or of another type is noted where it is met and told once, at the end of the record: a way out for each
//! member would be most of the code of every reader.

use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;

use crate::json::{self, Json, Members, Raw};
use crate::url::Url;

/// One object of a record, or the record itself.
#[derive(Debug)]
pub struct Record<'a, 'f> {
    members: Members<'a>,
    faulty: &'f Cell<bool>,
}

impl<'a, 'f> Record<'a, 'f> {
    /// The object; `faulty` is set where it is none, and by every reading of it that fails.
    #[must_use]
    pub fn new(raw: Option<Raw<'a>>, faulty: &'f Cell<bool>) -> Self {
        let none = Self { members: Members::default(), faulty };
        let members = none.found(raw.and_then(json::members));
        Self { members, faulty }
    }

    /// The value, or an empty one in place of what is not there.
    pub fn found<T: Default>(&self, value: Option<T>) -> T {
        value.unwrap_or_else(|| {
            self.faulty.set(true);
            T::default()
        })
    }

    /// A string.
    #[must_use]
    pub fn text(&self, name: &str) -> String {
        self.found(self.optional(name))
    }

    /// A string that may be absent.
    #[must_use]
    pub fn optional(&self, name: &str) -> Option<String> {
        self.members.string(name)
    }

    /// An integer.
    #[must_use]
    pub fn integer(&self, name: &str) -> i64 {
        self.found(self.value(name).and_then(|raw| json::integer(raw.get())))
    }

    /// A whole number.
    #[must_use]
    pub fn number(&self, name: &str) -> u64 {
        self.found(u64::try_from(self.integer(name)).ok())
    }

    /// A number that the record has among others: one that can be counted on from.
    #[must_use]
    pub fn place(&self, name: &str) -> u64 {
        self.found(Some(self.number(name)).filter(|number| *number < 1 << 60))
    }

    /// A boolean.
    #[must_use]
    pub fn boolean(&self, name: &str) -> bool {
        self.found(self.value(name).and_then(json::boolean))
    }

    /// A URL.
    #[must_use]
    pub fn url(&self, name: &str) -> Option<Url> {
        let url = Url::parse(&self.text(name)).ok();
        self.faulty.set(self.faulty.get() || url.is_none());
        url
    }

    /// Any value that may be absent.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<Raw<'a>> {
        self.members.get(name)
    }

    /// Any value.
    #[must_use]
    pub fn json(&self, name: &str) -> Json {
        self.found(self.value(name).map(|raw| Some(Json::from_raw(raw)))).unwrap_or_else(Json::null)
    }

    /// The elements of an array.
    #[must_use]
    pub fn list(&self, name: &str) -> Vec<Raw<'a>> {
        self.found(self.value(name).and_then(json::elements))
    }

    /// The elements of an array of strings.
    #[must_use]
    pub fn texts(&self, name: &str) -> Vec<String> {
        self.found(self.value(name).and_then(json::strings))
    }

    /// An object.
    #[must_use]
    pub fn inner(&self, name: &str) -> Self {
        self.of(self.value(name))
    }

    /// An object that stands in it somewhere.
    #[must_use]
    pub fn of(&self, raw: Option<Raw<'a>>) -> Self {
        Self::new(raw, self.faulty)
    }

    /// All members.
    #[must_use]
    pub fn keep(&self) -> Vec<(String, Json)> {
        self.members.keep()
    }

    /// The members of an object of strings.
    #[must_use]
    pub fn pairs(&self, name: &str) -> Vec<(String, String)> {
        let inner = self.inner(name);
        let mut list = Vec::new();
        for (name, raw) in inner.members.iter() {
            list.push((String::from(name), self.found(json::string(raw))));
        }
        list
    }
}
