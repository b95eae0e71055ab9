//! No input panics, and what is refused changes nothing.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc
)]

mod support;

use narrows::config::Config;
use narrows::gateway::{Gateway, Secrets};
use narrows::io::{Cause, DirectoryInput, ExchangeId, Input, LookupId, Output, PeerId, PinsInput, RequestId, read_input};
use narrows::time::Instant;
use support::chance::{Chance, seeds};
use support::host::genesis;
use support::text::{at, quoted};
use support::wire::{self, Ask};

/// Pieces that parsers stumble over.
const TOKENS: [&str; 26] = [
    "\\ud800",
    "\\udc00\\ud800",
    "\\u0000",
    "\0",
    "1e400",
    "-0",
    "1E+99999999999",
    "9007199254740993",
    "\u{feff}",
    "\u{2028}",
    "[",
    "{",
    "}",
    "\"",
    "\\",
    "null",
    "{}",
    "[]",
    "true",
    "\"id\":1",
    "\"$serde_json::private::RawValue\":\"[\"",
    "\"$serde_json::private::Number\":\"x\"",
    "\n\n",
    "data: ",
    ",,",
    "\u{1f642}",
];

fn mutated(chance: &mut Chance, bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..chance.between(1, 4) {
        let at = chance.index(out.len() + 1);
        let to = (at + chance.index(12)).min(out.len());
        match chance.below(7) {
            0 => drop(out.drain(at..to)),
            1 => {
                let again = out[at..to].to_vec();
                out.splice(at..at, again);
            }
            2 => {
                let more = chance.bytes(3);
                out.splice(at..at, more);
            }
            3 | 4 => {
                let token = chance.pick(&TOKENS).bytes();
                out.splice(at..to, token);
            }
            5 => out.truncate(at),
            _ => {
                if let Some(byte) = out.get_mut(at) {
                    *byte ^= 1 << chance.below(8);
                }
            }
        }
    }
    out
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A gateway with two peers, an agent whose card is known, and another whose is not.
fn gateway(config: &str) -> Gateway {
    let mut gateway = Gateway::new(genesis(1, 0, 0), Config::from_json(config).unwrap());
    for (peer, version) in [(1, "2025-03-26"), (2, "2025-11-25")] {
        let peer = PeerId(peer);
        give(&mut gateway, 0, Input::Open { peer, scope: "one".to_owned() });
        let text = format!(r#"{{"jsonrpc":"2.0","id":"i","method":"initialize","params":{{"protocolVersion":"{version}"}}}}"#);
        give(&mut gateway, 0, Input::Message { peer, text });
    }
    for (alias, streaming) in [("a", true), ("b", false)] {
        let arguments =
            format!(r#"{{"alias":"{alias}","agent_url":"https://{alias}.test/","headers":{{"X-Key":"a-long-secret"}}}}"#);
        let outputs = give(&mut gateway, 0, call("c", "connect_agent", &arguments));
        let card = wire::card(narrows::a2a::Dialect::JsonRpc10, "/rpc", streaming, false, alias);
        answer(&mut gateway, 0, &outputs, "application/json", card.into_bytes());
    }
    gateway
}

fn call(id: &str, tool: &str, arguments: &str) -> Input {
    let params = format!(r#"{{"name":"{tool}","arguments":{arguments},"_meta":{{"progressToken":7}}}}"#);
    Input::Message {
        peer: PeerId(1),
        text: format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"tools/call","params":{params}}}"#),
    }
}

/// Gives an input; what comes of it is JSON on one line, whatever the input was.
fn give(gateway: &mut Gateway, now: u64, input: Input) -> Vec<Output> {
    let _ = gateway.handle_input(Instant::from_ms(now), input);
    let outputs: Vec<Output> = std::iter::from_fn(|| gateway.poll_output()).collect();
    for output in &outputs {
        assert!(wire::is_json(output.to_json().as_str()), "{output:?}");
        if let Output::Message { text, .. } = output {
            assert!(wire::is_json(text) && !text.contains('\n'), "{text}");
        }
    }
    outputs
}

/// Answers the first request among some outputs.
fn answer(gateway: &mut Gateway, now: u64, outputs: &[Output], kind: &str, bytes: Vec<u8>) -> Vec<Output> {
    let asked = outputs.iter().find_map(|output| match output {
        Output::Fetch { exchange, .. } => Some(*exchange),
        Output::Message { .. } | Output::Abort { .. } | Output::Save(_) | Output::Notice(_) => None,
        Output::ResponseHead { .. } | Output::ResponseBody { .. } | Output::ResponseEnd { .. } => None,
        Output::Work { .. } | Output::WorkAbort { .. } | Output::Link { .. } | Output::Tokens { .. } | Output::Lookup(_) => None,
    });
    let exchange = asked.expect("something was asked");
    let headers = vec![("content-type".to_owned(), kind.to_owned())];
    let inputs = [Input::Head { exchange, status: 200, headers }, Input::Body { exchange, bytes }, Input::End { exchange }];
    inputs.into_iter().flat_map(|input| give(gateway, now, input)).collect()
}

/// Lets time pass until nothing is due any more.
fn settle(gateway: &mut Gateway, mut now: u64) {
    while let Some(deadline) = gateway.poll_timeout() {
        now = now.max(deadline.at.as_ms());
        give(gateway, now, Input::Tick);
    }
}

/// Messages of every kind.
fn messages() -> Vec<String> {
    let calls = [
        (
            "connect_agent",
            r#"{"alias":"c","agent_url":"https://c.test","headers":{"A":"b"},"rate_limit_rps":1.5,"rate_limit_burst":2,"ping_endpoint":"/p"}"#,
        ),
        (
            "send_message",
            r#"{"agent":"a","parts":[{"text":"x"},{"data":{"n":[1e400,null]}},{"raw":"AAA="},{"url":"u"}],"metadata":{"k":1},"poll_timeout_seconds":1}"#,
        ),
        (
            "send_message",
            r#"{"agent":"https://u.test","message":"é\ud83d\ude42","async":true,"reference_task_ids":["t"],"history_length":1.0}"#,
        ),
        ("broadcast_message", r#"{"aliases":["a","b"],"message":"x","timeout_seconds":2}"#),
        ("get_task", r#"{"agent":"b","task_id":"../é?","history_length":0}"#),
        ("cancel_task", r#"{"agent":"b","task_id":"t"}"#),
        ("discover_agents", r#"{"directory_url":"https://d.test/x?y=1","filter":"f","limit":3,"cursor":"c"}"#),
        (
            "create_caller_card",
            r#"{"name":"n","description":"d","skills":[{"name":"s","tags":["t"]}],"capabilities":{"streaming":true}}"#,
        ),
        ("get_history", r#"{"agent":"a","limit":2}"#),
        ("read_inbox", r#"{"alias":"a","length":1,"latest":false}"#),
        ("ping_agent", r#"{"alias":"a"}"#),
        ("get_agent_card", r#"{"agent":"a"}"#),
        ("disconnect_agent", r#"{"alias":"c"}"#),
    ];
    let mut list: Vec<String> = Vec::new();
    for (tool, arguments) in calls {
        let Input::Message { text, .. } = call("x", tool, arguments) else { panic!() };
        list.push(text);
    }
    let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"debug"}"#;
    for method in ["server/discover", "tools/list", "subscriptions/listen", "resources/list", "prompts/list"] {
        list.push(format!(
            r#"{{"jsonrpc":"2.0","id":1.5,"method":"{method}","params":{{"notifications":{{}},"_meta":{meta}}}}}"#
        ));
    }
    list.push(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}]"#.to_owned());
    list.push(r#"{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"narrows://agents/a"}}"#.to_owned());
    list.push(r#"{"jsonrpc":"2.0","id":3,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"alias","value":""}}}"#.to_owned());
    list
}

#[test]
fn no_message_panics() {
    let messages = messages();
    for seed in seeds(300) {
        let mut chance = Chance::new(seed);
        let mut gateway = gateway("{}");
        for round in 0..60 {
            let message = chance.pick(&messages).clone();
            let bytes = if chance.one_in(8) { chance.bytes(40) } else { mutated(&mut chance, message.as_bytes()) };
            let peer = PeerId(chance.between(1, 2));
            give(&mut gateway, round * 10, Input::Message { peer, text: lossy(&bytes) });
            give(
                &mut gateway,
                round * 10,
                Input::MessageTooLong { peer, start: lossy(&bytes), end: lossy(&bytes), bytes: 1 << 40 },
            );
        }
        give(&mut gateway, 700, Input::Closed { peer: PeerId(2) });
        give(&mut gateway, 700, Input::Closed { peer: PeerId(1) });
        settle(&mut gateway, 700);
    }
}

/// What an agent would answer to a request.
fn proper(chance: &mut Chance, request: &narrows::io::Request) -> (Vec<u8>, &'static str) {
    let asked = wire::asked(request);
    let dialect = asked.dialect;
    let ids = ("task-1", Some("ctx"));
    let state = *chance.pick(&["working", "completed", "input-required"]);
    let task = wire::task(dialect, ids, state, "words", "artifact");
    let (name, value) = if chance.one_in(3) { ("message", wire::message(dialect, None, "hi")) } else { ("task", task.clone()) };
    match asked.ask {
        Ask::Card => (wire::card(dialect, "/rpc", chance.one_in(2), true, "n").into_bytes(), "application/json"),
        Ask::Send => (wire::enveloped(&asked, &wire::wrapped(dialect, name, &value)).into_bytes(), "application/json"),
        Ask::Get | Ask::Cancel => (wire::enveloped(&asked, &task).into_bytes(), "application/json"),
        Ask::Stream | Ask::Subscribe => {
            let events = [
                wire::wrapped(dialect, "task", &task),
                wire::status_event(dialect, ids, "working", "step", false),
                wire::artifact_event(dialect, ids, "chunk", true, false),
                wire::status_event(dialect, ids, "completed", "", true),
            ];
            let data = events.iter().map(|event| format!("data: {}\n\n", wire::enveloped(&asked, event)));
            (data.collect::<String>().into_bytes(), "text/event-stream")
        }
    }
}

#[test]
fn no_answer_of_an_agent_panics() {
    for seed in seeds(1200) {
        let mut chance = Chance::new(seed);
        let mut gateway = gateway("{}");
        let wishes =
            [call("x", "send_message", r#"{"agent":"a","message":"call-1"}"#), call("y", "get_agent_card", r#"{"agent":"b"}"#)];
        let mut asked: Vec<Output> = wishes.into_iter().flat_map(|wish| give(&mut gateway, 0, wish)).collect();
        for now in 1..30 {
            let Some(at) = asked.iter().position(|output| matches!(output, Output::Fetch { .. })) else { break };
            let Output::Fetch { exchange, request } = asked.remove(at) else { panic!() };
            let (bytes, kind) = proper(&mut chance, &request);
            let bytes = if chance.one_in(4) { bytes } else { mutated(&mut chance, &bytes) };
            let field = |chance: &mut Chance, text: &str| lossy(&mutated(chance, text.as_bytes()));
            let status = *chance.pick(&[200, 200, 200, 204, 307, 302, 401, 404, 429, 503, 999]);
            let mut headers = vec![("content-type".to_owned(), kind.to_owned())];
            if !chance.one_in(3) {
                headers.push(("Retry-After".to_owned(), field(&mut chance, "Sun, 29 Nov 2026 12:00:07 GMT")));
                headers.push(("Location".to_owned(), field(&mut chance, "https://a.test/x?y#z")));
                headers.push((field(&mut chance, "Link"), field(&mut chance, "<x>; rel=\"next\"")));
            }
            asked.extend(give(&mut gateway, now * 50, Input::Head { exchange, status, headers }));
            for piece in chance.cut(&bytes, 5) {
                asked.extend(give(&mut gateway, now * 50, Input::Body { exchange, bytes: piece }));
            }
            asked.extend(give(&mut gateway, now * 50, Input::End { exchange }));
            if gateway.poll_timeout().is_some_and(|deadline| deadline.at.as_ms() < 20_000) {
                asked.extend(give(&mut gateway, 20_000, Input::Tick));
            }
        }
        settle(&mut gateway, 20_000);
    }
}

#[test]
fn no_order_of_inputs_panics_and_a_misuse_changes_nothing() {
    for seed in seeds(250) {
        let mut chance = Chance::new(seed);
        let mut gateway = gateway(if chance.one_in(2) { "{}" } else { r#"{"directory":{"store":"list"}}"# });
        let messages = messages();
        for _ in 0..120 {
            let now = Instant::from_ms(chance.below(100_000));
            let input = any_input(&mut chance, &messages);
            let before = (gateway.snapshot(Secrets::Keep), gateway.poll_timeout());
            let is_misuse = gateway.handle_input(now, input.clone()).is_err();
            let said = std::iter::from_fn(|| gateway.poll_output()).count();
            if is_misuse {
                assert_eq!((gateway.snapshot(Secrets::Keep), gateway.poll_timeout(), said), (before.0, before.1, 0), "{input:?}");
            }
        }
    }
}

fn any_input(chance: &mut Chance, messages: &[String]) -> Input {
    let peer = PeerId(*chance.pick(&[0, 1, 2, 3, u64::MAX]));
    let exchange = ExchangeId(*chance.pick(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 1000, u64::MAX]));
    let request = RequestId(*chance.pick(&[0, 1, 2, 3, 4, 5, 6, 7, 8, u64::MAX]));
    match chance.below(22) {
        0 => Input::Open { peer, scope: chance.pick(&["one", "two", "é", &"x".repeat(257)]).to_string() },
        1..=3 => Input::Message { peer, text: chance.pick(messages).clone() },
        4 => Input::Closed { peer },
        5 => Input::Head {
            exchange,
            status: *chance.pick(&[0, 99, 100, 200, 308, 999, 1000]),
            headers: vec![("Location".into(), "/x".into())],
        },
        6 => {
            let length = chance.index(30);
            Input::Body { exchange, bytes: chance.bytes(length) }
        }
        7 => Input::End { exchange },
        8 => Input::Failed { exchange, cause: chance.pick(&Cause::NAMES).0, detail: "why".to_owned() },
        9..=12 => any_request(chance, request),
        13 | 14 => Input::RequestBody { request, bytes: chance.pick(messages).clone().into_bytes() },
        15 | 16 => Input::RequestEnd { request },
        17 => Input::RequestGone { request },
        18 if chance.one_in(20) => Input::Stop,
        18 if chance.one_in(4) => {
            let name = (*chance.pick(&["narrows", "other"])).to_owned();
            Input::Configure { config: Config { name, ..Config::default() }.into() }
        }
        19 => Input::Directory(any_directory_input(chance)),
        20 => Input::Pins(PinsInput::Pinned { pieces: vec![chance.pick(messages).clone()] }),
        21 if chance.one_in(2) => {
            Input::Pins(PinsInput::Accept { server: "s".into(), tool: chance.pick(messages).clone(), digest: "d".into() })
        }
        _ => Input::Tick,
    }
}

fn any_directory_input(chance: &mut Chance) -> DirectoryInput {
    let lookup = LookupId(*chance.pick(&[0, 1, 2, u64::MAX]));
    let text = (*chance.pick(&["", "[]", "{}", r#"{"name":"a","url":"https://a.test","skills":[]}"#])).to_owned();
    match chance.below(4) {
        0 => DirectoryInput::Register { card: text },
        1 => DirectoryInput::Unregister { name: (*chance.pick(&["", "a"])).to_owned() },
        2 => DirectoryInput::Found { lookup, text },
        _ => DirectoryInput::Failed { lookup, bad_cursor: chance.one_in(2), detail: text },
    }
}

fn any_request(chance: &mut Chance, request: RequestId) -> Input {
    let mut fields = vec![("Host", "localhost"), ("Content-Type", "application/json")];
    let field = *chance.pick(&[
        ("Accept", "text/html"),
        ("Mcp-Session-Id", "x"),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Last-Event-ID", "1-0"),
        ("Origin", "http://evil.test"),
        ("Content-Length", "99999999999"),
    ]);
    if chance.one_in(2) {
        fields.push(field);
    }
    let headers = fields.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let method = (*chance.pick(&["POST", "POST", "POST", "GET", "DELETE", "OPTIONS", "PUT", ""])).to_owned();
    let target =
        (*chance.pick(&["/mcp", "/mcp", "/mcp/", "/healthz", "/metrics", "/agents?limit=1", "/agents/a%ff", "/", "", "?"]))
            .to_owned();
    Input::Request { request, method, target, headers }
}

#[test]
fn no_text_of_the_border_panics() {
    let snapshot = gateway("{}").snapshot(Secrets::Keep);
    let input = Input::Head { exchange: ExchangeId(3), status: 200, headers: vec![("A".to_owned(), "b".to_owned())] }.to_json();
    let config = Config::default().to_json();
    for seed in seeds(8000) {
        let mut chance = Chance::new(seed);
        let _ = read_input(&lossy(&mutated(&mut chance, input.as_str().as_bytes())));
        let _ = Config::from_json(&lossy(&mutated(&mut chance, config.as_str().as_bytes())));
        let pieces: Vec<String> = snapshot.iter().map(|piece| lossy(&mutated(&mut chance, piece.as_bytes()))).collect();
        if let Ok(mut restored) = Gateway::restore(genesis(1, 0, 0), Config::default(), &pieces) {
            give(&mut restored, 1, Input::Open { peer: PeerId(9), scope: "one".to_owned() });
            let text = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_agents"}}"#.to_owned();
            assert!(!give(&mut restored, 1, Input::Message { peer: PeerId(9), text }).is_empty());
        }
    }
}

const MANY: usize = 20_000;

/// Arguments that are much too much of something.
fn too_much() -> Vec<(&'static str, String)> {
    let many = |item: &str| vec![item; MANY].join(",");
    let keys = (0..MANY).map(|key| format!("\"k{key}\":\"value-{key}\"")).collect::<Vec<_>>().join(",");
    let deep = format!("{}{}", "[".repeat(127), "]".repeat(127));
    vec![
        ("many parts", format!(r#"{{"agent":"b","parts":[{}]}}"#, many(r#"{"text":"x"}"#))),
        ("many wrong parts", format!(r#"{{"agent":"b","parts":[{}]}}"#, many("1"))),
        ("many aliases", format!(r#"{{"aliases":[{}],"message":"x"}}"#, many(r#""a""#))),
        ("many unknown keys", format!("{{{keys}}}")),
        ("many headers", format!(r#"{{"alias":"z","agent_url":"https://z.test","headers":{{{keys}}}}}"#)),
        ("many members of metadata", format!(r#"{{"agent":"b","message":"x","metadata":{{{keys}}}}}"#)),
        ("much too deep", format!(r#"{{"agent":"b","parts":[{{"data":{deep}}}]}}"#)),
        ("a long number", format!(r#"{{"agent":"b","message":"x","history_length":{}}}"#, "9".repeat(MANY))),
        ("a long fraction", format!(r#"{{"agent":"b","message":"x","poll_timeout_seconds":0.{}1}}"#, "0".repeat(MANY))),
        ("a huge exponent", r#"{"agent":"b","message":"x","poll_timeout_seconds":1e999999999999}"#.to_owned()),
        ("lone surrogates", format!(r#"{{"agent":"b","message":"{}"}}"#, "\\ud800".repeat(1000))),
        ("keys of the parser", r#"{"agent":"b","parts":[{"data":{"$serde_json::private::RawValue":"]"}}],"metadata":{"$serde_json::private::Number":"x"}}"#.to_owned()),
        ("a long agent", format!(r#"{{"agent":"https://{}/","message":"x"}}"#, "a".repeat(MANY))),
        ("a long alias", format!(r#"{{"alias":"{}","agent_url":"https://a.test"}}"#, "a".repeat(MANY))),
        ("a long task id", format!(r#"{{"agent":"b","task_id":{}}}"#, quoted(&"é/".repeat(MANY)))),
    ]
}

#[test]
fn too_much_of_anything_is_answered() {
    for (what, arguments) in too_much() {
        let mut gateway = gateway("{}");
        for tool in ["send_message", "connect_agent", "broadcast_message", "get_task", "create_caller_card"] {
            let outputs = give(&mut gateway, 0, call("big", tool, &arguments));
            let is_answered = outputs.iter().any(|output| matches!(output, Output::Message { .. } | Output::Fetch { .. }));
            assert!(is_answered, "{what} {tool}");
            settle(&mut gateway, 0);
        }
        assert!(gateway.snapshot(Secrets::Keep).iter().all(|piece| piece.len() < 1 << 20), "{what}");
    }
    let mut gateway = gateway("{}");
    let parts = vec![r#"{"text":"x"}"#; 5 * MANY].join(",");
    let outputs = give(&mut gateway, 0, call("big", "send_message", &format!(r#"{{"agent":"b","parts":[{parts}]}}"#)));
    assert!(matches!(&outputs[..], [Output::Fetch { request, .. }] if request.body.as_ref().unwrap().contains(&parts)));
    let batch = format!("[{}]", vec![r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#; MANY].join(","));
    assert_eq!(give(&mut gateway, 0, Input::Message { peer: PeerId(1), text: batch }).len(), MANY);
}

#[test]
fn an_id_that_looks_like_a_secret_goes_back_as_it_came() {
    let mut gateway = gateway("{}");
    let arguments = r#"{"alias":"c","agent_url":"https://c.test","headers":{"X-Pin":"12345678"}}"#;
    give(&mut gateway, 0, call("c", "connect_agent", arguments));
    for id in ["12345678", "\"a-long-secret\""] {
        for (method, words) in [("ping", "result"), ("tools/call", "error"), ("no/such", "error")] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#);
            let outputs = give(&mut gateway, 0, Input::Message { peer: PeerId(1), text });
            let [Output::Message { text, .. }] = &outputs[..] else { panic!("{outputs:?}") };
            assert_eq!(at(text, &["id"]).as_deref(), Some(id));
            assert!(at(text, &[words]).is_some());
        }
    }
}
