//! The content of a message: `message`, or `parts` of exactly one kind each.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::a2a::{Content, Part};
use crate::base64;
use crate::json::{self, Json, Raw};
use crate::list::gather;
use crate::mcp::arguments::Arguments;
use crate::mcp::outcome::{Code, ToolError};

/// The JSON Schema of `parts`.
macro_rules! parts_schema {
    () => {
        r#"{"type":"array","items":{"type":"object","properties":{"text":{"type":"string"},"data":{"description":"any JSON value"},"url":{"type":"string"},"raw":{"type":"string","description":"base64"},"media_type":{"type":"string"},"filename":{"type":"string"},"metadata":{"type":"object"}},"additionalProperties":false},"description":"instead of message; each has exactly one of text, data, url, raw"}"#
    };
}
pub(super) use parts_schema;

/// The content as it was given: shapes are checked, content is not.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    message: Option<String>,
    parts: Option<Vec<DraftPart<'a>>>,
}

#[derive(Debug)]
struct DraftPart<'a> {
    text: Option<String>,
    data: Option<Raw<'a>>,
    url: Option<String>,
    raw: Option<String>,
    media_type: Option<String>,
    filename: Option<String>,
    metadata: Option<Json>,
    /// how many of the four kinds are present, whatever their value
    kinds: usize,
}

/// Reads `message` and `parts`; a fault of shape is told by `arguments.finish()`.
pub(super) fn read<'a>(arguments: &mut Arguments<'a>) -> Draft<'a> {
    let message = arguments.string("message");
    let elements = arguments.elements("parts", "a list of parts").filter(|elements| !elements.is_empty());
    let parts = elements.map(|elements| {
        let list = elements.into_iter().enumerate();
        gather(list.filter_map(|(index, element)| read_part(arguments, index, element)))
    });
    Draft { message, parts }
}

fn read_part<'a>(arguments: &mut Arguments<'a>, index: usize, element: Raw<'a>) -> Option<DraftPart<'a>> {
    let Some(members) = json::members(element) else {
        arguments.fail(format!("`parts[{index}]` must be an object, not {}", json::kind(element).name()));
        return None;
    };
    let kinds = ["text", "data", "url", "raw"].iter().filter(|kind| members.has(kind)).count();
    let mut inside = Arguments::inside(members, format!("parts[{index}]."));
    let part = DraftPart {
        text: inside.string("text"),
        data: inside.any("data"),
        url: inside.string("url"),
        raw: inside.string("raw"),
        media_type: inside.string("media_type"),
        filename: inside.string("filename"),
        metadata: inside.object("metadata"),
        kinds,
    };
    if let Err(error) = inside.finish() {
        arguments.fail(error.into_message());
    }
    Some(part)
}

impl Draft<'_> {
    /// Whether neither was given.
    pub(super) fn is_empty(&self) -> bool {
        self.message.is_none() && self.parts.is_none()
    }

    /// Checks the content.
    ///
    /// # Errors
    /// [`Code::InvalidArgument`], naming the index of the part.
    pub(super) fn check(self) -> Result<Vec<Part>, ToolError> {
        let Some(parts) = self.parts else {
            return match self.message.filter(|message| !message.is_empty()) {
                Some(text) => Ok(alloc::vec![Part::new(Content::Text(text))]),
                None => Err(invalid("there is nothing to send: give `message` or `parts`".into())),
            };
        };
        parts.into_iter().enumerate().map(|(index, part)| part.check(index)).collect()
    }
}

impl DraftPart<'_> {
    fn check(self, index: usize) -> Result<Part, ToolError> {
        if self.kinds != 1 {
            let found = if self.kinds == 0 { "none" } else { "several" };
            return Err(invalid(format!("`parts[{index}]` must hold exactly one of text, data, url and raw, not {found}")));
        }
        let content = match (self.text, self.data, self.url, self.raw) {
            (Some(text), ..) => Content::Text(text),
            (_, Some(data), ..) => Content::Data(Json::from_raw(data)),
            (_, _, Some(url), _) if url.is_empty() => return Err(invalid(format!("`parts[{index}].url` is empty"))),
            (_, _, Some(url), _) => Content::Url(url),
            (.., Some(raw)) => Content::Raw(
                standard_base64(&raw)
                    .ok_or_else(|| invalid(format!("`parts[{index}].raw` is no base64, neither standard nor URL-safe")))?,
            ),
            (None, None, None, None) => return Err(invalid(format!("`parts[{index}]` holds null where a string is needed"))),
        };
        let mut part = Part::new(content);
        part.media_type = self.media_type;
        part.filename = self.filename;
        part.metadata = self.metadata;
        Ok(part)
    }
}

fn invalid(message: String) -> ToolError {
    ToolError::new(Code::InvalidArgument, message)
}

/// The bytes in the standard alphabet with padding, from either alphabet with or without it.
fn standard_base64(text: &str) -> Option<String> {
    base64::decode_any(text).map(|bytes| base64::encode(&bytes))
}

#[cfg(test)]
mod tests {
    use super::standard_base64;

    #[test]
    fn both_alphabets_are_taken() {
        assert_eq!(standard_base64("-_8").as_deref(), Some("+/8="));
        assert_eq!(standard_base64("+/8=").as_deref(), Some("+/8="));
        assert_eq!(standard_base64("").as_deref(), Some(""));
        assert_eq!(standard_base64("+/8_"), None);
        assert_eq!(standard_base64("a b"), None);
    }
}
