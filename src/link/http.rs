//! A server at a URL: Streamable HTTP (MCP 2025-03-26 and later), and HTTP with events (MCP 2024-11-05).
//!
//! Each message goes out as a request of its own. What comes back is told in terms of the link: messages, requests that
//! will not be answered, a session that ended.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Outside;
use super::again::Again;
use super::catalog::ServerNumber;
use crate::base64;
use crate::exchange::{Failure, Owner, Plan, Reply, Report, Want};
use crate::http;
use crate::io::{ExchangeId, Headers, Method};
use crate::json::{self, Json, Raw};
use crate::mcp::era::{Era, MODERN_VERSIONS};
use crate::oauth::Challenge;
use crate::registry::Credentials;
use crate::table::Table;
use crate::time::Instant;
use crate::url::Url;

/// How long a stream that broke is left alone where it does not say itself.
const RETRY_MS: u64 = 1000;
/// The bounds of what it may say.
const LEAST_RETRY_MS: u64 = 100;
const MOST_RETRY_MS: u64 = 3_600_000;

/// How often a session may be over because its stream is unknown. More often there is no stream, as at servers without any.
const RENEWAL_MS: u64 = 60_000;

/// How often a stream is taken up again without anything new on it.
const RESUMPTIONS: u32 = 5;

/// The name of the header field of a session.
const SESSION: &str = "Mcp-Session-Id";
const VERSION: &str = "MCP-Protocol-Version";

/// What a request over HTTP was for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum For {
    /// the answer to a request of JSON-RPC
    Answer(u64),
    /// nothing that is waited for
    Nothing,
    /// what the server says unasked
    Standing,
}

#[derive(Clone, Debug)]
struct Posted {
    wanted: For,
    /// the session that it was made in
    session: Option<String>,
    last_event: Option<String>,
    resumptions: u32,
    /// the number of the token that went with it
    token: u64,
    /// how it went before, where it is for what is said unasked
    again: Again,
}

/// A message that goes out.
#[derive(Debug)]
pub struct Sent<'m> {
    /// the text
    pub text: Json,
    /// the id, where it is a request
    pub id: Option<u64>,
    /// its method; nothing for an answer
    pub method: &'m str,
    /// what it is about: the name of a tool
    pub name: Option<&'m str>,
    /// further header fields
    pub headers: Headers,
}

/// What came of it.
#[derive(Debug)]
pub enum Heard {
    /// a message, or several, and the request on whose stream it came
    Message(String, Option<u64>),
    /// all that is answered to a request
    Answer {
        /// which
        id: u64,
        /// the status of HTTP
        status: u16,
        /// a message, or several, if it is any
        body: String,
    },
    /// the session is over, as the stream of what is said unasked says
    SessionOver,
    /// there will be no answer to a request
    Unanswered {
        /// to which
        id: u64,
        /// why
        why: Why,
    },
    /// the server wants a token, or one that reaches further
    Refused {
        /// which request it was
        id: Option<u64>,
        /// what it says
        refusal: Refusal,
    },
    /// the server has told where messages go
    Endpoint,
    /// nothing more can be said to it
    Lost(String),
}

/// A server does not take a token, or the lack of one.
#[derive(Debug)]
pub struct Refusal {
    /// whether the token is good, and does not reach far enough
    pub is_insufficient: bool,
    /// what it wants
    pub challenge: Challenge,
    /// whether the token was the one in use
    pub is_current: bool,
}

/// Why there is no answer.
#[derive(Clone, Debug)]
pub enum Why {
    /// an answer of HTTP
    Status(u16, String),
    /// the session is over; whether it was the one in use
    Session(bool),
    /// anything else, in words
    Words(String),
}

/// The connection to a server at a URL.
#[derive(Debug)]
pub struct HttpWire {
    number: ServerNumber,
    url: Url,
    fields: Headers,
    /// whether answers come on one stream that was asked for before
    pub events: bool,
    endpoint: Option<Url>,
    session: Option<String>,
    version: Option<String>,
    open: Table<ExchangeId, Posted>,
    later: Vec<(Instant, Posted)>,
    /// when a session was last taken to be over because its stream is unknown
    given_up_at: Option<Instant>,
    /// whether the server is told by a token who asks
    pub authorizes: bool,
    /// the token, and its number
    token: Option<String>,
    token_number: u64,
}

