//! What passes the border about the directory.

use alloc::string::String;

use crate::json::{Json, Object};

/// One look into the directory of the host, named by the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LookupId(pub u64);

/// What a host says about the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DirectoryInput {
    /// The program itself registers a card, or replaces the one of that name, whoever made it.
    Register {
        /// the card as JSON text
        card: String,
    },
    /// The program itself removes a card, whoever made it.
    Unregister {
        /// its name
        name: String,
    },
    /// What a look into the host's own directory gave.
    Found {
        /// which
        lookup: LookupId,
        /// `{"cards": […], "next_token"?: "…"}`, or the cards alone; `next_token` only where it was asked for a page
        text: String,
    },
    /// A look into the host's own directory failed.
    Failed {
        /// which
        lookup: LookupId,
        /// whether the cursor was none that the directory gave
        bad_cursor: bool,
        /// words for the caller, without credentials
        detail: String,
    },
}

/// A look into the host's own directory ([`Config::directory`](crate::config::Config::directory)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// its name in the report
    pub lookup: LookupId,
    /// what cards are to hold in their name, description or a tag, in any case; absent where the gateway looks itself
    pub filter: Option<String>,
    /// which page; absent where the gateway pages itself and all cards are wanted
    pub page: Option<PageWish>,
}

/// A page of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageWish {
    /// how many cards at most
    pub limit: u64,
    /// the `next_token` of the page before; absent for the first page
    pub cursor: Option<String>,
}

impl DirectoryInput {
    pub(super) fn write<'o>(&self, out: &'o mut Object) -> &'o mut Object {
        match self {
            Self::Register { card } => out.string("type", "register").string("card", card),
            Self::Unregister { name } => out.string("type", "unregister").string("name", name),
            Self::Found { lookup, text } => out.string("type", "found").integer("lookup", lookup.0).string("text", text),
            Self::Failed { lookup, bad_cursor, detail } => {
                out.string("type", "lookup_failed").integer("lookup", lookup.0);
                out.boolean("bad_cursor", *bad_cursor).string("detail", detail)
            }
        }
    }
}

impl Lookup {
    pub(super) fn to_json(&self) -> Json {
        let mut out = Object::new();
        out.string("type", "lookup").integer("lookup", self.lookup.0).optional_string("filter", self.filter.as_deref());
        if let Some(page) = &self.page {
            out.integer("limit", page.limit).optional_string("cursor", page.cursor.as_deref());
        }
        out.finish()
    }
}
