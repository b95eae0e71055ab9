//! Servers that end, hang, or are no servers; and a gateway that ends.

use narrows::config::Config;
use narrows::gateway::{Gateway, Secrets};
use narrows::io::{Input, LinkEvent, LinkId, Misuse};

use crate::world::{World, at, genesis, servers};

#[test]
fn a_process_that_ends_fails_its_calls_with_the_cause_and_its_last_words() {
    let mut world = World::shaken(&servers(&["a"]));
    world.legacy("a", &["x"]);
    world.call(1, "mcp_a_x", "");
    world.event("a", LinkEvent::Stderr("starting\nTraceback (most recent call last):\n".into()));
    world.event("a", LinkEvent::Stderr("SyntaxError: x\n".into()));
    world.event("a", LinkEvent::Closed("exit code 1".into()));
    let (code, words) = world.error(1);
    assert_eq!(code, "unreachable");
    assert!(words.contains("exit code 1") && words.contains("Traceback") && words.contains("SyntaxError: x"), "{words}");
    assert!(world.closed.is_empty(), "what ended is not closed");
}

#[test]
fn one_that_ends_before_the_handshake_is_seen_at_once() {
    let mut world = World::shaken(&servers(&["a"]));
    world.event("a", LinkEvent::Opened);
    world.event("a", LinkEvent::Closed("exit code 1".into()));
    world.event("a", LinkEvent::Opened);
    world.event("a", LinkEvent::Stderr("SyntaxError: x".into()));
    world.event("a", LinkEvent::Closed("exit code 1".into()));
    let (event, fields) = world.notices.last().unwrap();
    assert!(event == "link_lost" && fields.contains("exit code 1") && fields.contains("SyntaxError"), "{fields}");
    assert_eq!(world.started.len(), 2);
}

#[test]
fn waits_grow_to_a_minute_and_begin_anew_after_a_good_while() {
    let mut world = World::shaken(&servers(&["a"]));
    let wait = |world: &World| {
        let (_, fields) = world.notices.iter().rev().find(|(event, _)| event == "link_lost").unwrap();
        at(fields, &["retry_ms"]).unwrap().parse::<u64>().unwrap()
    };
    for expected in [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000] {
        world.event("a", LinkEvent::Closed("no such program".into()));
        let waited = wait(&world);
        assert!((expected..=60_000.min(expected + expected / 4)).contains(&waited), "{waited} for {expected}");
        world.advance(waited);
    }
    world.legacy("a", &["x"]);
    world.advance(60_000);
    world.event("a", LinkEvent::Closed("killed".into()));
    assert!(wait(&world) <= 1250);
}

#[test]
fn every_step_has_its_own_time() {
    // Silent from the start, to the handshake, to the list.
    for step in 0..3 {
        let mut world = World::shaken(&servers(&["a"]).replace(r#""name":"a""#, r#""name":"a","timeout_secs":5"#));
        let told = world.notices.len();
        if step > 0 {
            world.event("a", LinkEvent::Opened);
            world.answer("a", "server/discover", r#""error":{"code":-32601,"message":"no"}"#);
        }
        if step > 1 {
            world.answer("a", "initialize", r#""result":{"protocolVersion":"2025-11-25","capabilities":{}}"#);
        }
        world.advance(4999);
        assert_eq!(world.notices.len(), told);
        world.advance(1);
        let words =
            ["did not start within 5 s", "did not answer the handshake within 5 s", "did not list its tools within 5 s"][step];
        assert!(world.notices.last().unwrap().1.contains(words), "{:?}", world.notices.last());
        assert_eq!(world.closed.len(), 1);
    }
}

#[test]
fn late_reports_are_ignored_and_invented_ones_are_not() {
    let mut world = World::shaken(&servers(&["a"]));
    let first = world.running["a"];
    world.event("a", LinkEvent::Closed("gone".into()));
    world.input(Input::Link { link: first, event: LinkEvent::Line("{}".into()) });
    world.input(Input::Link { link: first, event: LinkEvent::Closed("gone".into()) });
    for link in [LinkId(0), LinkId(99)] {
        assert_eq!(world.try_input(Input::Link { link, event: LinkEvent::Opened }), Err(Misuse::LinkUnknown(link)));
    }
}

#[test]
fn stopping_closes_every_link_and_answers_every_call() {
    let mut world = World::shaken(&servers(&["a", "b"]));
    world.legacy("a", &["x"]);
    world.call(1, "mcp_a_x", "");
    world.input(Input::Stop);
    assert_eq!(world.closed.len(), 2);
    world.answered(1);
    world.advance(120_000);
    assert_eq!(world.started.len(), 2, "nothing is started again");
}

#[test]
fn a_restored_gateway_answers_what_was_running_and_starts_its_servers_anew() {
    let config = servers(&["a"]);
    let mut world = World::shaken(&config);
    world.legacy("a", &["x"]);
    world.call(1, "mcp_a_x", "");
    let pieces = world.gateway.snapshot(Secrets::Keep);
    let last = world.running["a"];
    let gateway = Gateway::restore(genesis(0), Config::from_json(&config).unwrap(), &pieces).unwrap();
    let mut world = World::with(gateway);
    let (code, words) = world.error(1);
    assert!(code == "unreachable" && words.contains("restarted"), "{words}");
    world.input(Input::Tick);
    assert!(world.running["a"] > last, "its number is a new one");
    world.legacy("a", &["x"]);
    assert_eq!(world.offered(), ["mcp_a_x"]);
}

#[test]
fn a_server_that_lies_harms_nobody_else() {
    let mut world = World::shaken(&servers(&["a", "b"]));
    world.legacy("a", &["x"]);
    world.legacy("b", &["x"]);
    world.call(1, "mcp_a_x", "");
    let id = world.asked("a", "tools/call");
    // The other server answers what it was not asked.
    world.line("b", &format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[]}}}}"#, id.parse::<u64>().unwrap() + 100));
    for line in [
        r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"1","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":-1,"error":7}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":[]}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"[[],[]]"#,
    ] {
        world.line("a", line);
    }
    assert!(!world.said.iter().any(|(_, text)| text.contains(r#""id":1"#)));
    world.line("a", &format!(r#"[{{"jsonrpc":"2.0","id":{id},"result":7}}]"#));
    assert_eq!(world.error(1).0, "protocol_error");
}
