//! What is said in the world of bytes, before the bytes damage it.

use narrows::a2a::Dialect;
use narrows::io::Request;

use super::super::support::wire::{self, Ask};
use super::steps::Steps;

/// What the caller gives for one agent, which may repeat it.
pub const SECRET: &str = "a-credential-of-the-caller";

pub const CONFIGS: [&str; 4] = [
    "{}",
    r#"{"poll_timeout_seconds":5,"rate_limit":{"rps":1,"burst":2},"history":{"depth":2},"limits":{"reply_bytes":3000,"card_bytes":2000,"event_bytes":1500,"stream_bytes":6000,"artifact_bytes":500,"message_bytes":2000,"calls_per_peer":3,"agents_per_scope":2,"header_bytes":2000,"redirects":1,"cards_by_url":1,"json_depth":20,"sessions":2,"requests":4,"session_event_bytes":500,"request_bytes":3000}}"#,
    r#"{"external_agents":[{"name":"ext","url":"https://ext.test/","headers":{"X-Api-Key":"another-credential"}}],"network":{"allow_private":false}}"#,
    r#"{"server":{"loopback":false,"hosts":["localhost"]},"auth":{"tokens":[{"token":"a-token-of-ada","principal":"ada"}]},"tools":["send_message","connect_agent","list_agents","read_inbox","check_inbox"]}"#,
];

pub const META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":"p"}"#;

pub const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

