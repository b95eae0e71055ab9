//! Calls: begun, given their reports, answered once, stopped.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::Gateway;
use super::tooling::NOBODY_TO_ASK;
use crate::call::dispatch::{self, Dispatch, Sink};
use crate::call::pace::Pace;
use crate::call::{Call, CallId, Caller, Ended, Run, Work, fitting};
use crate::incoming::is_session;
use crate::io::{Deadline, Level, Reason};
use crate::json::{Json, Object, Raw};
use crate::mcp::asks::{Answers, Asks};
use crate::mcp::outcome::{Code, ToolError};
use crate::mcp::subject::Subject;
use crate::mcp::tool::Started;
use crate::served::Duty;
use crate::time::Instant;

impl Gateway {
    /// Runs a tool or prompt, or starts its work; once more where it knows now what it asked.
    pub(super) fn begin(
        &mut self,
        mut caller: Caller,
        subject: Subject,
        arguments: Option<Raw<'_>>,
        answers: Answers,
        started: Instant,
    ) {
        let Some(session) = self.peers.get(&caller.peer) else { return };
        let scope_name = session.scope.clone();
        let scope = (scope_name.as_str(), self.scopes.get_or_default(&scope_name));
        let mut run = Run::new(&mut self.ground, scope, &mut self.exchanges, &mut self.served, &mut caller);
        run.answers = answers;
        let outcome = subject.start(&mut run, arguments);
        let Run { disconnected, dispatched, .. } = run;
        self.take_up(&scope_name, &caller, &subject, dispatched);
        match outcome {
            Ok(Started::Running(work)) => {
                if let Some(session) = self.peers.get_mut(&caller.peer) {
                    session.begin(&caller.request, caller.call);
                }
                let id = caller.call;
                let call = Call { caller, sink: Sink::Peer, scope: scope_name.clone(), subject, work, started, timer: None };
                self.enter(Box::new(call));
                self.park(id, arguments);
            }
            Ok(Started::Done(result)) => self.answer(&caller, &subject, Ok(result), started),
            Ok(Started::Asks(asks)) => self.ask(caller, subject, arguments, asks, started),
            Err(error) => self.answer(&caller, &subject, Err(error), started),
        }
        if let Some(alias) = disconnected {
            self.end_calls_to(&scope_name, &alias);
        }
    }

    /// Begins a call once more, with its tool as that is now, where everything is answered, or asks its client first. No other
    /// place takes a call apart that goes on, so that none forgets whom it is for.
    pub(super) fn begin_again(&mut self, id: CallId, arguments: Option<Json>, next: Result<Answers, Asks>) {
        let Some(call) = self.calls.get(&id) else { return };
        let subject = match &call.subject {
            Subject::Linked(tool) => self.ground.catalog.find(&tool.offered).cloned().map(Subject::Linked),
            subject @ (Subject::Tool(_) | Subject::Prompt(_)) => Some(subject.clone()),
        };
        let fault = match (&call.sink, &subject, &next) {
            (Sink::Peer | Sink::Served(_), None, _) => {
                Some((Code::Unreachable, "its tool is not offered any more: list the tools anew"))
            }
            (Sink::Served(_), Some(_), Err(_)) => Some((Code::Unsupported, NOBODY_TO_ASK)),
            (Sink::Peer | Sink::Served(_), Some(_), _) => None,
            (Sink::Parked | Sink::Left | Sink::Inbox(_) | Sink::Push(_) | Sink::Request(..) | Sink::Nobody, ..) => {
                Some((Code::Canceled, "the call could not go on while its client was away: make it once more"))
            }
        };
        self.work(id, |_, run| {
            run.tell_held(true);
            let (code, why) = fault?;
            run.caller.approval.take().iter().for_each(|id| run.ground.approvals.withdraw(id));
            Some(Err(ToolError::new(code, why)))
        });
        let Some(subject) = subject.filter(|_| fault.is_none()) else { return };
        let Some(call) = self.remove(id) else { return };
        self.forget(&call, &[]);
        let Call { caller, sink, scope, started, .. } = *call;
        let raw = arguments.as_ref().map(Json::raw);
        match (sink, next) {
            (Sink::Served(number), Ok(answers)) => self.start_tool(number, scope, caller, subject, arguments, answers),
            (_, Ok(answers)) => self.begin(caller, subject, raw, answers, started),
            (_, Err(asks)) => self.ask(caller, subject, raw, asks, started),
        }
    }

