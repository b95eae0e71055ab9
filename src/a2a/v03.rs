//! Messages and parts as A2A 0.3 writes them: discriminators over JSON-RPC, ProtoJSON of another schema over HTTP.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::{Array, Json, Object};

use super::message::{Message, optional_strings};
use super::part::{Content, Part};

/// The member of the metadata by which the official SDKs say that data is the value of an object.
pub(super) const COMPAT: &str = "data_part_compat";

/// A message as 0.3 writes it over JSON-RPC (0.3 §6.4).
pub(super) fn message(message: &Message, lost: &mut Vec<String>) -> Json {
    let parts = parts(&message.parts, lost);
    let mut out = Object::new();
    out.string("kind", "message").string("messageId", &message.message_id).string("role", message.role.kebab());
    out.json("parts", &parts);
    shared_members(&mut out, message);
    optional_strings(&mut out, "referenceTaskIds", message.reference_task_ids.as_deref());
    out.members(&message.extra);
    out.finish()
}

fn shared_members(out: &mut Object, message: &Message) {
    out.optional_string("contextId", message.context_id.as_deref());
    out.optional_string("taskId", message.task_id.as_deref());
    out.optional_json("metadata", message.metadata.as_ref());
    optional_strings(out, "extensions", message.extensions.as_deref());
}

/// Parts as 0.3 writes them over JSON-RPC.
pub(super) fn parts(parts: &[Part], lost: &mut Vec<String>) -> Json {
    let mut list = Array::new();
    for (index, part) in parts.iter().enumerate() {
        list.json(&part_json(part, index, lost));
    }
    list.finish()
}

/// Parts in the ProtoJSON of the 0.3 schema.
pub(super) fn rest_parts(parts: &[Part], lost: &mut Vec<String>) -> Json {
    let mut list = Array::new();
    for (index, part) in parts.iter().enumerate() {
        let mut out = Object::new();
        match &part.content {
            Content::Text(text) => out.string("text", text),
            Content::Data(data) => {
                let mut inner = Object::new();
                inner.json("data", &object_of(data));
                out.nested("data", inner)
            }
            Content::Url(url) => out.json("file", &file(part, "fileWithUri", url)),
            Content::Raw(base64) => out.json("file", &file(part, "fileWithBytes", base64)),
            Content::Other => out.members(&part.extra),
        };
        note_lost(part, index, lost);
        out.optional_json("metadata", metadata(part).as_ref());
        list.nested(out);
    }
    list.finish()
}

/// The data of 0.3 is an object. Other data is the `value` of one, as the official SDKs write it for agents of 0.3.
fn object_of(data: &Json) -> Json {
    if data.members().is_some() {
        return data.clone();
    }
    let mut out = Object::new();
    out.json("value", data);
    out.finish()
}

/// The metadata of a part, which says that its data is the value of an object.
fn metadata(part: &Part) -> Option<Json> {
    match &part.content {
        Content::Data(data) if data.members().is_none() => {}
        Content::Data(_) | Content::Text(_) | Content::Url(_) | Content::Raw(_) | Content::Other => {
            return part.metadata.clone();
        }
    }
    let mut out = Object::new();
    if let Some(members) = part.metadata.as_ref().and_then(Json::members) {
        out.members(&members.keep());
    }
    out.boolean(COMPAT, true);
    Some(out.finish())
}

/// A part with its `kind`.
fn part_json(part: &Part, index: usize, lost: &mut Vec<String>) -> Json {
    let mut out = Object::new();
    match &part.content {
        Content::Text(text) => out.string("kind", "text").string("text", text),
        Content::Data(data) => out.string("kind", "data").json("data", &object_of(data)),
        Content::Url(url) => out.string("kind", "file").json("file", &file(part, "uri", url)),
        Content::Raw(base64) => out.string("kind", "file").json("file", &file(part, "bytes", base64)),
        Content::Other => &mut out,
    };
    note_lost(part, index, lost);
    out.optional_json("metadata", metadata(part).as_ref());
    out.members(&part.extra);
    out.finish()
}

/// A message in the ProtoJSON of the 0.3 schema, whose readers refuse members that they do not know.
pub(super) fn rest_message(message: &Message, lost: &mut Vec<String>) -> Json {
    let parts = rest_parts(&message.parts, lost);
    let mut out = Object::new();
    out.string("messageId", &message.message_id).string("role", message.role.wire());
    out.json("content", &parts);
    shared_members(&mut out, message);
    if message.reference_task_ids.as_ref().is_some_and(|ids| !ids.is_empty()) {
        lost.push("reference_task_ids".into());
    }
    out.finish()
}

fn file(part: &Part, name: &str, content: &str) -> Json {
    let mut file = Object::with_capacity(content.len() + 128);
    file.string(name, content);
    file.optional_string("name", part.filename.as_deref());
    file.optional_string("mimeType", part.media_type.as_deref());
    file.finish()
}

/// In 0.3 files alone have a name and a type.
fn note_lost(part: &Part, index: usize, lost: &mut Vec<String>) {
    match &part.content {
        Content::Text(_) | Content::Data(_) => {}
        Content::Url(_) | Content::Raw(_) | Content::Other => return,
    }
    for (name, value) in [("filename", &part.filename), ("media_type", &part.media_type)] {
        if value.is_some() {
            lost.push(format!("parts[{index}]: {name}"));
        }
    }
}
