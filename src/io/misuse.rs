//! Faults of the host.

use alloc::string::String;
use core::fmt;

use super::{ExchangeId, LinkId, LookupId, PeerId, RequestId, WorkId};
use crate::config::ConfigError;

/// A fault of the host, told at once. The gateway's state is as before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// A peer that is already open was opened.
    PeerOpen(PeerId),
    /// No such peer is open.
    PeerUnknown(PeerId),
    /// A request of that number is running.
    RequestOpen(RequestId),
    /// The gateway never asked for this exchange.
    ExchangeUnknown(ExchangeId),
    /// The gateway never asked for this work.
    WorkUnknown(WorkId),
    /// The gateway never asked for this link.
    LinkUnknown(LinkId),
    /// No server of that name is configured at a URL.
    ServerUnknown(String),
    /// The gateway never asked for this lookup.
    LookupUnknown(LookupId),
    /// The directory does not take the program's own card, or has none of that name.
    Directory(crate::directory::Refused),
    /// The new configuration has faults; the one that runs stays.
    Config(ConfigError),
    /// No tool is held back under that name and digest.
    ToolNotHeld,
    /// A second head, or a body or end before the head.
    ExchangeOrder(ExchangeId),
    /// A number that JavaScript cannot hold, a status outside 100 to 999, a scope that is too long.
    OutOfRange(&'static str),
    /// The JSON form of an input could not be read; the member at fault.
    Unreadable(&'static str),
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PeerOpen(peer) => write!(f, "peer {} is open already: close it first or take another number", peer.0),
            Self::PeerUnknown(peer) => write!(f, "peer {} is not open: send `open` first", peer.0),
            Self::RequestOpen(request) => write!(f, "request {} is running already: take another number", request.0),
            Self::ExchangeUnknown(exchange) => write!(f, "exchange {} was never asked for", exchange.0),
            Self::WorkUnknown(work) => write!(f, "work {} was never asked for", work.0),
            Self::LinkUnknown(link) => write!(f, "link {} was never asked for", link.0),
            Self::ServerUnknown(server) => write!(f, "no MCP server at a URL is named {server}"),
            Self::LookupUnknown(lookup) => write!(f, "lookup {} was never asked for", lookup.0),
            Self::Directory(refused) => write!(f, "{refused}"),
            Self::Config(faults) => write!(f, "{faults}"),
            Self::ToolNotHeld => f.write_str("no tool of that server is held back in that form: look at what is held once more"),
            Self::ExchangeOrder(exchange) => {
                write!(f, "exchange {}: one head comes first, then body, then end or failed", exchange.0)
            }
            Self::OutOfRange(name) => write!(f, "`{name}` is out of range"),
            Self::Unreadable(name) => write!(f, "`{name}` is missing or of the wrong type"),
        }
    }
}

impl core::error::Error for Misuse {}
