//! read_inbox.

use alloc::format;
use alloc::string::String;

use super::check_inbox::{expire, known};
use crate::call::{Run, fitting};
use crate::inbox::Entry;
use crate::json::{Array, Json, Object};
use crate::list::gather;
use crate::mcp::arguments::Arguments;
use crate::mcp::outcome::{Code, ToolError, ToolResult};
use crate::mcp::tool::{Hints, Started, Tool};
use crate::text;

/// The tool.
pub(super) const TOOL: Tool = Tool {
    name: "read_inbox",
    title: "Read inbox",
    description: "Takes the outcomes of async sends to one agent out of the inbox, oldest first. Each is delivered once.",
    input: r#"{"type":"object","properties":{"alias":{"type":"string"},"length":{"type":"integer","minimum":1,"description":"at most so many"},"latest":{"type":"boolean","description":"take all, return the newest only"}},"required":["alias"],"additionalProperties":false}"#,
    output: output!(
        r#""messages":{"type":"array","items":{"type":"object","properties":{"call_id":{"type":"string"},"alias":{"type":"string"},"state":{"type":"string"},"timestamp":{"type":"string"},"task":{"type":"object"},"message":{"type":"object"},"error":{"type":"object"}},"required":["call_id","alias","state","timestamp"]}},"remaining":{"type":"integer"}"#,
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
    let limit = run.ground.config.limits.answer_bytes;
    let fitting = if latest { u64::MAX } else { how_many_fit(run, &alias, limit).min(length) };
    let mut taken = run.scope.inbox.take(&alias, fitting);
    if latest {
        taken.drain(..taken.len().saturating_sub(1));
    }
    for entry in taken.iter_mut().filter(|entry| bytes(entry) > fitting::room(limit)) {
        leave_out(entry, limit);
    }
    // What was left because `length` is reached is known to who asked for so many.
    let remaining = if fitting < length { run.scope.inbox.entries(Some(&alias)).count() } else { 0 };
    let mut messages = Array::new();
    for entry in &taken {
        messages.json(&entry.whole());
    }
    let mut out = Object::new();
    out.nested("messages", messages);
    let mut lines = gather(taken.iter().map(line));
    if remaining > 0 {
        out.integer("remaining", u64::try_from(remaining).unwrap_or(u64::MAX));
        lines.push(format!("{remaining} more found no room here, as many as answer_bytes allows: call read_inbox again."));
    }
    let text = if lines.is_empty() { format!("The inbox holds nothing from '{alias}'.") } else { text::joined(&lines, "\n") };
    Ok(Started::Done(ToolResult::new(text, out)))
}

/// How many of the oldest entries go into one answer, one at least.
fn how_many_fit(run: &Run<'_>, alias: &str, limit: u64) -> u64 {
    let (mut room, mut count) = (fitting::room(limit), 0_u64);
    for entry in run.scope.inbox.entries(Some(alias)) {
        let bytes = bytes(entry);
        if count > 0 && bytes > room {
            break;
        }
        room = room.saturating_sub(bytes);
        count += 1;
    }
    count
}

/// What the names and times of an entry take in both of its forms.
const AROUND: u64 = 256;

/// How many bytes an entry takes in an answer.
fn bytes(entry: &Entry) -> u64 {
    let content = entry.content.iter().map(|(name, value)| name.len() + value.as_str().len()).sum::<usize>();
    let head = entry.call_id.len() + entry.alias.len() + entry.words().len();
    u64::try_from(content + 2 * head).unwrap_or(u64::MAX) + fitting::text(&entry.text) + AROUND
}

/// An outcome that no answer has room for, since the limit is a lower one, is told without what came.
fn leave_out(entry: &mut Entry, limit: u64) {
    let message = format!("the outcome takes {} bytes, more than answer_bytes ({limit}) of one answer", bytes(entry));
    let error = ToolError::new(Code::TooLarge, message).with("limit", Json::string("answer_bytes"));
    let ids = [("task_id", &entry.task_id), ("context_id", &entry.context_id)];
    let named = ids.into_iter().filter_map(|(name, id)| id.as_ref().map(|id| (name, id)));
    let error = named.fold(error, |error, (name, id)| error.with(name, Json::string(id)));
    entry.text.clone_from(&error.message);
    entry.content = [(String::from("error"), error.to_json())].into();
}

/// What came, for people.
fn line(entry: &Entry) -> String {
    format!("{} {} ({}): {}", entry.at.to_rfc3339(), entry.words(), entry.call_id, entry.text)
}
