//! The border: what a host tells the gateway, and what the gateway asks of its host.
//!
//! Both directions are plain values with a JSON form, so that a host in any language can drive the gateway and every
//! run can be written down and replayed. Hosts name peers, the gateway names exchanges, with numbers that only grow:
//! a late report about an exchange that ended is ignored, a report about one that never was is a [`Misuse`].

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::config::Config;
use crate::json::{Json, Object};

mod authorize;
mod deadline;
mod directory;
mod link;
mod misuse;
mod pins;
mod read;
mod save;
mod write;

pub use authorize::{AuthorizeEvent, TokenOrder};
pub use deadline::{Deadline, Reason};
pub use directory::{DirectoryInput, Lookup, LookupId, PageWish};
pub use link::{LinkEvent, LinkId, LinkOrder, Process};
pub use misuse::Misuse;
pub use pins::PinsInput;
pub use read::read_input;
pub use save::Save;
use write::{bytes_json, headers_json};

/// An MCP client, named by the host. At most 2^53 - 1, so that JavaScript can hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PeerId(pub u64);

/// One outgoing HTTP round, named by the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExchangeId(pub u64);

/// One incoming HTTP request, named by the host. At most 2^53 - 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestId(pub u64);

/// One piece of work for a function of the host, named by the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkId(pub u64);

/// Header fields in their order; names in any case.
pub type Headers = Vec<(String, String)>;

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// An MCP client is there. Peers that name the same scope share agents, contexts and tasks.
    Open {
        /// a number that no open peer has
        peer: PeerId,
        /// the scope, up to 256 bytes; `stdio` on a command line
        scope: String,
    },
    /// One JSON-RPC message from a peer, without its line end.
    Message {
        /// who sent it
        peer: PeerId,
        /// the text as it came
        text: String,
    },
    /// A message over [`Limits::message_bytes`](crate::limits::Limits::message_bytes) that the host did not keep.
    MessageTooLong {
        /// who sent it
        peer: PeerId,
        /// its first bytes (4 KiB are enough), from which the id is read
        start: String,
        /// its last bytes (1 KiB is enough): many clients write the id last
        end: String,
        /// its whole length
        bytes: u64,
    },
    /// A peer left. Its calls end without an answer.
    Closed {
        /// who left
        peer: PeerId,
    },
    /// Status and headers of a fetch.
    Head {
        /// which
        exchange: ExchangeId,
        /// the HTTP status
        status: u16,
        /// the header fields, transfer and content coding undone by the host
        headers: Headers,
    },
    /// Some bytes of a fetch's body, decoded.
    Body {
        /// which
        exchange: ExchangeId,
        /// any number of bytes
        bytes: Vec<u8>,
    },
    /// The body of a fetch is complete.
    End {
        /// which
        exchange: ExchangeId,
    },
    /// A fetch failed, before or after its head.
    Failed {
        /// which
        exchange: ExchangeId,
        /// what kind of failure
        cause: Cause,
        /// words for people, without credentials
        detail: String,
    },
    /// Somebody asks over HTTP: the head of an incoming request.
    Request {
        /// a number that no running request has
        request: RequestId,
        /// the method in capitals
        method: String,
        /// path and query
        target: String,
        /// the header fields
        headers: Headers,
    },
    /// Some bytes of an incoming request's body.
    RequestBody {
        /// which
        request: RequestId,
        /// any number of bytes
        bytes: Vec<u8>,
    },
    /// The body of an incoming request is complete.
    RequestEnd {
        /// which
        request: RequestId,
    },
    /// Whoever asked left, before or during the response.
    RequestGone {
        /// which
        request: RequestId,
    },
    /// A function of the host says something about its work.
    Update {
        /// which work
        work: WorkId,
        /// an event in the JSON form of A2A 1.0 §3.2.3: an object with `statusUpdate`, `artifactUpdate`, `task` or
        /// `message`; ids in it are not needed
        text: String,
    },
    /// A function of the host is done; a task that it left open is completed.
    WorkEnd {
        /// which work
        work: WorkId,
    },
    /// A function of the host failed, and with it the task.
    WorkFailed {
        /// which work
        work: WorkId,
        /// words for the caller
        detail: String,
    },
    /// Something happened to the process of an MCP server behind the gateway.
    Link {
        /// which
        link: LinkId,
        /// what
        event: LinkEvent,
    },
    /// Something happened about the tokens for an MCP server at a URL.
    Authorize {
        /// the server's name in the configuration
        server: String,
        /// what
        event: AuthorizeEvent,
    },
    /// Something about the directory: a card of the program's own, or what a lookup gave.
    Directory(DirectoryInput),
    /// What tools were that are pinned, or that one which changed is accepted.
    Pins(PinsInput),
    /// A person decided about a call that waits, of which the notice `approval_proposed` told. One that was decided already,
    /// or whose time is up, stays as it is.
    Decision {
        /// the `id` of the request
        approval: String,
        /// yes
        approved: bool,
        /// why, for the caller
        reason: Option<String>,
    },
    /// The configuration is another one from here on; what did not change goes on untouched. What the host itself stands on
    /// stays as it was at the start: `limits`, `storage`, `server.loopback`, `directory.store`.
    Configure {
        /// all of it
        config: Box<Config>,
    },
    /// The gateway is to stop serving: calls that run are answered, responses end, new requests over HTTP are refused.
    Stop,
    /// Time passed.
    Tick,
}

