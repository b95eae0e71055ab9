//! JSON-RPC 2.0 messages: read into their kinds, written as one line of text.

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::{self, Fault, Json, Kind, Object, Raw};

/// The text was no JSON.
pub const PARSE_ERROR: i64 = -32700;
/// The JSON is no request.
pub const INVALID_REQUEST: i64 = -32600;
/// No such method.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The method does not take these parameters.
pub const INVALID_PARAMS: i64 = -32602;
/// A fault of ours.
pub const INTERNAL_ERROR: i64 = -32603;

/// How long an id or a token may be that a client gives: it comes again in all that is said of its request.
pub const ID_BYTES: u64 = 1024;

/// What a client is told whose id is none.
pub const ID_FAULT: &str = "`id` must be a string or a number of at most 1,024 bytes";

/// The id of a request: a string or a number, kept literally, so that `1`, `1.0` and `"1"` are three ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Id(Json);

impl Id {
    /// The id in a `id` or `requestId` member; `None` where it is neither a string nor a number, or longer than
    /// [`ID_BYTES`].
    #[must_use]
    pub fn read(raw: Raw<'_>) -> Option<Self> {
        (is_named(raw) && raw.get().len() as u64 <= ID_BYTES).then(|| Self(Json::from_raw(raw)))
    }

    /// The id of a request that nobody made.
    #[must_use]
    pub fn none() -> Self {
        Self(Json::null())
    }

    /// The literal as it is echoed.
    #[must_use]
    pub fn as_json(&self) -> &Json {
        &self.0
    }
}

/// Whether a value may be an id or a token: it is a string or a number.
#[must_use]
pub fn is_named(raw: Raw<'_>) -> bool {
    matches!(json::kind(raw), Kind::String | Kind::Number)
}

/// One message, taken apart.
#[derive(Debug)]
pub enum Incoming<'a> {
    /// A call that wants an answer.
    Request {
        /// to be echoed
        id: Id,
        /// the method's name
        method: String,
        /// the parameters, `null` as absent
        params: Option<Raw<'a>>,
    },
    /// A call that wants none.
    Notification {
        /// the method's name
        method: String,
        /// the parameters, `null` as absent
        params: Option<Raw<'a>>,
    },
    /// An answer to a request of ours.
    Response {
        /// the id of the request; none where it is neither a string nor a number, or too long
        id: Option<Id>,
        /// what was answered
        outcome: Outcome<'a>,
    },
    /// Several messages in one array.
    Batch(Vec<Raw<'a>>),
    /// A message that cannot be taken but must be answered.
    Invalid {
        /// the id where one could be read
        id: Option<Id>,
        /// the JSON-RPC code
        code: i64,
        /// what is wrong
        message: &'static str,
    },
    /// Nothing that could be answered: a log line that went astray, a bare number.
    Noise,
}

/// What a request of ours was answered with.
#[derive(Clone, Copy, Debug)]
pub enum Outcome<'a> {
    /// a result
    Result(Raw<'a>),
    /// an error
    Error(Raw<'a>),
}

/// Takes a message apart.
#[must_use]
pub fn read(text: &str, depth: u32) -> Incoming<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match json::parse(text, depth) {
        Ok(raw) => read_raw(raw),
        Err(fault) => match id_from_start(text) {
            Some(id) => Incoming::Invalid {
                id: Some(id),
                code: match fault {
                    Fault::Syntax => PARSE_ERROR,
                    Fault::Depth => INVALID_REQUEST,
                },
                message: match fault {
                    Fault::Syntax => "the message is no valid JSON",
                    Fault::Depth => "the message nests too deep",
                },
            },
            None => Incoming::Noise,
        },
    }
}

