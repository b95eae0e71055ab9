//! A task that goes on at its agent is followed until the call's deadline, and what came of it is told in bounded texts.
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
use narrows::io::{Cause, ExchangeId, Input, Reason, Request};
use support::case::{code, connect_with_card, host, host_with, list, rpc, send, words};
use support::host::Host;
use support::text::{at, string_at};
use support::wire;

const WORKING: &str = r#"{"id":"task-0","status":{"state":"TASK_STATE_WORKING"}}"#;
const COMPLETED: &str = r#"{"id":"task-0","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[{"text":"part and the rest"}]}]}"#;
const NOT_FOUND: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Task not found"}}"#;

fn event(host: &mut Host, exchange: ExchangeId, result: &str) {
    host.body(exchange, format!("data: {}\n\n", rpc(result)).as_bytes());
}

fn artifact(text: &str) -> String {
    format!(
        r#"{{"artifactUpdate":{{"taskId":"task-0","artifact":{{"artifactId":"a","parts":[{{"text":"{text}"}}]}},"append":true}}}}"#
    )
}

/// A send to an agent that streams; its exchange.
fn streaming(config: &str, more: &str) -> (Host, u64, ExchangeId) {
    let mut host = host(config);
    connect_with_card(&mut host, "bob", Dialect::JsonRpc10, true);
    let number = send(&mut host, "bob", more);
    let (exchange, _) = host.fetch();
    host.head(exchange, 200, &[("Content-Type", "text/event-stream")]);
    (host, number, exchange)
}

