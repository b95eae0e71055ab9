//! Decisions about calls that wait: of the host, of the asking client, and over HTTP.

use alloc::boxed::Box;
use alloc::string::{String, ToString};

use super::Gateway;
use super::serving::not_allowed;
use crate::call::approving::denied;
use crate::call::{CallId, Work, policy};
use crate::incoming::Endpoint;
use crate::incoming::access::{self, Refusal};
use crate::io::{Headers, Level, PeerId, RequestId};
use crate::json::{self, Json, Object};
use crate::jsonrpc::Outcome;
use crate::mcp::asks::Answers;
use crate::policy::approvals::{self, Decider, Decision, State};

/// Where approvals are told and decided.
const PATH: &str = "/api/approvals";
/// Where agents are trusted that were discovered.
const AGENTS: &str = "/api/a2a/agents/";

/// Whether a path is for those who decide what others may do.
pub(super) fn decides(path: &str) -> bool {
    path.starts_with(PATH) || path.starts_with(AGENTS)
}

/// Nesting of a decision.
const DEPTH: u32 = 8;

impl Gateway {
    /// Takes a decision, and lets the call go on or ends it.
    ///
    /// # Errors
    /// As [`Approvals::decide`](crate::policy::Approvals::decide).
    pub(super) fn decide(&mut self, id: &str, decision: Decision) -> Result<Json, approvals::Refusal> {
        let now = self.ground.wall();
        let approved = decision.approved;
        let request = self.ground.approvals.decide(id, decision, now)?;
        let told = request.to_json();
        let mut fields = Object::new();
        request.write(&mut fields);
        fields.optional_string("decided_by", request.decided_by.as_deref());
        let reason = request.reason.clone();
        self.ground.notice(Level::Notice, "approval_decided", fields);
        let waits = |work: &Work| if let Work::Approving(work) = work { work.id() == id } else { false };
        let waiting = self.calls.iter().find(|(_, call)| waits(&call.work));
        let Some((call, is_away)) = waiting.map(|(id, call)| (*id, call.sink.is_away())) else { return Ok(told) };
        if approved && is_away {
            // It goes out when its client comes back.
            return Ok(told);
        }
        if approved {
            self.start_again(call, Some(id));
        } else {
            let why = reason.unwrap_or_else(|| "the call was rejected".to_string());
            self.work(call, |work, run| {
                if let Work::Approving(work) = work {
                    work.withdraw_question(run);
                }
                Some(Err(denied(&why, "rejected", id)))
            });
        }
        Ok(told)
    }

    /// A call was approved, or waits under a policy that is another one now: it is started again, and held against the
    /// policy once more.
    pub(super) fn start_again(&mut self, call: CallId, approval: Option<&str>) {
        let is_away = self.calls.get(&call).is_some_and(|call| call.sink.is_away());
        let mut arguments = None;
        self.work(call, |work, run| {
            let Work::Approving(work) = work else { return None };
            work.withdraw_question(run);
            if approval.is_none() {
                work.void(run);
            }
            run.caller.approval = approval.map(String::from);
            arguments = work.take_arguments();
            // Nobody is there who could be told of a call that goes on.
            is_away.then(|| Err(denied("the policy changed while the call waited: call it once more", "expired", work.id())))
        });
        if !is_away {
            self.begin_again(call, arguments, Ok(Answers::none()));
        }
    }

    /// The answer of a client that was asked whether a call may be made; whether there was such a question.
    pub(super) fn approval_answered(&mut self, peer: PeerId, call: CallId, question: u64, outcome: &Outcome<'_>) -> bool {
        let found = self.calls.get(&call).filter(|call| call.caller.peer == peer);
        let Some(Work::Approving(_)) = found.map(|call| call.work.as_ref()) else { return false };
        let result = match outcome {
            Outcome::Result(result) => Some(Json::from_raw(*result)),
            Outcome::Error(_) => None,
        };
        self.approval_said(call, question, result.as_ref());
        true
    }

    /// What the user of a client said to the question whether a call may be made; nothing where it was not answered.
    pub(super) fn approval_said(&mut self, call: CallId, question: u64, result: Option<&Json>) {
        let found = self.calls.get_mut(&call).map(|call| call.work.as_mut());
        let Some(Work::Approving(work)) = found else { return };
        let id = work.id().to_string();
        if let Some(approved) = work.answered(question, result) {
            let reason = (!approved).then(|| "the user of the client said no".to_string());
            // One that came too late finds its request decided. Who says no does not want what somebody else allowed.
            let is_late = self.decide(&id, Decision { approved, by: Decider::Client, reason }).is_err();
            if is_late && !approved {
                self.work(call, |work, run| {
                    let Work::Approving(work) = work else { return None };
                    work.withdraw(run);
                    Some(Err(denied("the user of the client said no", "rejected", &id)))
                });
            }
        }
    }

