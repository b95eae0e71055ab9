//! Reading a task that goes on: after a break, and again and again with growing pauses.

use alloc::format;

use super::{Happening, Send, State};
use crate::a2a::{self, Event, Fault, FaultKind};
use crate::call::{Ended, Run, fault};
use crate::exchange::{Reply, Report};
use crate::io::Reason;
use crate::mcp::outcome::{Code, ToolError};

/// The first pause between two readings.
const FIRST_MS: u64 = 250;
/// The longest pause.
const LONGEST_MS: u64 = 5000;
/// How often in a row an agent may fail to answer a reading.
const FAILURES: u32 = 10;
/// How often in a row an agent may answer a reading with an error: just after its start a task may not be known everywhere.
const REFUSALS: u32 = 3;

/// What is kept between two readings.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pause_ms: u64,
    failures: u32,
    refusals: u32,
    count: u64,
}

impl Send {
    /// Waits for the next reading.
    pub(super) fn wait(&mut self, run: &mut Run<'_>, happening: Happening, asked_ms: Option<u64>) -> Option<Ended> {
        if self.task_id().is_none() {
            return Some(self.nameless(run));
        }
        self.step(happening);
        self.state = State::Waiting;
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

    /// The answer to a reading.
    pub(super) fn read(&mut self, run: &mut Run<'_>, report: Report<'_>) -> Option<Ended> {
        let reply = match report {
            Report::Reply(reply) => reply,
            Report::Failed(failure) => {
                if self.state == State::Confirming {
                    return Some(self.finish(run));
                }
                self.reading.failures += 1;
                if self.reading.failures > FAILURES {
                    return Some(self.fail(run, fault::failure(&self.target.label, &failure)));
                }
                return self.wait(run, Happening::ReadFailed, None);
            }
            Report::Event(_) | Report::Closed(_) => return None,
        };
        match self.decode(run, &reply) {
            Ok(a2a::Reply::Task(task)) => {
                self.reading.failures = 0;
                self.reading.refusals = 0;
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
            let asked_ms = fault::asked_ms(run, reply);
            return self.wait(run, Happening::Running, asked_ms);
        }
        self.resume(run)
    }

    /// A reading was answered with an error.
    fn unread(&mut self, run: &mut Run<'_>, reply: &Reply, problem: &Fault) -> Option<Ended> {
        if self.state == State::Confirming {
            return Some(self.finish(run));
        }
        let passing = matches!(reply.status, 429 | 500 | 502 | 503 | 504);
        let denied = matches!(problem, Fault::Status { status: 401 | 403, .. });
        if passing && !matches!(problem, Fault::Agent { kind: FaultKind::TaskNotFound, .. }) {
            self.reading.failures += 1;
        } else {
            self.reading.refusals += 1;
        }
        if denied || self.reading.failures > FAILURES || self.reading.refusals > REFUSALS {
            let mut error = fault::answered(run, &self.target, reply, problem);
            if let Some(task_id) = self.task_id() {
                error.message = format!("{} (task {task_id})", error.message);
            }
            return Some(self.fail(run, error));
        }
        fault::silence_ms(run, &self.target, reply);
        let asked_ms = fault::asked_ms(run, reply);
        self.wait(run, Happening::ReadFailed, asked_ms)
    }
}
