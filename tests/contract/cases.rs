//! Directories, results and schemas of the field, given to the whole core.

use std::collections::BTreeSet;

use narrows::a2a::Dialect;
use narrows::io::{Input, Request};
use narrows::json;

use super::support::case::{code, connect_with_card, host, list, part, rpc, send, state, strings, walk};
use super::support::host::Host;
use super::support::schema::check_result;
use super::support::text::{at, quoted, string_at};
use super::world::World;

/// Why records are passed over that a client of MCP has to get right.
pub const CLIENT: &str = "the role of a client of MCP servers";

#[test]
fn directories() {
    walk("directory-pagination.json", &[], |case| match case.id.as_str() {
        "page-001" | "page-002" | "page-004" => {
            let pages = list(&part(&case.input, &["pages"]));
            let (names, requests) = every_page(&pages, &case.id);
            assert_eq!(names.into_iter().collect::<Vec<_>>(), strings(&part(&case.expected, &["tools"])), "{}", case.id);
            if let Some(most) = at(&case.expected, &["requests_max"]) {
                assert!(requests <= most.parse::<usize>().unwrap(), "{requests} requests");
            }
        }
        "page-005" => {
            let result = discovered(&mut host("{}"), "", &part(&case.input, &["directory"])).1;
            let count = |name: &str| list(&part(&result, &["structuredContent", name])).len().to_string();
            assert_eq!(count("agents"), part(&case.expected, &["agents"]));
            assert_eq!(count("problems"), part(&case.expected, &["skipped"]), "each with a reason: {result}");
        }
        "page-007" => {
            for body in strings(&part(&case.input, &["bodies"])) {
                let result = discovered(&mut host("{}"), "", &body).1;
                assert_eq!(at(&result, &["structuredContent", "agents"]).as_deref(), Some("[]"), "{body}: {result}");
            }
        }
        unknown => panic!("nothing checks {unknown}"),
    });
}

