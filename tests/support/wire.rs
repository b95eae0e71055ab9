//! A2A as an agent sees it: requests read, answers written, in the four dialects.

use narrows::a2a::Dialect;
use narrows::io::{Method, Request};
use narrows::json;

use super::text::{at, numbers_after, quoted};

/// What a request asks of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    Card,
    Send,
    Stream,
    Get,
    Cancel,
    Subscribe,
}

#[derive(Clone, Debug)]
pub struct Asked {
    pub ask: Ask,
    pub dialect: Dialect,
    /// the id of a JSON-RPC call, literally
    pub id: Option<String>,
    /// the number in `call-17`, with which the callers of the tests mark their messages
    pub call: Option<u64>,
    /// the numbers in `task-17`, and in how an agent may misspell it
    pub tasks: Vec<u64>,
}

/// How tasks are named.
pub const TASKS: [&str; 2] = ["task-", "job-"];

const METHODS: [(&str, Ask, bool); 10] = [
    ("SendMessage", Ask::Send, true),
    ("SendStreamingMessage", Ask::Stream, true),
    ("GetTask", Ask::Get, true),
    ("CancelTask", Ask::Cancel, true),
    ("SubscribeToTask", Ask::Subscribe, true),
    ("message/send", Ask::Send, false),
    ("message/stream", Ask::Stream, false),
    ("tasks/get", Ask::Get, false),
    ("tasks/cancel", Ask::Cancel, false),
    ("tasks/resubscribe", Ask::Subscribe, false),
];

/// Reads a request. One that the gateway must never make is a failure of the test.
pub fn asked(request: &Request) -> Asked {
    let body = request.body.as_deref().unwrap_or_default();
    let all = format!("{body} {}", request.url);
    let call = numbers_after(&all, "call-").first().copied();
    let tasks = TASKS.iter().flat_map(|name| numbers_after(&all, name)).collect();
    let rpc = at(body, &["jsonrpc"]).is_some();
    if rpc {
        let method = at(body, &["method"]).unwrap_or_default();
        let known = METHODS.iter().find(|(name, ..)| quoted(name) == method);
        let (_, ask, new) = known.unwrap_or_else(|| panic!("{method} is no method of A2A"));
        let dialect = if *new { Dialect::JsonRpc10 } else { Dialect::JsonRpc03 };
        return Asked { ask: *ask, dialect, id: at(body, &["id"]), call, tasks };
    }
    let version = request.headers.iter().find(|(name, _)| name == "A2A-Version").map_or("", |(_, value)| value.as_str());
    let dialect = if version == "1.0" { Dialect::Rest10 } else { Dialect::Rest03 };
    let path = request.url.split('?').next().unwrap_or_default();
    let ask = match request.method {
        Method::Post if path.ends_with("/message:send") => Ask::Send,
        Method::Post if path.ends_with("/message:stream") => Ask::Stream,
        Method::Post if path.ends_with(":cancel") => Ask::Cancel,
        Method::Get | Method::Post if path.ends_with(":subscribe") => Ask::Subscribe,
        Method::Get if path.contains("/tasks/") => Ask::Get,
        Method::Get => Ask::Card,
        // Where a redirect led.
        Method::Post if body == "{}" => Ask::Cancel,
        Method::Post if request.headers.iter().any(|(_, value)| value.starts_with("text/event-stream")) => Ask::Stream,
        Method::Post => Ask::Send,
    };
    Asked { ask, dialect, id: None, call, tasks }
}

/// A state in the spelling of a dialect.
pub fn state(dialect: Dialect, kebab: &str) -> String {
    match dialect {
        Dialect::JsonRpc03 => kebab.to_owned(),
        Dialect::JsonRpc10 | Dialect::Rest10 | Dialect::Rest03 => {
            format!("TASK_STATE_{}", kebab.to_ascii_uppercase().replace('-', "_"))
        }
    }
}

