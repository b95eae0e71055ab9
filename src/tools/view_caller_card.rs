//! view_caller_card.

use alloc::format;
use alloc::string::ToString;

use crate::call::Run;
use crate::json::Object;
use crate::mcp::arguments::Arguments;
use crate::mcp::outcome::{ToolError, ToolResult};
use crate::mcp::tool::{Hints, Started, Tool};

/// The tool.
pub(super) const TOOL: Tool = Tool {
    name: "view_caller_card",
    title: "View caller card",
    description: "Shows the caller card that goes with every message, or null where there is none.",
    input: r#"{"type":"object","properties":{},"additionalProperties":false}"#,
    output: output!(r#""card":{"anyOf":[{"type":"object"},{"type":"null"}]},"metadata_key":{"type":"string"}"#, r#""card""#),
    hints: Hints { read_only: true, destructive: false, idempotent: true, open_world: false },
    asks: false,
    start,
};

fn start(run: &mut Run<'_>, mut arguments: Arguments<'_>) -> Result<Started, ToolError> {
    arguments.finish()?;
    let mut out = Object::new();
    let text = match &run.scope.caller {
        Some(caller) => {
            out.json("card", &caller.card).string("metadata_key", &caller.metadata_key);
            format!("Caller card {}, sent as metadata.{}: {}", caller.name, caller.metadata_key, caller.card.as_str())
        }
        None => {
            out.null("card");
            "There is no caller card.".to_string()
        }
    };
    Ok(Started::Done(ToolResult::new(text, out)))
}