impl HttpWire {
    /// A wire that nothing was said on.
    #[must_use]
    pub fn new(number: ServerNumber, url: Url, fields: Headers, events: bool) -> Self {
        let (open, later) = (Table::new(), Vec::new());
        let (endpoint, session, version, token) = (None, None, None, None);
        let (authorizes, token_number, given_up_at) = (false, 0, None);
        Self {
            number,
            url,
            fields,
            events,
            endpoint,
            session,
            version,
            open,
            later,
            given_up_at,
            authorizes,
            token,
            token_number,
        }
    }

    /// Forgets all that was agreed on, and gives up what runs.
    pub fn reset(&mut self, out: &mut Outside<'_>) {
        for (exchange, _) in core::mem::take(&mut self.open).iter() {
            out.exchanges.abort(out.ground, *exchange);
        }
        self.later.clear();
        (self.session, self.version, self.endpoint) = (None, None, None);
    }

    /// The token that later requests have.
    pub fn authorize(&mut self, token: Option<&str>, number: u64) {
        (self.token, self.token_number) = (token.map(ToString::to_string), number);
    }

    /// Where the server is.
    #[must_use]
    pub const fn url(&self) -> &Url {
        &self.url
    }

    /// Which server it is.
    #[must_use]
    pub const fn number(&self) -> ServerNumber {
        self.number
    }

    /// The version that later requests name.
    pub fn agree(&mut self, version: &str) {
        self.version = Some(version.to_string());
    }

    /// When something is due.
    #[must_use]
    pub fn due_at(&self) -> Option<Instant> {
        self.later.iter().map(|(at, _)| *at).min()
    }

    /// Takes up the streams whose time has come; whether something may have been said meanwhile that nobody heard.
    pub fn due(&mut self, out: &mut Outside<'_>) -> bool {
        let now = out.ground.now;
        let (due, later) = core::mem::take(&mut self.later).into_iter().partition(|(at, _)| *at <= now);
        self.later = later;
        let due: Vec<(Instant, Posted)> = due;
        let missed = due.iter().any(|(_, posted)| posted.wanted == For::Standing && posted.last_event.is_none());
        for (_, posted) in due {
            // An address that was called before is called again.
            let _ = self.get(out, posted);
        }
        missed
    }

    fn plan(&self, method: Method, url: Url, headers: Headers, body: Option<String>) -> Plan {
        let mut fields = self.fields.clone();
        fields.extend(self.token.iter().map(|token| ("Authorization".to_string(), format!("Bearer {token}"))));
        let credentials = Some(Credentials { origin: self.url.origin(), headers: fields });
        // What a server names lies at its own origin, so that nobody names anything else.
        let (registered, by_public, want) = (self.url.clone(), false, Want::Events);
        Plan { method, url, headers, body, credentials, registered, by_public, want }
    }

    fn agreed(&self, headers: &mut Headers) {
        for (name, value) in [(SESSION, &self.session), (VERSION, &self.version)] {
            if let Some(value) = value {
                headers.push((name.to_string(), value.clone()));
            }
        }
    }

    /// Asks for a stream.
    ///
    /// # Errors
    /// An address that is not called.
    fn get(&mut self, out: &mut Outside<'_>, posted: Posted) -> Result<(), Failure> {
        let mut headers = alloc::vec![("Accept".to_string(), "text/event-stream".to_string())];
        self.agreed(&mut headers);
        if let Some(id) = &posted.last_event {
            headers.push(("Last-Event-ID".to_string(), id.clone()));
        }
        let plan = self.plan(Method::Get, self.url.clone(), headers, None);
        let exchange = out.exchanges.start(out.ground, Owner::Link(self.number), plan)?;
        let mut posted = Posted { token: self.token_number, ..posted };
        posted.again.ask(out.ground.now);
        self.open.insert(exchange, posted);
        Ok(())
    }

