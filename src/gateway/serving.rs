//! Incoming requests: admitted, taken in, answered at once or handed on; and the end of serving.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::approving::decides;
use super::{Gateway, refusing};
use crate::http;
use crate::incoming::access::{self, Refusal};
use crate::incoming::mcp as rules;
use crate::incoming::{Endpoint, Face, NOBODY, Served, Stage};
use crate::io::{Headers, Misuse, Output, RequestId};
use crate::json::{self, Json};
use crate::jsonrpc::Id;
use crate::link::Outside;
use crate::list::gather;
use crate::mcp::era;
use crate::{plain, text};

impl Gateway {
    /// The head of an incoming request.
    pub(super) fn request_head(
        &mut self,
        request: RequestId,
        method: &str,
        target: &str,
        headers: Headers,
    ) -> Result<(), Misuse> {
        if request.0 >= 1 << 53 {
            return Err(Misuse::OutOfRange("request"));
        }
        if self.incoming.requests.has(&request) {
            return Err(Misuse::RequestOpen(request));
        }
        let (principal, common, face) = (String::new(), Headers::new(), self.face(target));
        let refused = Served { principal, common, face, stage: Stage::Refused };
        self.incoming.requests.insert(request, refused);
        self.begin_access(request, method, target);
        if let Err(refusal) = self.admitted(request, method, target, headers) {
            self.refuse(request, refusal);
        }
        Ok(())
    }

