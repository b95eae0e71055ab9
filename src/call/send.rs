//! Sending a message: streamed or not, polled, resumed, until it is answered or its time is up.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use super::finding::{Finding, Found};
use super::life::{self, Event as Happening, State};
use super::outgoing::Checked;
use super::route::Route;
use super::target::Target;
use super::{Ended, Run, Work, fault};
use crate::a2a::{self, Assembly, Event, Fault, Operation};
use crate::exchange::{Failure, Reply, Report, Want};
use crate::held::Share;
use crate::history;
use crate::io::{Cause, Deadline, ExchangeId, Level, Reason};
use crate::mcp::outcome::{Code, ToolError};
use crate::mcp::tool::Started;
use crate::served::TaskNumber;
use crate::text;
use crate::time::Instant;

mod answer;
mod ending;
mod plain;
mod reading;
mod relayed;
mod stream;

pub use answer::{message_result, task_result};

/// How long the closing events of a stream are taken after its terminal status.
const CLOSING_MS: u64 = 500;
/// How long the reading of an ended task may take that confirms it.
const CONFIRMING_MS: u64 = 10_000;

/// How often at most the same words are told as progress.
const REPEATED_MS: u64 = 1000;

/// How long a send may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// as configured for its kind
    Default,
    /// so many milliseconds
    Milliseconds(u64),
    /// until it ends
    Unlimited,
}

/// What a send leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// history and conversation
    Conversation,
    /// history alone
    History,
    /// history alone, and every event goes to a served task
    Served(TaskNumber),
}

/// A message on its way.
#[derive(Debug)]
pub struct Send {
    target: Target,
    request: Checked,
    patience: Patience,
    keeping: Keeping,
    sent: String,
    started: Instant,
    state: State,
    route: Option<Route>,
    finding: Finding,
    /// the registration that gave a token for this send, until something was sent
    paid: Option<u64>,
    exchange: Option<ExchangeId>,
    assembly: Assembly,
    /// what is held of the answer
    share: Share,
    /// and of the message
    _said: Share,
    deadline: Option<Instant>,
    wake: Option<(Instant, Reason)>,
    /// the stream broke and may be taken up again
    resumable: bool,
    /// it was taken up again
    resumed: bool,
    /// the task was begun before: it is read instead of sent to
    is_known: bool,
    /// the caller's log was told of ids that do not belong together, of pieces after the last one, of answers to others
    warned: [bool; 3],
    /// the id of the request that runs, and whether an answer had it
    asked: (u64, bool),
    /// whether resubscribing takes the other HTTP method (A2A 1.0 names POST in its text and GET in its proto)
    other_method: bool,
    reading: reading::Reading,
    /// what the caller was told last of how far it is, and when
    told: Option<(String, Instant)>,
}

impl Send {
    /// Sends a message.
    ///
    /// # Errors
    /// Where the agent offers no interface, or its address is not called.
    pub fn alone(
        run: &mut Run<'_>,
        target: Target,
        request: Checked,
        patience: Patience,
        keeping: Keeping,
    ) -> Result<Started, ToolError> {
        let (work, ended) = Self::begun(run, target, request, patience, keeping);
        match ended {
            Some(ended) => ended.map(Started::Done),
            None => Ok(Started::Running(Box::new(Work::Send(work)))),
        }
    }

    /// The same for those that run several; the outcome stands beside a send that ended at once.
    pub fn begun(
        run: &mut Run<'_>,
        target: Target,
        request: Checked,
        patience: Patience,
        keeping: Keeping,
    ) -> (Self, Option<Ended>) {
        let mut work = Self::new(run, target, request, patience, keeping);
        let ended = work.find(run);
        (work, ended)
    }

