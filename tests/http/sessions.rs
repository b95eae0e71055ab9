//! The era with a handshake (MCP 2024-11-05 to 2025-11-25): sessions, versions, batches.

use narrows::io::{Input, LinkEvent, LinkId};

use super::world::{CONNECT, LEGACY, LIST_AGENTS, SEND, SEND_WITH_PROGRESS, World, initialize, rpc};

#[test]
fn a_session_begins_is_found_and_ends() {
    let mut world = World::new("{}");
    let session = world.session(LEGACY, &[]);
    assert!(session.bytes().all(|byte| byte.is_ascii_graphic()));
    let response = world.answer(&[], &rpc("1", "tools/list", "{}"));
    assert!(response.status == 400 && response.body.contains(r#""id":1"#), "{response:?}");
    assert_eq!(world.answer(&[("Mcp-Session-Id", "other")], &rpc("1", "tools/list", "{}")).status, 404);
    let request = world.legacy(&session, "1", "tools/list", "{}");
    let response = world.done(request);
    assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
    assert_eq!(response.header("mcp-session-id"), None);
    for part in ["resultType", "ttlMs", "cacheScope", "serverInfo"] {
        assert!(!response.body.contains(part), "{part}");
    }
    let named = [("Mcp-Session-Id", session.as_str())];
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let response = world.answer(&named, initialized);
    assert_eq!((response.status, response.body.as_str()), (202, ""));
    assert_eq!(world.answer(&named, r#"{"jsonrpc":"2.0","id":4,"result":{}}"#).status, 202);
    assert_eq!(world.answer(&[], initialized).status, 400);
    let request = world.head("DELETE", "/mcp", &named);
    let response = world.done(request);
    assert_eq!((response.status, response.body.as_str()), (204, ""));
    assert_eq!(world.answer(&named, initialized).status, 404);
    let request = world.head("DELETE", "/mcp", &named);
    assert_eq!(world.done(request).status, 404);
    let request = world.legacy(&session, "1", "tools/list", "{}");
    assert_eq!(world.done(request).status, 404);
    let request = world.head("GET", "/mcp", &named);
    assert_eq!(world.done(request).status, 404);
}

#[test]
fn the_version_asked_for_is_spoken_where_it_is_known() {
    let mut world = World::new("{}");
    for (asked, spoken) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
        ("zzz", "2025-11-25"),
    ] {
        for fields in [&[][..], &[("MCP-Protocol-Version", asked)]] {
            let response = world.answer(fields, &initialize(asked));
            assert_eq!(response.status, 200, "{asked}: {}", response.body);
            assert!(response.body.contains(&format!(r#""protocolVersion":"{spoken}""#)), "{asked}: {}", response.body);
        }
    }
    let session = world.session("2024-11-05", &[]);
    let mut status = |version: &str| {
        let fields = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", version)];
        world.answer(&fields, &rpc("1", "ping", "{}")).status
    };
    assert_eq!(status("2024-11-05"), 200);
    assert_eq!(status("2025-11-25"), 200);
    assert_eq!(status("1999-01-01"), 400);
}

#[test]
fn methods_that_the_modern_era_removed_are_served() {
    let mut world = World::new("{}");
    let session = world.session(LEGACY, &[]);
    for (method, params) in [("ping", "{}"), ("logging/setLevel", r#"{"level":"info"}"#)] {
        let request = world.legacy(&session, "1", method, params);
        assert!(world.done(request).body.ends_with(r#""result":{}}"#), "{method}: {}", world.body(request));
    }
    let request = world.legacy(&session, "1", "nothing", "{}");
    let response = world.done(request);
    assert!(response.status == 200 && response.body.contains("-32601"), "{response:?}");
}

#[test]
fn a_handshake_that_fails_leaves_no_session() {
    let mut world = World::new(r#"{"limits":{"sessions":1}}"#);
    let response = world.answer(&[], &rpc("0", "initialize", "[]"));
    assert!(response.status == 400 && response.header("mcp-session-id").is_none(), "{response:?}");
    world.session(LEGACY, &[]);
}

#[test]
fn another_principals_session_is_as_unknown_as_none() {
    let tokens = r#"{"auth":{"tokens":[{"token":"alpha-token","principal":"a"},{"token":"beta-token-2","principal":"b"}]}}"#;
    let mut world = World::new(tokens);
    let (a, b) = (("Authorization", "Bearer alpha-token"), ("Authorization", "Bearer beta-token-2"));
    let session = world.session(LEGACY, &[a]);
    let named = ("Mcp-Session-Id", session.as_str());
    for method in ["GET", "DELETE"] {
        let request = world.head(method, "/mcp", &[named, b]);
        let unknown = world.head(method, "/mcp", &[("Mcp-Session-Id", "none"), b]);
        let (response, unknown) = (world.done(request), world.done(unknown));
        assert_eq!((response.status, response.body), (404, unknown.body), "{method}");
    }
    assert_eq!(world.answer(&[named, b], &rpc("1", "ping", "{}")).status, 404);
    assert_eq!(world.answer(&[named, a], &rpc("1", "ping", "{}")).status, 200);
}

#[test]
fn sessions_with_the_same_ids_share_nothing() {
    let mut world = World::new("{}");
    let (one, two) = (world.session(LEGACY, &[]), world.session(LEGACY, &[]));
    world.connect(|world| world.legacy(&one, "1", "tools/call", CONNECT));
    let request = world.legacy(&two, "1", "tools/call", LIST_AGENTS);
    assert!(!world.done(request).body.contains("agent.test"));
    world.connect(|world| world.legacy(&two, "1", "tools/call", CONNECT));
    let card = r#"{"name":"create_caller_card","arguments":{"name":"Caller","description":"d"}}"#;
    let request = world.legacy(&one, "1", "tools/call", card);
    assert!(world.done(request).body.contains(r#""replaced":false"#), "{}", world.body(request));

    let (first, second) =
        (world.legacy(&one, "7", "tools/call", SEND), world.legacy(&two, "7", "tools/call", SEND_WITH_PROGRESS));
    let of_two = world.fetches.last().unwrap().1.body.clone().unwrap();
    let of_one = world.fetches[world.fetches.len() - 2].1.body.clone().unwrap();
    assert!(of_one.contains("Caller") && !of_two.contains("Caller"), "the card of one is not shown by two");
    let stream_two = world.begin_stream();
    let stream_one = world.begin_stream();
    world.work(&stream_two, "for two");
    world.work(&stream_one, "for one");
    world.complete(&stream_one);
    let response = world.done(first);
    assert!(!response.is_stream() && response.body.contains(r#""id":7"#) && !response.body.contains("for two"));
    assert!(!world.responses.get(&second).unwrap().ended);
    world.complete(&stream_two);
    let response = world.done(second);
    assert!(response.is_stream() && response.body.contains("for two") && !response.body.contains("for one"));
}

#[test]
fn an_id_that_is_still_running_is_not_taken_again() {
    let mut world = World::new("{}");
    let session = world.session(LEGACY, &[]);
    world.connect(|world| world.legacy(&session, "1", "tools/call", CONNECT));
    let first = world.legacy(&session, "7", "tools/call", SEND);
    let stream = world.begin_stream();
    let again = world.legacy(&session, "7", "ping", "{}");
    let response = world.done(again);
    assert!(response.status == 400 && response.body.contains(r#""id":7,"error":{"code":-32600"#), "{response:?}");
    world.complete(&stream);
    assert!(world.done(first).body.contains(r#""id":7,"result""#));
}

#[test]
fn a_cancelled_request_ends_without_an_answer() {
    let mut world = World::new("{}");
    let session = world.session(LEGACY, &[]);
    world.connect(|world| world.legacy(&session, "1", "tools/call", CONNECT));
    for params in [SEND, SEND_WITH_PROGRESS] {
        let request = world.legacy(&session, "7", "tools/call", params);
        let stream = world.begin_stream();
        world.work(&stream, "thinking");
        let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
        assert_eq!(world.answer(&[("Mcp-Session-Id", &session)], cancel).status, 202);
        let response = world.done(request);
        assert!(response.is_stream() && !response.body.contains("result"), "{response:?}");
        assert_eq!(world.aborts.pop(), Some(stream.exchange));
        assert!(world.fetches.pop().unwrap().1.body.unwrap().contains("CancelTask"));
        assert_eq!(world.answer(&[("Mcp-Session-Id", &session)], cancel).status, 202, "twice is nobody's loss");
    }
}

#[test]
fn the_end_of_a_session_ends_what_runs_in_it() {
    let mut world = World::new("{}");
    let session = world.session(LEGACY, &[]);
    world.connect(|world| world.legacy(&session, "1", "tools/call", CONNECT));
    let request = world.legacy(&session, "7", "tools/call", SEND);
    let stream = world.begin_stream();
    let listening = world.head("GET", "/mcp", &[("Mcp-Session-Id", &session), ("Accept", "text/event-stream")]);
    let ending = world.head("DELETE", "/mcp", &[("Mcp-Session-Id", &session)]);
    assert_eq!(world.done(ending).status, 204);
    assert_eq!(world.done(request).status, 404);
    assert!(world.done(listening).is_stream());
    assert_eq!(world.aborts, [stream.exchange]);
    assert!(world.gateway.poll_timeout().is_none());
}

#[test]
fn batches_are_taken_in_one_version_only() {
    let mut world = World::new("{}");
    let batch = format!(
        r#"[{},{{"jsonrpc":"2.0","method":"notifications/initialized"}},7,{}]"#,
        rpc("1", "ping", "{}"),
        rpc(r#""b""#, "ping", "{}")
    );
    for version in ["2024-11-05", "2025-06-18", LEGACY] {
        let session = world.session(version, &[]);
        assert_eq!(world.answer(&[("Mcp-Session-Id", &session)], &batch).status, 400, "{version}");
    }
    let session = world.session("2025-03-26", &[]);
    let named = [("Mcp-Session-Id", session.as_str())];
    let response = world.answer(&named, &batch);
    assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
    assert!(response.body.starts_with(r#"[{"jsonrpc":"2.0","id":null,"error":{"code":-32600"#), "{}", response.body);
    assert!(response.body.contains(r#"{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":"b","result":{}}]"#));
    assert!(world.answer(&named, &format!("[{}]", rpc("1", "ping", "{}"))).body.starts_with('['));
    assert_eq!(world.answer(&named, r#"[{"jsonrpc":"2.0","method":"notifications/initialized"}]"#).status, 202);
    assert_eq!(world.answer(&named, "[]").status, 400);
    let twice = format!("[{0},{0}]", rpc("1", "ping", "{}"));
    assert_eq!(world.answer(&named, &twice).status, 400);
    world.connect(|world| world.legacy(&session, "1", "tools/call", CONNECT));
    let mixed = format!("[{},{}]", rpc("5", "ping", "{}"), rpc("6", "tools/call", SEND_WITH_PROGRESS));
    let request = world.post(&named, &mixed);
    let stream = world.begin_stream();
    world.work(&stream, "thinking");
    world.complete(&stream);
    let response = world.done(request);
    assert!(response.is_stream(), "{response:?}");
    let (ping, progress) = (response.body.find(r#""id":5"#), response.body.find("notifications/progress"));
    assert!(ping.is_some() && ping < progress && progress < response.body.find(r#""id":6"#), "{}", response.body);
}

#[test]
fn changes_of_the_tools_are_told_where_nothing_is_waited_for() {
    let mut world = World::new(r#"{"mcp_servers":[{"name":"s","transport":{"type":"stdio","command":"s"}}]}"#);
    let session = world.session(LEGACY, &[]);
    let listening = world.head("GET", "/mcp", &[("Mcp-Session-Id", &session), ("Accept", "text/event-stream")]);
    let meta = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;
    let params = format!(r#"{{"notifications":{{"toolsListChanged":true}},"_meta":{{{meta}}}}}"#);
    let modern = world.modern("7", "subscriptions/listen", "", &params);
    let link = LinkId(1);
    world.input(Input::Link { link, event: LinkEvent::Opened });
    for (id, outcome) in [
        (1, r#""error":{"code":-32601,"message":"no"}"#),
        (2, r#""result":{"protocolVersion":"2025-11-25","capabilities":{}}"#),
        (3, r#""result":{"tools":[{"name":"x","inputSchema":{}}]}"#),
    ] {
        world.input(Input::Link { link, event: LinkEvent::Line(format!(r#"{{"jsonrpc":"2.0","id":{id},{outcome}}}"#)) });
    }
    let told = r#""method":"notifications/tools/list_changed""#;
    assert_eq!(world.body(listening).matches(told).count(), 1, "{}", world.body(listening));
    assert!(world.body(listening).contains("id: "));
    assert_eq!(world.body(modern).matches(told).count(), 1, "{}", world.body(modern));
    assert!(world.body(modern).contains(r#""io.modelcontextprotocol/subscriptionId":7"#));
}
