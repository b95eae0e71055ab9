//! clear_history.

use alloc::format;

use super::get_history::of;
use crate::call::Run;
use crate::json::Object;
use crate::mcp::arguments::Arguments;
use crate::mcp::outcome::{ToolError, ToolResult};
use crate::mcp::tool::{Hints, Started, Tool};

/// The tool.
pub(super) const TOOL: Tool = Tool {
    name: "clear_history",
    title: "Clear history",
    description: "Forgets what was sent to a connected agent. The conversation itself goes on.",
    input: r#"{"type":"object","properties":{"agent":{"type":"string","description":"alias"}},"required":["agent"],"additionalProperties":false}"#,
    output: output!(r#""agent":{"type":"string"},"cleared":{"type":"integer"}"#, r#""agent","cleared""#),
    hints: Hints { read_only: false, destructive: true, idempotent: true, open_world: false },
    asks: false,
    start,
};

fn start(run: &mut Run<'_>, mut arguments: Arguments<'_>) -> Result<Started, ToolError> {
    let agent = arguments.required_string("agent");
    arguments.finish()?;
    let cleared = of(run, &agent)?.clear();
    let mut out = Object::new();
    out.string("agent", &agent).integer("cleared", cleared);
    Ok(Started::Done(ToolResult::new(format!("Forgot {cleared} entries of '{agent}'."), out)))
}
