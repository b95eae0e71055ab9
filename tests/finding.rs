//! Calls to an agent whose card is on its way, or did not come when it was asked for.
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
use narrows::io::{Cause, ExchangeId, Input, PeerId, Request};
use support::case::{code, host, send, words};
use support::host::Host;
use support::text::{at, string_at};
use support::wire;

const URL: &str = "https://bob.test/a2a";
const CARD_PATH: &str = "https://bob.test/a2a/.well-known/agent-card.json";
const EXTERNAL: &str = r#"{"external_agents":[{"name":"bob","url":"https://bob.test/a2a"}]}"#;

/// A card that nobody would guess from the URL: HTTP+JSON, on a path of its own.
fn card() -> String {
    wire::card(Dialect::Rest10, "https://bob.test/rest", false, true, "bob")
}

fn message(text: &str) -> String {
    wire::wrapped(Dialect::Rest10, "message", &wire::message(Dialect::Rest10, None, text))
}

fn connecting(host: &mut Host) -> (u64, ExchangeId) {
    let number = host.call(1, "connect_agent", &format!(r#"{{"alias":"bob","agent_url":"{URL}"}}"#));
    let (exchange, request) = host.fetch();
    assert_eq!(request.url, CARD_PATH);
    (number, exchange)
}

fn urls(host: &Host) -> Vec<&str> {
    host.fetches.iter().map(|(_, request)| request.url.as_str()).collect()
}

/// Answers the requests of sends and readings that wait, all at the interface of the card.
fn answer_all(host: &mut Host) {
    while let Some((exchange, Request { url, .. })) = host.fetches.pop_front() {
        assert!(url.starts_with("https://bob.test/rest/"), "{url}");
        let task = wire::task(Dialect::Rest10, ("t", None), "completed", "done", "");
        let asked = url.contains("/tasks/");
        host.reply(exchange, 200, &if asked { task } else { message("hi") });
    }
}

fn health(host: &mut Host) -> String {
    let listed = host.call(1, "list_agents", "{}");
    string_at(&host.result(listed), &["structuredContent", "agents", "0", "health"]).unwrap()
}

#[test]
fn calls_wait_for_the_card_that_connect_agent_looks_up() {
    let mut host = host("{}");
    let (connect, card_exchange) = connecting(&mut host);
    let calls = [
        send(&mut host, "bob", ""),
        send(&mut host, "bob", ""),
        host.call(1, "get_task", r#"{"agent":"bob","task_id":"t"}"#),
        host.call(1, "cancel_task", r#"{"agent":"bob","task_id":"t"}"#),
        host.call(1, "broadcast_message", r#"{"aliases":["bob"],"message":"call-7"}"#),
    ];
    assert_eq!(urls(&host), [""; 0], "nothing goes out before the card is there, and nobody else looks it up");
    host.reply(card_exchange, 200, &card());
    assert_eq!(host.fetches.len(), 5);
    answer_all(&mut host);
    assert!(words(&host.result(connect)).contains("HTTP+JSON"));
    for call in calls {
        assert!(!host.result(call).contains(r#""isError":true"#));
    }
}

#[test]
fn a_send_right_after_the_start_waits_for_the_card_of_a_configured_agent() {
    let mut host = host(EXTERNAL);
    let number = send(&mut host, "bob", "");
    let (exchange, request) = host.fetch();
    assert_eq!(request.url, CARD_PATH);
    host.advance(600);
    assert_eq!(urls(&host), [""; 0]);
    host.reply(exchange, 200, &card());
    assert_eq!(urls(&host), ["https://bob.test/rest/message:send"]);
    answer_all(&mut host);
    assert_eq!(words(&host.result(number)), "hi");
}

#[test]
fn a_card_that_does_not_come_is_waited_for_as_long_as_connecting_waits() {
    let mut host = host("{}");
    let (connect, _) = connecting(&mut host);
    host.advance(4000);
    let number = send(&mut host, "bob", "");
    host.advance(5999);
    assert_eq!(urls(&host), [""; 0]);
    host.advance(1);
    assert_eq!(urls(&host), [URL], "connecting gave up, and so does the send");
    assert!(words(&host.result(connect)).contains("without a card"));
    let (exchange, _) = host.fetch();
    host.reply(exchange, 200, &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}}}"#, message("hi")));
    assert_eq!(words(&host.result(number)), "hi");
}

#[test]
fn a_call_that_waits_for_a_card_ends_at_its_own_deadline() {
    let mut host = host("{}");
    connecting(&mut host);
    let number = send(&mut host, "bob", r#","poll_timeout_seconds":2"#);
    host.advance(2000);
    let result = host.result(number);
    assert_eq!(code(&result).as_deref(), Some("timeout"));
    assert!(words(&result).contains("nothing was sent"), "{result}");
    assert_eq!(health(&mut host), "unknown", "a late card says nothing of the agent");
    assert_eq!(urls(&host), [""; 0]);
}

#[test]
fn where_the_one_who_looks_stops_another_one_looks() {
    let mut host = host("{}");
    let (connect, exchange) = connecting(&mut host);
    let calls = [send(&mut host, "bob", ""), send(&mut host, "bob", "")];
    host.tell(1, &format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{connect}}}}}"#));
    assert!(host.aborted.contains(&exchange));
    assert_eq!(urls(&host), [CARD_PATH], "one of the two looks for both");
    let (exchange, _) = host.fetch();
    host.reply(exchange, 200, &card());
    assert_eq!(host.fetches.len(), 2);
    answer_all(&mut host);
    for call in calls {
        assert_eq!(words(&host.result(call)), "hi");
    }
}

#[test]
fn a_call_that_waits_for_an_alias_that_moves_away_sends_nothing() {
    let mut host = host("{}");
    let (_, old) = connecting(&mut host);
    let calls = [
        send(&mut host, "bob", ""),
        host.call(1, "get_task", r#"{"agent":"bob","task_id":"t"}"#),
        host.call(1, "broadcast_message", r#"{"aliases":["bob"],"message":"call-7"}"#),
    ];
    let detached = send(&mut host, "bob", r#","async":true"#);
    host.result(detached);
    host.call(1, "connect_agent", r#"{"alias":"bob","agent_url":"https://new.test/"}"#);
    let (exchange, _) = host.fetch();
    host.reply(exchange, 200, &wire::card(Dialect::JsonRpc10, "https://new.test/", false, true, "new"));
    for call in calls {
        let result = host.result(call);
        assert!(result.contains(r#""code":"canceled""#) && result.contains("nothing was sent, so call again"), "{result}");
    }
    let read = host.call(1, "read_inbox", r#"{"alias":"bob"}"#);
    assert!(host.result(read).contains(r#""code":"canceled""#));
    host.reply(old, 200, &card());
    assert_eq!(urls(&host), [""; 0]);
    let listed = host.call(1, "get_history", r#"{"agent":"bob"}"#);
    let listed = host.result(listed);
    assert_eq!(listed.matches(r#""is_error":true"#).count(), 3, "{listed}");
}

#[test]
fn a_call_that_waits_for_an_alias_with_other_header_fields_sends_them() {
    for (new, old) in [(true, false), (false, true)] {
        let mut host = host("{}");
        let (_, first) = connecting(&mut host);
        let number = send(&mut host, "bob", "");
        let headers = r#","headers":{"X-Key":"a-newer-one"}"#;
        host.call(1, "connect_agent", &format!(r#"{{"alias":"bob","agent_url":"{URL}"{headers}}}"#));
        let (second, _) = host.fetch();
        host.reply(if new { second } else { first }, 200, &card());
        if old {
            assert_eq!(urls(&host), [""; 0], "its look-up is over, that of the newer one is not");
            host.reply(second, 200, &card());
        }
        let (exchange, request) = host.fetch();
        assert!(request.headers.contains(&("X-Key".to_owned(), "a-newer-one".to_owned())), "{request:?}");
        host.reply(exchange, 200, &message("hi"));
        assert_eq!(words(&host.result(number)), "hi");
        let listed = host.call(1, "get_history", r#"{"agent":"bob"}"#);
        assert!(host.result(listed).contains(r#""response":"hi""#));
    }
}

#[test]
fn where_nothing_was_sent_no_token_is_spent() {
    let limited = |host: &mut Host| {
        let rate = r#","rate_limit_rps":0.01,"rate_limit_burst":1"#;
        host.call(1, "connect_agent", &format!(r#"{{"alias":"bob","agent_url":"{URL}"{rate}}}"#));
        host.fetch().0
    };
    let ends: [fn(&mut Host); 4] = [
        |host| {
            send(host, "bob", r#","poll_timeout_seconds":0.5"#);
            host.advance(500);
        },
        |host| {
            let stopped = send(host, "bob", "");
            host.tell(
                1,
                &format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{stopped}}}}}"#),
            );
        },
        |host| {
            host.call(1, "broadcast_message", r#"{"aliases":["bob"],"message":"call-7","timeout_seconds":1}"#);
            host.advance(1000);
        },
        |host| {
            send(host, "bob", r#","async":true,"poll_timeout_seconds":0.5"#);
            host.advance(500);
        },
    ];
    for (at, end) in ends.into_iter().enumerate() {
        let mut host = host("{}");
        let looking = limited(&mut host);
        end(&mut host);
        host.reply(looking, 200, &card());
        let number = send(&mut host, "bob", "");
        assert_ne!(host.answer(number).and_then(|text| code(&text)).as_deref(), Some("rate_limited"), "{at}");
        let second = send(&mut host, "bob", "");
        assert_eq!(code(&host.result(second)).as_deref(), Some("rate_limited"), "{at}");
    }
}

/// A host whose configured agent was down when it started.
fn down() -> Host {
    let mut host = host(EXTERNAL);
    let (exchange, _) = host.fetch();
    host.fail(exchange, Cause::Refused);
    host
}

#[test]
fn an_agent_that_was_down_at_the_start_is_asked_for_its_card_when_it_is_called() {
    let mut host = down();
    host.advance(5000);
    let number = send(&mut host, "bob", "");
    assert_eq!(urls(&host), [CARD_PATH]);
    let (exchange, _) = host.fetch();
    host.reply(exchange, 200, &card());
    assert_eq!(urls(&host), ["https://bob.test/rest/message:send"]);
    answer_all(&mut host);
    assert_eq!(words(&host.result(number)), "hi");
    assert_eq!(health(&mut host), "healthy");
}

#[test]
fn a_card_that_was_awaited_in_vain_holds_later_sends_up_no_more() {
    let mut host = host("{}");
    let (connect, _) = connecting(&mut host);
    host.advance(10_000);
    assert!(words(&host.result(connect)).contains("without a card"));
    for (tool, arguments) in [
        ("send_message", r#"{"agent":"bob","message":"x","poll_timeout_seconds":5}"#),
        ("broadcast_message", r#"{"aliases":["bob"],"message":"x","timeout_seconds":1}"#),
    ] {
        host.advance(5000);
        let number = host.call(1, tool, arguments);
        assert_eq!(urls(&host), [CARD_PATH], "{tool}");
        host.fetches.clear();
        host.advance(500);
        assert_eq!(urls(&host), [URL], "{tool}");
        let (exchange, _) = host.fetch();
        host.reply(exchange, 200, &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}}}"#, message("hi")));
        assert!(words(&host.result(number)).contains("hi"), "{tool}");
    }
}

#[test]
fn an_agent_that_is_down_is_not_asked_for_its_card_by_every_call() {
    let mut host = down();
    for round in 0..3 {
        host.advance(if round == 1 { 5000 } else { 1000 });
        let number = send(&mut host, "bob", "");
        let asks_again = round == 1;
        if asks_again {
            let (exchange, request) = host.fetch();
            assert_eq!(request.url, CARD_PATH);
            host.fail(exchange, Cause::Refused);
        }
        assert_eq!(urls(&host), [URL], "round {round}");
        let (exchange, _) = host.fetch();
        host.fail(exchange, Cause::Refused);
        assert_eq!(code(&host.result(number)).as_deref(), Some("unreachable"));
        assert_eq!(health(&mut host), if round == 2 { "unhealthy" } else { "unknown" }, "a look-up does not count");
    }
}

#[test]
fn an_agent_without_a_card_is_not_asked_for_one_again() {
    let mut host = host(EXTERNAL);
    host.no_card();
    for ms in [1000, 60_000, 500_000] {
        host.advance(ms);
        let number = send(&mut host, "bob", "");
        assert_eq!(urls(&host), [URL]);
        let (exchange, _) = host.fetch();
        host.reply(exchange, 200, &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}}}"#, message("hi")));
        host.result(number);
    }
}

#[test]
fn when_a_card_may_be_asked_for_again_is_kept() {
    let mut host = down();
    host.restart(9);
    host.open(3, "one");
    let number = host.number();
    let call = support::host::call(3, &number.to_string(), None, None);
    host.watch.expect(number, call);
    let params = format!(r#"{{"name":"send_message","arguments":{{"agent":"bob","message":"call-{number}"}}}}"#);
    let text = format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{params}}}"#);
    host.input(Input::Message { peer: PeerId(3), text }).unwrap();
    assert_eq!(urls(&host), [URL], "the look-up before the restart still counts");
    assert!(at(host.fetches[0].1.body.as_deref().unwrap(), &["method"]).is_some());
}