    /// Takes up work that goes on by itself.
    pub(super) fn take_up(&mut self, scope: &str, caller: &Caller, subject: &Subject, dispatched: Vec<Dispatch>) {
        for Dispatch { call, sink, work } in dispatched {
            let (meta, share, pace) = (Vec::new(), None, Pace::default());
            let caller = Caller { call, progress_token: None, log_level: None, meta, share, pace, ..caller.clone() };
            let started = self.ground.now;
            let subject = subject.clone();
            self.enter(Box::new(Call { caller, sink, scope: scope.into(), subject, work, started, timer: None }));
        }
    }

    /// Puts a new call into the books.
    pub(super) fn enter(&mut self, call: Box<Call>) {
        if let Some(scope) = self.scopes.get_mut(call.scope.as_str()) {
            for alias in call.work.aliases() {
                scope.begin(&alias, call.caller.call);
            }
        }
        self.keep(call);
    }

    /// Puts a call back with its timer.
    fn keep(&mut self, mut call: Box<Call>) {
        let held = call.caller.pace.due().map(|at| Deadline { at, reason: Reason::Progress });
        let deadline = [held, call.work.deadline()].into_iter().flatten().min_by_key(|deadline| deadline.at);
        self.set_timer(&mut call, deadline);
        if let Sink::Push(number) = call.sink {
            self.served.touch(number);
        }
        self.touch(call.caller.call);
        self.calls.insert(call.caller.call, call);
    }

    /// Notes that what is to be kept of a call may be another.
    pub(super) fn touch(&mut self, call: CallId) {
        if self.ground.config.storage {
            self.touched_calls.insert(call, ());
        }
    }

    fn remove(&mut self, id: CallId) -> Option<Box<Call>> {
        let mut call = self.calls.remove(&id)?;
        self.touch(id);
        self.set_timer(&mut call, None);
        Some(call)
    }

    fn set_timer(&mut self, call: &mut Call, next: Option<Deadline>) {
        if call.timer == next {
            return;
        }
        if let Some(timer) = call.timer {
            self.timers.remove(&(timer.at, call.caller.call));
        }
        if let Some(timer) = next {
            self.timers.insert((timer.at, call.caller.call), ());
        }
        call.timer = next;
    }

