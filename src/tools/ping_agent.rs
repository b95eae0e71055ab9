//! ping_agent.

use alloc::format;

use crate::a2a;
use crate::call::Run;
use crate::call::ping::Ping;
use crate::call::target::{Target, no_agent};
use crate::mcp::arguments::Arguments;
use crate::mcp::outcome::{Code, ToolError};
use crate::mcp::tool::{Hints, Started, Tool};

/// The tool.
pub(super) const TOOL: Tool = Tool {
    name: "ping_agent",
    title: "Ping agent",
    description: "Checks whether a connected agent can be reached. Any HTTP answer counts.",
    input: r#"{"type":"object","properties":{"alias":{"type":"string"}},"required":["alias"],"additionalProperties":false}"#,
    output: output!(
        r#""reachable":{"type":"boolean"},"health":{"type":"string"},"status":{"type":"integer"},"response_time_ms":{"type":"integer"},"reason":{"type":"string"}"#,
        r#""reachable","health""#
    ),
    hints: Hints { read_only: true, destructive: false, idempotent: true, open_world: true },
    asks: false,
    start,
};

fn start(run: &mut Run<'_>, mut arguments: Arguments<'_>) -> Result<Started, ToolError> {
    let alias = arguments.required_string("alias");
    arguments.finish()?;
    let Some(agent) = run.scope.registry.get(&alias) else {
        return Err(no_agent(&alias, " to ping: see list_agents"));
    };
    let url = match &agent.ping_endpoint {
        Some(path) => {
            let appended = agent.url.with_path_appended(path);
            appended.map_err(|fault| ToolError::new(Code::InvalidArgument, format!("`ping_endpoint` cannot be used: {fault}")))?
        }
        None => a2a::card_candidates(&agent.url).into_iter().next().unwrap_or_else(|| agent.url.clone()),
    };
    let target = Target::resolve(run.scope, &alias)?;
    Ok(Ping::start(run, target, url))
}
