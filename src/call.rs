//! The life of a tool call, from its request to its one answer.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use self::dispatch::{Dispatch, Sink};
use self::pace::Pace;

use crate::exchange::{Exchanges, Failure, Owner, Plan, Report, Want};
use crate::ground::Ground;
use crate::held::Share;
use crate::http;
use crate::incoming::NOBODY;
use crate::io::{Deadline, ExchangeId, Level, PeerId};
use crate::json::{Json, Object};
use crate::jsonrpc::{self, Id};
use crate::link::CallReport;
use crate::list::gather;
use crate::mcp::asks::{Answers, Capabilities, Question};
use crate::mcp::era::Era;
use crate::mcp::outcome::{Code, ToolError, ToolResult};
use crate::scope::Scope;
use crate::served::ServedTasks;
use crate::trace_context::TraceContext;

pub mod approving;
pub mod asking;
pub mod broadcast;
pub mod card;
pub mod connect;
pub mod directory;
pub mod discovery;
pub mod dispatch;
pub mod fault;
pub mod finding;
pub mod fitting;
pub mod kept;
pub mod life;
pub mod linked;
pub mod outgoing;
pub mod pace;
pub mod ping;
pub mod policy;
pub mod push;
pub mod questions;
pub mod rounds;
pub mod route;
pub mod send;
pub mod target;
pub mod task;
pub mod underway;

/// A call, in the order of their beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallId(pub u64);

/// How a call ended.
pub type Ended = Result<ToolResult, ToolError>;

/// Who asked, and what is told while a call runs.
#[derive(Clone, Debug)]
pub struct Caller {
    /// the call
    pub call: CallId,
    /// the peer
    pub peer: PeerId,
    /// the id of its request
    pub request: Id,
    /// how the answer is shaped
    pub era: Era,
    /// the token of its progress notifications
    pub progress_token: Option<Json>,
    /// how far its last progress notification was
    pub progress: Option<u64>,
    /// how often it is told
    pub pace: Pace,
    /// the least level of its log messages
    pub log_level: Option<Level>,
    /// what it may be asked
    pub capabilities: Capabilities,
    /// how many questions it was asked
    pub asked: u64,
    /// the approval with which it is started again
    pub approval: Option<String>,
    /// what its `_meta` holds for whoever the call goes on to
    pub meta: Vec<(String, Json)>,
    /// its own place in the trace that it belongs to
    pub trace: Option<TraceContext>,
    /// what is held of its request
    pub share: Option<Share>,
}

impl Caller {
    /// A caller who is told nothing but the answer.
    #[must_use]
    pub fn new(call: CallId, peer: PeerId, request: Id, era: Era) -> Self {
        let capabilities = Capabilities::none();
        let (progress_token, progress, log_level, trace, share) = (None, None, None, None, None);
        Self {
            call,
            peer,
            request,
            era,
            progress_token,
            progress,
            pace: Pace::default(),
            log_level,
            capabilities,
            asked: 0,
            approval: None,
            meta: Vec::new(),
            trace,
            share,
        }
    }
}

/// What a call works with.
#[derive(Debug)]
pub struct Run<'g> {
    /// time, randomness, configuration, outputs
    pub ground: &'g mut Ground,
    /// the state of the caller's scope
    pub scope: &'g mut Scope,
    /// outgoing HTTP
    pub exchanges: &'g mut Exchanges,
    /// the tasks that are served
    pub served: &'g mut ServedTasks,
    /// the name of the caller's scope
    pub scope_name: &'g str,
    /// who asked
    pub caller: &'g mut Caller,
    /// what the caller answered to the questions that the call was started with before
    pub answers: Answers,
    /// an alias whose calls end because it was disconnected
    pub disconnected: Option<String>,
    /// work that goes on by itself
    pub dispatched: Vec<Dispatch>,
}

impl<'g> Run<'g> {
    /// What a call works with, before it did anything.
    #[must_use]
    pub fn new(
        ground: &'g mut Ground,
        (scope_name, scope): (&'g str, &'g mut Scope),
        exchanges: &'g mut Exchanges,
        served: &'g mut ServedTasks,
        caller: &'g mut Caller,
    ) -> Self {
        let (answers, disconnected, dispatched) = (Answers::none(), None, Vec::new());
        ground.held.turn_to(scope_name);
        Self { ground, scope, exchanges, served, scope_name, caller, answers, disconnected, dispatched }
    }

    /// What was asked for is a message now, which counts by itself: of the request the rest of its `_meta` is held.
    pub fn hold_meta_alone(&mut self) {
        let bytes: usize = self.caller.meta.iter().map(|(name, value)| name.len() + value.as_str().len()).sum();
        if let Some(share) = &mut self.caller.share {
            share.set(u64::try_from(bytes).unwrap_or(u64::MAX));
        }
    }

