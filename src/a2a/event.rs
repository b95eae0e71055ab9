//! Events of a stream (A2A 1.0 §3.1.2, §4.2; A2A 0.3 §7.2): wrapped or told by `kind`, behind JSON-RPC or bare.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::{self, Fault as JsonFault, Json, Kind, Members, Object, Raw};

use super::dialect::Dialect;
use super::envelope::{self, Opened};
use super::error::Fault;
use super::member;
use super::message::Message;
use super::reply::{looks_like_message, looks_like_task};
use super::task::{Artifact, Status, Task, View};

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// the whole task as it stands
    Task(Task),
    /// a message; no task follows
    Message(Message),
    /// a new status
    Status(StatusUpdate),
    /// an artifact or a piece of one
    Artifact(ArtifactUpdate),
    /// an event of no known kind
    Other(Json),
}

/// A task has a new status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusUpdate {
    /// the task as the event names it
    pub task_id: Option<String>,
    /// the conversation as the event names it
    pub context_id: Option<String>,
    /// the status
    pub status: Status,
    /// whether the agent says that the stream ends here (`final` of 0.3)
    pub last: bool,
    /// free data of the event
    pub metadata: Option<Json>,
}

/// A task has a new artifact or more of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactUpdate {
    /// the task as the event names it
    pub task_id: Option<String>,
    /// the conversation as the event names it
    pub context_id: Option<String>,
    /// the artifact or the piece
    pub artifact: Artifact,
    /// whether it is a piece that follows what is there, rather than the whole
    pub append: bool,
    /// whether the agent says that the artifact is complete
    pub last_chunk: bool,
    /// free data of the event
    pub metadata: Option<Json>,
}

impl Event {
    /// The form of a dialect: with its `kind` in 0.3 over JSON-RPC, else wrapped.
    #[must_use]
    pub fn write(&self, dialect: Dialect) -> Json {
        let (name, kind, inner) = match self {
            Self::Task(task) => ("task", "", task.write(dialect, View::WHOLE)),
            Self::Message(message) => ("message", "", message.write(dialect, &mut Vec::new())),
            Self::Status(update) => ("statusUpdate", "status-update", update.write(dialect)),
            Self::Artifact(update) => ("artifactUpdate", "artifact-update", update.write(dialect)),
            Self::Other(json) => return json.clone(),
        };
        let mut out = Object::with_capacity(inner.as_str().len() + 64);
        match dialect {
            // Tasks and messages carry their kind themselves.
            Dialect::JsonRpc03 if kind.is_empty() => return inner,
            Dialect::JsonRpc03 => {
                out.string("kind", kind).members(&inner.members().unwrap_or_default().keep());
            }
            Dialect::JsonRpc10 | Dialect::Rest10 | Dialect::Rest03 => {
                out.json(name, &inner);
            }
        }
        out.finish()
    }
}

impl StatusUpdate {
    fn write(&self, dialect: Dialect) -> Json {
        let mut out = Object::new();
        out.optional_string("taskId", self.task_id.as_deref()).optional_string("contextId", self.context_id.as_deref());
        out.json("status", &self.status.write(dialect));
        if !dialect.is_10() {
            out.boolean("final", self.last);
        }
        out.optional_json("metadata", self.metadata.as_ref());
        out.finish()
    }
}

impl ArtifactUpdate {
    fn write(&self, dialect: Dialect) -> Json {
        let mut out = Object::new();
        out.optional_string("taskId", self.task_id.as_deref()).optional_string("contextId", self.context_id.as_deref());
        out.json("artifact", &self.artifact.write(dialect));
        if self.append {
            out.boolean("append", true);
        }
        if self.last_chunk {
            out.boolean("lastChunk", true);
        }
        out.optional_json("metadata", self.metadata.as_ref());
        out.finish()
    }
}

