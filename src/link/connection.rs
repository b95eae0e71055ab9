//! One server: its connection, what was asked of it and not answered, its tools.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::again::Again;
use super::authorizing::Authorizing;
use super::catalog::ServerNumber;
use super::health::Health;
use super::http::{Heard, HttpWire, Sent, Why};
use super::life::{Event, State};
use super::listing::{ListedTool, Listing};
use super::wire::{self, CallOrder};
use super::{CallReport, Outside, Report};
use crate::config::{McpServer, Transport};
use crate::exchange;
use crate::io::{Deadline, ExchangeId, Level, LinkId, LinkOrder, Output, Process, Reason};
use crate::json::{self, Json, Object, Raw};
use crate::jsonrpc::{self, Outcome};
use crate::mcp::era::Era;
use crate::mcp::outcome::ToolError;
use crate::table::Table;
use crate::time::Instant;

/// The first wait before a server that broke is tried again, and the longest.
const FIRST_WAIT_MS: u64 = 1000;
const LONGEST_WAIT_MS: u64 = 60_000;

/// A server that was well for so long begins anew with the shortest wait.
const WELL_MS: u64 = 60_000;

/// How much of the standard error is kept for error messages.
const STDERR_BYTES: usize = 2048;

/// What is known of a server's era before it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spoken {
    Unknown,
    Legacy,
    Modern,
}

/// What a request of ours was for.
#[derive(Debug)]
pub(super) enum Asked {
    Probe,
    Initialize,
    List,
    Listen,
    Ping,
    Call(Box<CallOrder>),
}

/// How messages go to a server.
#[derive(Debug)]
pub(super) enum Wire {
    /// the standard input of a process
    Process(Option<LinkId>),
    /// requests to a URL
    Http(Box<HttpWire>),
}

/// A server behind the gateway.
#[derive(Debug)]
pub struct Link {
    pub(super) number: ServerNumber,
    pub(super) server: McpServer,
    pub(super) state: State,
    pub(super) spoken: Spoken,
    pub(super) wire: Wire,
    pub(super) deadline: Deadline,
    /// how often in a row it broke
    failures: u64,
    /// since when it is ready, or its list was read last
    pub(super) ready_at: Instant,
    /// why it broke last
    pub(super) cause: String,
    pub(super) stderr: String,
    /// the version that is spoken, and what the server calls itself
    pub(super) told: Vec<(&'static str, String)>,
    /// lines of its standard output that were no messages
    pub(super) noise: u64,
    pub(super) next_request: u64,
    pub(super) pending: Table<u64, Asked>,
    /// calls that wait until it is ready
    pub(super) queue: VecDeque<Box<CallOrder>>,
    pub(super) listing: Option<Listing>,
    /// whether its list changed since the reading of it began
    pub(super) stale: bool,
    /// whether it said that it speaks the version without a handshake
    pub(super) discovered: bool,
    /// whether it was asked once more what it had refused
    pub(super) asked_again: bool,
    /// when it is asked again to tell of changes
    pub(super) listen_at: Option<Instant>,
    pub(super) listening: Again,
    pub(super) health: Health,
    pub(super) tools: Vec<ListedTool>,
    /// how it is told who asks, where it may want to know
    pub(super) authorizing: Option<Box<Authorizing>>,
}

impl Link {
    /// A server that is connected at once.
    #[must_use]
    pub fn new(number: ServerNumber, server: McpServer, now: Instant) -> Self {
        let (mut wire, mut authorizing) = (Wire::Process(None), None);
        if let Transport::Http { url, events } = &server.transport {
            let mut http = HttpWire::new(number, url.clone(), server.headers.clone(), *events);
            authorizing = server.oauth.clone().map(|settings| Box::new(Authorizing::new(settings, url.clone())));
            http.authorizes = authorizing.is_some();
            wire = Wire::Http(Box::new(http));
        }
        Self {
            number,
            server,
            state: State::Waiting,
            spoken: Spoken::Unknown,
            wire,
            deadline: Deadline { at: now, reason: Reason::LinkRetry },
            failures: 0,
            ready_at: now,
            cause: String::new(),
            stderr: String::new(),
            told: Vec::new(),
            noise: 0,
            next_request: 1,
            pending: Table::new(),
            queue: VecDeque::new(),
            listing: None,
            stale: false,
            discovered: false,
            asked_again: false,
            listen_at: None,
            listening: Again::new(now),
            health: Health::default(),
            tools: Vec::new(),
            authorizing,
        }
    }

    /// How it is configured.
    #[must_use]
    pub const fn server(&self) -> &McpServer {
        &self.server
    }

