//! Every limit by its name: reaching it is an error of one call, and nothing grows without end.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc
)]

mod support;

use narrows::a2a::Dialect;
use narrows::config::Config;
use narrows::gateway::Gateway;
use narrows::io::{Cause, ExchangeId, Input, Output, PeerId};
use narrows::limits::Limits;
use narrows::time::Instant;
use support::host::{Host, genesis};
use support::text::{at, string_at};
use support::{memory, wire};

#[global_allocator]
static COUNTING: memory::Counting = memory::Counting;

/// A host with two agents, `bob` who answers in one piece and `carol` who streams.
fn host(limit: &str, value: u64) -> Host {
    connected(&format!(r#"{{"limits":{{"{limit}":{value}}}}}"#))
}

fn connected(config: &str) -> Host {
    let mut host = Host::new(1, config);
    host.open(1, "one");
    for (alias, streaming) in [("bob", false), ("carol", true)] {
        let url = format!("https://{alias}.test/a2a");
        let number = host.call(1, "connect_agent", &format!(r#"{{"alias":"{alias}","agent_url":"{url}"}}"#));
        let (exchange, _) = host.fetch();
        host.reply(exchange, 200, &wire::card(Dialect::JsonRpc10, &url, streaming, true, alias));
        host.result(number);
    }
    host
}

fn send(host: &mut Host, alias: &str) -> (u64, ExchangeId) {
    let number = host.call(1, "send_message", &format!(r#"{{"agent":"{alias}","message":"hi"}}"#));
    (number, host.fetches.pop_back().unwrap().0)
}

/// The error of a call that reached a limit, and that another call which ran all the while does not mind.
fn assert_reached(host: &mut Host, number: u64, other: (u64, ExchangeId), code: &str, limit: &str) {
    let result = host.result(number);
    assert_eq!(string_at(&result, &["structuredContent", "error", "code"]).as_deref(), Some(code), "{limit}: {result}");
    assert!(result.contains(limit), "{limit}: {result}");
    let message =
        r#"{"jsonrpc":"2.0","id":1,"result":{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"fine"}]}}}"#;
    host.reply(other.1, 200, message);
    let result = host.result(other.0);
    assert_eq!(string_at(&result, &["content", "0", "text"]).as_deref(), Some("fine"), "{limit}");
}

fn reply_too_large(host: &mut Host, limit: &str) {
    let other = send(host, "bob");
    let (number, exchange) = send(host, "bob");
    host.head(exchange, 200, &[("content-type", "application/json")]);
    host.body(exchange, &[b' '; 300]);
    assert!(host.watch.is_running(exchange));
    host.body(exchange, &[b' '; 300]);
    assert_reached(host, number, other, "too_large", limit);
}

/// All answers together find no room for a large one. A small one always has its place.
fn held_too_large(host: &mut Host, limit: &str) {
    let other = send(host, "bob");
    let (first, second) = (send(host, "bob"), send(host, "bob"));
    for (_, exchange) in [first, second] {
        host.head(exchange, 200, &[("content-type", "application/json")]);
    }
    host.body(first.1, &[b' '; 90_000]);
    host.body(second.1, &[b' '; 60_000]);
    assert!(host.watch.is_running(first.1) && host.watch.is_running(second.1));
    host.body(second.1, &[b' '; 20_000]);
    assert_reached(host, second.0, other, "busy", limit);
    assert!(host.watch.is_running(first.1), "nobody else suffers");
    host.fail(first.1, Cause::Reset);
    host.result(first.0);
    let (number, exchange) = send(host, "bob");
    host.head(exchange, 200, &[("content-type", "application/json")]);
    host.body(exchange, &[b' '; 90_000]);
    assert!(host.watch.is_running(exchange), "what goes is given back");
    host.fail(exchange, Cause::Reset);
    host.result(number);
}

#[test]
fn what_never_finds_room_is_too_large_and_what_finds_none_just_now_is_told_to_wait() {
    let mut host = host("held_bytes", 900_000);
    for (whom, length, expected) in [
        (r#""aliases":["bob"]"#, 850_000, Some(("too_large", "no room: say less"))),
        (r#""aliases":["bob","carol"]"#, 350_000, Some(("too_large", "no room: say less, or send it to fewer agents"))),
        (r#""aliases":["bob"]"#, 350_000, None),
        (r#""aliases":["bob"]"#, 350_000, Some(("busy", "no room: wait for other calls to end, or say less"))),
        (r#""aliases":["bob"]"#, 100_000, Some(("busy", "no room: wait for other calls to end, or say less"))),
    ] {
        let words = "x".repeat(length);
        let number = host.call(1, "broadcast_message", &format!(r#"{{{whom},"message":"{words}","async":true}}"#));
        let result = host.result(number);
        let error = |name: &str| string_at(&result, &["structuredContent", "error", name]);
        assert_eq!(error("code").as_deref(), expected.map(|(code, _)| code), "{whom} {length}");
        assert!(expected.is_none_or(|(_, end)| error("message").unwrap().ends_with(end)), "{whom} {length}");
    }
}

#[test]
fn what_a_call_came_with_is_held_until_it_is_answered() {
    let mut host = host("held_bytes", 900_000);
    for (message, meta) in [(10, 200_000), (250_000, 10)] {
        let (message, meta) = ("x".repeat(message), "y".repeat(meta));
        let arguments = format!(r#"{{"aliases":["bob","carol"],"message":"{message}","async":true}}"#);
        let arguments = if meta.len() > 10 { arguments } else { arguments.replace(r#","carol""#, "") };
        let params = format!(r#"{{"name":"broadcast_message","arguments":{arguments},"_meta":{{"note":"{meta}"}}}}"#);
        let number = host.request(1, "tools/call", &params);
        let result = host.result(number);
        assert!(result.contains("dispatched"), "{result}");
    }
}

fn card_too_large(host: &mut Host, limit: &str) {
    let other = send(host, "bob");
    let number = host.call(1, "get_agent_card", r#"{"agent":"bob"}"#);
    while let Some((exchange, _)) = host.fetches.pop_back() {
        host.reply(exchange, 200, &" ".repeat(600));
    }
    assert_reached(host, number, other, "too_large", limit);
}

fn stream_too_large(host: &mut Host, limit: &str, pieces: &[&str]) {
    let other = send(host, "bob");
    let (number, exchange) = send(host, "carol");
    host.head(exchange, 200, &[("content-type", "text/event-stream")]);
    for piece in pieces {
        host.body(exchange, piece.as_bytes());
    }
    assert!(!host.watch.is_running(exchange));
    assert_reached(host, number, other, "too_large", limit);
}

fn head_too_large(host: &mut Host, limit: &str) {
    let other = send(host, "bob");
    let (number, exchange) = send(host, "bob");
    host.head(exchange, 200, &[("x", &"y".repeat(600))]);
    assert_reached(host, number, other, "too_large", limit);
}

fn too_deep(host: &mut Host, limit: &str) {
    let other = send(host, "bob");
    let (number, exchange) = send(host, "bob");
    host.reply(exchange, 200, &"[".repeat(30));
    assert_reached(host, number, other, "too_large", limit);
}

fn message_too_long(host: &mut Host, limit: &str) {
    let other = send(host, "bob");
    let number = host.request(1, "ping", &format!(r#"{{"x":"{}"}}"#, "x".repeat(600)));
    let answer = host.answer(number).unwrap();
    assert!(string_at(&answer, &["error", "message"]).unwrap().contains(limit), "{answer}");
    host.fail(other.1, Cause::Reset);
}

fn answer_too_large(host: &mut Host, limit: &str) {
    let other = send(host, "bob");
    let (number, exchange) = send(host, "bob");
    host.reply(exchange, 200, &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"message":{{"messageId":"m","role":"ROLE_AGENT","parts":[{{"text":"{}"}}]}}}}}}"#, "x".repeat(40_000)));
    assert_reached(host, number, other, "too_large", limit);
}

fn too_many_calls(host: &mut Host, limit: &str) {
    let other = send(host, "bob");
    send(host, "bob");
    let number = host.call(1, "send_message", r#"{"agent":"bob","message":"hi"}"#);
    assert_reached(host, number, other, "busy", limit);
}

fn too_many_agents(host: &mut Host, limit: &str) {
    let other = send(host, "bob");
    let number = host.call(1, "connect_agent", r#"{"alias":"dave","agent_url":"https://dave.test"}"#);
    assert_reached(host, number, other, "busy", limit);
}

fn too_many_redirects(host: &mut Host, _: &str) {
    let other = send(host, "bob");
    let (number, exchange) = send(host, "bob");
    host.head(exchange, 307, &[("location", "/1")]);
    let (exchange, _) = host.fetch();
    host.head(exchange, 307, &[("location", "/2")]);
    assert_reached(host, number, other, "http_status", "more than 1 times");
}

fn too_many_failed_readings(host: &mut Host, limit: &str) {
    let other = send(host, "bob");
    let number = host.call(1, "send_message", r#"{"agent":"bob","message":"hi","poll_timeout_seconds":-1}"#);
    let (exchange, _) = host.fetches.pop_back().unwrap();
    host.reply(exchange, 200, r#"{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t","status":{"state":"working"}}}}"#);
    for _ in 0..3 {
        host.advance(5500);
        let (exchange, _) = host.fetch();
        host.fail(exchange, Cause::Refused);
    }
    assert_reached(host, number, other, "unreachable", limit);
}

fn too_many_cards(host: &mut Host, _: &str) {
    for url in ["https://u1.test/", "https://u2.test/", "https://u1.test/"] {
        host.call(1, "send_message", &format!(r#"{{"agent":"{url}","message":"hi"}}"#));
        let (exchange, request) = host.fetch();
        assert!(request.url.ends_with("agent-card.json"), "one card is kept, so each of them is looked for again");
        host.reply(exchange, 200, &wire::card(Dialect::JsonRpc10, url, false, true, "n"));
        let (exchange, _) = host.fetch();
        host.fail(exchange, Cause::Reset);
    }
}

#[test]
fn every_limit_is_an_error_of_one_call() {
    let event = format!("data: {{\"x\":\"{}\"}}\n\n", "x".repeat(200));
    let artifact = |text: &str| {
        let update = format!(
            r#"{{"artifactUpdate":{{"taskId":"t","append":true,"artifact":{{"artifactId":"a","parts":[{{"text":"{text}"}}]}}}}}}"#
        );
        format!("data: {update}\n\n")
    };
    let chunk = artifact(&"x".repeat(300));
    for (limit, ..) in Limits::TABLE {
        match limit {
            "reply_bytes" => reply_too_large(&mut host(limit, 500), limit),
            "held_bytes" => held_too_large(&mut host(limit, 130_000), limit),
            "inbox_bytes" => {} // below: what makes room is the inbox's own
            "card_bytes" => card_too_large(&mut host(limit, 500), limit),
            "event_bytes" => stream_too_large(&mut host(limit, 500), limit, &["data: ", &"x".repeat(600)]),
            "stream_bytes" => stream_too_large(&mut host(limit, 500), limit, &[&event, &event, &event]),
            "artifact_bytes" => stream_too_large(&mut host(limit, 900), limit, &[&chunk, &chunk]),
            "json_depth" => too_deep(&mut host(limit, 20), limit),
            "message_bytes" => message_too_long(&mut host(limit, 500), limit),
            "answer_bytes" => answer_too_large(&mut host(limit, 65_536), limit),
            "calls_per_peer" => too_many_calls(&mut host(limit, 2), limit),
            "agents_per_scope" => too_many_agents(&mut host(limit, 2), limit),
            "header_bytes" => head_too_large(&mut host(limit, 500), limit),
            "redirects" => too_many_redirects(&mut host(limit, 1), limit),
            "failed_readings" => too_many_failed_readings(&mut host(limit, 2), limit),
            "cards_by_url" => too_many_cards(&mut host(limit, 1), limit),
            "kept_card_bytes" => cards_too_large(&mut host(limit, 100_000)),
            // tests/http checks what is asked over HTTP.
            "request_bytes" | "incoming_bytes" | "requests" | "sessions" | "session_event_bytes" | "kept_event_bytes" => {}
            // tests/hosts/serve.test.mjs does for what waits to be read.
            "unread_bytes" => {}
            "directory_cards" | "directory_bytes" => {}
            // tests/a2a_server/bounds.rs checks what is served to others.
            "tasks_per_principal" | "task_bytes" => {}
            // tests/links, src/link/listing.rs and tests/hosts/links.test.mjs check what servers behind the gateway send.
            "link_line_bytes" | "calls_per_server" | "tools_per_server" | "tool_list_bytes" => {}
            unknown => panic!("nothing checks {unknown}"),
        }
    }
}

/// Two agents with cards of which one alone finds room; both are called, and a smaller card makes room.
fn cards_too_large(host: &mut Host) {
    let connect = |host: &mut Host, alias: &str, words: usize| {
        let url = format!("https://{alias}.test/");
        let number = host.call(1, "connect_agent", &format!(r#"{{"alias":"{alias}","agent_url":"{url}"}}"#));
        let (exchange, _) = host.fetch();
        let card = wire::card(Dialect::JsonRpc10, &format!("{url}rpc"), false, true, &"x".repeat(words));
        host.reply(exchange, 200, &card);
        host.result(number);
        let read = host.request(1, "resources/read", &format!(r#"{{"uri":"narrows://agents/{alias}"}}"#));
        let text = host.answer(read).unwrap();
        assert!(text.contains("1.0"), "its version is known: {text}");
        host.call(1, "send_message", &format!(r#"{{"agent":"{alias}","message":"hi"}}"#));
        assert_eq!(host.fetch().1.url, format!("{url}rpc"));
        text.contains(r#"\"card\":"#)
    };
    assert!(connect(host, "large", 22_000) && !connect(host, "larger", 18_000) && connect(host, "small", 100));
    assert!(connect(host, "large", 100) && connect(host, "larger", 18_000));
}

#[test]
fn outcomes_make_room_and_tasks_that_grow_share_what_is_held() {
    let limits = r#"{"limits":{"held_bytes":400000,"inbox_bytes":400000}}"#;
    let mut host = connected(limits);
    let answer = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"message":{{"messageId":"m","role":"ROLE_AGENT","parts":[{{"text":"{}"}}]}}}}}}"#,
        "x".repeat(90_000)
    );
    let before = memory::held();
    for _ in 0..20 {
        let call = host.call(1, "send_message", r#"{"agent":"bob","message":"hi","async":true}"#);
        let exchange = host.fetches.pop_back().unwrap().0;
        host.result(call);
        host.reply(exchange, 200, &answer);
    }
    assert!(memory::held() - before < 3_000_000, "{}", memory::held() - before);
    let call = host.call(1, "check_inbox", "{}");
    let checked = host.result(call);
    let (kept, lost) = (checked.matches("call_id").count(), at(&checked, &["structuredContent", "lost"]));
    assert!(kept >= 2 && lost.is_some(), "{checked}");
    let (number, exchange) = send(&mut host, "carol");
    host.head(exchange, 200, &[("content-type", "text/event-stream")]);
    for _ in 0..9 {
        let update = format!(
            r#"{{"artifactUpdate":{{"taskId":"t","append":true,"artifact":{{"artifactId":"a","parts":[{{"text":"{}"}}]}}}}}}"#,
            "x".repeat(50_000)
        );
        if host.watch.is_running(exchange) {
            host.body(exchange, format!("data: {update}\n\n").as_bytes());
        }
    }
    let result = host.result(number);
    assert_eq!(string_at(&result, &["structuredContent", "error", "code"]).as_deref(), Some("too_large"), "{}", result.len());
    assert!(result.contains("held_bytes"));
}

#[test]
fn calls_share_what_is_held_of_what_they_say() {
    let mut host = connected(r#"{"limits":{"held_bytes":1000000}}"#);
    let mut refused = 0;
    for _ in 0..40 {
        let arguments = format!(r#"{{"agent":"bob","message":"{}","poll_timeout_seconds":-1}}"#, "x".repeat(300_000));
        let call = host.call(1, "send_message", &arguments);
        let Some(answer) = host.answer(call) else { continue };
        assert!(answer.contains(r#""code":"busy""#) && answer.contains(r#""limit":"held_bytes""#), "{answer}");
        refused += 1;
    }
    // One is held, and what was sent of it: another would leave too little for other users.
    assert_eq!(refused, 39);
    // Somebody with little to say is let in.
    let call = host.call(1, "send_message", r#"{"agent":"bob","message":"hi","poll_timeout_seconds":-1}"#);
    assert_eq!(host.answer(call), None);
}

#[test]
fn what_outlives_its_call_is_bounded_too() {
    let mut host = host("calls_per_peer", 2);
    for number in 0..3 {
        let call = host.call(1, "send_message", r#"{"agent":"bob","message":"hi","async":true}"#);
        let code = string_at(&host.result(call), &["structuredContent", "error", "code"]);
        assert_eq!(code.as_deref(), (number == 2).then_some("busy"), "sends that nobody waits for");
    }
    host.advance(70_000);
    for _ in 0..4 {
        let (number, exchange) = send(&mut host, "carol");
        host.watch.tasks.entry(1).or_default().insert(number);
        host.head(exchange, 200, &[("content-type", "text/event-stream")]);
        host.body(exchange, b"data: {\"task\":{\"id\":\"task-1\",\"status\":{\"state\":\"working\"}}}\n\n");
        host.tell(1, &format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{number}}}}}"#));
    }
    assert_eq!(host.watch.running().len(), 2, "cancel requests, for which nobody waits");
    host.advance(30_000);
    assert_eq!(host.watch.running(), []);
}

#[test]
fn what_agents_name_at_length_is_told_and_not_kept() {
    let mut host = connected("{}");
    let long = "x".repeat(200_000);
    let before = memory::held();
    for number in 0..60 {
        let id = format!(r#""{number}{long}""#);
        let result = match number % 3 {
            0 => format!(r#"{{"message":{{"messageId":{id},"contextId":{id},"role":"ROLE_AGENT","parts":[]}}}}"#),
            1 => format!(r#"{{"task":{{"id":"t","contextId":{id},"status":{{"state":{id}}}}}}}"#),
            _ => format!(r#"{{"task":{{"id":{id},"status":{{"state":"TASK_STATE_COMPLETED"}}}}}}"#),
        };
        let call = host.call(1, "send_message", r#"{"agent":"bob","message":"hi","poll_timeout_seconds":1}"#);
        let exchange = host.fetches.pop_back().unwrap().0;
        host.reply(exchange, 200, &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#));
        host.advance(2000);
        assert!(host.result(call).contains(&long), "{number}");
        host.fetches.clear();
        host.steps.clear();
    }
    assert!(memory::held() - before < 1_000_000, "{}", memory::held() - before);
}

/// An agent that says nothing in many pieces holds no more than one that says much.
#[test]
fn an_answer_in_crumbs_is_too_large_and_what_is_held_of_it_is_counted() {
    let mut host = connected(r#"{"limits":{"reply_bytes":100000,"event_bytes":100000,"held_bytes":200000}}"#);
    let many = |count: usize| vec!["{}"; count].join(",");
    let task = |count: usize| {
        let artifacts = many(count);
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"task":{{"id":"t","status":{{"state":"TASK_STATE_WORKING"}},"artifacts":[{artifacts}]}}}}}}"#
        )
    };
    let (number, exchange) = send(&mut host, "bob");
    host.reply(exchange, 200, &task(2000));
    let result = host.result(number);
    assert!(result.contains("too_large") && result.contains("reply_bytes"), "{result}");
    let (number, exchange) = send(&mut host, "carol");
    host.head(exchange, 200, &[("content-type", "text/event-stream")]);
    host.body(exchange, format!("data: {}\n\n", task(2000)).as_bytes());
    let result = host.result(number);
    assert!(result.contains("too_large") && result.contains("event_bytes"), "{result}");
    let mut ended = 0;
    let before = memory::held();
    for _ in 0..8 {
        let (number, exchange) = send(&mut host, "carol");
        host.head(exchange, 200, &[("content-type", "text/event-stream")]);
        host.body(exchange, format!("data: {}\n\n", task(700)).as_bytes());
        ended += u32::from(host.answer(number).is_some_and(|text| text.contains("held_bytes")));
        host.steps.clear();
    }
    assert!(ended > 4, "{ended}");
    assert!(memory::held() - before < 2_000_000, "{}", memory::held() - before);
}

/// A short call with a long card, and one message to many agents, take room for all that goes out.
#[test]
fn what_goes_out_finds_room_before_it_costs_a_token() {
    let mut host = connected(r#"{"limits":{"held_bytes":4000000}}"#);
    let words = "word ".repeat(50_000);
    let card = |words: &str| format!(r#"{{"name":"me","description":"{words}"}}"#);
    let call = host.call(1, "create_caller_card", &card(&words.repeat(5)));
    assert!(host.result(call).contains("card_bytes"));
    let call = host.call(1, "create_caller_card", &card(&words));
    host.result(call);
    let codes: Vec<Option<String>> = (0..12)
        .map(|_| {
            let call = host.call(1, "send_message", r#"{"agent":"bob","message":"hi","poll_timeout_seconds":-1}"#);
            let answer = host.answer(call)?;
            string_at(&answer, &["result", "structuredContent", "error", "code"])
        })
        .collect();
    let sent = host.fetches.len();
    assert!((3..=8).contains(&sent), "{sent}");
    assert_eq!(codes.iter().flatten().filter(|code| *code == "busy").count(), 12 - sent);
    let aliases = r#"["bob","carol"]"#;
    let call = host.call(1, "broadcast_message", &format!(r#"{{"aliases":{aliases},"message":"hi"}}"#));
    assert!(host.result(call).contains("held_bytes"));
    for (exchange, _) in std::mem::take(&mut host.fetches) {
        host.fail(exchange, Cause::Reset);
    }
    send(&mut host, "bob");
}

/// What one event tells is no multiple of what a client or an agent chose to name things.
#[test]
fn what_is_named_once_is_not_said_a_thousand_times() {
    let long = "x".repeat(20_000);
    let mut host = connected("{}");
    let calls = [
        (format!(r#""id":"{long}","method":"ping","params":{{}}"#), "-32600"),
        (format!(r#""id":"t","method":"tools/list","params":{{"_meta":{{"progressToken":"{long}"}}}}"#), "-32602"),
    ];
    for (members, code) in calls {
        let peer = PeerId(1);
        let text = format!(r#"{{"jsonrpc":"2.0",{members}}}"#);
        host.gateway.handle_input(host.now(), Input::Message { peer, text }).unwrap();
        let Some(Output::Message { text, .. }) = host.gateway.poll_output() else { panic!("{code}") };
        assert_eq!(at(&text, &["error", "code"]).as_deref(), Some(code));
        assert!(text.contains("1,024 bytes") && text.len() < 300, "{text}");
    }
    let params = r#"{"name":"send_message","arguments":{"agent":"carol","message":"hi"},"_meta":{"progressToken":"p"}}"#;
    let text = format!(r#"{{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{params}}}"#);
    host.gateway.handle_input(host.now(), Input::Message { peer: PeerId(1), text }).unwrap();
    let Some(Output::Fetch { exchange, .. }) = host.gateway.poll_output() else { panic!() };
    let mut stream = String::from(": \n");
    let mut piece = |name: &str| {
        let artifact = format!(r#"{{"artifactId":"a","name":"{name}","parts":[{{"text":"."}}]}}"#);
        stream += &format!("data: {{\"artifactUpdate\":{{\"taskId\":\"t\",\"append\":true,\"artifact\":{artifact}}}}}\n\n");
    };
    piece(&long);
    (0..100).for_each(|_| piece(""));
    let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
    host.gateway.handle_input(host.now(), Input::Head { exchange, status: 200, headers }).unwrap();
    host.gateway.handle_input(host.now(), Input::Body { exchange, bytes: stream.into_bytes() }).unwrap();
    let told: Vec<Output> = std::iter::from_fn(|| host.gateway.poll_output()).collect();
    assert!(told.iter().any(|output| matches!(output, Output::Message { text, .. } if text.contains("progress"))));
    let bytes: usize = told.iter().map(|output| output.to_json().as_str().len()).sum();
    assert!(bytes < 100_000, "{bytes}");
}

#[test]
fn streams_of_list_changes_are_bounded_too() {
    let mut gateway = Gateway::new(genesis(1, 0, 0), Config::from_json(r#"{"limits":{"calls_per_peer":2}}"#).unwrap());
    let peer = PeerId(1);
    let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    gateway.handle_input(Instant::from_ms(0), Input::Open { peer, scope: "one".to_owned() }).unwrap();
    let mut refused = Vec::new();
    for id in 0..4 {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"subscriptions/listen","params":{{"notifications":{{}},"_meta":{meta}}}}}"#
        );
        gateway.handle_input(Instant::from_ms(0), Input::Message { peer, text }).unwrap();
        let Some(Output::Message { text, .. }) = gateway.poll_output() else { panic!() };
        refused.push(at(&text, &["error"]).is_some());
    }
    assert_eq!(refused, [false, false, true, true]);
}

/// A gateway that something is done to over and over.
struct Routine {
    gateway: Gateway,
    now: u64,
    round: u64,
}

impl Routine {
    fn new() -> Self {
        let config = Config::from_json(r#"{"limits":{"calls_per_peer":8,"cards_by_url":4}}"#).unwrap();
        let mut routine = Self { gateway: Gateway::new(genesis(1, 0, 0), config), now: 0, round: 0 };
        routine.give(Input::Open { peer: PeerId(1), scope: "one".to_owned() });
        routine.call("connect_agent", r#"{"alias":"bob","agent_url":"https://bob.test"}"#);
        routine
    }

    /// Gives an input; each request is refused by its agent at once.
    fn give(&mut self, input: Input) {
        self.now += 10;
        let now = Instant::from_ms(self.now);
        self.gateway.handle_input(now, input).unwrap();
        while let Some(output) = self.gateway.poll_output() {
            if let Output::Fetch { exchange, .. } = output {
                let input = Input::Failed { exchange, cause: Cause::Reset, detail: String::new() };
                self.gateway.handle_input(now, input).unwrap();
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &str) {
        let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
        let text = format!(r#"{{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{params}}}"#, self.now);
        self.give(Input::Message { peer: PeerId(1), text });
    }

    fn step(&mut self, what: &str) {
        self.round += 1;
        let round = self.round;
        match what {
            "sends" => self.call("send_message", r#"{"agent":"bob","message":"hi"}"#),
            "sends to URLs" => self.call("send_message", &format!(r#"{{"agent":"https://u{round}.test/","message":"hi"}}"#)),
            "agents that come and go" => {
                self.call(
                    "connect_agent",
                    &format!(r#"{{"alias":"a{round}","agent_url":"https://a.test","headers":{{"X-Key":"same-secret"}}}}"#),
                );
                self.call("disconnect_agent", &format!(r#"{{"alias":"a{round}"}}"#));
            }
            "peers that come and go" => {
                let peer = PeerId(round + 10);
                self.give(Input::Open { peer, scope: format!("scope {round}") });
                self.give(Input::Message {
                    peer,
                    text: r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#.to_owned(),
                });
                self.give(Input::Closed { peer });
            }
            "broadcasts" => self.call("broadcast_message", r#"{"aliases":["bob"],"message":"hi"}"#),
            "dispatched sends" => self.call("send_message", r#"{"agent":"bob","message":"hi","async":true}"#),
            "dispatched sends to URLs" => {
                self.call("send_message", &format!(r#"{{"agent":"https://u{round}.test/","message":"hi","async":true}}"#));
            }
            "noise" => self.give(Input::Message { peer: PeerId(1), text: "not JSON".to_owned() }),
            "time" => self.give(Input::Tick),
            unknown => panic!("{unknown}"),
        }
    }
}

#[test]
fn nothing_grows_without_end() {
    // Until what is kept is full: the inbox takes the most.
    let routines = [
        ("sends", 300),
        ("sends to URLs", 300),
        ("agents that come and go", 300),
        ("peers that come and go", 300),
        ("broadcasts", 300),
        ("dispatched sends", 600),
        ("dispatched sends to URLs", 4500),
        ("noise", 300),
        ("time", 300),
    ];
    for (what, rounds) in routines {
        let mut routine = Routine::new();
        (0..rounds).for_each(|_| routine.step(what));
        let before = memory::held();
        (0..300).for_each(|_| routine.step(what));
        let grown = memory::held() - before;
        assert!(grown < 4000, "{grown} bytes more are held after more {what}");
    }
}

/// All bytes asked for to take a message in.
fn work(text: &str) -> u64 {
    let mut routine = Routine::new();
    let input = Input::Message { peer: PeerId(1), text: text.to_owned() };
    let before = memory::asked();
    routine.gateway.handle_input(Instant::from_ms(100), input).unwrap();
    memory::asked() - before
}

#[test]
fn work_grows_with_the_message_and_no_faster() {
    let call = |tool: &str, arguments: String| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#)
    };
    let many = |item: &str, count: usize| vec![item; count].join(",");
    let keys = |count: usize| (0..count).map(|key| format!("\"k{key}\":\"value-{key}\"")).collect::<Vec<_>>().join(",");
    let shapes: [(&str, &dyn Fn(usize) -> String); 6] = [
        ("parts", &|n| call("send_message", format!(r#"{{"agent":"bob","parts":[{}]}}"#, many(r#"{"text":"x"}"#, n)))),
        ("text", &|n| call("send_message", format!(r#"{{"agent":"bob","message":"{}"}}"#, "x\\n".repeat(n)))),
        ("metadata", &|n| call("send_message", format!(r#"{{"agent":"bob","message":"x","metadata":{{{}}}}}"#, keys(n)))),
        ("unknown keys", &|n| call("send_message", format!("{{{}}}", keys(n)))),
        ("headers", &|n| {
            call("connect_agent", format!(r#"{{"alias":"c","agent_url":"https://c.test","headers":{{{}}}}}"#, keys(n)))
        }),
        ("members of the message", &|n| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping",{}}}"#, keys(n))),
    ];
    for (what, shape) in shapes {
        let (once, twice) = (work(&shape(4000)), work(&shape(8000)));
        assert!(twice < once * 5 / 2, "{what}: {once} bytes, twice as much makes {twice}");
    }
}
