//! Bodies: what is in them, and the calls that begin with them.

use std::collections::BTreeSet;

use narrows::io::{Headers, PeerId, RequestId};
use narrows::json;

use super::super::session::Session;
use super::super::text::{at, string_at};
use super::super::watch::{Call, Cause, Life, Watch};
use super::{Asked, IDLE_MS, Owed, Posting, Stage, VERSION, VERSIONS, field, is_modern};

impl Watch {
    pub(super) fn more(&mut self, request: RequestId, more: &[u8]) {
        let limits = &self.served.config.limits;
        let Some(principal) = self.served.requests.get(&request).map(|asked| &asked.principal) else { return };
        let theirs = self.served.requests.values().filter(|asked| asked.principal == *principal);
        let all: usize = theirs.map(|asked| asked.stage.body_bytes()).sum();
        let Some(Asked { stage: Stage::Body(_, bytes), .. }) = self.served.requests.get_mut(&request) else { return };
        let status = if (bytes.len() + more.len()) as u64 > limits.request_bytes {
            413
        } else if (all + more.len()) as u64 > limits.incoming_bytes {
            503
        } else {
            return bytes.extend_from_slice(more);
        };
        self.served.requests.get_mut(&request).unwrap().stage = Stage::Refused;
        self.served.owed.push((request, Owed::Status(status)));
    }

    /// A body is complete.
    pub(super) fn whole(&mut self, request: RequestId, cause: &mut Cause) {
        let Some(asked) = self.served.requests.get_mut(&request) else { return };
        let Stage::Body(headers, bytes) = std::mem::replace(&mut asked.stage, Stage::Refused) else { return };
        let principal = asked.principal.clone();
        let posting = self.served.postings.remove(&request).unwrap_or_default();
        let text = String::from_utf8(bytes).unwrap_or_default();
        if let Err(status) = self.posted(request, (&principal, &headers), &text, posting, cause) {
            self.served.owed.push((request, if status == 0 { Owed::Anything } else { Owed::Status(status) }));
        }
    }

    fn posted(
        &mut self,
        request: RequestId,
        (principal, headers): (&str, &Headers),
        text: &str,
        posting: Posting,
        cause: &mut Cause,
    ) -> Result<(), u16> {
        let parsed = json::parse(text, self.served.config.limits.depth()).map_err(|_| 400_u16)?;
        let batch = json::elements(parsed).is_some();
        let elements = json::elements(parsed).unwrap_or_else(|| vec![parsed]);
        let messages: Vec<&str> = elements.iter().map(|element| element.get()).collect();
        let is_call = |text: &str| at(text, &["method"]).is_some() && at(text, &["id"]).is_some();
        if !batch && !is_message(messages[0]) {
            return Err(400);
        }
        let modern = at(messages.first().copied().unwrap_or_default(), &["params", "_meta", VERSION]).is_some();
        if modern && !batch {
            return self.posted_modern(request, headers, messages[0], posting, cause);
        }
        if messages.len() == 1 && string_at(messages[0], &["method"]).as_deref() == Some("initialize") && !batch {
            return self.posted_initialize((request, principal), messages[0], posting, cause);
        }
        if is_modern(headers) {
            return Err(if !batch && !is_call(messages[0]) { 202 } else { 400 });
        }
        let name = self.served.session(principal, headers, self.now).map_err(|status| if batch { 400 } else { status })?;
        let session = &self.served.sessions[&name];
        if batch && (session.version != "2025-03-26" || messages.is_empty()) {
            return Err(400);
        }
        let peer = session.peer;
        let ids: Vec<String> = messages.iter().filter(|text| is_call(text)).map(|text| at(text, &["id"]).unwrap()).collect();
        if ids.is_empty() {
            messages.iter().for_each(|text| self.message(peer, text, cause));
            return Err(202);
        }
        let open: BTreeSet<&String> = session
            .streams
            .values()
            .flat_map(|log| &log.calls)
            .filter_map(|number| Some(&self.calls[number]).filter(|call| call.life == Life::Running).map(|call| &call.id))
            .collect();
        let distinct: BTreeSet<&String> = ids.iter().collect();
        if distinct.len() < ids.len() {
            return Err(400);
        }
        // A call that nobody reads about may have ended.
        let is_unread = |call: &Call| call.peer == peer && call.unread && call.life == Life::Running;
        if ids.iter().any(|id| open.contains(id)) {
            let in_doubt = self.calls.values().any(|call| is_unread(call) && ids.contains(&call.id));
            self.served.doubts.extend(in_doubt.then_some((request, name)));
            return Err(if in_doubt { 0 } else { 400 });
        }
        let calls = self.enter(peer, posting);
        let stream = self.served.sessions.get_mut(&name).unwrap().open(request, calls.clone());
        messages.iter().for_each(|text| self.message(peer, text, cause));
        self.wait(request, peer, Some((name, stream)), calls, batch);
        Ok(())
    }

