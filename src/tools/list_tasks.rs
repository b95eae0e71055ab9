//! list_tasks.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use crate::a2a::asked::ListQuery;
use crate::a2a::{State, View};
use crate::call::Run;
use crate::incoming::principal_of;
use crate::json::{Array, Object};
use crate::mcp::arguments::Arguments;
use crate::mcp::outcome::{Code, ToolError, ToolResult};
use crate::mcp::tool::{Hints, Started, Tool};
use crate::served::{Duty, ServedTask};

/// The tool.
pub(super) const TOOL: Tool = Tool {
    name: "list_tasks",
    title: "List tasks",
    description: "Lists the tasks that other agents gave to this gateway, those that changed last first. Answer them with respond_task.",
    input: r#"{"type":"object","properties":{"state":{"type":"string","description":"only those in it, such as input-required"},"limit":{"type":"integer","minimum":1,"maximum":100,"description":"default 50"},"cursor":{"type":"string","description":"next_cursor of the page before"}},"additionalProperties":false}"#,
    output: output!(r#""tasks":{"type":"array","items":{"type":"object"}},"next_cursor":{"type":"string"}"#, r#""tasks""#),
    hints: Hints { read_only: true, destructive: false, idempotent: true, open_world: false },
    asks: false,
    start,
};

fn start(run: &mut Run<'_>, mut arguments: Arguments<'_>) -> Result<Started, ToolError> {
    let state = arguments.string("state").map(|name| State::named(&name));
    let limit = arguments.integer("limit", 1).and_then(|limit| u64::try_from(limit).ok()).unwrap_or(50).min(100);
    let page_token = arguments.string("cursor");
    if let Some(State::Unknown | State::Other(_)) = &state {
        arguments.fail("`state` is no state of a task".to_string());
    }
    arguments.finish()?;
    let query = ListQuery { context_id: None, state, since: None, page_size: limit, page_token, turns: None, artifacts: true };
    let (page, next, _) = run
        .served
        .page(&query, &|task| task.duty == Duty::Inbox && is_seen(run, task))
        .map_err(|_| ToolError::new(Code::InvalidArgument, "`cursor` is no cursor of list_tasks"))?;
    let (mut tasks, mut lines) = (Array::new(), Vec::new());
    for task in page.into_iter().filter_map(|number| run.served.get(number)) {
        tasks.json(&task.task().write(crate::a2a::Dialect::JsonRpc10, View::WHOLE));
        lines.push(task.line());
    }
    if let Some(next) = &next {
        lines.push(format!("There are more: cursor {next}"));
    }
    let mut out = Object::new();
    out.nested("tasks", tasks).optional_string("next_cursor", next.as_deref());
    let text = if lines.is_empty() { "There are no such tasks.".to_string() } else { crate::text::joined(&lines, "\n") };
    Ok(Started::Done(ToolResult::new(text, out)))
}

/// Whether a caller of tools may see a task: the gateway's own host may see all of them, a principal its own, and those of
/// others where its token says that it answers for all.
pub(super) fn is_seen(run: &Run<'_>, task: &ServedTask) -> bool {
    let Some(principal) = principal_of(run.scope_name) else { return true };
    let answers = |token: &crate::config::Token| token.may_answer && token.principal == principal;
    task.begun && (task.owner == principal || run.ground.config.server.tokens.iter().any(answers))
}
