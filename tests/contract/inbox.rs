//! What the inbox says of sends that nobody waited for.

use narrows::io::Cause;

use super::support::case::{code, connect, host_with, part, rpc, send, words};
use super::support::host::Host;
use super::support::text::{at, string_at};

fn tool(host: &mut Host, name: &str, arguments: &str) -> String {
    let number = host.call(1, name, arguments);
    host.result(number)
}

/// An async send; the id of its call.
fn dispatched(host: &mut Host, more: &str) -> String {
    let number = send(host, "bob", &format!(r#","async":true{more}"#));
    string_at(&host.result(number), &["structuredContent", "async", "call_id"]).unwrap()
}

fn reply(host: &mut Host, state: &str) {
    let (exchange, _) = host.fetch();
    host.reply(exchange, 200, &rpc(&format!(r#"{{"task":{{"id":"t1","status":{{"state":"TASK_STATE_{state}"}}}}}}"#)));
}

#[test]
fn the_text_tells_how_a_send_ended() {
    let mut host = host_with("bob", "https://bob.test/a2a", "");
    let late = dispatched(&mut host, r#","poll_timeout_seconds":0.2"#);
    reply(&mut host, "WORKING");
    let text = words(&tool(&mut host, "check_inbox", "{}"));
    assert_eq!(text, format!("bob: pending, task t1 (call {late})"));
    host.advance(300);
    let silent = dispatched(&mut host, r#","poll_timeout_seconds":0.2"#);
    host.advance(300);
    host.fetches.clear();
    let lost = dispatched(&mut host, "");
    let (exchange, _) = host.fetch();
    host.fail(exchange, Cause::Refused);
    let failed = dispatched(&mut host, "");
    reply(&mut host, "FAILED");
    let done = dispatched(&mut host, "");
    reply(&mut host, "COMPLETED");
    let text = words(&tool(&mut host, "check_inbox", "{}"));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            format!("bob: timeout, task t1 was working (call {late})"),
            format!("bob: timeout (call {silent})"),
            format!("bob: unreachable (call {lost})"),
            format!("bob: failed, task t1 (call {failed})"),
            format!("bob: completed, task t1 (call {done})"),
        ]
    );
    let text = words(&tool(&mut host, "read_inbox", r#"{"alias":"bob","length":1}"#));
    assert!(text.contains(" timeout, task t1 was working (") && text.contains("did not finish"), "{text}");
}

#[test]
fn a_disconnected_agent_leaves_nothing_in_the_inbox() {
    let mut host = host_with("bob", "https://bob.test/a2a", "");
    dispatched(&mut host, "");
    reply(&mut host, "COMPLETED");
    dispatched(&mut host, "");
    reply(&mut host, "WORKING");
    let result = tool(&mut host, "disconnect_agent", r#"{"alias":"bob"}"#);
    assert_eq!(at(&result, &["structuredContent", "aborted"]).as_deref(), Some("1"));
    let result = tool(&mut host, "check_inbox", "{}");
    assert_eq!(part(&result, &["structuredContent"]), r#"{"entries":[],"pending":[]}"#);
    assert_eq!(code(&tool(&mut host, "read_inbox", r#"{"alias":"bob"}"#)).as_deref(), Some("unknown_agent"));
    connect(&mut host, "bob", "https://bob.test/a2a", "");
    let result = tool(&mut host, "read_inbox", r#"{"alias":"bob"}"#);
    assert_eq!(at(&result, &["structuredContent", "messages"]).as_deref(), Some("[]"));
}
