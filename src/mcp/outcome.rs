//! What a tool call ends in: a result, or an error with a code.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

use crate::json::{self, Array, Json, Object};

/// The code of a failed tool call, part of the public interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// the arguments are wrong
    InvalidArgument,
    /// no such alias, and no URL
    UnknownAgent,
    /// a token bucket is empty, or the agent said 429
    RateLimited,
    /// the agent could not be reached, or the connection was lost
    Unreachable,
    /// the call's time was up
    Timeout,
    /// the agent was disconnected while the call ran
    Canceled,
    /// the agent answered with an HTTP error
    HttpStatus,
    /// a limit on sizes was reached
    TooLarge,
    /// the agent does not keep to the protocol
    ProtocolError,
    /// the agent answered with an error of its own
    AgentError,
    /// the task ended as failed
    TaskFailed,
    /// the task ended as canceled
    TaskCanceled,
    /// the task ended as rejected
    TaskRejected,
    /// the agent does not know the task
    TaskNotFound,
    /// the task can no longer be canceled
    TaskNotCancelable,
    /// the agent offers nothing that this gateway speaks
    Unsupported,
    /// refused before any request was made
    Blocked,
    /// a person said no, or nobody said anything in time
    ApprovalDenied,
    /// a limit on numbers was reached
    Busy,
    /// a fault of this gateway
    Internal,
}

impl Code {
    /// The code as it stands in `error.code`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::InvalidArgument => "invalid_argument",
            Self::UnknownAgent => "unknown_agent",
            Self::RateLimited => "rate_limited",
            Self::Unreachable => "unreachable",
            Self::Timeout => "timeout",
            Self::Canceled => "canceled",
            Self::HttpStatus => "http_status",
            Self::TooLarge => "too_large",
            Self::ProtocolError => "protocol_error",
            Self::AgentError => "agent_error",
            Self::TaskFailed => "task_failed",
            Self::TaskCanceled => "task_canceled",
            Self::TaskRejected => "task_rejected",
            Self::TaskNotFound => "task_not_found",
            Self::TaskNotCancelable => "task_not_cancelable",
            Self::Unsupported => "unsupported",
            Self::Blocked => "blocked",
            Self::ApprovalDenied => "approval_denied",
            Self::Busy => "busy",
            Self::Internal => "internal",
        }
    }
}

/// A failed tool call. What it says is kept apart, so that it costs little where it is handed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError(Box<Failed>);

/// What a failed tool call says: one sentence about what failed, for which agent, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// the code
    pub code: Code,
    /// the sentence
    pub message: String,
    /// more members of `error`, such as `retry_after_ms`
    pub details: Vec<(String, Json)>,
    /// members beside `error`: what was received, `task` or `message`
    pub received: Vec<(String, Json)>,
    /// more text items
    pub items: Vec<String>,
    /// whether the agent surely got nothing of what was to be sent
    pub unsent: bool,
}

impl ToolError {
    /// An error without details.
    #[must_use]
    #[inline(never)]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Box::new(Failed { code, message, details: Vec::new(), received: Vec::new(), items: Vec::new(), unsent: false }))
    }

    /// Adds a member to `error`.
    #[must_use]
    pub fn with(mut self, name: &str, value: Json) -> Self {
        self.details.push((name.to_string(), value));
        self
    }

    /// Adds an integer to `error`.
    #[must_use]
    pub fn with_integer(self, name: &str, value: impl Into<i128>) -> Self {
        self.with(name, Json::integer(value))
    }

    /// After how long it may be tried again, where that is known.
    #[must_use]
    pub fn retry_after_ms(&self) -> Option<u64> {
        let (_, wait) = self.details.iter().find(|(name, _)| name == "retry_after_ms")?;
        u64::try_from(json::integer(wait.as_str())?).ok()
    }

    /// Adds what the agent had returned, beside `error`.
    #[must_use]
    pub fn with_received(mut self, name: &str, value: Json) -> Self {
        self.received.push((name.to_string(), value));
        self
    }

    /// The sentence alone.
    #[must_use]
    pub fn into_message(self) -> String {
        self.0.message
    }

    /// The object that stands in `error`.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut error = Object::new();
        error.string("code", self.code.name()).string("message", &self.message).members(&self.details);
        error.finish()
    }

    /// The result of the call.
    #[must_use]
    pub fn into_result(self) -> ToolResult {
        let mut structured = Object::new();
        structured.json("error", &self.to_json()).members(&self.received);
        let Failed { message, items, .. } = *self.0;
        let mut texts = alloc::vec![message];
        texts.extend(items);
        ToolResult { texts, content: Vec::new(), structured: structured.finish(), is_error: true }
    }
}

impl Deref for ToolError {
    type Target = Failed;

    fn deref(&self) -> &Failed {
        &self.0
    }
}

impl DerefMut for ToolError {
    fn deref_mut(&mut self) -> &mut Failed {
        &mut self.0
    }
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// the text items; the first one is for people
    pub texts: Vec<String>,
    /// items after the texts, as [`content`](super::content) writes them or as they came
    pub content: Vec<Json>,
    /// the machine's form
    pub structured: Json,
    /// whether the call failed
    pub is_error: bool,
}

impl ToolResult {
    /// A success with one text.
    #[must_use]
    pub fn new(text: impl Into<String>, structured: Object) -> Self {
        Self { texts: alloc::vec![text.into()], content: Vec::new(), structured: structured.finish(), is_error: false }
    }

    /// The result as it stands in the answer to `tools/call`, without the members of an era.
    #[must_use]
    pub fn to_object(&self) -> Object {
        let mut content = Array::new();
        for text in &self.texts {
            content.json(&super::content::text(text));
        }
        for item in &self.content {
            content.json(item);
        }
        let mut out = Object::with_capacity(self.structured.as_str().len() + 64);
        out.nested("content", content).json("structuredContent", &self.structured);
        if self.is_error {
            out.boolean("isError", true);
        }
        out
    }
}
