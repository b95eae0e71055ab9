//! The era without a handshake (MCP 2026-07-28): everything in the request, nothing kept.

use super::world::{CONNECT, LIST_AGENTS, SEND, SEND_WITH_PROGRESS, World, rpc, with_meta};

const VERSION: (&str, &str) = ("MCP-Protocol-Version", "2026-07-28");

#[test]
fn an_answer_is_json_in_the_shape_of_its_era() {
    let mut world = World::new("{}");
    let request = world.modern("1", "server/discover", "", "{}");
    let response = world.done(request);
    assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
    assert_eq!(response.header("mcp-session-id"), None);
    for part in [r#""supportedVersions":["2026-07-28"]"#, r#""resultType":"complete""#, "ttlMs", "cacheScope", "serverInfo"] {
        assert!(response.body.contains(part), "{part}: {}", response.body);
    }
    for id in ["0", r#""listen:0""#, "18446744073709551615", "1.5"] {
        let request = world.modern(id, "tools/list", "", "{}");
        assert!(world.done(request).body.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result""#)), "{id}");
    }
}

#[test]
fn the_envelope_is_held_to_its_rules() {
    let mut world = World::new("{}");
    let fields = [VERSION, ("Mcp-Method", "tools/list")];
    let meta = |members: &str| rpc("3", "tools/list", &format!(r#"{{"_meta":{{{members}}}}}"#));
    let version = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
    let capabilities = r#""io.modelcontextprotocol/clientCapabilities":{}"#;
    for (members, status, code) in [
        (format!("{version},{capabilities}"), 200, ""),
        (version.to_owned(), 400, "-32602"),
        (capabilities.to_owned(), 400, "-32602"),
        (String::new(), 400, "-32602"),
        (format!(r#"{version},"io.modelcontextprotocol/clientCapabilities":7"#), 400, "-32602"),
    ] {
        let response = world.answer(&fields, &meta(&members));
        assert_eq!(response.status, status, "{members}: {}", response.body);
        assert!(response.body.contains(r#""id":3"#) && response.body.contains(code), "{members}: {}", response.body);
    }
    let other = meta(&format!("{},{capabilities}", version.replace("2026-07-28", "2099-01-01")));
    let response = world.answer(&[("MCP-Protocol-Version", "2099-01-01"), ("Mcp-Method", "tools/list")], &other);
    assert_eq!(response.status, 400);
    assert!(response.body.contains(r#""code":-32022"#), "{}", response.body);
    assert!(response.body.contains(r#""data":{"supported":["2026-07-28"],"requested":"2099-01-01"}"#), "{}", response.body);
}

#[test]
fn headers_say_what_the_body_says() {
    let mut world = World::new("{}");
    let body = rpc("1", "tools/call", &with_meta(LIST_AGENTS));
    let mut status = |fields: &[(&str, &str)]| {
        let response = world.answer(fields, &body);
        assert_eq!(response.status == 400, response.body.contains("-32020"), "{}", response.body);
        response.status
    };
    let (method, name) = (("Mcp-Method", "tools/call"), ("Mcp-Name", "list_agents"));
    assert_eq!(status(&[VERSION, method, name]), 200);
    assert_eq!(
        status(&[("MCP-PROTOCOL-VERSION", " 2026-07-28 "), ("mcp-method", "tools/call "), ("MCP-NAME", " list_agents")]),
        200
    );
    assert_eq!(status(&[VERSION, method, ("Mcp-Name", "=?base64?bGlzdF9hZ2VudHM=?=")]), 200);
    assert_eq!(status(&[method, name]), 400);
    assert_eq!(status(&[VERSION, name]), 400);
    assert_eq!(status(&[VERSION, method]), 400);
    assert_eq!(status(&[("MCP-Protocol-Version", "2025-11-25"), method, name]), 400);
    assert_eq!(status(&[VERSION, ("Mcp-Method", "Tools/Call"), name]), 400);
    assert_eq!(status(&[VERSION, method, ("Mcp-Name", "send_message")]), 400);
}

#[test]
fn removed_and_unknown_methods_are_404() {
    let mut world = World::new("{}");
    for method in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "tasks/list", "nothing"] {
        let request = world.modern("1", method, "", "{}");
        let response = world.done(request);
        assert_eq!(response.status, 404, "{method}: {}", response.body);
        assert!(response.body.contains("-32601"), "{method}: {}", response.body);
    }
    let request = world.modern("1", "tools/call", "nothing", r#"{"name":"nothing"}"#);
    let response = world.done(request);
    assert!(response.status == 200 && response.body.contains("-32602"), "{response:?}");
}

#[test]
fn notifications_are_accepted() {
    let mut world = World::new("{}");
    let params = with_meta("{}");
    let body = format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#);
    let response = world.answer(&[VERSION, ("Mcp-Method", "notifications/cancelled")], &body);
    assert_eq!((response.status, response.body.as_str(), response.header("content-type")), (202, "", None));
    let response = world.answer(&[VERSION, ("Mcp-Method", "other")], &body);
    assert!(response.status == 400 && response.body.contains("-32020"), "{response:?}");
}

#[test]
fn an_answer_becomes_a_stream_when_something_flows_before_it() {
    let mut world = World::new("{}");
    world.connect(|world| world.modern("1", "tools/call", "connect_agent", CONNECT));
    let silent = world.modern("2", "tools/call", "send_message", SEND);
    let stream = world.begin_stream();
    world.work(&stream, "thinking");
    assert!(!world.responses.contains_key(&silent), "no token, no progress");
    world.complete(&stream);
    assert_eq!(world.done(silent).header("content-type"), Some("application/json"));

    let told = world.modern("3", "tools/call", "send_message", SEND_WITH_PROGRESS);
    let stream = world.begin_stream();
    world.work(&stream, "thinking");
    assert!(world.responses.get(&told).is_some_and(|response| response.is_stream() && !response.ended));
    world.complete(&stream);
    let response = world.done(told);
    assert_eq!(response.header("cache-control"), Some("no-cache, no-transform"));
    assert_eq!(response.header("x-accel-buffering"), Some("no"));
    let events: Vec<&str> = response.body.split_terminator("\n\n").collect();
    let (answer, before) = events.split_last().unwrap();
    assert!(answer.starts_with("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":3,\"result\""), "{answer}");
    assert!(!before.is_empty() && before.iter().all(|event| event.contains("notifications/progress")), "{before:?}");
    assert!(!response.body.lines().any(|line| line.starts_with("id:")), "no event can be asked for again: {}", response.body);
}

#[test]
fn whoever_leaves_cancels() {
    let mut world = World::new("{}");
    world.connect(|world| world.modern("1", "tools/call", "connect_agent", CONNECT));
    let request = world.modern("2", "tools/call", "send_message", SEND);
    let stream = world.begin_stream();
    world.gone(request);
    assert_eq!(world.aborts, [stream.exchange]);
    let (_, cancel) = world.fetches.pop().expect("the task is canceled at the agent");
    assert!(cancel.body.unwrap().contains("CancelTask"));
    assert!(!world.responses.contains_key(&request), "nothing more is said");
}

#[test]
fn a_listener_says_what_it_wants_to_be_told() {
    let mut world = World::new("{}");
    for params in [
        "{}",
        r#"{"notifications":null}"#,
        r#"{"notifications":"toolsListChanged"}"#,
        r#"{"notifications":[]}"#,
        r#"{"notifications":{"toolsListChanged":1}}"#,
    ] {
        let request = world.modern("7", "subscriptions/listen", "", params);
        let response = world.done(request);
        assert!(
            response.body.contains(r#""id":7,"error":{"code":-32602,"message":"`notifications` must be"#),
            "{}",
            response.body
        );
    }
}

#[test]
fn a_listener_is_acknowledged_first_and_answered_last() {
    let mut world = World::new("{}");
    let filter = r#"{"notifications":{"toolsListChanged":true}}"#;
    let one = world.modern(r#""listen:0""#, "subscriptions/listen", "", filter);
    let two = world.modern("7", "subscriptions/listen", "", filter);
    for (request, id) in [(one, r#""listen:0""#), (two, "7")] {
        let response = world.responses.get(&request).unwrap();
        assert!(response.is_stream() && !response.ended);
        let tag = format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#);
        assert!(
            response.body.starts_with(
                "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\""
            )
        );
        assert!(response.body.contains(&tag), "{}", response.body);
    }
    world.pass(15_000);
    assert!(world.body(one).ends_with("\n\n: keep-alive\n\n"));
    world.gone(two);
    world.pass(15_000);
    assert_eq!(world.body(one).matches(": keep-alive").count(), 2);
    assert_eq!(world.body(two).matches(": keep-alive").count(), 1);
    world.input(narrows::io::Input::Stop);
    let response = world.done(one);
    let last = response.body.trim_end().rsplit("\n\n").next().unwrap();
    assert!(last.contains(r#""id":"listen:0","result":{"resultType":"complete""#), "{last}");
    assert!(last.contains(r#""io.modelcontextprotocol/subscriptionId":"listen:0""#), "{last}");
}

#[test]
fn a_principal_keeps_its_agents_and_shows_them_to_nobody() {
    let tokens = r#"{"auth":{"tokens":[{"token":"alpha-token","principal":"a"},{"token":"beta-token-2","principal":"b"}]}}"#;
    let mut world = World::new(tokens);
    let (a, b) = (("Authorization", "Bearer alpha-token"), ("Authorization", "Bearer beta-token-2"));
    world.connect(|world| world.modern_as(&[a], "1", "tools/call", "connect_agent", CONNECT));
    let listed = |world: &mut World, token| {
        let request = world.modern_as(&[token], "1", "tools/call", "list_agents", LIST_AGENTS);
        world.done(request).body.contains("agent.test")
    };
    assert!(listed(&mut world, a));
    assert!(!listed(&mut world, b));
}
