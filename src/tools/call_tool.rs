//! call_tool, where the tools of MCP servers are found instead of listed.
//!
//! A call of it that names a tool is a call of that tool, from the first look at it on ([`crate::mcp::server`]): the policy,
//! approvals and notices see the tool that is meant. What is left for this one is to say what is wrong with the others.

use alloc::format;
use alloc::string::String;

use crate::call::{Run, policy};
use crate::json::{self, Members, Raw};
use crate::mcp::arguments::Arguments;
use crate::mcp::outcome::{Code, ToolError};
use crate::mcp::tool::{Hints, Started, Tool};
use crate::text;

/// Its name.
pub(crate) const CALL_TOOL: &str = "call_tool";

/// The tool. It promises no form of results: they are those of the tool that is called.
pub(super) const TOOL: Tool = Tool {
    name: CALL_TOOL,
    title: "Call tool",
    description: "Calls a tool that search_tools found, by its whole name, with arguments as its schema says.",
    input: r#"{"type":"object","properties":{"name":{"type":"string","description":"the name as search_tools gives it"},"arguments":{"type":"object","description":"the arguments of that tool"}},"required":["name"],"additionalProperties":false}"#,
    output: "",
    hints: Hints { read_only: false, destructive: true, idempotent: false, open_world: true },
    asks: false,
    start,
};

/// The tool that a call of this one means, with its arguments; `None` where it is malformed.
pub(crate) fn meant<'a>(members: &Members<'a>) -> Option<(String, Option<Raw<'a>>)> {
    let mut arguments = Arguments::new(members.clone());
    let name = arguments.required_string("name");
    arguments.object("arguments");
    arguments.finish().ok()?;
    Some((name, members.get("arguments").filter(|raw| !json::is_null(*raw))))
}

fn start(run: &mut Run<'_>, mut arguments: Arguments<'_>) -> Result<Started, ToolError> {
    let name = arguments.required_string("name");
    arguments.object("arguments");
    arguments.finish()?;
    let name: String = name.chars().take(80).collect();
    let caller = policy::caller(run);
    let config = &run.ground.config;
    let near = run.ground.catalog.near(&name, &|tool| policy::may_call_tool(config, &caller, tool));
    let advice =
        if near.is_empty() { "find one with search_tools".into() } else { format!("near are {}", text::joined(&near, ", ")) };
    Err(ToolError::new(Code::InvalidArgument, format!("no tool is called {name}: {advice}")))
}
