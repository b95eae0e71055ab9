//! The outcome of a send, a reading or a cancellation, as text and structure.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Send;
use crate::a2a::part::readable;
use crate::a2a::{Change, Message, State, Task};
use crate::call::{Ended, fault};
use crate::history;
use crate::json::{Json, Object};
use crate::mcp::outcome::{Code, ToolError, ToolResult};
use crate::redact::Secrets;

/// How much of a piece of an artifact, and of its name, is told while the call runs, in code points.
const PIECE: u64 = 200;
/// The same of the words of a status.
const WORDS: u64 = 1000;

impl Send {
    pub(super) fn outcome(&self, secrets: &Secrets) -> Ended {
        if let Some(message) = self.assembly.message() {
            let mut result = message_result(&self.target.label, message);
            // What came in pieces before it belongs to the answer.
            if let Some(task) = self.assembly.task().filter(|task| !task.artifacts().is_empty()) {
                result.texts.push(format!("received before: {}", task.made()));
                let mut out = Object::new();
                out.json("message", &message.to_json()).json("task", &task.to_json());
                result.structured = out.finish();
            }
            return Ok(result);
        }
        match self.assembly.task() {
            Some(task) => task_outcome(secrets, &self.target.label, task),
            None => Err(ToolError::new(Code::Internal, format!("the answer of {} was lost", self.target.label))),
        }
    }

    /// Adds to an error what the agent had returned.
    pub(in crate::call) fn with_received(&self, secrets: &Secrets, mut error: ToolError) -> ToolError {
        if let Some(message) = self.assembly.message() {
            return error.with_received("message", message.to_json());
        }
        let Some(task) = self.assembly.task() else { return error };
        error.items = items(task);
        let partial = task.readable();
        if !partial.is_empty() {
            error.items.push(format!("received so far: {}", fault::said(secrets, partial)));
        }
        if !task.id.is_empty() {
            error = error.with("task_id", Json::string(&task.id));
        }
        error.with_received("task", task.to_json())
    }
}

/// The result of a message.
#[must_use]
pub fn message_result(label: &str, message: &Message) -> ToolResult {
    let text = message.readable();
    let text = if text.is_empty() { format!("The {label} answered with a message without text.") } else { text };
    let mut out = Object::new();
    out.json("message", &message.to_json());
    let mut result = ToolResult::new(text, out);
    if let Some(context) = &message.context_id {
        result.texts.push(format!("context_id: {context}"));
    }
    result
}

/// The result of a task, whatever its state.
#[must_use]
pub fn task_result(label: &str, task: &Task) -> ToolResult {
    let text = task.readable();
    let text = if text.is_empty() { format!("{} is {}.", named(label, task), task.status.state.kebab()) } else { text };
    let mut out = Object::new();
    out.json("task", &task.to_json());
    let mut result = ToolResult::new(text, out);
    result.texts.extend(items(task));
    result
}

/// A task that ended or waits: completed and interrupted are results, the other ends are errors that carry the task.
fn task_outcome(secrets: &Secrets, label: &str, task: &Task) -> Ended {
    let code = match &task.status.state {
        State::Failed => Code::TaskFailed,
        State::Canceled => Code::TaskCanceled,
        State::Rejected => Code::TaskRejected,
        State::Submitted
        | State::Working
        | State::InputRequired
        | State::AuthRequired
        | State::Completed
        | State::Unknown
        | State::Other(_) => return Ok(task_result(label, task)),
    };
    let state = task.status.state.kebab();
    let reason = task.status.message.as_ref().map(Message::readable).unwrap_or_default();
    let made = Some(task.made()).filter(|made| !made.is_empty() && made.trim() != reason.trim());
    let message = if reason.is_empty() {
        format!("{label} ended task {} as {state}, without a reason", task.id)
    } else {
        format!("{label} ended task {} as {state}: {}", task.id, fault::said(secrets, reason))
    };
    let mut error = ToolError::new(code, message).with("task_id", Json::string(&task.id)).with_received("task", task.to_json());
    error.items = items(task);
    error.items.extend(made.map(|made| format!("received before: {}", fault::said(secrets, made))));
    Err(error)
}

/// What an event tells a caller who waits. A secret that is cut is known no more: it goes before that.
pub(super) fn progress(secrets: &Secrets, change: &Change, task: Option<&Task>) -> Option<String> {
    let task = task?;
    let told = |words: &str, length: u64| history::shorten(secrets.redact(words.into()).trim(), length);
    match change {
        Change::Nothing | Change::Message => None,
        Change::Started | Change::State | Change::Snapshot => {
            let state = task.status.state.kebab();
            let words = task.status.message.as_ref().map(Message::readable).filter(|words| !words.is_empty());
            Some(words.map_or_else(|| state.to_string(), |words| format!("{state}: {}", told(&words, WORDS))))
        }
        Change::Artifact { at } => {
            let artifact = task.artifacts().get(*at)?;
            let name = artifact.name.as_deref().unwrap_or(&artifact.artifact_id);
            let (before, last) = artifact.parts.split_at(artifact.parts.len().saturating_sub(1));
            let mut last = last.to_vec();
            secrets.clean_texts(before, &mut last, true);
            let (name, piece) = (told(name, PIECE), told(&readable(&last), PIECE));
            Some(if piece.is_empty() { format!("artifact {name}") } else { format!("artifact {name}: {piece}") })
        }
    }
}

/// The task as a sentence begins with it; some agents name no id.
fn named(label: &str, task: &Task) -> String {
    if task.id.is_empty() { format!("The task of {label}") } else { format!("Task {} of {label}", task.id) }
}

fn items(task: &Task) -> Vec<String> {
    let mut items = alloc::vec![format!("state: {}", task.status.state.kebab())];
    items.extend(Some(&task.id).filter(|id| !id.is_empty()).map(|id| format!("task_id: {id}")));
    items.extend(task.context_id.as_ref().map(|context| format!("context_id: {}", context)));
    items
}
