//! One server: its connection, what was asked of it and not answered, its tools.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::life::{Event, State};
use super::listing::{ListedTool, Listing, Next};
use super::wire::{self, CallOrder};
use super::{CallReport, Report};
use crate::call::CallId;
use crate::config::{McpServer, Transport};
use crate::ground::Ground;
use crate::io::{Deadline, Level, LinkId, LinkOrder, Output, Process, Reason};
use crate::json::{self, Json, Members, Object, Raw};
use crate::jsonrpc::{self, Outcome};
use crate::mcp::era::{Era, LEGACY_VERSIONS, MODERN_VERSIONS, UNSUPPORTED_VERSION};
use crate::mcp::outcome::{Code, ToolError};
use crate::table::Table;
use crate::time::Instant;

/// The longest wait for the answer to a question that some servers never answer.
const PROBE_MS: u64 = 10_000;

/// The first wait before a server that broke is tried again, and the longest.
const FIRST_WAIT_MS: u64 = 1000;
const LONGEST_WAIT_MS: u64 = 60_000;

/// A server that was well for so long begins anew with the shortest wait.
const WELL_MS: u64 = 60_000;

/// A list that changes all the time is read once in so long.
const RELIST_MS: u64 = 1000;

/// How much of the standard error is kept for error messages.
const STDERR_BYTES: usize = 2048;

/// What is known of a server's era before it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spoken {
    Unknown,
    Legacy,
    Modern,
}

/// What a request of ours was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Probe,
    Initialize,
    List,
    Listen,
    Call(CallId),
}

/// A server behind the gateway.
#[derive(Debug)]
pub struct Link {
    server: McpServer,
    state: State,
    spoken: Spoken,
    link: Option<LinkId>,
    deadline: Deadline,
    /// how often in a row it broke
    failures: u64,
    /// since when it is ready
    ready_at: Instant,
    /// why it broke last
    cause: String,
    stderr: String,
    /// lines of its standard output that were no messages
    noise: u64,
    next_request: u64,
    pending: Table<u64, Asked>,
    /// calls that wait until it is ready
    queue: VecDeque<CallOrder>,
    listing: Option<Listing>,
    /// whether its list changed since the reading of it began
    stale: bool,
    /// what it said of itself when it was asked whether it speaks the version without a handshake
    discovered: bool,
    tools: Vec<ListedTool>,
}

impl Link {
    /// A server that is connected at once.
    #[must_use]
    pub fn new(server: McpServer, now: Instant) -> Self {
        Self {
            server,
            state: State::Waiting,
            spoken: Spoken::Unknown,
            link: None,
            deadline: Deadline { at: now, reason: Reason::LinkRetry },
            failures: 0,
            ready_at: now,
            cause: String::new(),
            stderr: String::new(),
            noise: 0,
            next_request: 1,
            pending: Table::new(),
            queue: VecDeque::new(),
            listing: None,
            stale: false,
            discovered: false,
            tools: Vec::new(),
        }
    }

    /// How it is configured.
    #[must_use]
    pub const fn server(&self) -> &McpServer {
        &self.server
    }

    /// Its tools, as it listed them last.
    #[must_use]
    pub fn tools(&self) -> &[ListedTool] {
        &self.tools
    }

    /// The process that it is connected to.
    #[must_use]
    pub const fn link(&self) -> Option<LinkId> {
        self.link
    }

    /// When something is due.
    #[must_use]
    pub fn deadline(&self) -> Option<Deadline> {
        match self.state {
            State::Stopped => None,
            State::Ready if !self.stale && self.listing.is_none() => None,
            State::Waiting | State::Opening | State::Probing | State::Shaking | State::Listing | State::Ready => {
                Some(self.deadline)
            }
        }
    }

    /// Goes to where an event leads.
    fn go(&mut self, event: Event) {
        self.state = self.state.after(event);
    }

    fn due_in(&mut self, ground: &Ground, ms: u64) {
        self.deadline = Deadline { at: ground.now.plus_ms(ms), reason: Reason::LinkTimeout };
    }

    const fn era(&self) -> Era {
        match self.spoken {
            Spoken::Modern => Era::Modern,
            Spoken::Legacy | Spoken::Unknown => Era::Legacy,
        }
    }

    /// Starts the server's process.
    fn open(&mut self, ground: &mut Ground, link: LinkId) {
        self.go(Event::Due);
        self.link = Some(link);
        self.stderr.clear();
        self.discovered = false;
        self.due_in(ground, self.server.timeout_ms);
        let Transport::Stdio { command, args } = self.server.transport.clone();
        let process = Process { server: self.server.name.clone(), command, args, env: self.server.env.clone() };
        ground.outputs.push_back(Output::Link { link, order: LinkOrder::Open(Box::new(process)) });
    }

