//! A call that waits for a person.

use alloc::format;
use alloc::string::{String, ToString};

use super::{CallId, Ended, Run, policy};
use crate::ground::Ground;
use crate::incoming::is_http;
use crate::io::{Deadline, Reason};
use crate::json::{self, Array, Json, Object};
use crate::jsonrpc;
use crate::mcp::asks::{Ask, Question};
use crate::mcp::content;
use crate::mcp::era::Era;
use crate::mcp::outcome::{Code, ToolError, ToolResult};
use crate::policy::approvals::Expiry;
use crate::snapshot::Record;
use crate::time::Instant;

/// How often the caller is told that its call still waits.
const TELL_MS: u64 = 15_000;

/// A call that goes on when it is approved.
#[derive(Debug)]
pub struct Approving {
    id: String,
    arguments: Option<Json>,
    until: Instant,
    tell_at: Instant,
    /// the number of the question that the client was asked and has not answered
    question: Option<u64>,
    /// what a client is asked by the result of its call
    form: Option<Json>,
}

impl Approving {
    /// Waits, and asks the client where it may be asked.
    pub fn start(run: &mut Run<'_>, id: String, arguments: Option<Json>) -> Self {
        let now = run.ground.now;
        let mut work = Self { id, arguments, until: now, tell_at: now.plus_ms(TELL_MS), question: None, form: None };
        work.set_until(run);
        let settings = &run.ground.config.policy.approval;
        let may_ask = settings.elicitation.unwrap_or(!is_http(run.caller.peer));
        if may_ask && run.caller.capabilities.has(Ask::Elicitation) {
            work.ask(run);
        }
        work.tell(run);
        work
    }

    fn set_until(&mut self, run: &Run<'_>) {
        let until = run.ground.approvals.get(&self.id).map(|request| request.expires_at);
        self.until = until.map_or(run.ground.now, |until| run.ground.instant_of(until));
    }

    /// The person in front of the client decides (MCP 2025-11-25, elicitation).
    fn ask(&mut self, run: &mut Run<'_>) {
        let Some(request) = run.ground.approvals.get(&self.id) else { return };
        let message = format!("Allow this call? {}", request.proposal.summary);
        let schema = r#"{"type":"object","properties":{"approve":{"type":"boolean","title":"Allow this call","description":"It is made once, with these arguments."}},"required":["approve"]}"#;
        let mut params = Object::new();
        params.string("message", &message).json("requestedSchema", &Json::trusted(schema.to_string()));
        let number = run.caller.asked;
        run.caller.asked += 1;
        self.question = Some(number);
        let params = run.scope.secrets.redact_json(params.finish());
        if run.caller.era == Era::Modern {
            self.form = Some(params);
            return;
        }
        run.say(jsonrpc::request(&question_id(run.caller.call, number), Ask::Elicitation.method(), &params));
    }

    fn tell(&self, run: &mut Run<'_>) {
        run.progress(&format!("waiting for an approval ({})", self.id));
    }

    /// The name of the request.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The question, for a client that is asked by the result of its call.
    #[must_use]
    pub fn question(&self) -> Option<Question> {
        let (number, params) = self.question.zip(self.form.clone())?;
        Some(Question { key: number.to_string(), ask: Ask::Elicitation, params })
    }

    /// Takes the answer to a question, where it was asked: whether the person said yes; none where nobody was asked.
    pub fn answered(&mut self, question: u64, result: Option<&Json>) -> Option<bool> {
        self.question.take_if(|asked| *asked == question)?;
        let members = result?.members()?;
        let accepted = members.string("action").as_deref() == Some("accept");
        let content = members.get("content").and_then(json::members).unwrap_or_default();
        Some(accepted && content.get("approve").and_then(json::boolean) == Some(true))
    }

    /// What the call is to be made with.
    #[must_use]
    pub const fn arguments(&self) -> Option<&Json> {
        self.arguments.as_ref()
    }

    /// What the call is started again with.
    pub fn take_arguments(&mut self) -> Option<Json> {
        self.arguments.take()
    }

