//! The books of incoming HTTP: a small model of who is let in and what must come of each request, and what was answered.

use std::collections::{BTreeMap, BTreeSet};

use narrows::config::Config;
use narrows::io::{Headers, Input, Output, PeerId, RequestId};
use narrows::json;
use narrows::time::Instant;

use super::rule::{Rule, under};
use super::session::{Session, event_id};
use super::text::{at, raw, string_at};
use super::watch::{Call, Cause, Life, Watch};

/// Clients over HTTP have numbers in the books that no host gives.
pub const FIRST: u64 = 1 << 60;
/// How long a session may be idle, and how long a response is silent.
const IDLE_MS: u64 = 1_800_000;
const COMMENT_MS: u64 = 15_000;
const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// A body on its way: the calls in it, each with how long it may take.
#[derive(Clone, Debug, Default)]
pub struct Posting {
    pub calls: Vec<(u64, Call, Option<u64>)>,
    /// whose word the calls may hold
    pub scope: String,
}

/// What must come of a request in the step at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owed {
    /// a complete response with that status
    Status(u16),
    /// a response that is a stream, ended or not
    Stream,
    /// its end
    End,
    /// something complete: it is not known what
    Anything,
}

/// A request that was not answered whole.
#[derive(Debug)]
struct Asked {
    principal: String,
    stage: Stage,
    status: Option<u16>,
    streaming: bool,
    body: String,
}

#[derive(Debug)]
enum Stage {
    Refused,
    Body(Headers, Vec<u8>),
    Waiting(Waiting),
}

/// A response that waits for calls, or stands.
#[derive(Clone, Debug)]
struct Waiting {
    peer: PeerId,
    /// the session and its stream; a new session has no name yet
    stream: Option<(String, u64)>,
    /// the version of a session that it opens
    opens: Option<String>,
    calls: Vec<u64>,
    standing: bool,
    batch: bool,
    next_event: u64,
    comment_at: Instant,
    /// it takes up a stream, if that is still known
    resumes: bool,
}

#[derive(Debug, Default)]
pub struct Served {
    config: Config,
    requests: BTreeMap<RequestId, Asked>,
    postings: BTreeMap<RequestId, Posting>,
    pub sessions: BTreeMap<String, Session>,
    /// sessions that may have made room for others
    doubtful: BTreeSet<String>,
    /// every name that a session ever had
    names: BTreeSet<String>,
    pub stopping: bool,
    clients: u64,
    /// the scopes of clients so far
    opened: BTreeSet<String>,
    owed: Vec<(RequestId, Owed)>,
    ended: BTreeMap<RequestId, u16>,
    /// requests whose id may be taken, and their sessions
    doubts: Vec<(RequestId, String)>,
    /// streams whose reader's response ended
    parted: Vec<(String, u64, u16)>,
    /// which client is in which scope, and the words that nobody else may hear
    pub scopes: BTreeMap<PeerId, String>,
    pub words: Vec<(String, String)>,
}

fn field<'a>(headers: &'a Headers, name: &str) -> Option<&'a str> {
    headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

fn accepts(headers: &Headers, kind: &str) -> bool {
    field(headers, "accept").is_none_or(|accept| accept.contains(kind) || accept.contains("*/*"))
}

fn is_modern(headers: &Headers) -> bool {
    field(headers, "mcp-protocol-version") == Some("2026-07-28")
}

impl Served {
    pub fn new(config: &Config) -> Self {
        Self { config: config.clone(), ..Self::default() }
    }

    /// Notes what is about to be posted.
    pub fn expect(&mut self, request: RequestId, posting: Posting) {
        self.postings.insert(request, posting);
    }

    pub fn runs(&self, request: RequestId) -> bool {
        self.requests.contains_key(&request)
    }

    pub fn running(&self) -> Vec<RequestId> {
        self.requests.keys().copied().collect()
    }

    /// A new client. A new scope connects the agents of the configuration, for nobody in particular.
    fn client(&mut self, scope: &str, cause: &mut Cause) -> PeerId {
        self.clients += 1;
        cause.connects |= self.opened.insert(scope.to_owned());
        let peer = PeerId(FIRST + self.clients);
        self.scopes.insert(peer, scope.to_owned());
        peer
    }

