//! What may not leave for a server, what comes back, and what is sent to agents.

use narrows::io::{LinkEvent, Output};

use crate::world::{World, at, string_at};

/// Put together here, so that no token stands in this file in one piece.
fn token() -> String {
    ["gh", "p_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].concat()
}

fn ready(server: &str, more: &str) -> World {
    let mut world = World::shaken(&format!(
        r#"{{"mcp_servers":[{{"name":"a","transport":{{"type":"stdio","command":"a"}}{server}}}]{more}}}"#
    ));
    world.legacy("a", &["x", "y"]);
    world.said.clear();
    world.notices.clear();
    world
}

#[test]
fn a_secret_does_not_leave_and_is_not_repeated() {
    let mut world = ready("", "");
    world.call(1, "mcp_a_x", &format!(r#","arguments":{{"a":["{}"],"password":"x"}}"#, token()));
    let text = world.answered(1);
    let finding =
        |number: &str, name: &str| string_at(&text, &["result", "structuredContent", "error", "findings", number, name]);
    assert_eq!(finding("0", "path").as_deref(), Some("$.a[0]"));
    assert_eq!(finding("1", "rule").as_deref(), Some("sensitive_key_name"));
    assert!(text.contains(r#""code":"blocked""#) && !text.contains("A1b2C3"), "{text}");
    assert!(world.is_quiet("a"));
    world.call(2, "mcp_a_x", r#","arguments":{"a":"550e8400-e29b-41d4-a716-446655440000"}"#);
    world.read("a");
}

#[test]
fn what_stands_beside_the_arguments_is_looked_at_as_they_are() {
    for (meta, path) in [
        (format!(r#"{{"com.example/k":"{}"}}"#, token()), r#"$._meta["com.example/k"]"#),
        (format!(r#"{{"k":{{"deep":["{}"]}}}}"#, token()), "$._meta.k.deep[0]"),
        (format!(r#"{{"traceparent":"00-{0}-{0}-01","tracestate":"v={1}"}}"#, "1", token()), "$._meta.tracestate"),
        (r#"{"password":"x"}"#.to_owned(), "$._meta.password"),
        (r#"{"baggage":"password=s3cr3tpass0"}"#.to_owned(), "$._meta.baggage"),
    ] {
        let mut world = ready("", "");
        world.call(1, "mcp_a_x", &format!(r#","arguments":{{"a":1}},"_meta":{meta}"#));
        let text = world.answered(1);
        let found = string_at(&text, &["result", "structuredContent", "error", "findings", "0", "path"]);
        assert_eq!(found.as_deref(), Some(path), "{text}");
        assert!(text.contains(r#""code":"blocked""#) && !text.contains("A1b2C3") && world.is_quiet("a"), "{text}");
    }
    let mut world = ready("", "");
    let random = ["q8Zr3Vn1Lx7Tk5Wb9Yc2", "Md6Hf4Gj0Ps8"].concat();
    world.call(1, "mcp_a_x", &format!(r#","_meta":{{"com.example/id":"{random}"}}"#));
    assert_eq!(world.error(1).0, "blocked");
    world.call(2, "mcp_a_x", &format!(r#","_meta":{{"baggage":"session={random}","com.example/n":9007199254740993}}"#));
    let sent = world.read("a");
    assert_eq!(at(&sent, &["params", "_meta", "com.example/n"]).as_deref(), Some("9007199254740993"));
    assert_eq!(string_at(&sent, &["params", "_meta", "baggage"]), Some(format!("session={random}")));
}

#[test]
fn rules_are_muted_by_tool_by_place_and_by_server() {
    let secret = format!(r#","arguments":{{"a":"{}"}}"#, token());
    for (server, more, leaves) in [
        ("", r#","mcp_taint_policy":[{"tool":"mcp__a__x","skip_rules":["WellKnownPrefix"]}]"#, true),
        ("", r#","mcp_taint_policy":[{"tool":"mcp_a_y","skip_rules":["WellKnownPrefix"]}]"#, false),
        (r#","taint_scanning":false"#, "", true),
        (r#","taint_policy":{"tools":{"x":{"default":"skip"}}}"#, "", true),
        (r#","taint_policy":{"tools":{"x":{"paths":{"$.*":{"skip_rules":["well_known_prefix"]}}}}}"#, "", true),
        (r#","taint_policy":{"tools":{"x":{"paths":{"$.b":{"skip_rules":["well_known_prefix"]}}}}}"#, "", false),
        (
            r#","taint_policy":{"tools":{"x":{"rule_sets":["soft"]}}}"#,
            r#","taint_rules":[{"name":"soft","action":"warn","rules":["WellKnownPrefix"]}]"#,
            true,
        ),
    ] {
        let mut world = ready(server, more);
        world.call(1, "mcp_a_x", &secret);
        assert_eq!(!world.is_quiet("a"), leaves, "{server}{more}");
        let warned = world.notices.iter().any(|(event, fields)| event == "taint" && fields.contains("$.a"));
        assert_eq!(warned, more.contains("soft"));
    }
    let mut world = ready(r#","taint_scanning":false"#, "");
    world.call(1, "mcp_a_x", r#","arguments":{"headers":{"Authorization":"anything"}}"#);
    assert_eq!(world.error(1).0, "blocked");
}

#[test]
fn arguments_have_what_the_tool_requires() {
    let mut world = World::shaken(r#"{"mcp_servers":[{"name":"a","transport":{"type":"stdio","command":"a"}}]}"#);
    world.event("a", narrows::io::LinkEvent::Opened);
    world.answer("a", "server/discover", r#""error":{"code":-32601,"message":"no"}"#);
    world.answer(
        "a",
        "initialize",
        r#""result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#,
    );
    world.asked("a", "notifications/initialized");
    let tools = r#""result":{"tools":[{"name":"x","inputSchema":{"type":"object","required":["path"]}}]}"#;
    world.answer("a", "tools/list", tools);
    world.said.clear();
    world.call(1, "mcp_a_x", r#","arguments":{"other":1}"#);
    assert_eq!(world.error(1).0, "invalid_argument");
    world.call(2, "mcp_a_x", r#","arguments":{"path":null}"#);
    world.read("a");
}

#[test]
fn results_are_looked_at_where_it_is_configured() {
    let result = r#""result":{"content":[{"type":"text","text":"mail ada@example.org"}],"structuredContent":{"n":9007199254740993,"to":"ada@example.org"}}"#;
    for (mode, redacted, told) in [("off", false, false), ("warn", false, true), ("redact", true, true)] {
        let mut world = ready("", &format!(r#","taint_policy":{{"results":"{mode}"}}"#));
        world.call(1, "mcp_a_x", "");
        world.answer("a", "tools/call", result);
        let text = world.answered(1);
        assert_eq!(!text.contains("ada@example.org"), redacted, "{text}");
        assert_eq!(at(&text, &["result", "structuredContent", "n"]).as_deref(), Some("9007199254740993"));
        assert_eq!(world.notices.iter().any(|(event, _)| event == "taint_result"), told, "{mode}");
    }
}

#[test]
fn messages_to_agents_hold_no_secrets() {
    let mut world = ready("", "");
    let send = |world: &mut World, id, arguments: &str| {
        world.call(id, "send_message", &format!(r#","arguments":{{"agent":"https://agent.test",{arguments}}}"#));
    };
    for (id, arguments) in [
        (1, format!(r#""message":"use {}""#, token())),
        (2, format!(r#""parts":[{{"text":"hi"}},{{"data":{{"k":"{}"}}}}]"#, token())),
        (3, r#""parts":[{"url":"https://u:hunter2xyz@files.test/x"}]"#.to_owned()),
        (4, format!(r#""message":"hi","metadata":{{"k":"{}"}}"#, token())),
        (5, format!(r#""message":"hi","context_id":"{}""#, token())),
        (6, format!(r#""message":"hi","task_id":"{}""#, token())),
        (7, format!(r#""message":"hi","reference_task_ids":["t","{}"]"#, token())),
        (8, format!(r#""message":"hi","accepted_output_modes":["{}"]"#, token())),
    ] {
        send(&mut world, id, &arguments);
        assert_eq!(world.error(id).0, "blocked", "{arguments}");
    }
    let random = ["q8Zr3Vn1Lx7Tk5Wb9Yc2", "Md6Hf4Gj0Ps8"].concat();
    send(&mut world, 9, &format!(r#""message":"mail ada@example.org","context_id":"{random}""#));
    assert!(world.said.is_empty() && world.fetches.len() == 1);
    let mute = r#","mcp_taint_policy":[{"tool":"send_message","skip_rules":["WellKnownPrefix"]}]"#;
    let mut world = ready("", mute);
    send(&mut world, 1, &format!(r#""message":"use {}""#, token()));
    assert!(world.said.is_empty() && !matches!(world.gateway.poll_output(), Some(Output::Message { .. })));
}

#[test]
fn nothing_else_that_agents_are_told_holds_a_secret() {
    let mut world = ready("", r#","directory":{"url":"https://directory.test/agents"}"#);
    for (id, tool, arguments) in [
        (1, "create_caller_card", format!(r#""name":"me","description":"use {}""#, token())),
        (2, "create_caller_card", format!(r#""name":"me","description":"d","metadata_key":"{}""#, token())),
        (3, "create_caller_card", format!(r#""name":"me","description":"d","skills":[{{"name":"s","tags":["{}"]}}]"#, token())),
        (4, "get_task", format!(r#""agent":"https://agent.test","task_id":"{}""#, token())),
        (5, "cancel_task", format!(r#""agent":"https://agent.test","task_id":"{}""#, token())),
        (6, "discover_agents", format!(r#""filter":"{}""#, token())),
        (7, "broadcast_message", format!(r#""aliases":["a"],"message":"{}""#, token())),
    ] {
        world.call(id, tool, &format!(r#","arguments":{{{arguments}}}"#));
        assert_eq!(world.error(id).0, "blocked", "{tool} {arguments}");
    }
    assert!(world.fetches.is_empty());
    world.call(8, "view_caller_card", "");
    assert!(world.answered(8).contains("no caller card"));
}

#[test]
fn a_card_that_was_kept_from_before_goes_out_with_no_message() {
    let muted = r#","mcp_taint_policy":[{"tool":"create_caller_card","skip_rules":["WellKnownPrefix"]}]"#;
    let mut world = ready("", muted);
    world.call(1, "create_caller_card", &format!(r#","arguments":{{"name":"me","description":"use {}"}}"#, token()));
    world.answered(1);
    world.call(2, "send_message", r#","arguments":{"agent":"https://agent.test","message":"hi"}"#);
    let (code, words) = world.error(2);
    assert_eq!(code, "blocked");
    assert!(words.contains("$.metadata.caller_agent_card.description"), "{words}");
}

#[test]
fn the_state_of_a_trace_takes_no_secret_along() {
    for (state, told) in [("v=abc".to_owned(), true), (format!("v={}", token()), false)] {
        let mut world = ready("", "");
        let trace = format!(r#""traceparent":"00-{}-{}-01","tracestate":"{state}""#, "1".repeat(32), "2".repeat(16));
        let arguments = r#""arguments":{"agent":"https://agent.test","message":"hi"}"#;
        world.call(1, "send_message", &format!(r#",{arguments},"_meta":{{{trace}}}"#));
        let (_, request) = world.fetch();
        let names: Vec<&str> = request.headers.iter().map(|(name, _)| name.as_str()).collect();
        assert!(names.contains(&"traceparent"));
        assert_eq!(names.contains(&"tracestate"), told, "{state}");
    }
}

/// What a server writes comes to the caller in more ways than its results.
#[test]
fn last_words_and_messages_of_a_server_are_looked_at_as_its_results_are() {
    for (mode, redacted) in [("off", false), ("redact", true)] {
        let mut world = ready("", &format!(r#","taint_policy":{{"results":"{mode}"}}"#));
        let level = r#"{"jsonrpc":"2.0","id":"l","method":"logging/setLevel","params":{"level":"debug"}}"#;
        world.say(1, level);
        world.said.clear();
        world.call(1, "mcp_a_x", r#","_meta":{"progressToken":7}"#);
        let call = world.read("a");
        let progress = at(&call, &["params", "_meta", "progressToken"]).unwrap();
        for line in [
            format!(
                r#""method":"notifications/progress","params":{{"progressToken":{progress},"progress":1,"message":"{}"}}"#,
                token()
            ),
            format!(r#""method":"notifications/message","params":{{"level":"error","data":{{"k":"{}"}}}}"#, token()),
        ] {
            world.line("a", &format!(r#"{{"jsonrpc":"2.0",{line}}}"#));
            let told = world.said.pop_front().unwrap().1;
            assert_eq!(told.contains("[redacted: well_known_prefix]"), redacted, "{told}");
            assert_eq!(!told.contains("A1b2C3"), redacted, "{told}");
        }
        world.event("a", LinkEvent::Stderr(format!("fatal: {} is no good", token())));
        world.event("a", LinkEvent::Closed("exited with 1".into()));
        let (_, words) = world.error(1);
        assert!(words.contains("its last words: fatal:"), "{words}");
        assert_eq!(!words.contains("A1b2C3"), redacted, "{words}");
        world.call(2, "mcp_a_x", "");
        assert_eq!(!world.error(2).1.contains("A1b2C3"), redacted);
    }
}
