//! disconnect_agent.

use alloc::format;

use crate::call::Run;
use crate::call::target::no_agent;
use crate::json::Object;
use crate::mcp::arguments::Arguments;
use crate::mcp::outcome::{ToolError, ToolResult};
use crate::mcp::tool::{Hints, Started, Tool};

/// The tool.
pub(super) const TOOL: Tool = Tool {
    name: "disconnect_agent",
    title: "Disconnect agent",
    description: "Removes an agent by its alias, with its conversation, history, inbox entries, rate limit and health. Calls still running to it end as canceled.",
    input: r#"{"type":"object","properties":{"alias":{"type":"string"}},"required":["alias"],"additionalProperties":false}"#,
    output: output!(
        r#""alias":{"type":"string"},"url":{"type":"string"},"aborted":{"type":"integer"}"#,
        r#""alias","url","aborted""#
    ),
    hints: Hints { read_only: false, destructive: true, idempotent: false, open_world: false },
    asks: false,
    start,
};

fn start(run: &mut Run<'_>, mut arguments: Arguments<'_>) -> Result<Started, ToolError> {
    let alias = arguments.required_string("alias");
    arguments.finish()?;
    let Some(agent) = run.scope.registry.remove(&alias) else {
        return Err(no_agent(&alias, " to disconnect: see list_agents"));
    };
    let aborted = u64::try_from(run.scope.running(&alias).len()).unwrap_or(u64::MAX);
    let url = agent.url.as_str();
    let text = match aborted {
        0 => format!("Disconnected '{alias}' ({url})."),
        1 => format!("Disconnected '{alias}' ({url}). One running call was ended."),
        more => format!("Disconnected '{alias}' ({url}). {more} running calls were ended."),
    };
    let mut out = Object::new();
    out.string("alias", &alias).string("url", url).integer("aborted", aborted);
    run.disconnected = Some(alias);
    Ok(Started::Done(ToolResult::new(text, out)))
}
