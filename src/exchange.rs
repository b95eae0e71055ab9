//! Outgoing HTTP rounds: redirects followed, headers kept to their origin, bodies bounded, streams decoded.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::call::CallId;
use crate::ground::Ground;
use crate::held::Share;
use crate::http;
use crate::io::{Cause, ExchangeId, Headers, Method, Misuse, Output, Request};
use crate::link::catalog::ServerNumber;
use crate::redirect::{self, Reach, Step};
use crate::registry::Credentials;
use crate::sse;
use crate::table::Table;
use crate::time::Instant;
use crate::url::Url;

/// A request to be made.
#[derive(Clone, Debug)]
pub struct Plan {
    /// GET or POST
    pub method: Method,
    /// where to
    pub url: Url,
    /// the protocol's own header fields
    pub headers: Headers,
    /// the body
    pub body: Option<String>,
    /// header fields that go to their origin only
    pub credentials: Option<Credentials>,
    /// the URL that the user gave
    pub registered: Url,
    /// whether an agent at a public address has named the URL, where it lies on another origin than the registered one
    pub by_public: bool,
    /// what is taken in
    pub want: Want,
}

/// What is taken in of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// the status
    Head,
    /// a body of at most so many bytes
    Body(u64),
    /// such a body that nobody else may see before it was read
    Secret(u64),
    /// a stream of events, or a body where the agent answers with one
    Events,
}

/// Whose an exchange is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// nobody's: it is given up after a while
    Nobody,
    /// a call's
    Call(CallId),
    /// the link's to an MCP server
    Link(ServerNumber),
}

/// What an exchange says to its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report<'e> {
    /// a complete answer
    Reply(Reply),
    /// one event of a stream
    Event(sse::Event<'e>),
    /// the stream ended; what stood unterminated at its end, which is no event
    Closed(Option<sse::Event<'static>>),
    /// nothing more will come
    Failed(Failure),
}

/// A complete answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// the HTTP status
    pub status: u16,
    /// the header fields
    pub headers: Headers,
    /// the body
    pub body: Vec<u8>,
    /// where it came from, after redirects
    pub url: Url,
}

/// Why an exchange failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// the connection
    Transport {
        /// what kind
        cause: Cause,
        /// words of the host
        detail: String,
        /// whether an HTTP head had come
        answered: bool,
        /// what had come of a plain answer
        received: Vec<u8>,
    },
    /// more than the limit of that name
    TooLarge(&'static str),
    /// a redirect that is not followed
    Redirect {
        /// its HTTP status
        status: u16,
        /// the sentence for the caller
        why: String,
    },
    /// an address that is not called; the sentence for the caller
    Blocked(String),
}

#[derive(Debug)]
enum Phase {
    Waiting,
    Body { status: u16, headers: Headers, body: Vec<u8>, limit: u64 },
    Events(Option<sse::Decoder>),
}

#[derive(Debug)]
struct Exchange {
    owner: Owner,
    plan: Plan,
    hops: u64,
    /// whether no redirect led to another origin
    stayed: bool,
    current: ExchangeId,
    phase: Phase,
    /// when something of its answer came last, or it began
    heard: Instant,
    /// when an exchange that nobody waits for is given up
    until: Option<Instant>,
    /// the header fields of a stream
    stream_headers: Headers,
    /// what is held of its answer
    share: Share,
    /// and of what it said, which goes on to where a redirect leads
    _sent: Share,
}

/// How long an exchange that nobody waits for may take.
const UNOWNED_MS: u64 = 30_000;

/// The exchanges that run, by the id of their first round.
#[derive(Debug, Default)]
pub struct Exchanges {
    running: Table<ExchangeId, Box<Exchange>>,
    first: Table<ExchangeId, ExchangeId>,
    unowned: Table<(Instant, ExchangeId), ()>,
    retry_ms: Option<u64>,
}

