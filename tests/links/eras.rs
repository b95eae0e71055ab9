//! How a server's era is found out, whatever it does when it is asked.

use narrows::io::LinkEvent;

use crate::world::{World, at, servers, string_at};

#[test]
fn links_start_with_the_first_input_and_nothing_waits_for_them() {
    let mut world = World::new(&servers(&["a", "b"]));
    assert!(world.started.is_empty());
    world.open(1);
    assert_eq!(world.started.len(), 2);
    world.say(1, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert!(world.answered(1).contains("send_message"));
}

#[test]
fn a_server_that_does_not_know_the_question_gets_a_handshake_on_the_same_pipe() {
    let mut world = World::shaken(&servers(&["a"]));
    world.event("a", LinkEvent::Opened);
    let probe = world.read("a");
    assert_eq!(string_at(&probe, &["params", "_meta", "io.modelcontextprotocol/protocolVersion"]).as_deref(), Some("2026-07-28"));
    // Outside of calls, what the client of a later one may be able to do.
    let declared = r#"{"elicitation":{"form":{},"url":{}},"roots":{},"sampling":{"tools":{}}}"#;
    assert_eq!(at(&probe, &["params", "_meta", "io.modelcontextprotocol/clientCapabilities"]).as_deref(), Some(declared));
    let id = at(&probe, &["id"]).unwrap();
    world.line("a", &format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"Method not found"}}}}"#));
    world.handshake("a", &["x"]);
    assert_eq!((world.started.len(), world.offered()), (1, vec!["mcp_a_x".to_owned()]));
    let (_, ready) = world.notices.iter().find(|(event, _)| event == "link_ready").unwrap();
    let told = ["protocol_version", "server_name", "server_version"].map(|name| string_at(ready, &[name]).unwrap());
    assert_eq!(told, ["2025-11-25", "s", "1"]);
}

#[test]
fn a_server_without_handshakes_is_spoken_to_without() {
    let mut world = World::shaken(&servers(&["a"]));
    world.modern("a", &["x"]);
    world.call(1, "mcp_a_x", "");
    let call = world.read("a");
    assert_eq!(string_at(&call, &["params", "_meta", "io.modelcontextprotocol/protocolVersion"]).as_deref(), Some("2026-07-28"));
    assert_eq!(string_at(&call, &["params", "_meta", "io.modelcontextprotocol/clientInfo", "name"]).as_deref(), Some("narrows"));
    // Of a call, what its own client declared.
    assert_eq!(at(&call, &["params", "_meta", "io.modelcontextprotocol/clientCapabilities"]).as_deref(), Some("{}"));
}

