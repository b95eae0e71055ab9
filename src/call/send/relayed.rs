//! Sends whose events go to a served task instead of to a caller of tools.

use super::{Keeping, Patience, Send, State as Step};
use crate::a2a::{Event, Fault, FaultKind, State, Task};
use crate::call::outgoing::Checked;
use crate::call::target::Target;
use crate::call::{CallId, Ended, Run};
use crate::served::TaskNumber;

/// How long an agent may take to name the task of a message whose caller does not want it any more.
const NAMING_MS: u64 = 300_000;

impl Send {
    /// Takes a task up that an earlier process began.
    pub fn taken_up(run: &mut Run<'_>, target: Target, number: TaskNumber, task: Task) -> (Self, Option<Ended>) {
        let mut work = Self::new(run, target, Checked::nothing(), Patience::Unlimited, Keeping::Served(number));
        (work.is_known, work.paid) = (true, None);
        // A task without artifacts is below every limit.
        let _ = work.assembly.apply(Event::Task(task));
        let ended = work.find(run);
        (work, ended)
    }

    /// Whether the agent may have got the message.
    #[must_use]
    pub fn is_sent(&self) -> bool {
        self.state != Step::Finding
    }

    /// Ends the send soon: all that is still wanted is the name of the task, to cancel it.
    pub fn hasten(&mut self, run: &Run<'_>) {
        self.deadline = Some(run.ground.now.plus_ms(NAMING_MS));
    }

    /// Whether the caller has to do something. A relayed task that waits for a login may go on by itself (A2A 1.0
    /// §7.6.1), and its caller watches it.
    pub(super) fn waits_at(&self, state: &State) -> bool {
        state.is_interrupted() && !(*state == State::AuthRequired && matches!(self.keeping, Keeping::Served(_)))
    }

    /// Whether the task that the message was to continue has ended at its agent meanwhile. Then its end is read, which is
    /// what the served task ends with: nothing failed.
    pub(super) fn comes_too_late(&mut self, problem: &Fault) -> bool {
        let is_sent = matches!(self.state, Step::Sending | Step::Streaming) && matches!(self.keeping, Keeping::Served(_));
        let message = &self.request.request().message;
        let Some(task_id) = message.task_id.clone().filter(|_| is_sent && problem.kind() == FaultKind::Terminal) else {
            return false;
        };
        // A task without artifacts is below every limit.
        let _ = self.assembly.apply(Event::Task(Task::new(task_id, message.context_id.clone())));
        true
    }

    /// What a served task is told of an event. The end is told once everything that belongs to it has come.
    pub(super) fn relayed(&self, run: &Run<'_>, event: &Event) -> Option<(TaskNumber, CallId, Event)> {
        let (Keeping::Served(number), call) = (self.keeping, run.caller.call) else { return None };
        match event {
            Event::Status(update) if update.status.state.is_terminal() => None,
            Event::Task(task) if task.status.state.is_terminal() => None,
            // A task opens a stream as it stood before the message that continues it.
            Event::Task(task) if self.is_continued(task) && task.status.state.is_interrupted() => None,
            Event::Artifact(update) => {
                let mut update = update.clone();
                let known = self.assembly.artifact_of(&update.artifact.artifact_id).filter(|_| update.append);
                let before = known.map_or(&[][..], |known| &known.parts);
                run.scope.secrets.clean_texts(before, &mut update.artifact.parts, !update.last_chunk);
                Some((number, call, Event::Artifact(update)))
            }
            Event::Status(_) | Event::Task(_) | Event::Message(_) => Some((number, call, event.clone())),
            Event::Other(_) => None,
        }
    }

    /// Whether it opens a stream that continues it.
    pub(super) fn is_continued(&self, task: &Task) -> bool {
        self.is_empty() && self.request.request().message.task_id.as_deref() == Some(task.id.as_str())
    }

    /// Tells a served task all that is known.
    pub fn relay_whole(&self, run: &mut Run<'_>) {
        if let (Keeping::Served(number), Some(task)) = (self.keeping, self.assembly.task()) {
            run.ground.relayed.push_back((number, run.caller.call, Event::Task(task.clone())));
        }
    }
}