/// The request and the result of a discover_agents whose directory answers so.
fn discovered(host: &mut Host, more: &str, body: &str) -> (Request, String) {
    let number = host.call(1, "discover_agents", &format!(r#"{{"directory_url":"https://dir.test/agents"{more}}}"#));
    let (exchange, request) = host.fetch();
    host.reply(exchange, 200, body);
    (request, host.result(number))
}

/// Reads a directory to its end, as a model does: the names that were found, and how often it asked.
fn every_page(pages: &[String], id: &str) -> (BTreeSet<String>, usize) {
    let (mut host, mut names, mut more) = (host("{}"), BTreeSet::new(), String::new());
    for (asked, page) in pages.iter().enumerate() {
        let cards = strings(&part(page, &["tools"])).iter().map(|name| format!(r#"{{"name":"{name}"}}"#)).collect::<Vec<_>>();
        let token = at(page, &["nextCursor"]).map(|token| format!(r#","nextCursor":{token}"#)).unwrap_or_default();
        let (request, result) = discovered(&mut host, &more, &format!(r#"{{"cards":[{}]{token}}}"#, cards.join(",")));
        if let Some(cursor) = string_at(page, &["cursor_in"]) {
            assert!(request.url.ends_with(&format!("cursor={cursor}")), "{id}: {}", request.url);
        }
        let agents = list(&part(&result, &["structuredContent", "agents"]));
        names.extend(agents.iter().map(|agent| string_at(agent, &["name"]).unwrap()));
        match string_at(&result, &["structuredContent", "next_token"]) {
            Some(token) => more = format!(r#","cursor":{}"#, quoted(&token)),
            None => return (names, asked + 1),
        }
    }
    panic!("{id}: there is always one more page");
}

#[test]
fn a_page_that_cannot_be_followed_is_a_problem() {
    for (given, page, why) in [
        (r#","cursor":"c""#, r#"{"cards":[],"next_token":"c"}"#, "asked for"),
        ("", r#"{"cards":[],"next_token":7}"#, "a number"),
        ("", r#"{"cards":[],"next_token":{"page":2}}"#, "an object"),
    ] {
        let result = discovered(&mut host("{}"), given, page).1;
        assert_eq!(at(&result, &["structuredContent", "next_token"]), None, "{result}");
        let problem = string_at(&result, &["structuredContent", "problems", "0", "why"]);
        assert!(problem.as_ref().is_some_and(|problem| problem.contains(why)), "{why}: {result}");
        assert!(string_at(&result, &["content", "0", "text"]).unwrap().contains(&problem.unwrap()));
    }
    let whole = r#","cursor":"https://dir.test/agents?cursor=7""#;
    let result = discovered(&mut host("{}"), whole, r#"{"cards":[],"next_token":"8"}"#).1;
    assert_eq!(string_at(&result, &["structuredContent", "next_token"]).as_deref(), Some("8"));
}

#[test]
fn a_filter_has_one_name_at_a_time() {
    let mut host = host("{}");
    let both = r#"{"directory_url":"https://dir.test/","filter":"a","query":"b"}"#;
    let number = host.call(1, "discover_agents", both);
    let result = host.result(number);
    assert_eq!(code(&result).as_deref(), Some("invalid_argument"), "{result}");
    assert!(result.contains("`filter`") && result.contains("`query`") && host.fetches.is_empty());
    let (request, _) = discovered(&mut host, r#","query":"b""#, "[]");
    assert_eq!(request.url, "https://dir.test/agents?filter=b");
}

#[test]
fn help_is_an_object_or_none() {
    for (help, told) in [
        (r#""just text""#, Some(r#"{"description":"just text"}"#)),
        (r#"{"syntax":"name:*"}"#, Some(r#"{"syntax":"name:*"}"#)),
        ("7", None),
        ("[1]", None),
        ("null", None),
    ] {
        let body = format!(r#"{{"cards":[],"help":{help}}}"#);
        let result = discovered(&mut host("{}"), r#","help":true"#, &body).1;
        let structured = part(&result, &["structuredContent"]);
        assert_eq!(at(&structured, &["help"]).as_deref(), told, "{result}");
        check_result("discover_agents", &structured);
    }
}

#[test]
fn results() {
    walk("tool-results.json", &[("out-001", CLIENT)], |case| match case.id.as_str() {
        "out-002" => {
            let mut host = host("{}");
            let name = string_at(&case.input, &["call", "name"]).unwrap();
            let number = host.call(1, &name, &part(&case.input, &["call", "arguments"]));
            let result = host.result(number);
            let expected = part(&case.expected, &["result"]);
            assert_eq!(at(&result, &["isError"]), at(&expected, &["isError"]));
            let error = &["structuredContent", "error", "code"];
            assert_eq!(string_at(&result, error), string_at(&expected, error));
            assert!(!string_at(&result, &["content", "0", "text"]).unwrap().is_empty());
            check_result(&name, &part(&result, &["structuredContent"]));
        }
        "out-004" => {
            let (mut host, number, exchange) = streaming();
            for event in list(&part(&case.input, &["events"])) {
                host.body(exchange, event_of(&event).as_bytes());
            }
            host.end(exchange);
            confirm(&mut host, r#"{"id":"t","status":{"state":"TASK_STATE_COMPLETED"}}"#);
            let result = host.result(number);
            let expected = string_at(&case.expected, &["state"]).unwrap().to_uppercase();
            assert_eq!(state(&result), Some(format!("TASK_STATE_{expected}")), "{result}");
        }
        "out-005" => {
            let (mut host, number, exchange) = streaming();
            for word in strings(&part(&case.input, &["stream"])) {
                let event = match word.as_str() {
                    "task working" => r#"{"task":{"id":"t","status":{"state":"TASK_STATE_WORKING"}}}"#,
                    "artifact a" => r#"{"artifactUpdate":{"taskId":"t","artifact":{"artifactId":"a","parts":[{"text":"a"}]}}}"#,
                    "completed" => r#"{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_COMPLETED"}}}"#,
                    unknown => panic!("nothing says {unknown}"),
                };
                host.body(exchange, event_of(event).as_bytes());
            }
            host.end(exchange);
            confirm(&mut host, r#"{"id":"t","status":{"state":"TASK_STATE_COMPLETED"}}"#);
            host.result(number);
            let inputs = host.steps.iter().flat_map(|step| &step.outputs).map(|output| output.to_json().into_string());
            let sends = inputs.filter(|output| output.contains("SendMessage") || output.contains("SendStreamingMessage"));
            assert_eq!(sends.count().to_string(), part(&case.expected, &["sends"]));
        }
        "out-007" => {
            assert_eq!(string_at(&case.input, &["immediately"]).as_deref(), Some("GetTask"));
            let mut world = World::new(r#"{"a2a":{"responder":"function"}}"#);
            let told = string_at(&case.input, &["emit"]).unwrap();
            let expected = string_at(&case.expected, &["state"]).unwrap();
            let send = r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}"#;
            let stream = asked(&mut world, "SendStreamingMessage", send);
            let (work, order) = world.works.pop().unwrap();
            let id = string_at(&order, &["task", "id"]).unwrap();
            let change = format!(r#"{{"statusUpdate":{{"status":{{"state":"TASK_STATE_{}"}}}}}}"#, told.to_uppercase());
            world.input(Input::Update { work, text: change });
            assert!(world.body(stream).contains(&format!("TASK_STATE_{}", told.to_uppercase())), "the event is out");
            let get = asked(&mut world, "GetTask", &format!(r#"{{"id":"{id}"}}"#));
            let found = string_at(&world.done(get).body, &["result", "status", "state"]);
            assert_eq!(found, Some(format!("TASK_STATE_{}", expected.to_uppercase())));
        }
        unknown => panic!("nothing checks {unknown}"),
    });
}

fn asked(world: &mut World, method: &str, params: &str) -> u64 {
    let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#);
    world.send("POST", "/a2a", &[("Content-Type", "application/json"), ("A2A-Version", "1.0")], &body)
}

/// A send to an agent that streams; its exchange.
fn streaming() -> (Host, u64, narrows::io::ExchangeId) {
    let mut host = host("{}");
    connect_with_card(&mut host, "bob", Dialect::JsonRpc10, true);
    let number = send(&mut host, "bob", "");
    let (exchange, _) = host.fetch();
    host.head(exchange, 200, &[("Content-Type", "text/event-stream")]);
    (host, number, exchange)
}

fn event_of(result: &str) -> String {
    format!("data: {}\n\n", rpc(&json::compact(result)))
}

/// Answers a reading of the task, where the gateway makes one.
fn confirm(host: &mut Host, task: &str) {
    if let Some((exchange, request)) = host.fetches.pop_front() {
        assert_eq!(string_at(request.body.as_deref().unwrap(), &["method"]).as_deref(), Some("GetTask"));
        host.reply(exchange, 200, &rpc(task));
    }
}

#[test]
fn schemas() {
    let elsewhere = ["schema-001", "schema-002", "schema-004", "schema-008"].map(|id| (id, CLIENT));
    walk("schema.json", &elsewhere, |case| match case.id.as_str() {
        "schema-005" => {
            let mut host = host("{}");
            let calls = list(&part(&case.input, &["calls"]));
            for (call, expected) in calls.iter().zip(list(&part(&case.expected, &["forwarded"]))) {
                let arguments = at(call, &["arguments"]).map(|arguments| format!(r#","arguments":{arguments}"#));
                let params = format!(r#"{{"name":"list_agents"{}}}"#, arguments.unwrap_or_default());
                let number = host.request(1, "tools/call", &params);
                let answer = host.answer(number).unwrap();
                let refused = at(&answer, &["error", "code"]).map(|code| quoted(&code));
                assert_eq!(refused.unwrap_or_else(|| "{}".to_owned()), expected, "{params}: {answer}");
            }
        }
        "schema-007" => {
            let mut host = host("{}");
            connect_with_card(&mut host, "bob", Dialect::JsonRpc10, false);
            let arguments = part(&case.input, &["arguments"]);
            send(&mut host, "bob", &format!(r#","metadata":{arguments}"#));
            let body = host.fetch().1.body.unwrap();
            let sent = at(&body, &["params", "metadata"]).or_else(|| at(&body, &["params", "message", "metadata"]));
            let compact = |text: &str| json::compact(text).into_owned();
            assert_eq!(compact(&sent.unwrap()), compact(&part(&case.expected, &["forwarded"])), "{body}");
        }
        unknown => panic!("nothing checks {unknown}"),
    });
}
