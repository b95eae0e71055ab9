//! Calls to the tools of servers.

use narrows::io::{Input, LinkEvent, PeerId};

use crate::world::{MODERN, World, at, servers, string_at};

fn ready() -> World {
    let mut world = World::shaken(&servers(&["a"]));
    world.legacy("a", &["x"]);
    world.said.clear();
    world
}

#[test]
fn a_call_goes_out_under_another_id_and_its_result_comes_back_as_it_is() {
    let mut world = ready();
    world.call(
        1,
        "mcp_a_x",
        r#","arguments":{"n":1e400,"é":[ 1 ]},"_meta":{"traceparent":"00-1","io.modelcontextprotocol/x":1,"vendor/y":2}"#,
    );
    let call = world.read("a");
    assert_eq!(
        at(&call, &["params"]).unwrap(),
        r#"{"name":"x","arguments":{"n":1e400,"é":[1]},"_meta":{"traceparent":"00-1","vendor/y":2}}"#
    );
    let id = at(&call, &["id"]).unwrap();
    assert_ne!(id, "1");
    let result = r#"{"content":[{"type":"image","data":"AA==","mimeType":"image/png","vendor":{"a":1e400}},{"type":"new"}],"structuredContent":{"n":9007199254740993},"vendor":[null]}"#;
    world.line("a", &format!(r#"{{"result":{result},"jsonrpc":"2.0","id":{id}}}"#));
    assert_eq!(world.answered(1), format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#));
}

#[test]
fn arguments_that_were_not_given_are_none_in_an_object() {
    let mut world = ready();
    world.call(1, "mcp_a_x", "");
    assert_eq!(at(&world.read("a"), &["params"]).unwrap(), r#"{"name":"x","arguments":{}}"#);
}

#[test]
fn errors_of_tools_and_of_the_protocol_stay_what_they_are() {
    let mut world = ready();
    world.call(1, "mcp_a_x", "");
    world.answer("a", "tools/call", r#""result":{"content":[{"type":"text","text":"boom"}],"isError":true}"#);
    assert_eq!(
        world.answered(1),
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"boom"}],"isError":true}}"#
    );
    world.call(2, "mcp_a_x", "");
    world.answer("a", "tools/call", r#""error":{"code":-32602,"message":"unknown tool","data":[1]}"#);
    assert_eq!(world.answered(2), r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"unknown tool","data":[1]}}"#);
}

#[test]
fn a_caller_of_either_era_is_answered_in_its_own() {
    for modern_server in [true, false] {
        let mut world = World::shaken(&servers(&["a"]));
        if modern_server {
            world.modern("a", &["x"])
        } else {
            world.legacy("a", &["x"])
        }
        let extra = if modern_server {
            r#","resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s"}}"#
        } else {
            ""
        };
        world.call(1, "mcp_a_x", "");
        world.answer("a", "tools/call", &format!(r#""result":{{"content":[]{extra}}}"#));
        assert_eq!(world.answered(1), r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#);
        world.call(2, "mcp_a_x", &format!(r#","_meta":{{{MODERN}}}"#));
        world.answer("a", "tools/call", &format!(r#""result":{{"content":[]{extra}}}"#));
        let answer = world.answered(2);
        assert_eq!(string_at(&answer, &["result", "resultType"]).as_deref(), Some("complete"));
        assert_eq!(
            string_at(&answer, &["result", "_meta", "io.modelcontextprotocol/serverInfo", "name"]).as_deref(),
            Some("narrows")
        );
    }
}

#[test]
fn progress_comes_back_under_the_callers_token_and_gives_more_time() {
    let mut world = ready();
    world.call(1, "mcp_a_x", r#","_meta":{"progressToken":"mine"}"#);
    world.call(2, "mcp_a_x", r#","_meta":{"progressToken":0}"#);
    world.call(3, "mcp_a_x", "");
    let tokens: Vec<_> = (0..3).map(|_| at(&world.read("a"), &["params", "_meta", "progressToken"])).collect();
    assert!(tokens[0].is_some() && tokens[1].is_some() && tokens[0] != tokens[1] && tokens[2].is_none(), "{tokens:?}");
    let token = tokens[0].clone().unwrap();
    for step in 1..=3 {
        world.advance(29_000);
        world.line("a", &format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{step}.5,"total":9,"message":"m"}}}}"#));
        let told = world.said.iter().filter(|(_, text)| text.contains("notifications/progress")).count();
        assert_eq!(told, step);
    }
    let told = &world.said.iter().find(|(_, text)| text.contains("notifications/progress")).unwrap().1;
    assert_eq!(at(told, &["params"]).unwrap(), r#"{"progressToken":"mine","progress":1.5,"total":9,"message":"m"}"#);
    // The others were silent for too long.
    assert_eq!((world.error(2).0, world.error(3).0), ("timeout".to_owned(), "timeout".to_owned()));
    world.line("a", r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":99999,"progress":1}}"#);
    // Progress does not hold a call open for ever.
    for _ in 0..20 {
        world.advance(20_000);
        world.line(
            "a",
            &format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":9}}}}"#
            ),
        );
    }
    assert_eq!(world.error(1).0, "timeout");
}

#[test]
fn a_cancelled_call_is_cancelled_at_its_server_and_its_late_answer_is_nobodys() {
    let mut world = ready();
    world.call(1, "mcp_a_x", "");
    let id = world.asked("a", "tools/call");
    world.say(1, r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    let told = world.read("a");
    assert_eq!(string_at(&told, &["method"]).as_deref(), Some("notifications/cancelled"));
    assert_eq!(at(&told, &["params", "requestId"]).unwrap(), id);
    world.line("a", &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#));
    assert!(world.said.is_empty(), "{:?}", world.said);
}

#[test]
fn the_calls_of_a_client_that_left_are_cancelled() {
    let mut world = ready();
    world.call(1, "mcp_a_x", "");
    world.asked("a", "tools/call");
    world.input(Input::Closed { peer: PeerId(1) });
    world.asked("a", "notifications/cancelled");
}

#[test]
fn a_call_that_takes_too_long_is_answered_and_cancelled() {
    let mut world = ready();
    world.call(1, "mcp_a_x", "");
    world.asked("a", "tools/call");
    world.advance(29_999);
    assert!(world.said.is_empty());
    world.advance(1);
    let (code, words) = world.error(1);
    assert!(code == "timeout" && words.contains("MCP server 'a'") && words.contains("30s"), "{words}");
    world.asked("a", "notifications/cancelled");
}

#[test]
fn calls_wait_for_a_server_that_comes_back() {
    let mut world = ready();
    world.event("a", LinkEvent::Closed("exit code 3".into()));
    world.call(1, "mcp_a_x", "");
    let (code, words) = world.error(1);
    assert!(code == "unreachable" && words.contains("exit code 3"), "{words}");
    world.advance(2000);
    world.call(2, "mcp_a_x", "");
    world.event("a", LinkEvent::Opened);
    world.handshake("a", &["x"]);
    world.answer("a", "tools/call", r#""result":{"content":[]}"#);
    world.answered(2);
}

#[test]
fn an_answer_that_is_too_long_is_an_error_of_its_call_alone() {
    let mut world = ready();
    world.call(1, "mcp_a_x", "");
    world.call(2, "mcp_a_x", "");
    let (one, two) = (world.asked("a", "tools/call"), world.asked("a", "tools/call"));
    let (start, end) = (r#"{"result":{"content":[{"text":"xxx"#.to_owned(), format!(r#"xxx"}}]}},"jsonrpc":"2.0","id":{one}}}"#));
    world.event("a", LinkEvent::LineTooLong { start, end, bytes: 20_000_000 });
    assert_eq!(world.error(1).0, "too_large");
    world.line("a", &format!(r#"{{"jsonrpc":"2.0","id":{two},"result":{{"content":[]}}}}"#));
    world.answered(2);
}

#[test]
fn as_many_calls_run_as_the_limit_allows() {
    let mut world =
        World::shaken(&servers(&["a", "b"]).replace(r#"{"mcp_servers""#, r#"{"limits":{"calls_per_server":2},"mcp_servers""#));
    world.legacy("a", &["x"]);
    world.legacy("b", &["x"]);
    for id in 1..=3 {
        world.call(id, "mcp_a_x", "");
    }
    assert_eq!(world.error(3).0, "busy");
    // A server that is silent delays nobody else.
    world.call(4, "mcp_b_x", "");
    world.answer("b", "tools/call", r#""result":{"content":[]}"#);
    world.answered(4);
    world.advance(30_000);
    world.call(5, "mcp_a_x", "");
    assert_eq!((world.error(1).0, world.error(2).0), ("timeout".to_owned(), "timeout".to_owned()));
    assert!(!world.said.iter().any(|(_, text)| text.contains(r#""id":5"#)));
}

#[test]
fn header_fields_among_the_arguments_are_for_that_server() {
    let mute = r#"{"mcp_taint_policy":[{"tool":"mcp_a_x","skip_rules":["SensitiveKeyName"]}],"#;
    let mut world = World::shaken(&servers(&["a"]).replacen('{', mute, 1));
    world.legacy("a", &["x"]);
    world.said.clear();
    world.call(1, "mcp_a_x", r#","arguments":{"headers":{"Authorization":"Bearer hunter2hunter2"}}"#);
    assert!(world.read("a").contains("hunter2hunter2"));
    // What an agent was given is not.
    world.call(
        2,
        "connect_agent",
        r#","arguments":{"alias":"b","agent_url":"https://b.test/","headers":{"X-Key":"correct horse battery"}}"#,
    );
    world.call(3, "mcp_a_x", r#","arguments":{"text":"correct horse battery"}"#);
    assert!(world.read("a").contains("[redacted]"));
}

#[test]
fn the_credentials_of_a_server_are_told_to_nobody_else() {
    let config =
        servers(&["a"]).replace(r#""name":"a""#, r#""name":"a","env":["API_KEY=hunter2hunter2","MODE=production-mode"]"#);
    let mut world = World::new(&config);
    world.gateway.set_trace(true);
    world.open(1);
    world.say(1, r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#);
    assert_eq!(world.started[0].1.env, ["API_KEY=hunter2hunter2", "MODE=production-mode"]);
    world.legacy("a", &["x"]);
    world.call(1, "mcp_a_x", "");
    world.answer("a", "tools/call", r#""result":{"content":[{"type":"text","text":"hunter2hunter2 in production-mode"}]}"#);
    let answer = world.answered(1);
    assert!(answer.contains("[redacted] in production-mode"), "{answer}");
    let trace: Vec<String> = std::iter::from_fn(|| world.gateway.poll_trace()).collect();
    assert!(trace.iter().all(|line| !line.contains("hunter2")) && trace.iter().any(|line| line.contains("link_line")));
}

#[test]
fn the_log_of_a_server_is_told_to_the_one_who_calls_it_where_that_is_asked_for() {
    let mut world = ready();
    let line = |level: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"{level}","logger":"x","data":{{"a":1e400}}}}}}"#
        )
    };
    world.call(1, "mcp_a_x", "");
    world.line("a", &line("error"));
    assert!(world.said.is_empty(), "nobody asked");
    world.say(1, r#"{"jsonrpc":"2.0","id":"l","method":"logging/setLevel","params":{"level":"warning"}}"#);
    world.said.clear();
    world.line("a", &line("error"));
    assert!(world.said.is_empty(), "this call began before");
    world.asked("a", "tools/call");
    world.say(1, r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    world.call(2, "mcp_a_x", "");
    world.line("a", &line("info"));
    assert!(world.said.is_empty(), "too low");
    world.line("a", &line("warning"));
    assert_eq!(world.said.pop_front().unwrap().1, line("warning"));
    // Of two calls it could be either's.
    world.call(3, "mcp_a_x", "");
    world.line("a", &line("error"));
    assert!(world.said.is_empty());
}
