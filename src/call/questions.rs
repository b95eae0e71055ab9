//! What a server asks the client of a call while it runs (MCP 2025-11-25, client features): passed on, answered once.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::linked::LinkedCall;
use super::{Ended, Run, asking, rounds};
use crate::json::{self, Json, Object};
use crate::jsonrpc::{self, INTERNAL_ERROR, Id};
use crate::link::{Job, ServerQuestion};
use crate::mcp::asks::{Ask, QUESTIONS, Question};
use crate::mcp::era::Era;

/// A question that is not answered.
#[derive(Debug)]
pub(super) struct Open {
    number: u64,
    /// the id of the server's request
    id: Id,
    ask: Ask,
    params: Json,
}

/// An answer: a result, or code and words of an error.
pub type Outcome = Result<Json, (i64, String)>;

impl LinkedCall {
    /// Takes a question in, and asks a client in a session at once. The time of the call goes on with the answer.
    pub fn question(&mut self, run: &mut Run<'_>, question: ServerQuestion) {
        let ServerQuestion { id, ask, params, .. } = question;
        if self.questions.len() >= QUESTIONS {
            return self.tell(run, id, Err((INTERNAL_ERROR, "the client is asked too much at once".into())));
        }
        let params = rounds::relayed(run, &self.tool, ask, &params.members().unwrap_or_default());
        let number = run.caller.asked;
        run.caller.asked += 1;
        if run.caller.era == Era::Legacy {
            let params = run.scope.secrets.redact_json(params.clone());
            run.say(jsonrpc::request(&asking::id(run.caller.call, number), ask.method(), &params));
        }
        self.questions.push(Open { number, id, ask, params });
        self.wait(run, asking::TIMEOUT_MS, 1);
    }

    /// The questions that are open, for a client that is asked by a result.
    #[must_use]
    pub fn open_questions(&self) -> Vec<Question> {
        let mut list = Vec::new();
        for open in &self.questions {
            list.push(Question { key: open.number.to_string(), ask: open.ask, params: open.params.clone() });
        }
        list
    }

    /// The client answered, or refused to. What may not leave ends the call.
    pub fn answered(&mut self, run: &mut Run<'_>, number: u64, outcome: Outcome) -> Option<Ended> {
        let at = self.questions.iter().position(|open| open.number == number)?;
        let Open { id, .. } = self.questions.remove(at);
        if self.questions.is_empty() {
            self.wait(run, self.tool.timeout_ms, super::linked::MOST_TIMES);
        }
        match outcome {
            Ok(result) => match rounds::outgoing(run, &self.tool, result) {
                Ok(result) => self.tell(run, id, Ok(result)),
                Err(error) => {
                    self.tell(run, id, Err((INTERNAL_ERROR, "the answer may not leave".into())));
                    self.cancel(run, "an answer of the client may not leave");
                    return Some(Err(error));
                }
            },
            Err((code, words)) => {
                let words = rounds::outgoing(run, &self.tool, Json::string(&words)).ok();
                let words = words.and_then(|words| json::string(words.raw()));
                self.tell(run, id, Err((code, words.unwrap_or_else(|| "the client refused".into()))));
            }
        }
        None
    }

    /// The server takes a question back.
    pub fn unasked(&mut self, run: &mut Run<'_>, id: &Id) {
        if let Some(at) = self.questions.iter().position(|open| open.id.as_json() == id.as_json()) {
            let open = self.questions.remove(at);
            unask(run, open.number);
            if self.questions.is_empty() {
                self.wait(run, self.tool.timeout_ms, super::linked::MOST_TIMES);
            }
        }
    }

    /// The call ends: whoever still waits is told, on the side of the client and on that of the server.
    pub(super) fn end_questions(&mut self, run: &mut Run<'_>, client: bool, server: bool) {
        for open in core::mem::take(&mut self.questions) {
            if client {
                unask(run, open.number);
            }
            if server {
                self.tell(run, open.id, Err((INTERNAL_ERROR, "the call that this was asked in ended".into())));
            }
        }
    }

    fn tell(&self, run: &mut Run<'_>, id: Id, outcome: Outcome) {
        run.ground.link_jobs.push_back(Job::Answer { server: self.tool.server, id, outcome });
    }
}

/// Tells a client in a session that an answer is no longer wanted.
fn unask(run: &mut Run<'_>, number: u64) {
    if run.caller.era == Era::Legacy {
        let mut params = Object::new();
        params.string("requestId", &asking::id(run.caller.call, number)).string("reason", "the call that asked goes on or ended");
        run.say(jsonrpc::notification("notifications/cancelled", &params.finish()));
    }
}
