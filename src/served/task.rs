//! One served task: what is known of it, who works on it, who watches it.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::life::{self, Who};
use super::queue::Queue;
use super::steps::{Kept, Step};
use crate::a2a::asked::PushConfig;
use crate::a2a::{Artifact, ArtifactUpdate, Assembly, Event, Message, Part, Role, SendRequest, State};
use crate::a2a::{Status, StatusUpdate, Task, TooLarge};
use crate::call::CallId;
use crate::ids::Random;
use crate::io::{RequestId, WorkId};
use crate::json::Json;
use crate::text;
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
    /// when its state last changed
    pub updated: WallTime,
    /// when anything last happened to it
    pub active: WallTime,
    /// the requests that watch it
    pub listeners: Vec<RequestId>,
    /// where its changes are delivered
    pub pushes: Vec<Push>,
    /// about how much it takes
    pub bytes: u64,
    /// how much was written of it whole, for webhooks
    pub(super) whole_bytes: u64,
    /// how often it changed
    pub changes: u64,
    /// what is known of it where a program of the owner sent it to another agent
    pub sent: Option<Box<Sent>>,
    /// what is kept of it
    pub(super) kept: Kept,
    assembly: Assembly,
}

/// A task that a program sent to another agent through the plain task API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// what the program names its requests by, so that each is made once, and what was asked for under that name
    pub keys: Vec<(String, u64)>,
    /// by which name its last message was sent, where it has one
    pub last: Option<String>,
    /// the code of the error where it could not be passed on
    pub fault: Option<String>,
    /// how long the program is to wait then before it tries again, where that is known
    pub retry_ms: Option<u64>,
    /// whether the program was told of it under its id here
    pub is_ours: bool,
    /// whether another task was known first by what its agent calls it
    pub is_apart: bool,
}

/// Something to be delivered: a change as it is written, or the task as it stands when its turn comes.
pub type Body = Option<String>;

/// Where changes of a task are delivered, and in which form.
#[derive(Debug)]
pub struct Push {
    /// which of the task's, in the order of their coming
    pub place: u64,
    /// where
    pub config: PushConfig,
    /// the form of 1.0, or of 0.3
    pub is_10: bool,
    /// the deliveries, once there were any
    pub call: Option<CallId>,
    /// what is to be delivered
    pub waiting: Queue<Body>,
    /// whether it is kept as it is
    pub(super) is_kept: bool,
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
    /// a tool of an MCP server
    Tool {
        /// the name by which it is offered
        tool: String,
        /// the call that runs
        call: Option<CallId>,
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
        /// whether the agent has told anything of what was sent last
        heard: bool,
        /// whether the agent has ended the task there
        ended: bool,
        /// what was before a further message, until the agent has said something about that
        before: Option<Box<Before>>,
        /// messages for the task there, with the gateways they passed: each goes when the one before it was taken
        waiting: Queue<(SendRequest, u64)>,
    },
}

/// What a relayed task was before a further message. It is that again where the message does not get through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Before {
    /// the send that followed it, which runs on
    pub call: Option<CallId>,
    /// its state
    pub state: State,
}

impl Push {
    /// A configuration to which nothing was delivered yet.
    #[must_use]
    pub fn new(place: u64, config: PushConfig, is_10: bool) -> Self {
        Self { place, config, is_10, call: None, waiting: Queue::default(), is_kept: false }
    }
}

impl Duty {
    /// The work of an agent that was told nothing yet.
    #[must_use]
    pub fn relay(agent: String) -> Self {
        let (task_id, context_id) = (None, None);
        Self::Relay {
            agent,
            call: None,
            task_id,
            context_id,
            heard: false,
            ended: false,
            before: None,
            waiting: Queue::default(),
        }
    }

