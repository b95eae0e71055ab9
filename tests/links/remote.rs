//! Servers at a URL.

use narrows::io::{Cause, ExchangeId, Input, Request};

use crate::world::{MODERN, World, at, string_at};

const URL: &str = "https://s.test/mcp";

fn config(kind: &str, more: &str) -> String {
    format!(r#"{{"mcp_servers":[{{"name":"s","transport":{{"type":"{kind}","url":"{URL}"}}{more}}}]}}"#)
}

fn field<'r>(request: &'r Request, name: &str) -> Option<&'r str> {
    request.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

fn body(request: &Request) -> &str {
    request.body.as_deref().unwrap_or_default()
}

const DISCOVERED: &str = r#""result":{"supportedVersions":["2026-07-28"],"capabilities":{},"resultType":"complete"}"#;
const INITIALIZED: &str =
    r#""result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#;
const TOOLS: &str = r#""result":{"tools":[{"name":"x","inputSchema":{"type":"object","properties":{"q":{"type":"string","x-mcp-header":"Query"}}}}]}"#;

/// Answers the next request, which has that method, with JSON.
fn reply(world: &mut World, method: &str, headers: &[(&str, &str)], outcome: &str) -> Request {
    let (exchange, request) = world.fetch();
    assert_eq!(string_at(body(&request), &["method"]).as_deref(), Some(method), "{request:?}");
    let id = at(body(&request), &["id"]).unwrap();
    world.reply(exchange, 200, headers, &format!(r#"{{"jsonrpc":"2.0","id":{id},{outcome}}}"#));
    request
}

fn refuse(world: &mut World, status: u16, text: &str) -> Request {
    let (exchange, request) = world.fetch();
    world.reply(exchange, status, &[], text);
    request
}

fn accepted(world: &mut World) -> Request {
    let (exchange, request) = world.fetch();
    world.reply(exchange, 202, &[], "");
    request
}

/// A server with handshakes and sessions, until it is ready.
fn legacy(config: &str) -> World {
    let mut world = World::shaken(config);
    refuse(&mut world, 400, r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Server not initialized"},"id":null}"#);
    reply(&mut world, "initialize", &[("Mcp-Session-Id", "one")], INITIALIZED);
    accepted(&mut world);
    let stream = refuse(&mut world, 405, "");
    assert_eq!((stream.method.name(), field(&stream, "Mcp-Session-Id")), ("GET", Some("one")));
    reply(&mut world, "tools/list", &[], TOOLS);
    world.said.clear();
    world
}

#[test]
fn a_server_without_handshakes_gets_all_that_it_asks_for_in_header_fields() {
    let mut world = World::shaken(&config("http", r#","headers":["Authorization: Bearer hunter2hunter2"]"#));
    let probe = reply(&mut world, "server/discover", &[], DISCOVERED);
    for (name, value) in [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "server/discover"),
        ("Accept", "application/json, text/event-stream"),
        ("Authorization", "Bearer hunter2hunter2"),
    ] {
        assert_eq!(field(&probe, name), Some(value), "{probe:?}");
    }
    reply(&mut world, "tools/list", &[], TOOLS);
    let (listening, _) = world.fetch();
    world.call(1, "mcp_s_x", r#","arguments":{"q":"né"}"#);
    let (exchange, call) = world.fetch();
    assert_eq!((field(&call, "Mcp-Name"), field(&call, "Mcp-Param-Query")), (Some("x"), Some("=?base64?bsOp?=")));
    assert_eq!(field(&call, "Mcp-Session-Id"), None);
    let id = at(body(&call), &["id"]).unwrap();
    world.events(exchange, &[], &format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[]}}}}\n\n"));
    assert!(world.answered(1).contains(r#""content":[]"#));
    // A change is told on a stream of its own, and read.
    world.advance(1000);
    world.events(listening, &[], "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n");
    reply(&mut world, "tools/list", &[], TOOLS);
}

/// A list of 700 KB comes while a call is answered with 110 KB: both together would be more than one user may hold.
#[test]
fn what_a_server_is_asked_for_everybody_counts_for_nobody() {
    let limits = r#"{"limits":{"held_bytes":900000},"#;
    let mut world = World::shaken(&config("http", "").replacen('{', limits, 1));
    reply(&mut world, "server/discover", &[], DISCOVERED);
    reply(&mut world, "tools/list", &[], TOOLS);
    let (listening, _) = world.fetch();
    world.events(listening, &[], "");
    world.advance(1000);
    world.call(1, "mcp_s_x", "");
    let (called, call) = world.fetch();
    world.more(listening, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n");
    let (listed, _) = world.fetch();
    world.events(listed, &[], &format!("data: {}", "x".repeat(700_000)));
    let (id, words) = (at(body(&call), &["id"]).unwrap(), "y".repeat(110_000));
    world.reply(
        called,
        200,
        &[],
        &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{words}"}}]}}}}"#),
    );
    assert!(world.answered(1).contains("yyy"));
}

#[test]
fn a_cancelled_call_is_cut_where_there_are_no_handshakes_and_told_where_there_are() {
    let mut world = World::shaken(&config("http", ""));
    reply(&mut world, "server/discover", &[], DISCOVERED);
    reply(&mut world, "tools/list", &[], TOOLS);
    world.fetch();
    world.call(1, "mcp_s_x", "");
    let (exchange, _) = world.fetch();
    world.say(1, r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    assert_eq!((world.aborted.last(), world.fetches.len()), (Some(&exchange), 0));
    let mut world = legacy(&config("http", ""));
    world.call(1, "mcp_s_x", "");
    let (exchange, _) = world.fetch();
    world.say(1, r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    assert_eq!(world.aborted.last(), Some(&exchange));
    assert_eq!(string_at(body(&accepted(&mut world)), &["method"]).as_deref(), Some("notifications/cancelled"));
}

#[test]
fn a_session_is_named_with_its_version_from_the_handshake_on() {
    versions_of_a_session("2025-06-18");
}

/// The handshake names no version, and what comes after it the one that was agreed on.
pub fn versions_of_a_session(version: &str) {
    let mut world = World::shaken(&config("http", ""));
    refuse(&mut world, 404, "not here");
    let initialize = reply(&mut world, "initialize", &[("mcp-session-id", "one")], &INITIALIZED.replace("2025-06-18", version));
    assert!(field(&initialize, "MCP-Protocol-Version").is_none() && field(&initialize, "Mcp-Session-Id").is_none());
    let initialized = accepted(&mut world);
    assert_eq!(
        (field(&initialized, "MCP-Protocol-Version"), field(&initialized, "Mcp-Session-Id")),
        (Some(version), Some("one"))
    );
}

#[test]
fn a_server_that_wants_its_version_at_once_gets_it() {
    version_at_once("No valid session ID provided");
}

/// A handshake that is refused is tried once more with the version in a header field.
pub fn version_at_once(words: &str) {
    let mut world = World::shaken(&config("http", ""));
    refuse(&mut world, 400, "");
    refuse(&mut world, 400, words);
    let initialize = reply(&mut world, "initialize", &[], INITIALIZED);
    assert_eq!(field(&initialize, "MCP-Protocol-Version"), Some("2025-11-25"));
}

#[test]
fn credentials_and_trouble_say_nothing_of_eras() {
    for (status, words) in [(401, "credentials"), (403, "credentials"), (500, "HTTP 500"), (503, "HTTP 503")] {
        let mut world = World::shaken(&config("http", r#","headers":["Authorization: Bearer hunter2hunter2"]"#));
        refuse(&mut world, status, "");
        assert!(world.fetches.is_empty(), "{status}");
        let (event, fields) = world.notices.last().unwrap();
        assert!(event == "link_lost" && fields.contains(words), "{fields}");
    }
    let mut world = World::shaken(&config("http", ""));
    let (exchange, _) = world.fetch();
    world.input(Input::Failed { exchange, cause: Cause::Refused, detail: "ECONNREFUSED".into() });
    assert!(world.notices.last().unwrap().1.contains("ECONNREFUSED"));
    world.advance(2000);
    reply(&mut world, "server/discover", &[], DISCOVERED);
}

#[test]
fn calls_whose_session_is_over_are_made_once_more_in_one_new_session() {
    for status in [404, 400] {
        session_over(3, status, "Session not found");
        for id in ["null", r#""server-error""#, "12345"] {
            let words = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32001,"message":"Session not found"}}}}"#);
            session_over(2, status, &words);
        }
    }
}

#[test]
fn a_session_is_over_whatever_the_answer_is_to() {
    let mut world = legacy(&config("http", ""));
    world.call(1, "mcp_s_x", "");
    let (exchange, call) = world.fetch();
    let id = at(body(&call), &["id"]).unwrap();
    world.reply(exchange, 404, &[], &format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32600,"message":"gone"}}}}"#));
    reply(&mut world, "initialize", &[("Mcp-Session-Id", "two")], INITIALIZED);
    // What is wrong with one request says nothing of its session, be it told by HTTP.
    let mut world = legacy(&config("http", ""));
    for (number, status) in [(1, 404), (2, 400)] {
        world.call(number, "mcp_s_x", "");
        let (exchange, call) = world.fetch();
        let id = at(body(&call), &["id"]).unwrap();
        for id in [id.as_str(), r#""server-error""#].into_iter().skip(usize::from(status == 400)).take(1) {
            let words = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32602,"message":"no such document"}}}}"#);
            world.reply(exchange, status, &[], &words);
        }
        assert!(world.answered(number).contains("no such document"));
        assert!(world.fetches.is_empty());
    }
}

