//! Reading a task that goes on: after a break, and again and again with growing pauses.

use alloc::format;
use alloc::string::String;

use super::{Happening, Send, State};
use crate::a2a::{self, Event, Fault, FaultKind};
use crate::call::{Ended, Run, fault};
use crate::exchange::{Failure, Reply, Report};
use crate::held::CROWDED;
use crate::io::{Cause, Reason};
use crate::json::Json;
use crate::mcp::outcome::{Code, ToolError};
use crate::time::Instant;

/// The first pause between two readings.
const FIRST_MS: u64 = 250;
/// The longest pause.
const LONGEST_MS: u64 = 5000;
/// How long nothing may come of the first reading: its connection may have died without a word. There are agents that answer
/// once there is something new, so that it is twice as long after each that was given up.
const SILENCE_MS: u64 = 30_000;
/// How often it doubles.
const DOUBLINGS: u32 = 3;
/// How often in a row an agent may say that it cannot be asked for the task: just after its start a task may not be known
/// everywhere.
const REFUSALS: u32 = 3;

/// What is kept between two readings.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pause_ms: u64,
    failures: u64,
    /// since when every reading has failed
    failing_since: Option<Instant>,
    refusals: u32,
    /// how many were given up because nothing came of them
    silent: u32,
    count: u64,
    /// why the last one failed
    trouble: Option<String>,
}

impl Reading {
    /// Why the last reading failed.
    pub(super) fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }
}

impl Send {
    /// Waits for the next reading.
    pub(super) fn wait(&mut self, run: &mut Run<'_>, happening: Happening, asked_ms: Option<u64>) -> Option<Ended> {
        if self.task_id().is_none() {
            return Some(self.nameless(run));
        }
        self.step(happening);
        if happening == Happening::ResumeRefused {
            self.resumable = false;
        }
        let pause = match self.reading.pause_ms {
            0 => FIRST_MS,
            known => (known + known / 2).min(LONGEST_MS),
        };
        self.reading.pause_ms = pause;
        // Between 90 and 110 per cent, so that many callers do not read in step.
        let jittered = pause - pause / 10 + run.ground.random.below(pause / 5 + 1);
        let at = run.ground.now.plus_ms(asked_ms.unwrap_or(0).max(jittered));
        self.wake = Some((at, Reason::Poll));
        None
    }

    /// A task that goes on and has no id: nobody can ask what became of it.
    pub(super) fn nameless(&mut self, run: &mut Run<'_>) -> Ended {
        let message = format!("{} began a task without an id, so its end cannot be read", self.target.label);
        self.fail(run, ToolError::new(Code::ProtocolError, message))
    }

    /// A reading runs: it is given up once nothing came of it for a while.
    pub(super) fn overdue(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        let exchange = self.exchange?;
        let silence_ms = SILENCE_MS << self.reading.silent.min(DOUBLINGS);
        let until = run.exchanges.heard_at(exchange)?.plus_ms(silence_ms);
        if run.ground.now < until {
            self.wake = Some((until, Reason::ReadTimeout));
            return None;
        }
        self.reading.silent += 1;
        self.drop_exchange(run);
        let waited = fault::duration(silence_ms);
        let message = format!("{} said nothing for {waited} when its task was read", self.target.label);
        self.again(run, ToolError::new(Code::Timeout, message), false, None)
    }

