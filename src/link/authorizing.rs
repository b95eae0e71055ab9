//! A server that wants to be told by a token who asks: requests wait until there is one, and are made once more with it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::connection::{Asked, Link, Wire};
use super::http::{self, Refusal};
use super::life::{Event, State};
use super::wire::CallOrder;
use super::{CallReport, Outside, Report};
use crate::config::{Oauth, Transport};
use crate::exchange::{self, Owner, Plan, Want};
use crate::io::{AuthorizeEvent, Deadline, ExchangeId, Level, Output, Reason, TokenOrder};
use crate::json::{Json, Object};
use crate::mcp::outcome::{Code, ToolError};
use crate::oauth::request::Ask;
use crate::oauth::{Around, Authorization, Step};
use crate::redirect;
use crate::registry::Credentials;
use crate::time::Instant;
use crate::url::Url;

/// The longest document, and the longest answer with tokens.
const ANSWER_BYTES: u64 = 1 << 18;

/// How a server is told who asks.
#[derive(Debug)]
pub(super) struct Authorizing {
    machine: Authorization,
    /// the request that runs
    exchange: Option<ExchangeId>,
    /// when what runs is given up
    pub until: Option<Instant>,
    /// whether the server was ready before
    resumes: bool,
    /// whether it told of changes then
    listens: bool,
}

impl Authorizing {
    pub(super) fn new(settings: Oauth, server: Url) -> Self {
        Self { machine: Authorization::new(settings, server), exchange: None, until: None, resumes: false, listens: false }
    }
}