    fn admit_address(&self, headers: &Headers) -> Result<(), u16> {
        let hosts: Vec<&str> =
            headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("host")).map(|(_, value)| value.as_str()).collect();
        let near = |name: &str| name.starts_with("localhost") || name.starts_with("127.0.0.1") || name.starts_with("[::1]");
        let [host] = hosts[..] else { return Err(403) };
        if !near(host) {
            return Err(403);
        }
        let origin = field(headers, "origin").unwrap_or("http://localhost");
        let configured = self.config.server.cors_origins.iter().any(|known| known == origin);
        if configured || origin.strip_prefix("http://").is_some_and(near) { Ok(()) } else { Err(403) }
    }

    fn principal(&self, headers: &Headers) -> Result<String, u16> {
        let tokens = &self.config.server.tokens;
        if tokens.is_empty() {
            return Ok("local".to_owned());
        }
        let shown = field(headers, "authorization").and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        tokens.iter().find(|token| token.token == shown).map(|token| token.principal.clone()).ok_or(401)
    }

    /// The session that a head names.
    fn session(&mut self, principal: &str, headers: &Headers, now: Instant) -> Result<String, u16> {
        let name = field(headers, "mcp-session-id").ok_or(400_u16)?;
        if field(headers, "mcp-protocol-version").is_some_and(|version| !VERSIONS.contains(&version)) {
            return Err(400);
        }
        match self.sessions.get_mut(name).filter(|session| session.principal == principal) {
            Some(session) => {
                session.used = now;
                Ok(name.to_owned())
            }
            None => Err(404),
        }
    }

    fn waiting(&mut self, request: RequestId) -> &mut Waiting {
        match &mut self.requests.get_mut(&request).expect("a request that runs").stage {
            Stage::Waiting(waiting) => waiting,
            Stage::Refused | Stage::Body(..) => panic!("request {} waits for nothing", request.0),
        }
    }
}

impl Watch {
    /// Takes in what happened to a request, and notes what must come of it.
    pub(super) fn asked(&mut self, input: &Input, cause: &mut Cause) {
        match input {
            Input::Request { request, method, target, headers } => {
                let asked = Asked {
                    principal: String::new(),
                    stage: Stage::Refused,
                    status: None,
                    streaming: false,
                    body: String::new(),
                };
                self.served.requests.insert(*request, asked);
                if let Err(status) = self.admit(*request, method, target, headers) {
                    self.served.owed.push((*request, Owed::Status(status)));
                }
            }
            Input::RequestBody { request, bytes } => self.more(*request, bytes),
            Input::RequestEnd { request } => self.whole(*request, cause),
            Input::RequestGone { request } => self.gone(*request, cause),
            Input::Stop => {
                self.served.stopping = true;
                let open: Vec<_> = self.served.requests.iter().map(|(request, asked)| (*request, owed_at_stop(asked))).collect();
                self.served.owed.extend(open);
            }
            Input::Open { .. } | Input::Message { .. } | Input::MessageTooLong { .. } | Input::Closed { .. } => {}
            Input::Head { .. } | Input::Body { .. } | Input::End { .. } | Input::Failed { .. } | Input::Tick => {}
            Input::Update { .. }
            | Input::WorkEnd { .. }
            | Input::WorkFailed { .. }
            | Input::Link { .. }
            | Input::Directory(_)
            | Input::Pins(_)
            | Input::Authorize { .. }
            | Input::Decision { .. }
            | Input::Configure { .. } => {}
        }
    }

