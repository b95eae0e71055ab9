//! Snapshots: agents, conversations, sessions and calls as pieces of JSON text, each under 1 MiB.
//!
//! A snapshot is a list of pieces, a piece a list of records; both may be read in any order. Exchanges in flight are not
//! part of it: a call that was running is answered after a restore with an error that names its task.

use alloc::collections::BinaryHeap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::Cell;
use core::fmt;

use crate::call::dispatch::{self, Sink, Ticket};
use crate::call::{Call, CallId, Caller};
use crate::caller::CallerCard;
use crate::config::Config;
use crate::gateway::{Gateway, Genesis};
use crate::inbox::Entry;
use crate::incoming::is_http;
use crate::incoming::sessions::HttpSession;
use crate::io::{Level, PeerId};
use crate::json::{self, Array, Json, Object, Raw};
use crate::jsonrpc::Id;
use crate::list::gather;
use crate::mcp::era::{Era, LEGACY_VERSIONS};
use crate::mcp::outcome::{Code, ToolError};
use crate::mcp::session::Session;
use crate::registry::Profile;
use crate::scope::Scope;
use crate::tools::TOOLS;
use crate::url::Url;

mod agent;
mod pieces;
mod record;

use pieces::Pieces;

pub use record::Record;

/// The version of the form.
const VERSION: i64 = 1;
/// Nesting of a piece.
const DEPTH: u32 = 128;

/// Whether a snapshot holds credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// for the host's own storage
    Keep,
    /// to hand on
    Drop,
}

/// Why a snapshot was not taken up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreError(pub String);

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for RestoreError {}

impl Gateway {
    /// All state, in pieces of JSON text under 1 MiB each.
    #[must_use]
    pub fn snapshot(&self, secrets: Secrets) -> Vec<String> {
        let mut pieces = Pieces::default();
        let (exchange, call) = self.ground.counters();
        let mut counters = Object::new();
        counters.string("kind", "counters").integer("exchange", exchange).integer("call", call);
        counters.integer("peers", self.incoming.peers());
        pieces.add(counters.finish());
        // A peer of one request is gone with it; the name of a session is as good as a password.
        let kept = |peer: &PeerId| !is_http(*peer) || secrets == Secrets::Keep && self.incoming.session_of.has(peer);
        for (peer, session) in self.peers.iter().filter(|(peer, _)| kept(peer)) {
            pieces.add(session_record(*peer, session));
        }
        for (name, session) in self.incoming.sessions.iter().filter(|(_, session)| kept(&session.peer)) {
            let mut record = Object::new();
            record.string("kind", "http_session").string("name", name);
            session.record(&mut record);
            pieces.add(record.finish());
        }
        for (name, scope) in self.scopes.iter() {
            // What agents echoed may hold what was dropped from the headers.
            let clean = |record: Json| match secrets {
                Secrets::Keep => record,
                Secrets::Drop => scope.secrets.redact_json(record),
            };
            if secrets == Secrets::Keep {
                scope.secrets.iter().for_each(|secret| pieces.add(secret_record(name, secret)));
            }
            // An address with a credential in it is of no use without.
            let tells = |url: &Url| secrets == Secrets::Drop && scope.secrets.redact(url.as_str().into()) != url.as_str();
            let usable = |profile: &&Profile| profile.interface.as_ref().is_none_or(|interface| !tells(&interface.url));
            for (url, until, profile) in scope.cards.iter() {
                let usable = !tells(url) && profile.as_ref().is_none_or(usable);
                if usable && until > self.ground.now {
                    pieces.add(clean(agent::card_record(name, url, self.ground.wall_of(until), profile)));
                }
            }
            for (alias, agent) in scope.registry.iter().filter(|(_, agent)| !tells(&agent.url)) {
                let profile = agent.profile.as_ref().filter(usable);
                pieces.add(clean(agent::record((name, alias), agent, profile, secrets, &self.ground)));
            }
            if let Some(caller) = &scope.caller {
                pieces.add(clean(caller_record(name, caller)));
            }
            for (number, entry) in (0_u64..).zip(scope.inbox.entries(None)) {
                let mut record = Object::new();
                record.string("kind", "inbox").string("scope", name).integer("number", number);
                entry.record(&mut record);
                pieces.add(clean(record.finish()));
            }
        }
        for call in self.calls.values().filter(|call| call.sink != Sink::Nobody) {
            pieces.add(call_record(call));
        }
        pieces.finish()
    }