    /// The process runs.
    pub fn opened(&mut self, ground: &mut Ground) {
        if self.state != State::Opening {
            return;
        }
        if self.spoken == Spoken::Legacy {
            self.go(Event::OpenedLegacy);
            return self.shake(ground);
        }
        self.go(Event::Opened);
        self.due_in(ground, PROBE_MS.min(self.server.timeout_ms / 2));
        let params = wire::bare(Era::Modern, &ground.config);
        self.ask(ground, Asked::Probe, "server/discover", params);
    }

    fn shake(&mut self, ground: &mut Ground) {
        self.due_in(ground, self.server.timeout_ms);
        let params = wire::initialize(&ground.config);
        self.ask(ground, Asked::Initialize, "initialize", params);
    }

    fn write(&self, ground: &mut Ground, text: Json) {
        if let Some(link) = self.link {
            ground.outputs.push_back(Output::Link { link, order: LinkOrder::Write(text.into_string()) });
        }
    }

    fn ask(&mut self, ground: &mut Ground, asked: Asked, method: &str, params: Object) {
        let id = self.next_request;
        self.next_request += 1;
        self.pending.insert(id, asked);
        self.write(ground, wire::request(id, method, params));
    }

    /// Asks for the first page of its tools.
    fn list(&mut self, ground: &mut Ground) {
        self.stale = false;
        self.listing = Some(Listing::default());
        self.due_in(ground, self.server.timeout_ms);
        let params = wire::list(self.era(), &ground.config, None);
        self.ask(ground, Asked::List, "tools/list", params);
    }

    /// A line of its standard output.
    pub fn line(&mut self, ground: &mut Ground, text: &str, reports: &mut Vec<Report>) {
        self.take(ground, jsonrpc::read(text, ground.config.limits.depth()), reports, true);
    }

    fn take(&mut self, ground: &mut Ground, message: jsonrpc::Incoming<'_>, reports: &mut Vec<Report>, top: bool) {
        match message {
            jsonrpc::Incoming::Response { id, outcome } => {
                let id = id.and_then(|id| json::integer(id.as_json().as_str()));
                let asked = id.and_then(|id| self.pending.remove(&u64::try_from(id).ok()?));
                // The answer to a call that was cancelled or timed out is nobody's.
                if let Some(asked) = asked {
                    self.answered(ground, asked, outcome, reports);
                }
            }
            jsonrpc::Incoming::Notification { method, params } => self.told(ground, &method, params, reports),
            jsonrpc::Incoming::Request { id, method, .. } => {
                let answer = match method.as_str() {
                    "ping" => jsonrpc::result(&id, &Object::new().finish()),
                    _ => jsonrpc::error(Some(&id), jsonrpc::METHOD_NOT_FOUND, "this client does not serve that", None),
                };
                self.write(ground, answer);
            }
            jsonrpc::Incoming::Batch(elements) if top => {
                for element in elements {
                    self.take(ground, jsonrpc::read_raw(element), reports, false);
                }
            }
            jsonrpc::Incoming::Batch(_) | jsonrpc::Incoming::Invalid { .. } | jsonrpc::Incoming::Noise => self.noise += 1,
        }
    }

