//! Streams of sessions that break and are taken up again (MCP 2025-11-25, transports, resumability).

use super::world::{CONNECT, LEGACY, SEND, SEND_WITH_PROGRESS, World, rpc};

fn get(world: &mut World, session: &str, last: Option<&str>) -> u64 {
    let mut fields = vec![("Mcp-Session-Id", session), ("Accept", "text/event-stream")];
    fields.extend(last.map(|last| ("Last-Event-ID", last)));
    world.head("GET", "/mcp", &fields)
}

/// The ids of the events in a body.
fn ids(body: &str) -> Vec<&str> {
    body.lines().filter_map(|line| line.strip_prefix("id: ")).collect()
}

#[test]
fn streams_of_the_newest_handshake_begin_with_an_id() {
    for (version, primed) in [("2024-11-05", false), ("2025-03-26", false), ("2025-06-18", false), (LEGACY, true)] {
        let mut world = World::new("{}");
        let session = world.session(version, &[]);
        world.connect(|world| world.legacy(&session, "1", "tools/call", CONNECT));
        let request = world.legacy(&session, "2", "tools/call", SEND_WITH_PROGRESS);
        let stream = world.begin_stream();
        world.work(&stream, "thinking");
        let begins_with_id = world.body(request).contains("\ndata:\n\n");
        assert_eq!(begins_with_id, primed, "{version}: {}", world.body(request));
        assert!(world.body(request).starts_with("id: "));
        assert_eq!(world.body(request).contains("retry: "), primed);
    }
}

#[test]
fn whoever_leaves_cancels_nothing_and_may_come_back() {
    let mut world = World::new("{}");
    let session = world.session(LEGACY, &[]);
    world.connect(|world| world.legacy(&session, "1", "tools/call", CONNECT));
    let lost = world.legacy(&session, "2", "tools/call", SEND_WITH_PROGRESS);
    let stream = world.begin_stream();
    let other = world.legacy(&session, "3", "tools/call", SEND_WITH_PROGRESS);
    let other_stream = world.begin_stream();
    world.work(&stream, "seen");
    world.work(&other_stream, "elsewhere");
    let seen = (*ids(world.body(lost)).last().unwrap()).to_owned();
    world.gone(lost);
    assert!(world.aborts.is_empty() && world.fetches.is_empty(), "nothing is cancelled");
    world.work(&stream, "missed");

    let again = get(&mut world, &session, Some(&seen));
    assert!(world.body(again).contains("missed") && !world.body(again).contains("seen"));
    world.work(&stream, "live");
    world.complete(&stream);
    let response = world.done(again);
    assert!(response.body.contains("live") && response.body.contains(r#""id":2,"result""#), "{}", response.body);
    assert!(!response.body.contains("elsewhere"), "no replay of other streams");
    let later = get(&mut world, &session, Some(&seen));
    let replayed = world.done(later);
    assert!(ids(&response.body) == ids(&replayed.body) && replayed.body.contains(r#""id":2,"result""#));

    world.complete(&other_stream);
    assert!(world.done(other).body.contains(r#""id":3,"result""#));
    let all: Vec<String> = [world.body(lost), world.body(other)].iter().flat_map(|body| ids(body)).map(String::from).collect();
    let mut unique = all.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), all.len(), "ids are unique in a session: {all:?}");
}

#[test]
fn an_answer_waits_for_who_left_before_it() {
    let mut world = World::new("{}");
    let session = world.session(LEGACY, &[]);
    world.connect(|world| world.legacy(&session, "1", "tools/call", CONNECT));
    let lost = world.legacy(&session, "2", "tools/call", SEND);
    let stream = world.begin_stream();
    world.pass(15_000);
    let seen = ids(world.body(lost)).last().map(|id| (*id).to_owned()).expect("a slow answer is a stream");
    world.gone(lost);
    world.complete(&stream);
    let again = get(&mut world, &session, Some(&seen));
    assert!(world.done(again).body.contains(r#""id":2,"result""#), "{}", world.body(again));
}

#[test]
fn one_reader_takes_over_from_another() {
    let mut world = World::new("{}");
    let session = world.session(LEGACY, &[]);
    world.connect(|world| world.legacy(&session, "1", "tools/call", CONNECT));
    let first = world.legacy(&session, "2", "tools/call", SEND_WITH_PROGRESS);
    let stream = world.begin_stream();
    world.work(&stream, "seen");
    let seen = (*ids(world.body(first)).last().unwrap()).to_owned();
    let second = get(&mut world, &session, Some(&seen));
    assert!(world.done(first).is_stream(), "the half-open connection is let go");
    world.complete(&stream);
    assert!(world.done(second).body.contains(r#""id":2,"result""#));
}

#[test]
fn what_is_not_known_cannot_be_gone_on_from() {
    let mut world = World::new("{}");
    let (one, two) = (world.session(LEGACY, &[]), world.session(LEGACY, &[]));
    let standing = get(&mut world, &one, None);
    assert_eq!(ids(world.body(standing)), ["2-0"], "the first stream was the handshake's");
    for last in ["9-0", "1-0", "2-5", "nonsense", ""] {
        let request = get(&mut world, &one, Some(last));
        assert_eq!(world.done(request).status, 400, "{last}");
    }
    let request = get(&mut world, &two, Some("2-0"));
    assert_eq!(world.done(request).status, 400, "another session's event");
}

#[test]
fn what_was_forgotten_is_passed_over_but_for_answers() {
    let mut world = World::new(r#"{"limits":{"session_event_bytes":330}}"#);
    let session = world.session(LEGACY, &[]);
    world.connect(|world| world.legacy(&session, "1", "tools/call", CONNECT));
    let lost = world.legacy(&session, "2", "tools/call", SEND_WITH_PROGRESS);
    let stream = world.begin_stream();
    world.work(&stream, "seen");
    let seen = (*ids(world.body(lost)).last().unwrap()).to_owned();
    world.gone(lost);
    for n in 0..10 {
        world.pass(200);
        world.work(&stream, &format!("missed {n}"));
    }
    let again = get(&mut world, &session, Some(&seen));
    assert!(!world.body(again).contains("missed 0") && world.body(again).contains("missed 9"), "{}", world.body(again));
    world.gone(again);
    world.complete(&stream);
    let again = get(&mut world, &session, Some(&seen));
    let body = &world.done(again).body;
    assert!(body.contains(r#""id":2,"error":{"code":-32603"#) && body.contains("`session_event_bytes`"), "{body}");
    let last = (*ids(body).last().unwrap()).to_owned();
    let again = get(&mut world, &session, Some(&last));
    assert!(world.done(again).body.is_empty(), "it is told once to who heard it");
}

#[test]
fn a_standing_stream_lives_until_its_reader_leaves() {
    let mut world = World::new("{}");
    let session = world.session(LEGACY, &[]);
    let standing = get(&mut world, &session, None);
    world.pass(15_000);
    world.pass(15_000);
    assert_eq!(world.body(standing).matches(": keep-alive\n\n").count(), 2);
    let last = (*ids(world.body(standing)).last().unwrap()).to_owned();
    world.gone(standing);
    assert!(world.gateway.poll_timeout().is_none());
    let again = get(&mut world, &session, Some(&last));
    assert!(world.responses.get(&again).is_some_and(|response| response.is_stream() && !response.ended));
    let plain = world.head("GET", "/mcp", &[("Mcp-Session-Id", &session), ("Accept", "application/json")]);
    assert_eq!(world.done(plain).status, 406);
    let request = world.post(&[("Mcp-Session-Id", &session)], &rpc("1", "ping", "{}"));
    assert_eq!(world.done(request).status, 200);
}