#[test]
fn a_server_that_lists_old_versions_too_is_modern_where_it_lists_the_new_one() {
    for (versions, modern) in [(r#"["2024-11-05","2025-11-25","2026-07-28"]"#, true), (r#"["2025-11-25","2099-01-01"]"#, false)] {
        let mut world = World::shaken(&servers(&["a"]));
        world.event("a", LinkEvent::Opened);
        world.answer("a", "server/discover", &format!(r#""result":{{"supportedVersions":{versions},"capabilities":{{}}}}"#));
        world.asked("a", if modern { "tools/list" } else { "initialize" });
    }
}

#[test]
fn a_server_that_dies_of_the_question_is_started_once_more_and_not_asked_again() {
    let mut world = World::shaken(&servers(&["a"]));
    world.event("a", LinkEvent::Opened);
    world.asked("a", "server/discover");
    world.event("a", LinkEvent::Closed("exit code 1".into()));
    assert_eq!(world.started.len(), 2);
    world.event("a", LinkEvent::Opened);
    world.handshake("a", &["x"]);
    assert_eq!(world.offered(), ["mcp_a_x"]);
    // The next process is not asked either.
    world.event("a", LinkEvent::Closed("killed".into()));
    world.advance(2000);
    world.event("a", LinkEvent::Opened);
    world.handshake("a", &["x"]);
    assert_eq!(world.started.len(), 3);
}

#[test]
fn a_server_that_is_silent_to_the_question_gets_a_handshake_after_a_while() {
    let mut world = World::shaken(&servers(&["a"]));
    world.event("a", LinkEvent::Opened);
    world.asked("a", "server/discover");
    world.advance(9999);
    assert!(world.is_quiet("a"));
    world.advance(1);
    world.handshake("a", &["x"]);
    assert_eq!((world.started.len(), world.offered()), (1, vec!["mcp_a_x".to_owned()]));
}

#[test]
fn a_slow_server_that_the_question_pinned_is_modern_after_all() {
    for late_discovery in [true, false] {
        let mut world = World::shaken(&servers(&["a"]));
        world.event("a", LinkEvent::Opened);
        let probe = world.asked("a", "server/discover");
        world.advance(10_000);
        let handshake = world.asked("a", "initialize");
        if late_discovery {
            world.line(
                "a",
                &format!(
                    r#"{{"jsonrpc":"2.0","id":{probe},"result":{{"supportedVersions":["2026-07-28"],"capabilities":{{}}}}}}"#
                ),
            );
            assert!(world.is_quiet("a"), "the answer to the handshake decides");
        }
        world.line(
            "a",
            &format!(
                r#"{{"jsonrpc":"2.0","id":{handshake},"error":{{"code":-32022,"message":"no handshakes","data":{{"supported":["2026-07-28"],"requested":"2025-11-25"}}}}}}"#
            ),
        );
        world.list("a", &["x"]);
        assert_eq!((world.started.len(), world.offered()), (1, vec!["mcp_a_x".to_owned()]));
    }
}

#[test]
fn any_version_with_a_handshake_is_taken_and_no_other() {
    for (version, accepted) in [
        (r#""2024-11-05""#, true),
        (r#""2025-03-26""#, true),
        (r#""2025-06-18""#, true),
        (r#""2025-11-25""#, true),
        (r#""2099-01-01""#, false),
        ("null", false),
    ] {
        let mut world = World::shaken(&servers(&["a"]));
        world.event("a", LinkEvent::Opened);
        world.answer("a", "server/discover", r#""error":{"code":-32601,"message":"no"}"#);
        world.answer("a", "initialize", &format!(r#""result":{{"protocolVersion":{version},"capabilities":{{}}}}"#));
        assert_eq!(world.closed.is_empty(), accepted, "{version}");
        if !accepted {
            let (event, fields) = world.notices.last().unwrap();
            assert!(event == "link_lost" && fields.contains("not spoken here"), "{fields}");
        }
    }
}

#[test]
fn what_is_no_message_is_skipped_and_counted() {
    let mut world = World::shaken(&servers(&["a"]));
    world.event("a", LinkEvent::Opened);
    for line in [
        "My Server version : 1.2.3",
        "\u{1b}[32mINFO\u{1b}[0m ready",
        "------",
        "null",
        "123",
        r#"{"level":"info"}"#,
        "INFO {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
    ] {
        world.line("a", line);
    }
    world.answer("a", "server/discover", r#""error":{"code":-32601,"message":"no"}"#);
    world.handshake("a", &["x"]);
    let (_, fields) = world.notices.iter().find(|(event, _)| event == "link_ready").unwrap();
    assert_eq!(at(fields, &["noise"]).as_deref(), Some("7"));
    assert!(world.is_quiet("a"), "nothing of it was answered");
}

#[test]
fn a_server_may_ask_whether_anybody_is_there() {
    let mut world = World::shaken(&servers(&["a"]));
    world.legacy("a", &["x"]);
    world.line("a", r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#);
    assert_eq!(world.read("a"), r#"{"jsonrpc":"2.0","id":"p","result":{}}"#);
    world.line("a", r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#);
    assert_eq!(at(&world.read("a"), &["error", "code"]).as_deref(), Some("-32601"));
}
