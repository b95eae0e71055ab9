//! The records of the state, written.

use alloc::string::ToString;

use super::agent;
use crate::base64;
use crate::call::dispatch::Sink;
use crate::call::{Call, Work};
use crate::caller::CallerCard;
use crate::gateway::Gateway;
use crate::ground::Ground;
use crate::history;
use crate::inbox;
use crate::incoming::is_http;
use crate::incoming::sessions::HttpSession;
use crate::io::{Level, PeerId};
use crate::json::{Array, Json, Object};
use crate::mcp::era::Era;
use crate::mcp::seal::Seal;
use crate::mcp::session::Session;
use crate::mcp::subject::may_ask;
use crate::plain::KnownAgent;
use crate::registry::{Agent, Profile};
use crate::scope::{Card, Scope};
use crate::url::Url;

/// What records are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// a snapshot for the host's own storage
    Whole,
    /// a snapshot without credentials
    HandedOn,
    /// the host's storage, one by one: nothing in it may depend on the moment of writing
    Kept,
}

impl Form {
    pub(super) const fn keeps_secrets(self) -> bool {
        match self {
            Self::Whole | Self::Kept => true,
            Self::HandedOn => false,
        }
    }
}

impl Gateway {
    /// Every record.
    pub(super) fn records(&self, form: Form, add: &mut dyn FnMut(Json)) {
        add(self.counters_record());
        if form.keeps_secrets() {
            self.external_record().map(&mut *add);
        }
        if may_ask(&self.ground.config) && form.keeps_secrets() {
            add(seal_record(&self.ground.seal()));
        }
        for (peer, session) in self.peers.iter().filter(|(peer, _)| self.is_kept(**peer, form)) {
            add(peer_record(*peer, session));
        }
        for (name, session) in self.incoming.sessions.iter().filter(|(_, session)| self.is_kept(session.peer, form)) {
            add(session_record(name, session));
            for stream in session.streams() {
                stream_record(name, session, stream).map(&mut *add);
                for (event, wire) in session.events(stream, 0) {
                    add(event_record(name, stream, event, wire));
                }
            }
        }
        for (name, scope) in self.scopes.iter() {
            Writer { ground: &self.ground, name, scope, form }.every(add);
        }
        for (number, task) in self.served.iter() {
            let clean = |record| if form.keeps_secrets() { record } else { self.clean(&task.owner, record) };
            self.served.record(number, true).map(clean).map(&mut *add);
            self.served.waiting(number, form.keeps_secrets(), &mut |record| add(clean(record)));
        }
        for name in self.ground.directory.names() {
            self.ground.directory.record(name).map(&mut *add);
        }
        for pin in self.ground.pins.keys() {
            self.ground.pins.record(pin).map(&mut *add);
        }
        for request in self.ground.approvals.iter().filter(|_| form.keeps_secrets()) {
            add(request.record());
        }
        for call in self.calls.values() {
            let record = call_record(call, form, &self.ground);
            let scope = self.scopes.get(call.scope.as_str()).filter(|_| !form.keeps_secrets());
            record.map(|record| if let Some(scope) = scope { scope.secrets.redact_json(record) } else { record }).map(&mut *add);
        }
    }

    /// A peer of one request is gone with it; the name of a session is as good as a password.
    pub(super) fn is_kept(&self, peer: PeerId, form: Form) -> bool {
        !is_http(peer) || form.keeps_secrets() && self.incoming.session_of.has(&peer)
    }

    pub(super) fn counters_record(&self) -> Json {
        let (exchange, call) = self.ground.counters();
        let mut record = Object::new();
        record.string("kind", "counters").integer("exchange", exchange).integer("call", call);
        let (tasks, works) = self.served.counters();
        record.integer("peers", self.incoming.peers()).integer("tasks", tasks).integer("works", works);
        record.integer("random", self.ground.random.taken());
        if !self.ground.config.mcp_servers.is_empty() {
            record.integer("links", self.links.counter());
        }
        if self.ground.config.directory.store.is_some() {
            record.integer("lookups", self.ground.lookups.counter());
        }
        record.finish()
    }
}

/// Writes the records of a scope.
#[derive(Clone, Copy)]
pub(super) struct Writer<'g> {
    pub(super) ground: &'g Ground,
    pub(super) name: &'g str,
    pub(super) scope: &'g Scope,
    pub(super) form: Form,
}

