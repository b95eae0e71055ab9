//! Sessions of the field: the server's side of them over HTTP.

use narrows::io::Cause;

use super::cases::CLIENT;
use super::support::case::{host_with, part, send, walk};
use super::support::text::{at, string_at};
use super::world::{CONNECT, LEGACY, SEND, SEND_WITH_PROGRESS, World, initialize, rpc};

#[test]
fn sessions() {
    let clients = ["sess-001", "sess-004", "sess-008", "sess-011", "sess-013", "sess-014", "sess-017"];
    walk("sessions-reconnection.json", &clients.map(|id| (id, CLIENT)), |case| match case.id.as_str() {
        "sess-002" => {
            assert_eq!(string_at(&case.input, &["send_failure"]).as_deref(), Some("ECONNRESET"));
            let mut host = host_with("bob", "https://bob.test/a2a", "");
            let number = send(&mut host, "bob", "");
            let (exchange, _) = host.fetch();
            host.fail(exchange, Cause::Reset);
            let answer = host.answer(number).expect("the caller's id is answered");
            assert!(at(&answer, &["result", "structuredContent", "error"]).is_some(), "{answer}");
        }
        "sess-005" => {
            let ids = super::support::case::list(&part(&case.input, &["same_ids"]));
            let mut world = World::new("{}");
            let mut running = Vec::new();
            for id in &ids {
                let session = world.session(LEGACY, &[]);
                world.connect(|world| world.legacy(&session, "0", "tools/call", CONNECT));
                running.push((world.legacy(&session, id, "tools/call", SEND_WITH_PROGRESS), world.begin_stream()));
            }
            for (at, (_, stream)) in running.iter().enumerate().rev() {
                world.work(stream, &format!("for session {at}"));
                world.complete(stream);
            }
            for (at, (request, _)) in running.iter().enumerate() {
                let body = world.done(*request).body;
                assert_eq!(body.matches("for session").count(), body.matches(&format!("for session {at}")).count());
                assert!(body.contains(&format!("for session {at}")) && body.contains(&format!(r#""id":{}"#, ids[at])));
            }
        }
        "sess-007" => {
            let disconnects: usize = part(&case.input, &["disconnects"]).parse().unwrap();
            let open = clients_that_vanish(disconnects);
            assert_eq!(open.to_string(), part(&case.expected, &["open_children"]));
        }
        "sess-010" => {
            let asked = string_at(&case.input, &["initialize", "protocolVersion"]).unwrap();
            let answer = World::new("{}").answer(&[], &initialize(&asked));
            let spoken = string_at(&answer.body, &["result", "protocolVersion"]);
            assert!(spoken.is_some() && spoken != string_at(&case.expected, &["result.protocolVersion_not"]));
        }
        "sess-016" => {
            let mut fields = vec![("MCP-Protocol-Version".to_owned(), "2026-07-28".to_owned())];
            for name in ["Mcp-Method", "Mcp-Name"] {
                fields.push((name.to_owned(), string_at(&case.input, &["headers", name]).unwrap()));
            }
            let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let params = super::world::with_meta(&part(&case.input, &["body", "params"]).replace([' ', '\n'], ""));
            let method = string_at(&case.input, &["body", "method"]).unwrap();
            let answer = World::new("{}").answer(&fields, &rpc("1", &method, &params));
            assert_eq!(answer.status, 400);
            assert_eq!(at(&answer.body, &["error", "code"]).unwrap(), part(&case.expected, &["error"]), "{answer:?}");
        }
        unknown => panic!("nothing checks {unknown}"),
    });
}

/// Clients of both eras that begin something and go without a word; the exchanges with agents that are open then.
fn clients_that_vanish(count: usize) -> usize {
    let mut world = World::new(r#"{"limits":{"sessions":8}}"#);
    let (mut begun, mut most) = (0, 0);
    for number in 0..count {
        let request = if number % 2 == 0 {
            let session = world.session(LEGACY, &[]);
            world.connect(|world| world.legacy(&session, "1", "tools/call", CONNECT));
            world.legacy(&session, "2", "tools/call", SEND)
        } else {
            if number == 1 {
                world.connect(|world| world.modern("1", "tools/call", "connect_agent", CONNECT));
            }
            world.modern("2", "tools/call", "send_message", SEND)
        };
        begun += world.fetches.drain(..).count();
        world.gone(request);
        most = most.max(begun - world.aborts.len());
        // In a session the call goes on: it ends with its deadline.
        world.pass(10_000);
    }
    world.pass(60_000);
    world.fetches.clear();
    assert!(most <= 8, "{most} exchanges were open at once");
    let records = world.storage.keys().len();
    assert!(records <= 8 * 16, "{records} records are kept of 8 sessions");
    begun - world.aborts.len()
}

#[test]
fn sessions_of_clients_that_vanished_make_room_at_once() {
    let mut world = World::new(r#"{"limits":{"sessions":3}}"#);
    let (one, two, three) = (world.session(LEGACY, &[]), world.session(LEGACY, &[]), world.session(LEGACY, &[]));
    let ping = |world: &mut World, name: &str| {
        let request = world.legacy(name, "1", "ping", "{}");
        world.done(request).status
    };
    // One is listened to, two was used after three.
    world.head("GET", "/mcp", &[("Mcp-Session-Id", &one)]);
    world.pass(1);
    assert_eq!(ping(&mut world, &three), 200);
    world.pass(1);
    assert_eq!(ping(&mut world, &two), 200);
    let four = world.session(LEGACY, &[]);
    assert_eq!(ping(&mut world, &three), 404, "the longest unused one makes room");
    world.pass(1);
    assert_eq!((ping(&mut world, &two), ping(&mut world, &four)), (200, 200), "nothing else suffers");
    // A call runs in two; four is the only one left.
    world.connect(|world| world.legacy(&two, "1", "tools/call", CONNECT));
    let call = world.legacy(&two, "2", "tools/call", SEND);
    let stream = world.begin_stream();
    let five = world.session(LEGACY, &[]);
    assert_eq!(ping(&mut world, &four), 404);
    world.head("GET", "/mcp", &[("Mcp-Session-Id", &five)]);
    assert_eq!(world.answer(&[], &initialize(LEGACY)).status, 503, "all of them are in use");
    world.complete(&stream);
    assert_eq!(world.done(call).status, 200);
    let six = world.session(LEGACY, &[]);
    assert_eq!((ping(&mut world, &two), ping(&mut world, &six)), (404, 200));
}

const TOKENS: &str = r#""auth":{"tokens":[{"token":"alpha-token","principal":"a"},{"token":"beta-token-2","principal":"b"}]}"#;
const A: (&str, &str) = ("Authorization", "Bearer alpha-token");
const B: (&str, &str) = ("Authorization", "Bearer beta-token-2");

#[test]
fn one_principal_takes_no_sessions_from_another() {
    let mut world = World::new(&format!(r#"{{"limits":{{"sessions":2}},{TOKENS}}}"#));
    let theirs = world.session(LEGACY, &[B]);
    for _ in 0..5 {
        let session = world.session(LEGACY, &[A]);
        world.head("GET", "/mcp", &[("Mcp-Session-Id", &session), A]);
        if world.answer(&[A], &initialize(LEGACY)).status == 503 {
            break;
        }
    }
    assert_eq!(world.answer(&[A], &initialize(LEGACY)).status, 503);
    assert_eq!(world.answer(&[("Mcp-Session-Id", &theirs), B], &rpc("1", "ping", "{}")).status, 200);
    world.session(LEGACY, &[B]);
}

#[test]
fn one_principal_takes_no_requests_from_another() {
    let mut world = World::new(&format!(r#"{{"limits":{{"requests":2}},"a2a":{{}},{TOKENS}}}"#));
    let listen = |world: &mut World, who| world.modern_as(&[who], "1", "subscriptions/listen", "", r#"{"notifications":{}}"#);
    for _ in 0..2 {
        listen(&mut world, A);
    }
    let three = listen(&mut world, A);
    assert_eq!(world.done(three).status, 503);
    for target in ["/healthz", "/.well-known/agent-card.json"] {
        let request = world.send("GET", target, &[], "");
        assert_eq!(world.done(request).status, 200, "{target}");
    }
    let theirs = listen(&mut world, B);
    assert_eq!(world.responses.get(&theirs).map(|response| response.status), Some(200));
}

#[test]
fn one_principal_takes_no_room_for_bodies_from_another() {
    let mut world = World::new(&format!(r#"{{"limits":{{"incoming_bytes":300,"request_bytes":250}},{TOKENS}}}"#));
    let begin = |world: &mut World, who: (&str, &str), bytes: usize| {
        let fields = [who, ("Content-Type", "application/json"), ("Accept", "*/*")];
        let request = world.head("POST", "/mcp", &fields);
        world.input(narrows::io::Input::RequestBody { request: narrows::io::RequestId(request), bytes: vec![b' '; bytes] });
        world.responses.get(&request).map(|response| response.status)
    };
    assert_eq!((begin(&mut world, A, 200), begin(&mut world, A, 200)), (None, Some(503)));
    assert_eq!((begin(&mut world, B, 200), begin(&mut world, A, 100)), (None, None));
}
