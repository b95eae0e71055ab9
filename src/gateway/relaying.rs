//! Served tasks whose work another agent does: messages passed on, what comes back, and the end on either side.

use alloc::boxed::Box;
use alloc::string::String;

use super::Gateway;
use crate::a2a::{Event, SendRequest, State, Task};
use crate::call::dispatch::Sink;
use crate::call::outgoing::Checked;
use crate::call::send::{Keeping, Patience, Send};
use crate::call::target::Target;
use crate::call::task::{TaskCall, Wish};
use crate::call::{CallId, Work};
use crate::incoming::{Watching, scope_of};
use crate::json::{Json, Object};
use crate::mcp::outcome::{Code, ToolError};
use crate::mcp::tool::Started;
use crate::served::{Before, Duty, ServedTask, ServedTasks, TaskNumber};
use crate::tools::{SEND_MESSAGE, take_token};

/// The task and the conversation at an agent.
type There = (Option<String>, Option<String>);

/// A message that waits, with the gateways that it passed.
type Waiting = (SendRequest, u64);

impl Gateway {
    /// Whether one more message for a relayed task can be passed on. It has its token then, and what the task was before is
    /// noted.
    ///
    /// # Errors
    /// The agent is gone, its address is not called, or its rate limit is reached. Nothing has changed.
    pub(super) fn may_pass_on(&mut self, number: TaskNumber) -> Result<(), ToolError> {
        let Some(task) = self.served.get(number) else { return Ok(()) };
        let Duty::Relay { agent, .. } = &task.duty else { return Ok(()) };
        let (owner, agent, state) = (task.owner.clone(), agent.clone(), task.state().clone());
        self.unattended(&owner, |run| {
            let target = Target::resolve(run.scope, &agent)?;
            target.check(run)?;
            take_token(run, &target).map(|()| None)
        })?;
        if let Some(Duty::Relay { before, .. }) = self.served.get_mut(number).map(|task| &mut task.duty) {
            before.get_or_insert_with(|| Box::new(Before { call: None, state }));
        }
        Ok(())
    }

    /// Passes a message on, as soon as the agent has taken the one before: until it says so, its task has no name here, and
    /// an exchange that is given up may take its message with it.
    pub(super) fn pass_on(&mut self, number: TaskNumber, send: SendRequest, hops: u64) {
        // Each that does not get through gives the next one: they may be many.
        let mut next = Some((send, hops));
        while let Some((send, hops)) = next {
            next = self.pass_one_on(number, send, hops);
        }
    }

    /// The same of one; the next one, where it does not get through.
    fn pass_one_on(&mut self, number: TaskNumber, send: SendRequest, hops: u64) -> Option<Waiting> {
        let task = self.served.get_mut(number)?;
        let state = task.state().clone();
        let Duty::Relay { agent, call, task_id, context_id, before, heard, waiting, .. } = &mut task.duty else { return None };
        if call.is_some() && !*heard {
            waiting.push((send, hops));
            return None;
        }
        *heard = false;
        let (agent, there) = (agent.clone(), (task_id.clone(), context_id.clone()));
        if task_id.is_some() {
            let was = before.get_or_insert_with(|| Box::new(Before { call: None, state }));
            was.call = call.take().or(was.call);
        }
        self.relay(number, &agent, there, send, hops)
    }