    fn admit(&mut self, request: RequestId, method: &str, target: &str, headers: &Headers) -> Result<(), u16> {
        let served = &mut self.served;
        served.admit_address(headers)?;
        let limits = &served.config.limits;
        if served.stopping {
            return Err(503);
        }
        if headers.iter().map(|(name, value)| name.len() + value.len() + 4).sum::<usize>() as u64 > limits.header_bytes {
            return Err(431);
        }
        let path = target.split('?').next().unwrap_or_default().trim_end_matches('/');
        if method == "OPTIONS" {
            return Err(204);
        }
        if path == "/healthz" {
            return Err(if method == "GET" || method == "HEAD" { 200 } else { 405 });
        }
        let principal = served.principal(headers)?;
        if served.requests.values().filter(|asked| asked.principal == principal).count() as u64 >= limits.requests {
            return Err(503);
        }
        let request_bytes = limits.request_bytes;
        served.requests.get_mut(&request).unwrap().principal.clone_from(&principal);
        match (path, method) {
            ("/mcp", "POST") => {
                let kind = field(headers, "content-type").unwrap_or_default();
                if kind.split(';').next() != Some("application/json") {
                    return Err(415);
                }
                if !accepts(headers, "application/json") || !accepts(headers, "text/event-stream") {
                    return Err(406);
                }
                let length = field(headers, "content-length").and_then(|length| length.parse::<u64>().ok());
                if length.is_some_and(|length| length > request_bytes) {
                    return Err(413);
                }
                served.requests.get_mut(&request).unwrap().stage = Stage::Body(headers.clone(), Vec::new());
                Ok(())
            }
            ("/mcp", "GET") => self.listen(request, &principal, headers),
            ("/mcp", "DELETE") if is_modern(headers) => Err(405),
            ("/mcp", "DELETE") => {
                let name = self.served.session(&principal, headers, self.now)?;
                self.end_session(&name);
                Err(204)
            }
            ("/mcp", _) => Err(405),
            _ => Err(404),
        }
    }

    fn listen(&mut self, request: RequestId, principal: &str, headers: &Headers) -> Result<(), u16> {
        if is_modern(headers) || field(headers, "mcp-session-id").is_none() {
            return Err(405);
        }
        if !accepts(headers, "text/event-stream") {
            return Err(406);
        }
        let name = self.served.session(principal, headers, self.now)?;
        let session = self.served.sessions.get_mut(&name).unwrap();
        let peer = session.peer;
        let (stream, next_event) = match field(headers, "last-event-id") {
            None => (session.open(request, Vec::new()), 0),
            Some(last) => {
                let (stream, event) = event_id(last).ok_or(400_u16)?;
                let log = session.streams.get_mut(&stream).ok_or(400_u16)?;
                if event >= log.events.len() as u64 {
                    return Err(400);
                }
                (stream, event + 1)
            }
        };
        let log = session.streams.get(&stream).unwrap();
        let (calls, standing, resumes) = (log.calls.clone(), log.standing, next_event > 0);
        // What was seen of it may be forgotten where little is kept.
        let scarce = self.served.config.limits.session_event_bytes < 1 << 20 && resumes;
        self.served.owed.push((request, if scarce { Owed::Anything } else { Owed::Stream }));
        self.wait(request, peer, Some((name, stream)), calls, false);
        let waiting = self.served.waiting(request);
        (waiting.standing, waiting.next_event, waiting.resumes) = (standing, next_event, resumes);
        Ok(())
    }

