//! Questions of servers to the clients of their calls, and calls that wait for a client of the era without sessions: it
//! is asked by the result of its call, which goes on meanwhile, and makes the call once more with the answers (MCP
//! 2026-07-28, multi-round-trip requests).

use alloc::string::String;
use alloc::vec::Vec;

use super::Gateway;
use crate::call::dispatch::Sink;
use crate::call::kept::Kept;
use crate::call::{CallId, Caller, Ended, Work, asking};
use crate::io::PeerId;
use crate::json::{self, Json, Object, Raw};
use crate::jsonrpc::{INVALID_PARAMS, Id, METHOD_NOT_FOUND};
use crate::link::catalog::ServerNumber;
use crate::link::{Job, ServerQuestion};
use crate::list::gather;
use crate::mcp::asks::{Answers, Asks};
use crate::mcp::era::Era;
use crate::mcp::server;
use crate::mcp::subject::Subject;
use crate::policy::approvals::State;

/// How many calls of one scope may wait for their client to come back.
const PARKED: usize = 16;

impl Gateway {
    /// A server asks the client of a call.
    pub(super) fn server_asks(&mut self, question: ServerQuestion) {
        match self.asked_call(&question) {
            Ok(id) => {
                self.work(id, |work, run| {
                    if let Work::Linked(work) = work {
                        work.question(run, question);
                    }
                    None
                });
                let work = self.calls.get(&id).map(|call| call.work.as_ref());
                let arguments = if let Some(Work::Linked(work)) = work { work.arguments().cloned() } else { None };
                self.park(id, arguments.as_ref().map(Json::raw));
            }
            Err(words) => {
                let outcome = Err((METHOD_NOT_FOUND, String::from(words)));
                self.ground.link_jobs.push_back(Job::Answer { server: question.server, id: question.id, outcome });
            }
        }
    }