    fn relay(
        &mut self,
        number: TaskNumber,
        agent: &str,
        (task_id, context_id): There,
        send: SendRequest,
        hops: u64,
    ) -> Option<Waiting> {
        let owner = self.served.get(number).map(|task| task.owner.clone())?;
        let mut request = send;
        // A further message has its token already.
        let is_further = request.message.task_id.is_some();
        let known = |tasks: &ServedTasks, id: &str| {
            let task = tasks.find(&owner, id).ok().and_then(|number| tasks.get(number))?;
            match &task.duty {
                Duty::Relay { task_id, .. } => task_id.clone(),
                Duty::Echo | Duty::Inbox | Duty::Function { .. } | Duty::Tool { .. } => None,
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
            let request = Checked::new(run.ground, SEND_MESSAGE.name, request)?;
            if !is_further {
                take_token(run, &target)?;
            }
            let sink = Sink::Served(number);
            let (work, ended) = Send::begun(run, target, request, Patience::Unlimited, Keeping::Served(number));
            match ended {
                None => Ok(Some((sink, Box::new(Work::Send(work))))),
                Some(Ok(_)) => Ok(None),
                Some(Err(error)) => Err(error),
            }
        });
        self.relaying(number, started)
    }

    /// Notes which call a relayed task hangs on, or that it could not be passed on; what is to be passed on then.
    fn relaying(&mut self, number: TaskNumber, started: Result<Option<CallId>, ToolError>) -> Option<Waiting> {
        let next = match started {
            Ok(running) => {
                if let Some(Duty::Relay { call, .. }) = self.served.get_mut(number).map(|task| &mut task.duty) {
                    *call = running;
                }
                None
            }
            Err(error) => self.not_passed_on(number, &error),
        };
        self.take_relayed();
        next
    }

    /// A message did not get through. Where it was a further one its task goes on as before, and says so; with the next one.
    fn not_passed_on(&mut self, number: TaskNumber, error: &ToolError) -> Option<Waiting> {
        let task = self.served.get_mut(number)?;
        let now = task.state().clone();
        let Duty::Relay { call, task_id: Some(_), before, heard, waiting, .. } = &mut task.duty else {
            self.fail_relayed(number, error);
            return None;
        };
        let Some(was) = before.take() else {
            self.fail_relayed(number, error);
            return None;
        };
        let (followed, next) = (was.call, waiting.pop());
        (*call, *heard) = (followed, followed.is_some());
        // What the agent made of a message that it may have got is to be read.
        let is_still = followed.is_none() && next.is_none() && was.state.is_interrupted() && is_unsent(error);
        let mut state = if is_still { was.state.clone() } else { now };
        if let Some(sent) = task.sent.as_mut().filter(|_| next.is_none() && is_unsent(error)) {
            // What surely was not taken is sent by the next request of the same name.
            let last = sent.last.take();
            sent.keys.retain(|(key, _)| last.as_ref() != Some(key));
        }
        if next.is_some() {
            *before = Some(was);
        }
        if let Some(call) = followed {
            self.work(call, |work, run| {
                if let Work::Send(send) = work {
                    send.relay_whole(run);
                }
                None
            });
            self.take_relayed();
            // It says what the task is there, which may be what it was before the message.
            state = self.served.get(number).map_or(state, |task| task.state().clone());
        }
        self.tell_refused(number, state, error);
        let is_over = self.served.get(number).is_none_or(|task| task.state().is_terminal());
        if next.is_none() && followed.is_none() && !is_still && !is_over {
            self.relay_again(number);
        }
        next.filter(|_| !is_over)
    }

    /// Says that a message did not get through; a program that waits for what it leads to is told the error.
    fn tell_refused(&mut self, number: TaskNumber, state: State, error: &ToolError) {
        let set = |gateway: &mut Self, fault: Option<&ToolError>| {
            if let Some(sent) = gateway.served.get_mut(number).and_then(|task| task.sent.as_mut()) {
                sent.fault = fault.map(|error| String::from(error.code.name()));
                sent.retry_ms = fault.and_then(ToolError::retry_after_ms);
            }
        };
        set(self, Some(error));
        self.tell_state(number, state, &error.message);
        self.tell_watchers();
        // Who waits for the answer to a message waits for that to the last one.
        let last = self.served.get(number).and_then(|task| task.listeners.last().copied());
        let waits = |watching: &Watching| !watching.stream && watching.form.plain.is_some();
        if let Some(request) = last.filter(|request| self.watching(*request).is_some_and(|watching| waits(watching))) {
            self.plain_late(request);
        }
        set(self, None);
    }

