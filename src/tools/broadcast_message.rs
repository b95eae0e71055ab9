//! broadcast_message.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use super::parts::{self, parts_schema};
use super::send_message::{request, take_token};
use crate::call::Run;
use crate::call::broadcast::{Broadcast, Part};
use crate::call::outgoing::Checked;
use crate::call::send::{Keeping, Patience, Send};
use crate::call::target::{Target, no_agent};
use crate::contexts::Ids;
use crate::json::Object;
use crate::mcp::arguments::Arguments;
use crate::mcp::outcome::{Code, ToolError, ToolResult};
use crate::mcp::tool::{Hints, Started, Tool};
use crate::text;

/// How many agents one broadcast may have.
const AGENTS: usize = 20;
/// How long each agent may take.
const WAIT_MS: RangeInclusive<i64> = 1000..=120_000;
/// How long each agent may take where nothing is said.
const DEFAULT_MS: i64 = 30_000;

/// The tool.
pub(super) const TOOL: Tool = Tool {
    name: "broadcast_message",
    title: "Broadcast message",
    description: "Sends one message to several connected agents at once and returns every answer. Conversations are neither used nor changed.",
    input: concat!(
        r#"{"type":"object","properties":{"aliases":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":20},"message":{"type":"string"},"parts":"#,
        parts_schema!(),
        r#","timeout_seconds":{"type":"number","minimum":1,"maximum":120,"description":"for each agent, default 30"},"metadata":{"type":"object"},"async":{"type":"boolean","description":"return at once; outcomes go to the inbox"}},"required":["aliases"],"additionalProperties":false}"#
    ),
    output: output!(
        r#""results":{"type":"object","additionalProperties":{"type":"object","properties":{"status":{"type":"string"},"response":{"type":"string"},"call_id":{"type":"string"},"task":{"type":"object"},"message":{"type":"object"},"error":{"type":"object"}},"required":["status"]}},"succeeded":{"type":"integer"},"failed":{"type":"integer"}"#,
        r#""results""#
    ),
    hints: Hints { read_only: false, destructive: false, idempotent: false, open_world: true },
    asks: false,
    start,
};

fn start(run: &mut Run<'_>, mut arguments: Arguments<'_>) -> Result<Started, ToolError> {
    if arguments.is_missing("aliases") {
        arguments.fail("`aliases` is missing: a list of aliases is needed".to_string());
    }
    let aliases = arguments.strings("aliases").unwrap_or_default();
    let draft = parts::read(&mut arguments);
    let wait_ms = arguments.scaled("timeout_seconds", 3).unwrap_or(DEFAULT_MS);
    let metadata = arguments.object("metadata");
    let detached = arguments.boolean("async").unwrap_or(false);
    if !WAIT_MS.contains(&wait_ms) {
        arguments.fail("`timeout_seconds` must be at least 1 and at most 120".to_string());
    }
    arguments.finish()?;
    check_aliases(&aliases)?;
    let parts = draft.check()?;
    let patience = Patience::Milliseconds(u64::try_from(wait_ms).unwrap_or(0));
    let draft = request(run, parts, Ids::default(), metadata);
    let draft = Checked::new(run.ground, TOOL.name, draft)?;
    run.hold_meta_alone();
    draft.check_room(run.ground, aliases.len() as u64)?;
    if detached {
        return Ok(Started::Done(dispatch_all(run, &aliases, patience, &draft)));
    }
    let mut list = Vec::new();
    for alias in &aliases {
        let part = match checked(run, alias) {
            Err(refusal) => refusal,
            Ok(target) => {
                let request = draft.clone().identified(&mut run.ground.random);
                let call = run.caller.call;
                let (send, ended) = run.alone(call, |run| Send::begun(run, target, request, patience, Keeping::History));
                ended.map_or_else(|| Part::Running(Box::new(send)), Part::Ended)
            }
        };
        list.push((alias.clone(), part));
    }
    Broadcast::start(run, list)
}

fn check_aliases(aliases: &[String]) -> Result<(), ToolError> {
    let invalid = |message: String| Err(ToolError::new(Code::InvalidArgument, message));
    if aliases.is_empty() || aliases.len() > AGENTS {
        return invalid(format!("`aliases` has {} entries; 1 to {AGENTS} are allowed", aliases.len()));
    }
    let mut seen: Vec<&String> = Vec::new();
    for alias in aliases {
        if seen.contains(&alias) {
            return invalid(format!("`aliases` names '{alias}' twice: each agent gets the message once"));
        }
        seen.push(alias);
    }
    Ok(())
}

/// Registered, healthy, and with a token left; what becomes of the agent otherwise.
fn checked(run: &mut Run<'_>, alias: &str) -> Result<Target, Part> {
    let (now, threshold) = (run.ground.now, run.ground.config.health_failure_threshold);
    let Some(agent) = run.scope.registry.get(alias) else {
        return Err(Part::Ended(Err(no_agent(alias, ": connect it with connect_agent, or see list_agents"))));
    };
    if agent.health.is_skipped(threshold, now) {
        let failures = agent.health.failures();
        return Err(Part::Skipped(format!("agent '{alias}' is unhealthy after {failures} failures; ping_agent tries it anew")));
    }
    let target = Target::resolve(run.scope, alias).map_err(|error| Part::Ended(Err(error)))?;
    target.check(run).map_err(|error| Part::Ended(Err(error)))?;
    take_token(run, &target).map_err(|error| Part::Ended(Err(error)))?;
    Ok(target)
}

/// Starts a send to each agent that goes on by itself.
fn dispatch_all(run: &mut Run<'_>, aliases: &[String], patience: Patience, draft: &Checked) -> ToolResult {
    let (mut results, mut lines, mut dispatched) = (Object::new(), Vec::new(), 0_u64);
    for alias in aliases {
        let room = run.room_to_dispatch().map_err(|error| Part::Ended(Err(error)));
        let outcome = room.and_then(|()| checked(run, alias)).and_then(|target| {
            let request = draft.clone().identified(&mut run.ground.random);
            let call_id = run.dispatch(alias, |run| Send::alone(run, target, request, patience, Keeping::History));
            call_id.map_err(|error| Part::Ended(Err(error)))
        });
        let mut entry = Object::new();
        match outcome {
            Ok(call_id) => {
                dispatched += 1;
                entry.string("status", "dispatched").string("call_id", &call_id);
                lines.push(format!("{alias}: dispatched (call {call_id})"));
            }
            Err(Part::Skipped(why)) => {
                entry.string("status", "skipped").string("response", &why);
                lines.push(format!("{alias}: skipped: {why}"));
            }
            Err(Part::Ended(Err(error))) => {
                entry.string("status", "error").json("error", &error.to_json());
                lines.push(format!("{alias}: error: {}", error.message));
            }
            Err(Part::Running(_) | Part::Ended(Ok(_))) => continue,
        }
        results.nested(alias, entry);
    }
    let mut out = Object::new();
    out.nested("results", results);
    let count = aliases.len();
    let text = format!(
        "Dispatched: {dispatched} of {count}; outcomes will be in the inbox, see check_inbox.\n{}",
        text::joined(&lines, "\n")
    );
    let mut result = ToolResult::new(text, out);
    result.is_error = dispatched == 0;
    result
}