/// A report, for whom, and about which exchange.
pub type Delivery = (Owner, ExchangeId, Report<'static>);

impl Exchanges {
    /// Starts an exchange. An address that is not called fails it at once, before any request.
    ///
    /// # Errors
    /// [`Failure::Blocked`].
    pub fn start(&mut self, ground: &mut Ground, owner: Owner, plan: Plan) -> Result<ExchangeId, Failure> {
        let reach = reach(ground, &plan.url, &plan.registered, plan.by_public);
        redirect::permit(&plan.url, reach).map_err(Failure::Blocked)?;
        while owner == Owner::Nobody && self.unowned.len() >= ground.config.limits.calls_per_peer {
            let Some(((_, oldest), ())) = self.unowned.first() else { break };
            self.abort(ground, *oldest);
        }
        let id = ground.exchange_id();
        ground.outputs.push_back(fetch(id, &plan, (&plan.url, reach, true)));
        self.first.insert(id, id);
        let until = (owner == Owner::Nobody).then(|| ground.now.plus_ms(UNOWNED_MS));
        let (phase, stream_headers) = (Phase::Waiting, Headers::new());
        let (share, stayed, heard) = (ground.held.share(), true, ground.now);
        let mut sent = ground.held.share();
        sent.set(plan.body.as_ref().map_or(0, |body| u64::try_from(body.len()).unwrap_or(u64::MAX)));
        let hops = 0;
        let exchange =
            Exchange { owner, plan, hops, stayed, current: id, phase, heard, until, stream_headers, share, _sent: sent };
        self.running.insert(id, Box::new(exchange));
        if let Some(until) = until {
            self.unowned.insert((until, id), ());
        }
        Ok(id)
    }

    /// Whether a URL may be called for an agent or directory that was given as `registered`; `by_public` as in a [`Plan`].
    ///
    /// # Errors
    /// [`Failure::Blocked`].
    pub fn check(&self, ground: &Ground, url: &Url, registered: &Url, by_public: bool) -> Result<(), Failure> {
        redirect::permit(url, reach(ground, url, registered, by_public)).map_err(Failure::Blocked)
    }

    /// How many exchanges run.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.running.len()
    }

    /// Whether none runs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// Whether reports about this exchange are awaited.
    #[must_use]
    pub fn awaits(&self, id: ExchangeId) -> bool {
        self.first.has(&id)
    }

    /// Whether what comes of this exchange is for nobody's eyes before it was read.
    #[must_use]
    pub fn hides(&self, id: ExchangeId) -> bool {
        let running = self.first.get(&id).and_then(|first| self.running.get(first));
        running.is_some_and(|exchange| matches!(exchange.plan.want, Want::Secret(_)))
    }

    /// Stops an exchange; nothing more is reported of it.
    pub fn abort(&mut self, ground: &mut Ground, id: ExchangeId) {
        if let Some(exchange) = self.remove(id) {
            ground.outputs.push_back(Output::Abort { exchange: exchange.current });
        }
    }

    /// Gives up the exchanges that nobody waits for and whose time is up.
    pub fn expire(&mut self, ground: &mut Ground) {
        while let Some((_, id)) = self.unowned.first().map(|(key, ())| *key).filter(|(until, _)| *until <= ground.now) {
            self.abort(ground, id);
        }
    }

    /// When the next of those is given up.
    #[must_use]
    pub fn expiry(&self) -> Option<Instant> {
        self.unowned.first().map(|((until, _), ())| *until)
    }

    fn find(&mut self, ground: &Ground, id: ExchangeId) -> Result<Option<(ExchangeId, &mut Exchange)>, Misuse> {
        match self.first.get(&id).copied() {
            Some(first) => Ok(self.running.get_mut(&first).map(|exchange| (first, exchange.as_mut()))),
            None if ground.asked(id) => Ok(None),
            None => Err(Misuse::ExchangeUnknown(id)),
        }
    }

    fn remove(&mut self, first: ExchangeId) -> Option<Box<Exchange>> {
        let exchange = self.running.remove(&first)?;
        self.first.remove(&exchange.current);
        if let Some(until) = exchange.until {
            self.unowned.remove(&(until, first));
        }
        Some(exchange)
    }

    /// Ends an exchange with a report, telling the host to stop where it still runs.
    fn end(&mut self, ground: &mut Ground, first: ExchangeId, report: Report<'static>, running: bool) -> Option<Delivery> {
        let owner = self.running.get(&first)?.owner;
        if running {
            self.abort(ground, first);
        } else {
            self.remove(first);
        }
        Some((owner, first, report))
    }

    /// Takes a head in.
    ///
    /// # Errors
    /// [`Misuse`] of an id that never was, a second head, a status out of range.
    pub fn head(
        &mut self,
        ground: &mut Ground,
        id: ExchangeId,
        status: u16,
        headers: Headers,
    ) -> Result<Option<Delivery>, Misuse> {
        if !(100..=999).contains(&status) {
            return Err(Misuse::OutOfRange("status"));
        }
        let limits = ground.config.limits.clone();
        let Some((first, exchange)) = self.find(ground, id)? else { return Ok(None) };
        if !matches!(exchange.phase, Phase::Waiting) {
            return Err(Misuse::ExchangeOrder(id));
        }
        exchange.heard = ground.now;
        if http::section_bytes(&headers) > limits.header_bytes {
            return Ok(self.end(ground, first, Report::Failed(Failure::TooLarge("header_bytes")), true));
        }
        if let (301 | 302 | 303 | 307 | 308, Some(location)) = (status, http::header(&headers, "location")) {
            let location = String::from(location);
            return Ok(self.redirected(ground, first, status, &location));
        }
        if exchange.plan.want == Want::Head {
            let reply = Reply { status, headers, body: Vec::new(), url: exchange.plan.url.clone() };
            return Ok(self.end(ground, first, Report::Reply(reply), true));
        }
        let is_stream =
            http::header(&headers, "content-type").is_some_and(|kind| http::content_type_is(kind, "text/event-stream"));
        exchange.phase = match exchange.plan.want {
            Want::Events if is_stream && (200..300).contains(&status) => {
                exchange.stream_headers = headers;
                Phase::Events(Some(sse::Decoder::new(limits.event_bytes, limits.stream_bytes)))
            }
            Want::Events => Phase::Body { status, headers, body: Vec::new(), limit: limits.reply_bytes },
            Want::Body(limit) | Want::Secret(limit) => Phase::Body { status, headers, body: Vec::new(), limit },
            Want::Head => Phase::Waiting,
        };
        Ok(None)
    }

    fn redirected(&mut self, ground: &mut Ground, first: ExchangeId, status: u16, location: &str) -> Option<Delivery> {
        let exchange = self.running.get_mut(&first)?;
        let refuse = |why: String| Report::Failed(Failure::Redirect { status, why });
        let to = match redirect::step(exchange.plan.method, &exchange.plan.url, status, location, &exchange.plan.registered) {
            Step::Follow(to) => to,
            Step::Refuse(why) => return self.end(ground, first, refuse(why), true),
        };
        if exchange.hops >= ground.config.limits.redirects {
            let why = format!("it was redirected more than {} times", ground.config.limits.redirects);
            return self.end(ground, first, refuse(why), true);
        }
        // The registered host names itself on other ports.
        let names_itself = [exchange.plan.url.host(), to.host()] == [exchange.plan.registered.host(); 2];
        exchange.plan.by_public |= redirect::is_public(&exchange.plan.url) && !names_itself;
        // What left an origin comes back without credentials: another server said where to.
        exchange.stayed &= to.origin() == exchange.plan.url.origin();
        let reach = reach(ground, &to, &exchange.plan.registered, exchange.plan.by_public);
        if let Err(why) = redirect::permit(&to, reach) {
            return self.end(ground, first, Report::Failed(Failure::Blocked(why)), true);
        }
        if exchange.plan.credentials.as_ref().is_some_and(|credentials| credentials.are_told_by(&to)) {
            let why = format!("it was redirected ({status}) to {}, with a credential in the address", to.origin());
            return self.end(ground, first, refuse(why), true);
        }
        ground.outputs.push_back(Output::Abort { exchange: exchange.current });
        self.first.remove(&exchange.current);
        let next = ground.exchange_id();
        ground.outputs.push_back(fetch(next, &exchange.plan, (&to, reach, exchange.stayed)));
        exchange.plan.url = to;
        exchange.hops += 1;
        exchange.current = next;
        self.first.insert(next, first);
        None
    }

    /// Takes bytes of a body in. Those of a stream are given back with its decoder: the caller delivers the events one
    /// by one, because each of them may end the exchange, and then [returns](Self::keep) the decoder.
    ///
    /// # Errors
    /// [`Misuse`] of an id that never was, or bytes before the head.
    pub fn body(&mut self, ground: &mut Ground, id: ExchangeId, bytes: Vec<u8>) -> Result<BodyTaken, Misuse> {
        let Some((first, exchange)) = self.find(ground, id)? else { return Ok(BodyTaken::Kept) };
        let failure = match &mut exchange.phase {
            Phase::Waiting => return Err(Misuse::ExchangeOrder(id)),
            Phase::Body { body, limit, .. } => {
                let total = u64::try_from(body.len().saturating_add(bytes.len())).unwrap_or(u64::MAX);
                if total > *limit {
                    let name = if matches!(exchange.plan.want, Want::Body(_)) && *limit == ground.config.limits.card_bytes {
                        "card_bytes"
                    } else {
                        "reply_bytes"
                    };
                    Failure::TooLarge(name)
                } else if !exchange.share.may_be(total, ground.config.limits.held_bytes) {
                    Failure::TooLarge(Share::bound(total, ground.config.limits.held_bytes))
                } else {
                    exchange.share.set(total);
                    exchange.heard = ground.now;
                    if body.is_empty() {
                        *body = bytes;
                    } else {
                        body.extend_from_slice(&bytes);
                    }
                    return Ok(BodyTaken::Kept);
                }
            }
            Phase::Events(decoder) => {
                let owner = exchange.owner;
                return Ok(decoder.take().map_or(BodyTaken::Kept, |decoder| BodyTaken::Stream { owner, first, decoder, bytes }));
            }
        };
        let delivery = self.end(ground, first, Report::Failed(failure), true);
        Ok(delivery.map_or(BodyTaken::Kept, BodyTaken::Ended))
    }

    /// The header fields of a stream that runs.
    #[must_use]
    pub fn stream_headers(&self, first: ExchangeId) -> &[(String, String)] {
        self.running.get(&first).map(|exchange| exchange.stream_headers.as_slice()).unwrap_or_default()
    }

    /// How long the stream that ended last asked to wait before it is taken up again.
    #[must_use]
    pub const fn retry_ms(&self) -> Option<u64> {
        self.retry_ms
    }

    /// Whether an exchange still runs.
    #[must_use]
    pub fn runs(&self, first: ExchangeId) -> bool {
        self.running.has(&first)
    }

    /// Whether anything of an answer came, a redirect included.
    #[must_use]
    pub fn answered(&self, first: ExchangeId) -> bool {
        self.running.get(&first).is_some_and(|exchange| exchange.hops > 0 || !matches!(exchange.phase, Phase::Waiting))
    }

    /// When the head or a part of the body of a plain answer came last; when it was asked for, where nothing came yet.
    #[must_use]
    pub fn heard_at(&self, first: ExchangeId) -> Option<Instant> {
        self.running.get(&first).map(|exchange| exchange.heard)
    }

    /// Takes the decoder of a stream back, with what it holds of the next event.
    pub fn keep(&mut self, ground: &mut Ground, first: ExchangeId, decoder: sse::Decoder) -> Option<Delivery> {
        let exchange = self.running.get_mut(&first)?;
        let bytes = decoder.held_bytes();
        if !exchange.share.may_be(bytes, ground.config.limits.held_bytes) {
            let bound = Share::bound(bytes, ground.config.limits.held_bytes);
            return self.end(ground, first, Report::Failed(Failure::TooLarge(bound)), true);
        }
        exchange.share.set(bytes);
        if let Phase::Events(slot) = &mut exchange.phase {
            *slot = Some(decoder);
        }
        None
    }

    /// Ends a stream that passed a limit.
    pub fn overflow(&mut self, ground: &mut Ground, first: ExchangeId, limit: sse::TooLarge) -> Option<Delivery> {
        let name = match limit {
            sse::TooLarge::Event => "event_bytes",
            sse::TooLarge::Stream => "stream_bytes",
        };
        self.end(ground, first, Report::Failed(Failure::TooLarge(name)), true)
    }

    /// Takes the end of a body in.
    ///
    /// # Errors
    /// [`Misuse`] of an id that never was, or an end before the head.
    pub fn finish(&mut self, ground: &mut Ground, id: ExchangeId) -> Result<Option<Delivery>, Misuse> {
        let Some((first, exchange)) = self.find(ground, id)? else { return Ok(None) };
        let mut retry_ms = None;
        let report = match &mut exchange.phase {
            Phase::Waiting => return Err(Misuse::ExchangeOrder(id)),
            Phase::Body { status, headers, body, .. } => Report::Reply(Reply {
                status: *status,
                headers: core::mem::take(headers),
                body: core::mem::take(body),
                url: exchange.plan.url.clone(),
            }),
            Phase::Events(decoder) => {
                let rest = decoder.as_mut().and_then(sse::Decoder::finish);
                retry_ms = decoder.as_ref().and_then(sse::Decoder::retry_ms);
                Report::Closed(rest)
            }
        };
        self.retry_ms = retry_ms;
        Ok(self.end(ground, first, report, false))
    }

    /// Takes a failure in.
    ///
    /// # Errors
    /// [`Misuse`] of an id that never was.
    pub fn failed(
        &mut self,
        ground: &mut Ground,
        id: ExchangeId,
        cause: Cause,
        detail: String,
    ) -> Result<Option<Delivery>, Misuse> {
        let Some((first, exchange)) = self.find(ground, id)? else { return Ok(None) };
        let asked = match &exchange.phase {
            Phase::Events(Some(decoder)) => decoder.retry_ms(),
            Phase::Events(None) | Phase::Waiting | Phase::Body { .. } => None,
        };
        let (answered, received) = match &mut exchange.phase {
            Phase::Waiting => (false, Vec::new()),
            Phase::Body { body, .. } => (true, core::mem::take(body)),
            Phase::Events(_) => (true, Vec::new()),
        };
        self.retry_ms = asked;
        Ok(self.end(ground, first, Report::Failed(Failure::Transport { cause, detail, answered, received }), false))
    }
}