    /// The call that a question is about: the latest, where all that it may be about are of one user.
    fn asked_call(&self, question: &ServerQuestion) -> Result<CallId, &'static str> {
        let mut found = None;
        for id in &question.calls {
            let Some(call) = self.calls.get(id) else { continue };
            match found {
                Some((_, scope)) if scope != call.scope.as_str() => return Err("calls of several clients run here"),
                Some(_) | None => found = Some((*id, call.scope.as_str())),
            }
        }
        let call = found.and_then(|(id, _)| self.calls.get(&id)).ok_or("no call runs whose client could be asked")?;
        if !matches!(call.sink, Sink::Peer | Sink::Parked) || !call.caller.capabilities.has(question.ask) {
            return Err("the client of this call cannot be asked for that");
        }
        let parked = self.calls.values().filter(|other| other.sink == Sink::Parked && other.scope == call.scope).count();
        if call.caller.era == Era::Modern && call.sink == Sink::Peer && parked >= PARKED {
            return Err("as many calls of this client wait for it as may");
        }
        Ok(call.caller.call)
    }

    /// A server takes a question back.
    pub(super) fn server_unasks(&mut self, server: ServerNumber, id: &Id) {
        let is_it = |work: &Work| if let Work::Linked(work) = work { work.is_at(server) } else { false };
        let calls = gather(self.calls.iter().filter(|(_, call)| is_it(&call.work)).map(|(call, _)| *call));
        for call in calls {
            self.work(call, |work, run| {
                if let Work::Linked(work) = work {
                    work.unasked(run, id);
                }
                None
            });
        }
    }

    /// The answer to a server's question; whether there was such a call.
    pub(super) fn question_answered(
        &mut self,
        peer: PeerId,
        call: CallId,
        question: u64,
        outcome: Result<Raw<'_>, Raw<'_>>,
    ) -> bool {
        let found = self.calls.get(&call).filter(|call| call.caller.peer == peer);
        let Some(Work::Linked(_)) = found.map(|call| call.work.as_ref()) else { return false };
        let outcome = outcome.map(Json::from_raw).map_err(|error| {
            let error = json::members(error);
            let code = error.as_ref().and_then(|error| json::integer(error.get("code")?.get())).unwrap_or(-1);
            (code, asking::refusal(error))
        });
        self.work(call, |work, run| if let Work::Linked(work) = work { work.answered(run, question, outcome) } else { None });
        true
    }

    /// A call whose client is asked by a result: it is told now, and the call waits for it to come back.
    pub(super) fn park(&mut self, id: CallId, arguments: Option<Raw<'_>>) {
        let Some(call) = self.calls.get_mut(&id).filter(|call| call.caller.era == Era::Modern && call.sink == Sink::Peer) else {
            return;
        };
        let questions = call.work.questions();
        if questions.is_empty() {
            return;
        }
        call.sink = Sink::Parked;
        (call.caller.progress_token, call.caller.log_level) = (None, None);
        let mut state = Object::new();
        state.integer("call", id.0);
        let same = server::same_call(&call.scope, &call.subject, arguments);
        let asks = Asks { questions, state: Some(state.finish()) };
        let (peer, request, subject) = (call.caller.peer, call.caller.request.clone(), call.subject.clone());
        let scope = self.scopes.get_or_default(call.scope.as_str());
        let result = server::input_required(&self.ground, scope, &same, &asks);
        if let Some(session) = self.peers.get_mut(&peer) {
            session.end(&request);
        }
        self.touch(id);
        self.say_result(peer, &request, result);
        self.notice_asked(&subject, None);
    }

    /// The call that a state is about which a client brought back.
    pub(super) fn parked(subject: &Subject, answers: &Answers) -> Option<CallId> {
        let Subject::Linked(_) = subject else { return None };
        let state = answers.state.as_ref()?.members()?;
        Some(CallId(u64::try_from(json::integer(state.get("call")?.get())?).ok()?))
    }

    /// A client came back to a call, with answers to what it was asked.
    pub(super) fn come_back(&mut self, mut caller: Caller, id: CallId, arguments: Option<Raw<'_>>, answers: Answers) {
        let Some(call) = self.calls.get_mut(&id).filter(|call| call.sink == Sink::Parked) else {
            return self.say_error(caller.peer, Some(&caller.request), INVALID_PARAMS, server::STATE_FAULT, None);
        };
        (caller.call, caller.asked) = (id, call.caller.asked);
        let (peer, request) = (caller.peer, caller.request.clone());
        (call.caller, call.sink) = (caller, Sink::Peer);
        if let Some(session) = self.peers.get_mut(&peer) {
            session.begin(&request, id);
        }
        self.touch(id);
        for (key, answer) in answers.list {
            let (Ok(number), Ok(answer)) = (key.parse::<u64>(), answer) else { continue };
            if !self.question_answered(peer, id, number, Ok(answer.raw())) {
                self.approval_said(id, number, Some(&answer));
            }
        }
        self.end_kept(id);
        self.run_decided(id);
        self.park(id, arguments);
    }

    /// Its outcome is there already.
    fn end_kept(&mut self, id: CallId) {
        if !self.calls.get(&id).is_some_and(|call| matches!(call.work.as_ref(), Work::Kept(_))) {
            return;
        }
        let Some(call) = self.remove(id) else { return };
        self.forget(&call, &[]);
        if let Work::Kept(Kept { ended, .. }) = *call.work {
            self.answer(&call.caller, &call.subject, ended, call.started);
        }
    }

    /// It was approved elsewhere while its client was away.
    fn run_decided(&mut self, id: CallId) {
        let work = self.calls.get(&id).map(|call| call.work.as_ref());
        let Some(Work::Approving(work)) = work else { return };
        let approval = String::from(work.id());
        if self.ground.approvals.get(&approval).is_some_and(|request| request.state == State::Approved) {
            self.start_again(id, Some(&approval));
        }
    }

    /// The outcome of a call whose client is away is kept until it comes back, as long as an answer may take.
    pub(super) fn keep_outcome(&mut self, call: &mut crate::call::Call, ended: Ended) {
        let until = self.ground.now.plus_ms(asking::TIMEOUT_MS);
        *call.work = Work::Kept(Kept { ended, until });
    }

    /// A peer is gone, and whatever waits for it to come back.
    pub(super) fn forget_parked(&mut self, peer: PeerId) {
        let is_its = |call: &crate::call::Call| call.sink == Sink::Parked && call.caller.peer == peer;
        let gone: Vec<CallId> = gather(self.calls.iter().filter(|(_, call)| is_its(call)).map(|(id, _)| *id));
        for id in gone {
            self.stop(id, false);
        }
    }
}
