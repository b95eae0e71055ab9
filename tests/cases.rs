//! Inputs of the field on which gateways have failed, given to the whole core.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc
)]

mod support;

use narrows::io::{ExchangeId, Input, PeerId, Request};
use narrows::time::Instant;
use support::case::{code, connect, host, host_with, list, part, rpc, send, state, strings, walk, words};
use support::host::{Host, call};
use support::text::{at, quoted, raw, string_at};

/// The ids of the responses so far, literally and in their order.
fn response_ids(host: &mut Host) -> Vec<String> {
    host.said.drain(..).filter_map(|(_, text)| at(&text, &["id"])).collect()
}

/// Sends messages as they are; those with an id are awaited.
fn send_lines(host: &mut Host, lines: &[String]) {
    for line in lines {
        let is_request = at(line, &["method"]).is_some();
        if let Some(id) = at(line, &["id"]).filter(|_| is_request) {
            let number = host.number() + 1000;
            host.watch.expect(number, call(1, &id, None, None));
        }
        host.tell(1, line);
    }
}

#[test]
fn json_rpc() {
    let client = "it is about MCP servers behind the gateway: tests/links";
    let elsewhere = [("rpc-005", client), ("rpc-008", client), ("rpc-010", client)];
    walk("json-rpc.json", &elsewhere, |case| match case.id.as_str() {
        "rpc-001" | "rpc-007" => {
            let mut host = Host::new(1, "{}");
            host.open(1, "one");
            send_lines(&mut host, &list(&part(&case.input, &["send"])));
            assert_eq!(response_ids(&mut host), list(&part(&case.expected, &["response_ids"])), "{}", case.id);
        }
        "rpc-004" => {
            let mut host = Host::new(1, "{}");
            host.open(1, "one");
            host.watch.expect(1, call(1, "1", None, None));
            for line in strings(&part(&case.input, &["stdin_hex_or_text"])) {
                host.tell(1, line.trim_end());
            }
            assert_eq!(response_ids(&mut host), [part(&case.expected, &["last_response_id"])]);
        }
        "rpc-011" => {
            let mut host = Host::new(1, "{}");
            host.open(1, "one");
            send_lines(&mut host, &list(&part(&case.input, &["send"])));
            let answers: Vec<String> = host.said.drain(..).map(|(_, text)| text).collect();
            for (id, code) in narrows::json::members(raw(&part(&case.expected, &["codes"]))).unwrap().keep() {
                let answer = answers.iter().find(|text| at(text, &["id"]).as_ref() == Some(&id)).unwrap();
                assert_eq!(at(answer, &["error", "code"]).as_deref(), Some(code.as_str()), "{answer}");
            }
            assert!(at(answers.last().unwrap(), &["result", "tools"]).is_some());
        }
        "rpc-013" => {
            let mut host = Host::new(1, "{}");
            host.open(1, "one");
            send_lines(&mut host, &strings(&part(&case.input, &["send_lines"])));
            assert_eq!(response_ids(&mut host), strings(&part(&case.expected, &["response_id_literals"])));
        }
        unknown => panic!("nothing checks {unknown}"),
    });
}

#[test]
fn replies_with_any_id() {
    walk("json-rpc-replies.json", &[], |case| {
        assert_eq!(case.id, "rpc-002");
        let mut host = host_with("bob", "https://bob.test/a2a", "");
        for (reply, outcome) in
            list(&part(&case.input, &["agent_replies"])).iter().zip(strings(&part(&case.expected, &["outcomes"])))
        {
            let number = send(&mut host, "bob", "");
            let (exchange, _) = host.fetch();
            host.reply(exchange, 200, reply);
            let result = host.result(number);
            let expected = match outcome.as_str() {
                "message" => None,
                "agent error" => Some("agent_error".to_owned()),
                _ => Some("protocol_error".to_owned()),
            };
            assert_eq!(code(&result), expected, "{reply}: {result}");
        }
    });
}