/// What became of some bytes.
#[derive(Debug)]
pub enum BodyTaken {
    /// kept, or not wanted any more
    Kept,
    /// bytes of a stream
    Stream {
        /// whose it is
        owner: Owner,
        /// the exchange
        first: ExchangeId,
        /// its decoder
        decoder: sse::Decoder,
        /// the bytes
        bytes: Vec<u8>,
    },
    /// a limit was reached
    Ended(Delivery),
}

/// What the user named may be called: the registered origin, and what the configuration lists.
fn reach(ground: &Ground, to: &Url, registered: &Url, by_public: bool) -> Reach {
    let network = &ground.config.network;
    let named_by_public = by_public && to.origin() != registered.origin() && !network.names(to.host());
    Reach { allow_private: network.allows_private(to.host()), named_by_public }
}

/// Whom the request of a round goes to, and whether every round before it stayed there.
fn fetch(exchange: ExchangeId, plan: &Plan, (url, reach, stayed): (&Url, Reach, bool)) -> Output {
    let mut headers = plan.headers.clone();
    let is_theirs = |credentials: &&Credentials| stayed && credentials.origin == url.origin();
    if let Some(credentials) = plan.credentials.as_ref().filter(is_theirs) {
        // The protocol's own fields stay the gateway's.
        let own = |name: &str| plan.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        headers.extend(credentials.headers.iter().filter(|(name, _)| !own(name)).cloned());
    }
    let public_only = reach.named_by_public;
    let (url, body) = (String::from(url.as_str()), plan.body.clone());
    Output::Fetch { exchange, request: Request { method: plan.method, url, headers, body, public_only } }
}
