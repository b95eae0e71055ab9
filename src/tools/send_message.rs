//! send_message.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::parts::{self, parts_schema};
use crate::a2a::{Message, Part, SendRequest};
use crate::call::outgoing::Checked;
use crate::call::send::{Keeping, Patience, Send};
use crate::call::target::Target;
use crate::call::{Run, fault};
use crate::contexts::Ids;
use crate::json::{Json, Object};
use crate::mcp::arguments::Arguments;
use crate::mcp::outcome::{Code, ToolError, ToolResult};
use crate::mcp::tool::{Hints, Started, Tool};

/// The tool.
pub(crate) const TOOL: Tool = Tool {
    name: "send_message",
    title: "Send message",
    description: "Sends a message to an agent and waits for its answer: a message, or a task with artifacts. The conversation with an alias goes on by itself; a task in state input-required is continued by the next send. On a timeout the task goes on at the agent: read it with get_task.",
    input: concat!(
        r#"{"type":"object","properties":{"agent":{"type":"string","description":"alias or URL"},"message":{"type":"string","description":"text; or use parts"},"parts":"#,
        parts_schema!(),
        r#","context_id":{"type":"string","description":"default: the stored conversation"},"task_id":{"type":"string","description":"continue this task"},"new_conversation":{"type":"boolean","description":"ignore the stored conversation"},"reference_task_ids":{"type":"array","items":{"type":"string"}},"accepted_output_modes":{"type":"array","items":{"type":"string"},"description":"media types"},"history_length":{"type":"integer","minimum":0},"metadata":{"type":"object"},"poll_timeout_seconds":{"type":"number","description":"longest wait; 0 is the default, below 0 no limit"},"async":{"type":"boolean","description":"return at once; the outcome goes to the inbox"}},"required":["agent"],"additionalProperties":false}"#
    ),
    output: output!(
        r#""task":{"type":"object"},"message":{"type":"object"},"async":{"type":"object","properties":{"alias":{"type":"string"},"status":{"type":"string"},"call_id":{"type":"string"}},"required":["alias","status","call_id"]}"#,
        r#""task""#,
        r#""message""#,
        r#""async""#
    ),
    hints: Hints { read_only: false, destructive: false, idempotent: false, open_world: true },
    asks: false,
    start,
};

fn start(run: &mut Run<'_>, mut arguments: Arguments<'_>) -> Result<Started, ToolError> {
    let agent = arguments.required_string("agent");
    let draft = parts::read(&mut arguments);
    let given = Ids {
        context_id: blank_as_absent(arguments.string("context_id")),
        task_id: blank_as_absent(arguments.string("task_id")),
        reference_task_ids: arguments.strings("reference_task_ids").filter(|ids| !ids.is_empty()),
    };
    let new_conversation = arguments.boolean("new_conversation").unwrap_or(false);
    let accepted_output_modes = arguments.strings("accepted_output_modes").filter(|modes| !modes.is_empty());
    let history_length = arguments.integer("history_length", 0).and_then(|length| u64::try_from(length).ok());
    let metadata = arguments.object("metadata");
    let patience = patience(arguments.scaled_up("poll_timeout_seconds", 6));
    let detached = arguments.boolean("async").unwrap_or(false);
    arguments.finish()?;
    let parts = draft.check()?;
    let target = Target::resolve(run.scope, &agent)?;
    let ids = match run.scope.registry.get(&agent) {
        Some(known) if !new_conversation => known.conversation.complete(given),
        Some(_) | None => given,
    };
    let mut request = request(run, parts, ids, metadata);
    (request.accepted_output_modes, request.history_length) = (accepted_output_modes, history_length);
    let request = Checked::new(run.ground, TOOL.name, request)?;
    run.hold_meta_alone();
    request.check_room(run.ground, 1)?;
    target.check(run)?;
    if detached {
        run.room_to_dispatch()?;
    }
    take_token(run, &target)?;
    let request = request.identified(&mut run.ground.random);
    if !detached {
        return Send::alone(run, target, request, patience, Keeping::Conversation);
    }
    let call_id = run.dispatch(&agent, |run| Send::alone(run, target, request, patience, Keeping::Conversation))?;
    let mut dispatched = Object::new();
    dispatched.string("alias", &agent).string("status", "dispatched").string("call_id", &call_id);
    let mut out = Object::new();
    out.nested("async", dispatched);
    let text = format!("Sent to '{agent}' without waiting (call {call_id}): the outcome will be in the inbox, see check_inbox.");
    Ok(Started::Done(ToolResult::new(text, out)))
}

fn blank_as_absent(id: Option<String>) -> Option<String> {
    id.filter(|id| !id.is_empty())
}

/// The request of a message that has no id yet, with the caller's card in its metadata.
pub(super) fn request(run: &Run<'_>, parts: Vec<Part>, ids: Ids, metadata: Option<Json>) -> SendRequest {
    let message = Message::from_user(String::new(), parts);
    let Ids { context_id, task_id, reference_task_ids } = ids;
    let message = Message { context_id, task_id, reference_task_ids, ..message };
    let metadata = match &run.scope.caller {
        Some(caller) => Some(caller.put_into(metadata)),
        None => metadata,
    };
    let (accepted_output_modes, history_length) = (None, None);
    SendRequest { message, metadata, accepted_output_modes, history_length, return_immediately: false }
}

/// The wait in millionths of a second: over 0 a limit, 0 or absent the default, below 0 none.
fn patience(micro_seconds: Option<i64>) -> Patience {
    match micro_seconds {
        None | Some(0) => Patience::Default,
        Some(micro) if micro < 0 => Patience::Unlimited,
        Some(micro) => Patience::Milliseconds(u64::try_from(micro / 1000).unwrap_or(u64::MAX).max(1)),
    }
}

/// One token of the alias's bucket; a refusal costs nothing.
pub(crate) fn take_token(run: &mut Run<'_>, target: &Target) -> Result<(), ToolError> {
    let now = run.ground.now;
    let Some((alias, registration)) = &target.alias else { return Ok(()) };
    let Some(agent) = run.scope.registry.same(alias, *registration) else { return Ok(()) };
    agent.bucket.take(now).map_err(|wait_ms| {
        let message = format!("the rate limit of agent '{alias}' is reached: retry after {}", fault::duration(wait_ms));
        ToolError::new(Code::RateLimited, message)
            .with_integer("retry_after_ms", wait_ms)
            .with("agent", Json::string(&alias.to_string()))
    })
}