    /// Continues from the pieces of a [`snapshot`](Self::snapshot), in any order. Calls that were running are answered
    /// with an error that names their task, so that nothing waits for ever; the host then closes peers that are gone.
    ///
    /// # Errors
    /// A piece that is unreadable or of another version.
    pub fn restore(genesis: Genesis, config: Config, pieces: &[String]) -> Result<Self, RestoreError> {
        let mut gateway = Self::new(genesis, config);
        gateway.trace.forget_birth();
        let (mut lost, mut inbox, mut cards) = (Vec::new(), Vec::new(), Vec::new());
        let faulty = Cell::new(false);
        for text in pieces::read(pieces)? {
            let record = Record::new(json::parse(text.as_str(), DEPTH).ok(), &faulty);
            match record.text("kind").as_str() {
                "counters" => gateway.restore_counters(&record),
                "peer" => gateway.restore_peer(&record),
                "http_session" => gateway.restore_http_session(&record),
                "agent" => agent::restore(&record, &mut gateway.scopes, &gateway.ground),
                "secret" => gateway.scope_of(&record).secrets.add(&record.text("text")),
                "card" => cards.extend(agent::read_card(&record, &gateway.ground)),
                "caller" => gateway.restore_caller(&record),
                "inbox" => inbox.push((record.number("number"), record.text("scope"), Entry::read(&record))),
                "call" => lost.push(read_call(&record)),
                _ => faulty.set(true),
            }
            if faulty.get() {
                return Err(RestoreError("a record of the snapshot is unreadable".to_string()));
            }
        }
        gateway.restore_in_order(inbox, cards);
        // The answers need the sessions, which may come in any order.
        for call in lost {
            gateway.answer_lost(call);
        }
        gateway.route();
        Ok(gateway)
    }

    /// Puts back what makes room for each other, the oldest first.
    fn restore_in_order(&mut self, inbox: Vec<(u64, String, Entry)>, cards: Vec<agent::KnownCard>) {
        for (_, scope, entry) in in_order(inbox, |(number, ..)| *number) {
            self.scopes.get_or_default(scope.as_str()).inbox.add(entry);
        }
        let limit = self.ground.config.limits.cards_by_url;
        for (scope, url, until, profile) in in_order(cards, |(.., until, _)| until.as_ms()) {
            self.scopes.get_or_default(scope.as_str()).cards.restore(&url, until, profile, limit);
        }
    }

    fn scope_of(&mut self, record: &Record<'_, '_>) -> &mut Scope {
        self.scopes.get_or_default(record.text("scope").as_str())
    }

    fn restore_counters(&mut self, record: &Record<'_, '_>) {
        self.ground.restore_counters(record.number("exchange"), record.number("call"));
        self.incoming.restore_peers(record.number("peers"));
    }

    fn restore_http_session(&mut self, record: &Record<'_, '_>) {
        let (name, session) = (record.text("name"), HttpSession::read(record, self.ground.now));
        self.incoming.session_of.insert(session.peer, name.clone());
        self.incoming.sessions.insert(name, session);
    }

    fn restore_peer(&mut self, record: &Record<'_, '_>) {
        let mut session = Session::new(record.text("scope"));
        let version = record.optional("version");
        session.version = LEGACY_VERSIONS.into_iter().find(|known| version.as_deref() == Some(*known));
        session.modern = record.boolean("modern");
        session.log_level = record.optional("log_level").and_then(|name| Level::named(&name));
        for id in record.list("listens") {
            session.listen(&read_id(record, Some(id)));
        }
        self.scopes.get_or_default(session.scope.as_str());
        self.peers.insert(PeerId(record.number("peer")), session);
    }

    fn restore_caller(&mut self, record: &Record<'_, '_>) {
        let (name, card, metadata_key) = (record.text("name"), record.json("card"), record.text("metadata_key"));
        self.scope_of(record).caller = Some(CallerCard { name, card, metadata_key });
    }

