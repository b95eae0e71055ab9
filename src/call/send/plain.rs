//! Whole answers to a message: taken, or refused in a way that lets it go once more.

use alloc::format;

use super::{Happening, Send, State};
use crate::a2a::{self, Event, Fault, FaultKind};
use crate::call::{Ended, Run, fault};
use crate::exchange::{Reply, Report};
use crate::io::Level;
use crate::mcp::outcome::{Code, ToolError};

impl Send {
    /// The answer to a blocking send.
    pub(super) fn sent(&mut self, run: &mut Run<'_>, report: Report<'_>) -> Option<Ended> {
        match report {
            Report::Reply(reply) => self.answered(run, &reply),
            Report::Failed(failure) => Some(self.fail(run, fault::failure(run, &self.target.label, &failure))),
            Report::Event(_) | Report::Closed(_) => None,
        }
    }

    /// A whole answer to a message, where one answer or a stream was asked for.
    pub(super) fn answered(&mut self, run: &mut Run<'_>, reply: &Reply) -> Option<Ended> {
        match self.decode(run, reply) {
            Ok(a2a::Reply::Task(task)) => {
                self.learn_dialect(run);
                self.apply(run, Event::Task(task)).or_else(|| self.settle(run, reply))
            }
            Ok(a2a::Reply::Message(message)) => {
                self.learn_dialect(run);
                self.apply(run, Event::Message(message)).or_else(|| self.settle(run, reply))
            }
            Ok(a2a::Reply::Empty) if self.state == State::Resuming => self.wait(run, Happening::ResumeRefused, None),
            Ok(a2a::Reply::Empty) => {
                let message = format!("{} answered with neither a task nor a message", self.target.label);
                Some(self.fail(run, ToolError::new(Code::ProtocolError, message)))
            }
            Err(problem) => self.refused(run, reply, &problem),
        }
    }

    /// An error in place of an answer: another version, no stream, or the end.
    fn refused(&mut self, run: &mut Run<'_>, reply: &Reply, problem: &Fault) -> Option<Ended> {
        if self.route.as_mut().is_some_and(|route| route.downgrade(problem)) {
            let message = format!("{} refused this version of A2A there; trying {}", self.target.label, self.dialect().version());
            run.log(Level::Warning, &message);
            self.step(Happening::VersionRefused);
            return self.transmit(run);
        }
        if self.comes_too_late(problem) {
            self.step(Happening::TaskEnded);
            return self.transmit(run);
        }
        if self.forget_task(run, problem) {
            self.step(Happening::TaskRefused);
            return self.transmit(run);
        }
        if self.state == State::Streaming && unprocessed(reply.status, problem) {
            run.log(Level::Warning, &format!("{} does not stream, though its card says so; sending plainly", self.target.label));
            self.step(Happening::StreamRefused);
            return self.transmit(run);
        }
        if self.state == State::Resuming {
            if matches!(reply.status, 404 | 405) && self.dialect().is_rest() && !self.other_method {
                self.other_method = true;
                return self.transmit(run);
            }
            return self.wait(run, Happening::ResumeRefused, None);
        }
        let told = self.route.as_ref().map_or(problem, |route| route.told(problem));
        let error = fault::answered(run, &self.target, reply, told);
        Some(self.fail(run, error))
    }

    /// A task that was remembered for the alias but is finished or gone at the agent no longer goes out; where it is
    /// finished the message refers to it. The agent refused the message, so that it may go once more.
    pub(super) fn forget_task(&mut self, run: &mut Run<'_>, problem: &Fault) -> bool {
        let finished = match problem.kind() {
            FaultKind::Terminal => true,
            FaultKind::TaskNotFound => false,
            FaultKind::TaskNotCancelable
            | FaultKind::Unsupported
            | FaultKind::MethodNotFound
            | FaultKind::VersionNotSupported
            | FaultKind::ContentType
            | FaultKind::PushNotSupported
            | FaultKind::Other => return false,
        };
        let sending = matches!(self.state, State::Sending | State::Streaming);
        let Some((alias, _)) = self.target.alias.as_ref().filter(|_| sending) else { return false };
        let Some(agent) = run.scope.registry.still_at(alias, &self.target.url) else { return false };
        let message = &self.request.request().message;
        let remembered = message.task_id.is_some() && agent.conversation.waiting_task == message.task_id;
        if !remembered {
            return false;
        }
        agent.conversation.waiting_task = None;
        self.request.begin_anew(finished);
        true
    }
}

/// Whether the agent surely did not process a streamed message.
pub(super) fn unprocessed(status: u16, problem: &Fault) -> bool {
    if matches!(status, 404 | 405 | 415 | 501) {
        return true;
    }
    matches!(problem, Fault::Agent { kind: FaultKind::MethodNotFound | FaultKind::Unsupported, .. })
}
