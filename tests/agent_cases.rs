//! What agents of the field do, as the gateway lives through it.
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
use narrows::io::{Cause, ExchangeId};
use support::case::{Case, connect_with_card, host, host_with, list, part, rpc, send, strings, walk, words};
use support::host::Host;
use support::text::{at, string_at};
use support::wire;

#[test]
fn cards_are_looked_for_in_order() {
    let ids = [
        "card-004", "card-007", "card-010", "card-011", "card-014", "card-016", "card-017", "card-019", "card-020", "card-022",
        "card-023", "card-025",
    ];
    let decided = "tests/a2a_cases.rs::card_discovery";
    let mut elsewhere: Vec<(&str, &str)> = ids.map(|id| (id, decided)).to_vec();
    elsewhere.push(("card-013", "the gateway rewrites no URL in the card of another"));
    elsewhere.push(("card-026", "tests/a2a_server/card.rs::the_configuration_has_the_last_word"));
    walk("agent-card-discovery.json", &elsewhere, |case| {
        assert!(["card-001", "card-002", "card-005", "card-008"].contains(&case.id.as_str()), "nothing checks {}", case.id);
        let base = string_at(&case.input, &["base"]).unwrap();
        let mut host = host("{}");
        let number = host.call(1, "connect_agent", &format!(r#"{{"alias":"bob","agent_url":"{base}"}}"#));
        let mut last = String::new();
        while let Some((exchange, request)) = host.fetches.pop_front() {
            let path = request.url.strip_prefix("https://agent.test").unwrap().to_owned();
            let status = at(&case.input, &["http", &path]).map_or(404, |status| status.parse().unwrap());
            host.reply(exchange, status, r#"{"name":"n","url":"","capabilities":{},"skills":[]}"#);
            last = request.url;
        }
        assert!(at(&host.result(number), &["structuredContent", "card", "name"]).is_some(), "{}", case.id);
        assert_eq!(Some(last), string_at(&case.expected, &["card_url"]));
        send(&mut host, "bob", "");
        let endpoint = string_at(&case.expected, &["endpoint"]);
        assert!(endpoint.is_none_or(|endpoint| host.fetch().1.url == endpoint));
    });
}

/// A send to an agent that streams; its exchange.
fn streaming() -> (Host, u64, ExchangeId) {
    let mut host = host("{}");
    connect_with_card(&mut host, "bob", Dialect::JsonRpc10, true);
    let number = send(&mut host, "bob", "");
    let (exchange, _) = host.fetch();
    host.head(exchange, 200, &[("Content-Type", "text/event-stream")]);
    (host, number, exchange)
}

fn event(host: &mut Host, exchange: ExchangeId, result: &str) {
    host.body(exchange, format!("data: {}\n\n", rpc(&narrows::json::compact(result))).as_bytes());
}

#[test]
fn tasks_in_streams() {
    let ended = "tests/a2a_server/sends.rs::unknown_tasks_are_not_found_and_ended_ones_stay";
    let asks = "tests/a2a_server/functions.rs::input_closes_the_stream_and_one_more_message_goes_on";
    let elsewhere = [
        ("task-004", ended),
        ("task-005", ended),
        ("task-010", "tests/a2a_cases.rs::streams_and_states"),
        ("task-016", asks),
        ("task-017", asks),
    ];
    walk("streaming-task-state.json", &elsewhere, |case| match case.id.as_str() {
        "task-001" => {
            let mut host = host("{}");
            connect_with_card(&mut host, "bob", Dialect::JsonRpc03, false);
            let number = send(&mut host, "bob", "");
            let body = host.fetch().1.body.unwrap();
            let expected = part(&case.expected, &["wire"]).replace("\"hi\"", &format!("\"call-{number}\""));
            for path in
                [&["method"][..], &["params", "message", "kind"], &["params", "message", "role"], &["params", "message", "parts"]]
            {
                assert_eq!(
                    at(&body, path).map(|text| text.replace([' ', '\n'], "")),
                    at(&expected, path).map(|text| text.replace([' ', '\n'], ""))
                );
            }
        }
        "task-002" => {
            let mut host = host_with("bob", "https://bob.test/a2a", "");
            let number = send(&mut host, "bob", "");
            let (exchange, _) = host.fetch();
            host.reply(exchange, 200, &rpc(&part(&case.input, &["result"])));
            let result = host.result(number);
            assert_eq!(Some(words(&result)), string_at(&case.expected, &["text"]));
            assert_eq!(
                string_at(&result, &["content", "1", "text"]).unwrap(),
                format!("state: {}", string_at(&case.expected, &["state"]).unwrap())
            );
        }
        "task-011" | "task-014" => {
            let (mut host, number, exchange) = streaming();
            for text in list(&part(&case.input, &["events"])) {
                event(&mut host, exchange, &text);
            }
            host.advance(1000);
            let result = host.result(number);
            assert_eq!(Some(words(&result)), string_at(&case.expected, &["text"]), "{result}");
            assert_eq!(at(&result, &["structuredContent", "task"]).is_some(), case.id == "task-011");
            assert_eq!(host.watch.running(), []);
        }
        "task-013" => {
            let (mut host, _, exchange) = streaming();
            for text in list(&part(&case.input, &["events"])) {
                event(&mut host, exchange, &text);
            }
            host.end(exchange);
            assert_eq!(string_at(host.fetch().1.body.as_deref().unwrap(), &["method"]).as_deref(), Some("GetTask"));
        }
        "task-019" => {
            let mut host = host_with("bob", "https://bob.test/a2a", "");
            let number = send(&mut host, "bob", r#","poll_timeout_seconds":90"#);
            let (exchange, _) = host.fetch();
            host.reply(exchange, 200, &rpc(r#"{"task":{"id":"task-0","status":{"state":"submitted"}}}"#));
            let states = strings(&part(&case.input, &["states"]));
            for state in &states {
                host.advance(6000);
                let (exchange, _) = host.fetch();
                host.reply(exchange, 200, &rpc(&format!(r#"{{"id":"task-0","status":{{"state":"{state}"}}}}"#)));
            }
            let result = host.result(number);
            assert_eq!(
                string_at(&result, &["content", "1", "text"]).unwrap(),
                format!("state: {}", string_at(&case.expected, &["result"]).unwrap())
            );
            assert_eq!(states.len().to_string(), part(&case.expected, &["polls"]));
        }
        unknown => panic!("nothing checks {unknown}"),
    });
}

/// An event of the short form `[artifact, append, text, "last"?]`.
fn artifact_event(text: &str) -> String {
    let piece = list(text);
    let last = piece.len() > 3;
    format!(
        r#"{{"artifactUpdate":{{"taskId":"task-0","artifact":{{"artifactId":{},"parts":[{{"text":{}}}]}},"append":{},"lastChunk":{last}}}}}"#,
        piece[0], piece[2], piece[1]
    )
}

#[test]
fn artifacts_in_streams() {
    walk("artifacts-append.json", &[], |case| {
        if case.id == "art-004" {
            return artifacts_of_two_tasks(case);
        }
        assert!(["art-001", "art-002", "art-005"].contains(&case.id.as_str()), "nothing checks {}", case.id);
        let (mut host, number, mut exchange) = streaming();
        event(&mut host, exchange, r#"{"task":{"id":"task-0","status":{"state":"working"}}}"#);
        for text in list(&part(&case.input, &["events"])) {
            if text == "\"CUT\"" {
                host.fail(exchange, Cause::Reset);
                let (read, _) = host.fetch();
                let task =
                    r#"{"id":"task-0","status":{"state":"working"},"artifacts":[{"artifactId":"a","parts":[{"text":"x"}]}]}"#;
                host.reply(read, 200, &rpc(task));
                exchange = host.fetch().0;
                host.head(exchange, 200, &[("Content-Type", "text/event-stream")]);
            } else if text.starts_with('[') {
                event(&mut host, exchange, &artifact_event(&text));
            } else if at(&text, &["artifactUpdate"]).is_some() {
                event(&mut host, exchange, &text);
            }
        }
        event(&mut host, exchange, r#"{"statusUpdate":{"taskId":"task-0","status":{"state":"completed"}}}"#);
        host.advance(600);
        if let Some((read, _)) = host.fetches.pop_front() {
            host.reply(read, 200, &rpc(r#"{"id":"task-0","status":{"state":"completed"}}"#));
        }
        let result = host.result(number);
        let parts = part(&result, &["structuredContent", "task", "artifacts", "0", "parts"]);
        let texts: Vec<String> = list(&parts).iter().map(|part| string_at(part, &["text"]).unwrap()).collect();
        let expected = part(&case.expected, &["artifacts", "a"]);
        let expected = string_at(&expected, &[]).unwrap_or_else(|| strings(&expected).concat());
        assert_eq!(texts.concat(), expected, "{}", case.id);
    });
}

/// Two tasks of one conversation: each has its own artifacts.
fn artifacts_of_two_tasks(case: &Case) {
    let context = string_at(&case.input, &["context"]).unwrap();
    let mut host = host_with("bob", "https://bob.test/a2a", "");
    let made = ["t1", "t2"].map(|task| {
        let number = send(&mut host, "bob", "");
        let (exchange, _) = host.fetch();
        let pieces = strings(&part(&case.input, &[task]));
        let task = wire::task(Dialect::JsonRpc10, (task, Some(&context)), "completed", "", &pieces.concat());
        host.reply(exchange, 200, &rpc(&format!(r#"{{"task":{task}}}"#)));
        part(&host.result(number), &["structuredContent", "task", "artifacts"])
    });
    let texts: Vec<String> =
        list(&made[1]).iter().map(|artifact| string_at(artifact, &["parts", "0", "text"]).unwrap()).collect();
    assert_eq!(texts, strings(&part(&case.expected, &["t2.artifacts"])));
}