    /// Answers a call that was running, so that nothing waits for ever.
    fn answer_lost(&mut self, lost: LostCall) {
        let Some(tool) = TOOLS.iter().find(|tool| tool.name == lost.tool) else { return };
        let what = match &lost.task_id {
            Some(task_id) => format!("task {task_id} may go on at the agent: read it with get_task"),
            None => "whether the agent got the message is unknown".to_string(),
        };
        let mut error =
            ToolError::new(Code::Unreachable, format!("the gateway was restarted while this call was running; {what}"));
        if let Some(task_id) = &lost.task_id {
            error = error.with("task_id", Json::string(task_id));
        }
        match &lost.ticket {
            Some(ticket) => {
                let at = self.ground.wall();
                dispatch::deposit(self.scopes.get_or_default(lost.scope.as_str()), ticket, Err(error), at);
            }
            None => self.answer(&lost.caller, tool, Err(error), self.ground.now),
        }
    }
}

/// Also credentials of agents that are gone or have others now: what went out with them may still come back.
fn secret_record(scope: &str, secret: &str) -> Json {
    let mut record = Object::new();
    record.string("kind", "secret").string("scope", scope).string("text", secret);
    record.finish()
}

fn caller_record(scope: &str, caller: &CallerCard) -> Json {
    let mut record = Object::new();
    record.string("kind", "caller").string("scope", scope).string("name", &caller.name);
    record.json("card", &caller.card).string("metadata_key", &caller.metadata_key);
    record.finish()
}

fn session_record(peer: PeerId, session: &Session) -> Json {
    let mut record = Object::new();
    record.string("kind", "peer").integer("peer", peer.0).string("scope", &session.scope);
    record.optional_string("version", session.version).boolean("modern", session.modern);
    record.optional_string("log_level", session.log_level.map(Level::name));
    let mut listens = Array::new();
    for id in session.listens() {
        listens.json(&Json::trusted(id.to_string()));
    }
    record.nested("listens", listens);
    record.finish()
}

fn call_record(call: &Call) -> Json {
    let mut record = Object::new();
    record.string("kind", "call").integer("call", call.caller.call.0).integer("peer", call.caller.peer.0);
    record.json("request", call.caller.request.as_json()).boolean("modern", call.caller.era == Era::Modern);
    record.string("scope", &call.scope).string("tool", call.tool.name);
    record.optional_string("task_id", call.work.task_id().as_deref());
    if let Sink::Inbox(ticket) = &call.sink {
        record.string("call_id", &ticket.call_id).string("alias", &ticket.alias);
    }
    record.finish()
}

/// A call that was running.
struct LostCall {
    caller: Caller,
    scope: String,
    tool: String,
    task_id: Option<String>,
    ticket: Option<Ticket>,
}

fn read_call(record: &Record<'_, '_>) -> LostCall {
    let caller = Caller {
        call: CallId(record.number("call")),
        peer: PeerId(record.number("peer")),
        request: read_id(record, record.value("request")),
        era: if record.boolean("modern") { Era::Modern } else { Era::Legacy },
        progress_token: None,
        progress: 0,
        log_level: None,
    };
    let ticket = record.optional("call_id").zip(record.optional("alias")).map(|(call_id, alias)| Ticket { call_id, alias });
    LostCall { caller, scope: record.text("scope"), tool: record.text("tool"), task_id: record.optional("task_id"), ticket }
}

fn read_id(record: &Record<'_, '_>, raw: Option<Raw<'_>>) -> Id {
    record.found(raw.and_then(Id::read).map(Some)).unwrap_or_else(Id::none)
}

/// The list with ascending keys, equal ones in the order they had.
fn in_order<T>(list: Vec<T>, key: impl Fn(&T) -> u64) -> impl Iterator<Item = T> {
    let order = list.iter().map(key).zip(0_usize..).collect::<BinaryHeap<_>>().into_sorted_vec();
    let mut list = gather(list.into_iter().map(Some));
    order.into_iter().filter_map(move |(_, at)| list.get_mut(at)?.take())
}
