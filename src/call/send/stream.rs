//! The stream of a send: events, the end, breaks.

use alloc::format;

use super::{CLOSING_MS, CONFIRMING_MS, Happening, RESUMES, Send, State};
use crate::a2a::{self, Event, Fault};
use crate::call::{Ended, Run, fault};
use crate::exchange::{Failure, Report};
use crate::io::{Cause, Level, Reason};
use crate::mcp::outcome::{Code, ToolError};
use crate::sse;

impl Send {
    /// A report while a stream is awaited, read or closing.
    pub(super) fn streamed(&mut self, run: &mut Run<'_>, report: Report<'_>) -> Option<Ended> {
        match report {
            Report::Event(event) => self.event(run, &event),
            Report::Closed(rest) => {
                if let Some(rest) = rest
                    && let Some(ended) = self.last_event(run, &rest)
                {
                    return Some(ended);
                }
                // The last event itself may have led on, to a reading of the task.
                if self.exchange.is_some() { None } else { self.closed(run, None) }
            }
            Report::Reply(reply) if self.state == State::Closing => {
                let _ = reply;
                self.closed(run, None)
            }
            Report::Reply(reply) => self.answered(run, &reply),
            Report::Failed(failure) => self.broken(run, &failure),
        }
    }

    fn decode_event(&self, run: &Run<'_>, event: &sse::Event<'_>) -> Result<Event, Fault> {
        let read = |data: &str| a2a::event(self.dialect(), &event.event, data, run.ground.config.limits.depth());
        read(&event.data).or_else(|_| read(&fault::clean(run, event.data.as_bytes())))
    }

    fn event(&mut self, run: &mut Run<'_>, event: &sse::Event<'_>) -> Option<Ended> {
        // Keep-alives and resume points carry no data.
        if event.data.trim().is_empty() {
            return None;
        }
        let decoded = match self.decode_event(run, event) {
            Ok(decoded) => decoded,
            Err(problem) => return self.event_refused(run, &problem),
        };
        if self.is_empty() {
            self.learn_dialect(run);
        }
        let closes = matches!(&decoded, Event::Status(update) if update.last);
        // A task opens the stream as it stood before the message that continues it, and an artifact says nothing of the
        // status: neither means that the agent waits.
        let waits = match &decoded {
            Event::Status(_) => true,
            Event::Task(task) => !self.is_continued(task),
            Event::Message(_) | Event::Artifact(_) | Event::Other(_) => false,
        };
        if let Some(ended) = self.apply(run, decoded) {
            return Some(ended);
        }
        if self.state == State::Closing {
            return None;
        }
        let state = self.assembly.task().map(|task| &task.status.state);
        let ended = state.is_some_and(a2a::State::is_terminal);
        if self.assembly.message().is_some() || (waits && state.is_some_and(|state| self.waits_at(state))) {
            return Some(self.finish(run));
        }
        if ended {
            self.step(Happening::Terminal);
            self.wake = Some((run.ground.now.plus_ms(CLOSING_MS), Reason::StreamClosing));
            return None;
        }
        if closes {
            self.drop_exchange(run);
            return self.closed(run, None);
        }
        None
    }

    /// What stands unterminated at the end counts where it is whole.
    fn last_event(&mut self, run: &mut Run<'_>, rest: &sse::Event<'_>) -> Option<Ended> {
        match self.decode_event(run, rest) {
            Ok(_) => self.event(run, rest),
            Err(_) => None,
        }
    }

    /// An error in the stream, or an event that is none.
    fn event_refused(&mut self, run: &mut Run<'_>, problem: &Fault) -> Option<Ended> {
        let spoiled = match problem {
            Fault::Protocol(_) | Fault::Depth => true,
            Fault::Agent { .. } | Fault::Status { .. } => false,
        };
        if self.state == State::Closing {
            return None;
        }
        // A task that goes on is not lost to one bad event: it is read instead.
        if spoiled && self.assembly.task().is_some() {
            run.log(
                Level::Warning,
                &format!("a stream event of {} could not be read; reading the task instead", self.target.label),
            );
            self.drop_exchange(run);
            return self.closed(run, None);
        }
        if self.state == State::Resuming {
            self.drop_exchange(run);
            return self.wait(run, Happening::ResumeRefused, None);
        }
        if self.is_empty() && self.route.as_mut().is_some_and(|route| route.downgrade(problem)) {
            self.drop_exchange(run);
            self.step(Happening::VersionRefused);
            return self.transmit(run);
        }
        if self.is_empty() && self.forget_task(run, problem) {
            self.drop_exchange(run);
            self.step(Happening::TaskRefused);
            return self.transmit(run);
        }
        if self.is_empty() && super::plain::unprocessed(200, problem) {
            self.drop_exchange(run);
            self.step(Happening::StreamRefused);
            return self.transmit(run);
        }
        let error = fault::agent(&self.target.label, problem);
        Some(self.fail(run, error))
    }

    /// The stream's connection failed.
    fn broken(&mut self, run: &mut Run<'_>, failure: &Failure) -> Option<Ended> {
        match failure {
            Failure::Transport { cause, .. } => {
                if self.state == State::Streaming && self.is_empty() && *cause == Cause::Refused {
                    self.step(Happening::StreamRefused);
                    return self.transmit(run);
                }
                self.closed(run, Some(failure))
            }
            Failure::TooLarge(_) | Failure::Redirect { .. } | Failure::Blocked(_) => match self.state {
                State::Closing => self.closed(run, None),
                State::Resuming => self.wait(run, Happening::ResumeRefused, None),
                State::Finding
                | State::Sending
                | State::Streaming
                | State::Confirming
                | State::Reading
                | State::Waiting
                | State::Polling
                | State::Ended => Some(self.fail(run, fault::failure(&self.target.label, failure))),
            },
        }
    }

    /// The stream is over.
    fn closed(&mut self, run: &mut Run<'_>, failure: Option<&Failure>) -> Option<Ended> {
        if self.state == State::Closing {
            return self.close(run);
        }
        if self.state == State::Ended {
            return None;
        }
        if self.task_id().is_none() {
            let error = match failure {
                Some(failure) => fault::failure(&self.target.label, failure),
                None => ToolError::new(
                    Code::ProtocolError,
                    format!(
                        "{} ended its stream before an event that names a task; the message may have arrived and was not sent again",
                        self.target.label
                    ),
                ),
            };
            return Some(self.fail(run, error));
        }
        if self.task_id().is_none() {
            return Some(self.nameless(run));
        }
        run.log(Level::Warning, &format!("the stream of {} broke off; reading the task", self.target.label));
        self.step(Happening::Broken);
        self.transmit(run)
    }

    /// The closing events were taken: the answer, or one reading of the task.
    pub(super) fn close(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        // A stream that was taken up again may have missed what came in between.
        let is_whole = self.resumes == 0 && self.assembly.task().is_some_and(a2a::Task::has_answer);
        if is_whole || self.task_id().is_none() {
            return Some(self.finish(run));
        }
        self.drop_exchange(run);
        self.step(Happening::Unanswered);
        self.wake = Some((run.ground.now.plus_ms(CONFIRMING_MS), Reason::StreamClosing));
        self.transmit(run)
    }

    /// After a reading in which the task went on: the stream again, or patience.
    pub(super) fn resume(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        if self.resumes >= RESUMES {
            return self.wait(run, Happening::Running, None);
        }
        self.resumes += 1;
        self.step(Happening::RunningStreamed);
        self.transmit(run)
    }
}
