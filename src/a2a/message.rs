//! Messages (A2A 1.0 §4.1.4) and who speaks them.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::{self, Json, Object, Raw};

use super::dialect::Dialect;
use super::member::{self, Misread};
use super::part::{Part, parts_json, read_parts, readable};
use super::v03;

/// Who speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// the caller
    User,
    /// the agent
    Agent,
    /// not said
    Unspecified,
    /// a role of no known version, as it was written
    Other(String),
}

impl Role {
    /// The role of that name: `ROLE_USER` or `user`.
    #[must_use]
    pub fn named(name: &str) -> Self {
        match name {
            "ROLE_USER" | "user" | "USER" => Self::User,
            "ROLE_AGENT" | "agent" | "AGENT" => Self::Agent,
            "ROLE_UNSPECIFIED" | "unspecified" | "" => Self::Unspecified,
            other => Self::Other(other.to_owned()),
        }
    }

    /// The form of A2A 1.0.
    #[must_use]
    pub fn wire(&self) -> &str {
        match self {
            Self::User => "ROLE_USER",
            Self::Agent => "ROLE_AGENT",
            Self::Unspecified => "ROLE_UNSPECIFIED",
            Self::Other(name) => name,
        }
    }

    /// The form of A2A 0.3 over JSON-RPC.
    #[must_use]
    pub fn kebab(&self) -> &str {
        match self {
            Self::User => "user",
            Self::Agent => "agent",
            Self::Unspecified => "unspecified",
            Self::Other(name) => name,
        }
    }
}

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// its id; empty where the agent gave none
    pub message_id: String,
    /// the conversation
    pub context_id: Option<String>,
    /// the task it belongs to
    pub task_id: Option<String>,
    /// who speaks
    pub role: Role,
    /// what is said
    pub parts: Vec<Part>,
    /// free data
    pub metadata: Option<Json>,
    /// URIs of the extensions it uses
    pub extensions: Option<Vec<String>>,
    /// earlier tasks it is about
    pub reference_task_ids: Option<Vec<String>>,
    /// members of no known meaning
    pub extra: Vec<(String, Json)>,
}

impl Message {
    /// A caller's message outside any conversation.
    #[must_use]
    pub const fn from_user(message_id: String, parts: Vec<Part>) -> Self {
        Self {
            message_id,
            context_id: None,
            task_id: None,
            role: Role::User,
            parts,
            metadata: None,
            extensions: None,
            reference_task_ids: None,
            extra: Vec::new(),
        }
    }

    /// Reads a message in any dialect.
    ///
    /// # Errors
    /// A value that is no object, or one without id, role and parts.
    pub fn read(raw: Raw<'_>, dialect: Dialect) -> Result<Self, Misread> {
        let mut members = json::members(raw).ok_or(Misread::new("an object"))?;
        if !["messageId", "message_id", "role", "parts", "content"].iter().any(|name| members.get(name).is_some()) {
            return Err(Misread::new("a message"));
        }
        if members.string("kind").as_deref() == Some("message") {
            members.take_any("kind");
        }
        Ok(Self {
            message_id: member::take_id(&mut members, &["messageId", "message_id"]).unwrap_or_default(),
            context_id: member::take_id(&mut members, &["contextId", "context_id"]),
            task_id: member::take_id(&mut members, &["taskId", "task_id"]),
            role: member::take(&mut members, &["role"], member::text).map_or(Role::Unspecified, |name| Role::named(&name)),
            parts: member::take(&mut members, &["parts", "content"], |raw| Some(read_parts(raw, dialect))).unwrap_or_default(),
            metadata: member::take_json(&mut members, "metadata"),
            extensions: member::take(&mut members, &["extensions"], member::texts),
            reference_task_ids: member::take(&mut members, &["referenceTaskIds", "reference_task_ids"], member::texts),
            extra: members.keep(),
        })
    }