    /// Tells the caller how far the call is, where it asked for that and was not told too often.
    pub fn progress(&mut self, message: &str) {
        if let Some(told) = self.step(self.next_step(), message, None) {
            self.pace(told);
        }
    }

    /// The same at each of so many steps.
    pub fn progress_of(&mut self, message: &str, total: u64) {
        if let Some(told) = self.step(self.next_step(), message, Some(total)) {
            self.say(told);
        }
    }

    /// The same at a step of its own.
    #[cfg(any(test, narrows_fixtures))]
    pub fn progress_at(&mut self, progress: u64, message: &str, total: u64) {
        if let Some(told) = self.step(progress, message, Some(total)) {
            self.say(told);
        }
    }

    /// Tells the caller a progress notification, unless it had so many that this one waits.
    pub fn pace(&mut self, notification: Json) {
        if let Some(told) = self.caller.pace.take(self.ground.now, notification) {
            self.say(told);
        }
    }

    /// Tells what waited, where it may be told now or the call is over.
    pub fn tell_held(&mut self, is_over: bool) {
        if let Some(told) = self.caller.pace.release(self.ground.now, is_over) {
            self.say(told);
        }
    }

    fn next_step(&self) -> u64 {
        self.caller.progress.map_or(1, |before| before.saturating_add(1))
    }

    /// The notification of a step. One that is not above the one before is not told (MCP, progress).
    fn step(&mut self, progress: u64, message: &str, total: Option<u64>) -> Option<Json> {
        let token = self.caller.progress_token.clone()?;
        if self.caller.progress.replace(progress).is_some_and(|before| before >= progress) {
            return None;
        }
        let mut params = Object::new();
        params.json("progressToken", &token).integer("progress", progress);
        if let Some(total) = total {
            params.integer("total", total);
        }
        // The token is the caller's own and goes back as it came.
        params.json("message", &self.scope.secrets.redact_json(Json::string(message)));
        Some(jsonrpc::notification("notifications/progress", &params.finish()))
    }

    /// Tells the caller's log what was worked around or failed.
    pub fn log(&mut self, level: Level, text: &str) {
        if self.caller.log_level.is_none_or(|least| level < least) {
            return;
        }
        let mut params = Object::new();
        params.string("level", level.name()).string("logger", "narrows");
        params.json("data", &self.scope.secrets.redact_json(Json::string(text)));
        self.say(jsonrpc::notification("notifications/message", &params.finish()));
    }

    pub(crate) fn say(&mut self, message: Json) {
        if self.caller.peer == NOBODY {
            return self.ground.unheard.push_back((self.caller.call, message));
        }
        self.ground.say(self.caller.peer, Some(&self.caller.request), false, None, message);
    }

    /// Starts an exchange of this call.
    ///
    /// # Errors
    /// As [`Exchanges::start`].
    pub fn start(&mut self, plan: Plan) -> Result<ExchangeId, Failure> {
        let plan = self.kept_to_origin(plan)?;
        self.exchanges.start(self.ground, Owner::Call(self.caller.call), plan)
    }

    /// Starts an exchange that outlives this call and that nobody waits for.
    pub fn start_unowned(&mut self, plan: Plan) {
        // A refused address needs no cancelling.
        let _ = self.kept_to_origin(plan).and_then(|plan| self.exchanges.start(self.ground, Owner::Nobody, plan));
    }

    /// Tells which trace an exchange belongs to, but for what the user tells of that, and for what would hold a secret.
    fn add_trace(&self, plan: &mut Plan) {
        let Some(trace) = &self.caller.trace else { return };
        let given = plan.credentials.as_ref().map_or(&[][..], |credentials| &credentials.headers);
        for (name, value) in trace.headers() {
            let known = self.scope.secrets.redact(value.clone()) != value;
            if http::header(given, name).is_none() && !known && outgoing::is_clean(&value) {
                plan.headers.push((String::from(name), value));
            }
        }
    }

    /// The plan without secrets, where it leads to another origin than the registered one: an agent may have made them
    /// part of an id that goes out with the next message.
    fn kept_to_origin(&self, mut plan: Plan) -> Result<Plan, Failure> {
        self.add_trace(&mut plan);
        if plan.url.origin() == plan.registered.origin() {
            return Ok(plan);
        }
        if self.scope.secrets.redact(String::from(plan.url.as_str())) != plan.url.as_str() {
            return Err(Failure::Blocked(format!("its address at {} would hold a credential", plan.url.origin())));
        }
        plan.body = plan.body.map(|body| self.scope.secrets.redact_json(Json::trusted(body)).into_string());
        Ok(plan)
    }

    /// The size that a reply may have.
    #[must_use]
    pub fn reply(&self) -> Want {
        Want::Body(self.ground.config.limits.reply_bytes)
    }
}