    /// Asks for the stream of what the server says unasked, and where answers come on it, of everything.
    ///
    /// # Errors
    /// An address that is not called.
    pub fn listen(&mut self, out: &mut Outside<'_>) -> Result<(), Failure> {
        self.later.retain(|(_, posted)| posted.wanted != For::Standing);
        let earlier = self.open.iter().find(|(_, posted)| posted.wanted == For::Standing).map(|(exchange, _)| *exchange);
        if let Some(exchange) = earlier {
            self.open.remove(&exchange);
            out.exchanges.abort(out.ground, exchange);
        }
        let posted = self.posted(out, For::Standing);
        self.get(out, posted)
    }

    fn posted(&self, out: &Outside<'_>, wanted: For) -> Posted {
        let (session, token, again) = (self.session.clone(), self.token_number, Again::new(out.ground.now));
        Posted { wanted, session, last_event: None, resumptions: 0, token, again }
    }

    /// Sends a message.
    ///
    /// # Errors
    /// An address that is not called.
    pub fn post(&mut self, out: &mut Outside<'_>, era: Era, sent: Sent<'_>) -> Result<(), Failure> {
        let mut headers = alloc::vec![
            ("Content-Type".to_string(), "application/json".to_string()),
            ("Accept".to_string(), "application/json, text/event-stream".to_string()),
        ];
        match era {
            Era::Legacy => self.agreed(&mut headers),
            Era::Modern => {
                headers.push((VERSION.to_string(), MODERN_VERSIONS.first().copied().unwrap_or_default().to_string()));
                headers.push(("Mcp-Method".to_string(), sent.method.to_string()));
                headers.extend(sent.name.map(|name| ("Mcp-Name".to_string(), header_value(name))));
                headers.extend(sent.headers);
            }
        }
        let url = self.endpoint.clone().unwrap_or_else(|| self.url.clone());
        let plan = self.plan(Method::Post, url, headers, Some(sent.text.into_string()));
        let exchange = out.exchanges.start(out.ground, Owner::Link(self.number), plan)?;
        let posted = self.posted(out, sent.id.map_or(For::Nothing, For::Answer));
        self.open.insert(exchange, posted);
        Ok(())
    }

    /// Nobody waits for the answer to a request any more.
    pub fn give_up(&mut self, out: &mut Outside<'_>, id: u64) {
        let found = self.open.iter().find(|(_, posted)| posted.wanted == For::Answer(id)).map(|(exchange, _)| *exchange);
        // Answers that come on the one stream come on it all the same.
        if let Some(exchange) = found.filter(|_| !self.events) {
            self.open.remove(&exchange);
            out.exchanges.abort(out.ground, exchange);
        }
        self.later.retain(|(_, posted)| posted.wanted != For::Answer(id));
    }

    /// What an exchange says.
    pub fn report(&mut self, out: &mut Outside<'_>, exchange: ExchangeId, report: Report<'_>) -> Vec<Heard> {
        let Some(posted) = self.open.get_mut(&exchange) else { return Vec::new() };
        match report {
            Report::Event(event) => {
                if event.id.is_some() {
                    posted.last_event.clone_from(&event.id);
                }
                posted.resumptions = 0;
                posted.again.went_well();
                if self.session.is_none() && posted.session.is_none() {
                    self.session = http::header(out.exchanges.stream_headers(exchange), SESSION).map(String::from);
                }
                self.event(out, exchange, &event.event, &event.data)
            }
            Report::Closed(rest) => {
                let mut heard = match rest {
                    Some(event) => self.event(out, exchange, &event.event, &event.data),
                    None => Vec::new(),
                };
                if let Some(posted) = self.open.remove(&exchange) {
                    heard.extend(self.broke(out, posted, "ended its stream without an answer".to_string()));
                }
                heard
            }
            Report::Reply(reply) => {
                let Some(posted) = self.open.remove(&exchange) else { return Vec::new() };
                self.replied(out, posted, reply)
            }
            Report::Failed(failure) => {
                let Some(posted) = self.open.remove(&exchange) else { return Vec::new() };
                self.broke(out, posted, words(&failure))
            }
        }
    }

