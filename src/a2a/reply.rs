//! Answers to single requests: a task, a message, an error (A2A 1.0 §3.1, §9, §11; A2A 0.3 §7, §8).
//!
//! The dialect says little about what comes back: agents wrap or do not wrap, in the old spelling or the new, behind
//! either binding. Every form is read everywhere.

use alloc::format;

use crate::json::{self, Fault as JsonFault, Kind, Raw};

use super::dialect::Dialect;
use super::envelope::{self, Opened};
use super::error::Fault;
use super::member::Misread;
use super::message::Message;
use super::task::Task;

/// What an agent answered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "it is taken apart where it is read; on 32 bits it is not large")]
pub enum Reply {
    /// a task
    Task(Task),
    /// a message, and no task
    Message(Message),
    /// a success without content
    Empty,
}

/// Reads the whole body of an answer. `depth` bounds nested arrays and objects.
///
/// # Errors
/// The agent's error, an HTTP status without one, or what is wrong with the answer.
pub fn reply(dialect: Dialect, status: u16, content_type: &str, body: &[u8], depth: u32) -> Result<Reply, Fault> {
    let text = envelope::text(body);
    let succeeded = (200..300).contains(&status);
    if text.trim().is_empty() && succeeded {
        let empty = dialect.is_rest() || status == 204;
        return if empty { Ok(Reply::Empty) } else { Err(Fault::Protocol("the reply is empty".into())) };
    }
    let raw = match json::parse(&text, depth) {
        Ok(raw) => raw,
        Err(_) if !succeeded => return Err(Fault::of_status(status, &text)),
        Err(JsonFault::Depth) => return Err(Fault::Depth),
        Err(JsonFault::Syntax) => {
            let what = if content_type.is_empty() { "without a content type" } else { content_type };
            return Err(Fault::Protocol(format!("the reply ({what}) is no JSON: {}", super::error::excerpt(&text))));
        }
    };
    match envelope::open(raw, status)? {
        Opened::Nothing if succeeded => Ok(Reply::Empty),
        Opened::Nothing => Err(Fault::of_status(status, &text)),
        Opened::Result(result) => read(result, dialect).map_err(|misread| match succeeded {
            true if misread.path.is_empty() => envelope::unreadable("the result is neither a task nor a message", result),
            true => Fault::Protocol(format!("in the result, {misread}")),
            false => Fault::of_status(status, &text),
        }),
    }
}

/// A result: wrapped, told by `kind`, or told by its shape.
fn read(raw: Raw<'_>, dialect: Dialect) -> Result<Reply, Misread> {
    let members = json::members(raw).ok_or(Misread::new("an object"))?;
    match members.string("kind").as_deref() {
        Some("task") => return Task::read(raw, dialect).map(Reply::Task),
        Some("message") => return Message::read(raw, dialect).map(Reply::Message),
        Some(_) | None => {}
    }
    let wrapped = |name: &str| members.get(name).filter(|raw| json::kind(*raw) == Kind::Object);
    if let Some(task) = wrapped("task") {
        let mut task = Task::read(task, dialect).map_err(|misread| misread.under("task"))?;
        // One or the other is what stands there (A2A 1.0 §3.1.1); where both do, the message is of the task.
        if let Some(message) = wrapped("message").and_then(|message| Message::read(message, dialect).ok()) {
            match &mut task.status.message {
                none @ None => *none = Some(message),
                Some(_) => task.history.get_or_insert_default().push(message),
            }
        }
        return Ok(Reply::Task(task));
    }
    if let Some(message) = wrapped("message").or_else(|| wrapped("msg")) {
        return Message::read(message, dialect).map(Reply::Message).map_err(|misread| misread.under("message"));
    }
    if looks_like_task(&members) {
        return Task::read(raw, dialect).map(Reply::Task);
    }
    if looks_like_message(&members) {
        return Message::read(raw, dialect).map(Reply::Message);
    }
    Err(Misread::new("a task or a message"))
}

/// Whether an object without a label is a task.
pub(super) fn looks_like_task(members: &json::Members<'_>) -> bool {
    let has = |name: &str| members.get(name).is_some();
    has("id") && (has("status") || has("artifacts") || has("history") || has("contextId")) || has("status") && !has("taskId")
}

