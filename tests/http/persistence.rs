//! Sessions after a restart, and what a trace holds.

use narrows::config::Config;
use narrows::gateway::{Gateway, Genesis, Secrets};
use narrows::io::{Input, RequestId};

use super::world::{CONNECT, LEGACY, LIST_AGENTS, SEND_WITH_PROGRESS, World, genesis, rpc, with_meta};

fn restart(world: &World, secrets: Secrets) -> World {
    let pieces = world.gateway.snapshot(secrets);
    let config = Config { storage: true, ..Config::default() };
    let genesis = Genesis { seed: [8; 32], ..genesis(world.now) };
    let mut again = World::with(Gateway::restore(genesis, config.clone(), &pieces).unwrap(), config);
    again.now = world.now;
    again.drain();
    again.pass(0);
    again
}

#[test]
fn sessions_and_what_they_missed_survive_a_restart() {
    let mut world = World::new("{}");
    let session = world.session(LEGACY, &[]);
    world.connect(|world| world.legacy(&session, "1", "tools/call", CONNECT));
    world.connect(|world| world.modern("1", "tools/call", "connect_agent", CONNECT));
    let running = world.legacy(&session, "7", "tools/call", SEND_WITH_PROGRESS);
    let stream = world.begin_stream();
    world.work(&stream, "before");
    let alone = world.modern("8", "tools/call", "send_message", SEND_WITH_PROGRESS);
    let stream = world.begin_stream();
    world.work(&stream, "before");
    assert!(!world.responses.get(&running).unwrap().ended && !world.responses.get(&alone).unwrap().ended);

    let mut world = restart(&world, Secrets::Keep);
    assert!(world.responses.is_empty());
    let request = world.legacy(&session, "2", "tools/call", LIST_AGENTS);
    assert!(world.done(request).body.contains("agent.test"));
    let request = world.modern("2", "tools/call", "list_agents", LIST_AGENTS);
    assert!(world.done(request).body.contains("agent.test"));
    // The stream of the running call was the session's third, after the handshake and the connecting.
    let fields = [("Mcp-Session-Id", session.as_str()), ("Accept", "text/event-stream"), ("Last-Event-ID", "3-0")];
    let request = world.head("GET", "/mcp", &fields);
    let response = world.done(request);
    assert!(response.body.contains("before") && response.body.contains(r#""id":7,"result""#), "{}", response.body);
    assert!(response.body.contains("restarted") && response.body.contains("t1"), "{}", response.body);
    let other = world.session(LEGACY, &[]);
    assert_ne!(other, session);
    let request = world.legacy(&other, "1", "tools/call", LIST_AGENTS);
    assert!(!world.done(request).body.contains("agent.test"), "a new session is a new scope");
}

#[test]
fn a_snapshot_to_hand_on_names_no_session() {
    let mut world = World::new("{}");
    let session = world.session(LEGACY, &[]);
    world.connect(|world| world.legacy(&session, "1", "tools/call", CONNECT));
    let pieces = world.gateway.snapshot(Secrets::Drop).concat();
    assert!(!pieces.contains(&session) && pieces.contains("agent.test"), "{pieces}");
    let mut world = restart(&world, Secrets::Drop);
    let request = world.legacy(&session, "1", "ping", "{}");
    assert_eq!(world.done(request).status, 404);
}

#[test]
fn a_trace_holds_no_token_and_replays() {
    let config = r#"{"auth":{"tokens":[{"token":"alpha-token","principal":"a"}]}}"#;
    let mut world = World::new(config);
    world.gateway.set_trace(true);
    world.session(LEGACY, &[("Authorization", "Bearer alpha-token")]);
    world.answer(&[("authorization", "Bearer wrong-token-1"), ("Cookie", "a=cookie-value-1")], "{}");
    let tool = CONNECT.replace("\"alias\"", r#""headers":{"X-Key":"tool-secret-1"},"alias""#);
    let request = world.head("POST", "/mcp", &[("Content-Type", "application/json"), ("Authorization", "Bearer alpha-token")]);
    let body = rpc("1", "tools/call", &with_meta(&tool));
    for half in body.as_bytes().chunks(body.find("secret-1").unwrap()) {
        world.input(Input::RequestBody { request: RequestId(request), bytes: half.to_vec() });
    }
    world.gone(request);
    let session = world.session(LEGACY, &[("Authorization", "Bearer alpha-token")]);
    let fields = [("Content-Type", "application/json"), ("Authorization", "Bearer alpha-token"), ("Mcp-Session-Id", &session)];
    let request = world.head("POST", "/mcp", &fields);
    let body = rpc("1", "tools/call", &tool);
    for half in body.as_bytes().chunks(body.find("secret-1").unwrap()) {
        world.input(Input::RequestBody { request: RequestId(request), bytes: half.to_vec() });
    }
    world.input(Input::RequestEnd { request: RequestId(request) });
    let lines: Vec<String> = std::iter::from_fn(|| world.gateway.poll_trace()).collect();
    for secret in ["alpha-token", "wrong-token-1", "cookie-value-1", "tool-s", "ecret-1"] {
        assert!(!lines.iter().any(|line| line.contains(secret)), "{secret}");
    }
    assert!(lines[0].contains(r#""token":"secret:1""#), "{}", lines[0]);
    assert!(lines.iter().any(|line| line.contains("connect_agent") && line.contains("secret:")), "{lines:?}");
    let statuses: Vec<&String> = lines.iter().filter(|line| line.contains("response_head")).collect();
    assert!(statuses[0].contains(r#""status":200"#) && statuses[1].contains(r#""status":401"#), "{statuses:?}");

    let mut again = World::new(&config.replace("alpha-token", "secret:1"));
    again.gateway.set_trace(true);
    again.session(LEGACY, &[("Authorization", "Bearer secret:1")]);
    let replayed: Vec<String> = std::iter::from_fn(|| again.gateway.poll_trace()).collect();
    assert_eq!(lines[..replayed.len()], replayed[..]);
}

#[test]
fn a_session_after_a_restart_with_the_same_seed_has_a_name_of_its_own() {
    let mut world = World::new("{}");
    let first = world.session(LEGACY, &[]);
    let pieces = world.gateway.snapshot(Secrets::Keep);
    let config = world.config.clone();
    let gateway = Gateway::restore(genesis(world.now), config.clone(), &pieces).unwrap();
    let mut again = World::with(gateway, config);
    assert_ne!(again.session(LEGACY, &[]), first);
}

#[test]
fn what_is_refused_is_traced_without_the_credentials_in_it() {
    let mut world = World::new("{}");
    world.gateway.set_trace(true);
    let tool = CONNECT.replace("\"alias\"", r#""headers":{"X-Key":"tool-secret-1"},"alias""#);
    let whole = rpc("1", "tools/call", &tool);
    let broken = whole.trim_end_matches('}').to_owned();
    for body in [whole.clone(), broken, whole.replace("2.0", "1.0"), format!("[[{whole}]]")] {
        let status = world.answer(&[("Mcp-Session-Id", "none")], &body).status;
        assert!(status == 400 || status == 404, "{status} {body}");
    }
    let lines: Vec<String> = std::iter::from_fn(|| world.gateway.poll_trace()).collect();
    assert!(!lines.concat().contains("tool-secret-1"), "{lines:#?}");
}
