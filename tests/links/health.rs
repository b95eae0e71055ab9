//! Servers that are asked whether they are alive.

use narrows::io::{Input, LinkEvent, Reason};

use crate::world::{World, at, string_at};

const CHECKED: &str = r#"{"mcp_servers":[{"name":"a","transport":{"type":"stdio","command":"a"},"health_check":{"interval_secs":10,"unhealthy_threshold":3}}]}"#;
const REMOTE: &str = r#"{"mcp_servers":[{"name":"a","transport":{"type":"http","url":"https://a.test/mcp"},"health_check":{"interval_secs":10,"unhealthy_threshold":2}}]}"#;

fn told(world: &World, event: &str) -> Vec<String> {
    world.notices.iter().filter(|(known, _)| known == event).map(|(_, fields)| fields.clone()).collect()
}

#[test]
fn a_server_that_answers_is_left_alone() {
    let mut world = World::shaken(CHECKED);
    world.legacy("a", &["x"]);
    assert_eq!(world.gateway.poll_timeout().unwrap().reason, Reason::LinkCheck);
    for outcome in [r#""result":{}"#, r#""error":{"code":-32601,"message":"no"}"#, r#""result":{}"#, r#""result":{}"#] {
        world.advance(9999);
        assert!(world.is_quiet("a"));
        world.advance(1);
        world.answer("a", "ping", outcome);
        assert!(world.is_quiet("a"), "one ping each time");
    }
    assert!(world.closed.is_empty() && told(&world, "link_ping_missed").is_empty());
}

#[test]
fn one_that_is_silent_is_connected_anew_at_the_threshold() {
    let mut world = World::shaken(CHECKED);
    world.legacy("a", &["x"]);
    let first = world.running["a"];
    for _ in 0..3 {
        world.advance(10_000);
        world.asked("a", "ping");
        assert!(world.closed.is_empty());
    }
    world.call(1, "mcp_a_x", "");
    world.advance(10_000);
    assert_eq!(world.closed, [first]);
    assert!(world.error(1).1.contains("is unhealthy: 3 pings in a row failed"));
    assert_eq!(told(&world, "link_ping_missed").len(), 3);
    world.advance(2000);
    world.event("a", LinkEvent::Opened);
    world.handshake("a", &["x"]);
    world.advance(10_000);
    world.answer("a", "ping", r#""result":{}"#);
    assert_eq!(world.closed, [first]);
}

#[test]
fn a_late_answer_and_progress_count_as_life() {
    let mut world = World::shaken(CHECKED);
    world.legacy("a", &["x"]);
    for _ in 0..3 {
        world.advance(10_000);
        world.asked("a", "ping");
        world.advance(10_000);
        world.answer("a", "ping", r#""result":{}"#);
    }
    world.call(1, "mcp_a_x", r#","_meta":{"progressToken":"p"}"#);
    let id = world.asked("a", "tools/call");
    for _ in 0..8 {
        world.advance(10_000);
        world.asked("a", "ping");
        world.line(
            "a",
            &format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":1}}}}"#),
        );
    }
    assert!(world.closed.is_empty());
}

#[test]
fn where_there_is_no_ping_another_question_does() {
    let mut world = World::shaken(CHECKED);
    world.modern("a", &["x"]);
    world.advance(10_000);
    let text = world.read("a");
    assert_eq!(string_at(&text, &["method"]).as_deref(), Some("server/discover"));
    assert!(at(&text, &["params", "_meta", "io.modelcontextprotocol/protocolVersion"]).is_some());
}

#[test]
fn nobody_is_asked_who_is_not_to_be() {
    let mut world = World::shaken(&CHECKED.replace(r#","health_check":{"interval_secs":10,"unhealthy_threshold":3}"#, ""));
    world.legacy("a", &["x"]);
    world.advance(600_000);
    assert!(world.is_quiet("a"));
    let config = narrows::config::Config::from_json(CHECKED).unwrap();
    world.input(Input::Configure { config: config.into() });
    world.advance(10_000);
    world.asked("a", "ping");
    assert!(world.closed.is_empty(), "it is not started anew to be checked");
}

#[test]
fn a_server_at_a_url_is_asked_by_a_request_and_a_session_that_is_over_is_begun_anew() {
    let mut world = World::shaken(REMOTE);
    let (probe, _) = world.fetch();
    world.reply(probe, 400, &[], "no");
    let shake = |world: &mut World| {
        let (exchange, request) = world.fetch();
        assert!(request.body.unwrap().contains("initialize"));
        let result = r#"{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}"#;
        (exchange, result)
    };
    let ready = |world: &mut World, id: u64| {
        let (exchange, result) = shake(world);
        world.reply(exchange, 200, &[("Mcp-Session-Id", "s")], &result.replace("ID", &id.to_string()));
        let list = loop {
            let (exchange, request) = world.fetch();
            match request.body {
                Some(body) if body.contains("tools/list") => break exchange,
                Some(_) => world.reply(exchange, 202, &[], ""),
                None => world.reply(exchange, 405, &[], ""),
            }
        };
        let tools = r#"{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}"#;
        world.reply(list, 200, &[], &format!(r#"{{"jsonrpc":"2.0","id":{},"result":{tools}}}"#, id + 1));
    };
    ready(&mut world, 2);
    world.advance(10_000);
    let (ping, request) = world.fetch();
    assert!(request.body.unwrap().contains(r#""method":"ping""#));
    world.reply(ping, 404, &[], "");
    ready(&mut world, 5);
    assert!(told(&world, "link_lost").is_empty());
    for _ in 0..2 {
        assert!(told(&world, "link_lost").is_empty());
        world.advance(10_000);
        let (ping, _) = world.fetch();
        world.reply(ping, 500, &[], "");
    }
    assert!(told(&world, "link_lost")[0].contains("is unhealthy: 2 pings in a row failed (answered HTTP 500)"));
}