/// The work of a call that goes on after its start.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "it is boxed as a whole, and most calls are sends")]
pub enum Work {
    /// connecting an agent: its card
    Connect(connect::Connect),
    /// reading a card
    Card(card::ReadCard),
    /// sending a message
    Send(send::Send),
    /// reading or canceling a task
    Task(task::TaskCall),
    /// sending a message to several agents
    Broadcast(broadcast::Broadcast),
    /// pinging an agent
    Ping(ping::Ping),
    /// asking a directory
    Directory(directory::AskDirectory),
    /// delivering changes of a served task
    Push(push::Delivery),
    /// waiting for what the client answers
    Asking(asking::Asking),
    /// waiting for a person
    Approving(approving::Approving),
    /// calling a tool of an MCP server
    Linked(linked::LinkedCall),
    /// nothing more: its client comes back for the outcome
    Kept(kept::Kept),
}

impl Work {
    /// Takes a report of one of its exchanges in.
    pub fn report(&mut self, run: &mut Run<'_>, exchange: ExchangeId, report: Report<'_>) -> Option<Ended> {
        match self {
            Self::Connect(work) => work.report(run, exchange, report),
            Self::Card(work) => work.report(run, exchange, report),
            Self::Send(work) => work.report(run, exchange, report),
            Self::Task(work) => work.report(run, exchange, report),
            Self::Broadcast(work) => work.report(run, exchange, report),
            Self::Ping(work) => work.report(run, exchange, report),
            Self::Directory(work) => work.report(run, exchange, report),
            Self::Push(work) => work.report(run, exchange, report),
            Self::Asking(_) | Self::Approving(_) | Self::Linked(_) | Self::Kept(_) => None,
        }
    }

    /// Takes a report of a link in.
    pub fn linked(&mut self, run: &mut Run<'_>, report: CallReport) -> Option<Ended> {
        if let Self::Linked(work) = self { work.report(run, report) } else { None }
    }

    /// Does what is due now.
    pub fn due(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        if self.deadline().is_none_or(|deadline| deadline.at > run.ground.now) {
            return None;
        }
        match self {
            Self::Connect(work) => work.due(run),
            Self::Card(work) => work.due(run),
            Self::Send(work) => work.due(run),
            Self::Task(work) => work.due(run),
            Self::Broadcast(work) => work.due(run),
            Self::Ping(work) => work.due(run),
            Self::Directory(work) => work.due(run),
            Self::Push(work) => work.due(run),
            Self::Asking(work) => work.due(run),
            Self::Approving(work) => work.due(run),
            Self::Linked(work) => work.due(run),
            Self::Kept(work) => Some(work.ended.clone()),
        }
    }

    /// A look-up of the card of its agent has ended, for which it may have waited.
    pub fn looked_up(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        match self {
            Self::Send(work) => work.looked_up(run),
            Self::Task(work) => work.looked_up(run),
            Self::Broadcast(work) => work.looked_up(run),
            Self::Connect(_) | Self::Card(_) | Self::Ping(_) | Self::Directory(_) => None,
            Self::Push(_) | Self::Asking(_) | Self::Approving(_) | Self::Linked(_) | Self::Kept(_) => None,
        }
    }

    /// When something is due.
    #[must_use]
    pub fn deadline(&self) -> Option<Deadline> {
        match self {
            Self::Connect(work) => Some(work.deadline()),
            Self::Card(work) => Some(work.deadline()),
            Self::Send(work) => work.deadline(),
            Self::Task(work) => Some(work.deadline()),
            Self::Broadcast(work) => work.deadline(),
            Self::Ping(work) => Some(work.deadline()),
            Self::Directory(work) => Some(work.deadline()),
            Self::Push(work) => work.deadline(),
            Self::Asking(work) => Some(work.deadline()),
            Self::Approving(work) => Some(work.deadline()),
            Self::Linked(work) => Some(work.deadline()),
            Self::Kept(work) => Some(work.deadline()),
        }
    }

    /// Stops: exchanges are aborted; a task that the agent runs for a caller who cancelled is canceled there too.
    pub fn stop(&mut self, run: &mut Run<'_>, cancelled: bool) {
        match self {
            Self::Connect(work) => work.stop(run),
            Self::Card(work) => work.stop(run),
            Self::Send(work) => work.stop(run, cancelled),
            Self::Task(work) => work.stop(run),
            Self::Broadcast(work) => work.stop(run, cancelled),
            Self::Ping(work) => work.stop(run),
            Self::Directory(work) => work.stop(run),
            Self::Push(work) => work.stop(run),
            // A caller who cancelled or left is asked nothing more, and knows it.
            Self::Asking(_) | Self::Kept(_) => {}
            Self::Approving(work) => work.withdraw(run),
            Self::Linked(work) => work.cancel(run, if cancelled { "the caller cancelled" } else { "the caller left" }),
        }
    }

