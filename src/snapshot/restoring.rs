//! A gateway from the records of another one.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::Cell;

use super::pieces;
use super::{DEPTH, Record, RestoreError, agent};
use crate::base64;
use crate::call::approving::Approving;
use crate::call::asking::{Asking, TIMEOUT_MS};
use crate::call::dispatch::{self, Sink, Ticket};
use crate::call::kept::Kept;
use crate::call::underway::Underway;
use crate::call::{Call, CallId, Caller, Work, policy};
use crate::caller::CallerCard;
use crate::config::Config;
use crate::gateway::furnishing;
use crate::gateway::{Gateway, Genesis};
use crate::ground::Ground;
use crate::history;
use crate::inbox;
use crate::incoming::sessions::HttpSession;
use crate::io::{Level, PeerId};
use crate::json::{self, Json, Raw};
use crate::jsonrpc::Id;
use crate::list::{self, gather};
use crate::mcp::asks::Capabilities;
use crate::mcp::era::{Era, LEGACY_VERSIONS};
use crate::mcp::outcome::{Code, ToolError};
use crate::mcp::seal::Seal;
use crate::mcp::session::Session;
use crate::mcp::subject::{Subject, may_ask};
use crate::plain::KnownAgent;
use crate::policy::approvals::{Request, State};
use crate::policy::canonical;
use crate::scope::Scope;
use crate::served::TaskNumber;
use crate::text;
use crate::time::WallTime;

impl Gateway {
    /// Continues from the pieces of a [`snapshot`](Self::snapshot), or from those that were
    /// [saved](crate::io::Output::Save), in any order. Calls that were running are answered with an error that names
    /// their task, so that nothing waits for ever; the host then closes peers that are gone.
    ///
    /// # Errors
    /// A piece that is unreadable or of another version.
    pub fn restore(genesis: Genesis, config: Config, pieces: &[String]) -> Result<Self, RestoreError> {
        let mut gateway = Self::new(genesis, config);
        gateway.trace.forget_birth();
        let (records, kept) = pieces::read(pieces)?;
        let faulty = Cell::new(false);
        let mut before = Vec::new();
        for text in in_order(&records) {
            let record = Record::new(json::parse(text.as_str(), DEPTH).ok(), &faulty);
            if record.text("kind") == "external_agents" {
                before = furnishing::read(&record);
            } else {
                gateway.take_back(&record);
            }
            if faulty.get() {
                return Err(RestoreError("a record of the snapshot is unreadable".to_string()));
            }
        }
        let waits =
            |call: &Call| if let Work::Approving(work) = call.work.as_ref() { Some(String::from(work.id())) } else { None };
        let waiting = gather(gateway.calls.values().filter_map(|call| waits(call)));
        gateway.ground.approvals.withdraw_others(&waiting);
        let configured = canonical::policy(&gateway.ground.config.policy_json());
        let goes_on = |session: &str| gateway.peers.values().any(|peer| peer.scope == session);
        gateway.ground.approvals.recall(&configured, &goes_on);
        let is_pending = |id: &&String| gateway.ground.approvals.get(id).is_some_and(|request| request.state == State::Pending);
        for id in gather(waiting.iter().filter(is_pending)) {
            policy::note(&mut gateway.ground, policy::PENDING, id);
        }
        gateway.furnish(&before);
        gateway.resume_served();
        gateway.route();
        gateway.keep_from(kept);
        Ok(gateway)
    }