/// Why a fetch failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Nobody listens: the request surely did not arrive.
    Refused,
    /// The connection was lost; whether the request arrived is unknown.
    Reset,
    /// The name has no address: the request surely did not arrive.
    Dns,
    /// No trust could be established: the request surely did not arrive.
    Tls,
    /// The host's own address check or a browser's policy refused it: the request surely did not arrive.
    Blocked,
    /// A redirect whose target the host cannot read, as in a page.
    Redirect,
    /// Bytes that are no HTTP, a body shorter than promised, a broken content coding.
    Protocol,
    /// Header fields larger than the host takes.
    Headers,
    /// Anything else.
    Other,
}

impl Cause {
    /// Every cause with its name in the JSON form.
    pub const NAMES: [(Self, &'static str); 9] = [
        (Self::Refused, "refused"),
        (Self::Reset, "reset"),
        (Self::Dns, "dns"),
        (Self::Tls, "tls"),
        (Self::Blocked, "blocked"),
        (Self::Redirect, "redirect"),
        (Self::Protocol, "protocol"),
        (Self::Headers, "headers"),
        (Self::Other, "other"),
    ];

    /// The name in the JSON form.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(cause, _)| *cause == self).map_or("other", |(_, name)| name)
    }

    /// Whether the request surely never reached the agent.
    #[must_use]
    pub const fn unsent(self) -> bool {
        match self {
            Self::Refused | Self::Dns | Self::Tls | Self::Blocked => true,
            Self::Reset | Self::Redirect | Self::Protocol | Self::Headers | Self::Other => false,
        }
    }
}

