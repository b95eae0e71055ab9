//! What can be wrong with an agent's answer (A2A 1.0 §3.3.2, §5.4), in every form agents write it.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use crate::json::{self, Json, Members, Raw};
use crate::text::holds;

use super::member;

/// Why an exchange gave no task and no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The agent answered with an error of the protocol.
    Agent {
        /// the agent's own number: a JSON-RPC code, or an HTTP status in the errors of HTTP+JSON
        code: Option<i64>,
        /// what it means
        kind: FaultKind,
        /// the agent's words
        message: String,
        /// what the agent added
        data: Option<Json>,
    },
    /// An HTTP status stood in place of an answer.
    Status {
        /// the status
        status: u16,
        /// what it means
        kind: FaultKind,
        /// the words of the body, shortened; may be empty
        excerpt: String,
    },
    /// The answer does not follow the protocol; a sentence that says how.
    Protocol(String),
    /// The answer nests deeper than the limit.
    Depth,
    /// The answer is made of more pieces than the limit of that name allows.
    Pieces(&'static str),
}

/// What an agent's error means, whatever number or word it came with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// no such task, or none that the caller may see
    TaskNotFound,
    /// the task has ended or cannot be stopped
    TaskNotCancelable,
    /// the task has ended: no message, no subscription
    Terminal,
    /// the agent does not do that
    Unsupported,
    /// the agent does not know the method or the path
    MethodNotFound,
    /// the agent does not speak that version
    VersionNotSupported,
    /// the agent does not take that type of content
    ContentType,
    /// the agent sends no push notifications
    PushNotSupported,
    /// anything else
    Other,
}

impl FaultKind {
    /// JSON-RPC code, `ErrorInfo.reason` of HTTP+JSON, meaning (A2A 1.0 §5.4).
    const TABLE: [(i64, &'static str, Self); 7] = [
        (-32001, "TASK_NOT_FOUND", Self::TaskNotFound),
        (-32002, "TASK_NOT_CANCELABLE", Self::TaskNotCancelable),
        (-32003, "PUSH_NOTIFICATION_NOT_SUPPORTED", Self::PushNotSupported),
        (-32004, "UNSUPPORTED_OPERATION", Self::Unsupported),
        (-32005, "CONTENT_TYPE_NOT_SUPPORTED", Self::ContentType),
        (-32009, "VERSION_NOT_SUPPORTED", Self::VersionNotSupported),
        (-32601, "METHOD_NOT_FOUND", Self::MethodNotFound),
    ];

    /// The meaning of a code or reason, the words deciding where agents disagree on the number.
    fn of(code: Option<i64>, reason: Option<&str>, status: u16, words: &str) -> Self {
        let row = |matches: &dyn Fn(i64, &str) -> bool| Self::TABLE.iter().find(|(code, name, _)| matches(*code, name));
        let known = row(&|known, _| Some(known) == code).or_else(|| row(&|_, name| Some(name) == reason));
        let kind = match (known, code) {
            (Some((.., kind)), _) => *kind,
            (None, Some(..=-32000)) => Self::Other,
            (None, Some(code @ 400..=599)) if status < 400 => Self::of_status(u16::try_from(code).unwrap_or(status), words),
            (None, _) => Self::of_status(status, words),
        };
        if matches!(kind, Self::Unsupported | Self::Other) && holds(words, "terminal") {
            // A message to an ended task is -32004 in 1.0, -32600 or -32602 in 0.3.
            return Self::Terminal;
        }
        if kind == Self::Other && holds(words, "a2a version") && holds(words, "not supported") {
            return Self::VersionNotSupported;
        }
        kind
    }

    /// The meaning of an HTTP status and the words beside it.
    fn of_status(status: u16, words: &str) -> Self {
        match status {
            404 if holds(words, "task") && holds(words, "not found") => Self::TaskNotFound,
            404 | 405 | 501 => Self::MethodNotFound,
            409 if holds(words, "cancel") => Self::TaskNotCancelable,
            415 => Self::ContentType,
            _ => Self::Other,
        }
    }
}

impl Fault {
    /// What it means.
    #[must_use]
    pub const fn kind(&self) -> FaultKind {
        match self {
            Self::Agent { kind, .. } | Self::Status { kind, .. } => *kind,
            Self::Protocol(_) | Self::Depth | Self::Pieces(_) => FaultKind::Other,
        }
    }