/// Takes one element of a batch apart.
#[must_use]
pub fn read_raw(raw: Raw<'_>) -> Incoming<'_> {
    if let Some(elements) = json::elements(raw) {
        return Incoming::Batch(elements);
    }
    let Some(members) = json::members(raw) else { return Incoming::Noise };
    let id = members.get_any("id");
    let method = members.string("method");
    let readable = id.and_then(Id::read);
    let error = members.get_any("error").map(Outcome::Error);
    if let Some(outcome) = members.get_any("result").map(Outcome::Result).or(error).filter(|_| method.is_none()) {
        return Incoming::Response { id: readable, outcome };
    }
    if members.string("jsonrpc").as_deref() != Some("2.0") {
        if id.is_none() {
            return Incoming::Noise;
        }
        return Incoming::Invalid { id: readable, code: INVALID_REQUEST, message: "`jsonrpc` must be \"2.0\"" };
    }
    let params = members.get("params");
    match (id, readable, method) {
        (None, _, Some(method)) => Incoming::Notification { method, params },
        (None, _, None) => Incoming::Noise,
        (Some(_), None, _) => Incoming::Invalid { id: None, code: INVALID_REQUEST, message: ID_FAULT },
        (Some(_), Some(id), Some(method)) => Incoming::Request { id, method, params },
        (Some(_), Some(id), None) => {
            Incoming::Invalid { id: Some(id), code: INVALID_REQUEST, message: "`method` must be a string" }
        }
    }
}

/// The id at the top of an object whose text is broken, cut off or too deep to be parsed.
#[must_use]
pub fn id_from_start(text: &str) -> Option<Id> {
    let inner = text.trim_start_matches('\u{feff}').trim_start().strip_prefix('{')?;
    let (mut open, mut at) = (0_u32, 0);
    let bytes = inner.as_bytes();
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let end = json::string_end(bytes, at)?;
                if open == 0
                    && inner.get(at..end) == Some("\"id\"")
                    && let Some(value) = inner.get(end..)?.trim_start().strip_prefix(':')
                {
                    return id_literal(value.trim_start());
                }
                at = end;
                continue;
            }
            b'{' | b'[' => open += 1,
            b'}' | b']' => open = open.checked_sub(1)?,
            _ => {}
        }
        at += 1;
    }
    None
}

/// How deep the members behind an id may nest to be read from the end.
const END_DEPTH: u32 = 16;

/// How many keys that read `id` are tried from the end on.
const END_TRIES: usize = 4;

/// The id at the top of an object of which the end is known, where nothing but whole members stands behind it.
///
/// A key in quotes cannot stand inside a string, where its quotes would be escaped. An id of an object further in has a
/// brace more behind it than one object closes, so what follows is no object then.
#[must_use]
pub fn id_from_end(text: &str) -> Option<Id> {
    // A search of the library from the end would add four kilobytes.
    let is_key = |at: &usize| text.as_bytes().get(*at..).is_some_and(|rest| rest.starts_with(b"\"id\""));
    (0..text.len()).rev().filter(is_key).take(END_TRIES).find_map(|at| {
        let (before, rest) = text.split_at_checked(at)?;
        if before.ends_with('\\') {
            return None;
        }
        let object = alloc::format!("{{{rest}");
        json::parse(&object, END_DEPTH).ok().and_then(json::members)?.get_any("id").and_then(Id::read)
    })
}

/// The literal id of the request that a text of [`result`] or [`error`] answers.
#[must_use]
pub fn answered(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("{\"jsonrpc\":\"2.0\",\"id\":")?;
    let (id, rest) = rest.split_at_checked(literal_end(rest)?)?;
    Some(id).filter(|id| !id.is_empty() && !rest.starts_with(",\"method\""))
}

fn id_literal(value: &str) -> Option<Id> {
    json::parse(value.get(..literal_end(value)?)?, 0).ok().and_then(Id::read)
}

fn literal_end(value: &str) -> Option<usize> {
    if value.starts_with('"') {
        json::string_end(value.as_bytes(), 0)
    } else {
        value.find(|char: char| !(char.is_ascii_digit() || matches!(char, '-' | '+' | '.' | 'e' | 'E')))
    }
}

/// The text of a request of ours.
#[must_use]
pub fn request(id: &str, method: &str, params: &Json) -> Json {
    let mut out = Object::new();
    out.string("jsonrpc", "2.0").string("id", id).string("method", method).json("params", params);
    out.finish()
}

/// The text of a result.
#[must_use]
pub fn result(id: &Id, result: &Json) -> Json {
    let mut out = Object::with_capacity(result.as_str().len() + 64);
    out.string("jsonrpc", "2.0").json("id", id.as_json()).json("result", result);
    out.finish()
}