/// Calls of one session that is over, in those words: one new session, and each of them once more in it.
pub fn session_over(calls: u64, status: u16, words: &str) {
    let mut world = legacy(&config("http", ""));
    let last = calls;
    let calls: Vec<_> = (1..=last)
        .map(|id| {
            world.call(id, "mcp_s_x", "");
            world.fetch().0
        })
        .collect();
    for exchange in calls {
        world.reply(exchange, status, &[], words);
    }
    reply(&mut world, "initialize", &[("Mcp-Session-Id", "two")], INITIALIZED);
    accepted(&mut world);
    refuse(&mut world, 405, "");
    reply(&mut world, "tools/list", &[], TOOLS);
    for id in 1..=last {
        let request = reply(&mut world, "tools/call", &[], r#""result":{"content":[]}"#);
        assert_eq!(field(&request, "Mcp-Session-Id"), Some("two"));
        world.answered(id);
    }
    // Not a third time.
    world.call(99, "mcp_s_x", "");
    refuse(&mut world, status, "");
    reply(&mut world, "initialize", &[("Mcp-Session-Id", "three")], INITIALIZED);
    accepted(&mut world);
    refuse(&mut world, 405, "");
    reply(&mut world, "tools/list", &[], TOOLS);
    refuse(&mut world, status, "");
    assert_eq!(world.error(99).0, "unreachable");
    // The next call has a session all the same.
    world.call(100, "mcp_s_x", "");
    reply(&mut world, "initialize", &[("Mcp-Session-Id", "four")], INITIALIZED);
    accepted(&mut world);
    refuse(&mut world, 405, "");
    reply(&mut world, "tools/list", &[], TOOLS);
    let request = reply(&mut world, "tools/call", &[], r#""result":{"content":[]}"#);
    assert_eq!(field(&request, "Mcp-Session-Id"), Some("four"));
    world.answered(100);
}

/// A request that comes to nothing is an error of its call.
pub fn call_that_fails(detail: &str) {
    let mut world = legacy(&config("http", ""));
    world.call(1, "mcp_s_x", "");
    let (exchange, _) = world.fetch();
    world.input(Input::Failed { exchange, cause: Cause::Reset, detail: detail.to_owned() });
    let (code, words) = world.error(1);
    assert!(code == "unreachable" && words.contains(detail), "{words}");
}

/// What a request is and what it is about stand in its header fields as in its body.
pub fn names_in_header_fields() {
    let mut world = World::shaken(&config("http", ""));
    reply(&mut world, "server/discover", &[], DISCOVERED);
    reply(&mut world, "tools/list", &[], TOOLS);
    world.fetch();
    world.call(1, "mcp_s_x", "");
    let call = reply(&mut world, "tools/call", &[], r#""result":{"content":[]}"#);
    assert_eq!(field(&call, "Mcp-Method").map(String::from), string_at(body(&call), &["method"]));
    assert_eq!(field(&call, "Mcp-Name").map(String::from), string_at(body(&call), &["params", "name"]));
}

#[test]
fn a_stream_that_breaks_is_taken_up_where_it_was() {
    let mut world = legacy(&config("http", ""));
    world.call(1, "mcp_s_x", "");
    let (exchange, call) = world.fetch();
    let id = at(body(&call), &["id"]).unwrap();
    world.events(exchange, &[], "id: e-1\nretry: 500\ndata:\n\n");
    world.input(Input::End { exchange });
    world.advance(499);
    assert!(world.fetches.is_empty());
    world.advance(1);
    let (exchange, again) = world.fetch();
    assert_eq!((again.method.name(), field(&again, "Last-Event-ID")), ("GET", Some("e-1")));
    world.events(exchange, &[], &format!("id: e-2\ndata: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[]}}}}\n\n"));
    world.answered(1);
    // Without an id there is nothing to go on from.
    world.call(2, "mcp_s_x", "");
    let (exchange, _) = world.fetch();
    world.events(exchange, &[], ": hello\n\n");
    world.input(Input::Failed { exchange, cause: Cause::Reset, detail: String::new() });
    assert_eq!(world.error(2).0, "unreachable");
}

#[test]
fn an_answer_that_is_none_is_an_error_of_its_call_alone() {
    let mut world = legacy(&config("http", ""));
    let other = r#"{"jsonrpc":"2.0","id":99999,"result":{"content":[]}}"#;
    for (id, status, text) in
        [(1, 202, ""), (2, 500, "oops"), (3, 200, ""), (5, 200, "<html>"), (6, 200, "{\"id"), (7, 200, other)]
    {
        world.call(id, "mcp_s_x", "");
        refuse(&mut world, status, text);
        assert_eq!(world.error(id).0, "unreachable", "{status}");
    }
    world.call(4, "mcp_s_x", "");
    let (exchange, call) = world.fetch();
    let number = at(body(&call), &["id"]).unwrap();
    let refusal = format!(r#"{{"jsonrpc":"2.0","id":{number},"error":{{"code":-32602,"message":"no"}}}}"#);
    world.reply(exchange, 400, &[], &refusal);
    assert!(world.answered(4).contains("-32602"));
    world.call(8, "mcp_s_x", "");
    refuse(&mut world, 200, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not like that"}}"#);
    assert!(world.answered(8).contains("not like that"));
}

/// A server that says unasked what changes, until it is ready, and that stream.
fn standing() -> (World, ExchangeId) {
    let mut world = World::shaken(&config("http", ""));
    refuse(&mut world, 400, "");
    let listed = INITIALIZED.replace(r#""capabilities":{}"#, r#""capabilities":{"tools":{"listChanged":true}}"#);
    reply(&mut world, "initialize", &[("Mcp-Session-Id", "one")], &listed);
    accepted(&mut world);
    let (stream, get) = world.fetch();
    assert_eq!(get.method.name(), "GET");
    reply(&mut world, "tools/list", &[], TOOLS);
    world.events(stream, &[], ": hello\n\n");
    (world, stream)
}

#[test]
fn what_is_said_unasked_is_heard_again_after_every_break() {
    standing_again(&[502, 502]);
    standing_again(&[]);
    standing_again(&[503, 400, 429, 500, 502, 504, 401]);
}

/// A stream that breaks and cannot be had for a while: asked for after 1 s, 2 s and so on, and then live.
pub fn standing_again(refusals: &[u16]) {
    let (mut world, stream) = standing();
    world.input(Input::End { exchange: stream });
    let mut wait_ms = 1000;
    for status in refusals {
        world.advance(wait_ms - 1);
        assert!(world.fetches.is_empty(), "{status}");
        world.advance(1 + wait_ms / 4);
        let get = refuse(&mut world, *status, "");
        assert_eq!(get.method.name(), "GET");
        reply(&mut world, "tools/list", &[], TOOLS);
        wait_ms = (wait_ms * 2).min(64_000);
    }
    world.advance(wait_ms + wait_ms / 4);
    let (stream, get) = world.fetch();
    assert_eq!((get.method.name(), field(&get, "Last-Event-ID")), ("GET", None));
    // What changed meanwhile was told to nobody.
    reply(&mut world, "tools/list", &[], TOOLS);
    world.advance(2000);
    world.events(stream, &[], "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n");
    reply(&mut world, "tools/list", &[], &TOOLS.replace(r#""name":"x""#, r#""name":"y""#));
    assert_eq!(world.offered(), ["mcp_s_y"]);
}

#[test]
fn no_server_sets_a_pace_that_nobody_can_keep() {
    for (retry, least, most) in [("0", 1, 12), ("18446744073709551615", 0, 1)] {
        let (mut world, stream) = standing();
        let event = format!("retry: {retry}\ndata: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}}\n\n");
        world.more(stream, &event);
        world.input(Input::End { exchange: stream });
        let mut asked = 0;
        for _ in 0..200 {
            world.advance(100);
            while let Some((exchange, request)) = world.fetches.pop_front() {
                if request.method.name() == "GET" {
                    asked += 1;
                    world.events(exchange, &[], &event);
                    world.input(Input::End { exchange });
                }
            }
        }
        assert!((least..=most).contains(&asked), "{retry}: {asked}");
    }
}

#[test]
fn a_server_that_gives_its_stream_once_for_each_session_is_not_given_sessions_without_end() {
    let (mut world, mut stream) = standing();
    let mut sessions = 0;
    for _ in 0..60 {
        world.input(Input::End { exchange: stream });
        world.advance(1250);
        let mut is_first = false;
        while let Some((exchange, request)) = world.fetches.pop_front() {
            let id = at(body(&request), &["id"]);
            match string_at(body(&request), &["method"]).as_deref() {
                Some("initialize") => {
                    (sessions, is_first) = (sessions + 1, true);
                    let answer = format!(r#"{{"jsonrpc":"2.0","id":{},{INITIALIZED}}}"#, id.unwrap());
                    world.reply(exchange, 200, &[("Mcp-Session-Id", &format!("s{sessions}"))], &answer);
                }
                Some("tools/list") => {
                    world.reply(exchange, 200, &[], &format!(r#"{{"jsonrpc":"2.0","id":{},{TOOLS}}}"#, id.unwrap()));
                }
                Some(_) => world.reply(exchange, 202, &[], ""),
                None if std::mem::take(&mut is_first) => {
                    stream = exchange;
                    world.events(exchange, &[], ": hello\n\n");
                }
                None => world.reply(exchange, 404, &[], ""),
            }
        }
        if world.fetches.is_empty() && sessions == 0 {
            break;
        }
    }
    assert!((1..=2).contains(&sessions), "{sessions} in 75 s");
}

#[test]
fn changes_are_listened_for_again_after_every_end() {
    let mut world = World::shaken(&config("http", ""));
    reply(&mut world, "server/discover", &[], DISCOVERED);
    reply(&mut world, "tools/list", &[], TOOLS);
    let (listening, request) = world.fetch();
    let id = at(body(&request), &["id"]).unwrap();
    let listens = |request: &Request| string_at(body(request), &["method"]).as_deref() == Some("subscriptions/listen");
    // Ended in order, cut, refused for now: each time it is asked for once more, and the list with it.
    world.events(listening, &[], &format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n\n"));
    let mut wait_ms = 1000;
    for round in 0..4 {
        world.advance(wait_ms - 1);
        assert!(world.fetches.is_empty(), "{round}");
        world.advance(1 + wait_ms / 4);
        let (exchange, request) = world.fetch();
        assert!(listens(&request), "{request:?}");
        reply(&mut world, "tools/list", &[], TOOLS);
        match round {
            0 => world.input(Input::Failed { exchange, cause: Cause::Reset, detail: String::new() }),
            1 => world.reply(exchange, 502, &[], ""),
            2 => world.reply(exchange, 400, &[], ""),
            _ => world.reply(exchange, 404, &[], r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no"}}"#),
        }
        wait_ms *= 2;
    }
    world.advance(600_000);
    assert!(world.fetches.is_empty(), "it is not offered any more");
}

#[test]
fn what_is_not_offered_is_not_asked_for_again_and_a_session_that_is_over_is_begun_anew() {
    for status in [405, 501] {
        let (mut world, stream) = standing();
        world.input(Input::End { exchange: stream });
        world.advance(1250);
        refuse(&mut world, status, "");
        reply(&mut world, "tools/list", &[], TOOLS);
        world.advance(600_000);
        assert!(world.fetches.is_empty(), "{status}");
    }
    let (mut world, stream) = standing();
    world.input(Input::End { exchange: stream });
    world.advance(1250);
    refuse(&mut world, 404, "");
    refuse(&mut world, 404, "");
    reply(&mut world, "initialize", &[("Mcp-Session-Id", "two")], INITIALIZED);
}

/// A server whose answers come on one stream.
fn events(world: &mut World) -> ExchangeId {
    let (stream, get) = world.fetch();
    assert_eq!((get.method.name(), field(&get, "Accept")), ("GET", Some("text/event-stream")));
    world.events(stream, &[], "event: endpoint\ndata: /message?session=1\n\n");
    for outcome in [INITIALIZED, "", TOOLS] {
        let (exchange, request) = world.fetch();
        assert_eq!(request.url, "https://s.test/message?session=1");
        world.reply(exchange, 202, &[], "Accepted");
        if let Some(id) = at(body(&request), &["id"]) {
            world.more(stream, &format!("event: message\ndata: {{\"jsonrpc\":\"2.0\",\"id\":{id},{outcome}}}\n\n"));
        }
    }
    stream
}

#[test]
fn the_oldest_transport_has_one_stream_for_all_answers() {
    let mut world = World::shaken(&config("sse", ""));
    let stream = events(&mut world);
    assert_eq!(world.offered(), ["mcp_s_x"]);
    world.call(1, "mcp_s_x", "");
    let call = accepted(&mut world);
    let id = at(body(&call), &["id"]).unwrap();
    world.more(stream, &format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[]}}}}\n\n"));
    world.answered(1);
    world.call(2, "mcp_s_x", "");
    world.input(Input::End { exchange: stream });
    assert_eq!(world.error(2).0, "unreachable");
    world.advance(2000);
    assert!(world.fetches.iter().any(|(_, request)| request.method.name() == "GET"));
}

#[test]
fn a_server_that_forgot_who_listens_to_its_one_stream_is_connected_anew() {
    for status in [404, 400] {
        let mut world = World::shaken(&config("sse", ""));
        events(&mut world);
        world.call(1, "mcp_s_x", "");
        refuse(&mut world, status, "Could not find session");
        assert!(world.error(1).1.contains("its session is over"), "{status}");
        world.advance(2000);
        events(&mut world);
        assert_eq!(world.offered(), ["mcp_s_x"]);
    }
}

#[test]
fn a_server_that_knows_nothing_newer_is_found_out() {
    let mut world = World::shaken(&config("http", ""));
    refuse(&mut world, 404, "");
    refuse(&mut world, 405, "");
    events(&mut world);
    assert_eq!(world.offered(), ["mcp_s_x"]);
}

#[test]
fn an_endpoint_elsewhere_is_not_believed() {
    let mut world = World::shaken(&config("sse", ""));
    let (stream, _) = world.fetch();
    world.events(stream, &[], "event: endpoint\ndata: https://evil.test/message\n\n");
    assert!(world.fetches.is_empty());
    assert!(world.notices.last().unwrap().1.contains("another origin"));
}

#[test]
fn addresses_that_are_not_called_are_told() {
    let config = r#"{"network":{"allow_private":false},"mcp_servers":[{"name":"s","transport":{"type":"http","url":"http://10.0.0.1/mcp"}}]}"#;
    let world = World::shaken(config);
    assert!(world.fetches.is_empty());
    assert!(world.notices.iter().any(|(event, fields)| event == "link_lost" && fields.contains("private address")));
}

#[test]
fn a_modern_caller_is_served_by_a_server_with_handshakes() {
    let mut world = legacy(&config("http", ""));
    world.call(1, "mcp_s_x", &format!(r#","_meta":{{{MODERN}}}"#));
    let call = reply(&mut world, "tools/call", &[], r#""result":{"content":[]}"#);
    assert_eq!(at(body(&call), &["params"]).unwrap(), r#"{"name":"x","arguments":{}}"#);
    assert!(world.answered(1).contains(r#""resultType":"complete""#));
}