    /// Whether somebody is at work who will report.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        match self {
            Self::Echo | Self::Inbox => false,
            Self::Function { works } => !works.is_empty(),
            Self::Tool { call, .. } | Self::Relay { call, .. } => call.is_some(),
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

/// How much of what was asked is told in a line for people.
const LINE_BYTES: usize = 4000;

/// What a message, a part or a list takes beyond its texts, about.
const FRAME_BYTES: usize = 192;

/// About how much a message takes.
#[must_use]
pub(super) fn weight(message: &Message) -> u64 {
    let ids = [Some(&message.message_id), message.context_id.as_ref(), message.task_id.as_ref()];
    let lists = [&message.extensions, &message.reference_task_ids].into_iter().flatten().flatten();
    let texts: usize = ids.into_iter().flatten().chain(lists).map(|text| text.len() + 24).sum();
    (message.bytes() + texts + FRAME_BYTES * (message.parts.len() + 1)) as u64
}

impl ServedTask {
    /// A task that has not begun.
    #[must_use]
    pub fn new(owner: String, mut task: Task, duty: Duty, limit: u64, at: WallTime) -> Self {
        let mut assembly = Assembly::new(limit);
        task.status.state = State::Submitted;
        task.status.timestamp = Some(Json::string(&at.to_rfc3339()));
        let bytes = whole_weight(&task);
        // A task without artifacts is below every limit.
        let _ = assembly.apply(Event::Task(task));
        let (listeners, pushes) = (Vec::new(), Vec::new());
        let (changes, sent) = (0, None);
        Self {
            owner,
            begun: false,
            duty,
            updated: at,
            active: at,
            listeners,
            pushes,
            bytes,
            whole_bytes: 0,
            changes,
            sent,
            kept: Kept::default(),
            assembly,
        }
    }

    /// A task of a snapshot, to be [settled](Self::settle) once it is whole.
    #[must_use]
    pub fn restored(owner: String, task: Task, duty: Duty, (updated, active): (WallTime, WallTime)) -> Self {
        let mut restored = Self::new(owner, Task::new(String::new(), None), duty, 0, updated);
        (restored.begun, restored.active) = (true, active);
        restored.replace(task);
        restored
    }

    /// Puts another task in its place.
    pub(super) fn replace(&mut self, task: Task) {
        self.assembly = Assembly::new(u64::MAX);
        let _ = self.assembly.apply(Event::Task(task));
    }

    /// Takes a step of a snapshot.
    pub(super) fn step(&mut self, step: Step) {
        match step {
            Step::Said(message) => self.assembly.say(*message),
            Step::Event(event) => drop(self.assembly.apply(*event)),
        }
    }

    /// Counts what came from a snapshot, and bounds what comes now.
    pub(super) fn settle(&mut self, limit: u64) {
        let task = self.task().clone();
        let pushes: u64 = self.pushes.iter().map(|push| push.config.bytes()).sum();
        self.bytes = whole_weight(&task) + pushes;
        self.assembly = Assembly::new(limit.max(self.bytes * 2));
        let _ = self.assembly.apply(Event::Task(task));
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

    /// Whether nothing more comes of it.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.state().is_terminal() && !self.duty.is_busy()
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
        self.bytes += weight(&message);
        self.active = at;
        let event = if waits { Some(self.status(Who::Message, Status::of(State::Working), at)?) } else { None };
        self.say(message);
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
            self.say(message);
        }
        self.bytes += status.message.as_ref().map_or(0, weight);
        (self.updated, self.active) = (at, at);
        let (task_id, context_id) = self.ids();
        let update = StatusUpdate { task_id, context_id, status, last, metadata: None };
        self.take(Event::Status(update))
    }

    /// An artifact, or a piece of one.
    ///
    /// # Errors
    /// A task that ended, artifacts beyond the limit.
    pub fn artifact(&mut self, mut update: ArtifactUpdate, at: WallTime, random: &mut Random) -> Result<Event, Refused> {
        if self.state().is_terminal() {
            return Err(Refused::State);
        }
        (update.task_id, update.context_id) = self.ids();
        if update.artifact.artifact_id.is_empty() {
            update.artifact.artifact_id = random.uuid();
        }
        self.bytes += artifact_weight(&update.artifact);
        self.active = at;
        self.take(Event::Artifact(update))
    }