    /// Takes up what a record says.
    fn take_back(&mut self, record: &Record<'_, '_>) {
        match record.text("kind").as_str() {
            "counters" => self.restore_counters(record),
            "peer" => self.restore_peer(record),
            "http_session" => self.restore_session(record),
            "stream" => {
                let session = self.incoming.sessions.get_mut(&record.text("session"));
                record.found(session.map(|session| session.restore_stream(record)));
            }
            "event" => {
                let (stream, number, wire) = (record.number("stream"), record.place("number"), record.text("wire"));
                let session = self.incoming.sessions.get_mut(&record.text("session"));
                let is_there = session.is_some_and(|session| session.restore_event(stream, number, wire));
                record.found(is_there.then_some(()));
            }
            "task" => self.served.restore(record),
            "task_whole" | "task_step" => self.served.restore_part(record),
            "push" | "waiting" => self.served.restore_waiting(record),
            "approval" => self.ground.approvals.restore(Request::read(record)),
            "pin" => self.ground.pins.restore(record),
            "listed" => self.ground.directory.restore(record),
            "agent" => agent::restore(record, &mut self.scopes, &self.ground),
            "whole_card" => self.restore_whole_card(record),
            "said" => {
                let (number, entry) = (record.place("number"), history::Entry::read(&record.inner("entry")));
                let (pool, limit) = (self.ground.inboxes.clone(), self.ground.config.limits.inbox_bytes);
                let agent = self.scope_of(record).registry.get_mut(&record.text("alias"));
                record.found(agent.map(|agent| agent.history.restore(number, entry, &pool, limit)));
            }
            "secret" => self.scope_of(record).secrets.add(&record.text("text")),
            "card" => self.restore_card(record),
            "caller" => {
                let (name, card, metadata_key) = (record.text("name"), record.json("card"), record.text("metadata_key"));
                let share = self.ground.cards.share();
                let mut caller = CallerCard { name, card, metadata_key, share };
                caller.share.set(caller.bytes());
                self.scope_of(record).caller = Some(caller);
            }
            "known" => {
                let (pending, summary) = (record.boolean("pending"), record.json("summary"));
                if let Some(url) = record.url("url") {
                    let at = WallTime(record.value("at").map_or(0, |_| record.integer("at")));
                    self.scope_of(record).known.put(url, KnownAgent { pending, summary, at });
                }
            }
            "inbox" => {
                let (number, entry) = (record.place("number"), inbox::Entry::read(record));
                let (pool, limit) = (self.ground.inboxes.clone(), self.ground.config.limits.inbox_bytes);
                self.scope_of(record).inbox.restore(number, entry, &pool, limit);
            }
            "call" => {
                if let Some(call) = read_call(record, &self.ground) {
                    self.restore_call(call);
                }
            }
            "seal" if may_ask(&self.ground.config) => {
                let key = base64::decode(&record.text("key")).and_then(|key| key.try_into().ok());
                if let Some(key) = record.found(key.map(Some)) {
                    self.ground.restore_seal(Seal::new(key));
                }
            }
            // Of a build where something asks.
            "seal" => {}
            _ => record.found(None),
        }
    }

    fn restore_counters(&mut self, record: &Record<'_, '_>) {
        self.ground.restore_counters(record.number("exchange"), record.number("call"));
        self.incoming.restore_peers(record.number("peers"));
        self.served.restore_counters(record.number("tasks"), record.number("works"));
        if record.value("links").is_some() {
            self.links.restore_counter(record.number("links"));
        }
        if record.value("lookups").is_some() {
            self.ground.lookups.restore_counter(record.number("lookups"));
        }
        // A host that repeats its seed repeats no name that is known already.
        if record.value("random").is_some() {
            self.ground.random.pass(record.number("random"));
        }
    }

    /// The scope that a record names.
    fn scope_of(&mut self, record: &Record<'_, '_>) -> &mut Scope {
        self.scopes.get_or_default(record.text("scope").as_str())
    }

    fn restore_session(&mut self, record: &Record<'_, '_>) {
        let share = self.ground.kept_events.share();
        let (name, session) = (record.text("name"), HttpSession::read(record, self.ground.now, share));
        let peer = session.peer;
        if let Some(earlier) = self.incoming.sessions.insert(name.clone(), session) {
            self.incoming.session_of.remove(&earlier.peer);
        }
        self.incoming.session_of.insert(peer, name);
    }

    fn restore_whole_card(&mut self, record: &Record<'_, '_>) {
        let card = record.json("card");
        let scope = self.scopes.get_or_default(record.text("scope").as_str());
        let agent = scope.registry.get_mut(&record.text("alias"));
        record.found(agent.map(|agent| agent.restore_card(card, &self.ground.cards)));
    }

