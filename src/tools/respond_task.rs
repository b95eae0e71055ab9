//! respond_task.

use alloc::format;
use alloc::string::{String, ToString};

use super::list_tasks::is_seen;
use super::parts::{self, parts_schema};
use crate::a2a::{Artifact, ArtifactUpdate, Event, Message, Role, State, Status, StatusUpdate, View};
use crate::call::{Run, outgoing};
use crate::json::{self, Object};
use crate::mcp::arguments::Arguments;
use crate::mcp::outcome::{Code, ToolError, ToolResult};
use crate::mcp::tool::{Hints, Started, Tool};
use crate::served::{Duty, TaskNumber};

/// The tool.
pub(super) const TOOL: Tool = Tool {
    name: "respond_task",
    title: "Respond to task",
    description: "Answers a task that another agent gave to this gateway with words, an artifact and its state from now on: working goes on, input-required asks its caller for more, completed, failed, rejected and canceled end it.",
    input: concat!(
        r#"{"type":"object","properties":{"task_id":{"type":"string"},"message":{"type":"string","description":"text for the caller; or use parts"},"parts":"#,
        parts_schema!(),
        r#","artifact":{"type":"object","description":"a result, with a content of the same form","properties":{"name":{"type":"string"},"description":{"type":"string"},"message":{"type":"string"},"parts":{"type":"array","items":{"type":"object"}}}},"state":{"type":"string","enum":["working","input-required","auth-required","completed","failed","rejected","canceled"]}},"required":["task_id","state"],"additionalProperties":false}"#
    ),
    output: output!(r#""task":{"type":"object"}"#, r#""task""#),
    hints: Hints { read_only: false, destructive: false, idempotent: false, open_world: true },
    asks: false,
    start,
};

fn start(run: &mut Run<'_>, mut arguments: Arguments<'_>) -> Result<Started, ToolError> {
    let task_id = arguments.required_string("task_id");
    let state = arguments.required_string("state");
    let artifact = artifact(&mut arguments)?;
    let draft = parts::read(&mut arguments);
    let state = State::named(&state);
    if matches!(state, State::Unknown | State::Other(_) | State::Submitted) {
        arguments
            .fail("`state` must be working, input-required, auth-required, completed, failed, rejected or canceled".to_string());
    }
    arguments.finish()?;
    let words = if draft.is_empty() { None } else { Some(draft.check()?) };
    let found = run.served.iter().find(|(_, task)| task.task().id == task_id && task.duty == Duty::Inbox && is_seen(run, task));
    let Some((number, task)) = found else {
        let message = format!("there is no task {task_id} to be answered: see list_tasks");
        return Err(ToolError::new(Code::TaskNotFound, message));
    };
    if task.state().is_terminal() {
        let message = format!("task {task_id} has ended as {}", task.state().kebab());
        return Err(ToolError::new(Code::InvalidArgument, message));
    }
    let message: Option<Message> = words.map(|parts| Message { role: Role::Agent, ..Message::from_user(String::new(), parts) });
    check(run, message.as_ref(), artifact.as_ref())?;
    let (task_id, context_id, metadata) = (None, None, None);
    let status = Status { message, ..Status::of(state) };
    let update = StatusUpdate { task_id, context_id, status, last: false, metadata };
    let at = run.ground.wall();
    for mut event in artifact.into_iter().chain([Event::Status(update)]) {
        // What this user's agents are called with is for nobody else.
        run.scope.secrets.clean(&mut event);
        run.served.report(number, event, at, &mut run.ground.random);
    }
    answered(run, number)
}

/// The answer goes to another agent.
fn check(run: &mut Run<'_>, message: Option<&Message>, artifact: Option<&Event>) -> Result<(), ToolError> {
    let mut sent = Object::new();
    sent.optional_json("message", message.map(Message::to_json).as_ref());
    if let Some(Event::Artifact(update)) = artifact {
        sent.json("artifact", &update.artifact.to_json());
    }
    outgoing::check_json(run.ground, TOOL.name, sent.finish().raw())
}

/// The artifact of the arguments, as a whole one.
fn artifact(arguments: &mut Arguments<'_>) -> Result<Option<Event>, ToolError> {
    let Some(given) = arguments.object("artifact") else { return Ok(None) };
    let mut inner = Arguments::inside(json::members(given.raw()).unwrap_or_default(), "artifact.".to_string());
    let (name, description) = (inner.string("name"), inner.string("description"));
    let draft = parts::read(&mut inner);
    inner.finish()?;
    if draft.is_empty() {
        let message = "`artifact` is empty: give `artifact.message` or `artifact.parts`";
        return Err(ToolError::new(Code::InvalidArgument, message));
    }
    let artifact = Artifact { name, description, ..Artifact::new(String::new(), draft.check()?) };
    let (task_id, context_id, metadata) = (None, None, None);
    Ok(Some(Event::Artifact(ArtifactUpdate { task_id, context_id, artifact, append: false, last_chunk: true, metadata })))
}

fn answered(run: &Run<'_>, number: TaskNumber) -> Result<Started, ToolError> {
    let task = run.served.get(number).ok_or_else(|| ToolError::new(Code::TaskNotFound, "the task is gone"))?;
    let mut out = Object::new();
    out.json("task", &task.task().write(crate::a2a::Dialect::JsonRpc10, View::WHOLE));
    let text = format!("The caller was told; the task is {}.", task.state().kebab());
    let mut result = ToolResult::new(text, out);
    result.texts.push(format!("task_id: {}", task.task().id));
    Ok(Started::Done(result))
}
