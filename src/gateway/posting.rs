//! What is posted to `/mcp`: one message, or in one version several, of either era.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Gateway;
use crate::incoming::access::Refusal;
use crate::incoming::mcp as rules;
use crate::incoming::{KEEP_ALIVE_MS, Message, Stage, Waiting, scope_of};
use crate::io::{Headers, PeerId, RequestId};
use crate::json::{self, Json, Kind, Raw};
use crate::jsonrpc::{self, INVALID_PARAMS, INVALID_REQUEST, Id, Incoming as Rpc, PARSE_ERROR};
use crate::list::{gather, sorted};
use crate::mcp::era::Era;

/// A request of JSON-RPC.
type Request<'a> = (Id, String, Option<Raw<'a>>);

impl Gateway {
    /// A complete body.
    pub(super) fn post(&mut self, request: RequestId, headers: &Headers, bytes: Vec<u8>) {
        let depth = self.ground.config.limits.depth();
        let Ok(text) = String::from_utf8(bytes) else {
            return self.respond_json(request, 400, jsonrpc::error(None, PARSE_ERROR, "the body is no UTF-8", None));
        };
        match jsonrpc::read(&text, depth) {
            Rpc::Request { id, method, params } => self.post_request(request, headers, (id, method, params)),
            Rpc::Notification { method, params } => self.post_notification(request, headers, &method, params),
            Rpc::Response { id, outcome } => match self.sender(request, headers, None) {
                Ok(peer) => {
                    self.accepted(request);
                    if let Some(peer) = peer {
                        self.response(peer, id.as_ref(), outcome);
                    }
                }
                Err(refusal) => self.refuse(request, refusal),
            },
            Rpc::Batch(elements) => self.post_batch(request, headers, &elements),
            Rpc::Invalid { id, code, message } => {
                // What could not be parsed has no id (JSON-RPC 2.0 §5).
                let id = id.filter(|_| code != PARSE_ERROR);
                self.respond_json(request, 400, jsonrpc::error(id.as_ref(), code, message, None));
            }
            Rpc::Noise => {
                let (code, message) = match json::parse(&text, depth) {
                    Ok(_) => (INVALID_REQUEST, "the body is no JSON-RPC message"),
                    Err(_) => (PARSE_ERROR, "the body is no JSON"),
                };
                self.respond_json(request, 400, jsonrpc::error(None, code, message, None));
            }
        }
    }

    fn accepted(&mut self, request: RequestId) {
        let common = self.common(request);
        self.respond(request, 202, common, String::new());
    }

    fn post_request(&mut self, request: RequestId, headers: &Headers, message: Request<'_>) {
        let (id, method, params) = &message;
        if rules::is_modern(*params) {
            return self.post_modern(request, headers, message);
        }
        let fault = |text: &str| jsonrpc::error(Some(id), INVALID_PARAMS, text, None);
        let session = if method == "initialize" {
            if params.is_some_and(|raw| json::kind(raw) != Kind::Object) {
                return self.respond_json(request, 400, fault("`params` must be an object"));
            }
            self.new_session(request)
        } else if rules::names_modern(headers) {
            let text =
                "`params._meta` lacks io.modelcontextprotocol/protocolVersion and io.modelcontextprotocol/clientCapabilities";
            return self.respond_json(request, 400, fault(text));
        } else {
            self.session_of(request, headers)
        };
        match session {
            Ok(name) => self.post_legacy(request, &name, alloc::vec![message], None),
            Err(refusal) => {
                let message = jsonrpc::error(Some(id), INVALID_REQUEST, refusal.message, None);
                self.respond_json(request, refusal.status, message);
            }
        }
    }

    fn post_modern(&mut self, request: RequestId, headers: &Headers, (id, method, params): Request<'_>) {
        if let Err(error) = rules::check_modern(headers, &method, params) {
            let message = jsonrpc::error(Some(&id), error.code, &error.message, error.data.as_ref());
            return self.respond_json(request, 400, message);
        }
        let principal = self.incoming.requests.get(&request).map(|served| served.principal.clone()).unwrap_or_default();
        let peer = self.incoming.peer();
        self.open_scope(peer, &scope_of(&principal, None));
        self.incoming.alone.insert(peer, request);
        self.wait_for(request, peer, None, alloc::vec![literal(&id)], false);
        self.request(peer, &id, &method, params);
    }