/// The text of an error; without an id it is `null`.
#[must_use]
pub fn error(id: Option<&Id>, code: i64, message: &str, data: Option<&Json>) -> Json {
    let mut fault = Object::new();
    fault.integer("code", code).string("message", message).optional_json("data", data);
    let mut out = Object::new();
    out.string("jsonrpc", "2.0");
    match id {
        Some(id) => out.json("id", id.as_json()),
        None => out.null("id"),
    };
    out.nested("error", fault);
    out.finish()
}

/// The text of a notification.
#[must_use]
pub fn notification(method: &str, params: &Json) -> Json {
    let mut out = Object::new();
    out.string("jsonrpc", "2.0").string("method", method).json("params", params);
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString;

    fn kind(text: &str) -> String {
        match read(text, 128) {
            Incoming::Request { id, method, params } => {
                format!("request {} {method} {}", id.0.as_str(), params.map_or("-", Raw::get))
            }
            Incoming::Notification { method, .. } => format!("notification {method}"),
            Incoming::Response { id, outcome } => {
                let id = id.map_or("null".to_string(), |id| id.0.as_str().to_string());
                match outcome {
                    Outcome::Result(raw) => format!("response {id} {raw}"),
                    Outcome::Error(raw) => format!("response {id} error {raw}"),
                }
            }
            Incoming::Batch(list) => format!("batch {}", list.len()),
            Incoming::Invalid { id, code, .. } => {
                format!("invalid {} {code}", id.map_or("null".to_string(), |id| id.0.as_str().to_string()))
            }
            Incoming::Noise => "noise".to_string(),
        }
    }

    #[test]
    fn ids_keep_their_literal() {
        for id in ["\"1\"", "\"007\"", "1", "0", "9007199254740993", "18446744073709551615", "1.5", "\"\"", "-5"] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            assert_eq!(kind(&text), format!("request {id} ping -"));
        }
    }

    #[test]
    fn the_id_is_found_from_the_end() {
        for (text, want) in [
            (r#"y"}},"jsonrpc":"2.0","id":7}"#, Some("7")),
            (r#"y"}},"id" : "a\"b" , "jsonrpc":"2.0"} "#, Some(r#""a\"b""#)),
            (r#"y","id":9007199254740993,"_meta":{"id":2},"last":"id"}"#, Some("9007199254740993")),
            (r#""params":{"arguments":{"id":7}}}"#, None),
            (r#""params":{"message":"say \"id\":7}"}}"#, None),
            (r#""params":{"message":"\\","id":7}}"#, None),
            (r#","id":null}"#, None),
            (r#","id":{"x":1}}"#, None),
            (r#","id":7"#, None),
            (r#","id":7}{"#, None),
        ] {
            assert_eq!(id_from_end(text).as_ref().map(|id| id.as_json().as_str()), want, "{text}");
        }
    }

    #[test]
    fn messages_are_told_apart() {
        for (text, want) in [
            (r#"{"jsonrpc":"2.0","method":"x","params":null}"#, "notification x"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "response 1 {}"),
            (r#"{"jsonrpc":"2.0","id":"a","result":null}"#, "response \"a\" null"),
            (r#"{"jsonrpc":"2.0","id":null,"error":{}}"#, "response null error {}"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#, "invalid null -32600"),
            (r#"{"jsonrpc":"2.0","id":true,"method":"x"}"#, "invalid null -32600"),
            (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, "invalid 1 -32600"),
            (r#"{"id":99,"method":"tools/list"}"#, "invalid 99 -32600"),
            (r#"{"level":"info"}"#, "noise"),
            ("not json", "noise"),
            ("123", "noise"),
            ("{}", "noise"),
            (r#"[{"jsonrpc":"2.0"},1]"#, "batch 2"),
            ("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", "request 1 ping -"),
            (r#"{"jsonrpc":"2.0","params":{"id":5},"id":"a\"b","method":"#, r#"invalid "a\"b" -32700"#),
            (r#"{"jsonrpc":"2.0","params":{"id":5}"#, "noise"),
        ] {
            assert_eq!(kind(text), want, "{text}");
        }
        for (length, want) in [(1022, true), (1023, false)] {
            let id = format!("\"{}\"", "x".repeat(length));
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x"}}"#);
            assert_eq!(kind(&text) == format!("request {id} x -"), want);
            assert_eq!(kind(&text) == "invalid null -32600", !want);
        }
        let deep = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"x","params":{}{}}}"#, "[".repeat(200), "]".repeat(200));
        assert_eq!(kind(&deep), "invalid 7 -32600");
    }
}
