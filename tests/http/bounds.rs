//! What is taken at most, what is left when clients vanish, and the end.

use narrows::gateway::Secrets;
use narrows::io::{Input, Misuse, RequestId};
use narrows::time::Instant;

use super::world::{CONNECT, LEGACY, SEND, SEND_WITH_PROGRESS, World, initialize, rpc};

#[test]
fn requests_beyond_the_limit_are_told_to_come_back() {
    let mut world = World::new(r#"{"limits":{"requests":2}}"#);
    let listen = |world: &mut World| world.modern("1", "subscriptions/listen", "", r#"{"notifications":{}}"#);
    let (one, two) = (listen(&mut world), listen(&mut world));
    let three = listen(&mut world);
    let response = world.done(three);
    assert_eq!((response.status, response.header("retry-after")), (503, Some("1")));
    assert!(!world.responses.get(&one).unwrap().ended && !world.responses.get(&two).unwrap().ended, "nothing else suffers");
    world.gone(one);
    let four = listen(&mut world);
    assert_eq!(world.responses.get(&four).map(|response| response.status), Some(200));
}

#[test]
fn sessions_that_were_idle_for_long_make_room() {
    let mut world = World::new(r#"{"limits":{"sessions":9}}"#);
    let (one, two) = (world.session(LEGACY, &[]), world.session(LEGACY, &[]));
    world.head("GET", "/mcp", &[("Mcp-Session-Id", &one)]);
    world.pass(1_799_999);
    let three = world.session(LEGACY, &[]);
    world.pass(1);
    world.session(LEGACY, &[]);
    let request = world.legacy(&two, "1", "ping", "{}");
    assert_eq!(world.done(request).status, 404, "idle for half an hour");
    for (name, why) in [(&one, "it listens"), (&three, "it is younger")] {
        let request = world.legacy(name, "1", "ping", "{}");
        assert_eq!(world.done(request).status, 200, "{why}");
    }
}

#[test]
fn bodies_and_heads_are_bounded() {
    let mut world = World::new(r#"{"limits":{"request_bytes":200,"incoming_bytes":300,"header_bytes":1000}}"#);
    let head = |world: &mut World, length: &str| {
        world.head("POST", "/mcp", &[("Content-Type", "application/json"), ("Content-Length", length)])
    };
    let feed = |world: &mut World, request: u64, bytes: usize| {
        world.input(Input::RequestBody { request: RequestId(request), bytes: vec![b' '; bytes] });
        world.responses.get(&request).map(|response| response.status)
    };
    let request = head(&mut world, "201");
    assert_eq!(world.done(request).status, 413);
    let one = head(&mut world, "200");
    assert_eq!(feed(&mut world, one, 200), None);
    let two = head(&mut world, "200");
    assert_eq!(feed(&mut world, two, 101), Some(503), "together they are too large");
    assert_eq!(feed(&mut world, one, 1), Some(413));
    assert_eq!(feed(&mut world, one, 1), Some(413), "what still comes is not wanted");
    let three = head(&mut world, "200");
    assert_eq!(feed(&mut world, three, 200), None, "the room of those that were refused is free");
    world.gone(three);
    let four = head(&mut world, "200");
    assert_eq!(feed(&mut world, four, 200), None, "and of one that left");
    let long = "x".repeat(1000);
    let request = world.head("POST", "/mcp", &[("Content-Type", "application/json"), ("X-Long", &long)]);
    assert_eq!(world.done(request).status, 431);
}

#[test]
fn numbers_are_the_hosts_to_keep_apart() {
    let mut world = World::new("{}");
    let request = world.head("POST", "/mcp", &[("Content-Type", "application/json")]);
    let again = |number| Input::Request {
        request: RequestId(number),
        method: "GET".into(),
        target: "/healthz".into(),
        headers: Vec::new(),
    };
    let mut handle = |input| world.gateway.handle_input(Instant::from_ms(0), input);
    assert_eq!(handle(again(request)), Err(Misuse::RequestOpen(RequestId(request))));
    assert_eq!(handle(again(1 << 53)), Err(Misuse::OutOfRange("request")));
    for late in [Input::RequestEnd { request: RequestId(99) }, Input::RequestGone { request: RequestId(99) }] {
        assert_eq!(handle(late), Ok(()));
    }
}

#[test]
fn a_thousand_vanished_clients_leave_nothing() {
    let mut world = World::new("{}");
    let session = world.session(LEGACY, &[]);
    world.connect(|world| world.legacy(&session, "1", "tools/call", CONNECT));
    world.connect(|world| world.modern("1", "tools/call", "connect_agent", CONNECT));
    let size = |world: &World| world.gateway.snapshot(Secrets::Keep).iter().map(String::len).sum::<usize>();
    let mut sizes = Vec::new();
    for round in 0..1000 {
        let calling = world.modern(&round.to_string(), "tools/call", "send_message", SEND_WITH_PROGRESS);
        let stream = world.begin_stream();
        world.work(&stream, "thinking");
        world.gone(calling);
        let listening = world.modern("1", "subscriptions/listen", "", r#"{"notifications":{}}"#);
        world.gone(listening);
        let standing = world.head("GET", "/mcp", &[("Mcp-Session-Id", &session)]);
        world.gone(standing);
        let half = world.head("POST", "/mcp", &[("Content-Type", "application/json")]);
        world.input(Input::RequestBody { request: RequestId(half), bytes: vec![b'{'; 100_000] });
        world.gone(half);
        let kept = world.legacy(&session, &round.to_string(), "tools/call", SEND);
        let stream = world.begin_stream();
        world.gone(kept);
        world.complete(&stream);
        for (exchange, _) in std::mem::take(&mut world.fetches) {
            world.reply(exchange, "application/json", "{}");
        }
        world.responses.clear();
        if round >= 400 {
            sizes.push(size(&world));
        }
    }
    assert!(world.gateway.poll_timeout().is_none(), "nothing is waited for");
    let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
    assert!(most - least < 2000, "the state does not grow: {least} to {most} bytes");
}

#[test]
fn the_end_answers_what_was_asked() {
    let mut world = World::new("{}");
    let session = world.session(LEGACY, &[]);
    world.connect(|world| world.legacy(&session, "1", "tools/call", CONNECT));
    let plain = world.legacy(&session, "7", "tools/call", SEND);
    let stream = world.begin_stream();
    let told = world.legacy(&session, "8", "tools/call", SEND_WITH_PROGRESS);
    let told_stream = world.begin_stream();
    world.work(&told_stream, "thinking");
    let standing = world.head("GET", "/mcp", &[("Mcp-Session-Id", &session)]);
    let half = world.head("POST", "/mcp", &[("Content-Type", "application/json")]);
    world.input(Input::Stop);
    let response = world.done(plain);
    assert!(response.status == 200 && response.body.contains(r#""id":7"#) && response.body.contains("t1"), "{response:?}");
    assert!(world.done(told).body.contains(r#""id":8"#));
    assert!(world.done(standing).is_stream());
    assert_eq!(world.done(half).status, 503);
    assert_eq!(world.aborts, [stream.exchange, told_stream.exchange]);
    assert!(world.fetches.is_empty(), "the tasks go on");
    let kept = world.gateway.snapshot(Secrets::Keep).concat();
    assert!(kept.contains("the gateway is stopping while this call was running") && !kept.contains("its caller left"));
    assert_eq!(world.answer(&[], &initialize(LEGACY)).status, 503);
    assert_eq!(world.answer(&[("Mcp-Session-Id", &session)], &rpc("1", "ping", "{}")).status, 503);
    assert!(world.gateway.poll_timeout().is_none());
}
