//! One peer's session: its scope, its handshake, its calls in flight.

use alloc::string::{String, ToString};

use super::asks::Capabilities;
use super::era::Era;
use crate::call::CallId;
use crate::io::Level;
use crate::jsonrpc::Id;
use crate::table::Table;

/// What is known of a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// the scope whose agents it sees
    pub scope: String,
    /// the version of its handshake
    pub version: Option<&'static str>,
    /// whether a modern request other than `server/discover` came, and no handshake
    pub modern: bool,
    /// the least level of log messages it asked for
    pub log_level: Option<Level>,
    /// what its handshake said that it may be asked
    pub capabilities: Capabilities,
    calls: Table<String, CallId>,
    /// the streams of list changes, and whether the tools are among those
    listens: Table<String, bool>,
}

impl Session {
    /// The session of a peer that said nothing yet.
    #[must_use]
    pub fn new(scope: String) -> Self {
        let (calls, listens, capabilities) = (Table::new(), Table::new(), Capabilities::none());
        Self { scope, version: None, modern: false, log_level: None, capabilities, calls, listens }
    }

    /// The era of a request that does not claim one.
    #[must_use]
    pub fn unclaimed_era(&self) -> Era {
        if self.modern && self.version.is_none() { Era::Modern } else { Era::Legacy }
    }

    /// Whether a request with this id is running.
    #[must_use]
    pub fn has(&self, id: &Id) -> bool {
        let id = id.as_json().as_str();
        self.calls.has(id) || self.listens.has(id)
    }

    /// How many requests are open: calls and streams of list changes.
    #[must_use]
    pub fn running(&self) -> u64 {
        self.calls.len() + self.listens.len()
    }

    /// Notes a call.
    pub fn begin(&mut self, id: &Id, call: CallId) {
        self.calls.insert(id.as_json().as_str().to_string(), call);
    }

    /// Forgets a call.
    pub fn end(&mut self, id: &Id) -> Option<CallId> {
        self.calls.remove(id.as_json().as_str())
    }

    /// Notes a `subscriptions/listen`.
    pub fn listen(&mut self, id: &Id, tools: bool) {
        self.listens.insert(id.as_json().as_str().to_string(), tools);
    }

    /// Forgets a `subscriptions/listen`; whether there was one.
    pub fn unlisten(&mut self, id: &Id) -> bool {
        self.listens.remove(id.as_json().as_str()).is_some()
    }

    /// The ids of the streams that are open, literally.
    pub fn listens(&self) -> impl Iterator<Item = &str> {
        self.listens.iter().map(|(id, _)| id.as_str())
    }

    /// The ids of those that are told of changes of the tools.
    pub fn tool_listens(&self) -> impl Iterator<Item = &str> {
        self.listens.iter().filter(|(_, tools)| **tools).map(|(id, _)| id.as_str())
    }

    /// The calls that are running.
    pub fn calls(&self) -> impl Iterator<Item = CallId> {
        self.calls.values().copied()
    }
}