impl Writer<'_> {
    fn every(&self, add: &mut dyn FnMut(Json)) {
        let scope = self.scope;
        for (number, secret) in scope.secrets.since(0).filter(|_| self.form.keeps_secrets()) {
            add(self.secret(number, secret));
        }
        for (url, card) in scope.cards.iter().filter(|(_, card)| card.until > self.ground.now) {
            self.card(url, card).map(&mut *add);
        }
        for (alias, agent) in scope.registry.iter().filter(|(_, agent)| !self.tells(&agent.url)) {
            add(self.agent(alias, agent));
            agent.card().map(|card| self.whole_card(alias, card)).map(&mut *add);
            for (number, entry) in agent.history.since(0) {
                add(self.said(alias, number, entry));
            }
        }
        if let Some(caller) = &scope.caller {
            add(self.caller(caller));
        }
        for (url, agent) in scope.known.iter().filter(|(url, _)| !self.tells(url)) {
            add(self.known(url, agent));
        }
        for (number, entry) in scope.inbox.numbered() {
            add(self.inbox(number, entry));
        }
    }

    /// What agents echoed may hold what was dropped from the headers.
    fn clean(&self, record: Json) -> Json {
        if self.form.keeps_secrets() { record } else { self.scope.secrets.redact_json(record) }
    }

    /// Whether an address holds a credential that is not to be handed on. It is of no use without.
    fn tells(&self, url: &Url) -> bool {
        !self.form.keeps_secrets() && self.scope.secrets.redact(url.as_str().into()) != url.as_str()
    }

    fn is_usable(&self, profile: &Profile) -> bool {
        profile.interface.as_ref().is_none_or(|interface| !self.tells(&interface.url))
    }

    /// Also credentials of agents that are gone or have others now: what went out with them may still come back.
    pub(super) fn secret(&self, number: u64, secret: &str) -> Json {
        let mut record = Object::new();
        record.string("kind", "secret").string("scope", self.name).integer("number", number).string("text", secret);
        record.finish()
    }

    pub(super) fn card(&self, url: &Url, card: &Card) -> Option<Json> {
        let usable = !self.tells(url) && card.profile.as_ref().is_none_or(|profile| self.is_usable(profile));
        usable.then(|| self.clean(agent::card_record(self.name, url, card, self.ground)))
    }

    pub(super) fn agent(&self, alias: &str, agent: &Agent) -> Json {
        let profile = agent.profile.as_ref().filter(|profile| self.is_usable(profile));
        self.clean(agent::record((self.name, alias), agent, profile, self.form, self.ground))
    }

    /// The card of an agent, which changes less often than the rest of what is known of it.
    pub(super) fn whole_card(&self, alias: &str, card: &Json) -> Json {
        let mut record = Object::new();
        record.string("kind", "whole_card").string("scope", self.name).string("alias", alias).json("card", card);
        self.clean(record.finish())
    }

    pub(super) fn said(&self, alias: &str, number: u64, entry: &history::Entry) -> Json {
        let mut record = Object::new();
        record.string("kind", "said").string("scope", self.name).string("alias", alias).integer("number", number);
        record.json("entry", &entry.record());
        self.clean(record.finish())
    }

    pub(super) fn caller(&self, caller: &CallerCard) -> Json {
        let mut record = Object::new();
        record.string("kind", "caller").string("scope", self.name).string("name", &caller.name);
        record.json("card", &caller.card).string("metadata_key", &caller.metadata_key);
        self.clean(record.finish())
    }

    pub(super) fn known(&self, url: &Url, agent: &KnownAgent) -> Json {
        let mut record = Object::new();
        record.string("kind", "known").string("scope", self.name).string("url", url.as_str());
        record.boolean("pending", agent.pending).json("summary", &agent.summary).integer("at", agent.at.0);
        self.clean(record.finish())
    }

    pub(super) fn inbox(&self, number: u64, entry: &inbox::Entry) -> Json {
        let mut record = Object::new();
        record.string("kind", "inbox").string("scope", self.name).integer("number", number);
        entry.record(&mut record);
        self.clean(record.finish())
    }
}

