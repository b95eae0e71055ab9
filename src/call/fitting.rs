//! Outcomes that are too large for an answer, and what is said in their place.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Ended;
use crate::json::{self, Json};
use crate::mcp::outcome::{Code, ToolError};

/// What the members around a text take at most.
const AROUND: u64 = 64;
/// What stands around the outcome in an answer at most.
const ENVELOPE: u64 = 4096;
/// How many code points stay of the sentence of an error.
const SENTENCE: u64 = 200;
/// How long a member of an error may be that stays.
const SMALL: usize = 256;

/// What an error that was left of an outcome takes at most.
pub const LEFT: u64 = 2048;

/// About how many bytes an outcome takes in an answer, and never fewer.
#[must_use]
pub fn bytes(ended: &Ended) -> u64 {
    let members = |list: &[(String, Json)]| list.iter().map(|(name, value)| text(name) + length(value.as_str())).sum::<u64>();
    let texts = |list: &[String]| list.iter().map(|item| text(item)).sum::<u64>();
    match ended {
        Ok(result) => {
            let items = result.content.iter().map(|item| length(item.as_str()) + 1).sum::<u64>();
            texts(&result.texts) + items + length(result.structured.as_str()) + AROUND
        }
        // The sentence stands in the text and in the structure.
        Err(error) => {
            text(&error.message) * 2 + texts(&error.items) + members(&error.details) + members(&error.received) + AROUND
        }
    }
}

/// How many bytes a text takes in an answer.
#[must_use]
pub fn text(text: &str) -> u64 {
    json::escaped_bytes(text) + AROUND
}

fn length(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

/// How many bytes outcomes may take in an answer of so many.
#[must_use]
pub const fn room(limit: u64) -> u64 {
    limit.saturating_sub(ENVELOPE)
}

/// The outcome where it takes no more than `room` of the `limit` bytes that an answer may have. Otherwise an error with
/// the ids to go on with, or the error that it is without what came with it.
pub fn within(ended: Ended, room: u64, limit: u64) -> Ended {
    let bytes = bytes(&ended);
    if bytes <= room {
        return ended;
    }
    let why = if bytes > self::room(limit) { "more than" } else { "for which there is no more room here in the" };
    let why = format!("{bytes} bytes, {why} answer_bytes ({limit}) of one answer");
    Err(match ended {
        Ok(result) => {
            let ids = result.structured.members().map(|members| ids(|name| members.get(name).map(Json::from_raw)));
            let error = ToolError::new(
                Code::TooLarge,
                format!("what came of it takes {why}: it is left out; ask for less where that can be"),
            );
            with_ids(error, ids.unwrap_or_default())
        }
        Err(mut error) => {
            let received = core::mem::take(&mut error.received);
            let ids = ids(|name| received.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()));
            error.items.clear();
            error.details.retain(|(_, value)| value.as_str().len() <= SMALL);
            error.message = format!(
                "{} (what came with this takes {why}, and is left out)",
                crate::history::shorten(&error.message, SENTENCE)
            );
            with_ids(error, ids)
        }
    })
}

/// The ids of the task or the message in a result.
fn ids(member: impl Fn(&str) -> Option<Json>) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    for (outer, inner, name) in
        [("task", "id", "task_id"), ("task", "contextId", "context_id"), ("message", "contextId", "context_id")]
    {
        let id = member(outer).and_then(|value| value.members()?.string(inner).filter(|id| id.len() <= SMALL));
        found.extend(id.map(|id| (name, id)));
    }
    found
}

fn with_ids(error: ToolError, ids: Vec<(&'static str, String)>) -> ToolError {
    let error = if error.code == Code::TooLarge { error.with("limit", Json::string("answer_bytes")) } else { error };
    ids.into_iter().fold(error, |error, (name, id)| {
        let is_there = error.details.iter().any(|(known, _)| known == name);
        if is_there { error } else { error.with(name, Json::string(&id)) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Object;
    use crate::mcp::outcome::ToolResult;

    fn task(text: &str) -> Json {
        let mut task = Object::new();
        task.string("id", "t1").string("contextId", "c1").string("text", text);
        task.finish()
    }

    fn large() -> ToolResult {
        let mut out = Object::new();
        out.json("task", &task(&"\n".repeat(500)));
        ToolResult::new("\u{1}\n\"x".repeat(300), out)
    }

    #[test]
    fn what_is_estimated_is_never_less_than_what_is_written() {
        let ended = Ok(large());
        assert!(bytes(&ended) >= length(large().to_object().finish().as_str()));
        let error = ToolError::new(Code::TaskFailed, "\"".repeat(50)).with_received("task", task("x"));
        assert!(bytes(&Err(error.clone())) >= length(error.into_result().to_object().finish().as_str()));
    }

    #[test]
    fn what_does_not_fit_keeps_its_ids() {
        let room = bytes(&Ok(large()));
        assert_eq!(within(Ok(large()), room, room), Ok(large()));
        let error = within(Ok(large()), room - 1, room).unwrap_err();
        assert_eq!(error.code, Code::TooLarge);
        let details: Vec<&str> = error.details.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(details, ["limit", "task_id", "context_id"]);
    }

    #[test]
    fn an_error_stays_what_it_is() {
        let error = ToolError::new(Code::TaskFailed, "it failed").with("task_id", Json::string("t1"));
        let whole = error.with_received("task", task(&"x".repeat(5000)));
        let error = within(Err(whole), 4000, 4000).unwrap_err();
        assert_eq!((error.code, error.received.len(), error.details.len()), (Code::TaskFailed, 0, 2));
        assert!(error.message.starts_with("it failed (") && bytes(&Err(error)) < LEFT);
    }
}
