//! check_inbox.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::list_tasks::is_seen;
use crate::call::Run;
use crate::call::target::no_agent;
use crate::json::{Array, Json, Object};
use crate::mcp::arguments::Arguments;
use crate::mcp::outcome::{ToolError, ToolResult};
use crate::mcp::tool::{Hints, Started, Tool};
use crate::served::{Duty, ServedTask};
use crate::text;
use crate::time::WallTime;

/// The tool.
pub(super) const TOOL: Tool = Tool {
    name: "check_inbox",
    title: "Check inbox",
    description: "Lists the outcomes of async sends that have come and those still pending. Takes nothing out: read_inbox does.",
    input: r#"{"type":"object","properties":{"alias":{"type":"string","description":"only this agent"}},"additionalProperties":false}"#,
    output: output!(
        r#""entries":{"type":"array","items":{"type":"object","properties":{"call_id":{"type":"string"},"alias":{"type":"string"},"state":{"type":"string"},"task_id":{"type":"string"},"context_id":{"type":"string"},"error":{"type":"object"},"timestamp":{"type":"string"}},"required":["call_id","alias","state","timestamp"]}},"inbound":{"type":"array","description":"tasks of other agents that wait for respond_task","items":{"type":"object","properties":{"task_id":{"type":"string"},"from":{"type":"string"},"state":{"type":"string"},"text":{"type":"string"},"timestamp":{"type":"string"}},"required":["task_id","from","state","text","timestamp"]}},"pending":{"type":"array","items":{"type":"object","properties":{"call_id":{"type":"string"},"alias":{"type":"string"},"since":{"type":"string"},"task_id":{"type":"string"}},"required":["call_id","alias","since"]}},"lost":{"type":"integer","description":"entries that the full box dropped, until read_inbox"}"#,
        r#""entries","pending""#
    ),
    hints: Hints { read_only: true, destructive: false, idempotent: true, open_world: false },
    asks: false,
    start,
};

fn start(run: &mut Run<'_>, mut arguments: Arguments<'_>) -> Result<Started, ToolError> {
    let alias = arguments.string("alias");
    arguments.finish()?;
    let alias = alias.as_deref();
    expire(run);
    if let Some(alias) = alias {
        known(run, alias)?;
    }
    let (mut entries, mut pending, mut lines) = (Array::new(), Array::new(), Vec::new());
    for entry in run.scope.inbox.entries(alias) {
        entries.json(&entry.summary());
        lines.push(format!("{}: {} (call {})", entry.alias, entry.words(), entry.call_id));
    }
    for waiting in run.scope.pending.values().filter(|waiting| alias.is_none_or(|alias| waiting.ticket.alias == alias)) {
        let mut out = Object::new();
        out.string("call_id", &waiting.ticket.call_id).string("alias", &waiting.ticket.alias);
        out.string("since", &run.ground.wall_of(waiting.since).to_rfc3339());
        out.optional_string("task_id", waiting.task_id.as_deref());
        pending.nested(out);
        let task = waiting.task_id.as_ref().map_or_else(String::new, |id| format!(", task {id}"));
        lines.push(format!("{}: pending{task} (call {})", waiting.ticket.alias, waiting.ticket.call_id));
    }
    let inbound = if alias.is_none() && run.ground.config.a2a.has_inbox() { Some(inbound(run, &mut lines)) } else { None };
    let lost = run.scope.inbox.lost(alias);
    let mut out = Object::new();
    out.nested("entries", entries).nested("pending", pending);
    out.optional_json("inbound", inbound.as_ref());
    if lost > 0 {
        out.integer("lost", lost);
        lines.push(format!("{lost} older entries were dropped because the inbox was full."));
    }
    let text =
        if lines.is_empty() { "The inbox is empty and nothing is pending.".to_string() } else { text::joined(&lines, "\n") };
    Ok(Started::Done(ToolResult::new(text, out)))
}

/// The tasks that other agents gave to this gateway and that nobody answered yet.
fn inbound(run: &Run<'_>, lines: &mut Vec<String>) -> Json {
    let mut list = Array::new();
    let open = |task: &ServedTask| task.duty == Duty::Inbox && !task.state().is_terminal() && is_seen(run, task);
    for (_, task) in run.served.iter().filter(|(_, task)| open(task)) {
        let mut out = Object::new();
        out.string("task_id", &task.task().id).string("from", &task.owner).string("state", &task.state().kebab());
        out.string("text", &task.asked()).string("timestamp", &task.updated.to_rfc3339());
        list.nested(out);
        lines.push(task.line());
    }
    list.finish()
}

/// Drops entries whose time is up.
pub(super) fn expire(run: &mut Run<'_>) {
    let ttl_ms = i64::try_from(run.ground.config.inbox_ttl_ms).unwrap_or(i64::MAX);
    run.scope.inbox.expire(WallTime(run.ground.wall().0.saturating_sub(ttl_ms)));
}

/// Whether anything may be in the box under that name.
pub(super) fn known(run: &Run<'_>, alias: &str) -> Result<(), ToolError> {
    let scope = &run.scope;
    let there = scope.registry.get(alias).is_some()
        || scope.inbox.entries(Some(alias)).next().is_some()
        || scope.pending.values().any(|waiting| waiting.ticket.alias == alias)
        || text::holds(alias, "://");
    if there {
        return Ok(());
    }
    Err(no_agent(alias, " and nothing came from it: see list_agents"))
}