    /// The answer to a reading.
    pub(super) fn read(&mut self, run: &mut Run<'_>, report: Report<'_>) -> Option<Ended> {
        let reply = match report {
            Report::Reply(reply) => reply,
            Report::Failed(failure) => {
                let is_final = match &failure {
                    Failure::Transport { cause, .. } => matches!(cause, Cause::Blocked | Cause::Redirect),
                    // Others hold much just now.
                    Failure::TooLarge(CROWDED) => false,
                    Failure::TooLarge(_) | Failure::Redirect { .. } | Failure::Blocked(_) => true,
                };
                let error = fault::failure(run, &self.target.label, &failure);
                return self.again(run, error, is_final, None);
            }
            Report::Event(_) | Report::Closed(_) => return None,
        };
        match self.decode(run, &reply) {
            Ok(a2a::Reply::Task(task)) => {
                self.reading.failures = 0;
                self.reading.failing_since = None;
                self.reading.refusals = 0;
                self.reading.trouble = None;
                self.taken(run, &reply, Event::Task(task))
            }
            Ok(a2a::Reply::Message(message)) => self.taken(run, &reply, Event::Message(message)),
            Ok(a2a::Reply::Empty) => {
                self.unread(run, &reply, &Fault::Protocol("a reading of a task was answered without a task".into()))
            }
            Err(problem) => self.unread(run, &reply, &problem),
        }
    }

    fn taken(&mut self, run: &mut Run<'_>, reply: &Reply, event: Event) -> Option<Ended> {
        let polling = self.state == State::Polling;
        let told = run.caller.progress;
        if let Some(ended) = self.apply(run, event) {
            return Some(ended);
        }
        if self.state == State::Confirming || self.is_settled() {
            return Some(self.finish(run));
        }
        if polling {
            self.reading.count += 1;
            if run.caller.progress == told {
                let state = self.assembly.task().map_or("unknown".into(), |task| task.status.state.kebab());
                run.progress(&format!("still {state} (reading {})", self.reading.count));
            }
            if !self.resumable {
                let asked_ms = fault::asked_ms(run, reply);
                return self.wait(run, Happening::Running, asked_ms);
            }
        }
        self.resume(run)
    }

    /// A reading was answered with an error.
    fn unread(&mut self, run: &mut Run<'_>, reply: &Reply, problem: &Fault) -> Option<Ended> {
        let denied = matches!(problem, Fault::Status { status: 401 | 403, .. });
        let is_final = match problem.kind() {
            FaultKind::TaskNotFound => true,
            FaultKind::Unsupported | FaultKind::MethodNotFound | FaultKind::VersionNotSupported | FaultKind::ContentType => {
                // What stands before an agent that is down says so with a bare status.
                matches!(problem, Fault::Agent { .. })
            }
            FaultKind::TaskNotCancelable | FaultKind::PushNotSupported | FaultKind::Terminal | FaultKind::Other => {
                denied || matches!(problem, Fault::Depth | Fault::Pieces(_))
            }
        };
        if denied {
            self.reading.refusals = REFUSALS;
        }
        let error = fault::answered(run, &self.target, reply, problem);
        let asked_ms = fault::asked_ms(run, reply);
        self.again(run, error, is_final, asked_ms)
    }

    /// A reading failed. It is tried again until the deadline of the call, unless the agent says again and again that there
    /// is nothing to read. A call without a deadline gives up in the end: after so many failures, but not sooner than they
    /// take with the longest pauses, since an agent that starts anew refuses many within a moment.
    fn again(&mut self, run: &mut Run<'_>, mut error: ToolError, is_final: bool, asked_ms: Option<u64>) -> Option<Ended> {
        if self.state == State::Confirming {
            return Some(self.finish(run));
        }
        self.reading.failures += 1;
        self.reading.refusals = if is_final { self.reading.refusals + 1 } else { 0 };
        let most = run.ground.config.limits.failed_readings;
        let failing_ms = run.ground.now.since(*self.reading.failing_since.get_or_insert(run.ground.now));
        let lasting = self.reading.failures > most && failing_ms >= most.saturating_mul(LONGEST_MS);
        let endless = self.deadline.is_none() && lasting;
        if endless {
            error = error.with("limit", Json::string("failed_readings"));
        }
        if endless || self.reading.refusals > REFUSALS {
            if let Some(task_id) = self.task_id() {
                error.message = format!("{} (task {task_id})", error.message);
            }
            return Some(self.fail(run, error));
        }
        self.reading.trouble = Some(error.into_message());
        self.wait(run, Happening::ReadFailed, asked_ms)
    }
}