    fn new(run: &Run<'_>, target: Target, request: Checked, patience: Patience, keeping: Keeping) -> Self {
        // A secret that is cut is known no more: it goes before that.
        let readable = run.scope.secrets.redact(request.request().message.readable());
        let sent = history::shorten(&readable, run.ground.config.history.max_entry_length);
        let mut said = run.ground.held.share();
        said.set(request.request().bytes());
        let paid = target.alias.as_ref().map(|(_, registration)| *registration);
        Self {
            paid,
            assembly: Assembly::new(run.ground.config.limits.artifact_bytes),
            share: run.ground.held.share(),
            _said: said,
            target,
            request,
            patience,
            keeping,
            sent,
            started: run.ground.now,
            state: State::Finding,
            route: None,
            finding: Finding::default(),
            exchange: None,
            deadline: None,
            wake: None,
            resumable: false,
            resumed: false,
            is_known: false,
            warned: [false; 3],
            asked: (0, false),
            other_method: false,
            reading: reading::Reading::default(),
            told: None,
        }
    }

    fn find(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        self.set_deadline(run, false);
        let found = self.finding.look(run, &self.target);
        self.found(run, found)
    }

    /// A look-up of the agent's card that another call made has ended.
    pub fn looked_up(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        if self.state != State::Finding {
            return None;
        }
        let found = self.finding.looked_up(run, &mut self.target);
        self.found(run, found)
    }

    /// Whether it waits for this exchange.
    #[must_use]
    pub fn awaits(&self, exchange: ExchangeId) -> bool {
        self.exchange == Some(exchange) || self.finding.awaits(exchange)
    }

    /// The agent of the call.
    #[must_use]
    pub const fn target(&self) -> &Target {
        &self.target
    }

    fn set_deadline(&mut self, run: &Run<'_>, streaming: bool) {
        let config = &run.ground.config;
        let ms = match self.patience {
            Patience::Milliseconds(ms) => Some(ms),
            Patience::Unlimited => None,
            Patience::Default if streaming => Some(config.stream_timeout_ms),
            Patience::Default => Some(config.poll_timeout_ms),
        };
        self.deadline = ms.map(|ms| self.started.plus_ms(ms));
    }

    fn step(&mut self, happening: Happening) {
        let next = life::next(self.state, happening);
        debug_assert!(next.is_some(), "{happening:?} in {:?} is not in the table", self.state);
        self.state = next.unwrap_or(self.state);
        self.wake = None;
    }

    /// Begins where the card is known, or it is known that none comes.
    fn found(&mut self, run: &mut Run<'_>, found: Option<Found>) -> Option<Ended> {
        let profile = match found {
            Some(Ok(profile)) => profile,
            Some(Err(error)) => return Some(self.fail(run, error)),
            None => {
                self.wake = self.finding.until().map(|until| (until, Reason::CardTimeout));
                return None;
            }
        };
        let streaming = profile.as_ref().is_some_and(|profile| profile.streaming);
        match Route::new(&self.target, profile.as_ref()) {
            Ok(mut route) => {
                if self.holds_files() {
                    route.take_files(profile.as_ref());
                }
                self.route = Some(route);
            }
            Err(error) => return Some(self.fail(run, error)),
        }
        self.set_deadline(run, streaming);
        if self.is_known {
            self.step(Happening::FoundTask);
            return self.transmit(run);
        }
        self.step(if streaming { Happening::FoundStreaming } else { Happening::Found });
        self.transmit(run)
    }

    fn holds_files(&self) -> bool {
        self.request.request().message.parts.iter().any(|part| matches!(part.content, a2a::Content::Raw(_)))
    }