    /// Gives a call something to do, and answers it where that ends it.
    pub(super) fn work(&mut self, id: CallId, act: impl FnOnce(&mut Work, &mut Run<'_>) -> Option<Ended>) {
        let Some(mut call) = self.calls.remove(&id) else { return };
        self.touch(id);
        // A broadcast is done with some of its agents before it ends; every other call keeps its one.
        let before = if let Work::Broadcast(_) = *call.work { call.work.aliases() } else { Vec::new() };
        let ended = self.act(&mut call, |work, run| {
            let ended = act(work, run);
            run.tell_held(ended.is_some());
            ended
        });
        let left = if ended.is_some() || !before.is_empty() { call.work.aliases() } else { Vec::new() };
        match ended {
            Some(ended) if call.sink.is_away() && !matches!(call.work.as_ref(), Work::Kept(_)) => {
                self.keep_outcome(&mut call, ended);
                self.keep(call);
            }
            Some(ended) => {
                self.set_timer(&mut call, None);
                self.forget(&call, if before.is_empty() { &left } else { &before });
                self.end(&call, ended);
            }
            None => {
                if let Some(scope) = self.scopes.get_mut(call.scope.as_str()).filter(|_| left.len() < before.len()) {
                    for alias in before.iter().filter(|alias| !left.contains(alias)) {
                        scope.end(alias, id);
                    }
                }
                self.keep(call);
            }
        }
    }

    /// Calls go on that waited for a look-up of a card, whatever came of it.
    pub(super) fn wake_the_waiting(&mut self) {
        while let Some((scope, alias)) = self.ground.looked_up.pop_front() {
            let running = self.scopes.get(&scope).map(|scope| scope.running(&alias)).unwrap_or_default();
            for id in running {
                self.work(id, Work::looked_up);
            }
        }
    }

    /// Hands an outcome to whom it belongs.
    fn end(&mut self, call: &Call, ended: Ended) {
        match &call.sink {
            Sink::Peer => self.answer(&call.caller, &call.subject, ended, call.started),
            Sink::Inbox(ticket) => {
                dispatch::deposit(self.scopes.get_or_default(call.scope.as_str()), &self.ground, ticket, ended);
            }
            Sink::Served(number) if self.served.get(*number).is_some_and(|task| matches!(task.duty, Duty::Tool { .. })) => {
                self.tool_ended(*number, call.caller.call, ended);
            }
            Sink::Served(number) => self.relay_ended(*number, call.caller.call, ended.err()),
            Sink::Push(number) => self.served.touch(*number),
            Sink::Request(request, url) => self.plain_called(*request, url.as_deref(), ended),
            Sink::Nobody | Sink::Parked | Sink::Left if is_session(&call.scope) => self.leave_scope(&call.scope),
            Sink::Nobody | Sink::Parked | Sink::Left => {}
        }
    }

    fn act<T>(&mut self, call: &mut Call, act: impl FnOnce(&mut Work, &mut Run<'_>) -> T) -> T {
        let scope = (call.scope.as_str(), self.scopes.get_or_default(call.scope.as_str()));
        let mut run = Run::new(&mut self.ground, scope, &mut self.exchanges, &mut self.served, &mut call.caller);
        act(&mut call.work, &mut run)
    }

    /// Takes a call out of the books of its peer and its scope.
    fn forget(&mut self, call: &Call, aliases: &[String]) {
        if let Some(session) = self.peers.get_mut(&call.caller.peer).filter(|_| call.sink == Sink::Peer) {
            session.end(&call.caller.request);
        }
        if let Some(scope) = self.scopes.get_mut(call.scope.as_str()) {
            scope.pending.remove(&call.caller.call);
            for alias in aliases {
                scope.end(alias, call.caller.call);
            }
        }
    }

    /// Stops a call without an answer: its caller cancelled it, or left.
    pub(super) fn stop(&mut self, id: CallId, cancelled: bool) {
        let Some(mut call) = self.remove(id) else { return };
        let aliases = call.work.aliases();
        self.act(&mut call, |work, run| work.stop(run, cancelled));
        self.forget(&call, &aliases);
    }

    /// Ends the calls to an agent that was disconnected. Its entries leave the inbox, those of the calls that end here too.
    pub(super) fn end_calls_to(&mut self, scope: &str, alias: &str) {
        let running = self.scopes.get(scope).map(|scope| scope.running(alias)).unwrap_or_default();
        for id in running {
            self.work(id, |work, run| work.disconnect(run, alias));
        }
        if let Some(scope) = self.scopes.get_mut(scope) {
            scope.inbox.take(alias, u64::MAX);
            scope.inbox.forget_lost(alias);
        }
    }

    /// The one answer of a call.
    pub(crate) fn answer(&mut self, caller: &Caller, subject: &Subject, ended: Ended, started: Instant) {
        let limit = self.ground.config.limits.answer_bytes;
        let ended = fitting::within(ended, fitting::room(limit), limit);
        let mut fields = Object::new();
        fields.string(subject.kind(), subject.name()).integer("ms", self.ground.now.since(started));
        if let Some(trace) = &caller.trace {
            trace.add_to_notice(&mut fields);
        }
        let outcome = ended.as_ref().map_or_else(|error| error.code.name(), |_| "ok");
        self.metrics.add("narrows_calls_total", &[("tool", subject.counted()), ("outcome", outcome)], 1);
        let level = if ended.is_ok() { Level::Info } else { Level::Warning };
        fields.optional_string("code", ended.as_ref().err().map(|error| error.code.name()));
        match subject.answer(ended, caller.era, &self.ground.config) {
            Ok(result) => self.say_result(caller.peer, &caller.request, result),
            Err(error) => self.say_error(caller.peer, Some(&caller.request), error.code, &error.message, error.data),
        }
        self.ground.notice(level, "call_ended", fields);
    }
}