impl Link {
    /// Lets the machine take something in, and does what it wants next.
    fn drive(
        &mut self,
        out: &mut Outside<'_>,
        reports: &mut Vec<Report>,
        take: impl FnOnce(&mut Authorization, &mut Around<'_>) -> Step,
    ) {
        let Some(authorizing) = &mut self.authorizing else { return };
        let (now, name) = (out.ground.wall(), out.ground.config.name.clone());
        let mut around = Around { random: &mut out.ground.random, now, name: &name };
        let step = take(&mut authorizing.machine, &mut around);
        self.perform(out, step, reports);
    }

    fn perform(&mut self, out: &mut Outside<'_>, mut step: Step, reports: &mut Vec<Report>) {
        let Some(authorizing) = &mut self.authorizing else { return };
        if let Step::Fetch(ask) = step {
            abort(out, &mut authorizing.exchange);
            match fetch(out, &self.wire, ask) {
                Ok(exchange) => {
                    authorizing.exchange = Some(exchange);
                    step = Step::Wait;
                }
                Err(failure) => step = authorizing.machine.unanswered(&http::words(&failure)),
            }
        }
        authorizing.until = authorizing.machine.is_busy().then(|| out.ground.now.plus_ms(self.server.timeout_ms));
        out.ground.untraced.extend(authorizing.machine.secrets().cloned());
        let url = self.url();
        if let Some(record) = self.authorizing.as_mut().and_then(|authorizing| authorizing.machine.take_unsaved()) {
            self.order(out, &url, TokenOrder::Save(record));
        }
        match step {
            Step::Wait | Step::Fetch(_) => {}
            Step::Load { refresh } => self.order(out, &url, TokenOrder::Load { refresh }),
            Step::Open(place) => {
                let mut fields = Object::new();
                fields.string("server", &self.server.name).string("url", place.as_str());
                out.ground.notice(Level::Info, "authorization_url", fields);
            }
            Step::Go => self.go_on(out, reports),
            Step::Person(why) => self.lock(out, "authorization_needed", why, reports),
            Step::Denied(why) => self.lock(out, "authorization_failed", why, reports),
            Step::Failed(why) => match self.state {
                State::Ready | State::Locked => self.notice(out, Level::Warning, "authorization_failed", &why),
                State::Waiting
                | State::Opening
                | State::Probing
                | State::Shaking
                | State::Listing
                | State::Authorizing
                | State::Stopped => self.fail(out, why, reports),
            },
        }
    }

    fn url(&self) -> String {
        match &self.server.transport {
            Transport::Http { url, .. } => String::from(url.as_str()),
            Transport::Stdio { .. } => String::new(),
        }
    }

    fn order(&self, out: &mut Outside<'_>, url: &str, order: TokenOrder) {
        let (server, url) = (self.server.name.clone(), String::from(url));
        out.ground.outputs.push_back(Output::Tokens { server, url, order });
    }

    /// Before it is connected: there may be a token for it.
    pub(super) fn begin(&mut self, out: &mut Outside<'_>, reports: &mut Vec<Report>) {
        if self.authorizing.is_some() {
            self.drive(out, reports, |machine, _| machine.begin());
        } else {
            self.connect(out, reports);
        }
    }

    /// There is a token, or it goes on without one.
    fn go_on(&mut self, out: &mut Outside<'_>, reports: &mut Vec<Report>) {
        let Some(authorizing) = &mut self.authorizing else { return };
        let (resumes, listens) = (core::mem::take(&mut authorizing.resumes), core::mem::take(&mut authorizing.listens));
        let is_new = authorizing.machine.token().is_some() && !authorizing.machine.is_from_store();
        if let Wire::Http(wire) = &mut self.wire {
            wire.authorize(authorizing.machine.token(), authorizing.machine.number());
        }
        if is_new {
            let mut fields = Object::new();
            fields.string("server", &self.server.name);
            out.ground.notice(Level::Info, "authorized", fields);
        }
        match self.state {
            State::Authorizing if resumes => {
                self.go(Event::Renewed);
                for order in core::mem::take(&mut self.queue) {
                    self.send(out, order, reports);
                }
                if core::mem::take(&mut self.stale) {
                    self.list(out, reports);
                }
                if listens {
                    self.listen(out, reports);
                }
            }
            State::Authorizing | State::Locked => {
                self.go(Event::Authorized);
                self.due_in(out, self.server.timeout_ms);
                self.connect(out, reports);
            }
            State::Opening => self.connect(out, reports),
            // A token that reaches further replaced one that was good.
            State::Ready | State::Waiting | State::Probing | State::Shaking | State::Listing | State::Stopped => {}
        }
    }

    /// A person has to log in, or tried to. A server that is ready stays so: its token is good for all else.
    fn lock(&mut self, out: &mut Outside<'_>, event: &'static str, why: String, reports: &mut Vec<Report>) {
        if !self.authorizing.as_ref().is_some_and(|authorizing| authorizing.machine.is_with_person()) {
            self.notice(out, Level::Warning, event, &why);
        }
        match self.state {
            State::Ready | State::Stopped => {}
            State::Waiting
            | State::Opening
            | State::Probing
            | State::Shaking
            | State::Listing
            | State::Authorizing
            | State::Locked => {
                if let Wire::Http(wire) = &mut self.wire {
                    wire.reset(out);
                }
                let error = self.login_needed(&why);
                self.lose(&error, reports);
                self.state = State::Authorizing.after(Event::LoginNeeded);
                self.cause = why;
            }
        }
    }

    /// The error of a call that only a person can help.
    pub(super) fn login_needed(&self, why: &str) -> ToolError {
        let name = &self.server.name;
        let message = format!(
            "MCP server '{name}' {why}: somebody has to log in, with `narrows mcp login {name}` or through the program that runs this gateway, and then the call can be made again"
        );
        let login_needed = Json::parse("true", 0).unwrap_or_else(|_| Json::null());
        ToolError::new(Code::Blocked, message).with("server", Json::string(name)).with("login_needed", login_needed)
    }

    /// It does not take the token of a request, or the lack of one.
    pub(super) fn refused(&mut self, out: &mut Outside<'_>, id: Option<u64>, refusal: Refusal, reports: &mut Vec<Report>) {
        let asked = id.and_then(|id| self.pending.remove(&id));
        if refusal.is_insufficient {
            return self.insufficient(out, asked, refusal, reports);
        }
        match asked {
            Some(Asked::Call(order)) if order.again => {
                let error = ToolError::new(Code::Unreachable, format!("MCP server '{}' refuses its token", self.server.name));
                let error = error.with("server", Json::string(&self.server.name));
                reports.push(Report::Call(order.call, CallReport::Lost(error)));
            }
            Some(Asked::Call(mut order)) => {
                order.again = true;
                // The token that it went with was replaced meanwhile.
                if !refusal.is_current && self.state == State::Ready {
                    return self.send(out, order, reports);
                }
                self.queue.push_back(order);
            }
            Some(Asked::List) => (self.listing, self.stale) = (None, true),
            Some(Asked::Listen) if !refusal.is_current && self.state == State::Ready => return self.listen(out, reports),
            Some(Asked::Listen) => {
                if let Some(authorizing) = &mut self.authorizing {
                    authorizing.listens = true;
                }
            }
            // A ping that is refused was answered all the same.
            Some(Asked::Ping) => self.is_alive(),
            Some(Asked::Probe | Asked::Initialize) | None => {}
        }
        if refusal.is_current && self.state != State::Authorizing {
            self.challenge(out, reports, |machine, around| machine.challenged(refusal.challenge, around));
        } else if self.state == State::Ready && core::mem::take(&mut self.stale) {
            self.list(out, reports);
        }
    }

    /// Has a token asked for: once, whoever wants it.
    fn challenge(
        &mut self,
        out: &mut Outside<'_>,
        reports: &mut Vec<Report>,
        take: impl FnOnce(&mut Authorization, &mut Around<'_>) -> Step,
    ) {
        let resumes = self.state == State::Ready;
        if let Some(authorizing) = &mut self.authorizing {
            authorizing.resumes = resumes;
        }
        self.go(Event::Challenged);
        self.drive(out, reports, take);
    }

    /// The token of a request does not reach far enough.
    fn insufficient(&mut self, out: &mut Outside<'_>, asked: Option<Asked>, refusal: Refusal, reports: &mut Vec<Report>) {
        let Some(authorizing) = &mut self.authorizing else { return };
        let step = authorizing.machine.insufficient(refusal.challenge);
        match (asked, &step) {
            (Some(Asked::Call(order)), Step::Failed(why)) => {
                let error = ToolError::new(Code::Blocked, format!("MCP server '{}' {why}", self.server.name));
                reports.push(Report::Call(order.call, CallReport::Lost(error.with("server", Json::string(&self.server.name)))));
            }
            (Some(Asked::Call(order)), Step::Person(why)) => {
                self.wants_login(&order, why, reports);
                self.perform(out, step, reports);
            }
            (Some(Asked::List), Step::Failed(why) | Step::Person(why)) if self.state == State::Ready => self.keep_list(out, why),
            (Some(Asked::Ping), _) => self.is_alive(),
            (Some(Asked::Listen) | None, _) => {}
            (Some(Asked::Probe | Asked::Initialize | Asked::List | Asked::Call(_)), _) => self.perform(out, step, reports),
        }
    }

    fn wants_login(&self, order: &CallOrder, why: &str, reports: &mut Vec<Report>) {
        reports.push(Report::Call(order.call, CallReport::Lost(self.login_needed(why))));
    }

    /// A token that is about to end is replaced before a call goes out with it.
    pub(super) fn renew_stale(&mut self, out: &mut Outside<'_>, reports: &mut Vec<Report>) {
        let now = out.ground.wall();
        let is_stale = self.authorizing.as_ref().is_some_and(|authorizing| authorizing.machine.is_stale(now));
        if is_stale && self.state == State::Ready {
            self.challenge(out, reports, Authorization::renew);
        }
    }

    /// The server took the token. What it says of it is nobody's business.
    pub(super) fn accepted(&mut self, text: String) -> String {
        let Some(authorizing) = &mut self.authorizing else { return text };
        authorizing.machine.accepted();
        if authorizing.machine.token().is_none() { text } else { authorizing.machine.redact(text) }
    }

    /// The server took the token, whatever it answered.
    pub(super) fn token_taken(&mut self) {
        if let Some(authorizing) = &mut self.authorizing {
            authorizing.machine.accepted();
        }
    }

    /// What the host tells.
    pub fn authorize(&mut self, out: &mut Outside<'_>, event: AuthorizeEvent, reports: &mut Vec<Report>) {
        match event {
            AuthorizeEvent::LogIn { redirect_uri } => {
                let Some(authorizing) = &mut self.authorizing else { return };
                abort(out, &mut authorizing.exchange);
                let step = authorizing.machine.log_in(redirect_uri);
                if step != Step::Go {
                    return self.perform(out, step, reports);
                }
                // It has not said what it wants: it is asked anew, without a token.
                if self.state != State::Stopped {
                    self.part(out, "is logged in to".into(), reports);
                    self.go(Event::Failure);
                    self.deadline = Deadline { at: out.ground.now, reason: Reason::LinkRetry };
                }
            }
            AuthorizeEvent::CameBack { query } => self.drive(out, reports, |machine, _| machine.answered(&query)),
            AuthorizeEvent::Tokens { record } => {
                self.drive(out, reports, |machine, around| machine.loaded(record.as_deref(), around));
            }
        }
    }

    /// What an exchange says, unless it is the one about tokens.
    pub(super) fn token_report<'e>(
        &mut self,
        out: &mut Outside<'_>,
        exchange: ExchangeId,
        report: exchange::Report<'e>,
        reports: &mut Vec<Report>,
    ) -> Option<exchange::Report<'e>> {
        let Some(authorizing) = self.authorizing.as_mut().filter(|authorizing| authorizing.exchange == Some(exchange)) else {
            return Some(report);
        };
        authorizing.exchange = None;
        match report {
            exchange::Report::Reply(reply) => {
                self.drive(out, reports, |machine, around| machine.replied(reply.status, &reply.body, around));
            }
            exchange::Report::Failed(failure) => {
                self.drive(out, reports, |machine, _| machine.unanswered(&http::words(&failure)));
            }
            exchange::Report::Event(_) | exchange::Report::Closed(_) => {}
        }
        None
    }