    fn posted_modern(
        &mut self,
        request: RequestId,
        headers: &Headers,
        text: &str,
        posting: Posting,
        cause: &mut Cause,
    ) -> Result<(), u16> {
        let method = string_at(text, &["method"]).unwrap_or_default();
        let name = string_at(text, &["params", if method == "resources/read" { "uri" } else { "name" }]);
        let named = ["tools/call", "prompts/get", "resources/read"].contains(&method.as_str());
        let mirrors = field(headers, "mcp-protocol-version") == string_at(text, &["params", "_meta", VERSION]).as_deref()
            && field(headers, "mcp-method") == Some(&method)
            && (!named || name.is_none() || field(headers, "mcp-name") == name.as_deref());
        if !mirrors || !is_modern(headers) {
            return Err(400);
        }
        if at(text, &["id"]).is_none() {
            return Err(202);
        }
        let peer = self.served.client(&posting.scope, cause);
        self.peers.insert(peer);
        let calls = self.enter(peer, posting);
        self.message(peer, text, cause);
        self.wait(request, peer, None, calls, false);
        Ok(())
    }

    fn posted_initialize(
        &mut self,
        (request, principal): (RequestId, &str),
        text: &str,
        posting: Posting,
        cause: &mut Cause,
    ) -> Result<(), u16> {
        self.end_idle_sessions();
        self.make_room(principal)?;
        let asked = string_at(text, &["params", "protocolVersion"]).unwrap_or_default();
        let version = VERSIONS.into_iter().find(|known| *known == asked).unwrap_or("2025-11-25");
        let peer = self.served.client(&posting.scope, cause);
        self.peers.insert(peer);
        let calls = self.enter(peer, posting);
        self.message(peer, text, cause);
        self.wait(request, peer, None, calls, false);
        self.served.waiting(request).opens = Some(version.to_owned());
        Ok(())
    }

    /// Whoever has as many sessions as allowed loses the one that was unused for longest.
    fn make_room(&mut self, principal: &str) -> Result<(), u16> {
        let limit = usize::try_from(self.served.config.limits.sessions).unwrap();
        let theirs = || self.served.sessions.iter().filter(|(_, session)| session.principal == principal);
        if theirs().count() < limit {
            return Ok(());
        }
        let unread = || theirs().filter(|(_, session)| session.streams.values().all(|log| log.reader.is_none()));
        let runs = |session: &Session| {
            session.streams.values().flat_map(|log| &log.calls).any(|call| self.calls[call].life == Life::Running)
        };
        if unread().any(|(_, session)| runs(session)) {
            let names: Vec<String> = unread().map(|(name, _)| name.clone()).collect();
            self.served.doubtful.extend(names);
            return Ok(());
        }
        let oldest = unread().min_by_key(|(_, session)| (session.used, session.peer)).map(|(name, _)| name.clone());
        self.end_session(&oldest.ok_or(503_u16)?);
        Ok(())
    }

    /// Sessions that were idle for long end when a new one begins. Where the answer of a call waits for a reader that may
    /// have come already, the state of the gateway tells.
    fn end_idle_sessions(&mut self) {
        let now = self.now;
        let is_idle =
            |session: &Session| now.since(session.used) >= IDLE_MS && session.streams.values().all(|log| log.reader.is_none());
        let idle = self.served.sessions.iter().filter(|(_, session)| is_idle(session)).map(|(name, _)| name.clone());
        for name in idle.collect::<Vec<_>>() {
            let mut calls = self.served.sessions[&name].streams.values().flat_map(|log| &log.calls);
            if calls.any(|call| self.calls[call].life == Life::Running) {
                self.served.doubtful.insert(name);
            } else {
                self.end_session(&name);
            }
        }
    }
    /// The calls of a body begin.
    fn enter(&mut self, peer: PeerId, posting: Posting) -> Vec<u64> {
        let numbers = posting.calls.iter().map(|(number, ..)| *number).collect();
        for (number, call, patience_ms) in posting.calls {
            let due = patience_ms.map(|ms| self.now.plus_ms(ms));
            self.requests.insert((peer, call.id.clone()), number);
            self.calls.insert(number, Call { peer, due, ..call });
        }
        numbers
    }
}

/// Whether a text is a message of JSON-RPC.
fn is_message(text: &str) -> bool {
    let id = at(text, &["id"]);
    let named = id.as_deref().is_none_or(|id| id != "null");
    let speaks =
        at(text, &["method"]).is_some() || id.is_some() && (at(text, &["result"]).is_some() || at(text, &["error"]).is_some());
    string_at(text, &["jsonrpc"]).as_deref() == Some("2.0") && named && speaks
}

impl Stage {
    fn body_bytes(&self) -> usize {
        match self {
            Self::Body(_, bytes) => bytes.len(),
            Self::Refused | Self::Waiting(_) => 0,
        }
    }
}