    /// The words of an error may quote the agent.
    fn fail_relayed(&mut self, number: TaskNumber, error: &ToolError) {
        let Some(owner) = self.served.get(number).map(|task| task.owner.clone()) else { return };
        let why = error.message.clone();
        let why = match self.scopes.get(scope_of(&owner, None).as_str()) {
            Some(scope) => scope.secrets.redact(why),
            None => why,
        };
        if let Some(task) = self.served.get_mut(number)
            && let Some(sent) = &mut task.sent
        {
            (sent.fault, sent.retry_ms) = (Some(String::from(error.code.name())), error.retry_after_ms());
            // What surely was not taken is sent by the next request of the same name.
            if is_unsent(error) && matches!(task.duty, Duty::Relay { task_id: None, .. }) {
                sent.keys.clear();
            }
        }
        let at = self.ground.wall();
        self.served.fail(number, &why, at, &mut self.ground.random);
    }

    /// The conversation at an agent that a conversation here is; `None` where there is none.
    fn context_there(&self, owner: &str, agent: &str, context_id: Option<&str>) -> Option<String> {
        let context_id = context_id?;
        let there = |task: &ServedTask| match &task.duty {
            Duty::Relay { agent: other, context_id, .. } if other == agent => context_id.clone(),
            Duty::Relay { .. } | Duty::Echo | Duty::Inbox | Duty::Function { .. } | Duty::Tool { .. } => None,
        };
        let same = self.served.of(owner).filter(|(_, task)| task.task().context_id.as_deref() == Some(context_id));
        same.filter_map(|(_, task)| there(task)).last()
    }

    /// What agents said about relayed tasks. It is clean of the secrets that they were called with before anybody is told.
    pub(super) fn take_relayed(&mut self) {
        while let Some((number, from, mut event)) = self.ground.relayed.pop_front() {
            let (task, context, is_end) = match &event {
                Event::Task(task) => {
                    let id = Some(task.id.clone()).filter(|id| !id.is_empty());
                    (id, task.context_id.clone(), task.status.state.is_terminal())
                }
                Event::Status(update) => (update.task_id.clone(), update.context_id.clone(), update.status.state.is_terminal()),
                Event::Artifact(update) => (update.task_id.clone(), update.context_id.clone(), false),
                Event::Message(_) => (None, None, true),
                Event::Other(_) => (None, None, false),
            };
            let is_unnamed = |task: &ServedTask| matches!(task.duty, Duty::Relay { task_id: None, .. }) && task.sent.is_some();
            let is_new = self.served.get(number).is_some_and(is_unnamed);
            let is_apart = is_new && task.as_ref().is_some_and(|id| self.served.is_known_by(number, id));
            let Some(known) = self.served.get_mut(number) else { continue };
            let mut followed = None;
            if let Duty::Relay { task_id, context_id, call, before, heard, ended, .. } = &mut known.duty {
                // The new stream tells what the old one would tell, but for the end.
                if !is_end && before.as_ref().is_some_and(|before| before.call == Some(from)) {
                    continue;
                }
                if let Some(sent) = known.sent.as_mut().filter(|_| task_id.is_none()) {
                    sent.is_apart = is_apart;
                }
                *task_id = task_id.take().or(task);
                *context_id = context_id.take().or(context);
                *ended |= is_end;
                if *call == Some(from) && task_id.is_some() {
                    *heard = true;
                    followed = before.take().and_then(|before| before.call);
                }
            }
            if let Some(scope) = self.scopes.get(scope_of(&known.owner, None).as_str()) {
                scope.secrets.clean(&mut event);
            }
            if let Some(call) = followed {
                self.stop(call, false);
            }
            let at = self.ground.wall();
            self.served.report(number, event, at, &mut self.ground.random);
            self.go_on(number, from);
        }
    }

