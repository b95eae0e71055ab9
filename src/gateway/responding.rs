//! Those who do the work of served tasks: an echo, a person, a function of the host, another agent.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::Gateway;
use super::granting::skill;
use crate::a2a::{Artifact, ArtifactUpdate, Event, Part, SendRequest, State, Status, StatusUpdate, Task, event};
use crate::call::dispatch::{Dispatch, Sink};
use crate::call::send::{Keeping, Patience, Send};
use crate::call::target::Target;
use crate::call::task::{TaskCall, Wish};
use crate::call::{CallId, Caller, Run, Work};
use crate::incoming::{NOBODY, scope_of};
use crate::io::{Level, Misuse, Output, WorkId};
use crate::json::{Json, Object};
use crate::jsonrpc::Id;
use crate::mcp::era::Era;
use crate::mcp::outcome::ToolError;
use crate::mcp::subject::Subject;
use crate::mcp::tool::Started;
use crate::served::{Duty, Restored, ServedTask, TaskNumber};
use crate::tools::{SEND_MESSAGE, take_token};

impl Gateway {
    /// Hands a message to whoever works on its task.
    pub(super) fn set_to_work(&mut self, number: TaskNumber, send: SendRequest, hops: u64) {
        let Some(duty) = self.served.get(number).map(|task| task.duty.clone()) else { return };
        match duty {
            Duty::Echo => self.echo(number, send.message.parts),
            Duty::Inbox => {
                self.served.begin(number, &mut self.ground.random);
                let mut fields = Object::new();
                fields.optional_string("task", self.served.get(number).map(|task| task.task().id.as_str()));
                self.ground.notice(Level::Notice, "task_received", fields);
            }
            Duty::Function { .. } => self.order(number, &send),
            Duty::Relay { agent, call, task_id, context_id } => {
                // The new stream tells what the old one would have told.
                if let Some(call) = call {
                    self.stop(call, false);
                }
                self.relay(number, &agent, (task_id, context_id), send, hops);
            }
        }
    }

    fn echo(&mut self, number: TaskNumber, parts: Vec<Part>) {
        let (at, random) = (self.ground.wall(), &mut self.ground.random);
        let mut artifact = Artifact::new(String::from("echo"), parts);
        artifact.name = Some(String::from("echo"));
        let (task_id, context_id, metadata) = (None, None, None);
        let update = ArtifactUpdate { task_id, context_id, artifact, append: false, last_chunk: true, metadata };
        for event in [status(State::Working), Event::Artifact(update), status(State::Completed)] {
            self.served.report(number, event, at, random);
        }
    }

    /// Work for the host.
    fn order(&mut self, number: TaskNumber, send: &SendRequest) {
        let work = self.served.work(number);
        let context_id = self.ground.random.uuid();
        let Some(task) = self.served.get_mut(number) else { return };
        task.name_context(context_id);
        let mut order = Object::new();
        order.string("principal", &task.owner).optional_string("skill", skill(send).as_deref());
        order.json("message", &task.own(send.message.clone(), &mut self.ground.random).to_json());
        order.json("task", &task.task().to_json()).optional_json("metadata", send.metadata.as_ref());
        self.ground.outputs.push_back(Output::Work { work, order: order.finish() });
    }

    /// Something that a function of the host says.
    pub(super) fn update(&mut self, work: WorkId, text: &str) -> Result<(), Misuse> {
        let known = self.served.working(work).ok_or(Misuse::WorkUnknown(work))?;
        let read = event(crate::a2a::Dialect::JsonRpc10, "", text, self.ground.config.limits.depth());
        let event = match read {
            Ok(event) if !matches!(event, Event::Other(_)) => event,
            Ok(_) | Err(_) => return Err(Misuse::Unreadable("text")),
        };
        if let Some(number) = known {
            let at = self.ground.wall();
            let (is_message, is_piece) = (matches!(event, Event::Message(_)), matches!(event, Event::Artifact(_)));
            if is_message {
                self.served.finished(work);
            }
            self.served.report(number, event, at, &mut self.ground.random);
            // A function that ended its task itself is not aborted; one whose artifacts were too large is.
            if !is_piece && self.served.get(number).is_some_and(|task| task.state().is_terminal()) {
                self.served.finished(work);
            }
        }
        Ok(())
    }

    /// A function of the host is done.
    pub(super) fn work_end(&mut self, work: WorkId) -> Result<(), Misuse> {
        if let Some(number) = self.served.working(work).ok_or(Misuse::WorkUnknown(work))? {
            self.served.finished(work);
            let (at, random) = (self.ground.wall(), &mut self.ground.random);
            let open = self.served.get(number).is_some_and(|task| !task.state().is_interrupted() && !task.duty.is_busy());
            if open {
                self.served.report(number, status(State::Completed), at, random);
            }
        }
        Ok(())
    }