    /// It is configured otherwise, but reached as before.
    pub fn adopt(&mut self, server: McpServer, now: Instant) {
        let is_checked_otherwise = self.server.health_check != server.health_check;
        self.server = server;
        if is_checked_otherwise {
            self.watch_health(now);
        }
    }

    /// Its tools, as it listed them last.
    #[must_use]
    pub fn tools(&self) -> &[ListedTool] {
        &self.tools
    }

    /// Whether its tools are known, though it may be broken by now.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        self.state == State::Ready || !self.tools.is_empty()
    }

    /// The process that it is connected to.
    #[must_use]
    pub const fn link(&self) -> Option<LinkId> {
        match &self.wire {
            Wire::Process(link) => *link,
            Wire::Http(_) => None,
        }
    }

    /// When something is due.
    #[must_use]
    pub fn deadline(&self) -> Option<Deadline> {
        let own = match self.state {
            State::Stopped | State::Authorizing | State::Locked => None,
            State::Ready if !self.stale && self.listing.is_none() => None,
            State::Waiting | State::Opening | State::Probing | State::Shaking | State::Listing | State::Ready => {
                Some(self.deadline)
            }
        };
        let wire = match &self.wire {
            Wire::Process(_) => None,
            Wire::Http(wire) => wire.due_at(),
        };
        let token = self.authorizing.as_ref().and_then(|authorizing| authorizing.until);
        let later = [wire, self.listen_at, token].into_iter().flatten().map(|at| Deadline { at, reason: Reason::LinkRetry });
        let check = self.health.next_at.map(|at| Deadline { at, reason: Reason::LinkCheck });
        own.into_iter().chain(later).chain(check).min_by_key(|deadline| deadline.at)
    }

    /// Goes to where an event leads.
    pub(super) fn go(&mut self, event: Event) {
        self.state = self.state.after(event);
    }

    pub(super) fn due_in(&mut self, out: &Outside<'_>, ms: u64) {
        self.deadline = Deadline { at: out.ground.now.plus_ms(ms), reason: Reason::LinkTimeout };
    }

    pub(super) const fn era(&self) -> Era {
        match self.spoken {
            Spoken::Modern => Era::Modern,
            Spoken::Legacy | Spoken::Unknown => Era::Legacy,
        }
    }

    /// Connects; whether that took the link of that number.
    fn open(&mut self, out: &mut Outside<'_>, next: LinkId, reports: &mut Vec<Report>) -> bool {
        self.go(Event::Due);
        self.stderr.clear();
        (self.discovered, self.asked_again) = (false, false);
        self.due_in(out, self.server.timeout_ms);
        match (&mut self.wire, &self.server.transport) {
            (Wire::Process(link), Transport::Stdio { command, args }) => {
                *link = Some(next);
                let (command, args, env) = (command.clone(), args.clone(), self.server.env.clone());
                let process = Process { server: self.server.name.clone(), command, args, env };
                let order = LinkOrder::Open(Box::new(process));
                out.ground.outputs.push_back(Output::Link { link: next, order });
                return true;
            }
            (Wire::Http(_), Transport::Http { .. }) => self.begin(out, reports),
            (Wire::Process(_) | Wire::Http(_), Transport::Stdio { .. } | Transport::Http { .. }) => {}
        }
        false
    }

    /// Connects to a URL.
    pub(super) fn connect(&mut self, out: &mut Outside<'_>, reports: &mut Vec<Report>) {
        let (Wire::Http(wire), Transport::Http { events, .. }) = (&mut self.wire, &self.server.transport) else { return };
        wire.reset(out);
        wire.events = *events;
        if *events { self.listen_for_all(out, reports) } else { self.opened(out, reports) }
    }

    /// Asks for the one stream that all answers come on.
    pub(super) fn listen_for_all(&mut self, out: &mut Outside<'_>, reports: &mut Vec<Report>) {
        if let Wire::Http(wire) = &mut self.wire
            && let Err(failure) = wire.listen(out)
        {
            self.fail(out, super::http::words(&failure), reports);
        }
    }

    /// Sends a message; a request that cannot be sent is unanswered.
    fn write(&mut self, out: &mut Outside<'_>, sent: Sent<'_>) -> Option<(u64, String)> {
        match &mut self.wire {
            Wire::Process(link) => {
                let order = LinkOrder::Write(sent.text.into_string());
                if let Some(link) = *link {
                    out.ground.outputs.push_back(Output::Link { link, order });
                }
                None
            }
            Wire::Http(wire) => {
                let (id, era) = (
                    sent.id,
                    if self.spoken == Spoken::Modern || sent.method == "server/discover" { Era::Modern } else { Era::Legacy },
                );
                let failure = wire.post(out, era, sent).err()?;
                id.map(|id| (id, super::http::words(&failure)))
            }
        }
    }