    /// The 1.0 form.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let parts = parts_json(&self.parts);
        let mut out = Object::with_capacity(parts.as_str().len() + 256);
        if !self.message_id.is_empty() {
            out.string("messageId", &self.message_id);
        }
        out.optional_string("contextId", self.context_id.as_deref());
        out.optional_string("taskId", self.task_id.as_deref());
        out.string("role", self.role.wire());
        out.json("parts", &parts);
        out.optional_json("metadata", self.metadata.as_ref());
        optional_strings(&mut out, "extensions", self.extensions.as_deref());
        optional_strings(&mut out, "referenceTaskIds", self.reference_task_ids.as_deref());
        out.members(&self.extra);
        out.finish()
    }

    /// The form of a dialect. What it has no place for is named in `lost`.
    #[must_use]
    pub fn write(&self, dialect: Dialect, lost: &mut Vec<String>) -> Json {
        match dialect {
            Dialect::JsonRpc10 | Dialect::Rest10 => self.to_json(),
            Dialect::JsonRpc03 => v03::message(self, lost),
            Dialect::Rest03 => v03::rest_message(self, lost),
        }
    }

    /// What it says, for people.
    #[must_use]
    pub fn readable(&self) -> String {
        readable(&self.parts)
    }

    /// About how many bytes it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let extra: usize = self.extra.iter().map(|(name, value)| name.len() + value.as_str().len()).sum();
        self.parts.iter().map(Part::bytes).sum::<usize>() + self.metadata.as_ref().map_or(0, |json| json.as_str().len()) + extra
    }
}

pub(super) fn optional_strings(out: &mut Object, name: &str, list: Option<&[String]>) {
    if let Some(list) = list {
        out.strings(name, list);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    fn read(text: &str) -> Result<Message, Misread> {
        Message::read(json::parse(text, 128).unwrap(), Dialect::JsonRpc03)
    }

    #[test]
    fn a_1_0_message_comes_back_as_it_was() {
        let text = r#"{"messageId":"m","contextId":"c","taskId":"t","role":"ROLE_AGENT","parts":[{"text":"a"}],"metadata":{},"extensions":["https://e.test/x"],"referenceTaskIds":["t0"],"x-new":[1e2]}"#;
        assert_eq!(read(text).unwrap().to_json().as_str(), text);
    }

    #[test]
    fn every_form_is_one_message() {
        let flat = r#"{"messageId":"m","contextId":"c","role":"ROLE_AGENT","parts":[{"text":"a"}]}"#;
        for text in [
            r#"{"kind":"message","messageId":"m","contextId":"c","role":"agent","parts":[{"kind":"text","text":"a"}]}"#,
            r#"{"message_id":"m","context_id":"c","task_id":"","role":"ROLE_AGENT","content":[{"text":"a"}],"metadata":null}"#,
        ] {
            assert_eq!(read(text).unwrap().to_json().as_str(), flat);
        }
    }

    #[test]
    fn little_is_enough_but_nothing_is_too_little() {
        let bare = read(r#"{"messageId":7,"role":"ROLE_ROBOT"}"#).unwrap();
        assert_eq!(bare.to_json().as_str(), r#"{"messageId":"7","role":"ROLE_ROBOT","parts":[]}"#);
        assert_eq!(read(r#"{"role":"agent","parts":null}"#).unwrap().parts, []);
        let long = "x".repeat(member::ID_BYTES + 1);
        for id in [r#""messageId":""#, r#""contextId":""#, r#""taskId":""#] {
            let text = format!(r#"{{"role":"ROLE_AGENT","parts":[],{id}{long}"}}"#);
            let message = read(&text).unwrap();
            assert_eq!((message.context_id.as_ref(), message.task_id.as_ref(), message.message_id.len()), (None, None, 0));
            assert_eq!(message.to_json().as_str(), text, "it is told as it came");
        }
        assert_eq!(read("{}").unwrap_err().expected, "a message");
        assert_eq!(read("[]").unwrap_err().expected, "an object");
    }
}
