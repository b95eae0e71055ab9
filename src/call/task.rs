//! Reading or canceling a task by its id.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use super::finding::{Finding, Found};
use super::route::Route;
use super::send::task_result;
use super::target::Target;
use super::{Ended, Run, Work, fault, outgoing};
use crate::a2a::{self, Operation};
use crate::exchange::Report;
use crate::io::{Deadline, ExchangeId, Reason};
use crate::mcp::outcome::{Code, ToolError};
use crate::mcp::tool::Started;
use crate::time::Instant;

/// How long reading, canceling and card look-ups may take.
pub const TIMEOUT_MS: u64 = 30_000;

/// What is done with the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// read it
    Get {
        /// how many messages of its history
        history_length: Option<u64>,
    },
    /// cancel it
    Cancel,
}

impl Wish {
    /// The tool that does it.
    const fn tool(self) -> &'static str {
        match self {
            Self::Get { .. } => "get_task",
            Self::Cancel => "cancel_task",
        }
    }
}

/// A get_task or cancel_task.
#[derive(Debug)]
pub struct TaskCall {
    target: Target,
    task_id: String,
    wish: Wish,
    until: Instant,
    finding: Finding,
    route: Option<Route>,
    exchange: Option<ExchangeId>,
}

impl TaskCall {
    /// Asks the agent.
    ///
    /// # Errors
    /// Where the agent offers no interface, its address is not called, or the id cannot be asked for or may not leave.
    pub fn start(run: &mut Run<'_>, target: Target, task_id: String, wish: Wish) -> Result<Started, ToolError> {
        outgoing::check_text(run.ground, wish.tool(), "task_id", &task_id)?;
        let until = run.ground.now.plus_ms(TIMEOUT_MS);
        let mut work = Self { target, task_id, wish, until, finding: Finding::default(), route: None, exchange: None };
        let found = work.finding.look(run, &work.target);
        match work.found(run, found) {
            Some(ended) => ended.map(Started::Done),
            None => Ok(Started::Running(Box::new(Work::Task(work)))),
        }
    }

    /// The agent of the call.
    #[must_use]
    pub const fn target(&self) -> &Target {
        &self.target
    }

    /// A look-up of the agent's card that another call made has ended.
    pub fn looked_up(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        if self.route.is_some() {
            return None;
        }
        let found = self.finding.looked_up(run, &mut self.target);
        self.found(run, found)
    }

    /// Begins where the card is known, or it is known that none comes.
    fn found(&mut self, run: &mut Run<'_>, found: Option<Found>) -> Option<Ended> {
        match found?.and_then(|profile| Route::new(&self.target, profile.as_ref())) {
            Ok(route) => self.route = Some(route),
            Err(error) => return Some(Err(error)),
        }
        self.ask(run)
    }

    fn ask(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        let interface = self.route.as_ref()?.interface();
        let operation = match self.wish {
            Wish::Get { history_length } => Operation::Get { task_id: &self.task_id, history_length },
            Wish::Cancel => Operation::Cancel { task_id: &self.task_id },
        };
        let encoded = match a2a::encode(interface, &operation, run.ground.call_number()) {
            Ok(encoded) => encoded,
            Err(fault) => {
                return Some(Err(ToolError::new(Code::InvalidArgument, format!("`task_id` cannot be asked for: {fault}"))));
            }
        };
        let plan = self.target.plan(self.route.as_ref()?, encoded, run.reply());
        match run.start(plan) {
            Ok(exchange) => {
                self.exchange = Some(exchange);
                None
            }
            Err(failure) => Some(Err(fault::failure(run, &self.target.label, &failure))),
        }
    }

    /// Takes a report in.
    pub fn report(&mut self, run: &mut Run<'_>, exchange: ExchangeId, report: Report<'_>) -> Option<Ended> {
        if self.route.is_none() {
            let found = self.finding.report(run, &mut self.target, exchange, report);
            return self.found(run, found);
        }
        if self.exchange != Some(exchange) {
            return None;
        }
        self.exchange = None;
        let reply = match report {
            Report::Reply(reply) => reply,
            Report::Failed(failure) => {
                self.target.failed(run, &failure);
                return Some(Err(fault::failure(run, &self.target.label, &failure)));
            }
            Report::Event(_) | Report::Closed(_) => return None,
        };
        self.target.heard(run, true);
        let dialect = self.route.as_ref().map_or(a2a::Dialect::JsonRpc10, Route::dialect);
        match fault::decoded(run, dialect, &reply) {
            Ok(a2a::Reply::Task(task)) => {
                if let Some(route) = self.route.as_mut() {
                    route.learn(run, &self.target);
                }
                Some(Ok(self.result(run, &task)))
            }
            Ok(a2a::Reply::Message(_) | a2a::Reply::Empty) => {
                let message = format!("{} answered without the task", self.target.label);
                Some(Err(ToolError::new(Code::ProtocolError, message)))
            }
            Err(problem) if self.route.as_mut().is_some_and(|route| route.downgrade(&problem)) => self.ask(run),
            Err(problem) => {
                let told = self.route.as_ref().map_or(&problem, |route| route.told(&problem));
                let error = fault::answered(run, &self.target, &reply, told);
                Some(Err(error.with("task_id", crate::json::Json::string(&self.task_id))))
            }
        }
    }

    fn result(&self, run: &mut Run<'_>, task: &a2a::Task) -> crate::mcp::outcome::ToolResult {
        if let Some((alias, _)) = &self.target.alias
            && let Some(agent) = run.scope.registry.still_at(alias, &self.target.url)
        {
            agent.conversation.update(&task.id, &task.status.state);
        }
        let mut result = task_result(&self.target.label, task);
        if self.wish == Wish::Cancel && task.status.state != a2a::State::Canceled {
            let state = task.status.state.kebab();
            let text = format!("Task {} was not canceled: {} reports it as {state}.", task.id, self.target.label);
            result.texts.insert(0, text);
        }
        result
    }

    /// The time may be up.
    pub fn due(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        if run.ground.now < self.until {
            let found = if self.route.is_none() { self.finding.due(run, &mut self.target) } else { None };
            return self.found(run, found);
        }
        // That a card is late says nothing of the agent.
        if self.route.is_none() {
            self.stop(run);
            let message = format!("the card of {} did not come in 30s; nothing was asked", self.target.label);
            return Some(Err(ToolError::new(Code::Timeout, message).with("task_id", crate::json::Json::string(&self.task_id))));
        }
        let answered = self.exchange.is_some_and(|exchange| run.exchanges.answered(exchange));
        self.stop(run);
        self.target.heard(run, answered);
        let message = format!("{} did not answer about task {} in 30s", self.target.label, self.task_id);
        Some(Err(ToolError::new(Code::Timeout, message).with("task_id", crate::json::Json::string(&self.task_id))))
    }

    /// When the time is up.
    #[must_use]
    pub fn deadline(&self) -> Deadline {
        match self.finding.until().filter(|until| self.route.is_none() && *until < self.until) {
            Some(at) => Deadline { at, reason: Reason::CardTimeout },
            None => Deadline { at: self.until, reason: Reason::CallTimeout },
        }
    }

    /// Stops.
    pub fn stop(&mut self, run: &mut Run<'_>) {
        if let Some(exchange) = self.exchange.take() {
            run.exchanges.abort(run.ground, exchange);
        }
        self.finding.stop(run);
    }

    /// The task that was asked for.
    #[must_use]
    pub fn task_id(&self) -> &str {
        &self.task_id
    }
}