    /// What was asked for a token may take too long.
    pub(super) fn token_due(&mut self, out: &mut Outside<'_>, reports: &mut Vec<Report>) {
        let Some(authorizing) = &mut self.authorizing else { return };
        if authorizing.until.take_if(|until| *until <= out.ground.now).is_some() {
            abort(out, &mut authorizing.exchange);
            self.drive(out, reports, |machine, _| machine.unanswered("does not answer in time"));
        }
    }

    /// What runs about tokens is given up.
    pub(super) fn give_up_tokens(&mut self, out: &mut Outside<'_>) {
        let url = self.url();
        let Some(authorizing) = &mut self.authorizing else { return };
        authorizing.resumes = false;
        if authorizing.machine.is_refreshing() {
            return;
        }
        abort(out, &mut authorizing.exchange);
        authorizing.machine.reset();
        authorizing.until = None;
        if let Some(record) = authorizing.machine.take_unsaved() {
            self.order(out, &url, TokenOrder::Save(record));
        }
    }
}

fn abort(out: &mut Outside<'_>, exchange: &mut Option<ExchangeId>) {
    if let Some(exchange) = exchange.take() {
        out.exchanges.abort(out.ground, exchange);
    }
}

/// Makes a request about tokens. None of the server's own header fields goes with it.
fn fetch(out: &mut Outside<'_>, wire: &Wire, ask: Ask) -> Result<ExchangeId, exchange::Failure> {
    let Wire::Http(wire) = wire else { return Err(exchange::Failure::Blocked(String::new())) };
    let Ask { method, url, headers, credentials, body } = ask;
    let credentials = credentials.map(|field| Credentials { origin: url.origin(), headers: alloc::vec![field] });
    let registered = wire.url().clone();
    let by_public = redirect::is_public(&registered);
    let plan = Plan { method, url, headers, body, credentials, registered, by_public, want: Want::Secret(ANSWER_BYTES) };
    out.exchanges.start(out.ground, Owner::Link(wire.number()), plan)
}
