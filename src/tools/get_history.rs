//! get_history.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::call::Run;
use crate::call::target::no_agent;
use crate::history::History;
use crate::json::{Array, Object};
use crate::list::gather;
use crate::mcp::arguments::Arguments;
use crate::mcp::outcome::{ToolError, ToolResult};
use crate::mcp::tool::{Hints, Started, Tool};
use crate::text;

/// The tool.
pub(super) const TOOL: Tool = Tool {
    name: "get_history",
    title: "Get history",
    description: "Shows what was sent to a connected agent and what it answered, oldest first.",
    input: r#"{"type":"object","properties":{"agent":{"type":"string","description":"alias"},"limit":{"type":"integer","minimum":1,"description":"only the newest so many"}},"required":["agent"],"additionalProperties":false}"#,
    output: output!(
        r#""entries":{"type":"array","items":{"type":"object","properties":{"sent":{"type":"string"},"response":{"type":"string"},"timestamp":{"type":"string"},"context_id":{"type":"string"},"task_id":{"type":"string"},"state":{"type":"string"},"is_error":{"type":"boolean"}},"required":["sent","response","timestamp","is_error"]}}"#,
        r#""entries""#
    ),
    hints: Hints { read_only: true, destructive: false, idempotent: true, open_world: false },
    asks: false,
    start,
};

fn start(run: &mut Run<'_>, mut arguments: Arguments<'_>) -> Result<Started, ToolError> {
    let agent = arguments.required_string("agent");
    let limit = arguments.integer("limit", 1).and_then(|limit| u64::try_from(limit).ok()).unwrap_or(u64::MAX);
    arguments.finish()?;
    let history = of(run, &agent)?;
    let (mut entries, mut lines) = (Array::new(), Vec::new());
    for entry in history.newest(limit) {
        entries.json(&entry.to_json());
        let mark = if entry.is_error { "error: " } else { "" };
        let ids = [("", &entry.state), ("task_id: ", &entry.task_id), ("context_id: ", &entry.context_id)];
        let ids = gather(ids.into_iter().filter_map(|(name, id)| Some(format!("{name}{}", id.as_ref()?))));
        let ids = if ids.is_empty() { String::new() } else { format!(" [{}]", text::joined(&ids, ", ")) };
        lines.push(format!("{} sent: {}\nanswer: {mark}{}{ids}", entry.at.to_rfc3339(), entry.sent, entry.response));
    }
    let text = if lines.is_empty() { format!("Nothing was sent to '{agent}' yet.") } else { text::joined(&lines, "\n") };
    let mut out = Object::new();
    out.nested("entries", entries);
    Ok(Started::Done(ToolResult::new(text.to_string(), out)))
}

/// The history of a registered alias; others have none.
pub(super) fn of<'r>(run: &'r mut Run<'_>, alias: &str) -> Result<&'r mut History, ToolError> {
    let unknown = || no_agent(alias, ": only aliases have a history, see list_agents");
    run.scope.registry.get_mut(alias).map(|agent| &mut agent.history).ok_or_else(unknown)
}