    /// Sends what is no request.
    pub(super) fn say(&mut self, out: &mut Outside<'_>, method: &str, text: Json) {
        let _ = self.write(out, Sent { text, id: None, method, name: None, headers: Vec::new() });
    }

    pub(super) fn ask(&mut self, out: &mut Outside<'_>, asked: Asked, method: &str, params: Object, reports: &mut Vec<Report>) {
        let id = self.next_request;
        self.next_request += 1;
        let text = wire::request(id, method, params);
        let (name, headers) = match (&asked, &self.wire, self.spoken) {
            (Asked::Call(order), Wire::Http(_), Spoken::Modern) => (Some(order.tool.clone()), self.mirrored(order)),
            _ => (None, Vec::new()),
        };
        self.pending.insert(id, asked);
        let sent = Sent { text, id: Some(id), method, name: name.as_deref(), headers };
        if let Some((id, why)) = self.write(out, sent) {
            self.unanswered(out, id, Why::Words(why), reports);
        }
    }

    /// A message or several, as they came.
    pub fn line(&mut self, out: &mut Outside<'_>, text: &str, reports: &mut Vec<Report>) {
        self.message(out, text, None, reports);
    }

    /// The same on the stream of a request.
    fn message(&mut self, out: &mut Outside<'_>, text: &str, about: Option<u64>, reports: &mut Vec<Report>) {
        let depth = out.ground.config.limits.depth();
        self.take(out, jsonrpc::read(text, depth), about, reports, true);
    }

    fn take(
        &mut self,
        out: &mut Outside<'_>,
        message: jsonrpc::Incoming<'_>,
        about: Option<u64>,
        reports: &mut Vec<Report>,
        top: bool,
    ) {
        match message {
            jsonrpc::Incoming::Response { id, outcome } => {
                let id = id.and_then(|id| u64::try_from(json::integer(id.as_json().as_str())?).ok());
                // The answer to a call that was cancelled or timed out is nobody's.
                let Some((id, asked)) = id.and_then(|id| Some((id, self.pending.remove(&id)?))) else { return };
                if let Wire::Http(wire) = &mut self.wire {
                    wire.answered(out, id);
                }
                self.answered(out, asked, outcome, reports);
            }
            jsonrpc::Incoming::Notification { method, params } => self.told(out, &method, params, reports),
            jsonrpc::Incoming::Request { id, method, params } => self.requested(out, (id, &method, params), about, reports),
            jsonrpc::Incoming::Batch(elements) if top => {
                for element in elements {
                    self.take(out, jsonrpc::read_raw(element), about, reports, false);
                }
            }
            jsonrpc::Incoming::Batch(_) | jsonrpc::Incoming::Invalid { .. } | jsonrpc::Incoming::Noise => self.noise += 1,
        }
    }

    /// A line that was too long to be kept: the call that it answered fails.
    pub fn line_too_long(&mut self, out: &mut Outside<'_>, start: &str, end: &str, reports: &mut Vec<Report>) {
        let id = jsonrpc::id_from_start(start).or_else(|| jsonrpc::id_from_end(end));
        let id = id.and_then(|id| u64::try_from(json::integer(id.as_json().as_str())?).ok());
        match id.and_then(|id| self.pending.remove(&id)) {
            Some(Asked::Call(order)) => reports.push(Report::Call(order.call, CallReport::Lost(self.too_large()))),
            Some(Asked::Probe | Asked::Initialize | Asked::List | Asked::Listen | Asked::Ping) => {
                self.fail(out, "sent more than link_line_bytes allows".to_string(), reports);
            }
            None => self.noise += 1,
        }
    }

    /// The end of what it wrote to its standard error.
    pub fn stderr(&mut self, text: &str) {
        self.stderr.push_str(text);
        let mut from = self.stderr.len().saturating_sub(STDERR_BYTES);
        while !self.stderr.is_char_boundary(from) {
            from += 1;
        }
        self.stderr.drain(..from);
    }