    /// An HTTP status without a readable answer. `body` may be anything.
    #[must_use]
    pub fn of_status(status: u16, body: &str) -> Self {
        let excerpt = excerpt(body);
        Self::Status { status, kind: FaultKind::of_status(status, &excerpt), excerpt }
    }

    /// An error object in any form: JSON-RPC, AIP-193, `{code, message}`, or plain words.
    #[must_use]
    pub(super) fn of_error(raw: Raw<'_>, status: u16) -> Self {
        let Some(mut members) = json::members(raw) else {
            let message = told(Some(json::string(raw).unwrap_or_else(|| raw.get().to_owned())));
            return Self::Agent { code: None, kind: FaultKind::of(None, None, status, &message), message, data: None };
        };
        let code = member::take(&mut members, &["code"], member::integer);
        let data = members.take("data").or_else(|| members.take("details"));
        let reason = data.and_then(reason).or_else(|| members.string("reason"));
        let message = words(&members).or_else(|| members.string("status")).or_else(|| data.and_then(json::string));
        let message = told(message);
        let kind = FaultKind::of(code, reason.as_deref(), status, &message);
        Self::Agent { code, kind, message, data: data.map(Json::from_raw) }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent { code: Some(code), message, .. } => write!(f, "{message} (code {code})"),
            Self::Agent { code: None, message, .. } | Self::Protocol(message) => f.write_str(message),
            Self::Status { status, excerpt, .. } if excerpt.is_empty() => write!(f, "HTTP status {status}"),
            Self::Status { status, excerpt, .. } => write!(f, "HTTP status {status}: {excerpt}"),
            Self::Depth => f.write_str("the answer nests deeper than `json_depth`"),
            Self::Pieces(limit) => write!(f, "the answer is made of more pieces than `{limit}` allows"),
        }
    }
}

impl core::error::Error for Fault {}

/// What an agent says, where it says anything.
fn told(words: Option<String>) -> String {
    words.filter(|words| !words.trim().is_empty()).unwrap_or_else(|| "the agent gave no reason".into())
}

/// The first member that holds words, also within an `error`.
fn words(members: &Members<'_>) -> Option<String> {
    let names = ["message", "detail", "error_description", "error", "title"];
    let plain = names.iter().find_map(|name| members.string(name)).filter(|text| !text.trim().is_empty());
    plain.or_else(|| words(&json::members(members.get("error")?)?))
}

/// The reason of an `ErrorInfo` (google.rpc), alone or in a list.
fn reason(raw: Raw<'_>) -> Option<String> {
    let one = |raw: Raw<'_>| json::members(raw)?.string("reason");
    match json::elements(raw) {
        Some(list) => list.into_iter().find_map(one),
        None => one(raw),
    }
}

/// The words of a body, on one line, at most 200 characters.
pub fn excerpt(body: &str) -> String {
    let spoken = json::parse(body, 128).ok().and_then(|raw| match json::members(raw) {
        Some(members) => words(&members),
        None => json::string(raw),
    });
    let text = spoken.unwrap_or_else(|| strip_markup(body));
    let mut words = text.split_whitespace();
    let mut out = words.next().unwrap_or_default().to_string();
    for word in words.take(200) {
        out = format!("{out} {word}");
    }
    match out.char_indices().nth(200) {
        Some((at, _)) => format!("{}…", out.get(..at).unwrap_or_default()),
        None => out,
    }
}

