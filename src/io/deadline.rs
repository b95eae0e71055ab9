//! When a gateway wants to be told of the time.

use crate::json::{Json, Object};
use crate::time::Instant;

/// When to come back at the latest, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// when
    pub at: Instant,
    /// what will happen then
    pub reason: Reason,
}

/// What a deadline is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// a call's time is up
    CallTimeout,
    /// the card of a connecting agent is late
    CardTimeout,
    /// a caller is told how far its call is, who was told so often before that it had to wait
    Progress,
    /// a task is to be read again
    Poll,
    /// a reading of a task, of which nothing comes, is given up and made again
    ReadTimeout,
    /// the closing events of a stream had their time
    StreamClosing,
    /// a cancel request that nobody waits for is given up
    CancelTimeout,
    /// a response is kept alive
    KeepAlive,
    /// a change of a task is delivered once more
    Push,
    /// a served task may be too old
    TaskExpiry,
    /// a person is asked, who may take their time
    Question,
    /// a server behind the gateway is slow to answer
    LinkTimeout,
    /// a server behind the gateway is tried again
    LinkRetry,
    /// a server behind the gateway is asked whether it is alive
    LinkCheck,
}

impl Reason {
    /// The name in the JSON form.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CallTimeout => "call_timeout",
            Self::CardTimeout => "card_timeout",
            Self::Progress => "progress",
            Self::Poll => "poll",
            Self::ReadTimeout => "read_timeout",
            Self::StreamClosing => "stream_closing",
            Self::CancelTimeout => "cancel_timeout",
            Self::KeepAlive => "keep_alive",
            Self::Push => "push",
            Self::TaskExpiry => "task_expiry",
            Self::Question => "question",
            Self::LinkTimeout => "link_timeout",
            Self::LinkRetry => "link_retry",
            Self::LinkCheck => "link_check",
        }
    }
}

impl Deadline {
    /// The JSON form: `{"at", "reason"}`, `at` in milliseconds of the host's clock.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut out = Object::new();
        out.integer("at", self.at.as_ms()).string("reason", self.reason.name());
        out.finish()
    }
}
