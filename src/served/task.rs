//! One served task: what is known of it, who works on it, who watches it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::life::{self, Who};
use crate::a2a::asked::PushConfig;
use crate::a2a::{Artifact, ArtifactUpdate, Assembly, Event, Message, Part, Role, State, Status, StatusUpdate, Task, TooLarge};
use crate::call::CallId;
use crate::ids::Random;
use crate::io::{RequestId, WorkId};
use crate::json::Json;
use crate::time::WallTime;

/// A task.
#[derive(Debug)]
pub struct ServedTask {
    /// on whose behalf
    pub owner: String,
    /// whether it is a task for its caller yet: until then it may turn out to be a message
    pub begun: bool,
    /// who works on it
    pub duty: Duty,
    /// when it last changed
    pub updated: WallTime,
    /// the requests that watch it
    pub listeners: Vec<RequestId>,
    /// where its changes are delivered
    pub pushes: Vec<Push>,
    /// about how much it takes
    pub bytes: u64,
    assembly: Assembly,
}

/// Where changes of a task are delivered, and in which form.
#[derive(Clone, Debug)]
pub struct Push {
    /// where
    pub config: PushConfig,
    /// the form of 1.0, or of 0.3
    pub is_10: bool,
    /// the deliveries, once there were any
    pub call: Option<CallId>,
}

/// Who works on a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Duty {
    /// nobody: it was said back
    Echo,
    /// whoever reads the inbox
    Inbox,
    /// a function of the host
    Function {
        /// what it has not finished
        works: Vec<WorkId>,
    },
    /// another agent
    Relay {
        /// its alias
        agent: String,
        /// the send that runs
        call: Option<CallId>,
        /// the task there
        task_id: Option<String>,
        /// the conversation there
        context_id: Option<String>,
    },
}

impl Duty {
    /// Whether somebody is at work who will report.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        match self {
            Self::Echo | Self::Inbox => false,
            Self::Function { works } => !works.is_empty(),
            Self::Relay { call, .. } => call.is_some(),
        }
    }
}

/// What a task does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// its state may not become that
    State,
    /// its artifacts are larger than the limit
    TooLarge,
}

impl ServedTask {
    /// A task that has not begun.
    #[must_use]
    pub fn new(owner: String, mut task: Task, duty: Duty, limit: u64, at: WallTime) -> Self {
        let mut assembly = Assembly::new(limit);
        task.status.state = State::Submitted;
        task.status.timestamp = Some(Json::string(&at.to_rfc3339()));
        let bytes = task.bytes() as u64;
        // A task without artifacts is below every limit.
        let _ = assembly.apply(Event::Task(task));
        let (listeners, pushes) = (Vec::new(), Vec::new());
        Self { owner, begun: false, duty, updated: at, listeners, pushes, bytes, assembly }
    }

    /// A task of a snapshot.
    #[must_use]
    pub fn restored(owner: String, task: Task, duty: Duty, limit: u64, updated: WallTime) -> Self {
        let mut assembly = Assembly::new(limit.max(task.bytes() as u64 * 2));
        let bytes = task.bytes() as u64;
        let _ = assembly.apply(Event::Task(task));
        let (listeners, pushes) = (Vec::new(), Vec::new());
        Self { owner, begun: true, duty, updated, listeners, pushes, bytes, assembly }
    }

    /// The task.
    #[must_use]
    pub fn task(&self) -> &Task {
        static EMPTY: Task = Task::new(String::new(), None);
        self.assembly.task().unwrap_or(&EMPTY)
    }

