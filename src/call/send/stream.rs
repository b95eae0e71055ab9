//! The stream of a send: events, the end, breaks.

use alloc::format;
use alloc::string::String;

use super::{CLOSING_MS, CONFIRMING_MS, Happening, Send, State};
use crate::a2a::pieces::is_crumbled;
use crate::a2a::{self, Event, Fault, Task};
use crate::call::{Ended, Run, fault};
use crate::exchange::{Failure, Report};
use crate::io::{Cause, Level, Reason};
use crate::json::{self, Raw};
use crate::mcp::outcome::{Code, ToolError};
use crate::sse;

/// How a stream ended.
enum Break<'b> {
    /// after an event
    After,
    /// within an event
    Within(&'b sse::Event<'b>),
    /// with its connection
    Failed(&'b Failure),
}

impl Send {
    /// A report while a stream is awaited, read or closing.
    pub(super) fn streamed(&mut self, run: &mut Run<'_>, report: Report<'_>) -> Option<Ended> {
        match report {
            Report::Event(event) => self.event(run, &event),
            Report::Closed(rest) => {
                // What stands unterminated at the end is no event (WHATWG HTML §9.2.6): it only names the task to read.
                if let Some(rest) = rest.as_ref().filter(|_| self.task_id().is_none()) {
                    self.name_task(run, rest);
                }
                self.closed(run, rest.as_ref().map_or(Break::After, Break::Within))
            }
            Report::Reply(_) if self.state == State::Closing => self.closed(run, Break::After),
            Report::Reply(reply) => self.answered(run, &reply),
            Report::Failed(failure) => self.broken(run, &failure),
        }
    }

    /// Reads an event, whose data is `raw` where it is JSON. What went wrong is told of data without secrets.
    fn decode_event(&self, run: &Run<'_>, event: &sse::Event<'_>, raw: Option<Raw<'_>>) -> Result<Event, Fault> {
        if raw.is_some_and(|raw| is_crumbled(raw, run.ground.config.limits.event_bytes)) {
            return Err(Fault::Pieces("event_bytes"));
        }
        let read = raw.and_then(|raw| a2a::event_of(self.dialect(), &event.event, raw).ok());
        let clean = || fault::clean(run, event.data.as_bytes());
        read.map_or_else(|| a2a::event(self.dialect(), &event.event, &clean(), run.ground.config.limits.depth()), Ok)
    }