    /// A card whose time is up is as good as none.
    fn restore_card(&mut self, record: &Record<'_, '_>) {
        let card = agent::read_card(record, &self.ground).filter(|(_, card)| card.until > self.ground.now);
        if let Some((url, card)) = card {
            let scope = self.scopes.get_or_default(record.text("scope").as_str());
            scope.cards.restore(&url, card, &self.ground.cards, &self.ground.config.limits);
        }
    }

    fn restore_peer(&mut self, record: &Record<'_, '_>) {
        let mut session = Session::new(record.text("scope"));
        let version = record.optional("version");
        session.version = LEGACY_VERSIONS.into_iter().find(|known| version.as_deref() == Some(*known));
        session.modern = record.boolean("modern");
        session.log_level = record.optional("log_level").and_then(|name| Level::named(&name));
        session.capabilities = Capabilities::read(&record.value("capabilities").and_then(json::members).unwrap_or_default());
        let mut told_of_tools = Vec::new();
        if record.value("tool_listens").is_some() {
            told_of_tools = record.list("tool_listens");
        }
        for id in record.list("listens") {
            session.listen(&read_id(record, Some(id)), told_of_tools.contains(&id));
        }
        self.scope_of(record);
        self.peers.insert(PeerId(record.number("peer")), session);
    }

    /// Goes on with a call that waits for its client; answers any other that was running, so that nothing waits for ever.
    fn restore_call(&mut self, lost: LostCall) {
        if let Some(asking) = lost.asking {
            return self.restore_asking(lost.caller, lost.scope, lost.subject, asking);
        }
        if let Some(work) = lost.work {
            let (caller, sink, scope, subject) = (lost.caller, lost.sink, lost.scope, lost.subject);
            let (started, work) = (self.ground.now, Box::new(work));
            return self.restore_waiting(Box::new(Call { caller, sink, scope, subject, work, started, timer: None }));
        }
        let mut tasks: Vec<String> = lost.task_id.iter().map(|task_id| format!("task {task_id}")).collect();
        for send in lost.sends.iter().filter(|_| lost.task_id.is_none()) {
            let (alias, task_id) = (send.alias.as_deref().unwrap_or_default(), send.task_id.as_deref());
            tasks.extend(task_id.map(|task_id| format!("task {task_id} of agent '{alias}'")));
        }
        let what = if tasks.is_empty() {
            "whether the agent got the message is unknown".to_string()
        } else {
            format!("{} may go on at the agent: read it with get_task", text::joined(&tasks, ", "))
        };
        let mut error =
            ToolError::new(Code::Unreachable, format!("the gateway was restarted while this call was running; {what}"));
        if let Some(task_id) = &lost.task_id {
            error = error.with("task_id", Json::string(task_id));
        }
        if let [Underway { context_id: Some(context_id), .. }] = lost.sends.as_slice() {
            error = error.with("context_id", Json::string(context_id));
        }
        for send in lost.sends {
            self.restore_send(&lost.scope, send, &error.message);
        }
        match (&lost.ticket, &lost.sink) {
            (Some(ticket), _) => {
                dispatch::deposit(self.scopes.get_or_default(lost.scope.as_str()), &self.ground, ticket, Err(error));
            }
            (None, Sink::Parked) => {
                let LostCall { caller, sink, scope, subject, .. } = lost;
                let (started, until) = (self.ground.now, self.ground.now.plus_ms(TIMEOUT_MS));
                let work = Box::new(Work::Kept(Kept { ended: Err(error), until, digest: None }));
                self.restore_waiting(Box::new(Call { caller, sink, scope, subject, work, started, timer: None }));
            }
            (None, _) => self.answer(&lost.caller, &lost.subject, Err(error), self.ground.now),
        }
    }

    /// Keeps what a send that was running leaves, where its agent is known still.
    fn restore_send(&mut self, scope: &str, send: Underway, response: &str) {
        let (depth, at) = (self.ground.config.history.depth, self.ground.wall());
        let agent = send.alias.as_ref().and_then(|alias| self.scopes.get_mut(scope)?.registry.get_mut(alias));
        let Some(agent) = agent else { return };
        if agent.url.as_str() == send.url {
            send.remember(&mut agent.conversation);
        }
        if depth > 0 {
            let (pool, limit) = (&self.ground.inboxes, self.ground.config.limits.inbox_bytes);
            agent.history.add(send.entry(response.into(), true, at), depth, pool, limit);
        }
    }
}