    /// The host's person decided.
    pub(super) fn host_decides(&mut self, id: &str, approved: bool, reason: Option<String>) {
        if let Err(refusal) = self.decide(id, Decision { approved, by: Decider::Host, reason }) {
            let mut fields = Object::new();
            fields.string("approval", id).string("refused", words(refusal).1);
            self.ground.notice(Level::Warning, "approval_not_decided", fields);
        }
    }

    /// A request about approvals; `None` where it is about something else.
    pub(super) fn approvals_request(
        &mut self,
        request: RequestId,
        (method, path, query): (&str, &str, &str),
        headers: &Headers,
    ) -> Option<Result<(), Refusal>> {
        let below = path.strip_prefix(PATH).filter(|below| below.is_empty() || below.starts_with('/'))?;
        if !access::may_decide(&self.ground.config.server, headers) {
            return Some(Err(Refusal::new(403, "this token does not decide: it needs `may_approve`")));
        }
        let mut parts = below.split('/').skip(1);
        let (id, verb, more) = (parts.next(), parts.next(), parts.next());
        Some(match (method, id, verb, more) {
            ("GET" | "HEAD", None, None, None) => {
                let state = query.split('&').find_map(|pair| pair.strip_prefix("state="));
                match state.filter(|state| !state.is_empty()).map(State::named) {
                    Some(None) => Err(Refusal::new(400, "`state` is no state of an approval")),
                    state => {
                        let list = self.ground.approvals.to_json(state.flatten());
                        self.respond_json(request, 200, list);
                        Ok(())
                    }
                }
            }
            ("GET" | "HEAD", Some(id), None, None) => match self.told(id) {
                Some(told) => {
                    self.respond_json(request, 200, told);
                    Ok(())
                }
                None => Err(Refusal::new(404, "there is no such approval")),
            },
            ("POST", Some(id), Some(verb @ ("approve" | "reject")), None) => {
                let to = Endpoint::Decision(Box::new((id.to_string(), verb == "approve")));
                self.take_in(request, headers.clone(), to)
            }
            (_, Some(_), Some("approve" | "reject"), None) => Err(not_allowed("POST", "a decision is posted")),
            (_, None | Some(_), None, None) => Err(not_allowed("GET, HEAD", "this method is not served here")),
            _ => Err(Refusal::new(404, "there is nothing at this path")),
        })
    }

    /// A request, with all that its call is made with as long as it waits, without what may not be shown.
    fn told(&self, id: &str) -> Option<Json> {
        let mut out = self.ground.approvals.get(id)?.to_object();
        let waits = |work: &Work| if let Work::Approving(work) = work { work.id() == id } else { false };
        if let Some((_, call)) = self.calls.iter().find(|(_, call)| waits(&call.work))
            && let Work::Approving(work) = call.work.as_ref()
        {
            let mut meta = Object::new();
            meta.members(&call.caller.meta);
            let meta = self.scopes.get(call.scope.as_str()).map(|scope| scope.secrets.redact_json(meta.finish()));
            for (name, value) in [("arguments", work.arguments().cloned()), ("_meta", meta)] {
                out.json(name, &policy::without_secrets(value.unwrap_or_else(|| Object::new().finish())));
            }
        }
        Some(out.finish())
    }

    /// A decision came over HTTP.
    pub(super) fn decision_posted(&mut self, request: RequestId, (id, approved): (String, bool), bytes: &[u8]) {
        let text = core::str::from_utf8(bytes).unwrap_or("-");
        let text = if text.trim().is_empty() { "{}" } else { text };
        let Some(members) = json::parse(text, DEPTH).ok().and_then(json::members) else {
            return self.refuse(request, Refusal::new(400, "the body is no JSON object"));
        };
        let principal = self.incoming.requests.get(&request).map(|served| served.principal.clone()).unwrap_or_default();
        let by = if self.ground.config.server.tokens.is_empty() {
            Decider::Code(members.string("code").unwrap_or_default())
        } else {
            Decider::Principal(principal)
        };
        match self.decide(&id, Decision { approved, by, reason: members.string("reason") }) {
            Ok(told) => self.respond_json(request, 200, told),
            Err(refusal) => {
                let (status, message) = words(refusal);
                self.refuse(request, Refusal::new(status, message));
            }
        }
    }
}

/// The status of a decision that was not taken, and why.
const fn words(refusal: approvals::Refusal) -> (u16, &'static str) {
    match refusal {
        approvals::Refusal::NotFound => (404, "there is no such approval"),
        approvals::Refusal::Conflict => (409, "it was decided already, or its time is up"),
        approvals::Refusal::Asker => (403, "whoever asks does not decide"),
        approvals::Refusal::Code => {
            (403, "a decision needs the `code` of this approval, which stands in the gateway's log: whoever asks is not told it")
        }
    }
}