#[test]
fn polling_timeouts_and_cancellation() {
    let link = "there are no MCP servers behind the gateway";
    let elsewhere = [("can-004", link), ("can-005", link), ("prog-002", link)];
    walk("polling-timeouts-cancellation.json", &elsewhere, |case| match case.id.as_str() {
        "can-001" => {
            let mut host = host_with("slow", "https://slow.test/a2a", "");
            send_lines(&mut host, &list(&part(&case.input, &["send"])));
            assert_eq!(response_ids(&mut host), list(&part(&case.expected, &["response_ids"])));
            assert_eq!(host.watch.running(), []);
        }
        "can-002" => strings(&part(&case.input, &["cases"])).iter().for_each(|words| cancel_too_late(words)),
        "prog-001" => {
            let tokens = list(&part(&case.input, &["calls"])).into_iter().map(|call| at(&call, &["_meta", "progressToken"]));
            for (token, expected) in tokens.zip(list(&part(&case.expected, &["progress_tokens"]))) {
                assert_eq!(progress_token(token.clone()).unwrap_or_else(|| "null".to_owned()), expected, "{token:?}");
            }
        }
        "prog-004" => {
            let mut host = host_with("bob", "https://bob.test/a2a", "");
            let seconds = part(&case.input, &["timeout_seconds"]);
            let number = send(&mut host, "bob", &format!(r#","poll_timeout_seconds":{seconds}"#));
            let (exchange, _) = host.fetch();
            host.advance(part(&case.input, &["reply_at_s"]).parse::<u64>().unwrap() * 1000);
            host.reply(exchange, 200, &rpc(r#"{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"late"}]}}"#));
            assert_eq!(words(&host.result(number)), "late");
        }
        "prog-005" => {
            let (rps, burst) = (part(&case.input, &["rps"]), part(&case.input, &["burst"]));
            let limit = format!(r#","rate_limit_rps":{rps},"rate_limit_burst":{burst}"#);
            let mut host = host_with("bob", "https://bob.test/a2a", &limit);
            send(&mut host, "bob", "");
            let second = send(&mut host, "bob", "");
            let result = host.result(second);
            assert_eq!(code(&result).as_deref(), Some("rate_limited"));
            assert!(words(&result).contains("'bob'") && words(&result).contains("retry after 1s"), "{result}");
        }
        unknown => panic!("nothing checks {unknown}"),
    });
}

/// Cancellations that no running call is meant by.
fn cancel_too_late(words: &str) {
    let mut host = host_with("bob", "https://bob.test/a2a", "");
    let cancel = |host: &mut Host, id: &str| {
        host.tell(1, &format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#));
    };
    let ended = send(&mut host, "bob", "");
    let (exchange, _) = host.fetch();
    let in_flight = send(&mut host, "bob", "");
    host.reply(exchange, 200, &rpc(r#"{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"done"}]}}"#));
    host.said.clear();
    match words {
        "cancel after result computed" | "cancel after reply written" => cancel(&mut host, &ended.to_string()),
        "cancel same id twice" => (0..2).for_each(|_| cancel(&mut host, &ended.to_string())),
        "cancel id never used" => cancel(&mut host, "4711"),
        "cancel with string id \"1\" while 1 is in flight" => cancel(&mut host, &quoted(&in_flight.to_string())),
        unknown => panic!("nothing checks {unknown}"),
    }
    assert!(host.said.is_empty() && host.watch.running().len() == 1, "{words}");
}

/// The token of the first progress notification of a send that was called with a token.
fn progress_token(token: Option<String>) -> Option<String> {
    let mut host = host_with("bob", "https://bob.test/a2a", "");
    let number = host.number();
    host.watch.expect(number, call(1, &number.to_string(), token.clone(), None));
    host.watch.tasks.entry(1).or_default().insert(number);
    let meta = token.map_or_else(|| "null".to_owned(), |token| format!(r#"{{"progressToken":{token}}}"#));
    let params = format!(r#"{{"name":"send_message","arguments":{{"agent":"bob","message":"call-{number}"}},"_meta":{meta}}}"#);
    host.tell(1, &format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{params}}}"#));
    let (exchange, _) = host.fetch();
    host.reply(exchange, 200, &rpc(r#"{"task":{"id":"task-1","status":{"state":"TASK_STATE_WORKING"}}}"#));
    host.said.iter().find_map(|(_, text)| at(text, &["params", "progressToken"]))
}

#[test]
fn context_ids() {
    let elsewhere = [("ctx-001", "tests/a2a_server/access.rs::another_ones_task_is_as_unknown_as_none")];
    walk("context-ids.json", &elsewhere, |case| match case.id.as_str() {
        "ctx-002" => contexts_of_two_scopes(),
        "ctx-004" => {
            let mut host = host_with("bob", "https://bob.test/a2a", "");
            let number = send(&mut host, "bob", "");
            let (exchange, _) = host.fetch();
            host.reply(exchange, 200, &rpc(r#"{"task":{"id":"task-0","status":{"state":"TASK_STATE_SUBMITTED"}}}"#));
            for answer in list(&part(&case.input, &["get_results"])) {
                host.advance(6000);
                let (exchange, _) = host.fetch();
                let body = match string_at(&answer, &["state"]) {
                    Some(state) => rpc(&format!(r#"{{"id":"task-0","status":{{"state":"{state}"}}}}"#)),
                    None => format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{answer},"message":"Task not found"}}}}"#),
                };
                host.reply(exchange, 200, &body);
            }
            assert_eq!(state(&host.result(number)).as_deref(), Some("TASK_STATE_COMPLETED"));
        }
        "ctx-005" | "task-007" => {
            let turn = if case.id == "ctx-005" { "last" } else { "turn1" };
            let mut host = host_with("bob", "https://bob.test/a2a", "");
            first_turn(&mut host, &part(&case.input, &[turn]));
            send(&mut host, "bob", "");
            let wire = ["wire", "turn2_wire"].iter().find_map(|name| at(&case.expected, &[name])).unwrap();
            assert_wire(&host.fetch().1, &wire);
        }
        "task-008" => {
            for (more, wire) in list(&part(&case.input, &["sends"])).iter().zip(list(&part(&case.expected, &["wire"]))) {
                let mut host = host_with("bob", "https://bob.test/a2a", "");
                first_turn(&mut host, &part(&case.input, &["turn1"]));
                let more = more.replace("taskId", "task_id").replace("contextId", "context_id");
                send(&mut host, "bob", &format!(",{}", &more[1..more.len() - 1]));
                assert_wire(&host.fetch().1, &wire);
            }
        }
        unknown => panic!("nothing checks {unknown}"),
    });
}

/// A send that ends in the given task.
fn first_turn(host: &mut Host, turn: &str) {
    let field = |name: &str| string_at(turn, &[name]).unwrap();
    let (context, task, state) = (field("contextId"), field("taskId"), field("state"));
    let number = send(host, "bob", r#","poll_timeout_seconds":0.1"#);
    let (exchange, _) = host.fetch();
    host.reply(
        exchange,
        200,
        &rpc(&format!(r#"{{"task":{{"id":"{task}","contextId":"{context}","status":{{"state":"{state}"}}}}}}"#)),
    );
    // A task that goes on is given up before its first reading.
    host.advance(200);
    host.result(number);
}

/// The ids of a message as it goes out; `null` is absent.
fn assert_wire(request: &Request, expected: &str) {
    let body = request.body.as_deref().unwrap();
    for (name, value) in narrows::json::members(raw(expected)).unwrap().keep() {
        let found = at(body, &["params", "message", &name]).unwrap_or_else(|| "null".to_owned());
        assert_eq!(found, value.as_str(), "{name} in {body}");
    }
}

fn contexts_of_two_scopes() {
    let mut host = host_with("bob", "https://bob.test/a2a", "");
    first_turn(&mut host, r#"{"contextId":"victim","taskId":"t","state":"input-required"}"#);
    host.open(2, "two");
    let number = host.call(2, "connect_agent", r#"{"alias":"bob","agent_url":"https://bob.test/a2a"}"#);
    host.no_card();
    host.result(number);
    host.call(2, "send_message", r#"{"agent":"bob","message":"hi"}"#);
    assert_wire(&host.fetch().1, r#"{"contextId":null,"taskId":null,"referenceTaskIds":null}"#);
}

#[test]
fn redirects_and_addresses() {
    let elsewhere = [
        ("auth-007", "tests/http/admission.rs::what_pages_must_read_is_exposed_on_the_response_itself"),
        ("auth-008", "tests/http/admission.rs::a_preflight_is_answered_before_a_token_is_asked_for"),
    ];
    walk("auth-redirects-cors.json", &elsewhere, |case| match case.id.as_str() {
        "auth-001" => {
            let headers = part(&case.input, &["headers"]).replace("Bearer T", "Bearer a-long-token");
            let mut host = host_with("bob", &string_at(&case.input, &["agent"]).unwrap(), &format!(r#","headers":{headers}"#));
            let number = send(&mut host, "bob", "");
            let (exchange, _) = host.fetch();
            host.head(exchange, 307, &[("location", &string_at(&case.input, &["resp", "location"]).unwrap())]);
            assert!(host.fetches.is_empty());
            assert_eq!(code(&host.result(number)).as_deref(), Some("http_status"));
        }
        "auth-002" => {
            let places = strings(&part(&case.input, &["redirects"])).into_iter();
            let asked =
                strings(&part(&case.expected, &["asked"])).into_iter().zip(list(&part(&case.expected, &["headers_kept"])));
            for (place, (asked, kept)) in places.zip(asked) {
                let mut host = host("{}");
                host.call(
                    1,
                    "connect_agent",
                    r#"{"alias":"bob","agent_url":"https://agent.test","headers":{"X-Key":"a-long-key"}}"#,
                );
                let (exchange, _) = host.fetch();
                host.head(exchange, 302, &[("location", &place)]);
                let (_, request) = host.fetch();
                let has_key = request.headers.iter().any(|(name, _)| name == "X-Key");
                assert_eq!((request.url, has_key.to_string()), (asked, kept));
            }
        }
        "auth-004" => {
            let responses = list(&part(&case.input, &["resp"]));
            let (exchange, mut host) = redirected(&responses[0]);
            let (_, request) = host.fetch();
            assert_eq!((request.method.name(), request.url.as_str()), ("POST", "https://agent.test/a2a/"));
            assert_eq!(string_at(request.body.as_deref().unwrap(), &["method"]).as_deref(), Some("SendMessage"));
            assert_eq!(host.aborted, [exchange]);
            let (_, mut host) = redirected(&responses[1]);
            assert!(host.fetches.is_empty());
            let (_, text) = host.said.pop_back().unwrap();
            assert!(words(&part(&text, &["result"])).contains("https://agent.test/a2a/"), "{text}");
        }
        "auth-005" => {
            let (_, mut host) = redirected(&part(&case.input, &["resp"]));
            assert_eq!(host.fetch().1.url, "https://agent.test/a2a/app/");
        }
        "ssrf-002" => {
            let mut host = host(r#"{"network":{"allow_private":false}}"#);
            for entry in strings(&part(&case.input, &["entry_points"])) {
                let (tool, arguments) = match entry.as_str() {
                    "connect_agent" => ("connect_agent", r#"{"alias":"x","agent_url":"http://0x7f.1/"}"#),
                    "send_message by URL" => ("send_message", r#"{"agent":"http://[::ffff:10.0.0.1]/","message":"x"}"#),
                    "discover_agents" => ("discover_agents", r#"{"directory_url":"http://192.168.1.1/"}"#),
                    "get_agent_card" => ("get_agent_card", r#"{"agent":"http://localhost/"}"#),
                    unknown => panic!("nothing checks {unknown}"),
                };
                let number = host.call(1, tool, arguments);
                assert_eq!(code(&host.result(number)).as_deref(), Some("blocked"), "{entry}");
                assert!(host.fetches.is_empty());
            }
        }
        unknown => panic!("nothing checks {unknown}"),
    });
}

/// A send whose request is answered with a redirect.
fn redirected(response: &str) -> (ExchangeId, Host) {
    let mut host = host_with("bob", "https://agent.test/a2a", "");
    host.aborted.clear();
    send(&mut host, "bob", "");
    let (exchange, _) = host.fetch();
    let status = part(response, &["status"]).parse().unwrap();
    host.head(exchange, status, &[("Location", &string_at(response, &["location"]).unwrap())]);
    (exchange, host)
}

#[test]
fn rate_limits() {
    walk("rate-limits.json", &[], |case| match case.id.as_str() {
        "rate-001" => {
            for (given, expected) in list(&part(&case.input, &["cases"])).iter().zip(strings(&part(&case.expected, &["results"])))
            {
                let more = given.replace("rps", "rate_limit_rps").replace("burst", "rate_limit_burst");
                let mut host = host("{}");
                let result = connect(&mut host, "bob", "https://bob.test", &format!(",{}", &more[1..more.len() - 1]));
                let listed = host.call(1, "list_agents", "{}");
                let limit = string_at(&host.result(listed), &["structuredContent", "agents", "0", "rate_limit"]);
                match expected.as_str() {
                    "error" => assert_eq!((code(&result).as_deref(), limit), (Some("invalid_argument"), None), "{given}"),
                    "unlimited" => assert_eq!(limit.as_deref(), Some("unlimited"), "{given}"),
                    _ => assert!(limit.is_some_and(|limit| limit != "unlimited"), "{given}"),
                }
            }
        }
        "rate-002" | "rate-004" | "rate-005" => {
            let (rps, burst) = (part(&case.input, &["rps"]), part(&case.input, &["burst"]));
            let mut host =
                host_with("bob", "https://bob.test", &format!(r#","rate_limit_rps":{rps},"rate_limit_burst":{burst}"#));
            let seconds = at(&case.input, &["calls_at_s"]);
            let unit = if seconds.is_some() { 1000 } else { 1 };
            let times = list(&seconds.unwrap_or_else(|| part(&case.input, &["calls_at_ms"])));
            for (time, allowed) in times.iter().zip(list(&part(&case.expected, &["allowed"]))) {
                let number = host.number();
                host.watch.expect(number, call(1, &number.to_string(), None, None));
                let params = r#"{"name":"send_message","arguments":{"agent":"bob","message":"x"}}"#;
                let text = format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{params}}}"#);
                let now = Instant::from_ms(time.parse::<u64>().unwrap() * unit);
                host.input_at(now, Input::Message { peer: PeerId(1), text }).unwrap();
                assert_eq!((host.fetches.len() == 1).to_string(), allowed, "{} at {time}", case.id);
                host.fetches.clear();
            }
        }
        "rate-007" => {
            for (response, expected) in
                list(&part(&case.input, &["responses"])).iter().zip(list(&part(&case.expected, &["parsed_ms"])))
            {
                assert_retry(&part(response, &["status"]), string_at(response, &["retry-after"]), &expected);
            }
        }
        "rate-008" => {
            for (value, expected) in
                strings(&part(&case.input, &["values"])).into_iter().zip(list(&part(&case.expected, &["ms"])))
            {
                assert_retry("429", Some(value), &expected);
            }
        }
        unknown => panic!("nothing checks {unknown}"),
    });
}

/// An answer that asks to wait tells the caller so, and the next send waits that long.
fn assert_retry(status: &str, after: Option<String>, expected: &str) {
    let mut host = host_with("bob", "https://bob.test", "");
    let number = send(&mut host, "bob", "");
    let (exchange, _) = host.fetch();
    let fields: Vec<(&str, &str)> = after.iter().map(|value| ("Retry-After", value.as_str())).collect();
    host.head(exchange, status.parse().unwrap(), &fields);
    host.end(exchange);
    let result = host.result(number);
    let told = at(&result, &["structuredContent", "error", "retry_after_ms"]).unwrap_or_else(|| "null".to_owned());
    assert_eq!(told, expected, "{status} {after:?}: {result}");
    if let Some(wait) = expected.parse::<u64>().ok().filter(|wait| *wait > 0) {
        let early = send(&mut host, "bob", "");
        assert_eq!(code(&host.result(early)).as_deref(), Some("rate_limited"));
        host.advance(wait);
        send(&mut host, "bob", "");
        assert_eq!(host.fetches.len(), 1);
    }
}

#[test]
fn messages_of_stdio() {
    let (lines, client) =
        ("the host takes the bytes apart into lines", "it is about MCP servers behind the gateway: tests/links");
    let elsewhere = [
        ("stdio-001", lines),
        ("stdio-002", lines),
        ("stdio-004", client),
        ("stdio-005", client),
        ("stdio-008", client),
        ("stdio-011", client),
    ];
    walk("stdio-framing.json", &elsewhere, |case| match case.id.as_str() {
        "stdio-007" => {
            let limit = part(&case.input, &["limit"]);
            let mut host = host(&format!(r#"{{"limits":{{"message_bytes":{limit}}}}}"#));
            let (char, count) =
                string_at(&case.input, &["text"]).and_then(|text| Some((text.chars().next()?, text[4..].parse().ok()?))).unwrap();
            let text: String = std::iter::repeat_n(char, count).collect();
            host.watch.expect(5000, call(1, "5000", None, None));
            host.tell(1, &format!(r#"{{"jsonrpc":"2.0","id":5000,"method":"ping","params":{{"text":"{text}"}}}}"#));
            let answer = host.answer(5000).unwrap();
            assert!(string_at(&answer, &["error", "message"]).unwrap().contains(&limit), "{answer}");
        }
        "stdio-010" => {
            let mut host = Host::new(1, "{}");
            host.open(1, "one");
            host.watch.expect(1, call(1, "1", None, None));
            string_at(&case.input, &["stdin"]).unwrap().lines().for_each(|line| host.tell(1, line));
            assert_eq!(response_ids(&mut host), [part(&case.expected, &["response_id"])]);
        }
        unknown => panic!("nothing checks {unknown}"),
    });
}