/// Whether an object without a label is a message.
pub(super) fn looks_like_message(members: &json::Members<'_>) -> bool {
    let has = |name: &str| members.get(name).is_some();
    (has("parts") || has("content")) && (has("role") || has("messageId") || has("message_id")) || has("role") && has("messageId")
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::a2a::{FaultKind, State};

    const ALL: [Dialect; 4] = [Dialect::JsonRpc10, Dialect::Rest10, Dialect::JsonRpc03, Dialect::Rest03];

    fn read(dialect: Dialect, status: u16, body: &str) -> Result<Reply, Fault> {
        reply(dialect, status, "application/json", body.as_bytes(), 128)
    }

    #[test]
    fn a_message_beside_a_task_is_of_the_task() {
        let said = |status: &str| {
            let task = alloc::format!(r#"{{"id":"t","status":{status},"history":[]}}"#);
            let message = r#"{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"both"}]}"#;
            let body = alloc::format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"task":{task},"message":{message}}}}}"#);
            let Ok(Reply::Task(task)) = read(Dialect::JsonRpc10, 200, &body) else { panic!("{body}") };
            (task.status.message.map(|message| message.readable()), task.history.map_or(0, |history| history.len()))
        };
        assert_eq!(said(r#"{"state":"TASK_STATE_COMPLETED"}"#), (Some("both".into()), 0));
        let own = r#"{"state":"TASK_STATE_COMPLETED","message":{"messageId":"n","role":"ROLE_AGENT","parts":[{"text":"own"}]}}"#;
        assert_eq!(said(own), (Some("own".into()), 1));
    }

    #[test]
    fn every_form_of_an_answer_is_read_behind_every_dialect() {
        let task = r#"{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}"#;
        let old = r#"{"kind":"task","id":"t","contextId":"c","status":{"state":"completed"}}"#;
        let message = r#"{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hi"}]}"#;
        let older = r#"{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"hi"}]}"#;
        let results = [
            (task.into(), true),
            (old.into(), true),
            (format!(r#"{{"task":{task},"message":null}}"#), true),
            (message.into(), false),
            (older.into(), false),
            (format!(r#"{{"message":{message}}}"#), false),
            (format!(r#"{{"msg":{older}}}"#), false),
        ];
        for dialect in ALL {
            for (result, is_task) in &results {
                for body in [
                    result.clone(),
                    format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#),
                    format!(r#"{{"id":null,"error":null,"result":{result},"jsonrpc":"2.0"}}"#),
                    format!("\u{feff} {result}\n"),
                ] {
                    match read(dialect, 201, &body) {
                        Ok(Reply::Task(task)) if *is_task => assert_eq!(task.status.state, State::Completed),
                        Ok(Reply::Message(message)) if !*is_task => assert_eq!(message.readable(), "hi"),
                        other => panic!("{body} gave {other:?}"),
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_no_answer_is_said_to_be_none() {
        for body in [
            "<html>hi</html>",
            "",
            "[]",
            "null",
            "{",
            r#""x""#,
            r#"{"jsonrpc":"2.0","result":{}}"#,
            "{}",
            r#"{"jsonrpc":"2.0","id":true,"result":{"id":"t","status":{"state":"working"}}}"#,
        ] {
            assert!(matches!(read(Dialect::JsonRpc10, 200, body), Err(Fault::Protocol(_))), "{body}");
        }
        for body in [r#"{"jsonrpc":"2.0","id":1}"#, r#"{"jsonrpc":"2.0","id":1,"result":null}"#] {
            assert_eq!(read(Dialect::JsonRpc03, 200, body), Ok(Reply::Empty), "{body}");
        }
        assert_eq!(read(Dialect::Rest10, 204, ""), Ok(Reply::Empty));
        let deep = format!(r#"{{"result":{}{}}}"#, "[".repeat(200), "]".repeat(200));
        assert_eq!(read(Dialect::JsonRpc10, 200, &deep), Err(Fault::Depth));
        let wordy = read(Dialect::JsonRpc10, 200, r#"{"jsonrpc":"2.0","id":1,"result":"just text"}"#).unwrap_err();
        assert!(format!("{wordy}").contains("just text"), "the words are not lost: {wordy}");
    }

    #[test]
    fn errors_come_with_any_status_and_in_any_form() {
        let agent = |body: &str, status| match read(Dialect::Rest10, status, body) {
            Err(Fault::Agent { code, kind, message, .. }) => (code, kind, message),
            other => panic!("{body} gave {other:?}"),
        };
        let not_found = FaultKind::TaskNotFound;
        for status in [200, 404, 500] {
            let rpc = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"gone","data":null}}"#;
            assert_eq!(agent(rpc, status), (Some(-32001), not_found, "gone".into()));
        }
        let aip = r#"{"error":{"code":404,"status":"NOT_FOUND","message":"gone","details":[{"reason":"TASK_NOT_FOUND"}]}}"#;
        assert_eq!(agent(aip, 404), (Some(404), not_found, "gone".into()));
        assert_eq!(agent(r#"{"code":-32001,"message":"gone"}"#, 404), (Some(-32001), not_found, "gone".into()));
        assert_eq!(agent(r#"{"error":"the oven is cold"}"#, 200), (None, FaultKind::Other, "the oven is cold".into()));
        for (status, body) in
            [(503, "no"), (404, r#"{"error":"no such path"}"#), (401, r#"{"detail":"who are you"}"#), (502, "<b>[</b>")]
        {
            assert!(
                matches!(read(Dialect::JsonRpc10, status, body), Err(Fault::Status { status: found, .. }) if found == status)
            );
        }
    }

    #[test]
    fn a_broken_character_does_not_cost_the_answer() {
        let mut body: Vec<u8> =
            r#"{"jsonrpc":"2.0","id":1,"result":{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"a"#.into();
        body.extend([0xff, 0xfe]);
        body.extend(br#"b"}]}}}"#);
        match reply(Dialect::JsonRpc10, 200, "", &body, 128) {
            Ok(Reply::Message(message)) => assert_eq!(message.readable(), "a\u{fffd}\u{fffd}b"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_bare_task_may_have_a_member_named_result() {
        let body = r#"{"id":"t","status":{"state":"working"},"result":5}"#;
        assert!(matches!(read(Dialect::Rest10, 200, body), Ok(Reply::Task(task)) if task.extra.len() == 1));
    }
}