    fn event(&mut self, out: &mut Outside<'_>, exchange: ExchangeId, kind: &str, data: &str) -> Vec<Heard> {
        if kind == "endpoint" && self.events && self.endpoint.is_none() {
            let endpoint = self.url.join(data);
            // What a server names lies where the server is (MCP 2024-11-05, transports).
            let endpoint = endpoint.ok().filter(|url| url.origin() == self.url.origin());
            if endpoint.is_none() {
                self.open.remove(&exchange);
                out.exchanges.abort(out.ground, exchange);
                return alloc::vec![Heard::Lost("named an endpoint of another origin".to_string())];
            }
            self.endpoint = endpoint;
            return alloc::vec![Heard::Endpoint];
        }
        // An event without data has an id alone, for those who come back.
        if kind != "message" || data.is_empty() {
            return Vec::new();
        }
        let about = match self.open.get(&exchange).map(|posted| &posted.wanted) {
            Some(For::Answer(id)) if !self.events => Some(*id),
            Some(For::Answer(_) | For::Nothing | For::Standing) | None => None,
        };
        alloc::vec![Heard::Message(data.to_string(), about)]
    }

    /// A complete answer of HTTP.
    fn replied(&mut self, out: &mut Outside<'_>, posted: Posted, reply: Reply) -> Vec<Heard> {
        let is_ok = (200..300).contains(&reply.status);
        if is_ok && self.session.is_none() && posted.session.is_none() {
            self.session = http::header(&reply.headers, SESSION).map(String::from);
        }
        if let Some(refused) = self.refused(&posted, &reply) {
            return alloc::vec![refused];
        }
        let body = String::from_utf8_lossy(&reply.body).into_owned();
        let status = reply.status;
        match posted.wanted {
            // A server need not offer a stream; where answers come on it, it must.
            For::Standing if self.events => alloc::vec![Heard::Lost(format!("answered HTTP {status} instead of events"))],
            For::Standing => self.not_standing(out, posted, status),
            // Where answers come on another stream, 404 says that nobody listens to it there any more; some say 400.
            For::Nothing | For::Answer(_) if self.events && (status == 404 || status == 400 && error_of(&body).is_none()) => {
                alloc::vec![Heard::Lost(format!("answered HTTP {status}: its session is over"))]
            }
            For::Nothing => Vec::new(),
            For::Answer(_) if is_ok && self.events => Vec::new(),
            For::Answer(id) if is_ok && !body.trim().is_empty() => alloc::vec![Heard::Answer { id, status, body }],
            For::Answer(id) if is_ok => {
                alloc::vec![Heard::Unanswered { id, why: Why::Words(format!("answered HTTP {status} without an answer")) }]
            }
            // 404 says that a session is over (MCP 2025-03-26, transports). Some servers say 400.
            For::Answer(id) if posted.session.is_some() && is_session_over(status, &body, id) => {
                let is_current = self.session == posted.session;
                if is_current {
                    (self.session, self.version) = (None, None);
                }
                alloc::vec![Heard::Unanswered { id, why: Why::Session(is_current) }]
            }
            For::Answer(id) => alloc::vec![Heard::Unanswered { id, why: Why::Status(status, body) }],
        }
    }

    /// The stream of what is said unasked is not to be had: for good, or for now.
    fn not_standing(&mut self, out: &mut Outside<'_>, posted: Posted, status: u16) -> Vec<Heard> {
        let now = out.ground.now;
        let is_rare = self.given_up_at.is_none_or(|at| now.since(at) >= RENEWAL_MS);
        if status == 404 && posted.again.was_there() && is_rare && self.session.is_some() && self.session == posted.session {
            self.given_up_at = Some(now);
            (self.session, self.version) = (None, None);
            return alloc::vec![Heard::SessionOver];
        }
        if posted.again.is_later(status) {
            self.stand_later(out, posted);
        }
        Vec::new()
    }

    fn stand_later(&mut self, out: &mut Outside<'_>, mut posted: Posted) {
        let wait_ms = posted.again.wait_ms(retry_ms(out), &mut out.ground.random);
        self.later.push((out.ground.now.plus_ms(wait_ms), posted));
    }