    fn more(&mut self, request: RequestId, more: &[u8]) {
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
    fn whole(&mut self, request: RequestId, cause: &mut Cause) {
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

    /// Whether it is to be told which sessions are left.
    pub fn is_in_doubt(&self) -> bool {
        !self.served.doubtful.is_empty()
    }

    /// Ends the sessions that made room.
    pub fn keep_sessions(&mut self, is_left: impl Fn(&str) -> bool) {
        for name in std::mem::take(&mut self.served.doubtful) {
            if !is_left(&name) {
                self.end_session(&name);
            }
        }
        self.served.owed.clear();
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

    fn wait(&mut self, request: RequestId, peer: PeerId, stream: Option<(String, u64)>, calls: Vec<u64>, batch: bool) {
        if batch {
            // The answers to a batch wait for each other, until it becomes a stream.
            calls.iter().for_each(|call| self.calls.get_mut(call).unwrap().unread = true);
        }
        let comment_at = self.now.plus_ms(COMMENT_MS);
        let (opens, standing, next_event, resumes) = (None, false, 0, false);
        let waiting = Waiting { peer, stream, opens, calls, standing, batch, next_event, comment_at, resumes };
        self.served.requests.get_mut(&request).unwrap().stage = Stage::Waiting(waiting);
    }

    /// Whoever asked left.
    fn gone(&mut self, request: RequestId, cause: &mut Cause) {
        self.served.postings.remove(&request);
        let Some(Asked { stage: Stage::Waiting(waiting), .. }) = self.served.requests.remove(&request) else { return };
        if let Some((name, stream)) = &waiting.stream {
            if let Some(session) = self.served.sessions.get_mut(name) {
                session.leave(*stream);
            }
            for call in &waiting.calls {
                self.calls.get_mut(call).unwrap().unread = true;
            }
            return;
        }
        for number in &waiting.calls {
            let call = self.calls.get_mut(number).unwrap();
            if call.life == Life::Running {
                call.life = Life::Cancelled;
                cause.cancelled = Some(*number);
            }
        }
        self.forget_client(waiting.peer);
    }

    fn forget_client(&mut self, peer: PeerId) {
        self.peers.remove(&peer);
        self.requests.retain(|(known, _), _| *known != peer);
    }

    /// A session ends with all that is in it.
    fn end_session(&mut self, name: &str) {
        let Some(session) = self.served.sessions.remove(name) else { return };
        self.served.owed.extend(session.streams.values().filter_map(|log| log.reader).map(|reader| (reader, Owed::End)));
        for call in self.calls.values_mut().filter(|call| call.peer == session.peer) {
            call.detached = false;
            if call.life == Life::Running {
                call.life = Life::Lost;
            }
        }
        self.scopes_gone.push(self.served.scopes[&session.peer].clone());
        self.forget_client(session.peer);
    }

    /// Takes a piece of a response in.
    pub(super) fn serves(&mut self, output: &Output) {
        match output {
            Output::ResponseHead { request, status, headers } => self.head(*request, *status, headers),
            Output::ResponseBody { request, text } => {
                let asked = self.served.requests.get_mut(request).expect("a body belongs to a request that runs");
                assert!(asked.status.is_some(), "the head comes before the body");
                if !asked.streaming {
                    return asked.body.push_str(text);
                }
                assert!(text.ends_with("\n\n"), "events are told whole: {text:?}");
                text.split_inclusive("\n\n").for_each(|event| self.event(*request, event));
            }
            Output::ResponseEnd { request } => self.end(*request),
            Output::Message { .. } | Output::Fetch { .. } | Output::Abort { .. } | Output::Notice(_) => {}
            Output::Save(_)
            | Output::Work { .. }
            | Output::WorkAbort { .. }
            | Output::Link { .. }
            | Output::Tokens { .. }
            | Output::Lookup(_) => {}
        }
    }

    fn head(&mut self, request: RequestId, status: u16, headers: &Headers) {
        let asked = self.served.requests.get_mut(&request).expect("a head belongs to a request that runs");
        assert_eq!(asked.status.replace(status), None, "a response has one head");
        asked.streaming = field(headers, "content-type") == Some("text/event-stream");
        let principal = asked.principal.clone();
        let name = field(headers, "mcp-session-id");
        let Stage::Waiting(waiting) = &mut asked.stage else {
            assert_eq!(name, None, "only an accepted handshake names a session");
            return;
        };
        if waiting.batch && status == 200 {
            waiting.calls.iter().for_each(|call| self.calls.get_mut(call).unwrap().unread = false);
        }
        if waiting.resumes && status == 200 {
            let (stream, calls) = (waiting.stream.clone(), waiting.calls.clone());
            calls.iter().for_each(|call| self.calls.get_mut(call).unwrap().unread = false);
            let (name, stream) = stream.unwrap();
            self.served.sessions.get_mut(&name).unwrap().streams.get_mut(&stream).unwrap().reader = Some(request);
        }
        let Some(version) = waiting.opens.take().filter(|_| status != 503) else {
            assert_eq!(name, None, "only a handshake names a session");
            return;
        };
        let (peer, calls) = (waiting.peer, waiting.calls.clone());
        let name = name.expect("a handshake names its session").to_owned();
        waiting.stream = Some((name.clone(), 1));
        under(Rule::Restore, || assert!(self.served.names.insert(name.clone()), "the name of a session comes once: {name}"));
        let mut session = Session::new(principal, peer, version, self.now);
        session.open(request, calls);
        self.served.words.push((self.served.scopes[&peer].clone(), name.clone()));
        self.served.sessions.insert(name, session);
    }

    fn event(&mut self, request: RequestId, event: &str) {
        let now = self.now;
        let Some(Asked { stage: Stage::Waiting(waiting), .. }) = self.served.requests.get_mut(&request) else {
            panic!("an event for nobody: {event}")
        };
        if event.starts_with(':') {
            waiting.comment_at = now.plus_ms(COMMENT_MS);
            return;
        }
        let line = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
        let (id, data, peer) = (line("id: "), line("data:").unwrap_or_default(), waiting.peer);
        let scarce = self.served.config.limits.session_event_bytes < 1 << 20 && waiting.resumes;
        match &waiting.stream {
            Some((name, stream)) => {
                if let Some((_, number)) = id.as_deref().and_then(event_id).filter(|_| scarce) {
                    waiting.next_event = waiting.next_event.max(number);
                }
                let expected = format!("{stream}-{}", waiting.next_event);
                assert_eq!(id.as_deref(), Some(expected.as_str()), "no event twice, none lost: {event}");
                waiting.next_event += 1;
                let (number, name, stream) = (waiting.next_event - 1, name.clone(), *stream);
                let is_new =
                    self.served.sessions.get_mut(&name).is_none_or(|session| session.event(stream, number, event, scarce));
                if !is_new {
                    return;
                }
            }
            None => assert_eq!(id, None, "no event of this era can be asked for again: {event}"),
        }
        let data = data.trim_start();
        if !data.is_empty() {
            self.check_words(peer, data);
            self.said(peer, data);
        }
    }

    fn end(&mut self, request: RequestId) {
        let asked = self.served.requests.remove(&request).expect("an end belongs to a request that runs");
        let status = asked.status.expect("the head comes before the end");
        self.served.ended.insert(request, status);
        let Stage::Waiting(waiting) = asked.stage else { return };
        if !asked.streaming {
            self.ended_plainly(&waiting, status, &asked.body);
        }
        match &waiting.stream {
            Some((name, stream)) => {
                let log = self.served.sessions.get_mut(name).and_then(|session| session.streams.get_mut(stream));
                if let Some(log) = log.filter(|log| log.reader == Some(request)) {
                    log.reader = None;
                    self.served.parted.push((name.clone(), *stream, status));
                }
            }
            None if status == 503 && !asked.streaming => {
                // There was no room for one more session.
                waiting.calls.iter().for_each(|call| self.calls.get_mut(call).unwrap().life = Life::Lost);
                self.forget_client(waiting.peer);
            }
            None => {
                let open = waiting.calls.iter().find(|call| self.calls[call].life == Life::Running);
                assert_eq!(open, None, "every call of a response is answered by it");
                self.forget_client(waiting.peer);
            }
        }
    }

    /// A response that is no stream: one answer, those of a batch, or a refusal of the whole.
    fn ended_plainly(&mut self, waiting: &Waiting, status: u16, body: &str) {
        if json::parse(body, 200).is_err() {
            // In plain words: the session ended, the gateway stops, or the stream has another reader.
            assert!([400, 404, 503].contains(&status), "{status} {body}");
            return;
        }
        self.check_words(waiting.peer, body);
        let list = json::elements(raw(body)).map(|list| list.iter().map(|element| element.get().to_owned()).collect());
        assert_eq!(list.is_some(), waiting.batch, "a batch is answered by a list, a call by an object: {body}");
        let list: Vec<String> = list.unwrap_or_else(|| vec![body.to_owned()]);
        let code = at(&list[0], &["error", "code"]);
        let is_modern = waiting.stream.is_none();
        let expected = match code.as_deref() {
            Some("-32601") if is_modern => 404,
            Some("-32020" | "-32022") if is_modern => 400,
            Some(_) | None => 200,
        };
        assert_eq!(status, expected, "{body}");
        list.iter().for_each(|text| self.said(waiting.peer, text));
    }

    /// After the outputs of a step: what had to come of it came, and no response waits for nothing.
    pub(super) fn owed(&mut self) {
        for (request, owed) in std::mem::take(&mut self.served.owed) {
            let ended = self.served.ended.get(&request).copied();
            let asked = self.served.requests.get(&request);
            match owed {
                Owed::Status(status) => assert_eq!(ended, Some(status), "the status of request {}", request.0),
                Owed::End => assert!(ended.is_some(), "request {} ends", request.0),
                Owed::Stream => {
                    let streams = asked.is_some_and(|asked| asked.streaming);
                    assert!(streams || ended == Some(200), "request {} is answered by a stream", request.0);
                }
                Owed::Anything => {}
            }
        }
        for (request, name) in std::mem::take(&mut self.served.doubts) {
            // The id was free: the answer had a stream of its own.
            let session = self.served.sessions.get_mut(&name);
            if let Some(session) = session.filter(|_| self.served.ended.get(&request) == Some(&200)) {
                let stream = session.open(request, Vec::new());
                session.leave(stream);
            }
        }
        self.served.ended.clear();
        // A stream ends before its answers only where another reader goes on with it, or where the gateway stops.
        for (name, stream, status) in std::mem::take(&mut self.served.parted) {
            let Some(log) = self.served.sessions.get(&name).and_then(|session| session.streams.get(&stream)) else { continue };
            let open = log.calls.iter().find(|call| self.calls[call].life == Life::Running);
            let excused = log.reader.is_some() || self.served.stopping && status == 503;
            if let Some(call) = open.filter(|_| !excused) {
                let call = self.calls.get_mut(call).unwrap();
                assert!(call.late_cancel, "not answered: {call:?}");
                call.life = Life::Cancelled;
            }
        }
        for (request, asked) in &self.served.requests {
            match &asked.stage {
                Stage::Refused => panic!("request {} was refused and goes on", request.0),
                Stage::Body(..) => assert_eq!(asked.status, None, "a body that is not whole has no answer"),
                Stage::Waiting(waiting) => {
                    let open = waiting.calls.iter().any(|call| self.calls[call].life == Life::Running);
                    assert!(open || waiting.standing, "request {} waits for nothing", request.0);
                }
            }
        }
    }

    /// What holds between two inputs.
    pub(super) fn serving_at_rest(&self, timeout: Option<Instant>) {
        for asked in self.served.requests.values() {
            if let Stage::Waiting(waiting) = &asked.stage {
                assert!(waiting.comment_at > self.now, "an open response is not silent for long");
                assert!(timeout.is_some_and(|at| at <= waiting.comment_at), "it is woken for the next comment");
            }
        }
    }

    /// All connections are gone, sessions are not; what ran in them was ended.
    pub(super) fn serving_restarted(&mut self) {
        self.served.stopping = false;
        self.served.postings.clear();
        for (_, asked) in std::mem::take(&mut self.served.requests) {
            let Stage::Waiting(waiting) = asked.stage else { continue };
            if waiting.stream.is_none() {
                for number in &waiting.calls {
                    self.calls.get_mut(number).unwrap().life = Life::Lost;
                }
                self.forget_client(waiting.peer);
            }
        }
        let now = self.now;
        let peers: Vec<PeerId> = self.served.sessions.values().map(|session| session.peer).collect();
        for session in self.served.sessions.values_mut() {
            session.used = now;
            session.streams.values_mut().for_each(|log| log.reader = None);
        }
        for call in self.calls.values_mut().filter(|call| peers.contains(&call.peer) && call.life == Life::Running) {
            (call.unread, call.due) = (true, Some(now));
        }
    }

    /// Nobody hears a word of another scope.
    pub(super) fn check_words(&self, peer: PeerId, text: &str) {
        let own = self.served.scopes.get(&peer);
        under(Rule::Secrets, || {
            for (scope, word) in self.served.words.iter().filter(|(scope, _)| Some(scope) != own) {
                assert!(!text.contains(word.as_str()), "{word} of {scope} is told to {own:?}: {text}");
            }
        });
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

fn owed_at_stop(asked: &Asked) -> Owed {
    match asked.stage {
        Stage::Body(..) => Owed::Status(503),
        Stage::Refused | Stage::Waiting(_) => Owed::End,
    }
}

impl Stage {
    fn body_bytes(&self) -> usize {
        match self {
            Self::Body(_, bytes) => bytes.len(),
            Self::Refused | Self::Waiting(_) => 0,
        }
    }
}