pub(super) fn peer_record(peer: PeerId, session: &Session) -> Json {
    let mut record = Object::new();
    record.string("kind", "peer").integer("peer", peer.0).string("scope", &session.scope);
    record.optional_string("version", session.version).boolean("modern", session.modern);
    record.optional_string("log_level", session.log_level.map(Level::name));
    record.optional_json("capabilities", session.capabilities.to_json().as_ref());
    let mut listens = Array::new();
    for id in session.listens() {
        listens.json(&Json::trusted(id.to_string()));
    }
    record.nested("listens", listens);
    let mut tool_listens = Array::new();
    for id in session.tool_listens() {
        tool_listens.json(&Json::trusted(id.to_string()));
    }
    if session.tool_listens().next().is_some() {
        record.nested("tool_listens", tool_listens);
    }
    record.finish()
}

/// The key of what clients bring back.
pub(super) fn seal_record(seal: &Seal) -> Json {
    let mut record = Object::new();
    record.string("kind", "seal").string("key", &base64::encode(seal.key()));
    record.finish()
}

pub(super) fn session_record(name: &str, session: &HttpSession) -> Json {
    let mut record = Object::new();
    record.string("kind", "http_session").string("name", name);
    session.record(&mut record);
    record.finish()
}

pub(super) fn stream_record(name: &str, session: &HttpSession, stream: u64) -> Option<Json> {
    let mut record = Object::new();
    record.string("kind", "stream").string("session", name);
    session.record_stream(stream, &mut record).then(|| record.finish())
}

pub(super) fn event_record(session: &str, stream: u64, event: u64, wire: &str) -> Json {
    let mut record = Object::new();
    record.string("kind", "event").string("session", session).integer("stream", stream);
    record.integer("number", event).string("wire", wire);
    record.finish()
}

/// What a call that nobody waits for leaves behind is nothing.
pub(super) fn call_record(call: &Call, form: Form, ground: &Ground) -> Option<Json> {
    let is_waiting = matches!(call.work.as_ref(), Work::Approving(_) | Work::Kept(_)) && form.keeps_secrets();
    let mut record = Object::new();
    match &call.sink {
        Sink::Peer | Sink::Inbox(_) => {}
        Sink::Parked if form.keeps_secrets() => {
            record.string("sink", "parked");
        }
        Sink::Left if is_waiting => {
            record.string("sink", "left");
        }
        Sink::Served(number) if is_waiting => {
            record.integer("served", number.0);
        }
        Sink::Parked | Sink::Left | Sink::Served(_) | Sink::Push(_) | Sink::Request(..) | Sink::Nobody => return None,
    }
    record.string("kind", "call").integer("number", call.caller.call.0).integer("peer", call.caller.peer.0);
    record.json("request", call.caller.request.as_json()).boolean("modern", call.caller.era == Era::Modern);
    record.string("scope", &call.scope).string(call.subject.kind(), call.subject.name());
    record.optional_string("task_id", call.work.task_id().as_deref());
    let underway = call.work.underway();
    if !underway.is_empty() {
        let mut sends = Array::new();
        for send in &underway {
            sends.json(&send.record());
        }
        record.nested("sends", sends);
    }
    if let Sink::Inbox(ticket) = &call.sink {
        record.string("call_id", &ticket.call_id).string("alias", &ticket.alias);
    }
    if let Work::Kept(kept) = call.work.as_ref()
        && is_waiting
    {
        record.json("kept", &kept.record(ground));
    }
    if let Work::Approving(approving) = call.work.as_ref()
        && is_waiting
    {
        record.json("approving", &approving.record()).integer("asked", call.caller.asked);
        let mut meta = Object::new();
        meta.members(&call.caller.meta);
        record.nested("meta", meta);
        record.optional_json("progress_token", call.caller.progress_token.as_ref());
        if let Some(progress) = call.caller.progress {
            record.integer("progress", progress);
        }
    }
    // What it was called with may hold credentials, without which it cannot go on.
    if let Work::Asking(asking) = call.work.as_ref()
        && form.keeps_secrets()
    {
        record.json("asking", &asking.record(ground.wall_of(asking.until()).0)).integer("asked", call.caller.asked);
        record.optional_json("progress_token", call.caller.progress_token.as_ref());
        if let Some(progress) = call.caller.progress {
            record.integer("progress", progress);
        }
    }
    Some(record.finish())
}