/// Reads one event. `name` is its type in the stream, `data` its data, which is not empty.
///
/// # Errors
/// The agent's error, in an event named `error` or in any other; data that is no JSON or nests too deep.
pub fn event(dialect: Dialect, name: &str, data: &str, depth: u32) -> Result<Event, Fault> {
    match json::parse(data, depth) {
        Ok(raw) => event_of(dialect, name, raw),
        Err(JsonFault::Depth) => Err(Fault::Depth),
        Err(JsonFault::Syntax) if name == "error" => {
            Err(Fault::Agent { code: None, kind: super::error::FaultKind::Other, message: data.into(), data: None })
        }
        Err(JsonFault::Syntax) => {
            Err(Fault::Protocol(format!("an event of the stream is no JSON: {}", super::error::excerpt(data))))
        }
    }
}

/// The same of data that was parsed.
///
/// # Errors
/// The agent's error.
pub fn event_of(dialect: Dialect, name: &str, raw: Raw<'_>) -> Result<Event, Fault> {
    let is_error = name == "error";
    if json::kind(raw) != Kind::Object {
        return if is_error { Err(Fault::of_error(raw, 200)) } else { Ok(Event::Other(Json::from_raw(raw))) };
    }
    let result = match envelope::open(raw, 200) {
        Ok(Opened::Result(_) | Opened::Nothing) if is_error => return Err(Fault::of_error(raw, 200)),
        Ok(Opened::Result(result)) => result,
        Ok(Opened::Nothing) => return Ok(Event::Other(Json::from_raw(raw))),
        Err(fault) => return Err(fault),
    };
    Ok(read(result, dialect).unwrap_or_else(|| Event::Other(Json::from_raw(result))))
}

/// What an event is; `None` where it is nothing known.
fn read(raw: Raw<'_>, dialect: Dialect) -> Option<Event> {
    let members = json::members(raw)?;
    if let Some(kind) = members.string("kind") {
        match kind.replace('_', "-").as_str() {
            "task" => return Task::read(raw, dialect).ok().map(Event::Task),
            "message" => return Message::read(raw, dialect).ok().map(Event::Message),
            "status-update" | "statusUpdate" => return status(members, dialect),
            "artifact-update" | "artifactUpdate" => return artifact(members, dialect),
            _ => {}
        }
    }
    let wrapped =
        |names: [&str; 2]| names.iter().find_map(|name| members.get(name)).filter(|raw| json::kind(*raw) == Kind::Object);
    if let Some(update) = wrapped(["statusUpdate", "status_update"]) {
        return status(json::members(update)?, dialect);
    }
    if let Some(update) = wrapped(["artifactUpdate", "artifact_update"]) {
        return artifact(json::members(update)?, dialect);
    }
    if let Some(task) = wrapped(["task", "task"]) {
        return Task::read(task, dialect).ok().map(Event::Task);
    }
    if let Some(message) = wrapped(["message", "msg"]) {
        return Message::read(message, dialect).ok().map(Event::Message);
    }
    if members.get("artifact").is_some() {
        return artifact(members, dialect);
    }
    if members.get("status").is_some() && ["final", "taskId", "task_id"].iter().any(|name| members.has(name)) {
        return status(members, dialect);
    }
    if looks_like_task(&members) {
        return Task::read(raw, dialect).ok().map(Event::Task);
    }
    looks_like_message(&members).then(|| Message::read(raw, dialect).ok().map(Event::Message))?
}

fn status(mut members: Members<'_>, dialect: Dialect) -> Option<Event> {
    let status = Status::read(members.take("status")?, dialect)?;
    Some(Event::Status(StatusUpdate {
        task_id: member::take_id(&mut members, &["taskId", "task_id", "id"]),
        context_id: member::take_id(&mut members, &["contextId", "context_id"]),
        status,
        last: member::take(&mut members, &["final"], member::flag).unwrap_or_default(),
        metadata: member::take_json(&mut members, "metadata"),
    }))
}

