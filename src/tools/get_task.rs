//! get_task.

use alloc::string::String;

use crate::call::Run;
use crate::call::target::Target;
use crate::call::task::{TaskCall, Wish};
use crate::mcp::arguments::Arguments;
use crate::mcp::outcome::{Code, ToolError};
use crate::mcp::tool::{Hints, Started, Tool};

/// The tool.
pub(super) const TOOL: Tool = Tool {
    name: "get_task",
    title: "Get task",
    description: "Reads the current state of a task, with its artifacts. Use it after a timeout, or for a task that was started earlier.",
    input: r#"{"type":"object","properties":{"agent":{"type":"string","description":"alias or URL"},"task_id":{"type":"string"},"history_length":{"type":"integer","minimum":0,"description":"how many past messages to include"}},"required":["agent","task_id"],"additionalProperties":false}"#,
    output: output!(r#""task":{"type":"object"}"#, r#""task""#),
    hints: Hints { read_only: true, destructive: false, idempotent: true, open_world: true },
    asks: false,
    start,
};

fn start(run: &mut Run<'_>, mut arguments: Arguments<'_>) -> Result<Started, ToolError> {
    let agent = arguments.required_string("agent");
    let task_id = arguments.required_string("task_id");
    let history_length = arguments.integer("history_length", 0).and_then(|length| u64::try_from(length).ok());
    arguments.finish()?;
    ask(run, &agent, task_id, Wish::Get { history_length })
}

/// Shared with cancel_task: the checks of agent and id.
pub(super) fn ask(run: &mut Run<'_>, agent: &str, task_id: String, wish: Wish) -> Result<Started, ToolError> {
    if task_id.trim().is_empty() {
        return Err(ToolError::new(Code::InvalidArgument, "`task_id` is blank: give the id of a task"));
    }
    let target = Target::resolve(run.scope, agent)?;
    TaskCall::start(run, target, task_id, wish)
}
