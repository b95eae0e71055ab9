//! MCP servers behind the gateway: a link to each of them, whose tools are offered beside the gateway's own.
//!
//! Each link has its own state, its own deadlines and its own calls, so a server that is silent or slow delays nothing but
//! itself. What a link says to calls comes out as reports, which the gateway hands on.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::call::CallId;
use crate::config::{Config, McpServer};
use crate::exchange::{self, Exchanges};
use crate::ground::Ground;
use crate::io::{AuthorizeEvent, Deadline, ExchangeId, LinkEvent, LinkId, Misuse};
use crate::json::Json;
use crate::jsonrpc::Id;
use crate::list::gather;
use crate::mcp::asks::Ask;
use crate::mcp::outcome::{Code, ToolError};
use crate::table::Table;
use crate::time::Instant;
use crate::tools::TOOLS;

pub mod again;
mod authorizing;
mod calling;
pub mod catalog;
pub mod connection;
pub mod difference;
mod handshake;
mod health;
pub mod http;
pub mod life;
pub mod listing;
pub mod mirrored;
pub mod naming;
pub mod pins;
mod questions;
mod refresh;
pub mod relay;
pub mod search;
pub mod wire;

use catalog::{Catalog, ServerNumber};
use connection::Link;
use life::State;
use pins::Pins;
use wire::CallOrder;

/// What links work with.
#[derive(Debug)]
pub struct Outside<'g> {
    /// time, randomness, configuration, outputs
    pub ground: &'g mut Ground,
    /// outgoing HTTP
    pub exchanges: &'g mut Exchanges,
}

/// What is to be done with a link: put down by calls, done by the gateway once it has taken its input in.
#[derive(Debug)]
pub enum Job {
    /// a call is to be made
    Call {
        /// by whom
        server: ServerNumber,
        /// the call
        order: CallOrder,
    },
    /// what the server asked is answered
    Answer {
        /// by whom it was asked
        server: ServerNumber,
        /// the id of its request
        id: Id,
        /// a result, or code and words of an error
        outcome: Result<Json, (i64, String)>,
    },
    /// a call is not wanted any more
    Cancel {
        /// by whom it was made
        server: ServerNumber,
        /// which
        call: CallId,
        /// why
        reason: &'static str,
    },
}

/// What a link has to say.
#[derive(Debug)]
pub enum Report {
    /// to a call
    Call(CallId, CallReport),
    /// to the client of a call: a question
    Asks(Box<ServerQuestion>),
    /// that a question needs no answer any more
    Unasks(ServerNumber, Id),
    /// to everybody: other tools are offered
    ToolsChanged,
}

/// What a server asks its client while calls run (MCP 2025-11-25, client features).
#[derive(Debug)]
pub struct ServerQuestion {
    /// who asks
    pub server: ServerNumber,
    /// the id of its request
    pub id: Id,
    /// what for
    pub ask: Ask,
    /// the parameters of its request, as they came
    pub params: Json,
    /// the calls that it may be about, the oldest first
    pub calls: Vec<CallId>,
}

/// What a link says to a call.
#[derive(Clone, Debug)]
pub enum CallReport {
    /// the server's result, as it came
    Result(Json),
    /// the server's error of JSON-RPC, as it came
    Refused(Json),
    /// how far the server is: the parameters of its notification, as they came
    Progress(Json),
    /// a message of the server's log: the parameters of its notification, as they came
    Log(Json),
    /// there will be no answer
    Lost(ToolError),
}

/// What another configuration did to the servers, by their names.
#[derive(Debug, Default)]
pub struct Changes {
    /// those that are new
    pub started: Vec<String>,
    /// those that are reached in another way now
    pub restarted: Vec<String>,
    /// those that are gone
    pub stopped: Vec<String>,
}

/// The error of a call to a server that is no longer configured.
fn gone() -> ToolError {
    ToolError::new(Code::Unreachable, "the MCP server of this tool was taken out of the configuration")
}

/// The links to all servers, in the order of the configuration.
#[derive(Debug, Default)]
pub struct Links {
    list: Vec<Link>,
    /// which server a process is
    server_of: Table<LinkId, ServerNumber>,
    next_server: u64,
    next_link: u64,
    reports: Vec<Report>,
}

impl Links {
    /// The links of a configuration, none of them connected.
    #[must_use]
    pub fn new(config: &Config, now: Instant) -> Self {
        let mut links = Self { next_link: 1, ..Self::default() };
        for server in &config.mcp_servers {
            links.begin(server, now);
        }
        links
    }

