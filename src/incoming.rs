//! Incoming HTTP: requests that run, sessions, and the streams that answer them.

pub mod access;
pub mod mcp;
pub mod sessions;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::a2a::Dialect;
use crate::a2a::asked::Place;
use crate::call::CallId;
use crate::directory::Question;
use crate::io::{Headers, LookupId, PeerId, RequestId};
use crate::json::Json;
use crate::mcp::era::Era;
use crate::plain;
use crate::served::TaskNumber;
use crate::table::{Table, Tracked};
use crate::time::Instant;

/// How often an open stream gets a comment, so that nothing in between takes it for dead.
pub const KEEP_ALIVE_MS: u64 = 15_000;

/// The requests and sessions of the HTTP face.
#[derive(Debug, Default)]
pub struct Incoming {
    /// the requests that run
    pub requests: Table<RequestId, Served>,
    /// the sessions of the handshake era
    pub sessions: Tracked<String, sessions::HttpSession>,
    /// the sessions by their peers
    pub session_of: Table<PeerId, String>,
    /// the requests of peers that live as long as their one request
    pub alone: Table<PeerId, RequestId>,
    /// when the next comment is due, or the time of what gives none is up
    pub keep_alive: Table<(Instant, RequestId), ()>,
    /// whether the gateway is stopping
    pub stopping: bool,
    /// bytes of the bodies that are taken in, by principal
    pub body_bytes: Table<String, u64>,
    peers: u64,
}

/// Peers of the HTTP face have numbers that no host can give.
const FIRST_PEER: u64 = 1 << 53;

impl Incoming {
    /// The number of a new peer.
    pub fn peer(&mut self) -> PeerId {
        self.peers += 1;
        PeerId(FIRST_PEER + self.peers)
    }

    /// The next comment on the response to a request is due when it was silent for a while from now; whether it is one
    /// that waits or watches.
    pub fn comment_later(&mut self, request: RequestId, now: Instant) -> bool {
        let next = now.plus_ms(KEEP_ALIVE_MS);
        let Some(served) = self.requests.get_mut(&request) else { return false };
        let before = match &mut served.stage {
            Stage::Waiting(Waiting { comment_at, .. }) | Stage::Watching(Watching { comment_at, .. }) => {
                core::mem::replace(comment_at, next)
            }
            Stage::Body { .. } | Stage::Refused | Stage::Calling(_) | Stage::Looking(_) => return false,
        };
        self.keep_alive.remove(&(before, request));
        self.keep_alive.insert((next, request), ());
        true
    }

    /// Forgets a request, with what it waits for.
    pub fn remove(&mut self, request: RequestId) -> Option<Served> {
        self.take_body(request);
        let served = self.requests.remove(&request)?;
        match &served.stage {
            Stage::Waiting(Waiting { comment_at, .. }) | Stage::Watching(Watching { comment_at, .. }) => {
                self.keep_alive.remove(&(*comment_at, request));
            }
            Stage::Looking(looking) => {
                self.keep_alive.remove(&(looking.until, request));
            }
            Stage::Body { .. } | Stage::Refused | Stage::Calling(_) => {}
        }
        Some(served)
    }

    /// The header fields and the body of a request that was taken in.
    pub fn take_body(&mut self, request: RequestId) -> Option<(Headers, Vec<u8>, Endpoint)> {
        let Served { principal, stage, .. } = self.requests.get_mut(&request)?;
        match core::mem::replace(stage, Stage::Refused) {
            Stage::Body { headers, bytes, to } => {
                if let Some(taken) = self.body_bytes.get_mut(principal.as_str()) {
                    *taken -= u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                }
                Some((headers, bytes, to))
            }
            other @ (Stage::Refused | Stage::Waiting(_) | Stage::Watching(_) | Stage::Calling(_) | Stage::Looking(_)) => {
                *stage = other;
                None
            }
        }
    }

    /// Whether as many requests of a principal run as that.
    #[must_use]
    pub fn is_full(&self, principal: &str, limit: u64) -> bool {
        let theirs = || self.requests.values().filter(|served| served.principal == principal).count();
        self.requests.len() > limit && u64::try_from(theirs()).unwrap_or(u64::MAX) >= limit
    }

    /// The sessions of a principal.
    pub fn sessions_of(&self, principal: &str) -> impl Iterator<Item = (&String, &sessions::HttpSession)> {
        self.sessions.iter().filter(move |(_, session)| session.principal == principal)
    }

    /// How many peers there were, for a snapshot.
    #[must_use]
    pub const fn peers(&self) -> u64 {
        self.peers
    }

    /// Takes up the count of a snapshot; it never goes back.
    pub fn restore_peers(&mut self, peers: u64) {
        self.peers = self.peers.max(peers);
    }
}

/// The scope of a principal, or of one of its sessions. The name of a session is as good as a password, so it is no part
/// of that.
#[must_use]
pub fn scope_of(principal: &str, session: Option<PeerId>) -> String {
    match session {
        Some(peer) => format!("http/{principal}/{}", peer.0.saturating_sub(FIRST_PEER)),
        None => format!("http/{principal}"),
    }
}

