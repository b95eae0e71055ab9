//! Calls: begun, given their reports, answered once, stopped.

use alloc::boxed::Box;
use alloc::format;

use super::Gateway;
use crate::call::{Call, CallId, Caller, Ended, Run, Work};
use crate::io::Level;
use crate::json::Object;
use crate::jsonrpc;
use crate::mcp::arguments::Arguments;
use crate::mcp::era;
use crate::mcp::outcome::{Code, ToolError};
use crate::mcp::tool::{Started, Tool};
use crate::time::Instant;

impl Gateway {
    /// Runs a tool, or starts its work.
    pub(super) fn begin(&mut self, mut caller: Caller, tool: &'static Tool, arguments: Arguments<'_>) {
        let Some(session) = self.peers.get_mut(&caller.peer) else { return };
        let scope_name = session.scope.clone();
        let scope = self.scopes.get_or_default(scope_name.as_str());
        let started = self.ground.now;
        let mut run =
            Run { ground: &mut self.ground, scope, exchanges: &mut self.exchanges, caller: &mut caller, disconnected: None };
        let outcome = (tool.start)(&mut run, arguments);
        let disconnected = run.disconnected.take();
        match outcome {
            Ok(Started::Running(work)) => {
                session.begin(&caller.request, caller.call);
                if let Some(alias) = work.alias() {
                    scope.begin(alias, caller.call);
                }
                let call = Call { caller, scope: scope_name.clone(), tool, work, started, timer: None };
                self.keep(Box::new(call));
            }
            Ok(Started::Done(result)) => self.answer(&caller, tool, Ok(result), started),
            Err(error) => self.answer(&caller, tool, Err(error), started),
        }
        if let Some(alias) = disconnected {
            self.end_calls_to(&scope_name, &alias);
        }
    }

    /// Puts a call back with its timer.
    fn keep(&mut self, mut call: Box<Call>) {
        call.timer = call.work.deadline();
        if let Some(timer) = call.timer {
            self.timers.insert((timer.at, call.caller.call), ());
        }
        self.calls.insert(call.caller.call, call);
    }

    fn remove(&mut self, id: CallId) -> Option<Box<Call>> {
        let call = self.calls.remove(&id)?;
        if let Some(timer) = call.timer {
            self.timers.remove(&(timer.at, id));
        }
        Some(call)
    }

    /// Gives a call something to do, and answers it where that ends it.
    pub(super) fn work(&mut self, id: CallId, act: impl FnOnce(&mut Work, &mut Run<'_>) -> Option<Ended>) {
        let Some(mut call) = self.remove(id) else { return };
        match self.act(&mut call, act) {
            Some(ended) => {
                self.forget(&call);
                self.answer(&call.caller, call.tool, ended, call.started);
            }
            None => self.keep(call),
        }
    }

    fn act<T>(&mut self, call: &mut Call, act: impl FnOnce(&mut Work, &mut Run<'_>) -> T) -> T {
        let mut run = Run {
            ground: &mut self.ground,
            scope: self.scopes.get_or_default(call.scope.as_str()),
            exchanges: &mut self.exchanges,
            caller: &mut call.caller,
            disconnected: None,
        };
        act(&mut call.work, &mut run)
    }

    /// Takes a call out of the books of its peer and its scope.
    fn forget(&mut self, call: &Call) {
        if let Some(session) = self.peers.get_mut(&call.caller.peer) {
            session.end(&call.caller.request);
        }
        if let (Some(scope), Some(alias)) = (self.scopes.get_mut(&call.scope), call.work.alias()) {
            scope.end(alias, call.caller.call);
        }
    }

    /// Stops a call without an answer: its caller cancelled it, or left.
    pub(super) fn stop(&mut self, id: CallId, cancelled: bool) {
        let Some(mut call) = self.remove(id) else { return };
        self.act(&mut call, |work, run| work.stop(run, cancelled));
        self.forget(&call);
    }

    /// Ends the calls to an agent that was disconnected.
    fn end_calls_to(&mut self, scope: &str, alias: &str) {
        let running = self.scopes.get(scope).map(|scope| scope.running(alias)).unwrap_or_default();
        for id in running {
            let Some(mut call) = self.remove(id) else { continue };
            let task_id = call.work.task_id();
            self.act(&mut call, |work, run| work.stop(run, false));
            self.forget(&call);
            let mut error =
                ToolError::new(Code::Canceled, format!("agent '{alias}' was disconnected while this call was running"));
            if let Some(task_id) = task_id {
                error = error.with("task_id", crate::json::Json::string(&task_id));
            }
            self.answer(&call.caller, call.tool, Err(error), call.started);
        }
    }

    /// The one answer of a call.
    pub(crate) fn answer(&mut self, caller: &Caller, tool: &Tool, ended: Ended, started: Instant) {
        let mut fields = Object::new();
        fields.string("tool", tool.name).integer("ms", self.ground.now.since(started));
        let (level, result) = match ended {
            Ok(result) => (Level::Info, result),
            Err(error) => {
                fields.string("code", error.code.name());
                (Level::Warning, error.into_result())
            }
        };
        let result = era::shape(result.to_object(), caller.era, &self.ground.config);
        self.say(caller.peer, jsonrpc::result(&caller.request, &result));
        self.ground.notice(level, "call_ended", fields);
    }
}
