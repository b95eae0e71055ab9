//! Peers: their coming and going, and what they say.

use alloc::format;
use alloc::string::String;

use super::Gateway;
use crate::call::{CallId, Caller, fault, policy};
use crate::incoming::is_http;
use crate::io::{Level, Misuse, PeerId};
use crate::json::{self, Object, Raw};
use crate::jsonrpc::{self, INTERNAL_ERROR, INVALID_REQUEST, Id, Incoming};
use crate::mcp::era::{self, Era};
use crate::mcp::outcome::{Code, ToolError};
use crate::mcp::server::{self, Answer, Wanted};
use crate::mcp::session::Session;
use crate::policy::glob::Names;
use crate::redact::Secrets;
use crate::scope::Scope;

/// The largest number that JavaScript holds exactly.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;
/// How long the name of a scope may be.
const SCOPE_BYTES: usize = 256;
/// The version whose peers may send batches.
const BATCH_VERSION: &str = "2025-03-26";

impl Gateway {
    pub(super) fn open(&mut self, peer: PeerId, scope: String) -> Result<(), Misuse> {
        if peer.0 > MAX_SAFE_INTEGER {
            return Err(Misuse::OutOfRange("peer"));
        }
        if scope.len() > SCOPE_BYTES {
            return Err(Misuse::OutOfRange("scope"));
        }
        if self.peers.has(&peer) {
            return Err(Misuse::PeerOpen(peer));
        }
        let is_new = !self.scopes.has(scope.as_str());
        self.scopes.get_or_default(scope.as_str());
        self.peers.insert(peer, Session::new(scope.clone()));
        if is_new {
            self.connect_external_agents(peer, &scope);
        }
        Ok(())
    }

    pub(super) fn closed(&mut self, peer: PeerId) -> Result<(), Misuse> {
        let session = self.peers.remove(&peer).ok_or(Misuse::PeerUnknown(peer))?;
        for call in session.calls() {
            self.stop(call, false);
        }
        self.leave_parked(peer);
        if self.peers.values().all(|other| other.scope != session.scope) {
            self.ground.approvals.forget_session(&session.scope);
        }
        self.leave_scope(&session.scope);
        Ok(())
    }

    /// Forgets a scope that nobody has any more, nor a call that waits for its client.
    pub(super) fn leave_scope(&mut self, scope: &str) {
        let is_left = self.peers.values().all(|peer| peer.scope != scope) && self.calls.values().all(|call| call.scope != scope);
        if is_left && self.scopes.get(scope).is_some_and(Scope::is_empty) {
            self.scopes.remove(scope);
        }
    }

    /// Forgets a peer of the HTTP face, cancelling its calls where it left before their answer.
    pub(super) fn leave(&mut self, peer: PeerId, cancelled: bool) {
        let Some(session) = self.peers.remove(&peer) else { return };
        for call in session.calls() {
            self.stop(call, cancelled);
        }
    }

    /// What a peer must not be told.
    fn secrets(&self, peer: PeerId) -> Option<&Secrets> {
        self.peers.get(&peer).and_then(|session| self.scopes.get(&session.scope)).map(|scope| &scope.secrets)
    }

    /// Answers a request. Its id is the caller's own and goes back as it came.
    pub(super) fn say_result(&mut self, peer: PeerId, id: &Id, result: json::Json) {
        let result = match self.secrets(peer) {
            Some(secrets) => secrets.redact_json(result),
            None => result,
        };
        let limit = self.ground.config.limits.answer_bytes;
        let bytes = result.as_str().len();
        if u64::try_from(bytes).is_ok_and(|bytes| bytes > limit) {
            let message = format!("the answer takes {bytes} bytes, more than answer_bytes ({limit}) of one answer");
            return self.say_error(peer, Some(id), INTERNAL_ERROR, &message, None);
        }
        self.ground.say(peer, Some(id), true, None, jsonrpc::result(id, &result));
    }

    pub(super) fn say_error(&mut self, peer: PeerId, id: Option<&Id>, code: i64, message: &str, data: Option<json::Json>) {
        let (message, data) = match self.secrets(peer) {
            Some(secrets) => (secrets.redact(message.into()), data.map(|data| secrets.redact_json(data))),
            None => (String::from(message), data),
        };
        self.ground.say(peer, id, true, Some(code), jsonrpc::error(id, code, &message, data.as_ref()));
    }