/// A call that was running.
struct LostCall {
    caller: Caller,
    scope: String,
    subject: Subject,
    task_id: Option<String>,
    sends: Vec<Underway>,
    ticket: Option<Ticket>,
    sink: Sink,
    asking: Option<Asking>,
    work: Option<Work>,
}

fn read_call(record: &Record<'_, '_>, ground: &Ground) -> Option<LostCall> {
    let era = if record.boolean("modern") { Era::Modern } else { Era::Legacy };
    let (call, peer) = (CallId(record.place("number")), PeerId(record.number("peer")));
    let is_served = record.value("served").is_some();
    // The call of a task has no request.
    let request = if is_served { Id::none() } else { read_id(record, record.value("request")) };
    let mut caller = Caller::new(call, peer, request, era);
    let asking = record.value("asking").map(|raw| {
        caller.asked = record.number("asked");
        caller.progress_token = record.value("progress_token").map(Json::from_raw);
        caller.progress = record.value("progress").map(|_| record.number("progress"));
        let asking = record.of(Some(raw));
        Asking::read(&asking, ground.instant_of(WallTime(asking.integer("until"))))
    });
    let approving = record.value("approving").and_then(|raw| {
        caller.meta = record.value("meta").and_then(json::members).unwrap_or_default().keep();
        caller.asked = record.number("asked");
        caller.progress_token = record.value("progress_token").map(Json::from_raw);
        caller.progress = record.value("progress").map(|_| record.number("progress"));
        Approving::read(&record.of(Some(raw)), ground).map(Work::Approving)
    });
    let work = approving.or_else(|| Some(Work::Kept(Kept::read(&record.of(Some(record.value("kept")?)), ground))));
    let sink = match record.optional("sink").as_deref() {
        Some("parked") => Sink::Parked,
        Some("left") => Sink::Left,
        _ if is_served => Sink::Served(TaskNumber(record.number("served"))),
        _ => Sink::Peer,
    };
    let ticket = record.optional("call_id").zip(record.optional("alias")).map(|(call_id, alias)| Ticket { call_id, alias });
    let mut sends = Vec::new();
    if record.value("sends").is_some() {
        sends.extend(record.list("sends").into_iter().map(|send| Underway::read(&record.of(Some(send)))));
    }
    let kind = if record.value("tool").is_some() { "tool" } else { "prompt" };
    let subject = Subject::named(kind, &record.text(kind))?;
    Some(LostCall {
        caller,
        scope: record.text("scope"),
        subject,
        task_id: record.optional("task_id"),
        sends,
        ticket,
        sink,
        asking,
        work,
    })
}

fn read_id(record: &Record<'_, '_>, raw: Option<Raw<'_>>) -> Id {
    record.found(raw.and_then(Id::read).map(Some)).unwrap_or_else(Id::none)
}

/// The records so that what stands on others comes after them, and what is numbered in the order of its numbers.
fn in_order(records: &[Json]) -> impl Iterator<Item = &Json> {
    let rank = |record: &Json| {
        let ignored = Cell::new(false);
        let record = Record::new(Some(record.raw()), &ignored);
        let rank: u64 = match record.text("kind").as_str() {
            // An agent's header fields are secrets too, which keep their numbers where they are known before.
            "secret" => 0,
            "whole_card" | "said" | "inbox" | "card" | "stream" | "task" => 2,
            "event" | "task_whole" | "task_step" | "push" => 3,
            "call" | "waiting" => 4,
            _ => 1,
        };
        (rank, record.place("number"))
    };
    let ranks = gather(records.iter().map(rank));
    let order = list::order(ranks.len(), &|one, other| ranks.get(one) < ranks.get(other));
    order.into_iter().filter_map(|at| records.get(at))
}
