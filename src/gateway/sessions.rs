//! Sessions of the handshake era over HTTP: begun, found, listened to, ended.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Gateway;
use super::serving::not_allowed;
use crate::http;
use crate::incoming::access::Refusal;
use crate::incoming::mcp as rules;
use crate::incoming::scope_of;
use crate::incoming::sessions::HttpSession;
use crate::io::{Headers, Output, PeerId, RequestId};
use crate::list::gather;
use crate::mcp::session::Session;

/// How long a session may be idle.
const SESSION_IDLE_MS: u64 = 1_800_000;

impl Gateway {
    /// A session for whoever sends `initialize`; those that were idle for long make room, and where its principal has as
    /// many as the limit allows, that one which was unused for longest.
    pub(super) fn new_session(&mut self, request: RequestId) -> Result<String, Refusal> {
        let now = self.ground.now;
        let idle = |session: &HttpSession| !session.is_busy() && now.since(session.used) >= SESSION_IDLE_MS;
        let stale = gather(self.incoming.sessions.iter().filter(|(_, session)| idle(session)).map(|(name, _)| name.clone()));
        for name in stale {
            self.end_session(&name);
        }
        let principal = self.incoming.requests.get(&request).map(|served| served.principal.clone()).unwrap_or_default();
        let theirs = u64::try_from(self.incoming.sessions_of(&principal).count()).unwrap_or(u64::MAX);
        if theirs >= self.ground.config.limits.sessions {
            // Whose client went without a word cannot be told from the others; one that comes back begins anew (MCP
            // 2025-11-25, session management).
            let free = self.incoming.sessions_of(&principal).filter(|(_, session)| !session.is_busy());
            let oldest = free.min_by_key(|(_, session)| (session.used, session.peer)).map(|(name, _)| name.clone());
            let fault = "there are as many sessions as the limit `sessions` allows, and all of them are in use: end one";
            self.end_session(&oldest.ok_or(Refusal::new(503, fault))?);
        }
        let name = self.ground.random.uuid();
        let peer = self.incoming.peer();
        self.open_scope(peer, &scope_of(&principal, Some(peer)));
        let share = self.ground.kept_events.share();
        self.incoming.sessions.insert(name.clone(), HttpSession::new(principal, peer, now, share));
        self.incoming.session_of.insert(peer, name.clone());
        if let Some(served) = self.incoming.requests.get_mut(&request) {
            served.common.push(("Mcp-Session-Id".to_string(), name.clone()));
        }
        Ok(name)
    }

    /// Opens a peer of the HTTP face.
    pub(super) fn open_scope(&mut self, peer: PeerId, scope: &str) {
        let is_new = !self.scopes.has(scope);
        self.scopes.get_or_default(scope);
        self.peers.insert(peer, Session::new(scope.to_string()));
        if is_new {
            self.connect_external_agents(peer, scope);
        }
    }

    /// The session that a request names; another principal's is as unknown as one that never was.
    pub(super) fn session_of(&mut self, request: RequestId, headers: &Headers) -> Result<String, Refusal> {
        let Some(name) = http::header(headers, "mcp-session-id") else {
            return Err(Refusal::new(400, "the header Mcp-Session-Id is missing: send initialize first"));
        };
        if !rules::version_is_known(headers) {
            return Err(Refusal::new(400, "the header MCP-Protocol-Version names a version that is not spoken here"));
        }
        let principal = self.incoming.requests.get(&request).map(|served| served.principal.as_str()).unwrap_or_default();
        let now = self.ground.now;
        match self.incoming.sessions.get_mut(name).filter(|session| session.principal == principal) {
            Some(session) => {
                session.used = now;
                Ok(name.to_string())
            }
            None => Err(Refusal::new(404, "there is no such session: send initialize again")),
        }
    }

    /// A GET: a stream for what nobody asked for, or the rest of one that was interrupted.
    pub(super) fn listen_again(&mut self, request: RequestId, headers: &Headers) -> Result<(), Refusal> {
        if rules::names_modern(headers) || http::header(headers, "mcp-session-id").is_none() {
            return Err(not_allowed("POST", "GET needs a session: send initialize first"));
        }
        if !rules::accepts(headers, "text/event-stream") {
            return Err(Refusal::new(406, "Accept must name text/event-stream"));
        }
        let name = self.session_of(request, headers)?;
        let Some(session) = self.incoming.sessions.get_mut(&name) else { return Ok(()) };
        let peer = session.peer;
        let Some(last) = http::header(headers, "last-event-id") else {
            let stream = session.open(request, &[]);
            self.wait_for(request, peer, Some((name, stream)), Vec::new(), true);
            self.start_stream(request, true);
            return Ok(());
        };
        let fault = Refusal::new(400, "there is no such event to go on from");
        let resumed = session.resume(last, request).ok_or(fault)?;
        let ended = resumed.awaited.is_empty() && !resumed.standing;
        if let Some(before) = resumed.reader {
            self.part(before);
        }
        self.wait_for(request, peer, Some((name, resumed.stream)), resumed.awaited, resumed.standing);
        self.start_stream(request, false);
        if !resumed.missed.is_empty() {
            self.ground.outputs.push_back(Output::ResponseBody { request, text: resumed.missed });
        }
        if ended {
            self.end_stream(request, Refusal::new(503, ""));
        }
        Ok(())
    }

    /// A DELETE.
    pub(super) fn end_session_of(&mut self, request: RequestId, headers: &Headers) -> Result<(), Refusal> {
        if rules::names_modern(headers) {
            return Err(not_allowed("POST", "this version has no sessions"));
        }
        let name = self.session_of(request, headers)?;
        self.end_session(&name);
        Err(Refusal::new(204, ""))
    }

    /// Ends a session with its calls, its streams and all that its scope holds.
    pub(super) fn end_session(&mut self, name: &str) {
        let Some(session) = self.incoming.sessions.remove(name) else { return };
        self.incoming.session_of.remove(&session.peer);
        let readers = gather(session.readers());
        for reader in readers {
            self.end_stream(reader, Refusal::new(404, "the session was ended"));
        }
        self.leave(session.peer, false);
        let scope = scope_of(&session.principal, Some(session.peer));
        let left = gather(self.calls.iter().filter(|(_, call)| call.scope == scope).map(|(id, _)| *id));
        for call in left {
            self.stop(call, false);
        }
        self.scopes.remove(scope.as_str());
        self.ground.approvals.forget_session(&scope);
    }
}
