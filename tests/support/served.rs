//! The books of incoming HTTP: a small model of who is let in and what must come of each request, and what was answered.

use std::collections::{BTreeMap, BTreeSet};

use narrows::config::Config;
use narrows::io::{Headers, Input, PeerId, RequestId};
use narrows::time::Instant;

use super::rule::{Rule, under};
use super::session::Session;
use super::watch::{Call, Cause, Life, Watch};

mod admission;
mod posting;
mod response;

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

fn owed_at_stop(asked: &Asked) -> Owed {
    match asked.stage {
        Stage::Body(..) => Owed::Status(503),
        Stage::Refused | Stage::Waiting(_) => Owed::End,
    }
}
