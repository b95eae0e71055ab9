//! read_inbox.

use alloc::format;
use alloc::string::String;

use super::check_inbox::{expire, known};
use crate::call::Run;
use crate::inbox::Entry;
use crate::json::{Array, Object};
use crate::list::gather;
use crate::mcp::arguments::Arguments;
use crate::mcp::outcome::{ToolError, ToolResult};
use crate::mcp::tool::{Hints, Started, Tool};
use crate::text;

/// The tool.
pub(super) const TOOL: Tool = Tool {
    name: "read_inbox",
    title: "Read inbox",
    description: "Takes the outcomes of async sends to one agent out of the inbox, oldest first. Each is delivered once.",
    input: r#"{"type":"object","properties":{"alias":{"type":"string"},"length":{"type":"integer","minimum":1,"description":"at most so many"},"latest":{"type":"boolean","description":"take all, return the newest only"}},"required":["alias"],"additionalProperties":false}"#,
    output: output!(
        r#""messages":{"type":"array","items":{"type":"object","properties":{"call_id":{"type":"string"},"alias":{"type":"string"},"state":{"type":"string"},"timestamp":{"type":"string"},"task":{"type":"object"},"message":{"type":"object"},"error":{"type":"object"}},"required":["call_id","alias","state","timestamp"]}}"#,
        r#""messages""#
    ),
    hints: Hints { read_only: false, destructive: true, idempotent: false, open_world: false },
    asks: false,
    start,
};

fn start(run: &mut Run<'_>, mut arguments: Arguments<'_>) -> Result<Started, ToolError> {
    let alias = arguments.required_string("alias");
    let length = arguments.integer("length", 1).and_then(|length| u64::try_from(length).ok()).unwrap_or(u64::MAX);
    let latest = arguments.boolean("latest").unwrap_or(false);
    arguments.finish()?;
    expire(run);
    known(run, &alias)?;
    // Whoever reads has seen by now what the box could not hold.
    run.scope.inbox.forget_lost(&alias);
    let mut taken = run.scope.inbox.take(&alias, if latest { u64::MAX } else { length });
    if latest {
        taken.drain(..taken.len().saturating_sub(1));
    }
    let mut messages = Array::new();
    for entry in &taken {
        messages.json(&entry.whole());
    }
    let mut out = Object::new();
    out.nested("messages", messages);
    let lines = gather(taken.iter().map(line));
    let text = if lines.is_empty() { format!("The inbox holds nothing from '{alias}'.") } else { text::joined(&lines, "\n") };
    Ok(Started::Done(ToolResult::new(text, out)))
}

/// What came, for people.
fn line(entry: &Entry) -> String {
    format!("{} {} ({}): {}", entry.at.to_rfc3339(), entry.words(), entry.call_id, entry.text)
}
