//! What leaves for an agent, held against the rules that look for secrets: every message as it stands on the wire, and
//! before that as soon as it is put together, so that one that may not leave costs nothing.

use alloc::vec::Vec;

use super::policy;
use crate::a2a::SendRequest;
use crate::ground::Ground;
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

/// Holds a body that is about to go out against the rules. Whoever put it together, nothing gets past this.
///
/// # Errors
/// It may not leave.
pub fn check_body(ground: &mut Ground, body: &str) -> Result<(), ToolError> {
    let unreadable = |_| ToolError::new(Code::Internal, "nothing was sent: the message is no JSON");
    let raw = json::parse(body, u32::MAX).map_err(unreadable)?;
    let params = json::members(raw).and_then(|members| members.get("params"));
    check_json(ground, MESSAGES, params.unwrap_or(raw))
}

/// Holds anything else that an agent is told against the rules.
///
/// # Errors
/// It may not leave.
pub fn check_json(ground: &mut Ground, tool: &str, sent: Raw<'_>) -> Result<(), ToolError> {
    let policy = &ground.config.policy;
    let muted = [tool, MESSAGES].map(|name| policy.muted(Names { offered: name, composed: name }));
    let rules = muted.into_iter().fold(Sink::AgentMessage.rules(), Rules::without);
    let mut paths = Vec::new();
    for path in RANDOM {
        paths.extend(PathPattern::read(path).map(|path| (path, Rules::only(Rule::OpaqueToken))));
    }
    let report = taint::check(sent, &Scanned { rules, paths: &paths, actions: Vec::new() });
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