    /// A line that was too long to be kept: the call that it answered fails.
    pub fn line_too_long(&mut self, ground: &mut Ground, start: &str, end: &str, reports: &mut Vec<Report>) {
        let id = jsonrpc::id_from_start(start).or_else(|| jsonrpc::id_from_end(end));
        let id = id.and_then(|id| u64::try_from(json::integer(id.as_json().as_str())?).ok());
        match id.and_then(|id| self.pending.remove(&id)) {
            Some(Asked::Call(call)) => {
                let message = format!("the answer of MCP server '{}' is larger than link_line_bytes allows", self.server.name);
                let error = ToolError::new(Code::TooLarge, message).with("limit", Json::string("link_line_bytes"));
                reports.push(Report::Call(call, CallReport::Lost(error)));
            }
            Some(Asked::Probe | Asked::Initialize | Asked::List | Asked::Listen) => {
                self.fail(ground, "sent more than link_line_bytes allows".to_string(), reports);
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

    fn told(&mut self, ground: &mut Ground, method: &str, params: Option<Raw<'_>>, reports: &mut Vec<Report>) {
        match method {
            "notifications/tools/list_changed" => self.changed(ground),
            "notifications/progress" => {
                let Some(members) = params.and_then(json::members) else { return };
                let token = members.get("progressToken").and_then(|raw| u64::try_from(json::integer(raw.get())?).ok());
                if let (Some(Asked::Call(call)), Some(params)) = (token.and_then(|id| self.pending.get(&id)), params) {
                    reports.push(Report::Call(*call, CallReport::Progress(Json::from_raw(params))));
                }
            }
            _ => {}
        }
    }

    /// Its list is another one now: it is read again, but not all the time.
    fn changed(&mut self, ground: &mut Ground) {
        if self.state != State::Ready || self.stale {
            self.stale |= self.state == State::Listing;
            return;
        }
        self.stale = true;
        if self.listing.is_none() {
            self.deadline = Deadline { at: self.ready_at.plus_ms(RELIST_MS).max(ground.now), reason: Reason::LinkTimeout };
            if self.deadline.at <= ground.now {
                self.list(ground);
            }
        }
    }

    fn answered(&mut self, ground: &mut Ground, asked: Asked, outcome: Outcome<'_>, reports: &mut Vec<Report>) {
        match asked {
            Asked::Probe => self.probed(ground, outcome),
            Asked::Initialize => self.initialized(ground, outcome, reports),
            Asked::List => self.listed(ground, outcome, reports),
            Asked::Listen => {}
            Asked::Call(call) => {
                let report = match outcome {
                    Outcome::Result(raw) => CallReport::Result(Json::from_raw(raw)),
                    Outcome::Error(raw) => CallReport::Refused(Json::from_raw(raw)),
                };
                reports.push(Report::Call(call, report));
            }
        }
    }

    /// Whether it speaks the version without a handshake. Where the handshake is out already, the answer to that decides.
    fn probed(&mut self, ground: &mut Ground, outcome: Outcome<'_>) {
        let versions = |raw| json::members(raw)?.get("supportedVersions").and_then(json::strings);
        let is_modern = match outcome {
            Outcome::Result(raw) => versions(raw).is_some_and(|list| speaks_modern(&list)),
            Outcome::Error(_) => false,
        };
        self.discovered = is_modern;
        match (self.state, is_modern) {
            (State::Probing, true) => self.go_modern(ground),
            (State::Probing, false) => {
                self.go(Event::NotModern);
                self.shake(ground);
            }
            (State::Waiting | State::Opening | State::Shaking | State::Listing | State::Ready | State::Stopped, _) => {}
        }
    }

    fn go_modern(&mut self, ground: &mut Ground) {
        self.spoken = Spoken::Modern;
        self.go(Event::Modern);
        self.list(ground);
    }

    fn initialized(&mut self, ground: &mut Ground, outcome: Outcome<'_>, reports: &mut Vec<Report>) {
        if self.state != State::Shaking {
            return;
        }
        match outcome {
            Outcome::Result(raw) => {
                let version = json::members(raw).and_then(|result| result.string("protocolVersion")).unwrap_or_default();
                if !LEGACY_VERSIONS.contains(&version.as_str()) {
                    let version: String = version.chars().take(40).collect();
                    return self.fail(ground, format!("speaks a version that is not spoken here: '{version}'"), reports);
                }
                self.spoken = Spoken::Legacy;
                self.go(Event::Shook);
                self.write(ground, jsonrpc::notification("notifications/initialized", &Object::new().finish()));
                self.list(ground);
            }
            Outcome::Error(raw) => {
                let error = json::members(raw).unwrap_or_default();
                if self.discovered || refuses_handshakes(&error) {
                    return self.go_modern(ground);
                }
                self.fail(ground, format!("refused the handshake: {}", words(&error)), reports);
            }
        }
    }

    fn listed(&mut self, ground: &mut Ground, outcome: Outcome<'_>, reports: &mut Vec<Report>) {
        let Some(listing) = self.listing.as_mut() else { return };
        let next = match outcome {
            Outcome::Result(raw) => listing.page(&json::members(raw).unwrap_or_default(), &ground.config.limits),
            Outcome::Error(raw) => {
                let error = json::members(raw).unwrap_or_default();
                // A server without tools need not know how to list them.
                let has_none = error.get("code").and_then(|code| json::integer(code.get())) == Some(jsonrpc::METHOD_NOT_FOUND);
                if has_none { Ok(Next::Done) } else { Err(format!("did not list its tools: {}", words(&error))) }
            }
        };
        match next {
            Ok(Next::Page(cursor)) => {
                let params = wire::list(self.era(), &ground.config, Some(&cursor));
                self.ask(ground, Asked::List, "tools/list", params);
            }
            Ok(Next::Done) => self.complete(ground, reports),
            // A list that was read before is better than none.
            Err(why) if self.state == State::Ready => self.keep_list(ground, &why),
            Err(why) => self.fail(ground, why, reports),
        }
    }

    fn keep_list(&mut self, ground: &mut Ground, why: &str) {
        self.listing = None;
        self.ready_at = ground.now;
        self.notice(ground, Level::Warning, "link_list_kept", why);
    }

    /// Its tools are known.
    fn complete(&mut self, ground: &mut Ground, reports: &mut Vec<Report>) {
        let Some(Listing { tools, faults, .. }) = self.listing.take() else { return };
        for fault in &faults {
            self.notice(ground, Level::Warning, "link_tool", fault);
        }
        let is_new = self.tools != tools;
        self.tools = tools;
        if is_new {
            reports.push(Report::ToolsChanged);
        }
        let was_ready = self.state == State::Ready;
        self.go(Event::Listed);
        self.ready_at = ground.now;
        if !was_ready {
            let mut fields = Object::new();
            fields.string("server", &self.server.name).boolean("modern", self.era() == Era::Modern);
            fields.integer("tools", u64::try_from(self.tools.len()).unwrap_or(u64::MAX)).integer("noise", self.noise);
            ground.notice(Level::Info, "link_ready", fields);
            if self.spoken == Spoken::Modern {
                let params = wire::listen(&ground.config);
                self.ask(ground, Asked::Listen, "subscriptions/listen", params);
            }
            for order in core::mem::take(&mut self.queue) {
                self.send(ground, order);
            }
        }
        if core::mem::take(&mut self.stale) {
            self.changed(ground);
        }
    }

    fn notice(&self, ground: &mut Ground, level: Level, event: &'static str, why: &str) {
        let mut fields = Object::new();
        fields.string("server", &self.server.name).string("why", why);
        ground.notice(level, event, fields);
    }

    fn send(&mut self, ground: &mut Ground, order: CallOrder) {
        let params = wire::call(self.era(), &ground.config, &order, self.next_request);
        self.ask(ground, Asked::Call(order.call), "tools/call", params);
    }

    /// Makes a call, or has it wait until the server is ready.
    pub fn call(&mut self, ground: &mut Ground, order: CallOrder, reports: &mut Vec<Report>) {
        let limit = ground.config.limits.calls_per_server;
        let running = self.pending.len().saturating_add(u64::try_from(self.queue.len()).unwrap_or(u64::MAX));
        let mut lose = |error| reports.push(Report::Call(order.call, CallReport::Lost(error)));
        match self.state {
            State::Ready | State::Opening | State::Probing | State::Shaking | State::Listing if running >= limit => {
                let message = format!(
                    "{limit} calls to MCP server '{}' are running, as many as calls_per_server allows: wait for one to end",
                    self.server.name
                );
                lose(ToolError::new(Code::Busy, message).with("limit", Json::string("calls_per_server")));
            }
            State::Ready => self.send(ground, order),
            State::Opening | State::Probing | State::Shaking | State::Listing => self.queue.push_back(order),
            State::Waiting => {
                let wait_ms = self.deadline.at.since(ground.now);
                lose(self.lost("is not connected").with_integer("retry_after_ms", wait_ms));
            }
            State::Stopped => lose(self.lost("was stopped")),
        }
    }

    /// Takes a call back; the server is told where it got it already.
    pub fn cancel(&mut self, ground: &mut Ground, call: CallId, reason: &str) {
        self.queue.retain(|order| order.call != call);
        let id = self.pending.iter().find(|(_, asked)| **asked == Asked::Call(call)).map(|(id, _)| *id);
        if let Some(id) = id {
            self.pending.remove(&id);
            self.write(ground, jsonrpc::notification("notifications/cancelled", &wire::cancelled(id, reason)));
        }
    }

    /// The error of a call that this server cannot answer.
    fn lost(&self, what: &str) -> ToolError {
        let mut message = format!("MCP server '{}' {what}", self.server.name);
        if !self.cause.is_empty() {
            message.push_str(": it ");
            message.push_str(&self.cause);
        }
        let lines = last_lines(&self.stderr);
        if !lines.is_empty() {
            message.push_str("; its last words: ");
            message.push_str(&lines);
        }
        ToolError::new(Code::Unreachable, message).with("server", Json::string(&self.server.name))
    }

    /// Its process ended, or could not be started.
    pub fn closed(&mut self, ground: &mut Ground, detail: &str, next: LinkId, reports: &mut Vec<Report>) -> bool {
        self.link = None;
        let detail: String = detail.chars().take(300).collect();
        if self.state == State::Probing {
            // Some end when they are asked anything before the handshake.
            self.pending.clear();
            self.spoken = Spoken::Legacy;
            self.go(Event::Died);
            self.open(ground, next);
            return true;
        }
        self.fail(ground, if detail.is_empty() { "ended".to_string() } else { detail }, reports);
        false
    }

    /// It broke: calls in flight fail with the cause, and it is tried again after a while.
    fn fail(&mut self, ground: &mut Ground, cause: String, reports: &mut Vec<Report>) {
        if let Some(link) = self.link.take() {
            ground.outputs.push_back(Output::Link { link, order: LinkOrder::Close });
        }
        if self.state == State::Ready && ground.now.since(self.ready_at) >= WELL_MS {
            self.failures = 0;
        }
        self.cause = cause;
        let error = self.lost("could not answer");
        for asked in core::mem::take(&mut self.pending).values() {
            if let Asked::Call(call) = asked {
                reports.push(Report::Call(*call, CallReport::Lost(error.clone())));
            }
        }
        for order in core::mem::take(&mut self.queue) {
            reports.push(Report::Call(order.call, CallReport::Lost(error.clone())));
        }
        (self.listing, self.stale) = (None, false);
        self.go(Event::Failure);
        let wait_ms = FIRST_WAIT_MS.checked_shl(u32::try_from(self.failures.min(16)).unwrap_or(16)).unwrap_or(LONGEST_WAIT_MS);
        let wait_ms = wait_ms.min(LONGEST_WAIT_MS);
        let wait_ms = (wait_ms + ground.random.below(wait_ms / 4)).min(LONGEST_WAIT_MS);
        self.failures = self.failures.saturating_add(1);
        self.deadline = Deadline { at: ground.now.plus_ms(wait_ms), reason: Reason::LinkRetry };
        let mut fields = Object::new();
        fields.string("server", &self.server.name).string("why", &self.cause).integer("retry_ms", wait_ms);
        fields.optional_string("stderr", Some(last_lines(&self.stderr)).filter(|lines| !lines.is_empty()).as_deref());
        ground.notice(Level::Warning, "link_lost", fields);
    }

    /// Does what is due; whether it took the link of that number.
    pub fn due(&mut self, ground: &mut Ground, next: LinkId, reports: &mut Vec<Report>) -> bool {
        if self.deadline().is_none_or(|deadline| deadline.at > ground.now) {
            return false;
        }
        let seconds = self.server.timeout_ms / 1000;
        match self.state {
            State::Waiting => {
                self.open(ground, next);
                return true;
            }
            State::Probing => {
                self.go(Event::NotModern);
                self.shake(ground);
            }
            State::Opening => self.fail(ground, format!("did not start within {seconds} s"), reports),
            State::Shaking => self.fail(ground, format!("did not answer the handshake within {seconds} s"), reports),
            State::Listing => self.fail(ground, format!("did not list its tools within {seconds} s"), reports),
            State::Ready if self.listing.is_some() => self.keep_list(ground, "it did not list its tools in time"),
            State::Ready => self.list(ground),
            State::Stopped => {}
        }
        false
    }

    /// Ends it for good.
    pub fn stop(&mut self, ground: &mut Ground, reports: &mut Vec<Report>) {
        self.fail(ground, "was stopped".to_string(), reports);
        self.go(Event::Stop);
    }
}

fn speaks_modern(versions: &[String]) -> bool {
    versions.iter().any(|version| MODERN_VERSIONS.contains(&version.as_str()))
}

/// Whether an error of `initialize` says that the server speaks the version without a handshake.
fn refuses_handshakes(error: &Members<'_>) -> bool {
    let code = error.get("code").and_then(|code| json::integer(code.get()));
    let supported = error.get("data").and_then(json::members).and_then(|data| data.get("supported").and_then(json::strings));
    code == Some(UNSUPPORTED_VERSION) && supported.is_some_and(|list| speaks_modern(&list))
}

/// What an error says, cut to a readable length.
fn words(error: &Members<'_>) -> String {
    error.string("message").unwrap_or_else(|| "it gave no reason".to_string()).chars().take(300).collect()
}

/// The last lines of a text, on one line.
fn last_lines(text: &str) -> String {
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