    fn parse_event<'e>(run: &Run<'_>, event: &'e sse::Event<'_>) -> Option<Raw<'e>> {
        json::parse(&event.data, run.ground.config.limits.depth()).ok()
    }

    /// Whether an event has the id of another request, in a stream in which an earlier one had ours. Before that any id is
    /// taken, as there are agents that write their own.
    fn answers_another(&mut self, raw: Raw<'_>) -> bool {
        if self.dialect().is_rest() {
            return false;
        }
        // An error is the end of the stream, whatever its id.
        let members = json::members(raw).filter(|members| members.has("result"));
        let Some(id) = members.and_then(|members| members.get("id")) else { return false };
        let (number, had_ours) = self.asked;
        let is_ours = json::integer(id.get()) == i64::try_from(number).ok();
        self.asked.1 |= is_ours;
        had_ours && !is_ours
    }

    fn event(&mut self, run: &mut Run<'_>, event: &sse::Event<'_>) -> Option<Ended> {
        // Keep-alives and resume points carry no data.
        if event.data.trim().is_empty() {
            return None;
        }
        let raw = Self::parse_event(run, event);
        if raw.is_some_and(|raw| self.answers_another(raw)) {
            self.warn(run, [false, false, true]);
            return None;
        }
        let decoded = match self.decode_event(run, event, raw) {
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
            return self.closed(run, Break::After);
        }
        None
    }

    /// Takes the ids of a task from what is no event.
    fn name_task(&mut self, run: &mut Run<'_>, rest: &sse::Event<'_>) {
        let (id, context_id) = match self.decode_event(run, rest, Self::parse_event(run, rest)) {
            Ok(Event::Task(task)) => (Some(task.id), task.context_id),
            Ok(Event::Status(update)) => (update.task_id, update.context_id),
            Ok(Event::Artifact(update)) => (update.task_id, update.context_id),
            Ok(Event::Message(_) | Event::Other(_)) | Err(_) => return,
        };
        if let Some(id) = id.filter(|id| !id.is_empty()) {
            // A task without artifacts is below every limit.
            let _ = self.assembly.apply(Event::Task(Task::new(id, context_id)));
        }
    }

    /// An error in the stream, or an event that is none.
    fn event_refused(&mut self, run: &mut Run<'_>, problem: &Fault) -> Option<Ended> {
        let spoiled = match problem {
            Fault::Protocol(_) | Fault::Depth | Fault::Pieces(_) => true,
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
            return self.closed(run, Break::After);
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
        let error = fault::agent(&self.target.label, self.route.as_ref().map_or(problem, |route| route.told(problem)));
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
                self.closed(run, Break::Failed(failure))
            }
            Failure::TooLarge(_) | Failure::Redirect { .. } | Failure::Blocked(_) => match self.state {
                State::Closing => self.closed(run, Break::After),
                State::Resuming => self.wait(run, Happening::ResumeRefused, None),
                State::Finding
                | State::Sending
                | State::Streaming
                | State::Confirming
                | State::Reading
                | State::Waiting
                | State::Polling
                | State::Ended => Some(self.fail(run, fault::failure(run, &self.target.label, failure))),
            },
        }
    }

    /// The stream is over.
    fn closed(&mut self, run: &mut Run<'_>, how: Break<'_>) -> Option<Ended> {
        if self.state == State::Closing {
            return self.close(run);
        }
        if self.state == State::Ended {
            return None;
        }
        if self.task_id().is_none() {
            return Some(self.unnamed(run, how));
        }
        run.log(Level::Warning, &format!("the stream of {} broke off; reading the task", self.target.label));
        self.resumable = true;
        if self.state == State::Resuming {
            return self.wait(run, Happening::Broken, None);
        }
        self.step(Happening::Broken);
        self.transmit(run)
    }

    /// The stream is over and no task is known that could be read.
    fn unnamed(&mut self, run: &mut Run<'_>, how: Break<'_>) -> Ended {
        let label = &self.target.label;
        let rest = match how {
            Break::Failed(failure) => {
                let error = fault::failure(run, label, failure);
                return self.fail(run, error);
            }
            Break::After | Break::Within(_) if !self.is_empty() => return self.nameless(run),
            Break::After => String::new(),
            Break::Within(rest) => a2a::excerpt(&fault::clean(run, rest.data.as_bytes())),
        };
        let mut message = format!(
            "{label} ended its stream before an event that names a task; the message may have arrived and was not sent again"
        );
        if !rest.is_empty() {
            message = format!("{message}; within an event it had sent: {rest}");
        }
        self.fail(run, ToolError::new(Code::ProtocolError, message))
    }

    /// The closing events were taken: the answer, or one reading of the task.
    pub(super) fn close(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        // A stream that was taken up again may have missed what came in between.
        let is_whole = !self.resumed && self.assembly.task().is_some_and(a2a::Task::has_answer);
        if is_whole || self.task_id().is_none() {
            return Some(self.finish(run));
        }
        self.drop_exchange(run);
        self.step(Happening::Unanswered);
        self.wake = Some((run.ground.now.plus_ms(CONFIRMING_MS), Reason::StreamClosing));
        self.transmit(run)
    }

    /// After a reading in which the task went on: the stream again.
    pub(super) fn resume(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        self.resumed = true;
        self.step(Happening::RunningStreamed);
        self.transmit(run)
    }
}