/// The principal of a scope of the HTTP face.
#[must_use]
pub fn principal_of(scope: &str) -> Option<&str> {
    scope.strip_prefix("http/")?.split('/').next()
}

/// Whether a scope is that of something that ends: a peer, or over HTTP a session. That of a principal goes on for ever.
#[must_use]
pub fn is_session(scope: &str) -> bool {
    !scope.is_empty() && scope.strip_prefix("http/").is_none_or(|rest| rest.contains('/'))
}

/// A peer that nobody is: on whose behalf a principal's agents are connected and called when no peer of its asked.
pub const NOBODY: PeerId = PeerId(FIRST_PEER);

/// Whether a peer is one of the HTTP face.
#[must_use]
pub const fn is_http(peer: PeerId) -> bool {
    peer.0 >= FIRST_PEER
}

/// A request that runs.
#[derive(Debug)]
pub struct Served {
    /// on whose behalf
    pub principal: String,
    /// header fields that every response to it carries
    pub common: Headers,
    /// how it is refused
    pub face: Face,
    /// how far it is
    pub stage: Stage,
}

/// How refusals are written, which what is served at the path decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// in plain words
    Words,
    /// as errors of JSON-RPC
    Rpc,
    /// as errors of HTTP+JSON
    Rest(Dialect),
    /// as errors of the plain task API
    Plain,
}

/// How far a request is.
#[derive(Debug)]
pub enum Stage {
    /// its body is taken in
    Body {
        /// its header fields
        headers: Headers,
        /// the body so far
        bytes: Vec<u8>,
        /// what it is for
        to: Endpoint,
    },
    /// it was answered; what still comes of its body is not wanted
    Refused,
    /// its answer is awaited
    Waiting(Waiting),
    /// it watches a task
    Watching(Watching),
    /// an agent is asked for it
    Calling(CallId),
    /// the host looks into its directory
    Looking(Box<Looking>),
}

/// What a body is for.
#[derive(Clone, Debug)]
pub enum Endpoint {
    /// MCP
    Mcp,
    /// A2A over JSON-RPC, with the query
    Rpc(String),
    /// A2A over HTTP+JSON
    Rest(Box<Place>),
    /// the plain task API
    Plain(Box<plain::Place>),
    /// the directory, with the name of a card
    Card(String),
    /// a decision about an approval: which, and whether it is a yes
    Decision(Box<(String, bool)>),
}

/// A page of the directory that is asked for.
#[derive(Clone, Debug)]
pub struct Looking {
    /// the look into the host's directory, once there is one
    pub lookup: Option<LookupId>,
    /// until when the host may look
    pub until: Instant,
    /// what is asked
    pub question: Question,
    /// whether the answer is an object with its token, else it is the cards alone with a link
    pub with_token: bool,
    /// the versions that the client has
    pub known: String,
}

/// A response about a served task that is not complete.
#[derive(Clone, Debug)]
pub struct Watching {
    /// the task
    pub task: TaskNumber,
    /// how it is written
    pub form: Form,
    /// whether it is a stream of events; else it is the one answer to a message
    pub stream: bool,
    /// how many turns of the task's history the answer shows
    pub turns: u64,
    /// whether the stream has begun
    pub begun: bool,
    /// when the next comment is due
    pub comment_at: Instant,
}

/// How a response of A2A is written.
#[derive(Clone, Debug)]
pub struct Form {
    /// version and binding
    pub dialect: Dialect,
    /// the id of the request over JSON-RPC; none where no answer is wanted
    pub id: Option<Json>,
    /// the media type over HTTP+JSON (A2A 1.0.1 §11.1)
    pub media_type: &'static str,
    /// where the gateway is as its caller sees it, where that is asked for
    pub base: String,
    /// the id that the task is shown under, where it is told as the plain task API tells it
    pub plain: Option<String>,
}

/// A response that is not complete.
#[derive(Debug)]
pub struct Waiting {
    /// the peer whose messages it carries
    pub peer: PeerId,
    /// the session and its stream, in the handshake era
    pub stream: Option<(String, u64)>,
    /// the era of the request
    pub era: Era,
    /// the ids of the requests that are not answered, literally
    pub open: Vec<String>,
    /// whether it goes on when nothing is open
    pub standing: bool,
    /// whether it has become a stream of events
    pub streaming: bool,
    /// whether it answers a batch
    pub batch: bool,
    /// answers that came before it became a stream
    pub answers: Vec<Message>,
    /// when the next comment is due
    pub comment_at: Instant,
}

/// A message of the gateway to a peer of the HTTP face.
#[derive(Clone, Debug)]
pub struct Message {
    /// to whom
    pub peer: PeerId,
    /// the id of the request it belongs to, literally
    pub about: Option<String>,
    /// whether it answers that request
    pub last: bool,
    /// the code of an error
    pub code: Option<i64>,
    /// the text, on one line
    pub text: Json,
}