    /// Does what waited until the agent named its task: the next message, or the end.
    fn go_on(&mut self, number: TaskNumber, from: CallId) {
        let Some(task) = self.served.get_mut(number) else { return };
        let is_over = task.state().is_terminal();
        let Duty::Relay { call, heard: true, ended: false, waiting, .. } = &mut task.duty else { return };
        if *call != Some(from) {
            return;
        }
        if is_over {
            return self.release_relayed(number);
        }
        if let Some((send, hops)) = waiting.pop() {
            self.pass_on(number, send, hops);
        }
    }

    /// A task that ended here is not wanted there any more. One that has no name yet is awaited until it has: without it
    /// the agent could not be told.
    pub(super) fn release_relayed(&mut self, number: TaskNumber) {
        let Some(task) = self.served.get_mut(number) else { return };
        let owner = task.owner.clone();
        let Duty::Relay { agent, call, task_id, before, ended, waiting, .. } = &mut task.duty else { return };
        waiting.clear();
        let followed = before.take().and_then(|before| before.call);
        let running = call.and_then(|call| self.calls.get(&call)).map(|call| call.work.as_ref());
        let is_sent = matches!(running, Some(Work::Send(send)) if send.is_sent());
        if let Some(call) = call.filter(|_| is_sent && task_id.is_none() && !*ended) {
            return self.work(call, |work, run| {
                if let Work::Send(send) = work {
                    send.hasten(run);
                }
                None
            });
        }
        let (agent, call, task_id) = (agent.clone(), call.take(), task_id.clone().filter(|_| !*ended));
        *ended = true;
        for call in call.into_iter().chain(followed) {
            self.stop(call, false);
        }
        if let Some(task_id) = task_id {
            self.cancel_there(&owner, &agent, task_id);
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

    /// A relayed send ended: its task has, or waits, or could not be passed on.
    pub(super) fn relay_ended(&mut self, number: TaskNumber, ended: CallId, error: Option<ToolError>) {
        self.take_relayed();
        let Some(task) = self.served.get_mut(number) else { return };
        let is_over = task.state().is_terminal();
        let Duty::Relay { call, before, .. } = &mut task.duty else { return };
        *call = call.filter(|call| *call != ended);
        if let Some(before) = before.as_mut().filter(|before| before.call == Some(ended)) {
            before.call = None;
            return;
        }
        if let Some(error) = error.filter(|_| !is_over) {
            if let Some((send, hops)) = self.not_passed_on(number, &error) {
                self.pass_on(number, send, hops);
            }
            return;
        }
        // It ended without a word about the message before.
        if !is_over
            && let Some(Duty::Relay { call: None, waiting, .. }) = self.served.get_mut(number).map(|task| &mut task.duty)
            && let Some((send, hops)) = waiting.pop()
        {
            self.pass_on(number, send, hops);
        }
    }

    /// Takes the work of another agent up again, where its task has a name; whether it could.
    pub(super) fn relay_again(&mut self, number: TaskNumber) -> bool {
        let Some(task) = self.served.get(number) else { return false };
        let Duty::Relay { agent, task_id: Some(task_id), context_id, .. } = &task.duty else { return false };
        let (owner, agent, known) = (task.owner.clone(), agent.clone(), Task::new(task_id.clone(), context_id.clone()));
        let started = self.unattended(&owner, |run| {
            let target = Target::resolve(run.scope, &agent)?;
            let (work, ended) = Send::taken_up(run, target, number, known);
            match ended {
                None => Ok(Some((Sink::Served(number), Box::new(Work::Send(work))))),
                Some(Ok(_)) => Ok(None),
                Some(Err(error)) => Err(error),
            }
        });
        // Nothing was to be passed on.
        let _none = self.relaying(number, started);
        true
    }
}

/// Whether an agent surely did not get what it was to be sent.
fn is_unsent(error: &ToolError) -> bool {
    error.unsent || [Code::RateLimited, Code::Blocked, Code::UnknownAgent].contains(&error.code)
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