    fn begin(&mut self, server: &McpServer, now: Instant) {
        self.list.push(Link::new(ServerNumber(self.next_server), server.clone(), now));
        self.next_server += 1;
    }

    /// Goes on with the servers of another configuration: those that are reached as before stay connected.
    pub fn configure(&mut self, out: &mut Outside<'_>, servers: &[McpServer]) -> Changes {
        let mut before = core::mem::take(&mut self.list);
        let mut changes = Changes::default();
        for server in servers {
            let known = before.iter().position(|link| link.server().name == server.name).map(|at| before.remove(at));
            match known {
                Some(mut link) if link.server().is_reached_as(server) => {
                    link.adopt(server.clone(), out.ground.now);
                    self.list.push(link);
                    continue;
                }
                Some(link) => {
                    self.end(out, link, "is configured otherwise now");
                    changes.restarted.push(server.name.clone());
                }
                None => changes.started.push(server.name.clone()),
            }
            self.begin(server, out.ground.now);
        }
        for link in before {
            changes.stopped.push(link.server().name.clone());
            self.end(out, link, "was taken out of the configuration");
        }
        changes
    }

    /// Takes back the calls that did not go out yet: of servers that are ready, whose tools they knew otherwise, or of all.
    pub fn take_unsent(&mut self, ready_alone: bool) -> Vec<CallOrder> {
        let mut unsent = Vec::new();
        for link in self.list.iter_mut().filter(|link| !ready_alone || link.state == State::Ready) {
            unsent.extend(core::mem::take(&mut link.queue).into_iter().map(|order| *order));
        }
        unsent
    }

    /// Ends one for good that is no longer in the list.
    fn end(&mut self, out: &mut Outside<'_>, mut link: Link, cause: &str) {
        link.stop(out, cause, &mut self.reports);
        self.settle(link.number, false);
    }

    /// How many links there were, for a snapshot.
    #[must_use]
    pub const fn counter(&self) -> u64 {
        self.next_link
    }

    /// Takes up the count of a snapshot; it never goes back.
    pub fn restore_counter(&mut self, links: u64) {
        self.next_link = self.next_link.max(links);
    }

    fn get_mut(&mut self, server: ServerNumber) -> Option<&mut Link> {
        self.list.iter_mut().find(|link| link.number == server)
    }

    /// What happened to a link; nothing where it ended before.
    ///
    /// # Errors
    /// [`Misuse`] of a number that never was.
    pub fn event(&mut self, out: &mut Outside<'_>, link: LinkId, event: LinkEvent) -> Result<(), Misuse> {
        if link.0 == 0 || link.0 >= self.next_link {
            return Err(Misuse::LinkUnknown(link));
        }
        let Some(server) = self.server_of.get(&link).copied() else { return Ok(()) };
        let (next, mut reports) = (LinkId(self.next_link), core::mem::take(&mut self.reports));
        let mut is_taken = false;
        if let Some(known) = self.get_mut(server).filter(|known| known.link() == Some(link)) {
            match event {
                LinkEvent::Opened => known.opened(out, &mut reports),
                LinkEvent::Line(text) => known.line(out, &text, &mut reports),
                LinkEvent::LineTooLong { start, end, .. } => known.line_too_long(out, &start, &end, &mut reports),
                LinkEvent::Stderr(text) => known.stderr(&text),
                LinkEvent::Closed(detail) => is_taken = known.closed(out, &detail, next, &mut reports),
            }
        }
        self.reports = reports;
        self.settle(server, is_taken);
        Ok(())
    }

    /// What an exchange of a link says.
    pub fn exchange(&mut self, out: &mut Outside<'_>, server: ServerNumber, exchange: ExchangeId, report: exchange::Report<'_>) {
        let mut reports = core::mem::take(&mut self.reports);
        if let Some(link) = self.get_mut(server) {
            link.exchange(out, exchange, report, &mut reports);
        }
        self.reports = reports;
    }

    /// What happened about the tokens for a server.
    ///
    /// # Errors
    /// [`Misuse`] where somebody wants to log in and no server at a URL has that name. What comes late is nobody's.
    pub fn authorize(&mut self, out: &mut Outside<'_>, server: String, event: AuthorizeEvent) -> Result<(), Misuse> {
        let mut reports = core::mem::take(&mut self.reports);
        let link = self.list.iter_mut().find(|link| link.server().name == server && link.authorizing.is_some());
        let is_late = !matches!(event, AuthorizeEvent::LogIn { .. });
        let is_known = link.map(|link| link.authorize(out, event, &mut reports)).is_some();
        self.reports = reports;
        if is_known || is_late { Ok(()) } else { Err(Misuse::ServerUnknown(server)) }
    }