    fn take(&mut self, event: Event) -> Result<Event, Refused> {
        self.assembly.apply(event.clone()).map_err(|TooLarge| Refused::TooLarge)?;
        self.kept.steps.push(Step::Event(Box::new(event.clone())));
        Ok(event)
    }

    fn say(&mut self, message: Message) {
        self.kept.steps.push(Step::Said(Box::new(message.clone())));
        self.assembly.say(message);
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
        let known = |artifact: &Artifact| self.assembly.artifact_of(&artifact.artifact_id) == Some(artifact);
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

    /// The push configuration of that id. Where none is given, the one that was made without any, else the only one
    /// (A2A 0.3 §7.6).
    #[must_use]
    pub fn push(&self, id: Option<&str>) -> Option<&Push> {
        let named = |id: &str| self.pushes.iter().find(|push| push.config.id == id);
        match id {
            Some(id) => named(id),
            None => named(&self.task().id).or_else(|| self.pushes.first().filter(|_| self.pushes.len() == 1)),
        }
    }

    /// Adds a push configuration, or puts it in the place of the one of its id. Gives where it is in the list, and what
    /// delivered to the one before. What was not taken where it was wanted before is wanted there now.
    pub(crate) fn add_push(&mut self, config: PushConfig, is_10: bool) -> (usize, Option<CallId>) {
        if let Some(at) = self.pushes.iter().position(|push| push.config.id == config.id)
            && let Some(push) = self.pushes.get_mut(at)
        {
            self.bytes = self.bytes.saturating_sub(push.config.bytes());
            if push.is_10 != is_10 && !push.waiting.is_empty() {
                push.waiting.clear();
                push.waiting.push(None);
            }
            (push.config, push.is_10, push.is_kept) = (config, is_10, false);
            return (at, push.call.take());
        }
        let place = self.pushes.last().map_or(0, |push| push.place + 1);
        self.pushes.push(Push::new(place, config, is_10));
        (self.pushes.len() - 1, None)
    }

    /// Forgets a push configuration, and gives what delivered to it.
    pub fn remove_push(&mut self, id: &str) -> Option<CallId> {
        let at = self.pushes.iter().position(|push| push.config.id == id)?;
        let push = self.pushes.remove(at);
        self.bytes = self.bytes.saturating_sub(push.config.bytes());
        self.kept.gone.push(push.place);
        push.call
    }

    /// What it is and what was asked, for people.
    #[must_use]
    pub fn line(&self) -> String {
        let asked = self.asked();
        let start = text::start(&asked, LINE_BYTES);
        let rest = if start.len() < asked.len() { " (and more)" } else { "" };
        format!("{}: {} (from {}): {start}{rest}", self.task().id, self.state().kebab(), self.owner)
    }

    /// What its caller said since anybody answered.
    #[must_use]
    pub fn asked(&self) -> String {
        let mut said = Vec::new();
        for message in self.task().history.iter().flatten() {
            match message.role {
                Role::User => said.push(message.readable()),
                Role::Agent | Role::Unspecified | Role::Other(_) => said.clear(),
            }
        }
        text::joined(&said, "\n")
    }
}

fn artifact_weight(artifact: &Artifact) -> u64 {
    (artifact.bytes() + artifact.artifact_id.len() + FRAME_BYTES * (artifact.parts.len() + 1)) as u64
}

fn whole_weight(task: &Task) -> u64 {
    let said = task.history.iter().flatten().chain(&task.status.message);
    said.map(weight).sum::<u64>() + task.artifacts().iter().map(artifact_weight).sum::<u64>()
}