    pub(super) fn message(&mut self, peer: PeerId, text: &str) -> Result<(), Misuse> {
        if !self.peers.has(&peer) {
            return Err(Misuse::PeerUnknown(peer));
        }
        let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
        if bytes > self.ground.config.limits.message_bytes {
            return self.message_too_long(peer, text, text, bytes);
        }
        self.incoming(peer, jsonrpc::read(text, self.ground.config.limits.depth()), true);
        Ok(())
    }

    pub(super) fn message_too_long(&mut self, peer: PeerId, start: &str, end: &str, bytes: u64) -> Result<(), Misuse> {
        if !self.peers.has(&peer) {
            return Err(Misuse::PeerUnknown(peer));
        }
        let limit = self.ground.config.limits.message_bytes;
        let message = format!("the message has {bytes} bytes; message_bytes allows {limit}");
        match jsonrpc::id_from_start(start).or_else(|| jsonrpc::id_from_end(end)) {
            Some(id) if self.response_too_long(peer, &id) => {}
            Some(id) => self.say_error(peer, Some(&id), INVALID_REQUEST, &message, None),
            None => self.noise(peer, &message),
        }
        Ok(())
    }

    /// A message that nobody can be answered about.
    pub(super) fn noise(&mut self, peer: PeerId, why: &str) {
        let mut fields = Object::new();
        fields.integer("peer", peer.0).string("why", why);
        self.ground.notice(Level::Warning, "message_ignored", fields);
    }

    fn incoming(&mut self, peer: PeerId, incoming: Incoming<'_>, top: bool) {
        match incoming {
            Incoming::Request { id, method, params } => self.request(peer, &id, &method, params),
            Incoming::Notification { method, params } => self.notification(peer, &method, params),
            Incoming::Response { id, outcome } => self.response(peer, id.as_ref(), outcome),
            Incoming::Batch(elements) if top && !elements.is_empty() && self.takes_batches(peer) => {
                for element in elements {
                    self.incoming(peer, jsonrpc::read_raw(element), false);
                }
            }
            Incoming::Batch(elements) => {
                let message = match elements.is_empty() && self.takes_batches(peer) {
                    true => "the batch is empty",
                    false => "batches are not part of this protocol version: send one message a line",
                };
                self.say_error(peer, None, INVALID_REQUEST, message, None);
            }
            Incoming::Invalid { id, code, message } => self.say_error(peer, id.as_ref(), code, message, None),
            Incoming::Noise => self.noise(peer, "not a JSON-RPC message"),
        }
    }

    pub(super) fn takes_batches(&self, peer: PeerId) -> bool {
        self.peers.get(&peer).is_some_and(|session| session.version == Some(BATCH_VERSION))
    }

    pub(super) fn request(&mut self, peer: PeerId, id: &Id, method: &str, params: Option<Raw<'_>>) {
        self.learn_credentials(peer, params);
        let limit = self.ground.config.limits.calls_per_peer;
        let Some(session) = self.peers.get_mut(&peer) else { return };
        let scope = self.scopes.get_or_default(session.scope.as_str());
        // Each request gets a response under its own id (MCP 2025-11-25, basic protocol), so that nobody waits for ever; a
        // client that takes an id twice cannot tell the two apart in any case.
        if session.has(id) {
            let message = "a request with this `id` is still running: take another one";
            return self.say_error(peer, Some(id), INVALID_REQUEST, message, None);
        }
        match server::request(session, scope, &self.ground, id, method, params) {
            Ok(Answer::Result(result)) => self.say_result(peer, id, result),
            Ok(Answer::Listen { .. }) if session.running() >= limit => {
                let message = format!("{limit} requests are open, as many as calls_per_peer allows: end one first");
                self.say_error(peer, Some(id), INVALID_REQUEST, &message, None);
            }
            Ok(Answer::Listen { acknowledgement, tools }) => {
                session.listen(id, tools);
                let message = jsonrpc::notification("notifications/subscriptions/acknowledged", &acknowledgement);
                self.ground.say(peer, Some(id), false, None, message);
            }
            Ok(Answer::Call(wanted)) => self.call(peer, id, params, wanted),
            Ok(Answer::Unknown(name, era)) => self.unknown_tool(peer, id, &name, era),
            Err(error) => self.say_error(peer, Some(id), error.code, &error.message, error.data),
        }
    }

