//! Arguments that are repeated in header fields: `x-mcp-header` in the schema of a tool (MCP 2026-07-28, transports).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::http::header_value;
use crate::http;
use crate::io::Headers;
use crate::json::{self, Json, Kind, Members, Raw};

const ANNOTATION: &str = "x-mcp-header";

fn properties(definition: &Json) -> Option<Members<'_>> {
    json::members(definition.members()?.get("inputSchema")?)?.get("properties").and_then(json::members)
}

/// What is wrong with the annotations of a tool: such a tool must not be offered.
#[must_use]
pub fn fault(definition: &Json) -> Option<&'static str> {
    let mut names: Vec<String> = Vec::new();
    for (_, raw) in properties(definition)?.iter() {
        let Some(schema) = json::members(raw) else { continue };
        let Some(annotation) = schema.get_any(ANNOTATION) else { continue };
        let Some(name) = json::string(annotation).filter(|name| http::is_token(name)) else {
            return Some("an x-mcp-header is no name of a header field");
        };
        if !matches!(schema.string("type").as_deref(), Some("string" | "integer" | "boolean")) {
            return Some("an x-mcp-header stands at what is no text, integer or boolean");
        }
        let name = name.to_ascii_lowercase();
        if names.contains(&name) {
            return Some("two x-mcp-header have one name");
        }
        names.push(name);
    }
    None
}

/// The header fields of a call.
#[must_use]
pub fn fields(definition: &Json, arguments: Option<&Json>) -> Headers {
    let mut fields = Headers::new();
    let (Some(properties), Some(arguments)) = (properties(definition), arguments.and_then(Json::members)) else { return fields };
    for (property, raw) in properties.iter() {
        let name = json::members(raw).and_then(|schema| schema.string(ANNOTATION));
        if let (Some(name), Some(value)) = (name, arguments.get(property).and_then(plain)) {
            fields.push((format!("Mcp-Param-{name}"), header_value(&value)));
        }
    }
    fields
}

fn plain(raw: Raw<'_>) -> Option<String> {
    match json::kind(raw) {
        Kind::String => json::string(raw),
        Kind::Number | Kind::Boolean => Some(raw.get().to_string()),
        Kind::Null | Kind::Array | Kind::Object => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(properties: &str) -> Json {
        Json::parse(&format!(r#"{{"name":"t","inputSchema":{{"type":"object","properties":{{{properties}}}}}}}"#), 16).unwrap()
    }

    #[test]
    fn arguments_are_repeated_as_they_are_or_in_base64() {
        let tool = tool(
            r#""a":{"type":"string","x-mcp-header":"A"},"b":{"type":"integer","x-mcp-header":"B"},"c":{"type":"boolean","x-mcp-header":"C"},"d":{"type":"string","x-mcp-header":"D"},"e":{"type":"string"}"#,
        );
        assert_eq!(fault(&tool), None);
        let arguments = Json::parse(r#"{"a":"plain text","b":42,"c":false,"d":"é","e":"x"}"#, 4).unwrap();
        let fields = fields(&tool, Some(&arguments));
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let want =
            [("Mcp-Param-A", "plain text"), ("Mcp-Param-B", "42"), ("Mcp-Param-C", "false"), ("Mcp-Param-D", "=?base64?w6k=?=")];
        assert_eq!(fields, want);
    }

    #[test]
    fn tools_with_wrong_annotations_are_told_apart() {
        for wrong in [
            r#""a":{"type":"string","x-mcp-header":"a b"}"#,
            r#""a":{"type":"string","x-mcp-header":""}"#,
            r#""a":{"type":"string","x-mcp-header":7}"#,
            r#""a":{"type":"number","x-mcp-header":"A"}"#,
            r#""a":{"type":"object","x-mcp-header":"A"}"#,
            r#""a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}"#,
        ] {
            assert!(fault(&tool(wrong)).is_some(), "{wrong}");
        }
        assert_eq!(fault(&Json::parse("{}", 1).unwrap()), None);
    }
}
