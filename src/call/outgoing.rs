//! What leaves for an agent, held against the rules that look for secrets as soon as it is put together, so that what may
//! not leave costs nothing.

use alloc::string::String;
use alloc::vec::Vec;

use super::{fault, policy};
use crate::a2a::{Message, SendRequest};
use crate::ground::Ground;
use crate::ids::Random;
use crate::json::{self, Object, Raw};
use crate::mcp::outcome::{Code, ToolError};
use crate::policy::glob::Names;
use crate::policy::taint::{self, PathPattern, Scanned};
use crate::policy::{Rule, Rules, Sink};

/// The name under which rules are muted for all messages to agents.
const MESSAGES: &str = "send_message";

/// Where long random texts are no tokens: ids, which agents choose as they like, and the bytes of files.
const RANDOM: [&str; 8] = [
    "$.message.messageId",
    "$.message.contextId",
    "$.message.taskId",
    "$.message.referenceTaskIds[*]",
    "$.message.parts[*].raw",
    "$.message.parts[*].file.bytes",
    "$.message.content[*].file.fileWithBytes",
    "$.task_id",
];

/// The places of [`RANDOM`], with the rule that does not hold there.
#[must_use]
pub fn random_places() -> Vec<(PathPattern, Rules)> {
    RANDOM.into_iter().filter_map(PathPattern::read).map(|path| (path, Rules::only(Rule::OpaqueToken))).collect()
}

/// A message that was held against the rules, as an agent of 1.0 is told it, and to which nothing was added since, with the
/// tool that sends it. No other one is sent, whoever put it together.
#[derive(Clone, Debug)]
pub struct Checked(SendRequest, &'static str);

impl Checked {
    /// Holds a message of a tool against the rules.
    ///
    /// # Errors
    /// It may not leave.
    pub fn new(ground: &mut Ground, tool: &'static str, request: SendRequest) -> Result<Self, ToolError> {
        check(ground, tool, &request)?;
        Ok(Self(request, tool))
    }

    /// Nothing at all, for a task that is read and told nothing.
    #[must_use]
    pub fn nothing() -> Self {
        let message = Message::from_user(String::new(), Vec::new());
        let (metadata, accepted_output_modes, history_length) = (None, None, None);
        let request = SendRequest { message, metadata, accepted_output_modes, history_length, return_immediately: false };
        Self(request, MESSAGES)
    }

    /// The same under an id of the gateway's own.
    #[must_use]
    pub fn identified(mut self, random: &mut Random) -> Self {
        self.0.message.message_id = random.uuid();
        self
    }

    /// Whether it finds room on its way to so many agents, until all of them have answered: for each of them the message,
    /// and what is sent of it.
    ///
    /// # Errors
    /// Others hold too much, or it is too much for anybody.
    pub fn check_room(&self, ground: &Ground, agents: u64) -> Result<(), ToolError> {
        let bytes = self.0.bytes().saturating_mul(2 * agents);
        if ground.held.share().may_be(bytes, ground.config.limits.held_bytes) {
            return Ok(());
        }
        let what = "nothing was sent: this message, on its way and with the caller card if there is one,";
        let less = if agents > 1 { "say less, or send it to fewer agents" } else { "say less" };
        Err(fault::no_room(ground, what, bytes, less))
    }

    /// What is sent.
    #[must_use]
    pub const fn request(&self) -> &SendRequest {
        &self.0
    }

    /// Holds a body against the rules that is about to go out to an agent of 0.3: in that spelling other members of a
    /// message count, and of two that stand for the same another one.
    ///
    /// # Errors
    /// It may not leave.
    pub fn check_body(&self, ground: &mut Ground, body: &str) -> Result<(), ToolError> {
        let unreadable = |_| ToolError::new(Code::Internal, "nothing was sent: the message is no JSON");
        let raw = json::parse(body, u32::MAX).map_err(unreadable)?;
        let params = json::members(raw).and_then(|members| members.get("params"));
        check_json(ground, self.1, params.unwrap_or(raw))
    }

    /// The same without the task that it continues; one that is finished is referred to, where no other is.
    pub fn begin_anew(&mut self, is_finished: bool) {
        let message = &mut self.0.message;
        let task = message.task_id.take().filter(|_| is_finished);
        if message.reference_task_ids.is_none() {
            message.reference_task_ids = task.map(|task| alloc::vec![task]);
        }
    }
}

/// Holds a message against the rules before anything is done about it. `tool` is the tool that sends it.
///
/// # Errors
/// It may not leave.
pub fn check(ground: &mut Ground, tool: &str, request: &SendRequest) -> Result<(), ToolError> {
    let (mut sent, mut configuration) = (Object::new(), Object::new());
    sent.json("message", &request.message.to_json());
    if let Some(modes) = &request.accepted_output_modes {
        configuration.strings("acceptedOutputModes", modes);
        sent.nested("configuration", configuration);
    }
    sent.optional_json("metadata", request.metadata.as_ref());
    check_json(ground, tool, sent.finish().raw())
}

/// Holds anything else that an agent is told against the rules.
///
/// # Errors
/// It may not leave.
pub fn check_json(ground: &mut Ground, tool: &str, sent: Raw<'_>) -> Result<(), ToolError> {
    let policy = &ground.config.policy;
    let muted = [tool, MESSAGES].map(|name| policy.muted(Names { offered: name, composed: name }));
    let rules = muted.into_iter().fold(Sink::AgentMessage.rules(), Rules::without);
    let report = taint::check(sent, &Scanned { rules, paths: &ground.random_places, actions: Vec::new() });
    policy::tell(ground, tool, ["nothing was sent", "what was to be said"], report)
}

/// Holds one text that an agent or a directory is told against the rules.
///
/// # Errors
/// It may not leave.
pub fn check_text(ground: &mut Ground, tool: &str, name: &str, text: &str) -> Result<(), ToolError> {
    let mut sent = Object::new();
    sent.string(name, text);
    check_json(ground, tool, sent.finish().raw())
}

/// Whether a text may leave that nobody asked for, such as the state of a trace.
#[must_use]
pub fn is_clean(text: &str) -> bool {
    taint::check_outbound_text(text, Sink::AgentMessage, Rules::only(Rule::OpaqueToken)).is_empty()
}