    /// Its state.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.task().status.state
    }

    /// One more message of the caller.
    ///
    /// # Errors
    /// A task that ended.
    pub fn message(&mut self, message: Message, at: WallTime) -> Result<Option<Event>, Refused> {
        if !life::may(Who::Message, self.state(), &State::Working) {
            return Err(Refused::State);
        }
        let waits = self.state().is_interrupted();
        self.bytes += message.bytes() as u64;
        let event = if waits { Some(self.status(Who::Message, Status::of(State::Working), at)?) } else { None };
        self.assembly.say(message);
        Ok(event)
    }

    /// A new status.
    ///
    /// # Errors
    /// A state that it may not come to.
    pub fn status(&mut self, who: Who, mut status: Status, at: WallTime) -> Result<Event, Refused> {
        if matches!(status.state, State::Unknown | State::Other(_)) {
            status.state = State::Working;
        }
        if status.state == State::Submitted && *self.state() != State::Submitted {
            status.state = State::Working;
        }
        if !life::may(who, self.state(), &status.state) {
            return Err(Refused::State);
        }
        status.timestamp = Some(Json::string(&at.to_rfc3339()));
        let last = life::ends_stream(&status.state);
        // What was said before is a turn of the conversation now.
        let before = self.task().status.message.clone();
        if let Some(message) = before {
            self.assembly.say(message);
        }
        self.bytes += status.message.as_ref().map_or(64, |message| message.bytes() as u64 + 64);
        self.updated = at;
        let (task_id, context_id) = self.ids();
        let update = StatusUpdate { task_id, context_id, status, last, metadata: None };
        self.take(Event::Status(update))
    }

    /// An artifact, or a piece of one.
    ///
    /// # Errors
    /// A task that ended, artifacts beyond the limit.
    pub fn artifact(&mut self, mut update: ArtifactUpdate, random: &mut Random) -> Result<Event, Refused> {
        if self.state().is_terminal() {
            return Err(Refused::State);
        }
        (update.task_id, update.context_id) = self.ids();
        if update.artifact.artifact_id.is_empty() {
            update.artifact.artifact_id = random.uuid();
        }
        self.bytes += update.artifact.bytes() as u64 + 64;
        self.take(Event::Artifact(update))
    }

    fn take(&mut self, event: Event) -> Result<Event, Refused> {
        self.assembly.apply(event.clone()).map(|_| event).map_err(|TooLarge| Refused::TooLarge)
    }

    fn ids(&self) -> (Option<String>, Option<String>) {
        let task = self.task();
        (Some(task.id.clone()), task.context_id.clone())
    }

    /// A conversation that became known before the task did.
    pub fn name_context(&mut self, context_id: String) {
        let mut task = self.task().clone();
        if self.begun || task.context_id.is_some() {
            return;
        }
        for message in task.history.iter_mut().flatten() {
            message.context_id = Some(context_id.clone());
        }
        task.context_id = Some(context_id);
        let _ = self.assembly.apply(Event::Task(task));
    }

    /// A message about it as its own: with its ids.
    #[must_use]
    pub fn own(&self, message: Message, random: &mut Random) -> Message {
        let (task_id, context_id) = self.ids();
        let message_id = if message.message_id.is_empty() { random.uuid() } else { message.message_id };
        let role = if message.role == Role::User { Role::User } else { Role::Agent };
        Message { message_id, role, task_id, context_id, ..message }
    }

    /// Words about it.
    #[must_use]
    pub fn words(&self, text: &str, random: &mut Random) -> Message {
        let words = Message { role: Role::Agent, ..Message::from_user(String::new(), [Part::text(text)].into()) };
        self.own(words, random)
    }

    /// What a later state of the same task has that this one has not: artifacts, then the status.
    #[must_use]
    pub fn difference(&self, new: &Task) -> Vec<Event> {
        let (old, mut events) = (self.task(), Vec::new());
        let known = |artifact: &Artifact| old.artifacts().iter().any(|one| one == artifact);
        for artifact in new.artifacts().iter().filter(|artifact| !known(artifact)) {
            let artifact = artifact.clone();
            let (task_id, context_id, metadata) = (None, None, None);
            let update = ArtifactUpdate { task_id, context_id, artifact, append: false, last_chunk: true, metadata };
            events.push(Event::Artifact(update));
        }
        let words = |status: &Status| status.message.as_ref().map(|message| message.parts.clone());
        let told = words(&new.status).is_some() && words(&new.status) != words(&old.status);
        if new.status.state != old.status.state || told {
            let status = Status { timestamp: None, ..new.status.clone() };
            events.push(Event::Status(StatusUpdate { task_id: None, context_id: None, status, last: false, metadata: None }));
        }
        events
    }

    /// The push configuration of that id; the only one where none is given, or where the task's own id is.
    #[must_use]
    pub fn push(&self, id: Option<&str>) -> Option<&Push> {
        let named = self.pushes.iter().find(|push| Some(push.config.id.as_str()) == id);
        named.or_else(|| self.pushes.first().filter(|_| id.is_none_or(|id| id == self.task().id)))
    }

    /// One line about it for people.
    #[must_use]
    pub fn line(&self) -> String {
        format!("{}: {} (from {})", self.task().id, self.state().kebab(), self.owner)
    }

    /// The last words of its caller.
    #[must_use]
    pub fn asked(&self) -> String {
        let history = self.task().history.iter().flatten();
        history.rev().find(|message| message.role == Role::User).map(Message::readable).unwrap_or_default()
    }
}
