//! Questions to clients: asked in the way of their era, and answered.

use alloc::boxed::Box;
use alloc::string::String;

use super::Gateway;
use crate::call::asking::{self, Asking, Taken};
use crate::call::dispatch::Sink;
use crate::call::{Call, CallId, Caller, Run, Work};
use crate::io::{Level, PeerId};
use crate::json::{self, Json, Object, Raw};
use crate::jsonrpc::{Id, Outcome};
use crate::mcp::asks::{Answer, Asks};
use crate::mcp::era::Era;
use crate::mcp::outcome::{Code, ToolError};
use crate::mcp::server;
use crate::mcp::subject::Subject;
use crate::time::Instant;

impl Gateway {
    /// A call asks its client before it goes on.
    pub(super) fn ask(&mut self, caller: Caller, subject: Subject, arguments: Option<Raw<'_>>, asks: Asks, started: Instant) {
        let checked = asks.check(caller.capabilities);
        match (caller.era, checked) {
            (Era::Modern | Era::Legacy, _) if !asks.is_valid() => {
                let error = ToolError::new(Code::Internal, "this call asks its client nothing, or too much at once");
                self.answer(&caller, &subject, Err(error), started);
            }
            (Era::Modern, Err(lack)) => {
                let error = lack.to_rpc();
                self.say_error(caller.peer, Some(&caller.request), error.code, &error.message, error.data);
                self.notice_asked(&subject, Some(&error.message));
            }
            (Era::Legacy, Err(lack)) => self.answer(&caller, &subject, Err(lack.to_tool()), started),
            (Era::Modern, Ok(())) => {
                let Some(scope_name) = self.peers.get(&caller.peer).map(|session| session.scope.clone()) else { return };
                let scope = self.scopes.get_or_default(scope_name.as_str());
                let call = server::same_call(&scope_name, &subject, arguments);
                let result = server::input_required(&self.ground, scope, &call, &asks);
                self.say_result(caller.peer, &caller.request, result);
                self.notice_asked(&subject, None);
            }
            (Era::Legacy, Ok(())) => self.wait_for_answers(caller, subject, arguments.map(Json::from_raw), asks, started),
        }
    }

    pub(super) fn notice_asked(&mut self, subject: &Subject, lack: Option<&str>) {
        let mut fields = Object::new();
        fields.string(subject.kind(), subject.name()).optional_string("refused", lack);
        self.ground.notice(Level::Info, "call_asked", fields);
    }

    /// In a session the call stays open, and its questions are requests of their own on its stream.
    fn wait_for_answers(&mut self, mut caller: Caller, subject: Subject, arguments: Option<Json>, asks: Asks, started: Instant) {
        let Some(session) = self.peers.get_mut(&caller.peer) else { return };
        session.begin(&caller.request, caller.call);
        let scope = session.scope.clone();
        let in_scope = (scope.as_str(), self.scopes.get_or_default(scope.as_str()));
        let mut run = Run::new(&mut self.ground, in_scope, &mut self.exchanges, &mut self.served, &mut caller);
        let work = Box::new(Work::Asking(Asking::start(&mut run, arguments, asks)));
        self.notice_asked(&subject, None);
        self.enter(Box::new(Call { caller, sink: Sink::Peer, scope, subject, work, started, timer: None }));
    }

    /// A peer answered a request of the gateway's.
    pub(super) fn response(&mut self, peer: PeerId, id: Option<&Id>, outcome: Outcome<'_>) {
        if let Some((call, question)) = id.and_then(asking::read_id)
            && self.approval_answered(peer, call, question, &outcome)
        {
            return;
        }
        let about = id.and_then(asking::read_id);
        let raw = match &outcome {
            Outcome::Result(raw) => Ok(*raw),
            Outcome::Error(raw) => Err(*raw),
        };
        if about.is_some_and(|(call, question)| self.question_answered(peer, call, question, raw)) {
            return;
        }
        let limit = self.ground.config.limits.message_bytes;
        let Some((call, question, asking)) = id.and_then(|id| self.asked(peer, id)) else {
            return self.noise(peer, "a response to no request");
        };
        let answer: Answer = match outcome {
            Outcome::Result(result) => Ok(Json::from_raw(result)),
            Outcome::Error(error) => Err(asking::refusal(json::members(error))),
        };
        let taken = asking.answer(question, answer, limit);
        self.touch(call);
        match taken {
            Taken::Open => {}
            Taken::TooLarge => self.end_for_size(call),
            Taken::Complete => self.resume(call),
        }
    }

    /// A peer's answer was longer than a message may be and is lost; whether there was such a question.
    pub(super) fn response_too_long(&mut self, peer: PeerId, id: &Id) -> bool {
        if let Some((call, question)) = asking::read_id(id) {
            let error = r#"{"code":-32603,"message":"the client's answer is larger than message_bytes allows"}"#;
            if json::parse(error, 2).is_ok_and(|error| self.question_answered(peer, call, question, Err(error))) {
                return true;
            }
        }
        let Some((call, question, asking)) = self.asked(peer, id) else { return false };
        asking.lose(question);
        self.end_for_size(call);
        true
    }

    /// The call that asked a question of that id which is still open.
    fn asked(&mut self, peer: PeerId, id: &Id) -> Option<(CallId, u64, &mut Asking)> {
        let (id, question) = asking::read_id(id)?;
        let call = self.calls.get_mut(&id).filter(|call| call.caller.peer == peer)?;
        let Work::Asking(asking) = call.work.as_mut() else { return None };
        asking.is_open(question).then_some((id, question, asking))
    }

    fn end_for_size(&mut self, call: CallId) {
        let message = "the client's answers are larger than message_bytes allows";
        let error = ToolError::new(Code::TooLarge, message).with("limit", Json::string("message_bytes"));
        self.work(call, |work, run| {
            work.withdraw(run);
            Some(Err(error))
        });
    }

    /// Every question of a call is answered: it is started again.
    fn resume(&mut self, call: CallId) {
        let Some(Work::Asking(asking)) = self.calls.get_mut(&call).map(|call| call.work.as_mut()) else { return };
        let (arguments, answers) = asking.take_parts();
        self.begin_again(call, arguments, Ok(answers));
    }

    /// A call of a snapshot that waits for its client. What else it knows comes from its session, which is there by now.
    pub(crate) fn restore_asking(&mut self, mut caller: Caller, scope: String, subject: Subject, asking: Asking) {
        let Some(session) = self.peers.get_mut(&caller.peer) else { return };
        caller.capabilities = session.capabilities;
        caller.log_level = session.log_level;
        session.begin(&caller.request, caller.call);
        let (started, work) = (self.ground.now, Box::new(Work::Asking(asking)));
        self.enter(Box::new(Call { caller, sink: Sink::Peer, scope, subject, work, started, timer: None }));
    }
}

#[cfg(test)]
mod tests;