/// A send whose task goes on at an agent that does not stream.
fn polling(config: &str, more: &str) -> (Host, u64) {
    let mut host = host(config);
    connect_with_card(&mut host, "bob", Dialect::JsonRpc10, false);
    let number = send(&mut host, "bob", more);
    let (exchange, _) = host.fetch();
    host.reply(exchange, 200, &rpc(&format!(r#"{{"task":{WORKING}}}"#)));
    (host, number)
}

fn method(request: &Request) -> String {
    string_at(request.body.as_deref().unwrap(), &["method"]).unwrap()
}

/// The readings of so many milliseconds, each of which is answered so.
fn readings(host: &mut Host, ms: u64, mut answer: impl FnMut(&mut Host, ExchangeId)) -> u64 {
    let until = host.clock + ms;
    let mut count = 0;
    loop {
        while let Some((exchange, request)) = host.fetches.pop_front() {
            assert_eq!(method(&request), "GetTask");
            count += 1;
            answer(host, exchange);
        }
        match host.timeout().filter(|at| *at <= until) {
            Some(at) => {
                host.clock = at;
                host.input(Input::Tick).unwrap();
            }
            None => break,
        }
    }
    host.clock = until;
    count
}

fn refuse(host: &mut Host, exchange: ExchangeId) {
    host.fail(exchange, Cause::Refused);
}

fn texts(result: &str) -> Vec<String> {
    list(&at(result, &["content"]).unwrap()).iter().map(|item| string_at(item, &["text"]).unwrap()).collect()
}

#[test]
fn an_agent_that_restarts_during_a_stream_is_followed() {
    let (mut host, number, exchange) = streaming("{}", "");
    event(&mut host, exchange, &format!(r#"{{"task":{WORKING}}}"#));
    event(&mut host, exchange, &artifact("part"));
    host.fail(exchange, Cause::Reset);
    let tried = readings(&mut host, 45_000, refuse);
    assert!((10..30).contains(&tried), "{tried} readings with growing pauses");
    assert_eq!(host.answer(number), None, "the deadline is 60 s");
    readings(&mut host, 6000, |host, exchange| host.reply(exchange, 200, &rpc(COMPLETED)));
    assert_eq!(words(&host.result(number)), "part and the rest");
}

#[test]
fn at_the_deadline_everything_received_and_the_last_failure_are_told() {
    let (mut host, number, exchange) = streaming("{}", "");
    event(&mut host, exchange, &format!(r#"{{"task":{WORKING}}}"#));
    event(&mut host, exchange, &artifact("part"));
    host.fail(exchange, Cause::Reset);
    readings(&mut host, 60_000, refuse);
    let result = host.result(number);
    assert_eq!(code(&result).as_deref(), Some("timeout"));
    assert_eq!(string_at(&result, &["structuredContent", "error", "task_id"]).as_deref(), Some("task-0"));
    let texts = texts(&result);
    assert!(texts[0].contains("60s") && texts[0].contains("refused the connection"), "{texts:?}");
    assert!(texts.iter().any(|text| text == "received so far: part"), "{texts:?}");
    let listed = host.call(1, "list_agents", "{}");
    assert_eq!(string_at(&host.result(listed), &["structuredContent", "agents", "0", "health"]).as_deref(), Some("unhealthy"));
}

#[test]
fn answers_that_say_nothing_of_the_task_are_waited_out() {
    for (status, body) in [
        (502, "<html>Bad Gateway</html>"),
        (404, "no such tunnel"),
        (200, "<html>Starting</html>"),
        (200, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error"}}"#),
    ] {
        let (mut host, number) = polling("{}", "");
        readings(&mut host, 50_000, |host, exchange| host.reply(exchange, status, body));
        assert_eq!(host.answer(number), None, "{status} {body}");
        readings(&mut host, 6000, |host, exchange| host.reply(exchange, 200, &rpc(COMPLETED)));
        assert_eq!(words(&host.result(number)), "part and the rest");
    }
}

#[test]
fn an_agent_that_says_again_and_again_that_there_is_no_such_task_is_believed() {
    let (mut host, number) = polling("{}", "");
    let asked = readings(&mut host, 20_000, |host, exchange| host.reply(exchange, 200, NOT_FOUND));
    assert_eq!(asked, 4);
    let result = host.result(number);
    assert_eq!(code(&result).as_deref(), Some("task_not_found"));
    assert!(words(&result).contains("task-0"), "{result}");
}

#[test]
fn a_call_without_a_deadline_gives_up_at_the_limit() {
    let (mut host, number) = polling(r#"{"limits":{"failed_readings":20}}"#, r#","poll_timeout_seconds":-1"#);
    let tried = readings(&mut host, 95_000, refuse);
    assert!(tried > 21, "{tried} readings, the first ones soon after each other");
    assert_eq!(host.answer(number), None, "twenty times the longest pause are not over");
    readings(&mut host, 15_000, refuse);
    let result = host.result(number);
    assert_eq!(code(&result).as_deref(), Some("unreachable"));
    assert!(words(&result).contains("refused the connection"), "{result}");
}

#[test]
fn a_reading_of_which_nothing_comes_is_made_again() {
    let (mut host, number) = polling("{}", "");
    readings(&mut host, 1000, |_, _| {});
    assert_eq!(host.gateway.poll_timeout().map(|due| due.reason), Some(Reason::ReadTimeout));
    assert_eq!(readings(&mut host, 28_000, |_, _| {}), 0, "there are slow agents");
    assert!(host.aborted.is_empty());
    assert_eq!(readings(&mut host, 5000, |host, exchange| host.reply(exchange, 200, &rpc(COMPLETED))), 1);
    assert_eq!(host.aborted.len(), 1);
    assert_eq!(words(&host.result(number)), "part and the rest");
}

#[test]
fn a_reading_of_which_something_comes_is_waited_for() {
    let (mut host, number) = polling("{}", "");
    let mut slow = None;
    readings(&mut host, 1000, |_, exchange| slow = Some(exchange));
    let exchange = slow.unwrap();
    readings(&mut host, 25_000, |_, _| {});
    host.head(exchange, 200, &[("Content-Type", "application/json")]);
    assert_eq!(readings(&mut host, 25_000, |_, _| {}), 0);
    host.body(exchange, rpc(COMPLETED).as_bytes());
    host.end(exchange);
    assert_eq!(words(&host.result(number)), "part and the rest");
}

/// An agent may answer a reading once there is something new: that is no sign of its health.
#[test]
fn readings_that_an_agent_answers_late_are_waited_for_longer_each_time() {
    let (mut host, number) = polling("{}", r#","poll_timeout_seconds":-1"#);
    assert_eq!(readings(&mut host, 100_000, |_, _| {}), 3);
    assert_eq!(readings(&mut host, 110_000, |_, _| {}), 0);
    let health = host.call(1, "list_agents", "{}");
    assert!(!host.result(health).contains("consecutive_failures"));
    assert_eq!(readings(&mut host, 5_000, |host, exchange| host.reply(exchange, 200, &rpc(COMPLETED))), 1);
    assert_eq!(words(&host.result(number)), "part and the rest");
}

#[test]
fn readings_that_all_hang_end_a_call_without_a_deadline() {
    let (mut host, number) = polling(r#"{"limits":{"failed_readings":3}}"#, r#","poll_timeout_seconds":-1"#);
    assert_eq!(readings(&mut host, 455_000, |_, _| {}), 4);
    let result = host.result(number);
    assert_eq!(code(&result).as_deref(), Some("timeout"));
    assert!(words(&result).contains("said nothing for 240s when its task was read (task task-0)"), "{result}");
    assert_eq!(string_at(&result, &["structuredContent", "error", "limit"]).as_deref(), Some("failed_readings"));
}

#[test]
fn a_stream_that_breaks_again_and_again_is_taken_up_until_the_end() {
    let (mut host, number, mut exchange) = streaming("{}", "");
    event(&mut host, exchange, &format!(r#"{{"task":{WORKING}}}"#));
    let mut pauses = Vec::new();
    for round in 0..9 {
        event(&mut host, exchange, &artifact("x"));
        host.end(exchange);
        let before = host.clock;
        while host.fetches.is_empty() {
            host.clock = host.timeout().unwrap();
            host.input(Input::Tick).unwrap();
        }
        pauses.push(host.clock - before);
        let (reading, request) = host.fetch();
        assert_eq!(method(&request), "GetTask", "round {round}");
        host.reply(reading, 200, &rpc(WORKING));
        let (resumed, request) = host.fetch();
        assert_eq!(method(&request), "SubscribeToTask");
        host.head(resumed, 200, &[("Content-Type", "text/event-stream")]);
        exchange = resumed;
    }
    assert_eq!(pauses[0], 0, "after the first break the task is read at once");
    assert!(pauses[1..].is_sorted_by(|one, next| one < next || *next > 4000), "{pauses:?}");
    event(&mut host, exchange, r#"{"statusUpdate":{"taskId":"task-0","status":{"state":"TASK_STATE_COMPLETED"}}}"#);
    host.end(exchange);
    let (reading, _) = host.fetch();
    host.reply(reading, 200, &rpc(COMPLETED));
    assert_eq!(words(&host.result(number)), "part and the rest");
}

#[test]
fn an_event_that_is_cut_off_names_the_task_and_says_nothing_else() {
    let (mut host, number, exchange) = streaming("{}", "");
    host.body(exchange, format!("data: {}\n", rpc(&format!(r#"{{"task":{COMPLETED}}}"#))).as_bytes());
    host.end(exchange);
    assert_eq!(host.answer(number), None);
    let (reading, request) = host.fetch();
    assert_eq!(
        (method(&request).as_str(), at(request.body.as_deref().unwrap(), &["params", "id"]).as_deref()),
        ("GetTask", Some("\"task-0\""))
    );
    host.reply(reading, 200, &rpc(COMPLETED));
    assert_eq!(words(&host.result(number)), "part and the rest");
}

#[test]
fn a_cut_event_without_a_task_is_quoted() {
    let (mut host, number, exchange) = streaming("{}", "");
    host.body(exchange, b"data: {\"jsonrpc\":\"2.0\",\"result\":{\"message\":{\"parts\":[{\"text\":\"almost");
    host.end(exchange);
    let result = host.result(number);
    assert_eq!(code(&result).as_deref(), Some("protocol_error"));
    assert!(words(&result).contains("almost"), "{result}");
}

#[test]
fn a_stream_whose_task_has_no_name_says_so() {
    let (mut host, number, exchange) = streaming("{}", "");
    event(&mut host, exchange, r#"{"statusUpdate":{"status":{"state":"TASK_STATE_WORKING"}}}"#);
    host.end(exchange);
    assert!(words(&host.result(number)).contains("began a task without an id"));
}

#[test]
fn a_cut_plain_answer_is_quoted_without_credentials() {
    let mut host = host_with("bob", "https://bob.test/a2a", r#","headers":{"Authorization":"Bearer a-long-token"}"#);
    let number = send(&mut host, "bob", "");
    let (exchange, _) = host.fetch();
    host.head(exchange, 200, &[("Content-Type", "application/json")]);
    host.body(exchange, br#"{"jsonrpc":"2.0","result":{"message":{"parts":[{"text":"a-long-token, and so"#);
    host.fail(exchange, Cause::Protocol);
    let result = host.result(number);
    assert_eq!(code(&result).as_deref(), Some("protocol_error"));
    assert!(words(&result).contains("[redacted], and so") && !result.contains("a-long-token"), "{result}");
}

#[test]
fn a_large_partial_text_stands_once_and_is_cut_in_the_text() {
    let large = "é".repeat(100_000);
    let (mut host, number, exchange) = streaming("{}", r#","poll_timeout_seconds":5"#);
    event(&mut host, exchange, &format!(r#"{{"task":{WORKING}}}"#));
    event(&mut host, exchange, &artifact(&large));
    host.advance(5000);
    let result = host.result(number);
    assert_eq!(code(&result).as_deref(), Some("timeout"));
    let text = texts(&result).into_iter().find(|text| text.starts_with("received so far: é")).unwrap();
    assert!(text.chars().count() < 5000 && text.ends_with("… (cut here: structuredContent has the rest)"));
    let path = ["structuredContent", "task", "artifacts", "0", "parts", "0", "text"];
    assert_eq!(string_at(&result, &path), Some(large.clone()));
    assert!(result.len() < large.len() + 20_000, "{}", result.len());
}

#[test]
fn what_an_agent_says_in_an_error_is_cut_in_the_text() {
    let large = "z".repeat(100_000);
    let mut host = host_with("bob", "https://bob.test/a2a", "");
    let number = send(&mut host, "bob", "");
    let (exchange, _) = host.fetch();
    host.reply(exchange, 200, &format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-1,"message":"{large}"}}}}"#));
    let result = host.result(number);
    assert_eq!(string_at(&result, &["structuredContent", "error", "agent_message"]), Some(large.clone()));
    assert!(result.len() < large.len() + 20_000);
    let number = send(&mut host, "bob", "");
    let (exchange, _) = host.fetch();
    let said = wire::message(Dialect::JsonRpc10, None, &large);
    let task = format!(r#"{{"task":{{"id":"task-0","status":{{"state":"TASK_STATE_FAILED","message":{said}}}}}}}"#);
    host.reply(exchange, 200, &rpc(&task));
    let result = host.result(number);
    assert_eq!(code(&result).as_deref(), Some("task_failed"));
    assert!(result.len() < large.len() + 20_000, "the reason stands whole in the task alone");
}

#[test]
fn no_text_is_cut_within_a_credential() {
    let mut host = host_with("bob", "https://bob.test/a2a", r#","headers":{"Authorization":"Bearer a-long-token"}"#);
    let number = send(&mut host, "bob", "");
    let (exchange, _) = host.fetch();
    let said = wire::message(Dialect::JsonRpc10, None, &format!("{}a-long-token", "x".repeat(3990)));
    let made = format!("{}a-long-token", "y".repeat(3993));
    let task = format!(
        r#"{{"task":{{"id":"task-0","status":{{"state":"TASK_STATE_FAILED","message":{said}}},"artifacts":[{{"artifactId":"a","parts":[{{"text":"{made}"}}]}}]}}}}"#
    );
    host.reply(exchange, 200, &rpc(&task));
    let result = host.result(number);
    assert_eq!(code(&result).as_deref(), Some("task_failed"));
    assert!(result.contains("xx[redacted]") && result.contains("yy[redact…") && !result.contains("a-lo"), "{result}");
}

#[test]
fn what_a_failed_task_had_made_is_in_the_text() {
    let (mut host, number, exchange) = streaming("{}", "");
    event(&mut host, exchange, &format!(r#"{{"task":{WORKING}}}"#));
    event(&mut host, exchange, &artifact("half of it"));
    let said = wire::message(Dialect::JsonRpc10, None, "no more paper");
    event(
        &mut host,
        exchange,
        &format!(r#"{{"statusUpdate":{{"taskId":"task-0","status":{{"state":"TASK_STATE_FAILED","message":{said}}}}}}}"#),
    );
    host.end(exchange);
    let result = host.result(number);
    assert_eq!(code(&result).as_deref(), Some("task_failed"));
    let texts = texts(&result);
    assert!(texts[0].ends_with("failed: no more paper"), "{texts:?}");
    assert!(texts.iter().any(|text| text == "received before: half of it"), "{texts:?}");
}

#[test]
fn a_task_without_an_id_is_not_canceled_at_its_agent() {
    let (mut host, number, exchange) = streaming("{}", "");
    event(&mut host, exchange, r#"{"statusUpdate":{"status":{"state":"TASK_STATE_WORKING"}}}"#);
    host.tell(1, &format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{number}}}}}"#));
    assert!(host.aborted.contains(&exchange) && host.fetches.is_empty(), "{:?}", host.fetches);
}

#[test]
fn connecting_says_that_no_message_will_go_to_the_interface() {
    for (interface, why) in
        [("http://169.254.169.254/x", "never called"), ("http://127.0.0.1:8080/", "an agent at a public address named it")]
    {
        let mut host = host("{}");
        let number = host.call(1, "connect_agent", r#"{"alias":"bob","agent_url":"http://bob.test/"}"#);
        let (exchange, _) = host.fetch();
        host.reply(exchange, 200, &wire::card(Dialect::JsonRpc10, interface, false, true, "bob"));
        let text = words(&host.result(number));
        assert!(text.contains("No message will be sent to its interface") && text.contains(why), "{text}");
    }
}

#[test]
fn a_handshake_that_failed_is_not_always_a_certificate() {
    let mut host = host_with("bob", "https://bob.test/a2a", "");
    let number = send(&mut host, "bob", "");
    let (exchange, _) = host.fetch();
    host.input(Input::Failed { exchange, cause: Cause::Tls, detail: "wrong version number".into() }).unwrap();
    let text = words(&host.result(number));
    assert!(text.contains("TLS handshake") && text.contains("(wrong version number)"), "{text}");
    assert!(!text.contains("was not accepted"), "{text}");
}

#[test]
fn what_is_odd_and_taken_all_the_same_is_told_in_the_log() {
    let mut host = host("{}");
    let level = host.request(1, "logging/setLevel", r#"{"level":"warning"}"#);
    host.answer(level).unwrap();
    connect_with_card(&mut host, "bob", Dialect::JsonRpc10, true);
    send(&mut host, "bob", "");
    let (exchange, _) = host.fetch();
    host.head(exchange, 200, &[("Content-Type", "text/event-stream")]);
    event(&mut host, exchange, &format!(r#"{{"task":{WORKING}}}"#));
    for (append, last) in [(false, true), (true, false), (true, false)] {
        event(&mut host, exchange, &wire::artifact_event(Dialect::JsonRpc10, ("other", None), "x", append, last));
    }
    let told: Vec<String> = host
        .said
        .iter()
        .filter_map(|(_, text)| string_at(text, &["params", "data"]))
        .filter(|text| text.contains("was taken"))
        .collect();
    assert_eq!(told.len(), 2, "each kind once: {told:?}");
    assert!(told[0].contains("another task or context") && told[1].contains("after its last piece"), "{told:?}");
}