    fn told(&mut self, out: &mut Outside<'_>, method: &str, params: Option<Raw<'_>>, reports: &mut Vec<Report>) {
        match method {
            "notifications/tools/list_changed" => self.changed(out, reports),
            "notifications/cancelled" => self.unasked(params, reports),
            "notifications/progress" => {
                let Some(members) = params.and_then(json::members) else { return };
                let token = members.get("progressToken").and_then(|raw| u64::try_from(json::integer(raw.get())?).ok());
                if let (Some(Asked::Call(order)), Some(params)) = (token.and_then(|id| self.pending.get(&id)), params) {
                    reports.push(Report::Call(order.call, CallReport::Progress(Json::from_raw(params))));
                    self.is_alive();
                }
            }
            // Whose it is can be told where one call runs and no other: what is of one user is not for another.
            "notifications/message" => {
                let mut calls = self.pending.values().filter_map(|asked| match asked {
                    Asked::Call(order) => Some(order.call),
                    Asked::Probe | Asked::Initialize | Asked::List | Asked::Listen | Asked::Ping => None,
                });
                if let (Some(call), None, Some(params)) = (calls.next(), calls.next(), params) {
                    reports.push(Report::Call(call, CallReport::Log(Json::from_raw(params))));
                }
            }
            _ => {}
        }
    }

    fn answered(&mut self, out: &mut Outside<'_>, asked: Asked, outcome: Outcome<'_>, reports: &mut Vec<Report>) {
        match asked {
            Asked::Probe => self.probed(out, outcome, reports),
            Asked::Initialize => self.initialized(out, outcome, reports),
            Asked::List => self.listed(out, outcome, reports),
            Asked::Listen => {
                if let Outcome::Result(_) = outcome {
                    self.listen_later(out, &Why::Words(String::new()));
                }
            }
            Asked::Ping => self.is_alive(),
            Asked::Call(order) => {
                let report = match outcome {
                    Outcome::Result(raw) => CallReport::Result(Json::from_raw(raw)),
                    Outcome::Error(raw) => CallReport::Refused(Json::from_raw(raw)),
                };
                reports.push(Report::Call(order.call, report));
            }
        }
    }

    /// What an exchange with the server says.
    pub fn exchange(
        &mut self,
        out: &mut Outside<'_>,
        exchange: ExchangeId,
        report: exchange::Report<'_>,
        reports: &mut Vec<Report>,
    ) {
        let Some(report) = self.token_report(out, exchange, report, reports) else { return };
        let Wire::Http(wire) = &mut self.wire else { return };
        for heard in wire.report(out, exchange, report) {
            match heard {
                Heard::Message(text, about) => {
                    let text = self.accepted(text);
                    self.message(out, &text, about, reports);
                }
                Heard::Answer { id, status, body } => {
                    let body = self.accepted(body);
                    self.message(out, &body, None, reports);
                    self.unanswered(out, id, Why::Status(status, body), reports);
                }
                Heard::SessionOver if self.state == State::Ready => self.shake_again(out, reports),
                Heard::SessionOver => {}
                Heard::Refused { id, refusal } => self.refused(out, id, refusal, reports),
                Heard::Unanswered { id, why } => {
                    if let Why::Status(..) | Why::Session(_) = &why {
                        self.token_taken();
                    }
                    self.unanswered(out, id, why, reports);
                }
                Heard::Endpoint => {
                    self.token_taken();
                    self.opened(out, reports);
                }
                Heard::Lost(why) => self.fail(out, why, reports),
            }
        }
    }

    /// There will be no answer to a request.
    fn unanswered(&mut self, out: &mut Outside<'_>, id: u64, why: Why, reports: &mut Vec<Report>) {
        match self.pending.remove(&id) {
            Some(Asked::Probe) => self.probe_refused(out, why, reports),
            Some(Asked::Initialize) => self.handshake_refused(out, why, reports),
            Some(Asked::List) => self.list_refused(out, why, reports),
            Some(Asked::Listen) => self.listen_later(out, &why),
            Some(Asked::Ping) => self.ping_refused(out, why, reports),
            Some(Asked::Call(order)) => self.call_refused(out, order, why, reports),
            None => {}
        }
    }

    pub(super) fn notice(&self, out: &mut Outside<'_>, level: Level, event: &'static str, why: &str) {
        let mut fields = Object::new();
        fields.string("server", &self.server.name).string("why", why);
        out.ground.notice(level, event, fields);
    }

    /// Its process ended, or could not be started; whether that took the link of that number.
    pub fn closed(&mut self, out: &mut Outside<'_>, detail: &str, next: LinkId, reports: &mut Vec<Report>) -> bool {
        if let Wire::Process(link) = &mut self.wire {
            *link = None;
        }
        let detail: String = detail.chars().take(300).collect();
        if self.state == State::Probing {
            // Some end when they are asked anything before the handshake.
            self.pending = Table::new();
            self.spoken = Spoken::Legacy;
            self.go(Event::Died);
            return self.open(out, next, reports);
        }
        self.fail(out, if detail.is_empty() { "ended".to_string() } else { detail }, reports);
        false
    }

