//! cancel_task.

use super::get_task::ask;
use crate::call::Run;
use crate::call::task::Wish;
use crate::mcp::arguments::Arguments;
use crate::mcp::outcome::ToolError;
use crate::mcp::tool::{Hints, Started, Tool};

/// The tool.
pub(super) const TOOL: Tool = Tool {
    name: "cancel_task",
    title: "Cancel task",
    description: "Asks an agent to cancel a running task and returns the task as the agent then reports it; agents may refuse.",
    input: r#"{"type":"object","properties":{"agent":{"type":"string","description":"alias or URL"},"task_id":{"type":"string"}},"required":["agent","task_id"],"additionalProperties":false}"#,
    output: output!(r#""task":{"type":"object"}"#, r#""task""#),
    hints: Hints { read_only: false, destructive: true, idempotent: true, open_world: true },
    asks: false,
    start,
};

fn start(run: &mut Run<'_>, mut arguments: Arguments<'_>) -> Result<Started, ToolError> {
    let agent = arguments.required_string("agent");
    let task_id = arguments.required_string("task_id");
    arguments.finish()?;
    ask(run, &agent, task_id, Wish::Cancel)
}
