//! A call in a session that waits for its client to answer questions.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{CallId, Ended, Run};
use crate::io::{Deadline, Reason};
use crate::json::{self, Array, Json, Members, Object};
use crate::jsonrpc::{self, Id};
use crate::mcp::asks::{Answer, Answers, Asks};
use crate::mcp::outcome::{Code, ToolError};
use crate::snapshot::Record;
use crate::time::Instant;

/// How long a client may take: there is a person behind most answers.
pub(crate) const TIMEOUT_MS: u64 = 600_000;

/// A call that goes on when its questions are answered.
#[derive(Debug)]
pub struct Asking {
    /// what the tool is started again with
    arguments: Option<Json>,
    /// the numbers and keys of the questions that are not answered
    open: Vec<(u64, String)>,
    answers: Answers,
    /// how long the answers are
    bytes: u64,
    until: Instant,
}

/// What an answer did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// others are still open
    Open,
    /// it was the last one
    Complete,
    /// all answers together are larger than a message may be
    TooLarge,
}

/// The call and the question that a response is about.
#[must_use]
pub fn read_id(id: &Id) -> Option<(CallId, u64)> {
    let text = json::string(id.as_json().raw())?;
    let (call, question) = text.split_once('-')?;
    Some((CallId(call.parse().ok()?), question.parse().ok()?))
}

/// The id of a question's request: one that no other question of any call has or will have.
pub(super) fn id(call: CallId, question: u64) -> String {
    format!("{}-{question}", call.0)
}

impl Asking {
    /// Sends the questions.
    pub fn start(run: &mut Run<'_>, arguments: Option<Json>, asks: Asks) -> Self {
        let mut open = Vec::new();
        for question in asks.questions {
            let number = run.caller.asked;
            run.caller.asked += 1;
            let params = run.scope.secrets.redact_json(question.params);
            run.say(jsonrpc::request(&id(run.caller.call, number), question.ask.method(), &params));
            open.push((number, question.key));
        }
        let answers = Answers { list: Vec::new(), state: asks.state };
        Self { arguments, open, answers, bytes: 0, until: run.ground.now.plus_ms(TIMEOUT_MS) }
    }

    /// Whether there is such a question and no answer to it.
    #[must_use]
    pub fn is_open(&self, question: u64) -> bool {
        self.open.iter().any(|(number, _)| *number == question)
    }

    /// Takes an answer in. All of them together may have so many bytes.
    pub fn answer(&mut self, question: u64, answer: Answer, limit: u64) -> Taken {
        let Some(at) = self.open.iter().position(|(number, _)| *number == question) else { return Taken::Open };
        let (_, key) = self.open.remove(at);
        self.bytes = self.bytes.saturating_add(size(&answer));
        if self.bytes > limit {
            return Taken::TooLarge;
        }
        self.answers.list.push((key, answer));
        if self.open.is_empty() { Taken::Complete } else { Taken::Open }
    }

    /// An answer came that could not be kept.
    pub fn lose(&mut self, question: u64) {
        self.open.retain(|(number, _)| *number != question);
    }

    /// The arguments and the answers, to start the tool again.
    pub fn take_parts(&mut self) -> (Option<Json>, Answers) {
        (self.arguments.take(), core::mem::replace(&mut self.answers, Answers::none()))
    }

    /// The time may be up.
    pub fn due(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        if run.ground.now < self.until {
            return None;
        }
        self.withdraw(run);
        Some(Err(ToolError::new(Code::Timeout, "the client did not answer what this call asked it within 10 minutes")))
    }

    /// When the time is up.
    #[must_use]
    pub const fn deadline(&self) -> Deadline {
        Deadline { at: self.until, reason: Reason::Question }
    }

    /// Tells the client that its answers are no longer wanted.
    pub fn withdraw(&mut self, run: &mut Run<'_>) {
        for (question, _) in core::mem::take(&mut self.open) {
            let mut params = Object::new();
            params.string("requestId", &id(run.caller.call, question)).string("reason", "the call that asked ended");
            run.say(jsonrpc::notification("notifications/cancelled", &params.finish()));
        }
    }

    /// As it stands in a snapshot: nothing of it is in flight, so that it goes on after a restore.
    pub fn record(&self, until: i64) -> Json {
        let (mut open, mut answers) = (Array::new(), Array::new());
        for (number, key) in &self.open {
            let mut question = Object::new();
            question.integer("number", *number).string("key", key);
            open.json(&question.finish());
        }
        for (key, answer) in &self.answers.list {
            let mut entry = Object::new();
            entry.string("key", key).optional_json("result", answer.as_ref().ok());
            entry.optional_string("refused", answer.as_ref().err().map(String::as_str));
            answers.json(&entry.finish());
        }
        let mut out = Object::new();
        out.integer("until", until).optional_json("arguments", self.arguments.as_ref());
        // A state may be `null`, which alone would be none.
        let mut state = Array::new();
        if let Some(known) = &self.answers.state {
            state.json(known);
        }
        out.nested("state", state);
        out.json("open", &open.finish()).json("answers", &answers.finish());
        out.finish()
    }

    /// When its time is up.
    #[must_use]
    pub const fn until(&self) -> Instant {
        self.until
    }

    /// Reads what [`record`](Self::record) wrote.
    #[must_use]
    pub fn read(record: &Record<'_, '_>, until: Instant) -> Self {
        let (mut open, mut list, mut bytes) = (Vec::new(), Vec::new(), 0_u64);
        for raw in record.list("open") {
            let question = record.of(Some(raw));
            open.push((question.number("number"), question.text("key")));
        }
        for raw in record.list("answers") {
            let entry = record.of(Some(raw));
            let answer = match entry.value("result") {
                Some(result) => Ok(Json::from_raw(result)),
                None => Err(entry.text("refused")),
            };
            bytes = bytes.saturating_add(size(&answer));
            list.push((entry.text("key"), answer));
        }
        let answers = Answers { list, state: record.list("state").first().map(|state| Json::from_raw(*state)) };
        Self { arguments: record.value("arguments").map(Json::from_raw), open, answers, bytes, until }
    }
}

fn size(answer: &Answer) -> u64 {
    let length = answer.as_ref().map_or_else(String::len, |result| result.as_str().len());
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// What a client refused an answer with.
#[must_use]
pub fn refusal(error: Option<Members<'_>>) -> String {
    let message = error.and_then(|error| error.string("message"));
    message.map_or_else(|| "no reason was given".to_string(), |message| message.chars().take(500).collect())
}