    /// Whether an answer asks for a token, and somebody waited for another one.
    fn refused(&self, posted: &Posted, reply: &Reply) -> Option<Heard> {
        if !self.authorizes || !matches!(reply.status, 401 | 403) {
            return None;
        }
        let id = match posted.wanted {
            For::Answer(id) => Some(id),
            For::Standing if self.events => None,
            For::Standing | For::Nothing => return None,
        };
        let challenge = Challenge::read(&reply.headers);
        let is_insufficient = reply.status == 403;
        if is_insufficient && challenge.error.as_deref() != Some("insufficient_scope") {
            return None;
        }
        let is_current = posted.token == self.token_number;
        Some(Heard::Refused { id, refusal: Refusal { is_insufficient, challenge, is_current } })
    }

    /// A stream broke, or a request came to nothing.
    fn broke(&mut self, out: &mut Outside<'_>, mut posted: Posted, why: String) -> Vec<Heard> {
        match posted.wanted {
            For::Nothing => Vec::new(),
            For::Standing if self.events => alloc::vec![Heard::Lost(why)],
            For::Standing => {
                posted.again.broke(out.ground.now);
                self.stand_later(out, posted);
                Vec::new()
            }
            For::Answer(_) if !self.events && posted.last_event.is_some() && posted.resumptions < RESUMPTIONS => {
                posted.resumptions += 1;
                self.later.push((out.ground.now.plus_ms(retry_ms(out)), posted));
                Vec::new()
            }
            For::Answer(id) => alloc::vec![Heard::Unanswered { id, why: Why::Words(why) }],
        }
    }

    /// A request is answered: its stream has nothing more to say.
    pub fn answered(&mut self, out: &mut Outside<'_>, id: u64) {
        self.give_up(out, id);
    }
}

/// How long the stream that ended last is to be left alone.
fn retry_ms(out: &Outside<'_>) -> u64 {
    out.exchanges.retry_ms().unwrap_or(RETRY_MS).clamp(LEAST_RETRY_MS, MOST_RETRY_MS)
}

/// The codes of JSON-RPC by which servers say that they do not know a session.
const UNKNOWN_SESSION: [i64; 3] = [-32600, -32000, -32001];

/// The id and the code of an error of JSON-RPC, where a body is one.
fn error_of(body: &str) -> Option<(Option<u64>, Option<i64>)> {
    let body = Json::parse(body, 64).ok()?;
    let members = body.members()?;
    let number = |raw: Raw<'_>| json::integer(raw.get());
    let id = members.get("id").and_then(number).and_then(|id| u64::try_from(id).ok());
    let code = members.get("error").map(|error| json::members(error).and_then(|error| error.get("code").and_then(number)));
    code.map(|code| (id, code))
}

/// Whether an answer to a request says that its session is over, and not what is wrong with that request.
fn is_session_over(status: u16, body: &str, request: u64) -> bool {
    let (id, code) = match error_of(body) {
        Some((id, Some(code))) => (id, code),
        Some((_, None)) | None => return matches!(status, 404 | 400),
    };
    UNKNOWN_SESSION.contains(&code) && (status == 404 || status == 400 && id != Some(request))
}

/// A text as the value of a header field: as it is, or in base64 (MCP 2026-07-28, transports).
#[must_use]
pub fn header_value(text: &str) -> String {
    if http::is_field_value(text) && text.trim() == text && !text.starts_with("=?base64?") {
        return text.to_string();
    }
    format!("=?base64?{}?=", base64::encode(text.as_bytes()))
}

/// What a failed exchange means, for people.
#[must_use]
pub fn words(failure: &Failure) -> String {
    match failure {
        Failure::Transport { cause, detail, .. } if detail.is_empty() => format!("could not be reached ({})", cause.name()),
        Failure::Transport { detail, .. } => format!("could not be reached ({detail})"),
        Failure::TooLarge(limit) => format!("sent more than {limit} allows"),
        Failure::Redirect { why, .. } => format!("was not reached: {why}"),
        Failure::Blocked(why) => format!("was not called: {why}"),
    }
}