    /// Keeps the books on which process a server is.
    fn settle(&mut self, server: ServerNumber, is_taken: bool) {
        let current = self.get_mut(server).and_then(|link| link.link());
        self.next_link += u64::from(is_taken);
        match current {
            Some(link) if is_taken => {
                self.server_of.insert(link, server);
            }
            Some(_) => return,
            None => {}
        }
        let gone =
            gather(self.server_of.iter().filter(|(link, of)| **of == server && Some(**link) != current).map(|(link, _)| *link));
        for link in gone {
            self.server_of.remove(&link);
        }
    }

    fn numbers(&self) -> Vec<ServerNumber> {
        gather(self.list.iter().map(|link| link.number))
    }

    /// Does what is due.
    pub fn due(&mut self, out: &mut Outside<'_>) {
        for server in self.numbers() {
            let (next, mut reports) = (LinkId(self.next_link), core::mem::take(&mut self.reports));
            let is_taken = self.get_mut(server).is_some_and(|link| link.due(out, next, &mut reports));
            self.reports = reports;
            self.settle(server, is_taken);
        }
    }

    /// When something is due.
    #[must_use]
    pub fn deadline(&self) -> Option<Deadline> {
        self.list.iter().filter_map(Link::deadline).min_by_key(|deadline| deadline.at)
    }

    /// Does what a call wants.
    pub fn perform(&mut self, out: &mut Outside<'_>, job: Job) {
        let mut reports = core::mem::take(&mut self.reports);
        match job {
            Job::Call { server, order } => match self.get_mut(server) {
                Some(link) => link.call(out, order, &mut reports),
                None => reports.push(Report::Call(order.call, CallReport::Lost(gone()))),
            },
            Job::Answer { server, id, outcome } => {
                if let Some(link) = self.get_mut(server) {
                    link.answer(out, &id, outcome);
                }
            }
            Job::Cancel { server, call, reason } => {
                if let Some(link) = self.get_mut(server) {
                    link.cancel(out, call, reason);
                }
            }
        }
        self.reports = reports;
    }

    /// What the links have to say.
    pub fn take_reports(&mut self) -> Vec<Report> {
        core::mem::take(&mut self.reports)
    }

    /// The servers whose tools are not known, each with what the names of its tools begin with.
    #[must_use]
    pub fn unlisted(&self) -> Vec<(&McpServer, String)> {
        let unlisted = self.list.iter().filter(|link| !link.is_listed()).map(Link::server);
        gather(unlisted.map(|server| (server, naming::composed(&server.name, ""))))
    }

    /// Holds the tools of all servers against the pins once more.
    pub fn look(&mut self, out: &mut Outside<'_>) {
        self.list.iter().for_each(|link| link.look(out));
    }

    /// The tools of all servers as they stand now.
    #[must_use]
    pub fn catalog(&self, pins: &Pins) -> Catalog {
        let servers =
            self.list.iter().map(|link| (link.number, link.server().name.as_str(), link.server().timeout_ms, link.tools()));
        let reserved = |name: &str| TOOLS.iter().any(|tool| tool.name == name);
        Catalog::new(&gather(servers), reserved, |server, tool| pins.reason(server, tool))
    }

    /// Whether every server has told its tools.
    #[must_use]
    pub fn are_listed(&self) -> bool {
        self.list.iter().all(Link::is_listed)
    }

    /// The server that a name may be of a tool of, where it has not told its tools yet, the error of a call, and whether it
    /// is being asked for them now.
    #[must_use]
    pub fn awaited(&self, tool: &str) -> Option<(&str, ToolError, bool)> {
        let is_of = |link: &&Link| tool.starts_with(&naming::composed(&link.server().name, ""));
        let link = self.list.iter().filter(|link| !link.is_listed()).find(is_of)?;
        Some((link.server().name.as_str(), link.not_listed(), link.is_connecting()))
    }

    /// Ends all of them for good.
    pub fn stop(&mut self, out: &mut Outside<'_>) {
        for server in self.numbers() {
            let mut reports = core::mem::take(&mut self.reports);
            if let Some(link) = self.get_mut(server) {
                link.stop(out, "was stopped", &mut reports);
            }
            self.reports = reports;
            self.settle(server, false);
        }
    }
}
