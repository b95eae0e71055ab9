//! The items of results and prompts that are no text (MCP, `ContentBlock`).

use crate::json::{Json, Object};

/// A text.
#[must_use]
pub fn text(text: &str) -> Json {
    let mut item = Object::with_capacity(text.len() + 32);
    item.string("type", "text").string("text", text);
    item.finish()
}

/// An image, its bytes in base64.
#[must_use]
pub fn image(base64: &str, mime_type: &str) -> Json {
    media("image", base64, mime_type)
}

/// A sound, its bytes in base64.
#[must_use]
pub fn audio(base64: &str, mime_type: &str) -> Json {
    media("audio", base64, mime_type)
}

fn media(kind: &str, base64: &str, mime_type: &str) -> Json {
    let mut item = Object::with_capacity(base64.len() + mime_type.len() + 48);
    item.string("type", kind).string("data", base64).string("mimeType", mime_type);
    item.finish()
}

/// What a resource holds, as `resources/read` tells it, inside a result or prompt.
#[must_use]
pub fn resource(contents: &Json) -> Json {
    let mut item = Object::new();
    item.string("type", "resource").json("resource", contents);
    item.finish()
}