    /// Puts the operation of the current state on the wire.
    fn transmit(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        let interface = self.route.as_ref()?.interface().clone();
        let task_id = self.task_id().unwrap_or_default();
        let (operation, want) = match self.state {
            State::Sending => (Operation::Send(self.request.request()), run.reply()),
            State::Streaming => (Operation::Stream(self.request.request()), Want::Events),
            State::Resuming => (Operation::Subscribe { task_id: &task_id }, Want::Events),
            State::Confirming | State::Reading | State::Polling => {
                (Operation::Get { task_id: &task_id, history_length: None }, run.reply())
            }
            State::Finding | State::Closing | State::Waiting | State::Ended => return None,
        };
        let number = run.ground.call_number();
        self.asked = (number, false);
        let encoded = match a2a::encode(&interface, &operation, number) {
            Ok(encoded) => encoded,
            Err(fault) => {
                let message = format!("nothing was sent to {}: {fault}", self.target.label);
                return Some(self.fail(run, ToolError::new(Code::InvalidArgument, message)));
            }
        };
        if !encoded.lost.is_empty() {
            let (version, lost) = (interface.dialect.version(), text::joined(&encoded.lost, ", "));
            run.log(Level::Warning, &format!("A2A {version} has no place for {lost}: {} does not get that", self.target.label));
        }
        if matches!(self.state, State::Sending | State::Streaming)
            && !interface.dialect.is_10()
            && let Err(error) = self.request.check_body(run.ground, encoded.body.as_deref().unwrap_or("{}"))
        {
            return Some(self.fail(run, error));
        }
        let encoded = if self.state == State::Resuming && self.other_method { encoded.with_other_method() } else { encoded };
        let plan = self.target.plan(self.route.as_ref()?, encoded, want);
        match run.start(plan) {
            Ok(exchange) => {
                (self.exchange, self.paid) = (Some(exchange), None);
                if matches!(self.state, State::Reading | State::Polling) { self.overdue(run) } else { None }
            }
            Err(failure) => Some(self.fail(run, fault::failure(run, &self.target.label, &failure))),
        }
    }

    /// Takes a report in.
    pub fn report(&mut self, run: &mut Run<'_>, exchange: ExchangeId, report: Report<'_>) -> Option<Ended> {
        if self.state == State::Finding {
            let found = self.finding.report(run, &mut self.target, exchange, report);
            return self.found(run, found);
        }
        if self.exchange != Some(exchange) {
            return None;
        }
        match &report {
            Report::Event(_) => {}
            Report::Reply(_) | Report::Closed(_) | Report::Failed(_) => self.exchange = None,
        }
        match &report {
            // The plain send that follows is the same attempt: it counts once.
            Report::Failed(Failure::Transport { cause: Cause::Refused, .. }) if self.state == State::Streaming => {}
            Report::Failed(failure) => self.target.failed(run, failure),
            Report::Reply(_) | Report::Event(_) | Report::Closed(_) => self.target.heard(run, true),
        }
        match self.state {
            State::Sending => self.sent(run, report),
            State::Streaming | State::Resuming | State::Closing => self.streamed(run, report),
            State::Confirming | State::Reading | State::Polling => self.read(run, report),
            State::Finding | State::Waiting | State::Ended => None,
        }
    }

    fn learn_dialect(&mut self, run: &mut Run<'_>) {
        if let Some(route) = self.route.as_mut() {
            route.learn(run, &self.target);
        }
    }

    fn dialect(&self) -> a2a::Dialect {
        self.route.as_ref().map_or(a2a::Dialect::JsonRpc10, Route::dialect)
    }

    fn decode(&self, run: &Run<'_>, reply: &Reply) -> Result<a2a::Reply, Fault> {
        fault::decoded(run, self.dialect(), reply)
    }

    /// Merges an event in and tells the caller about it.
    fn apply(&mut self, run: &mut Run<'_>, event: Event) -> Option<Ended> {
        let relayed = self.relayed(run, &event);
        match self.assembly.apply(event) {
            Ok(applied) => {
                let bytes = self.assembly.bytes();
                if !self.share.may_be(bytes, run.ground.config.limits.held_bytes) {
                    let failure = Failure::TooLarge(Share::bound(bytes, run.ground.config.limits.held_bytes));
                    return Some(self.fail(run, fault::failure(run, &self.target.label, &failure)));
                }
                self.share.set(bytes);
                run.ground.relayed.extend(relayed);
                self.warn(run, [applied.foreign_ids, applied.after_last_chunk, false]);
                if let (Some(task), Some(pending)) = (self.assembly.task(), run.scope.pending.get_mut(&run.caller.call)) {
                    pending.task_id = Some(task.id.clone()).filter(|id| !id.is_empty());
                }
                if run.caller.progress_token.is_some()
                    && let Some(text) = answer::progress(&run.scope.secrets, &applied.change, self.assembly.task())
                {
                    self.tell(run, text);
                }
                None
            }
            Err(a2a::TooLarge) => {
                let message = format!("the artifacts of {} are larger than the limit artifact_bytes allows", self.target.label);
                Some(self.fail(run, ToolError::new(Code::TooLarge, message)))
            }
        }
    }