    /// Closes the connection: calls in flight fail with the cause.
    pub(super) fn part(&mut self, out: &mut Outside<'_>, cause: String, reports: &mut Vec<Report>) {
        match &mut self.wire {
            Wire::Process(link) => {
                if let Some(link) = link.take() {
                    out.ground.outputs.push_back(Output::Link { link, order: LinkOrder::Close });
                }
            }
            Wire::Http(wire) => wire.reset(out),
        }
        self.give_up_tokens(out);
        self.cause = cause;
        let error = self.lost("could not answer");
        self.lose(&error, reports);
    }

    /// It broke: calls in flight fail with the cause, and it is tried again after a while.
    pub(super) fn fail(&mut self, out: &mut Outside<'_>, cause: String, reports: &mut Vec<Report>) {
        if self.state == State::Ready && out.ground.now.since(self.ready_at) >= WELL_MS {
            self.failures = 0;
        }
        self.part(out, cause, reports);
        self.go(Event::Failure);
        let wait_ms = FIRST_WAIT_MS.checked_shl(u32::try_from(self.failures.min(16)).unwrap_or(16)).unwrap_or(LONGEST_WAIT_MS);
        let wait_ms = wait_ms.min(LONGEST_WAIT_MS);
        let wait_ms = (wait_ms + out.ground.random.below(wait_ms / 4)).min(LONGEST_WAIT_MS);
        self.failures = self.failures.saturating_add(1);
        self.deadline = Deadline { at: out.ground.now.plus_ms(wait_ms), reason: Reason::LinkRetry };
        let mut fields = Object::new();
        fields.string("server", &self.server.name).string("why", &self.cause).integer("retry_ms", wait_ms);
        fields.optional_string("stderr", Some(last_lines(&self.stderr)).filter(|lines| !lines.is_empty()).as_deref());
        out.ground.notice(Level::Warning, "link_lost", fields);
    }

    /// Nothing that was asked is answered any more.
    pub(super) fn lose(&mut self, error: &ToolError, reports: &mut Vec<Report>) {
        let pending = core::mem::take(&mut self.pending);
        let asked = pending.values().filter_map(|asked| if let Asked::Call(order) = asked { Some(order.call) } else { None });
        for call in asked.chain(core::mem::take(&mut self.queue).into_iter().map(|order| order.call)) {
            reports.push(Report::Call(call, CallReport::Lost(error.clone())));
        }
        (self.listing, self.stale, self.listen_at) = (None, false, None);
        self.health = Health::default();
    }

    /// Does what is due; whether that took the link of that number.
    pub fn due(&mut self, out: &mut Outside<'_>, next: LinkId, reports: &mut Vec<Report>) -> bool {
        let now = out.ground.now;
        if let Wire::Http(wire) = &mut self.wire
            && wire.due(out)
        {
            self.changed(out, reports);
        }
        if self.listen_at.take_if(|at| *at <= now).is_some() {
            self.listen(out, reports);
            self.changed(out, reports);
        }
        self.token_due(out, reports);
        self.check_health(out, reports);
        let is_idle = self.state == State::Ready && !self.stale && self.listing.is_none();
        if self.deadline.at > now || is_idle {
            return false;
        }
        let seconds = self.server.timeout_ms / 1000;
        match self.state {
            State::Waiting => return self.open(out, next, reports),
            State::Probing => {
                self.go(Event::NotModern);
                self.shake(out, reports);
            }
            State::Opening => self.fail(out, format!("did not start within {seconds} s"), reports),
            State::Shaking => self.fail(out, format!("did not answer the handshake within {seconds} s"), reports),
            State::Listing => self.fail(out, format!("did not list its tools within {seconds} s"), reports),
            State::Ready if self.listing.is_some() => self.keep_list(out, "it did not list its tools in time"),
            State::Ready => self.list(out, reports),
            State::Authorizing | State::Locked | State::Stopped => {}
        }
        false
    }

    /// Ends it for good.
    pub fn stop(&mut self, out: &mut Outside<'_>, cause: &str, reports: &mut Vec<Report>) {
        self.part(out, cause.to_string(), reports);
        self.go(Event::Stop);
        self.notice(out, Level::Info, "link_stopped", cause);
    }
}

/// The last lines of a text, on one line.
pub(super) fn last_lines(text: &str) -> String {
    const LINES: usize = 5;
    let mut lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).rev().take(LINES).collect();
    lines.reverse();
    let joined = crate::text::joined(&lines, " | ");
    let mut from = joined.len().saturating_sub(500);
    while !joined.is_char_boundary(from) {
        from += 1;
    }
    joined.get(from..).unwrap_or_default().to_string()
}
