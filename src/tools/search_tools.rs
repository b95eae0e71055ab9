//! search_tools, where the tools of MCP servers are found instead of listed.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use crate::call::{Run, policy};
use crate::json::{Array, Object};
use crate::link::search;
use crate::list::gather;
use crate::mcp::arguments::Arguments;
use crate::mcp::outcome::{ToolError, ToolResult};
use crate::mcp::tool::{Hints, Started, Tool};
use crate::policy::Verdict;
use crate::text;

/// How many tools are told where the call names no number, and at most.
const USUAL: usize = 8;
const MOST: usize = 50;

/// The tool.
pub(super) const TOOL: Tool = Tool {
    name: "search_tools",
    title: "Search tools",
    description: "Finds tools of the MCP servers behind this gateway by words of their names and descriptions, with the schemas of their arguments. Call what it finds with call_tool. Without words it lists tools by server.",
    input: r#"{"type":"object","properties":{"query":{"type":"string","description":"words for what is to be done, such as `create issue`"},"limit":{"type":"integer","minimum":1,"maximum":50,"default":8}},"additionalProperties":false}"#,
    output: output!(
        r#""tools":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"description":{"type":"string"},"inputSchema":{"type":"object"}},"required":["name","inputSchema"]}},"total":{"type":"integer","description":"how many were found, those that are not told included"}"#,
        r#""tools","total""#
    ),
    hints: Hints { read_only: true, destructive: false, idempotent: true, open_world: false },
    asks: false,
    start,
};

fn start(run: &mut Run<'_>, mut arguments: Arguments<'_>) -> Result<Started, ToolError> {
    let query = arguments.string("query").unwrap_or_default();
    let limit = arguments.integer("limit", 1);
    arguments.finish()?;
    let limit = limit.and_then(|limit| usize::try_from(limit).ok()).map_or(USUAL, |limit| limit.min(MOST));
    let caller = policy::caller(run);
    let config = &run.ground.config;
    // What the policy refuses in any case is not there for this caller.
    let is_allowed = |tool| !matches!(policy::evaluation(config, tool, &caller, false).verdict, Verdict::Refused(_));
    let allowed = gather(run.ground.catalog.iter().filter(|tool| is_allowed(tool)));
    let found = search::found(&allowed, &query);
    let (mut list, mut lines) = (Array::new(), Vec::new());
    for tool in found.iter().take(limit) {
        let told = tool.to_json(run.caller.era);
        let members = told.members().unwrap_or_default();
        let (description, schema) = (members.string("description").unwrap_or_default(), members.get("inputSchema"));
        let schema = schema.map_or("{}", |schema| schema.get());
        lines.push(format!("{}: {description}\n  arguments: {schema}", tool.offered));
        list.json(&told);
    }
    let rest = found.len().saturating_sub(limit);
    if rest > 0 {
        lines.push(format!("{rest} more: search with other words, or with a higher limit."));
    }
    let mut out = Object::new();
    out.nested("tools", list).integer("total", u64::try_from(found.len()).unwrap_or(u64::MAX));
    let nothing = "No tool has any of these words: try others, or none to list tools.".to_string();
    let text = if lines.is_empty() { nothing } else { text::joined(&lines, "\n") };
    Ok(Started::Done(ToolResult::new(text, out)))
}