fn kind(dialect: Dialect, name: &str) -> String {
    if dialect == Dialect::JsonRpc03 { format!(r#""kind":"{name}","#) } else { String::new() }
}

pub fn message(dialect: Dialect, context: Option<&str>, text: &str) -> String {
    let role = if dialect == Dialect::JsonRpc03 { "agent" } else { "ROLE_AGENT" };
    let parts = if dialect == Dialect::Rest03 { "content" } else { "parts" };
    let context = context.map(|id| format!(r#""contextId":{},"#, quoted(id))).unwrap_or_default();
    let (own, part) = (kind(dialect, "message"), kind(dialect, "text"));
    format!(r#"{{{own}"messageId":"m","role":"{role}",{context}"{parts}":[{{{part}"text":{}}}]}}"#, quoted(text))
}

/// A task; without words its status has no message, without an artifact it has none.
pub fn task(dialect: Dialect, ids: (&str, Option<&str>), kebab: &str, words: &str, artifact: &str) -> String {
    let (id, context) = ids;
    let context = context.map(|id| format!(r#""contextId":{},"#, quoted(id))).unwrap_or_default();
    let artifacts =
        if artifact.is_empty() { String::new() } else { format!(r#","artifacts":[{}]"#, piece(dialect, "a", artifact)) };
    let (own, id, status) = (kind(dialect, "task"), quoted(id), status(dialect, kebab, words));
    format!(r#"{{{own}"id":{id},{context}"status":{status}{artifacts}}}"#)
}

fn status(dialect: Dialect, kebab: &str, words: &str) -> String {
    let name = if dialect == Dialect::Rest03 { "update" } else { "message" };
    let said = if words.is_empty() { String::new() } else { format!(r#","{name}":{}"#, message(dialect, None, words)) };
    format!(r#"{{"state":{}{said}}}"#, quoted(&state(dialect, kebab)))
}

fn piece(dialect: Dialect, artifact: &str, text: &str) -> String {
    let part = kind(dialect, "text");
    format!(r#"{{"artifactId":{},"parts":[{{{part}"text":{}}}]}}"#, quoted(artifact), quoted(text))
}

pub fn status_event(dialect: Dialect, ids: (&str, Option<&str>), kebab: &str, words: &str, last: bool) -> String {
    let context = ids.1.map(|id| format!(r#""contextId":{},"#, quoted(id))).unwrap_or_default();
    let own = kind(dialect, "status-update");
    let (id, status) = (quoted(ids.0), status(dialect, kebab, words));
    let update = format!(r#"{{{own}"taskId":{id},{context}"status":{status},"final":{last}}}"#);
    if dialect == Dialect::JsonRpc03 { update } else { format!(r#"{{"statusUpdate":{update}}}"#) }
}

pub fn artifact_event(dialect: Dialect, ids: (&str, Option<&str>), text: &str, append: bool, last: bool) -> String {
    let context = ids.1.map(|id| format!(r#""contextId":{},"#, quoted(id))).unwrap_or_default();
    let own = kind(dialect, "artifact-update");
    let (id, piece) = (quoted(ids.0), piece(dialect, "a", text));
    let update = format!(r#"{{{own}"taskId":{id},{context}"artifact":{piece},"append":{append},"lastChunk":{last}}}"#);
    if dialect == Dialect::JsonRpc03 { update } else { format!(r#"{{"artifactUpdate":{update}}}"#) }
}

/// A task or message as the result of a send or as an event: with its wrapper, where the dialect has one.
pub fn wrapped(dialect: Dialect, name: &str, value: &str) -> String {
    match (dialect, name) {
        (Dialect::JsonRpc03, _) => value.to_owned(),
        (Dialect::Rest03, "message") => format!(r#"{{"msg":{value}}}"#),
        (Dialect::JsonRpc10 | Dialect::Rest10 | Dialect::Rest03, _) => format!(r#"{{"{name}":{value}}}"#),
    }
}

/// A result in its envelope.
pub fn enveloped(asked: &Asked, result: &str) -> String {
    match &asked.id {
        Some(id) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
        None => result.to_owned(),
    }
}

/// An error of the protocol, and the HTTP status that goes with it.
pub fn error(asked: &Asked, code: i64, words: &str) -> (u16, String) {
    let fault = format!(r#"{{"code":{code},"message":{}}}"#, quoted(words));
    match &asked.id {
        Some(id) => (200, format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{fault}}}"#)),
        None => (400, format!(r#"{{"error":{fault}}}"#)),
    }
}

/// A card with one interface.
pub fn card(dialect: Dialect, url: &str, streaming: bool, declared: bool, name: &str) -> String {
    let transport = dialect.transport();
    let (name, url) = (quoted(name), quoted(url));
    let shared = format!(
        r#""name":{name},"description":"d","version":"1","capabilities":{{"streaming":{streaming}}},"skills":[{{"id":"s","name":{name}}}],"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"]"#
    );
    let version = if dialect.is_10() { "1.0" } else { "0.3" };
    if dialect.is_10() || !declared {
        let version = if declared { format!(r#","protocolVersion":"{version}""#) } else { String::new() };
        return format!(r#"{{{shared},"supportedInterfaces":[{{"url":{url},"protocolBinding":"{transport}"{version}}}]}}"#);
    }
    format!(r#"{{{shared},"protocolVersion":"0.3.0","url":{url},"preferredTransport":"{transport}"}}"#)
}

/// Whether a text is JSON at all, for what the gateway writes.
pub fn is_json(text: &str) -> bool {
    json::parse(text, 200).is_ok()
}