    /// Requests of one session, answered by one response: one, or a batch with the answers to what in it was no request.
    fn post_legacy(&mut self, request: RequestId, name: &str, messages: Vec<Request<'_>>, batch: Option<Vec<Message>>) {
        let Some(session) = self.incoming.sessions.get_mut(name) else { return };
        let ids = gather(messages.iter().map(|(id, ..)| literal(id)));
        let literals = sorted(ids.iter().map(String::as_str));
        let repeated = literals.windows(2).any(|pair| matches!(pair, [one, next] if one == next));
        if repeated || ids.iter().any(|id| session.awaits(id)) {
            let id = messages.first().map(|(id, ..)| id).filter(|_| batch.is_none());
            let message = "a request with this `id` is still running: take another one";
            return self.respond_json(request, 400, jsonrpc::error(id, INVALID_REQUEST, message, None));
        }
        let (peer, stream) = (session.peer, session.open(request, &ids));
        self.wait_for(request, peer, Some((name.to_string(), stream)), ids, false);
        if let Some(waiting) = self.waiting(request) {
            waiting.batch = batch.is_some();
            waiting.answers = batch.unwrap_or_default();
        }
        for (id, method, params) in messages {
            self.request(peer, &id, &method, params);
        }
    }

    fn post_batch(&mut self, request: RequestId, headers: &Headers, elements: &[Raw<'_>]) {
        let refusal = |message| jsonrpc::error(None, INVALID_REQUEST, message, None);
        let Ok(name) = self.session_of(request, headers) else {
            return self.respond_json(request, 400, refusal("batches are taken in sessions of 2025-03-26 only"));
        };
        let peer = self.incoming.sessions.get(&name).map(|session| session.peer);
        let Some(peer) = peer.filter(|peer| self.takes_batches(*peer)) else {
            return self.respond_json(request, 400, refusal("batches are not part of this protocol version"));
        };
        if elements.is_empty() {
            return self.respond_json(request, 400, refusal("the batch is empty"));
        }
        let (mut calls, mut faults) = (Vec::new(), Vec::new());
        let mut fault = |id: Option<&Id>, code, message| {
            let text = jsonrpc::error(id, code, message, None);
            faults.push(Message { peer, about: None, last: true, code: Some(code), text });
        };
        for element in elements {
            match jsonrpc::read_raw(*element) {
                Rpc::Request { id, method, params } => calls.push((id, method, params)),
                Rpc::Notification { method, params } => self.notification(peer, &method, params),
                Rpc::Response { id, outcome } => self.response(peer, id.as_ref(), outcome),
                Rpc::Invalid { id, code, message } => fault(id.as_ref(), code, message),
                Rpc::Batch(_) | Rpc::Noise => fault(None, INVALID_REQUEST, "an element of the batch is no JSON-RPC message"),
            }
        }
        match (calls.is_empty(), faults.is_empty()) {
            (false, _) => self.post_legacy(request, &name, calls, Some(faults)),
            (true, true) => self.accepted(request),
            (true, false) => self.respond_json(request, 400, batch(&faults)),
        }
    }

    fn post_notification(&mut self, request: RequestId, headers: &Headers, method: &str, params: Option<Raw<'_>>) {
        if rules::is_modern(params)
            && let Err(error) = rules::check_modern(headers, method, params)
        {
            let message = jsonrpc::error(None, error.code, &error.message, error.data.as_ref());
            return self.respond_json(request, 400, message);
        }
        match self.sender(request, headers, params) {
            Ok(peer) => {
                if let Some(peer) = peer {
                    self.notification(peer, method, params);
                }
                self.accepted(request);
            }
            Err(refusal) => self.refuse(request, refusal),
        }
    }

    /// The peer of the session that a message without an answer belongs to; none in the modern era.
    fn sender(&mut self, request: RequestId, headers: &Headers, params: Option<Raw<'_>>) -> Result<Option<PeerId>, Refusal> {
        if rules::is_modern(params) || rules::names_modern(headers) {
            return Ok(None);
        }
        let name = self.session_of(request, headers)?;
        Ok(self.incoming.sessions.get(&name).map(|session| session.peer))
    }

    /// From now on the messages of a peer about these requests answer this one.
    pub(super) fn wait_for(
        &mut self,
        request: RequestId,
        peer: PeerId,
        stream: Option<(String, u64)>,
        open: Vec<String>,
        standing: bool,
    ) {
        let comment_at = self.ground.now.plus_ms(KEEP_ALIVE_MS);
        self.incoming.keep_alive.insert((comment_at, request), ());
        if let Some(served) = self.incoming.requests.get_mut(&request) {
            let era = if stream.is_some() { Era::Legacy } else { Era::Modern };
            let (streaming, batch, answers) = (false, false, Vec::new());
            let waiting = Waiting { peer, stream, era, open, standing, streaming, batch, answers, comment_at };
            served.stage = Stage::Waiting(waiting);
        }
    }
}

/// An id as it stands in the text.
pub(super) fn literal(id: &Id) -> String {
    id.as_json().as_str().to_string()
}

/// The answers to a batch.
pub(super) fn batch(answers: &[Message]) -> Json {
    let mut list = json::Array::new();
    for message in answers {
        list.json(&message.text);
    }
    list.finish()
}
