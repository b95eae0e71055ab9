//! Answers that are too much for one text: each call is answered all the same, and nothing that waits is lost.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use narrows::a2a::Dialect;
use support::host::Host;
use support::text::{at, string_at};
use support::wire;

/// The least that `answer_bytes` may be.
const LIMIT: usize = 65_536;

/// A host with agents of these names.
fn host(aliases: &[&str]) -> Host {
    let mut host = Host::new(1, &format!(r#"{{"limits":{{"answer_bytes":{LIMIT}}}}}"#));
    host.open(1, "one");
    for alias in aliases {
        let url = format!("https://{alias}.test/a2a");
        let number = host.call(1, "connect_agent", &format!(r#"{{"alias":"{alias}","agent_url":"{url}"}}"#));
        let (exchange, _) = host.fetch();
        host.reply(exchange, 200, &wire::card(Dialect::JsonRpc10, &url, false, true, alias));
        host.result(number);
    }
    host
}

fn task(id: &str, text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"task":{{"id":"{id}","contextId":"c-{id}","status":{{"state":"TASK_STATE_COMPLETED"}},"artifacts":[{{"artifactId":"a","parts":[{{"text":"{text}"}}]}}]}}}}}}"#
    )
}

fn code(result: &str, path: &[&str]) -> Option<String> {
    string_at(result, &[&["structuredContent"], path, &["error", "code"]].concat())
}

#[test]
fn a_broadcast_answers_for_every_agent_and_leaves_out_what_finds_no_room() {
    let aliases: Vec<String> = (0..20).map(|number| format!("k{number}")).collect();
    let mut host = host(&aliases.iter().map(String::as_str).collect::<Vec<_>>());
    let list = aliases.join("\",\"");
    let number = host.call(1, "broadcast_message", &format!(r#"{{"aliases":["{list}"],"message":"hi"}}"#));
    let exchanges: Vec<_> = host.fetches.drain(..).map(|(exchange, _)| exchange).collect();
    assert_eq!(exchanges.len(), 20);
    for (number, exchange) in exchanges.into_iter().enumerate() {
        host.reply(exchange, 200, &task(&format!("t{number}"), &"x".repeat(2000)));
    }
    let result = host.result(number);
    assert!(result.len() <= LIMIT, "{}", result.len());
    let (mut whole, mut left_out) = (0, 0);
    for (number, alias) in aliases.iter().enumerate() {
        let path = ["results", alias.as_str()];
        match code(&result, &path) {
            None => {
                let text = string_at(&result, &["structuredContent", "results", alias, "response"]).unwrap();
                assert_eq!(text.len(), 2000);
                whole += 1;
            }
            Some(code) => {
                assert_eq!(code, "too_large");
                let id = string_at(&result, &["structuredContent", "results", alias, "error", "task_id"]);
                assert_eq!(id, Some(format!("t{number}")));
                left_out += 1;
            }
        }
    }
    assert!(whole >= 2 && left_out >= 2, "{whole} whole, {left_out} left out");
}

#[test]
fn an_inbox_is_read_in_pieces_that_fit_and_nothing_is_lost() {
    let mut host = host(&["bob"]);
    for number in 0..12 {
        let call = host.call(1, "send_message", r#"{"agent":"bob","message":"hi","async":true}"#);
        host.result(call);
        let (exchange, _) = host.fetch();
        host.reply(exchange, 200, &task(&format!("t{number}"), &"\\n".repeat(3000)));
    }
    let (mut ids, mut readings) = (Vec::new(), 0);
    loop {
        let number = host.call(1, "read_inbox", r#"{"alias":"bob"}"#);
        let result = host.result(number);
        assert!(result.len() <= LIMIT, "{}", result.len());
        readings += 1;
        for index in 0..12 {
            let path = ["structuredContent", "messages", &index.to_string(), "task", "id"].map(ToString::to_string);
            ids.extend(string_at(&result, &path.iter().map(String::as_str).collect::<Vec<_>>()));
        }
        let remaining = at(&result, &["structuredContent", "remaining"]);
        assert_eq!(remaining, (ids.len() < 12).then(|| (12 - ids.len()).to_string()));
        if remaining.is_none() {
            break;
        }
    }
    assert_eq!(ids, (0..12).map(|number| format!("t{number}")).collect::<Vec<_>>());
    assert!(readings > 1);
}

#[test]
fn an_outcome_that_no_answer_has_room_for_is_told_with_its_ids() {
    let mut host = host(&["bob"]);
    let call = host.call(1, "send_message", r#"{"agent":"bob","message":"hi","async":true}"#);
    host.result(call);
    let (exchange, _) = host.fetch();
    host.reply(exchange, 200, &task("t1", &"x".repeat(40_000)));
    let number = host.call(1, "read_inbox", r#"{"alias":"bob"}"#);
    let result = host.result(number);
    assert_eq!(code(&result, &["messages", "0"]).as_deref(), Some("too_large"));
    for (name, id) in [("task_id", "t1"), ("context_id", "c-t1")] {
        let told = string_at(&result, &["structuredContent", "messages", "0", "error", name]);
        assert_eq!(told.as_deref(), Some(id), "{result}");
    }
}