/// Calls whose deadlines are short enough to be waited for.
pub const CALLS: [(&str, &str); 22] = [
    ("send_message", r#"{"agent":"bob","message":"call-1"}"#),
    ("send_message", r#"{"agent":"bob","message":"call-2","poll_timeout_seconds":3}"#),
    ("send_message", r#"{"agent":"bob","message":"call-3","async":true,"poll_timeout_seconds":20}"#),
    (
        "send_message",
        r#"{"agent":"https://url.test/a2a","parts":[{"data":{"n":[1e400,null]}},{"raw":"AAA="}],"new_conversation":true}"#,
    ),
    ("send_message", r#"{"agent":"bob","message":"call-5","task_id":"task-1 é/?","context_id":"c"}"#),
    ("broadcast_message", r#"{"aliases":["bob","sue","nobody"],"message":"call-6","timeout_seconds":4}"#),
    ("broadcast_message", r#"{"aliases":["sue"],"message":"call-7","async":true}"#),
    ("connect_agent", r#"{"alias":"sue","agent_url":"http://127.0.0.1:9000/x","rate_limit_rps":1.5,"rate_limit_burst":2}"#),
    ("connect_agent", r#"{"alias":"bob","agent_url":"https://bob.test/other","headers":{"X-Key":"a-credential-of-the-caller"}}"#),
    ("disconnect_agent", r#"{"alias":"bob"}"#),
    ("list_agents", "{}"),
    ("get_agent_card", r#"{"agent":"bob"}"#),
    ("ping_agent", r#"{"alias":"sue"}"#),
    ("get_task", r#"{"agent":"bob","task_id":"../é?","history_length":1.0}"#),
    ("cancel_task", r#"{"agent":"sue","task_id":"task-1 é/?"}"#),
    ("discover_agents", r#"{"directory_url":"https://d.test/directory?y=1","filter":"f","limit":3,"cursor":"c"}"#),
    ("create_caller_card", r#"{"name":"n","description":"d","skills":[{"name":"s","tags":["t"]}],"metadata_key":"k"}"#),
    ("view_caller_card", "{}"),
    ("get_history", r#"{"agent":"bob","limit":2}"#),
    ("check_inbox", "{}"),
    ("read_inbox", r#"{"alias":"bob","length":1,"latest":false}"#),
    ("send_message", r#"{"agent":"bob","message":5,"colour":"red"}"#),
];

pub const MESSAGES: [&str; 14] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}"#,
    r#"{"jsonrpc":"2.0","id":"free","method":"ping"}"#,
    r#"[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"free"}}]"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"narrows://agents/bob"}}"#,
    r#"{"jsonrpc":"2.0","id":4,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"narrows://agents/{alias}"},"argument":{"name":"alias","value":""}}}"#,
    r#"{"jsonrpc":"2.0","id":5,"method":"prompts/get","params":{"name":"connect_and_ask","arguments":{"url":"https://x.test","question":"?"}}}"#,
    r#"{"jsonrpc":"2.0","id":6,"method":"logging/setLevel","params":{"level":"debug"}}"#,
    r#"{"jsonrpc":"2.0","id":7,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"notifications":{"toolsListChanged":true}}}"#,
    r#"{"jsonrpc":"2.0","id":8,"method":"resources/list"}"#,
    r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
    "INFO ready",
];

/// What heads of agents hold besides the content type.
pub const FIELDS: [(&str, &str); 6] = [
    ("Retry-After", "2"),
    ("Retry-After", "Sun, 29 Nov 2026 12:00:07 GMT"),
    ("Location", "https://bob.test/x?y#z"),
    ("Location", "/elsewhere"),
    ("Link", "</directory?page=2>; rel=\"next\""),
    ("Content-Length", "7"),
];

/// What heads of clients hold besides what they need.
pub const ASKED_FIELDS: [(&str, &str); 10] = [
    ("Host", "evil.test"),
    ("Origin", "http://localhost:3000"),
    ("Accept", "text/html"),
    ("Mcp-Session-Id", "no-such-session"),
    ("MCP-Protocol-Version", "2025-06-18"),
    ("Last-Event-ID", "1-0"),
    ("Content-Length", "99999999999"),
    ("Content-Type", "text/plain"),
    ("Authorization", "Bearer a-token-of-ada"),
    ("Mcp-Name", "=?base64?AAAA?="),
];

/// The head of a request that is in order.
pub fn request_fields(session: Option<&str>, tool: &str) -> Vec<(String, String)> {
    let mut fields = vec![
        ("Host", "localhost"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("Authorization", "Bearer a-token-of-ada"),
    ];
    match session {
        Some(name) => fields.push(("Mcp-Session-Id", name)),
        None => fields.extend([("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", tool)]),
    }
    fields.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// What an agent should answer to a request, and of what kind it is.
pub fn proper(steps: &mut Steps<'_>, request: &Request) -> (&'static str, String) {
    const JSON: &str = "application/json";
    if request.url.contains("/directory") {
        return (JSON, r#"{"cards":[{"name":"x","url":"https://x.test","skills":[]},5],"next_token":"t"}"#.to_owned());
    }
    let asked = wire::asked(request);
    let dialect = asked.dialect;
    let ids = ("task-1 é/?", Some("context"));
    let state = steps.pick(&["completed", "working", "input-required", "failed", "dreaming", "canceled"]);
    let told = request.headers.iter().any(|(_, value)| value == SECRET);
    let echo = if told && steps.byte() > 128 { SECRET } else { "words" };
    let task = wire::task(dialect, ids, state, echo, "artifact");
    match asked.ask {
        Ask::Card => {
            let dialect = steps.pick(&[Dialect::JsonRpc10, Dialect::Rest10, Dialect::JsonRpc03, Dialect::Rest03]);
            let url = steps.pick(&["/rpc", "https://elsewhere.test/rpc", "http://10.0.0.1/", "https://bob.test/a?k=v"]);
            (JSON, wire::card(dialect, url, steps.is(), steps.is(), "n"))
        }
        Ask::Send => {
            let (name, value) = if steps.is() { ("message", wire::message(dialect, None, echo)) } else { ("task", task) };
            (JSON, wire::enveloped(&asked, &wire::wrapped(dialect, name, &value)))
        }
        Ask::Get | Ask::Cancel if steps.byte() > 200 => (JSON, wire::error(&asked, -32001, "Task not found").1),
        Ask::Get | Ask::Cancel => (JSON, wire::enveloped(&asked, &task)),
        Ask::Stream | Ask::Subscribe => {
            let events = [
                wire::wrapped(dialect, "task", &task),
                wire::status_event(dialect, ids, "working", echo, false),
                wire::artifact_event(dialect, ids, "one ", false, false),
                wire::artifact_event(dialect, ids, "two", true, true),
                wire::status_event(dialect, ids, state, "", true),
            ];
            let count = steps.index(events.len() + 1);
            let data = events.iter().take(count).map(|event| format!("data: {}\n\n", wire::enveloped(&asked, event)));
            ("text/event-stream", data.collect())
        }
    }
}
