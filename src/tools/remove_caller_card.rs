//! remove_caller_card.

use alloc::format;

use crate::call::Run;
use crate::json::Object;
use crate::mcp::arguments::Arguments;
use crate::mcp::outcome::{Code, ToolError, ToolResult};
use crate::mcp::tool::{Hints, Started, Tool};

/// The tool.
pub(super) const TOOL: Tool = Tool {
    name: "remove_caller_card",
    title: "Remove caller card",
    description: "Removes the caller card: messages go out without it from now on.",
    input: r#"{"type":"object","properties":{},"additionalProperties":false}"#,
    output: output!(r#""name":{"type":"string"}"#, r#""name""#),
    hints: Hints { read_only: false, destructive: true, idempotent: false, open_world: false },
    asks: false,
    start,
};

fn start(run: &mut Run<'_>, mut arguments: Arguments<'_>) -> Result<Started, ToolError> {
    arguments.finish()?;
    let missing = || ToolError::new(Code::InvalidArgument, "there is no caller card to remove: create_caller_card makes one");
    let caller = run.scope.caller.take().ok_or_else(missing)?;
    let mut out = Object::new();
    out.string("name", &caller.name);
    Ok(Started::Done(ToolResult::new(format!("The caller card {} is removed.", caller.name), out)))
}