    /// The time may be up.
    pub fn due(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        if run.ground.now >= self.tell_at {
            self.tell_at = run.ground.now.plus_ms(TELL_MS);
            self.tell(run);
        }
        if run.ground.now < self.until {
            return None;
        }
        let now = run.ground.wall();
        let expiry = run.ground.approvals.expire(&self.id, &run.ground.config.policy.approval, now);
        if expiry == Expiry::Escalated {
            self.set_until(run);
            policy::notice(run, policy::ESCALATED, &self.id);
            self.tell(run);
            return None;
        }
        if expiry == Expiry::None {
            // Approved, and its client never came back for it.
            self.withdraw(run);
            return Some(Err(denied("the client did not come back in time", "expired", &self.id)));
        }
        policy::notice(run, "approval_expired", &self.id);
        self.withdraw_question(run);
        Some(match expiry {
            Expiry::Skipped => Ok(skipped(&self.id)),
            Expiry::None | Expiry::Escalated | Expiry::Denied => {
                Err(denied("nobody approved the call in time", "expired", &self.id))
            }
        })
    }

    /// When something is due.
    #[must_use]
    pub fn deadline(&self) -> Deadline {
        Deadline { at: self.until.min(self.tell_at), reason: Reason::Question }
    }

    /// Nobody waits any more.
    pub fn withdraw(&mut self, run: &mut Run<'_>) {
        run.ground.approvals.withdraw(&self.id);
        policy::notice(run, "approval_withdrawn", &self.id);
    }

    /// The policy under which it was asked is another one.
    pub fn void(&self, run: &mut Run<'_>) {
        run.ground.approvals.void(&self.id);
        policy::notice(run, "approval_voided", &self.id);
    }

    /// Tells the client that its answer is no longer wanted.
    pub fn withdraw_question(&mut self, run: &mut Run<'_>) {
        let Some(question) = self.question.take().filter(|_| self.form.is_none()) else { return };
        let mut params = Object::new();
        params.string("requestId", &question_id(run.caller.call, question)).string("reason", "it was decided elsewhere");
        run.say(jsonrpc::notification("notifications/cancelled", &params.finish()));
    }

    /// As it stands in a snapshot.
    pub fn record(&self) -> Json {
        let mut out = Object::new();
        out.string("id", &self.id).optional_json("arguments", self.arguments.as_ref()).optional_json("form", self.form.as_ref());
        let mut question = Array::new();
        if let Some(number) = self.question {
            question.json(&Json::integer(number));
        }
        out.nested("question", question);
        out.finish()
    }

    /// Reads what [`record`](Self::record) wrote; none where there is no such request.
    #[must_use]
    pub fn read(record: &Record<'_, '_>, ground: &Ground) -> Option<Self> {
        let request = ground.approvals.get(&record.text("id"))?;
        let question = record.list("question").first().and_then(|raw| json::integer(raw.get()));
        Some(Self {
            id: request.id.clone(),
            arguments: record.value("arguments").map(Json::from_raw),
            until: ground.instant_of(request.expires_at),
            tell_at: ground.now.plus_ms(TELL_MS),
            question: question.and_then(|number| u64::try_from(number).ok()),
            form: record.value("form").map(Json::from_raw),
        })
    }
}

fn question_id(call: CallId, question: u64) -> String {
    format!("{}-{question}", call.0)
}

/// The error of a call that was not approved.
pub(crate) fn denied(why: &str, reason: &str, id: &str) -> ToolError {
    ToolError::new(Code::ApprovalDenied, why).with("reason", Json::string(reason)).with("approval", Json::string(id))
}

/// The result of a call that was left out.
fn skipped(id: &str) -> ToolResult {
    let (mut result, mut list) = (Object::new(), Array::new());
    list.json(&content::text(&format!("The call was skipped: nobody approved it in time (approval {id}).")));
    result.nested("content", list);
    ToolResult { texts: alloc::vec::Vec::new(), content: alloc::vec::Vec::new(), structured: result.finish(), is_error: false }
}