    /// A tool that nobody offers, or one of a server that has not said yet which it has.
    fn unknown_tool(&mut self, peer: PeerId, id: &Id, name: &str, era: Era) {
        let Some(session) = self.peers.get(&peer) else { return };
        let config = &self.ground.config;
        let caller = policy::caller_of(config, &session.scope, is_http(peer));
        match self.links.awaited(name).filter(|(server, ..)| policy::may_call(config, &caller, name, server)) {
            Some((_, error, _)) => {
                let error = policy::inbound_error(&mut self.ground, Names { offered: name, composed: name }, error);
                let result = era::shape(error.into_result().to_object(), era, &self.ground.config);
                self.say_result(peer, id, result);
            }
            None => {
                let error = server::unknown_tool(&self.ground, &caller, name);
                self.say_error(peer, Some(id), error.code, &error.message, error.data);
            }
        }
    }

    /// Header values and the user information of URLs are secrets before anything else is looked at: a request that is
    /// refused is traced too.
    fn learn_credentials(&mut self, peer: PeerId, params: Option<Raw<'_>>) {
        let params = params.and_then(json::members).unwrap_or_default();
        // Header fields among the arguments of another server's tool are for that server.
        if params.string("name").is_some_and(|name| self.ground.catalog.find(&name).is_some()) {
            return;
        }
        let arguments = params.get("arguments").and_then(json::members);
        let (Some(arguments), Some(session)) = (arguments, self.peers.get(&peer)) else { return };
        let scope = self.scopes.get_or_default(session.scope.as_str());
        scope.learn(&self.ground.config.mcp_servers, |secrets| secrets.learn_arguments(&arguments));
    }

    fn call(&mut self, peer: PeerId, id: &Id, params: Option<Raw<'_>>, wanted: Wanted<'_>) {
        let Some(session) = self.peers.get(&peer) else { return };
        let Wanted { subject, arguments, envelope, answers } = wanted;
        let limit = self.ground.config.limits.calls_per_peer;
        let busy = session.running() >= limit;
        let mut caller = Caller::new(CallId(self.ground.call_number()), peer, id.clone(), envelope.era);
        caller.progress_token = envelope.progress_token;
        caller.log_level = envelope.log_level;
        caller.capabilities = envelope.capabilities;
        caller.meta = envelope.meta;
        let trace = envelope.trace.or_else(|| self.ground.trace_context.clone());
        caller.trace = trace.map(|trace| trace.child(&mut self.ground.random));
        if let Some(trace) = &caller.trace {
            trace.put_into_meta(&mut caller.meta);
        }
        if busy {
            let message = format!("{limit} calls are running, as many as calls_per_peer allows: wait for one to end");
            let error = ToolError::new(Code::Busy, message).with("limit", json::Json::string("calls_per_peer"));
            return self.answer(&caller, &subject, Err(error), self.ground.now);
        }
        self.ground.held.turn_to(&session.scope);
        let mut share = self.ground.held.share();
        let bytes = params.map_or(0, |raw| raw.get().len()) + id.as_json().as_str().len();
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        if !share.may_be(bytes, self.ground.config.limits.held_bytes) {
            let error = fault::no_room(&self.ground, "this call", bytes, "say less");
            return self.answer(&caller, &subject, Err(error), self.ground.now);
        }
        share.set(bytes);
        caller.share = Some(share);
        match Self::parked(&subject, &answers).or_else(|| self.left(&caller, &subject, arguments)) {
            Some(parked) => self.come_back(caller, parked, arguments, answers),
            None => self.begin(caller, subject, arguments, answers, self.ground.now),
        }
    }

    pub(super) fn notification(&mut self, peer: PeerId, method: &str, params: Option<Raw<'_>>) {
        if method != "notifications/cancelled" {
            return;
        }
        let id = params.and_then(json::members).and_then(|members| members.get_any("requestId")).and_then(Id::read);
        let (Some(id), Some(session)) = (id, self.peers.get_mut(&peer)) else { return };
        if session.unlisten(&id) {
            return;
        }
        // Unknown, finished and already cancelled ids are nobody's loss.
        if let Some(call) = session.end(&id) {
            self.stop(call, true);
            self.give_up(peer, &id);
        }
    }
}