fn artifact(mut members: Members<'_>, dialect: Dialect) -> Option<Event> {
    let artifact = Artifact::read(members.take("artifact")?, dialect).ok()?;
    Some(Event::Artifact(ArtifactUpdate {
        task_id: member::take_id(&mut members, &["taskId", "task_id", "id"]),
        context_id: member::take_id(&mut members, &["contextId", "context_id"]),
        artifact,
        append: member::take(&mut members, &["append"], member::flag).unwrap_or_default(),
        last_chunk: member::take(&mut members, &["lastChunk", "last_chunk"], member::flag).unwrap_or_default(),
        metadata: member::take_json(&mut members, "metadata"),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::a2a::State;

    fn read(data: &str) -> Result<Event, Fault> {
        event(Dialect::JsonRpc10, "message", data, 128)
    }

    #[test]
    fn every_form_of_every_event() {
        let status = r#""taskId":"t","contextId":"c","status":{"state":"working"}"#;
        let artifact = r#""taskId":"t","artifact":{"artifactId":"a","parts":[{"text":"x"}]},"append":true"#;
        for (body, name) in [
            (format!(r#"{{"statusUpdate":{{{status}}}}}"#), "status"),
            (r#"{"status_update":{"task_id":"t","context_id":"c","status":{"state":"working"}}}"#.into(), "status"),
            (format!(r#"{{"kind":"status-update",{status},"final":false}}"#), "status"),
            (format!("{{{status}}}"), "status"),
            (format!(r#"{{"artifactUpdate":{{{artifact},"lastChunk":true}}}}"#), "artifact"),
            (format!(r#"{{"artifact_update":{{{artifact},"last_chunk":true}},"task":null}}"#), "artifact"),
            (format!(r#"{{"kind":"artifact-update",{artifact},"lastChunk":true}}"#), "artifact"),
            (r#"{"task":{"id":"t","status":{"state":"working"}}}"#.into(), "task"),
            (r#"{"kind":"task","id":"t","status":{"state":"working"}}"#.into(), "task"),
            (r#"{"id":"t","status":{"state":"working"}}"#.into(), "task"),
            (r#"{"message":{"messageId":"m","role":"agent","parts":[]}}"#.into(), "message"),
            (r#"{"kind":"message","messageId":"m","role":"agent","parts":[]}"#.into(), "message"),
            (r#"{"somethingNew":{"a":1}}"#.into(), "other"),
            (r#"{"kind":"something-new"}"#.into(), "other"),
            (r#"[1]"#.into(), "other"),
        ] {
            for data in [body.clone(), format!(r#"{{"jsonrpc":"2.0","id":7,"result":{body}}}"#)] {
                match (read(&data), name) {
                    (Ok(Event::Status(update)), "status") => {
                        assert_eq!((update.task_id.as_deref(), update.context_id.as_deref()), (Some("t"), Some("c")));
                        assert_eq!((update.status.state, update.last), (State::Working, false));
                    }
                    (Ok(Event::Artifact(update)), "artifact") => assert!(update.append && update.last_chunk),
                    (Ok(Event::Task(task)), "task") => assert_eq!(task.id, "t"),
                    (Ok(Event::Message(message)), "message") => assert_eq!(message.message_id, "m"),
                    (Ok(Event::Other(json)), "other") => assert_eq!(json.as_str(), body),
                    (other, _) => panic!("{data} gave {other:?}"),
                }
            }
        }
    }

    #[test]
    fn errors_by_name_and_by_content() {
        let rpc = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"boom"}}"#;
        let rest = r#"{"error":{"code":500,"status":"INTERNAL","message":"boom"}}"#;
        for (name, data) in [
            ("message", rpc),
            ("error", rpc),
            ("message", rest),
            ("error", rest),
            ("error", r#"{"message":"boom"}"#),
            ("error", "boom"),
            ("error", r#""boom""#),
        ] {
            match event(Dialect::JsonRpc10, name, data, 128) {
                Err(Fault::Agent { message, .. }) => assert_eq!(message, "boom"),
                other => panic!("{name} {data} gave {other:?}"),
            }
        }
        assert!(matches!(read("not json"), Err(Fault::Protocol(_))));
        assert_eq!(read(&"[".repeat(300)), Err(Fault::Depth));
    }

    #[test]
    fn the_last_status_of_0_3_says_so() {
        let data = r#"{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"completed"},"final":true,"metadata":{"a":1}}"#;
        assert!(matches!(read(data), Ok(Event::Status(update)) if update.last && update.metadata.is_some()));
    }
}