/// What to do, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Send one JSON-RPC message to a peer; the text has no line ends.
    Message {
        /// to whom
        peer: PeerId,
        /// the text
        text: String,
    },
    /// Start an HTTP request. Redirects are not followed, cookies not kept, nothing is retried.
    Fetch {
        /// its name in later reports
        exchange: ExchangeId,
        /// the request
        request: Request,
    },
    /// Stop an exchange and close its connection. Reports that come later are ignored.
    Abort {
        /// which
        exchange: ExchangeId,
    },
    /// Begin the response to an incoming request.
    ResponseHead {
        /// which
        request: RequestId,
        /// the HTTP status
        status: u16,
        /// the header fields
        headers: Headers,
    },
    /// Send some of a response's body at once.
    ResponseBody {
        /// which
        request: RequestId,
        /// the text
        text: String,
    },
    /// The response is complete; its request is forgotten.
    ResponseEnd {
        /// which
        request: RequestId,
    },
    /// Something to keep, or to keep no longer, for hosts that declare a storage
    /// ([`Config::storage`](crate::config::Config::storage)). Outputs that come after it wait until it is kept.
    Save(Save),
    /// Work for a function of the host: somebody sent a message. What comes of it is told by [`Input::Update`],
    /// [`Input::WorkEnd`] and [`Input::WorkFailed`].
    Work {
        /// its name in later reports
        work: WorkId,
        /// an object with `principal`, `skill` where one was named, `message`, `task` as it stands, `metadata` of the request
        /// where there is any, all in the form of A2A 1.0
        order: Json,
    },
    /// The work is not wanted any more. Reports that come later are ignored.
    WorkAbort {
        /// which
        work: WorkId,
    },
    /// Start, feed or end the process of an MCP server behind the gateway.
    Link {
        /// its name in later reports
        link: LinkId,
        /// what to do
        order: LinkOrder,
    },
    /// Give or keep the tokens for an MCP server at a URL.
    Tokens {
        /// the server's name in the configuration
        server: String,
        /// its URL: a store keeps them by both
        url: String,
        /// what to do
        order: TokenOrder,
    },
    /// Look into the host's own directory, where it declares one.
    Lookup(Lookup),
    /// Something worth writing down, without secrets.
    Notice(Notice),
}

/// An HTTP request to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// `GET` or `POST`
    pub method: Method,
    /// absolute and normalised, http or https
    pub url: String,
    /// header fields in their order
    pub headers: Headers,
    /// the body, text in every protocol spoken here
    pub body: Option<String>,
    /// An agent at a public address named the URL, in its card or a redirect, and not the user: a host that resolves names
    /// refuses private and loopback addresses in this round, even where the configuration allows them.
    pub public_only: bool,
}

/// The HTTP methods in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// safe to repeat
    Get,
    /// starts work: never repeated by a host
    Post,
}

impl Method {
    /// The method as it is written on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

/// A structured event for logs, metrics and traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// how much it matters
    pub level: Level,
    /// a fixed name such as `call_ended`
    pub event: &'static str,
    /// an object with the details
    pub fields: Json,
}

/// How much a notice matters: the syslog names that MCP uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// for those who look into one run
    Debug,
    /// ordinary life
    Info,
    /// normal but of weight
    Notice,
    /// something was worked around
    Warning,
    /// something failed
    Error,
    /// never used here
    Critical,
    /// never used here
    Alert,
    /// never used here
    Emergency,
}

impl Level {
    /// Every level with its name, in rising order.
    pub const NAMES: [(Self, &'static str); 8] = [
        (Self::Debug, "debug"),
        (Self::Info, "info"),
        (Self::Notice, "notice"),
        (Self::Warning, "warning"),
        (Self::Error, "error"),
        (Self::Critical, "critical"),
        (Self::Alert, "alert"),
        (Self::Emergency, "emergency"),
    ];

    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(level, _)| *level == self).map_or("info", |(_, name)| name)
    }

    /// The level of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, known)| *known == name).map(|(level, _)| *level)
    }
}

