//! Questions of servers to the clients of their calls, and calls that wait for a client of the era without sessions: it
//! is asked by the result of its call, which goes on meanwhile, and makes the call once more with the answers (MCP
//! 2026-07-28, multi-round-trip requests).

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::Gateway;
use crate::call::dispatch::Sink;
use crate::call::kept::Kept;
use crate::call::pace::Pace;
use crate::call::{Call, CallId, Caller, Ended, Work, asking, policy};
use crate::incoming::NOBODY;
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
use crate::served::Duty;

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
        // Nothing is told of a request after its answer.
        if let Some(told) = call.caller.pace.release(self.ground.now, true) {
            self.ground.say(call.caller.peer, Some(&call.caller.request), false, None, told);
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

    /// The call that a caller makes again whose connection went while it waited for an approval.
    pub(super) fn left(&self, caller: &Caller, subject: &Subject, arguments: Option<Raw<'_>>) -> Option<CallId> {
        let Subject::Linked(tool) = subject else { return None };
        let scope_name = &self.peers.get(&caller.peer)?.scope;
        let is_theirs = |call: &Call| call.sink == Sink::Left && call.scope == *scope_name;
        let left = gather(self.calls.iter().filter(|(_, call)| is_theirs(call)));
        let secrets = &self.scopes.get(scope_name.as_str()).filter(|_| !left.is_empty())?.secrets;
        let arguments = arguments.map(|raw| secrets.redact_json(Json::from_raw(raw)));
        let meta = policy::sent_meta(secrets, &caller.meta);
        let digest = policy::digest(&tool.offered, arguments.as_ref(), &meta);
        let same = left.into_iter().find(|(_, call)| self.digest_of(call) == Some(digest.as_str()));
        same.map(|(id, _)| *id)
    }

    fn digest_of<'c>(&'c self, call: &'c Call) -> Option<&'c str> {
        match call.work.as_ref() {
            Work::Approving(work) => Some(self.ground.approvals.get(work.id())?.proposal.digest.as_str()),
            Work::Kept(kept) => kept.digest.as_deref(),
            Work::Connect(_) | Work::Card(_) | Work::Send(_) | Work::Task(_) | Work::Broadcast(_) | Work::Ping(_) => None,
            Work::Directory(_) | Work::Push(_) | Work::Asking(_) | Work::Linked(_) => None,
        }
    }

    /// A client came back to a call, with answers to what it was asked.
    pub(super) fn come_back(&mut self, mut caller: Caller, id: CallId, arguments: Option<Raw<'_>>, answers: Answers) {
        let Some(call) = self.calls.get_mut(&id).filter(|call| call.sink.is_away()) else {
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
        self.work(id, |work, _| if let Work::Kept(kept) = work { Some(kept.ended.clone()) } else { None });
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
    pub(crate) fn keep_outcome(&mut self, call: &mut Call, ended: Ended) {
        let until = self.ground.now.plus_ms(asking::TIMEOUT_MS);
        let digest = self.digest_of(call).map(String::from);
        *call.work = Work::Kept(Kept { ended, until, digest });
    }

    /// A call of a snapshot goes on that waits for a person, or for its caller. Whose connection ended with the process
    /// comes back by making it again.
    pub(crate) fn restore_waiting(&mut self, mut call: Box<Call>) {
        let (id, is_here) = (call.caller.call, self.peers.has(&call.caller.peer));
        match &call.sink {
            Sink::Peer if !is_here => call.sink = Sink::Left,
            Sink::Served(number) => {
                if let Some(Duty::Tool { call, .. }) = self.served.get_mut(*number).map(|task| &mut task.duty) {
                    *call = Some(id);
                }
            }
            Sink::Peer | Sink::Parked | Sink::Left | Sink::Inbox(_) | Sink::Push(_) | Sink::Request(..) | Sink::Nobody => {}
        }
        if call.sink.is_away() {
            (call.caller.peer, call.caller.progress_token, call.caller.pace) = (NOBODY, None, Pace::default());
        }
        if let Some(session) = self.peers.get_mut(&call.caller.peer).filter(|_| call.sink == Sink::Peer) {
            session.begin(&call.caller.request, id);
        }
        self.enter(call);
    }

    /// What waits for a person goes on after a restart, where the host keeps it: a caller with a session over HTTP reads its
    /// answer there, any other one comes back. Whether a call is such a one.
    pub(super) fn outlives(&mut self, id: CallId) -> bool {
        let Some(call) = self.calls.get_mut(&id).filter(|_| self.ground.config.storage) else { return false };
        if !matches!(call.work.as_ref(), Work::Approving(_) | Work::Kept(_)) {
            return false;
        }
        let peer = call.caller.peer;
        let is_alone = self.incoming.alone.has(&peer);
        if call.sink == Sink::Peer && !is_alone && !self.incoming.session_of.has(&peer) {
            return false;
        }
        if call.sink == Sink::Peer && is_alone {
            call.sink = Sink::Left;
            (call.caller.peer, call.caller.progress_token, call.caller.pace) = (NOBODY, None, Pace::default());
            let request = call.caller.request.clone();
            if let Some(session) = self.peers.get_mut(&peer) {
                session.end(&request);
            }
        }
        self.touch(id);
        true
    }

    /// A peer is gone. What waits for it to come back goes with it, or where it is kept waits for whoever brings it back to
    /// this process or the next: a decision as it is, and of what ran its end.
    pub(super) fn leave_parked(&mut self, peer: PeerId) {
        let is_its = |call: &Call| call.sink == Sink::Parked && call.caller.peer == peer;
        let left: Vec<CallId> = gather(self.calls.iter().filter(|(_, call)| is_its(call)).map(|(id, _)| *id));
        for id in left {
            if !self.ground.config.storage {
                self.stop(id, false);
            } else if !self.outlives(id) {
                self.work(id, |work, run| Some(work.interrupted(run, "its client left")));
            }
            if let Some(call) = self.calls.get_mut(&id) {
                call.caller.peer = NOBODY;
            }
        }
    }
}
