//! Those who do the work of served tasks: an echo, a person, a function of the host.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::Gateway;
use super::granting::skill;
use crate::a2a::{Artifact, ArtifactUpdate, Event, Part, SendRequest, State, Status, StatusUpdate, event};
use crate::call::dispatch::{Dispatch, Sink};
use crate::call::{CallId, Caller, Run, Work};
use crate::incoming::{NOBODY, scope_of};
use crate::io::{Level, Misuse, Output, WorkId};
use crate::json::Object;
use crate::jsonrpc::Id;
use crate::list::gather;
use crate::mcp::era::Era;
use crate::mcp::outcome::ToolError;
use crate::mcp::subject::Subject;
use crate::served::{Duty, Restored, ServedTask, TaskNumber};
use crate::tools::SEND_MESSAGE;

impl Gateway {
    /// Hands a message to whoever works on its task.
    pub(super) fn set_to_work(&mut self, number: TaskNumber, send: SendRequest, hops: u64) {
        let Some(task) = self.served.get(number) else { return };
        match &task.duty {
            Duty::Echo => self.echo(number, send.message.parts),
            Duty::Inbox => {
                self.served.begin(number, &mut self.ground.random);
                let mut fields = Object::new();
                fields.optional_string("task", self.served.get(number).map(|task| task.task().id.as_str()));
                self.ground.notice(Level::Notice, "task_received", fields);
            }
            Duty::Function { .. } => self.order(number, &send),
            Duty::Tool { .. } => self.call_tool(number),
            Duty::Relay { .. } => self.pass_on(number, send, hops),
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
            Duty::Tool { .. } => self.release_tool(number),
            Duty::Relay { .. } => self.release_relayed(number),
        }
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
        caller.trace = self.ground.trace_context.as_ref().map(|trace| trace.child(&mut self.ground.random));
        let scope = (scope_name.as_str(), self.scopes.get_or_default(scope_name.as_str()));
        let mut run = Run::new(&mut self.ground, scope, &mut self.exchanges, &mut self.served, &mut caller);
        let started = start(&mut run);
        Ok(started?.map(|(sink, work)| {
            self.take_up(&scope_name, &caller, &Subject::Tool(&SEND_MESSAGE), alloc::vec![Dispatch { call, sink, work }]);
            call
        }))
    }

    /// Ends or forgets what is too old.
    pub(super) fn sweep_served(&mut self) {
        let now = self.ground.wall();
        self.served.sweep(now, &mut self.ground.random);
    }

    /// Takes up what restored tasks were at: deliveries go on, and so does the work of other agents; what a function of
    /// the host did is lost.
    pub(crate) fn resume_served(&mut self) {
        for Restored { number, busy } in self.served.take_restored(self.ground.config.limits.artifact_bytes) {
            self.resume_pushes(number);
            self.served.await_tools(number);
            let Some(task) = self.served.get(number) else { continue };
            // A change is kept before the record that says who works on it: the process may have ended between the two.
            let was_busy =
                busy || matches!(task.duty, Duty::Function { .. } | Duty::Relay { .. }) && !task.state().is_interrupted();
            if !was_busy || task.state().is_terminal() {
                continue;
            }
            let is_called = |task: &ServedTask| matches!(task.duty, Duty::Tool { call: Some(_), .. });
            if !self.served.get(number).is_some_and(is_called) && !self.relay_again(number) {
                let (at, why) = (self.ground.wall(), "the gateway was restarted while this task was worked on");
                self.served.fail(number, why, at, &mut self.ground.random);
            }
        }
        self.tell_watchers();
    }

    fn resume_pushes(&mut self, number: TaskNumber) {
        let configs = self.served.get(number).map(|task| gather(task.pushes.iter().map(|push| push.config.clone())));
        for (at, config) in configs.into_iter().flatten().enumerate() {
            self.learn_push(&config);
            self.begin_delivery(number, at);
        }
    }
}

fn status(state: State) -> Event {
    let (task_id, context_id, metadata) = (None, None, None);
    Event::Status(StatusUpdate { task_id, context_id, status: Status::of(state), last: false, metadata })
}