    /// A function of the host failed.
    pub(super) fn work_failed(&mut self, work: WorkId, detail: &str) -> Result<(), Misuse> {
        if let Some(number) = self.served.working(work).ok_or(Misuse::WorkUnknown(work))? {
            self.served.finished(work);
            let at = self.ground.wall();
            self.served.fail(number, detail, at, &mut self.ground.random);
        }
        Ok(())
    }

    /// The work of an ended task is not wanted any more.
    pub(super) fn release(&mut self, number: TaskNumber) {
        let Some(task) = self.served.get_mut(number) else { return };
        match &mut task.duty {
            Duty::Echo | Duty::Inbox => {}
            Duty::Function { works } => {
                for work in works.clone() {
                    self.served.finished(work);
                    self.ground.outputs.push_back(Output::WorkAbort { work });
                }
            }
            Duty::Relay { agent, call, task_id, .. } => {
                let (agent, call, task_id) = (agent.clone(), call.take(), task_id.clone());
                let canceled = *task.state() == State::Canceled;
                let owner = task.owner.clone();
                // What agents said until now, the id of their task included.
                if let Some(call) = call {
                    self.stop(call, false);
                }
                if let Some(task_id) = task_id.filter(|_| canceled) {
                    self.cancel_there(&owner, &agent, task_id);
                }
            }
        }
    }

    /// Has a relayed task canceled by its agent; nobody waits for that.
    fn cancel_there(&mut self, owner: &str, agent: &str, task_id: String) {
        // An agent that is gone runs nothing to be canceled.
        let _ = self.unattended(owner, |run| {
            let target = Target::resolve(run.scope, agent)?;
            match TaskCall::start(run, target, task_id, Wish::Cancel)? {
                Started::Running(work) => Ok(Some((Sink::Nobody, work))),
                Started::Done(_) | Started::Asks(_) => Ok(None),
            }
        });
    }