    /// Host and origin come first, then who asks, then whether there is room for one more of theirs, then what for.
    fn admitted(&mut self, request: RequestId, method: &str, target: &str, headers: Headers) -> Result<(), Refusal> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let path = if path.len() > 1 { path.trim_end_matches('/') } else { path };
        let server = &self.ground.config.server;
        let common = access::admit(server, &headers, decides(path))?;
        if let Some(served) = self.incoming.requests.get_mut(&request) {
            served.common = common;
        }
        if self.incoming.stopping {
            return Err(busy("the gateway takes no more requests now"));
        }
        if http::section_bytes(&headers) > self.ground.config.limits.header_bytes {
            return Err(Refusal::new(431, "the header fields are larger than header_bytes allows"));
        }
        // A preflight carries no credentials (WHATWG Fetch, CORS protocol).
        let principal = match (path, method) {
            (_, "OPTIONS") | ("/healthz", _) => String::new(),
            // The card is how a caller learns that a token is needed (A2A 1.0 §8.2).
            _ if self.is_card(path) || self.is_directory_read(path, method) => String::new(),
            _ => access::principal(server, &headers)?,
        };
        self.name_access(request, &principal);
        // What asks for no principal is answered at once and takes no room.
        let limit = self.ground.config.limits.requests;
        if !principal.is_empty() && self.incoming.is_full(&principal, limit) {
            return Err(busy("as many requests of this principal run as the limit `requests` allows"));
        }
        if let Some(served) = self.incoming.requests.get_mut(&request) {
            served.principal = principal;
        }
        match (path, method) {
            (_, "OPTIONS") => Err(Refusal { status: 204, headers: access::preflight(), message: "" }),
            ("/healthz", "GET" | "HEAD") => Err(Refusal::new(200, "ok")),
            ("/metrics", "GET" | "HEAD") => self.serve_metrics(request),
            ("/metrics", _) => Err(not_allowed("GET, HEAD", "this method is not served here")),
            ("/mcp", "POST") => self.admit_post(request, headers),
            ("/mcp", "GET") => self.listen_again(request, &headers),
            ("/mcp", "DELETE") => self.end_session_of(request, &headers),
            ("/mcp", _) => Err(not_allowed("GET, POST, DELETE", "this method is not served here")),
            ("/healthz", _) => Err(not_allowed("GET, HEAD", "this method is not served here")),
            _ if self.is_directory(path) => self.directory_request(request, (method, path, query), headers),
            _ => match self.approvals_request(request, (method, path, query), &headers) {
                Some(answered) => answered,
                None => self.agent_request(request, (method, path, query), headers),
            },
        }
    }

    fn admit_post(&mut self, request: RequestId, headers: Headers) -> Result<(), Refusal> {
        rules::check_post(&headers)?;
        self.take_in(request, headers, Endpoint::Mcp)
    }

    /// A body is to come.
    pub(super) fn take_in(&mut self, request: RequestId, headers: Headers, to: Endpoint) -> Result<(), Refusal> {
        // What this is for is told with what is taken instead (RFC 9110 §12.5.3, §15.5.16).
        let coding = http::header(&headers, "content-encoding").map(str::trim).filter(|coding| !coding.is_empty());
        if coding.is_some_and(|coding| !coding.eq_ignore_ascii_case("identity")) {
            let taken = ("Accept-Encoding".to_string(), "identity".to_string());
            let message = "the body is compressed or otherwise encoded: send it as it is, without Content-Encoding";
            return Err(Refusal { status: 415, headers: alloc::vec![taken], message });
        }
        let length = http::header(&headers, "content-length").and_then(|length| text::whole(length.trim()));
        if length.is_some_and(|length| length > self.most_bytes(&to)) {
            return Err(too_large(&to));
        }
        if let Some(served) = self.incoming.requests.get_mut(&request) {
            served.stage = Stage::Body { headers, bytes: Vec::new(), to };
        }
        Ok(())
    }

    /// How large a body may be.
    fn most_bytes(&self, to: &Endpoint) -> u64 {
        let bytes = self.ground.config.limits.request_bytes;
        match to {
            Endpoint::Mcp | Endpoint::Rpc(_) | Endpoint::Rest(_) => bytes,
            Endpoint::Plain(_) | Endpoint::Decision(_) => bytes.min(plain::BODY_BYTES),
            Endpoint::Card(_) => self.ground.config.limits.card_bytes,
        }
    }

    /// Answers a request at once, in the words of what is served at its path.
    pub(super) fn refuse(&mut self, request: RequestId, refusal: Refusal) {
        let face = self.incoming.requests.get(&request).map_or(Face::Words, |served| served.face);
        let (media_type, body) = refusing::body(request, face, &refusal);
        let mut headers = self.common(request);
        headers.extend(refusal.headers);
        if !body.is_empty() {
            headers.push(("Content-Type".to_string(), media_type.to_string()));
        }
        self.respond(request, refusal.status, headers, body);
    }

    /// The header fields that every response to a request carries.
    pub(super) fn common(&self, request: RequestId) -> Headers {
        self.incoming.requests.get(&request).map(|served| served.common.clone()).unwrap_or_default()
    }

    /// The same of a response that may be kept: a page of another origin is answered with more (RFC 9110 §12.5.5).
    pub(super) fn common_kept(&self, request: RequestId) -> Headers {
        let mut fields = self.common(request);
        if http::header(&fields, "vary").is_none() {
            fields.push(("Vary".to_string(), "Origin".to_string()));
        }
        fields
    }

    /// The head of a response that is a stream of events.
    pub(super) fn respond_events(&mut self, request: RequestId) {
        let mut headers = self.common(request);
        for (name, value) in
            [("Content-Type", "text/event-stream"), ("Cache-Control", "no-cache, no-transform"), ("X-Accel-Buffering", "no")]
        {
            headers.push((name.to_string(), value.to_string()));
        }
        self.ground.outputs.push_back(Output::ResponseHead { request, status: 200, headers });
    }

    /// A complete response. The request's number is free again.
    pub(super) fn respond(&mut self, request: RequestId, status: u16, headers: Headers, body: String) {
        self.ground.outputs.push_back(Output::ResponseHead { request, status, headers });
        if !body.is_empty() {
            self.ground.outputs.push_back(Output::ResponseBody { request, text: body });
        }
        self.ground.outputs.push_back(Output::ResponseEnd { request });
        self.incoming.remove(request);
    }

    /// A complete response with one JSON-RPC message.
    pub(super) fn respond_json(&mut self, request: RequestId, status: u16, message: Json) {
        let mut headers = self.common(request);
        headers.push(("Content-Type".to_string(), "application/json".to_string()));
        self.respond(request, status, headers, message.into_string());
    }

    /// Some of an incoming body.
    pub(super) fn request_body(&mut self, request: RequestId, more: &[u8]) {
        let all = self.ground.config.limits.incoming_bytes;
        let Some(Served { stage: Stage::Body { to, .. }, .. }) = self.incoming.requests.get(&request) else { return };
        let one = self.most_bytes(to);
        let Some(Served { principal, stage: Stage::Body { bytes, to, .. }, .. }) = self.incoming.requests.get_mut(&request)
        else {
            return;
        };
        let more_bytes = u64::try_from(more.len()).unwrap_or(u64::MAX);
        let grown = u64::try_from(bytes.len()).unwrap_or(u64::MAX).saturating_add(more_bytes);
        let taken = self.incoming.body_bytes.get_or_default(principal.as_str());
        let refusal = if grown > one {
            too_large(to)
        } else if taken.saturating_add(more_bytes) > all {
            busy("the bodies of this principal that are taken in now are as large as incoming_bytes allows")
        } else {
            bytes.extend_from_slice(more);
            *taken += more_bytes;
            return;
        };
        self.refuse(request, refusal);
    }

    /// The end of an incoming body.
    pub(super) fn request_end(&mut self, request: RequestId) {
        match self.incoming.take_body(request) {
            Some((headers, bytes, Endpoint::Mcp)) => self.post(request, &headers, bytes),
            Some((headers, bytes, Endpoint::Rpc(query))) => self.agent_call(request, &headers, &query, &bytes),
            Some((_, bytes, Endpoint::Card(name))) => self.put_card(request, &name, bytes),
            Some((headers, bytes, Endpoint::Rest(place))) => self.agent_place(request, &headers, *place, bytes),
            Some((headers, bytes, Endpoint::Plain(place))) => self.plain_place(request, &headers, *place, &bytes),
            Some((_, bytes, Endpoint::Decision(decision))) => self.decision_posted(request, *decision, &bytes),
            None => {}
        }
    }

    /// Whoever asked left. In the modern era that cancels; in a session the answer waits for who comes back.
    pub(super) fn request_gone(&mut self, request: RequestId) {
        match self.incoming.remove(request) {
            Some(Served { stage: Stage::Waiting(waiting), .. }) => self.let_go(waiting, true),
            Some(Served { stage: Stage::Watching(watching), .. }) => {
                self.unwatch(request, watching.task);
                // What comes of it is found by whoever comes back.
                self.served.begin(watching.task, &mut self.ground.random);
            }
            Some(Served { stage: Stage::Calling(call), .. }) => self.stop(call, false),
            Some(Served { stage: Stage::Looking(looking), .. }) => {
                if let Some(lookup) = looking.lookup {
                    self.ground.lookups.forget(lookup);
                }
            }
            Some(_) | None => {}
        }
    }

    /// Stops serving: what is asked for is answered, streams end, nothing new is taken over HTTP.
    pub(super) fn stop_serving(&mut self) {
        self.incoming.stopping = true;
        self.links.stop(&mut Outside { ground: &mut self.ground, exchanges: &mut self.exchanges });
        let calls = gather(self.calls.iter().filter(|(_, call)| call.caller.peer != NOBODY).map(|(id, _)| *id));
        for call in calls {
            if !self.outlives(call) {
                self.work(call, |work, run| Some(work.interrupted(run, "the gateway is stopping")));
            }
        }
        let peers = gather(self.peers.iter().map(|(peer, _)| *peer));
        for peer in peers {
            let listens = self.peers.get(&peer).map(|session| gather(session.listens().map(String::from)));
            for id in listens.iter().flatten().filter_map(|id| json::parse(id, 0).ok().and_then(Id::read)) {
                let result = era::listened(id.as_json(), &self.ground.config);
                self.say_result(peer, &id, result);
                if let Some(session) = self.peers.get_mut(&peer) {
                    session.unlisten(&id);
                }
            }
        }
        self.route();
        let open = gather(self.incoming.requests.iter().map(|(request, _)| *request));
        for request in open {
            if self.end_watching(request, "the gateway is stopping") {
                continue;
            }
            self.end_stream(request, busy("the gateway is stopping"));
        }
    }
}

/// The refusal of what may be tried again soon.
pub(super) fn busy(message: &'static str) -> Refusal {
    let retry = ("Retry-After".to_string(), "1".to_string());
    Refusal { status: 503, headers: alloc::vec![retry], message }
}

pub(super) const fn too_large(to: &Endpoint) -> Refusal {
    Refusal::new(
        413,
        match to {
            Endpoint::Mcp | Endpoint::Rpc(_) | Endpoint::Rest(_) => "the body is larger than request_bytes allows",
            Endpoint::Plain(_) | Endpoint::Decision(_) => "the body is larger than 1 MiB, or than request_bytes allows",
            Endpoint::Card(_) => "the card is larger than card_bytes allows",
        },
    )
}

/// The refusal of a method, with those that are served.
pub(super) fn not_allowed(methods: &str, message: &'static str) -> Refusal {
    let allow = ("Allow".to_string(), methods.to_string());
    Refusal { status: 405, headers: alloc::vec![allow], message }
}