    /// Tells how far it is. What an agent repeats without end is told as a sign of life, now and then.
    fn tell(&mut self, run: &mut Run<'_>, text: String) {
        let now = run.ground.now;
        let is_repeated = |(told, at): &(String, Instant)| *told == text && now < at.plus_ms(REPEATED_MS);
        if self.told.as_ref().is_some_and(is_repeated) {
            return;
        }
        run.progress(&text);
        self.told = Some((text, now));
    }

    /// Tells the caller's log what was odd about an event, each kind once.
    fn warn(&mut self, run: &mut Run<'_>, odd: [bool; 3]) {
        const WORDS: [&str; 3] = [
            "sent an event of another task or context; it was taken",
            "sent more of an artifact after its last piece; it was taken",
            "sent an answer to another request in a stream; it was dropped",
        ];
        for ((warned, odd), words) in self.warned.iter_mut().zip(odd).zip(WORDS) {
            if odd && !core::mem::replace(warned, true) {
                run.log(Level::Warning, &format!("{} {words}", self.target.label));
            }
        }
    }

    /// After a whole answer: is it the end, or does the task go on?
    fn settle(&mut self, run: &mut Run<'_>, reply: &Reply) -> Option<Ended> {
        if self.is_settled() {
            return Some(self.finish(run));
        }
        // What is answered plainly is no stream that could be taken up.
        self.resumable = false;
        let asked_ms = fault::asked_ms(run, reply);
        self.wait(run, Happening::Running, asked_ms)
    }

    /// Whether there is an answer: a message, or a task that ended or waits.
    fn is_settled(&self) -> bool {
        let task = self.assembly.task();
        self.assembly.message().is_some()
            || task.is_some_and(|task| task.status.state.is_terminal() || self.waits_at(&task.status.state))
    }

    /// Whether nothing was received yet.
    fn is_empty(&self) -> bool {
        self.assembly.task().is_none() && self.assembly.message().is_none()
    }

    /// Does what is due: the deadline, the end of the closing events, the next reading.
    pub fn due(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        if self.deadline.is_some_and(|at| run.ground.now >= at) {
            // An ended task is an answer, if only its confirmation is late.
            return Some(match self.state {
                State::Closing | State::Confirming => self.finish(run),
                State::Finding
                | State::Sending
                | State::Streaming
                | State::Reading
                | State::Resuming
                | State::Waiting
                | State::Polling
                | State::Ended => self.time_out(run),
            });
        }
        if self.wake.is_none_or(|(at, _)| run.ground.now < at) {
            return None;
        }
        match self.state {
            State::Closing => self.close(run),
            State::Confirming => Some(self.finish(run)),
            State::Waiting => {
                self.step(Happening::Due);
                self.transmit(run)
            }
            State::Finding => {
                let found = self.finding.due(run, &mut self.target);
                self.found(run, found)
            }
            State::Reading | State::Polling => self.overdue(run),
            State::Sending | State::Streaming | State::Resuming | State::Ended => None,
        }
    }

    /// When something is due.
    #[must_use]
    pub fn deadline(&self) -> Option<Deadline> {
        let deadline = self.deadline.map(|at| Deadline { at, reason: Reason::CallTimeout });
        let wake = self.wake.map(|(at, reason)| Deadline { at, reason });
        match (deadline, wake) {
            (Some(deadline), Some(wake)) => Some(if wake.at < deadline.at { wake } else { deadline }),
            (deadline, wake) => deadline.or(wake),
        }
    }

    /// The task that the agent runs.
    #[must_use]
    pub fn task_id(&self) -> Option<String> {
        self.assembly.task().map(|task| task.id.clone()).filter(|id| !id.is_empty())
    }
}