    /// Starts work in the scope of an owner that no peer waits for.
    pub(super) fn unattended(
        &mut self,
        owner: &str,
        start: impl FnOnce(&mut Run<'_>) -> Result<Option<(Sink, Box<Work>)>, ToolError>,
    ) -> Result<Option<CallId>, ToolError> {
        let scope_name = scope_of(owner, None);
        let call = CallId(self.ground.call_number());
        let mut caller = Caller::new(call, NOBODY, Id::none(), Era::Legacy);
        let scope = (scope_name.as_str(), self.scopes.get_or_default(scope_name.as_str()));
        let mut run = Run::new(&mut self.ground, scope, &mut self.exchanges, &mut self.served, &mut caller);
        let started = start(&mut run);
        Ok(started?.map(|(sink, work)| {
            self.take_up(&scope_name, &caller, Subject::Tool(&SEND_MESSAGE), alloc::vec![Dispatch { call, sink, work }]);
            call
        }))
    }

    /// Passes a message on to another agent.
    fn relay(&mut self, number: TaskNumber, agent: &str, there: (Option<String>, Option<String>), send: SendRequest, hops: u64) {
        let Some(owner) = self.served.get(number).map(|task| task.owner.clone()) else { return };
        let (task_id, context_id) = there;
        let mut request = send;
        let known = |tasks: &crate::served::ServedTasks, id: &str| {
            let task = tasks.find(&owner, id).ok().and_then(|number| tasks.get(number))?;
            match &task.duty {
                Duty::Relay { task_id, .. } => task_id.clone(),
                Duty::Echo | Duty::Inbox | Duty::Function { .. } => None,
            }
        };
        let context = context_id.or_else(|| self.context_there(&owner, agent, request.message.context_id.as_deref()));
        request.message.context_id = context.or(request.message.context_id);
        request.message.task_id = task_id;
        for id in request.message.reference_task_ids.iter_mut().flatten() {
            if let Some(there) = known(&self.served, id) {
                *id = there;
            }
        }
        request.metadata = Some(with_hops(request.metadata.as_ref(), hops + 1));
        request.return_immediately = false;
        let started = self.unattended(&owner, |run| {
            let target = Target::resolve(run.scope, agent)?;
            target.check(run)?;
            take_token(run, &target)?;
            let sink = Sink::Served(number);
            let (work, ended) = Send::begun(run, target, request, Patience::Unlimited, Keeping::Served(number));
            match ended {
                None => Ok(Some((sink, Box::new(Work::Send(work))))),
                Some(Ok(_)) => Ok(None),
                Some(Err(error)) => Err(error),
            }
        });
        self.relaying(number, started);
    }

    /// Notes which call a relayed task hangs on, or that it could not be passed on.
    fn relaying(&mut self, number: TaskNumber, started: Result<Option<CallId>, ToolError>) {
        match started {
            Ok(running) => {
                if let Some(Duty::Relay { call, .. }) = self.served.get_mut(number).map(|task| &mut task.duty) {
                    *call = running;
                }
            }
            Err(error) => {
                let at = self.ground.wall();
                self.served.fail(number, &error.message, at, &mut self.ground.random);
            }
        }
        self.take_relayed();
    }

    /// The conversation at an agent that a conversation here is; `None` where there is none.
    fn context_there(&self, owner: &str, agent: &str, context_id: Option<&str>) -> Option<String> {
        let context_id = context_id?;
        let there = |task: &ServedTask| match &task.duty {
            Duty::Relay { agent: other, context_id, .. } if other == agent => context_id.clone(),
            Duty::Relay { .. } | Duty::Echo | Duty::Inbox | Duty::Function { .. } => None,
        };
        let same = self.served.of(owner).filter(|(_, task)| task.task().context_id.as_deref() == Some(context_id));
        same.filter_map(|(_, task)| there(task)).last()
    }

    /// What agents said about relayed tasks.
    pub(super) fn take_relayed(&mut self) {
        while let Some((number, event)) = self.ground.relayed.pop_front() {
            let (task, context) = match &event {
                Event::Task(task) => (Some(task.id.clone()).filter(|id| !id.is_empty()), task.context_id.clone()),
                Event::Status(update) => (update.task_id.clone(), update.context_id.clone()),
                Event::Artifact(update) => (update.task_id.clone(), update.context_id.clone()),
                Event::Message(_) | Event::Other(_) => (None, None),
            };
            let Some(known) = self.served.get_mut(number) else { continue };
            if let Duty::Relay { task_id, context_id, .. } = &mut known.duty {
                *task_id = task_id.take().or(task);
                *context_id = context_id.take().or(context);
            }
            let at = self.ground.wall();
            self.served.report(number, event, at, &mut self.ground.random);
        }
    }

    /// A relayed send ended: its task has, or waits, or could not be passed on.
    pub(super) fn relay_ended(&mut self, number: TaskNumber, ended: CallId, error: Option<ToolError>) {
        self.take_relayed();
        let Some(task) = self.served.get_mut(number) else { return };
        if let Duty::Relay { call, .. } = &mut task.duty {
            *call = call.filter(|call| *call != ended);
        }
        if let Some(error) = error.filter(|_| !self.served.get(number).is_some_and(|task| task.state().is_terminal())) {
            let at = self.ground.wall();
            self.served.fail(number, &error.message, at, &mut self.ground.random);
        }
    }

    /// Takes up what restored tasks were at: deliveries go on, and so does the work of other agents; what a function of
    /// the host did is lost.
    pub(crate) fn resume_served(&mut self) {
        for Restored { number, busy, waiting } in self.served.take_restored() {
            self.resume_pushes(number, waiting);
            if !busy {
                continue;
            }
            let Some(task) = self.served.get(number) else { continue };
            let (owner, at) = (task.owner.clone(), self.ground.wall());
            let there = match &task.duty {
                Duty::Relay { agent, task_id: Some(task_id), context_id, .. } => {
                    Some((agent.clone(), Task::new(task_id.clone(), context_id.clone())))
                }
                Duty::Relay { .. } | Duty::Function { .. } | Duty::Echo | Duty::Inbox => None,
            };
            let Some((agent, known)) = there else {
                let why = "the gateway was restarted while this task was worked on";
                self.served.fail(number, why, at, &mut self.ground.random);
                continue;
            };
            let message = crate::a2a::Message::from_user(String::new(), Vec::new());
            let (metadata, accepted_output_modes, history_length) = (None, None, None);
            let request = SendRequest { message, metadata, accepted_output_modes, history_length, return_immediately: false };
            let started = self.unattended(&owner, |run| {
                let target = Target::resolve(run.scope, &agent)?;
                let (work, ended) = Send::taken_up(run, target, request, number, known);
                match ended {
                    None => Ok(Some((Sink::Served(number), Box::new(Work::Send(work))))),
                    Some(Ok(_)) => Ok(None),
                    Some(Err(error)) => Err(error),
                }
            });
            self.relaying(number, started);
        }
        self.tell_watchers();
    }

    fn resume_pushes(&mut self, number: TaskNumber, waiting: Vec<Vec<String>>) {
        let Some(task) = self.served.get(number) else { return };
        let (owner, pushes) = (task.owner.clone(), task.pushes.clone());
        for (at, (push, bodies)) in pushes.iter().zip(waiting).enumerate() {
            self.learn_push(&owner, &push.config);
            if !bodies.is_empty() {
                self.begin_delivery(number, at, &owner, push, bodies.into());
            }
        }
    }
}

fn status(state: State) -> Event {
    let (task_id, context_id, metadata) = (None, None, None);
    Event::Status(StatusUpdate { task_id, context_id, status: Status::of(state), last: false, metadata })
}

/// The metadata of a request that is passed on.
fn with_hops(metadata: Option<&Json>, hops: u64) -> Json {
    let mut out = Object::new();
    for (name, value) in metadata.and_then(Json::members).unwrap_or_default().iter() {
        if name != "narrows_hops" {
            out.raw(name, value.get());
        }
    }
    out.integer("narrows_hops", hops);
    out.finish()
}