/// The start of a text; of a page without its tags.
fn strip_markup(body: &str) -> String {
    let start = body.trim_start_matches('\u{feff}').chars().take(4096);
    if !body.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
        return start.collect();
    }
    let mut out = String::new();
    let mut inside = false;
    for char in start {
        match char {
            '<' => inside = true,
            '>' if inside => {
                inside = false;
                out.push(' ');
            }
            char if !inside => out.push(char),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, status: u16) -> Fault {
        Fault::of_error(json::parse(text, 128).unwrap(), status)
    }

    #[test]
    fn codes_reasons_and_words_have_one_meaning() {
        for (text, status, kind) in [
            (r#"{"code":-32001,"message":"Task not found: nope"}"#, 200, FaultKind::TaskNotFound),
            (
                r#"{"code":404,"status":"NOT_FOUND","message":"x","details":[{"@type":"…","reason":"TASK_NOT_FOUND"}]}"#,
                404,
                FaultKind::TaskNotFound,
            ),
            (
                r#"{"code":400,"status":"FAILED_PRECONDITION","message":"Task not cancelable: t","details":[{"reason":"TASK_NOT_CANCELABLE"}]}"#,
                400,
                FaultKind::TaskNotCancelable,
            ),
            (r#"{"code":-32004,"message":"This operation is not supported"}"#, 200, FaultKind::Unsupported),
            (r#"{"code":-32004,"message":"Task t is in terminal state: TASK_STATE_COMPLETED"}"#, 200, FaultKind::Terminal),
            (
                r#"{"code":-32600,"message":"Task t is in a terminal state (completed) and cannot be modified."}"#,
                200,
                FaultKind::Terminal,
            ),
            (r#"{"code":-32602,"message":"Task t is in terminal state: completed"}"#, 200, FaultKind::Terminal),
            (
                r#"{"code":400,"message":"is in a terminal state","details":[{"reason":"UNSUPPORTED_OPERATION"}]}"#,
                400,
                FaultKind::Terminal,
            ),
            (r#"{"code":-32601.0,"message":"Method not found"}"#, 200, FaultKind::MethodNotFound),
            (r#"{"code":"-32009","message":"v"}"#, 200, FaultKind::VersionNotSupported),
            (
                r#"{"code":-32603,"message":"A2A version '1.0' is not supported by this handler."}"#,
                200,
                FaultKind::VersionNotSupported,
            ),
            (r#"{"code":-32602,"message":"no such skill"}"#, 404, FaultKind::Other),
            (r#"{"code":404,"message":"Task not found"}"#, 200, FaultKind::TaskNotFound),
            (r#"{"code":-32005,"message":"x"}"#, 200, FaultKind::ContentType),
            (r#"{"code":-32003,"message":"x"}"#, 200, FaultKind::PushNotSupported),
        ] {
            assert_eq!(of(text, status).kind(), kind, "{text}");
        }
    }

    #[test]
    fn an_error_in_any_form_keeps_its_words() {
        for (text, code, words) in [
            (r#"{"code":-32099,"message":"out of cheese"}"#, Some(-32099), "out of cheese"),
            (r#""just words""#, None, "just words"),
            (r#"{"code":500,"status":"INTERNAL"}"#, Some(500), "INTERNAL"),
            (r#"{"data":"the oven is cold"}"#, None, "the oven is cold"),
            (r#"{}"#, None, "the agent gave no reason"),
            (r#""""#, None, "the agent gave no reason"),
            (r#"{"status":""}"#, None, "the agent gave no reason"),
            (r#"{"message":" ","code":5}"#, Some(5), "the agent gave no reason"),
        ] {
            let Fault::Agent { code: found, message, .. } = of(text, 200) else { panic!("{text}") };
            assert_eq!((found, message.as_str()), (code, words));
        }
    }

    #[test]
    fn a_status_is_told_with_the_words_of_its_body() {
        for (status, body, kind, words) in [
            (418, "teapot", FaultKind::Other, "teapot"),
            (404, r#"{"message":"Task not found"}"#, FaultKind::TaskNotFound, "Task not found"),
            (404, r#"{"detail":"Not Found"}"#, FaultKind::MethodNotFound, "Not Found"),
            (
                404,
                "<!DOCTYPE html><html>\n<body><pre>Cannot GET /a2a</pre></body></html>",
                FaultKind::MethodNotFound,
                "Cannot GET /a2a",
            ),
            (
                409,
                r#"{"message":"Task cannot be canceled - current state: TaskState.completed"}"#,
                FaultKind::TaskNotCancelable,
                "Task cannot be canceled - current state: TaskState.completed",
            ),
            (401, r#"{"error":{"type":"auth","message":"no token"}}"#, FaultKind::Other, "no token"),
            (415, "", FaultKind::ContentType, ""),
            (500, r#"{"a":1}"#, FaultKind::Other, r#"{"a":1}"#),
        ] {
            assert_eq!(Fault::of_status(status, body), Fault::Status { status, kind, excerpt: words.into() });
        }
        let Fault::Status { excerpt, .. } = Fault::of_status(500, &"é ".repeat(5000)) else { panic!() };
        assert_eq!(excerpt.chars().count(), 201);
        assert_eq!(super::excerpt(&"x".repeat(100_000)).chars().count(), 201);
    }
}
