//! get_agent_card.

use crate::call::Run;
use crate::call::card::ReadCard;
use crate::call::target::Target;
use crate::mcp::arguments::Arguments;
use crate::mcp::outcome::ToolError;
use crate::mcp::tool::{Hints, Started, Tool};

/// The tool.
pub(super) const TOOL: Tool = Tool {
    name: "get_agent_card",
    title: "Get agent card",
    description: "Reads an agent's card afresh and returns it whole: skills, interfaces, capabilities, security. Use it to learn what an agent can do before you send.",
    input: r#"{"type":"object","properties":{"agent":{"type":"string","description":"alias or URL"}},"required":["agent"],"additionalProperties":false}"#,
    output: output!(
        r#""card":{"type":"object"},"normalized":{"type":"object","properties":{"name":{"type":"string"},"protocol_version":{"type":"string"},"transport":{"type":"string"},"streaming":{"type":"boolean"},"skills":{"type":"array","items":{"type":"string"}}}}"#,
        r#""card","normalized""#
    ),
    hints: Hints { read_only: true, destructive: false, idempotent: true, open_world: true },
    asks: false,
    start,
};

fn start(run: &mut Run<'_>, mut arguments: Arguments<'_>) -> Result<Started, ToolError> {
    let agent = arguments.required_string("agent");
    arguments.finish()?;
    let target = Target::resolve(run.scope, &agent)?;
    ReadCard::start(run, target)
}