impl Output {
    /// The JSON form: one object with a `type`.
    #[must_use]
    pub fn to_json(&self) -> Json {
        match self {
            Self::Message { peer, text } => {
                let mut out = Object::with_capacity(text.len() + text.len() / 8 + 40);
                out.string("type", "message").integer("peer", peer.0).string("text", text);
                out.finish()
            }
            Self::Fetch { exchange, request } => {
                let mut out = Object::new();
                out.string("type", "fetch").integer("exchange", exchange.0);
                out.string("method", request.method.name()).string("url", &request.url);
                out.json("headers", &headers_json(&request.headers));
                out.optional_string("body", request.body.as_deref());
                if request.public_only {
                    out.boolean("public_only", true);
                }
                out.finish()
            }
            Self::Abort { exchange } => {
                let mut out = Object::new();
                out.string("type", "abort").integer("exchange", exchange.0);
                out.finish()
            }
            Self::ResponseHead { request, status, headers } => {
                let mut out = Object::new();
                out.string("type", "response_head").integer("request", request.0).integer("status", *status);
                out.json("headers", &headers_json(headers));
                out.finish()
            }
            Self::ResponseBody { request, text } => {
                let mut out = Object::with_capacity(text.len() + text.len() / 8 + 40);
                out.string("type", "response_body").integer("request", request.0).string("text", text);
                out.finish()
            }
            Self::ResponseEnd { request } => {
                let mut out = Object::new();
                out.string("type", "response_end").integer("request", request.0);
                out.finish()
            }
            Self::Save(save) => save.to_json(),
            Self::Work { work, order } => {
                let mut out = Object::with_capacity(order.as_str().len() + 40);
                out.string("type", "work").integer("work", work.0).json("order", order);
                out.finish()
            }
            Self::WorkAbort { work } => {
                let mut out = Object::new();
                out.string("type", "work_abort").integer("work", work.0);
                out.finish()
            }
            Self::Link { link, order } => order.to_json(*link),
            Self::Tokens { server, url, order } => order.to_json(server, url),
            Self::Lookup(lookup) => lookup.to_json(),
            Self::Notice(notice) => {
                let mut out = Object::new();
                out.string("type", "notice").string("level", notice.level.name()).string("event", notice.event);
                out.json("fields", &notice.fields);
                out.finish()
            }
        }
    }
}

impl Input {
    /// The JSON form: one object with a `type`. Bytes that are no UTF-8 are written in base64.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut out = Object::new();
        match self {
            Self::Open { peer, scope } => out.string("type", "open").integer("peer", peer.0).string("scope", scope),
            Self::Message { peer, text } => out.string("type", "message").integer("peer", peer.0).string("text", text),
            Self::MessageTooLong { peer, start, end, bytes } => {
                out.string("type", "message_too_long").integer("peer", peer.0).string("start", start).string("end", end);
                out.integer("bytes", *bytes)
            }
            Self::Closed { peer } => out.string("type", "closed").integer("peer", peer.0),
            Self::Head { exchange, status, headers } => {
                out.string("type", "head").integer("exchange", exchange.0).integer("status", *status);
                out.json("headers", &headers_json(headers))
            }
            Self::Body { exchange, bytes } => bytes_json(out.string("type", "body").integer("exchange", exchange.0), bytes),
            Self::End { exchange } => out.string("type", "end").integer("exchange", exchange.0),
            Self::Failed { exchange, cause, detail } => out
                .string("type", "failed")
                .integer("exchange", exchange.0)
                .string("cause", cause.name())
                .string("detail", detail),
            Self::Request { request, method, target, headers } => {
                out.string("type", "request").integer("request", request.0).string("method", method);
                out.string("target", target).json("headers", &headers_json(headers))
            }
            Self::RequestBody { request, bytes } => {
                bytes_json(out.string("type", "request_body").integer("request", request.0), bytes)
            }
            Self::RequestEnd { request } => out.string("type", "request_end").integer("request", request.0),
            Self::RequestGone { request } => out.string("type", "request_gone").integer("request", request.0),
            Self::Update { work, text } => out.string("type", "update").integer("work", work.0).string("text", text),
            Self::WorkEnd { work } => out.string("type", "work_end").integer("work", work.0),
            Self::WorkFailed { work, detail } => {
                out.string("type", "work_failed").integer("work", work.0).string("detail", detail)
            }
            Self::Link { link, event } => event.write(&mut out, *link),
            Self::Authorize { server, event } => event.write(&mut out, server),
            Self::Directory(input) => input.write(&mut out),
            Self::Pins(input) => input.write(&mut out),
            Self::Decision { approval, approved, reason } => {
                out.string("type", "decision").string("approval", approval).boolean("approved", *approved);
                out.optional_string("reason", reason.as_deref())
            }
            Self::Configure { config } => out.string("type", "configure").json("config", &config.to_json()),
            Self::Stop => out.string("type", "stop"),
            Self::Tick => out.string("type", "tick"),
        };
        out.finish()
    }
}