    /// The aliases that the call is for.
    #[must_use]
    pub fn aliases(&self) -> Vec<String> {
        let target = match self {
            Self::Connect(work) => work.target(),
            Self::Card(work) => work.target(),
            Self::Send(work) => work.target(),
            Self::Task(work) => work.target(),
            Self::Ping(work) => work.target(),
            Self::Broadcast(work) => return gather(work.running().map(String::from)),
            Self::Directory(_) | Self::Push(_) | Self::Asking(_) | Self::Approving(_) => return Vec::new(),
            Self::Linked(_) | Self::Kept(_) => return Vec::new(),
        };
        gather(target.alias.iter().map(|(alias, _)| alias.clone()))
    }

    /// What a client is asked by the result of the call, which goes on meanwhile.
    #[must_use]
    pub fn questions(&self) -> Vec<Question> {
        match self {
            Self::Linked(work) => work.open_questions(),
            Self::Approving(work) => gather(work.question()),
            Self::Connect(_) | Self::Card(_) | Self::Send(_) | Self::Task(_) | Self::Broadcast(_) | Self::Ping(_) => Vec::new(),
            Self::Directory(_) | Self::Push(_) | Self::Asking(_) | Self::Kept(_) => Vec::new(),
        }
    }

    /// Tells the caller which questions need no answer any more, where it was asked any.
    pub fn withdraw(&mut self, run: &mut Run<'_>) {
        if let Self::Asking(work) = self {
            work.withdraw(run);
        }
    }

    /// Ends what it does because its agent or the gateway goes, with what was received.
    pub fn interrupted(&mut self, run: &mut Run<'_>, why: &str) -> Ended {
        self.withdraw(run);
        let error = ToolError::new(Code::Canceled, format!("{why} while this call was running"));
        match self {
            Self::Send(work) => return work.fail(run, error),
            Self::Broadcast(work) => work.interrupt(run, &error),
            Self::Connect(_) | Self::Card(_) | Self::Task(_) | Self::Ping(_) | Self::Directory(_) | Self::Push(_) => {
                self.stop(run, false);
            }
            Self::Linked(_) | Self::Approving(_) => self.stop(run, false),
            Self::Asking(_) | Self::Kept(_) => {}
        }
        Err(match self {
            Self::Task(work) => error.with("task_id", Json::string(work.task_id())),
            Self::Send(_) | Self::Connect(_) | Self::Card(_) | Self::Broadcast(_) | Self::Ping(_) => error,
            Self::Directory(_) | Self::Push(_) | Self::Asking(_) | Self::Approving(_) | Self::Linked(_) | Self::Kept(_) => error,
        })
    }

    /// Ends what it does at an alias that was disconnected; `None` where other agents go on.
    pub fn disconnect(&mut self, run: &mut Run<'_>, alias: &str) -> Option<Ended> {
        if let Self::Broadcast(work) = self {
            return work.disconnect(run, alias);
        }
        Some(self.interrupted(run, &format!("agent '{alias}' was disconnected")))
    }

    /// The sends that run, for a gateway that goes on without them.
    #[must_use]
    pub fn underway(&self) -> Vec<underway::Underway> {
        match self {
            Self::Connect(_) | Self::Card(_) | Self::Task(_) | Self::Ping(_) | Self::Directory(_) => Vec::new(),
            Self::Push(_) | Self::Asking(_) | Self::Approving(_) | Self::Linked(_) | Self::Kept(_) => Vec::new(),
            Self::Send(work) => gather([work.underway()]),
            Self::Broadcast(work) => gather(work.sends().map(|(_, send)| send.underway())),
        }
    }

    /// The task that the agent is known to run, for a caller who loses the call.
    #[must_use]
    pub fn task_id(&self) -> Option<String> {
        match self {
            Self::Connect(_) | Self::Card(_) | Self::Broadcast(_) | Self::Ping(_) | Self::Directory(_) => None,
            Self::Push(_) | Self::Asking(_) | Self::Approving(_) | Self::Linked(_) | Self::Kept(_) => None,
            Self::Send(work) => work.task_id(),
            Self::Task(work) => Some(String::from(work.task_id())),
        }
    }
}

/// A call that goes on.
#[derive(Debug)]
pub struct Call {
    /// who asked
    pub caller: Caller,
    /// where its outcome goes
    pub sink: Sink,
    /// the scope of its peer
    pub scope: String,
    /// what is run
    pub subject: crate::mcp::subject::Subject,
    /// what is being done
    pub work: alloc::boxed::Box<Work>,
    /// when it began
    pub started: crate::time::Instant,
    /// when something is due
    pub timer: Option<Deadline>,
}
