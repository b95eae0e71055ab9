//! Another configuration while everything runs.

use narrows::config::Config;
use narrows::io::{Input, LinkEvent, RequestId};

use crate::world::{World, at, servers, string_at};

fn configure(world: &mut World, config: &str) {
    world.input(Input::Configure { config: Config::from_json(config).unwrap().into() });
}

/// A configuration of these servers, with more in it.
fn with(names: &[&str], more: &str) -> String {
    format!("{}{more}}}", servers(names).strip_suffix('}').unwrap())
}

fn told(world: &World, event: &str) -> Vec<String> {
    world.notices.iter().filter(|(known, _)| known == event).map(|(_, fields)| fields.clone()).collect()
}

fn proposed(world: &World) -> String {
    string_at(told(world, "approval_proposed").last().expect("nothing was proposed"), &["id"]).unwrap()
}

const GATED: &str = r#","approval":{"require_approval":["mcp_*_x"]}"#;

#[test]
fn servers_come_and_go_and_the_others_do_not_notice() {
    let mut world = World::shaken(&servers(&["a", "b"]));
    world.legacy("a", &["x"]);
    world.legacy("b", &["x", "y"]);
    let before = world.running.clone();
    world.call(1, "mcp_b_x", "");
    let id = world.asked("b", "tools/call");
    world.call(2, "mcp_a_x", "");
    world.said.clear();
    configure(&mut world, &servers(&["c", "b"]));
    assert_eq!(world.closed, [before["a"]]);
    assert!(world.answered(2).contains("it was taken out of the configuration"));
    assert!(world.said.iter().any(|(_, text)| text.contains("tools/list_changed")));
    assert_eq!(world.running["b"], before["b"]);
    assert_eq!(world.started.last().unwrap().1.server, "c");
    world.line("b", &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#));
    assert!(world.answered(1).contains(r#""content":[]"#));
    world.legacy("c", &["z"]);
    assert_eq!(world.offered(), ["mcp_c_z", "mcp_b_x", "mcp_b_y"]);
    world.call(3, "mcp_a_x", "");
    assert!(world.answered(3).contains("mcp_b_x"), "a name that is gone is unknown");
    world.call(4, "mcp_c_z", "");
    assert_eq!(string_at(&world.read("c"), &["params", "name"]).as_deref(), Some("z"));
    let fields = told(&world, "configuration_changed").pop().unwrap();
    assert_eq!(fields, r#"{"started":["c"],"restarted":[],"stopped":["a"],"policy":false}"#);
}

#[test]
fn a_server_is_started_anew_only_where_it_is_reached_otherwise() {
    let entry = |more: &str| format!(r#"{{"mcp_servers":[{{"name":"a","transport":{{"type":"stdio","command":"a"}}{more}}}]}}"#);
    let mut world = World::shaken(&entry(""));
    world.legacy("a", &["x"]);
    let first = world.running["a"];
    configure(&mut world, &entry(r#","timeout_secs":2,"template_id":"t","taint_scanning":false"#));
    assert!(world.closed.is_empty() && world.running["a"] == first);
    world.call(1, "mcp_a_x", "");
    world.asked("a", "tools/call");
    world.advance(2000);
    assert_eq!(world.error(1).0, "timeout", "the new time holds");
    world.asked("a", "notifications/cancelled");
    world.call(2, "mcp_a_x", "");
    configure(&mut world, &entry(r#","env":["A=b"]"#));
    assert_eq!(world.closed, [first]);
    assert!(world.error(2).1.contains("it is configured otherwise now"));
    assert_eq!(world.started.last().unwrap().1.env, ["A=b"]);
    assert!(world.offered().is_empty(), "its tools are not known yet");
    world.legacy("a", &["x"]);
    assert_eq!(world.offered(), ["mcp_a_x"]);
    assert!(told(&world, "configuration_changed").pop().unwrap().contains(r#""restarted":["a"]"#));
}

#[test]
fn the_same_again_is_nothing() {
    let mut world = World::shaken(&servers(&["a"]));
    world.legacy("a", &["x"]);
    let (told, said) = (world.notices.len(), world.said.len());
    configure(&mut world, &servers(&["a"]));
    assert_eq!((world.notices.len(), world.said.len()), (told, said));
    configure(&mut world, &with(&["a"], r#","limits":{"calls_per_peer":1}"#));
    assert!(world.notices.last().unwrap().1.contains(r#""at_next_start":["limits"]"#));
}

#[test]
fn a_server_that_waited_to_be_tried_again_is_tried_at_once_where_it_changed() {
    let mut world = World::shaken(&servers(&["a"]));
    world.event("a", LinkEvent::Closed("is missing".into()));
    world.event("a", LinkEvent::Closed("is missing".into()));
    let started = world.started.len();
    configure(&mut world, r#"{"mcp_servers":[{"name":"a","transport":{"type":"stdio","command":"b"}}]}"#);
    assert_eq!((world.started.len(), world.started[started].1.command.as_str()), (started + 1, "b"));
}

#[test]
fn another_policy_holds_at_once() {
    let mut world = World::shaken(&servers(&["a"]));
    world.legacy("a", &["x", "y"]);
    configure(&mut world, &with(&["a"], GATED));
    world.call(1, "mcp_a_x", "");
    assert!(world.is_quiet("a"));
    world.call(2, "mcp_a_y", r#","arguments":{"password":"hunter2hunter2"}"#);
    assert_eq!(world.error(2).0, "blocked");
    configure(
        &mut world,
        &with(&["a"], r#","mcp_taint_policy":[{"tool":"mcp_a_y","skip_rules":["SensitiveKeyName","OpaqueToken"]}]"#),
    );
    world.call(3, "mcp_a_y", r#","arguments":{"password":"hunter2hunter2"}"#);
    let first = world.read("a");
    assert_eq!(string_at(&first, &["params", "name"]).as_deref(), Some("x"), "nothing holds the call that waited any more");
    assert_eq!(string_at(&world.read("a"), &["params", "name"]).as_deref(), Some("y"));
    configure(&mut world, &with(&["a"], r#","agents":{"default":{"mcp_servers":[]}}"#));
    world.call(4, "mcp_a_y", "");
    assert_eq!(world.error(4).0, "blocked");
}

#[test]
fn what_was_asked_under_the_earlier_policy_is_void_and_asked_anew() {
    let mut world = World::shaken(&with(&["a"], GATED));
    world.legacy("a", &["x"]);
    world.call(1, "mcp_a_x", r#","arguments":{"n":1}"#);
    let earlier = proposed(&world);
    let policy = r#","approval":{"require_approval":["mcp_*_x"],"timeout_secs":10,"cache_approvals_per_session":false}"#;
    configure(&mut world, &with(&["a"], policy));
    let later = proposed(&world);
    assert_ne!(earlier, later);
    assert_eq!(told(&world, "approval_voided").len(), 1);
    world.input(Input::Decision { approval: earlier, approved: true, reason: None });
    assert!(world.is_quiet("a"), "an approval of the earlier policy lets nothing out");
    world.input(Input::Decision { approval: later, approved: true, reason: None });
    assert_eq!(at(&world.read("a"), &["params", "arguments"]).as_deref(), Some(r#"{"n":1}"#));
    assert!(world.is_quiet("a"));
}

#[test]
fn a_call_that_waits_for_its_server_is_held_against_the_later_policy() {
    let mut world = World::shaken(&servers(&["a"]));
    world.legacy("a", &["x"]);
    world.event("a", LinkEvent::Closed("ended".into()));
    world.advance(1500);
    world.event("a", LinkEvent::Opened);
    world.call(1, "mcp_a_x", r#","arguments":{"n":1},"_meta":{"vendor/x":7}"#);
    configure(&mut world, &with(&["a"], GATED));
    world.handshake("a", &["x"]);
    assert!(world.is_quiet("a"), "the earlier policy let it out, and the later one does not");
    let id = proposed(&world);
    world.input(Input::Decision { approval: id, approved: true, reason: None });
    let sent = world.read("a");
    assert_eq!(at(&sent, &["params", "arguments"]).as_deref(), Some(r#"{"n":1}"#));
    assert_eq!(at(&sent, &["params", "_meta", "vendor/x"]).as_deref(), Some("7"));
    assert!(world.is_quiet("a"));
}

#[test]
fn a_call_that_was_approved_and_waits_for_its_server_is_asked_again_where_the_tool_is_another_one() {
    let tools = |words: &str| {
        format!(r#""result":{{"tools":[{{"name":"x","description":"{words}","inputSchema":{{"type":"object"}}}}]}}"#)
    };
    for (words, asks) in [("as before", false), ("otherwise", true)] {
        let mut world = World::shaken(&with(
            &["a"],
            r#","mcp":{"pins":false},"approval":{"require_approval":true,"cache_approvals_per_session":false}"#,
        ));
        world.legacy("a", &[]);
        world.line("a", r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
        world.advance(1000);
        world.answer("a", "tools/list", &tools("as before"));
        world.call(1, "mcp_a_x", "");
        let id = proposed(&world);
        world.event("a", LinkEvent::Closed("ended".into()));
        world.advance(1500);
        world.event("a", LinkEvent::Opened);
        world.input(Input::Decision { approval: id.clone(), approved: true, reason: None });
        world.answer("a", "initialize", r#""result":{"protocolVersion":"2025-11-25","capabilities":{}}"#);
        world.asked("a", "notifications/initialized");
        world.answer("a", "tools/list", &tools(words));
        assert_eq!((world.is_quiet("a"), proposed(&world) != id), (asks, asks), "{words}");
    }
}

#[test]
fn what_a_session_approved_is_asked_again_under_another_policy() {
    let mut world = World::shaken(&with(&["a"], GATED));
    world.legacy("a", &["x"]);
    world.call(1, "mcp_a_x", "");
    let id = proposed(&world);
    world.input(Input::Decision { approval: id, approved: true, reason: None });
    world.read("a");
    world.call(2, "mcp_a_x", "");
    world.read("a");
    configure(&mut world, &with(&["a"], r#","approval":{"require_approval":["mcp_a_*"]}"#));
    world.call(3, "mcp_a_x", "");
    assert!(world.is_quiet("a"));
}

/// Approves the call that waits, and reads it.
fn approve(world: &mut World, server: &str) {
    let id = proposed(world);
    world.input(Input::Decision { approval: id, approved: true, reason: None });
    world.read(server);
}

#[test]
fn what_a_session_approved_is_asked_again_of_another_tool_that_goes_by_its_name() {
    let any = r#","mcp":{"pins":false},"approval":{"require_approval":true}"#;
    let mut world = World::shaken(&with(&["a", "a_b"], any));
    world.legacy("a", &["b_c"]);
    world.legacy("a_b", &["z"]);
    world.call(1, "mcp_a_b_c", "");
    approve(&mut world, "a");
    world.call(2, "mcp_a_b_c", "");
    world.read("a");
    world.change("a", &[("other", "")]);
    world.change("a_b", &[("c", "")]);
    assert_eq!(world.offered(), ["mcp_a_other", "mcp_a_b_c"]);
    world.call(3, "mcp_a_b_c", "");
    assert!(world.is_quiet("a_b"), "another server's tool goes by the name that was approved");
    approve(&mut world, "a_b");
    world.change("a_b", &[("c", "described otherwise")]);
    world.call(4, "mcp_a_b_c", "");
    assert!(world.is_quiet("a_b"), "its server describes it otherwise by now");
}

#[test]
fn what_was_asked_of_a_server_that_is_reached_otherwise_by_now_goes_to_nobody() {
    let entry = |args: &str| {
        format!(r#"{{"mcp_servers":[{{"name":"a","transport":{{"type":"stdio","command":"a","args":{args}}}}}]{GATED}}}"#)
    };
    let mut world = World::shaken(&entry("[]"));
    world.legacy("a", &["x"]);
    for number in [1, 2] {
        if number == 2 {
            configure(&mut world, &entry(r#"["--live"]"#));
            assert!(world.error(1).1.contains("configured otherwise now"));
            let id = proposed(&world);
            world.input(Input::Decision { approval: id, approved: true, reason: None });
            world.legacy("a", &["x"]);
        }
        world.call(number, "mcp_a_x", "");
        assert!(world.is_quiet("a"));
    }
    approve(&mut world, "a");
    configure(&mut world, &entry("[]"));
    world.legacy("a", &["x"]);
    world.call(3, "mcp_a_x", "");
    assert!(world.is_quiet("a"), "what the session approved is another server's tool by now");
}

#[test]
fn a_call_that_waits_goes_with_its_server_and_stays_with_another_one_s() {
    let mut world = World::shaken(&with(&["a", "b"], GATED));
    world.legacy("a", &["x"]);
    world.legacy("b", &["x"]);
    world.call(1, "mcp_a_x", "");
    let of_a = proposed(&world);
    world.call(2, "mcp_b_x", "");
    let of_b = proposed(&world);
    configure(&mut world, &with(&["b"], GATED));
    assert!(world.error(1).1.contains("taken out of the configuration"));
    assert_eq!(told(&world, "approval_withdrawn").len(), 1);
    world.input(Input::Decision { approval: of_a, approved: true, reason: None });
    assert!(world.is_quiet("b"));
    world.input(Input::Decision { approval: of_b, approved: true, reason: None });
    world.asked("b", "tools/call");
}

#[test]
fn agents_of_the_configuration_are_connected_where_they_are_new() {
    let mut world = World::shaken(r#"{"external_agents":[{"name":"one","url":"https://one.test"}]}"#);
    world.fetches.clear();
    configure(
        &mut world,
        r#"{"external_agents":[{"name":"one","url":"https://one.test"},{"name":"two","url":"https://two.test","headers":{"Authorization":"Bearer correct-horse"}}]}"#,
    );
    assert!(!world.fetches.is_empty() && world.fetches.iter().all(|(_, request)| request.url.starts_with("https://two.test")));
    world.call(1, "list_agents", "");
    let listed = world.answered(1);
    assert!(listed.contains("one.test") && listed.contains("two.test"));
}

#[test]
fn whoever_has_no_token_any_more_is_let_go() {
    let tokens = |names: &[&str]| {
        let list: Vec<String> =
            names.iter().map(|name| format!(r#"{{"token":"token-of-{name}","principal":"{name}"}}"#)).collect();
        format!(r#"{{"auth":{{"tokens":[{}]}}}}"#, list.join(","))
    };
    let mut world = World::new(&tokens(&["ada", "bob"]));
    let mut number = 0;
    let mut ask = |world: &mut World, name: &str, session: Option<&str>, text: &str| {
        number += 1;
        let request = RequestId(number);
        let mut headers = vec![
            ("Host".to_owned(), "localhost".to_owned()),
            ("Authorization".to_owned(), format!("Bearer token-of-{name}")),
            ("Accept".to_owned(), "application/json, text/event-stream".to_owned()),
            ("Content-Type".to_owned(), "application/json".to_owned()),
        ];
        headers.extend(session.map(|session| ("Mcp-Session-Id".to_owned(), session.to_owned())));
        let method = if text.is_empty() { "GET" } else { "POST" }.to_owned();
        world.input(Input::Request { request, method, target: "/mcp".into(), headers });
        world.input(Input::RequestBody { request, bytes: text.as_bytes().to_vec() });
        world.input(Input::RequestEnd { request });
    };
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#;
    let mut sessions = Vec::new();
    for name in ["ada", "bob"] {
        ask(&mut world, name, None, hello);
        sessions.push(world.session.take().unwrap());
        ask(&mut world, name, sessions.last().map(String::as_str), "");
    }
    assert_eq!(world.ended, 2, "two answers, and two streams that stay");
    configure(&mut world, &tokens(&["bob"]));
    assert_eq!(world.ended, 3);
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    ask(&mut world, "ada", Some(&sessions[0]), list);
    assert_eq!(world.responses.last().unwrap().0, 401);
    ask(&mut world, "bob", Some(&sessions[1]), list);
    assert_eq!(world.responses.last().unwrap().0, 200);
}
