//! Tokens for MCP servers behind the gateway: what a host keeps, and what a person does.

use alloc::string::String;

use crate::json::{Json, Object};

/// What happened about the tokens for a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthorizeEvent {
    /// A person wants to log in. The host listens at the address, to which the authorization server sends the person back;
    /// where the person is to go is told by the notice `authorization_url`.
    LogIn {
        /// the address, without a query: `http://127.0.0.1:41234/callback`
        redirect_uri: String,
    },
    /// Somebody came to that address. What nobody waits for, or has another `state`, changes nothing.
    CameBack {
        /// the query of the request, without its question mark
        query: String,
    },
    /// What the host's store has for the server; [`TokenOrder::Load`] asked for it.
    Tokens {
        /// the record as it was saved; none where there is none
        record: Option<String>,
    },
}

/// What a host's store of tokens is to do. A record holds credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenOrder {
    /// Give what there is, by [`AuthorizeEvent::Tokens`].
    Load {
        /// Whether the record is going to be replaced. A store that several gateways share gives it to one of them at a time:
        /// it waits until the one before has saved, or for half a minute at most.
        refresh: bool,
    },
    /// Keep a record in place of the one there is.
    Save(Json),
}

impl TokenOrder {
    /// The JSON form of the output.
    #[must_use]
    pub(super) fn to_json(&self, server: &str, url: &str) -> Json {
        let mut out = Object::new();
        match self {
            Self::Load { refresh } => {
                out.string("type", "load_tokens").string("server", server).string("url", url).boolean("refresh", *refresh);
            }
            Self::Save(record) => {
                out.string("type", "save_tokens").string("server", server).string("url", url).json("record", record);
            }
        }
        out.finish()
    }
}

impl AuthorizeEvent {
    /// Writes the JSON form of the input.
    pub(super) fn write<'o>(&self, out: &'o mut Object, server: &str) -> &'o mut Object {
        match self {
            Self::LogIn { redirect_uri } => {
                out.string("type", "log_in").string("server", server).string("redirect_uri", redirect_uri)
            }
            Self::CameBack { query } => out.string("type", "came_back").string("server", server).string("query", query),
            Self::Tokens { record } => {
                out.string("type", "tokens").string("server", server).optional_string("record", record.as_deref())
            }
        }
    }
}
