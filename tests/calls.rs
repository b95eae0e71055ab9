//! Calls to agents that keep the rules loosely: what the gateway makes of their answers, and what it remembers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use narrows::config::Config;
use narrows::gateway::{Gateway, Genesis, Secrets};
use narrows::io::{Cause, ExchangeId, Input, Output, PeerId, Request};
use narrows::json;
use narrows::time::{Instant, WallTime};

const PEER: PeerId = PeerId(1);
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// A gateway, its clock, what it asked for and what it said.
struct World {
    gateway: Gateway,
    now_ms: u64,
    asked: Vec<(ExchangeId, Request)>,
    said: Vec<String>,
}

impl World {
    fn new(config: &str) -> Self {
        let genesis = Genesis { seed: [7; 32], now: Instant::from_ms(0), unix_ms: WallTime(1_800_000_000_000) };
        let gateway = Gateway::new(genesis, Config::from_json(config).unwrap());
        let mut world = Self { gateway, now_ms: 0, asked: Vec::new(), said: Vec::new() };
        world.input(Input::Open { peer: PEER, scope: "s".into() });
        world
    }

    fn input(&mut self, input: Input) {
        self.gateway.handle_input(Instant::from_ms(self.now_ms), input).unwrap();
        while let Some(output) = self.gateway.poll_output() {
            match output {
                Output::Fetch { exchange, request } => self.asked.push((exchange, request)),
                Output::Message { text, .. } => self.said.push(text),
                Output::Abort { .. }
                | Output::ResponseHead { .. }
                | Output::ResponseBody { .. }
                | Output::ResponseEnd { .. }
                | Output::Save(_)
                | Output::Work { .. }
                | Output::WorkAbort { .. }
                | Output::Link { .. }
                | Output::Tokens { .. }
                | Output::Lookup(_)
                | Output::Notice(_) => {}
            }
        }
    }

    fn wait(&mut self, ms: u64) {
        self.now_ms += ms;
        self.input(Input::Tick);
    }

    fn call(&mut self, tool: &str, arguments: &str) {
        let text =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#);
        self.input(Input::Message { peer: PEER, text });
    }

    /// The answer to the last call; it must be there.
    fn answer(&mut self) -> String {
        let answer = self.said.pop().expect("an answer");
        self.said.clear();
        answer
    }

    /// The request that waits for an answer; it must be the only one.
    fn request(&mut self) -> (ExchangeId, Request) {
        assert_eq!(self.asked.len(), 1, "{:?}", self.asked);
        self.asked.pop().unwrap()
    }

    fn head(&mut self, exchange: ExchangeId, status: u16, kind: &str, retry_after: Option<&str>) {
        let mut headers = vec![("Content-Type".into(), kind.into())];
        headers.extend(retry_after.map(|value| ("Retry-After".into(), value.into())));
        self.input(Input::Head { exchange, status, headers });
    }

    fn reply(&mut self, status: u16, body: &str) -> Request {
        self.reply_with(status, body, None)
    }

    fn reply_with(&mut self, status: u16, body: &str, retry_after: Option<&str>) -> Request {
        let (exchange, request) = self.request();
        self.head(exchange, status, JSON, retry_after);
        self.input(Input::Body { exchange, bytes: body.into() });
        self.input(Input::End { exchange });
        request
    }

    fn fail(&mut self, cause: Cause) {
        let (exchange, _) = self.request();
        self.input(Input::Failed { exchange, cause, detail: String::new() });
    }

    /// Connects `a`, with a card or without one.
    fn connect(&mut self, card: Option<&str>) {
        self.call("connect_agent", r#"{"alias":"a","agent_url":"https://a.test"}"#);
        match card {
            Some(card) => drop(self.reply(200, card)),
            None => (0..3).for_each(|_| drop(self.reply(404, ""))),
        }
        assert!(!self.answer().contains("isError"));
    }

    fn send(&mut self) {
        self.call("send_message", r#"{"agent":"a","message":"hi"}"#);
    }

    fn health(&mut self) -> String {
        self.call("list_agents", "{}");
        string(&self.answer(), &["result", "structuredContent", "agents", "0", "health"])
    }
}

fn result(value: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"result":{value}}}"#)
}

/// The value at a path of names and indices.
fn at(text: &str, path: &[&str]) -> Option<String> {
    let Some((first, rest)) = path.split_first() else { return Some(text.into()) };
    let raw = json::parse(text, 128).ok()?;
    let inner = match json::elements(raw) {
        Some(elements) => elements.get(first.parse::<usize>().ok()?).copied()?,
        None => json::members(raw)?.get(first)?,
    };
    at(inner.get(), rest)
}

fn string(text: &str, path: &[&str]) -> String {
    json::string(json::parse(&at(text, path).unwrap_or_else(|| panic!("no {path:?} in {text}")), 128).unwrap()).unwrap()
}

fn code(answer: &str) -> String {
    string(answer, &["result", "structuredContent", "error", "code"])
}

fn method(request: &Request) -> String {
    string(request.body.as_deref().unwrap(), &["method"])
}

const OLD: &str = r#"{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"yes"}]}"#;
const UNKNOWN_METHOD: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}"#;
const PLAIN_CARD: &str =
    r#"{"name":"A","capabilities":{},"supportedInterfaces":[{"url":"/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}"#;
const STREAMING_CARD: &str = r#"{"name":"A","capabilities":{"streaming":true},"supportedInterfaces":[{"url":"/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}"#;
const WORKING: &str = r#"{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}"#;

#[test]
fn a_version_that_was_found_out_without_a_card_is_remembered() {
    let mut world = World::new("{}");
    world.connect(None);
    world.send();
    assert_eq!(method(&world.reply(200, UNKNOWN_METHOD)), "SendMessage");
    assert_eq!(method(&world.reply(200, &result(OLD))), "message/send");
    world.answer();
    world.send();
    assert_eq!(method(&world.reply(200, &result(OLD))), "message/send");
}

#[test]
fn a_version_that_was_found_out_at_a_url_is_remembered() {
    let mut world = World::new("{}");
    world.call("get_task", r#"{"agent":"https://a.test","task_id":"t"}"#);
    (0..3).for_each(|_| drop(world.reply(404, "")));
    assert_eq!(method(&world.reply(200, UNKNOWN_METHOD)), "GetTask");
    let task = result(r#"{"kind":"task","id":"t","status":{"state":"working"}}"#);
    assert_eq!(method(&world.reply(200, &task)), "tasks/get");
    world.answer();
    world.call("get_task", r#"{"agent":"https://a.test","task_id":"t"}"#);
    assert_eq!(method(&world.reply(200, &task)), "tasks/get");
}

#[test]
fn a_version_that_the_card_is_wrong_about_is_remembered() {
    let mut world = World::new("{}");
    world.connect(Some(PLAIN_CARD));
    world.send();
    world.reply(200, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32009,"message":"Version not supported"}}"#);
    assert_eq!(method(&world.reply(200, &result(OLD))), "message/send");
    world.answer();
    world.send();
    assert_eq!(method(&world.reply(200, &result(OLD))), "message/send");
}

const VERSION_REFUSED: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32009,"message":"Version not supported"}}"#;

#[test]
fn the_other_version_is_tried_where_the_card_says_that_it_is() {
    let mut world = World::new("{}");
    world.connect(Some(
        r#"{"name":"n","supportedInterfaces":[
            {"url":"https://a.test/new","protocolBinding":"JSONRPC","protocolVersion":"1.0"},
            {"url":"https://a.test/old","protocolBinding":"JSONRPC","protocolVersion":"0.3"}]}"#,
    ));
    world.send();
    let first = world.reply(200, VERSION_REFUSED);
    assert_eq!((first.url.as_str(), method(&first)), ("https://a.test/new", "SendMessage".into()));
    let second = world.reply(200, &result(OLD));
    assert_eq!((second.url.as_str(), method(&second)), ("https://a.test/old", "message/send".into()));
    world.answer();
    world.send();
    assert_eq!(world.reply(200, &result(OLD)).url.as_str(), "https://a.test/old");
}

#[test]
fn where_a_guess_is_refused_too_the_first_refusal_is_told() {
    let mut world = World::new("{}");
    world.connect(Some(PLAIN_CARD));
    world.send();
    world.reply(200, VERSION_REFUSED);
    world.reply(200, UNKNOWN_METHOD);
    let answer = world.answer();
    assert!(answer.contains("Version not supported") && !answer.contains("-32601"), "{answer}");
}

#[test]
fn an_agent_that_began_to_answer_is_not_unreachable() {
    let mut world = World::new(r#"{"health":{"failure_threshold":1}}"#);
    world.connect(Some(STREAMING_CARD));
    world.send();
    let (exchange, _) = world.request();
    world.head(exchange, 200, EVENTS, None);
    world.input(Input::Body { exchange, bytes: b": here\n\n".to_vec() });
    world.wait(60_000);
    assert_eq!(code(&world.answer()), "timeout");
    assert_eq!(world.health(), "healthy");
    world.send();
    world.request();
    world.wait(60_000);
    assert_eq!(code(&world.answer()), "timeout");
    assert_eq!(world.health(), "unhealthy");
}

#[test]
fn reading_a_card_counts_for_health() {
    let mut world = World::new(r#"{"health":{"failure_threshold":1}}"#);
    world.connect(Some(PLAIN_CARD));
    world.call("get_agent_card", r#"{"agent":"a"}"#);
    world.fail(Cause::Refused);
    assert_eq!(code(&world.answer()), "unreachable");
    assert_eq!(world.health(), "unhealthy");
    world.call("get_agent_card", r#"{"agent":"a"}"#);
    world.reply(200, PLAIN_CARD);
    world.answer();
    assert_eq!(world.health(), "healthy");
}

#[test]
fn the_most_telling_answer_of_a_card_search_is_reported() {
    let mut world = World::new("{}");
    world.connect(Some(PLAIN_CARD));
    world.call("get_agent_card", r#"{"agent":"a"}"#);
    world.reply(401, "");
    world.reply(404, "");
    world.reply(200, "<html>");
    let answer = world.answer();
    assert_eq!(code(&answer), "http_status");
    assert_eq!(at(&answer, &["result", "structuredContent", "error", "status"]).as_deref(), Some("401"));
}

#[test]
fn a_wait_of_next_to_nothing_is_no_default() {
    let mut world = World::new("{}");
    world.connect(Some(PLAIN_CARD));
    world.call("send_message", r#"{"agent":"a","message":"x","poll_timeout_seconds":1e-9}"#);
    world.wait(1);
    assert_eq!(code(&world.answer()), "timeout");
}

#[test]
fn a_ping_that_the_host_refuses_says_nothing_of_the_agent() {
    let mut world = World::new(r#"{"health":{"failure_threshold":1}}"#);
    world.connect(Some(PLAIN_CARD));
    let before = world.health();
    for (tool, arguments) in [("ping_agent", r#"{"alias":"a"}"#), ("get_task", r#"{"agent":"a","task_id":"t"}"#)] {
        world.call(tool, arguments);
        world.fail(Cause::Blocked);
        world.answer();
        assert_eq!(world.health(), before, "{tool}");
    }
}

#[test]
fn a_card_that_nests_too_deep_is_too_large() {
    let mut world = World::new("{}");
    world.connect(Some(PLAIN_CARD));
    world.call("get_agent_card", r#"{"agent":"a"}"#);
    world.reply(200, &PLAIN_CARD.replacen('{', &format!(r#"{{"x":{}{},"#, "[".repeat(128), "]".repeat(128)), 1));
    world.reply(404, "");
    world.reply(404, "");
    assert_eq!(code(&world.answer()), "too_large");
}

#[test]
fn a_card_that_is_asked_for_too_often_closes_the_bucket() {
    let mut world = World::new("{}");
    world.connect(Some(PLAIN_CARD));
    world.call("get_agent_card", r#"{"agent":"a"}"#);
    world.reply_with(429, "", Some("2"));
    world.reply(404, "");
    world.reply(404, "");
    let answer = world.answer();
    assert_eq!(code(&answer), "rate_limited");
    assert_eq!(at(&answer, &["result", "structuredContent", "error", "retry_after_ms"]).as_deref(), Some("2000"));
    world.send();
    assert_eq!(code(&world.answer()), "rate_limited");
    world.wait(2000);
    world.send();
    world.request();
}

#[test]
fn a_running_task_is_read_when_the_agent_asks_for_it() {
    let mut world = World::new("{}");
    world.connect(Some(PLAIN_CARD));
    world.send();
    world.reply_with(200, &result(WORKING), Some("3"));
    world.wait(2999);
    assert!(world.asked.is_empty());
    world.wait(1);
    world.reply_with(200, &result(WORKING), Some("20"));
    world.wait(19_999);
    assert!(world.asked.is_empty());
    world.wait(1);
    world.reply_with(429, "", Some("4"));
    // Other sends wait too, this call goes on.
    let text = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"send_message","arguments":{"agent":"a","message":"x"}}}"#;
    world.input(Input::Message { peer: PEER, text: text.into() });
    assert_eq!(code(&world.answer()), "rate_limited");
    world.wait(4000);
    assert_eq!(method(&world.request().1), "GetTask");
}

#[test]
fn a_task_without_an_id_is_not_asked_for() {
    let mut world = World::new("{}");
    world.connect(Some(PLAIN_CARD));
    world.send();
    world.reply(200, &result(r#"{"task":{"status":{"state":"TASK_STATE_WORKING"}}}"#));
    assert_eq!(code(&world.answer()), "protocol_error");

    let mut world = World::new("{}");
    world.connect(Some(STREAMING_CARD));
    world.send();
    let (exchange, _) = world.request();
    world.head(exchange, 200, EVENTS, None);
    let event = r#"{"result":{"artifactUpdate":{"artifact":{"artifactId":"x","parts":[{"text":"half"}]}}}}"#;
    world.input(Input::Body { exchange, bytes: format!("data: {event}\n\n").into() });
    world.input(Input::Failed { exchange, cause: Cause::Reset, detail: String::new() });
    let answer = world.answer();
    assert_eq!(code(&answer), "unreachable");
    assert!(answer.contains("half") && !answer.contains("task_id"), "{answer}");

    world.send();
    let (exchange, _) = world.request();
    world.head(exchange, 200, EVENTS, None);
    let event = r#"{"result":{"statusUpdate":{"status":{"state":"TASK_STATE_COMPLETED"}}}}"#;
    world.input(Input::Body { exchange, bytes: format!("data: {event}\n\n").into() });
    world.input(Input::End { exchange });
    assert!(world.answer().contains("state: completed"));
    assert!(world.asked.is_empty());
}

#[test]
fn a_task_without_a_context_belongs_to_the_conversation_it_answers() {
    let waiting = result(r#"{"task":{"id":"t","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}"#);
    let ids = |request: &Request| {
        let body = request.body.as_deref().unwrap();
        ["taskId", "contextId"].map(|name| at(body, &["params", "message", name]).unwrap_or_default())
    };
    let mut world = World::new("{}");
    world.connect(Some(PLAIN_CARD));
    world.send();
    world.reply(200, &waiting);
    world.answer();
    world.send();
    assert_eq!(ids(&world.reply(200, &result(WORKING.replace("WORKING", "COMPLETED").as_str()))), ["\"t\"", ""]);
    world.answer();
    world.call("send_message", r#"{"agent":"a","message":"hi","context_id":"other"}"#);
    world.reply(200, &waiting);
    world.answer();
    world.send();
    assert_eq!(ids(&world.request().1), ["", "\"c\""]);
}

#[test]
fn artifacts_that_came_before_a_message_are_part_of_the_answer() {
    let mut world = World::new("{}");
    world.connect(Some(STREAMING_CARD));
    world.send();
    let (exchange, _) = world.request();
    world.head(exchange, 200, EVENTS, None);
    let artifact = r#"{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"x","parts":[{"text":"half"}]}}}"#;
    let message = r#"{"message":{"messageId":"m","role":"ROLE_AGENT","contextId":"c","parts":[{"text":"done"}]}}"#;
    let events = [artifact, message].map(|event| format!("data: {}\n\n", result(event))).concat();
    world.input(Input::Body { exchange, bytes: events.into() });
    let answer = world.answer();
    let content = ["0", "2"].map(|item| string(&answer, &["result", "content", item, "text"]));
    assert_eq!(content, ["done", "received before: half"]);
    let artifact = ["result", "structuredContent", "task", "artifacts", "0", "artifactId"];
    assert_eq!(string(&answer, &artifact), "x");
    assert!(at(&answer, &["result", "structuredContent", "message"]).is_some());
}

#[test]
fn a_question_stays_open_until_it_is_answered() {
    let task = |id: &str, state: &str| {
        result(&format!(r#"{{"task":{{"id":"{id}","contextId":"c","status":{{"state":"TASK_STATE_{state}"}}}}}}"#))
    };
    let message = result(r#"{"message":{"messageId":"m","role":"ROLE_AGENT","contextId":"c","parts":[{"text":"hi"}]}}"#);
    let asked = || {
        let mut world = World::new("{}");
        world.connect(Some(PLAIN_CARD));
        world.send();
        world.reply(200, &task("question", "INPUT_REQUIRED"));
        world.answer();
        world
    };
    let next = |world: &mut World| {
        world.answer();
        world.send();
        string_or_none(world.request().1.body.as_deref().unwrap(), &["params", "message", "taskId"])
    };
    for reply in [task("other", "COMPLETED"), task("other", "FAILED"), message.clone()] {
        let mut world = asked();
        world.call("send_message", r#"{"agent":"a","message":"aside","task_id":"other"}"#);
        world.reply(200, &reply);
        assert_eq!(next(&mut world).as_deref(), Some("question"), "{reply}");
    }
    for reply in [task("question", "COMPLETED"), task("new", "COMPLETED"), message] {
        let mut world = asked();
        world.send();
        world.reply(200, &reply);
        assert_eq!(next(&mut world), None, "{reply}");
    }
}

#[test]
fn sends_that_nobody_waits_for_are_bounded() {
    let mut world = World::new(r#"{"limits":{"calls_per_peer":2}}"#);
    world.connect(Some(PLAIN_CARD));
    let dispatch = |world: &mut World| {
        world.call("send_message", r#"{"agent":"a","message":"hi","async":true}"#);
        world.answer()
    };
    assert!(dispatch(&mut world).contains("dispatched"));
    assert!(dispatch(&mut world).contains("dispatched"));
    assert_eq!(code(&dispatch(&mut world)), "busy");
    world.call("broadcast_message", r#"{"aliases":["a"],"message":"hi","async":true}"#);
    assert_eq!(string(&world.answer(), &["result", "structuredContent", "results", "a", "error", "code"]), "busy");
    world.call("check_inbox", "{}");
    assert!(!world.answer().contains("isError"));
    assert_eq!(world.asked.len(), 2);
}

#[test]
fn what_an_older_version_has_no_place_for_is_told() {
    let mut world = World::new("{}");
    world.input(Input::Message {
        peer: PEER,
        text: r#"{"jsonrpc":"2.0","id":9,"method":"logging/setLevel","params":{"level":"warning"}}"#.into(),
    });
    world.connect(Some(r#"{"name":"A","capabilities":{},"url":"https://a.test/","protocolVersion":"0.3.0"}"#));
    world.call("send_message", r#"{"agent":"a","parts":[{"text":"x","media_type":"text/markdown"}]}"#);
    assert!(
        world.said[0].contains("notifications/message") && world.said[0].contains("parts[0]: media_type"),
        "{:?}",
        world.said
    );
}

#[test]
fn a_rule_that_is_muted_for_broadcasts_is_so_for_agents_of_any_version() {
    let text = r#""message":"send Authorization: Bearer abcdefgh12345678""#;
    for card in [PLAIN_CARD, r#"{"name":"A","capabilities":{},"url":"https://a.test/","protocolVersion":"0.3.0"}"#] {
        let mut world =
            World::new(r#"{"mcp_taint_policy":[{"tool":"broadcast_message","skip_rules":["AuthorizationLiteral"]}]}"#);
        world.connect(Some(card));
        world.call("broadcast_message", &format!(r#"{{"aliases":["a"],{text},"async":true}}"#));
        assert_eq!(string(&world.answer(), &["result", "structuredContent", "results", "a", "status"]), "dispatched");
        assert!(world.request().1.body.unwrap().contains("abcdefgh12345678"));
        world.call("send_message", &format!(r#"{{"agent":"a",{text}}}"#));
        assert_eq!(code(&world.answer()), "blocked");
    }
}

#[test]
fn what_was_received_outlives_the_agent() {
    let mut world = World::new("{}");
    for tool in [
        "send_message\",\"arguments\":{\"agent\":\"a\",\"message\":\"x\"}",
        "broadcast_message\",\"arguments\":{\"aliases\":[\"a\"],\"message\":\"x\"}",
    ] {
        world.connect(Some(STREAMING_CARD));
        let text = format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"{tool}}}}}"#);
        world.input(Input::Message { peer: PEER, text });
        let (exchange, _) = world.request();
        world.head(exchange, 200, EVENTS, None);
        world.input(Input::Body { exchange, bytes: format!("data: {}\n\n", result(WORKING)).into() });
        world.call("disconnect_agent", r#"{"alias":"a"}"#);
        let ended = world.said.iter().find(|text| text.contains("\"id\":2")).expect("an answer");
        assert!(ended.contains("\"code\":\"canceled\"") && ended.contains("\"task\":{\"id\":\"t\""), "{ended}");
        world.said.clear();
    }
}

#[test]
fn a_snapshot_while_a_configured_agent_is_being_connected_is_restored() {
    let config = r#"{"external_agents":[{"name":"a","url":"https://a.test"}]}"#;
    let world = World::new(config);
    assert_eq!(world.asked.len(), 1);
    let mut world = restarted(&world, config);
    assert!(world.asked.is_empty());
    world.send();
    assert_eq!(world.reply(200, PLAIN_CARD).url, "https://a.test/.well-known/agent-card.json");
    assert_eq!(method(&world.request().1), "SendMessage");
}

/// The world after a restart.
fn restarted(world: &World, config: &str) -> World {
    let pieces = world.gateway.snapshot(Secrets::Keep);
    let genesis = Genesis { seed: [8; 32], now: Instant::from_ms(0), unix_ms: WallTime(1_800_000_000_000) };
    let gateway = Gateway::restore(genesis, Config::from_json(config).unwrap(), &pieces).unwrap();
    let mut world = World { gateway, now_ms: 0, asked: Vec::new(), said: Vec::new() };
    world.input(Input::Tick);
    world
}

#[test]
fn a_send_that_a_restart_ends_is_remembered() {
    for (call, arguments) in [
        ("send_message", r#"{"agent":"a","message":"the question"}"#),
        ("send_message", r#"{"agent":"a","message":"the question","async":true}"#),
        ("broadcast_message", r#"{"aliases":["a"],"message":"the question"}"#),
    ] {
        let mut world = World::new("{}");
        world.connect(Some(STREAMING_CARD));
        world.call(call, arguments);
        world.said.clear();
        let (exchange, _) = world.request();
        world.head(exchange, 200, EVENTS, None);
        world.input(Input::Body { exchange, bytes: format!("data: {}\n\n", result(WORKING)).into() });
        let mut world = restarted(&world, "{}");
        if arguments.contains("async") {
            world.call("check_inbox", "{}");
            let entry = at(&world.answer(), &["result", "structuredContent", "entries", "0"]).unwrap();
            assert_eq!((string(&entry, &["task_id"]), string(&entry, &["context_id"])), ("t".into(), "c".into()));
        } else {
            let error = at(&world.answer(), &["result", "structuredContent", "error"]).unwrap();
            assert!(string(&error, &["message"]).contains("task t"), "{error}");
            assert_eq!(string(&error, &["context_id"]), "c");
        }
        world.call("get_history", r#"{"agent":"a"}"#);
        let entry = at(&world.answer(), &["result", "structuredContent", "entries", "0"]).unwrap();
        let told = ["sent", "context_id", "task_id", "state"].map(|name| string(&entry, &[name]));
        assert_eq!(told, ["the question", "c", "t", "working"]);
        assert!(string(&entry, &["response"]).contains("restarted") && entry.contains(r#""is_error":true"#), "{entry}");
        world.send();
        let body = world.request().1.body.unwrap();
        let context = at(&body, &["params", "message", "contextId"]);
        // What goes to several agents begins conversations of its own.
        assert_eq!(context.as_deref(), (call == "send_message").then_some("\"c\""));
    }
}

#[test]
fn an_id_that_an_agent_made_of_a_credential_does_not_take_it_elsewhere() {
    let mut world = World::new("{}");
    let secret = "hunter2hunter2";
    world.call(
        "connect_agent",
        &format!(r#"{{"alias":"a","agent_url":"https://a.test","headers":{{"Authorization":"Bearer {secret}"}}}}"#),
    );
    let card = r#"{"name":"a","version":"1","supportedInterfaces":[{"url":"https://other.test/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}"#;
    world.reply(200, card);
    world.answer();
    for round in 0..2 {
        world.send();
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"message":{{"messageId":"m{round}","role":"ROLE_AGENT","contextId":"ctx-{secret}","parts":[{{"text":"hi"}}]}}}}}}"#
        );
        let request = world.reply(200, &body);
        assert_eq!(request.url, "https://other.test/rpc");
        assert!(request.headers.iter().all(|(_, value)| !value.contains(secret)), "{request:?}");
        assert!(!request.body.unwrap().contains(secret), "round {round}");
        assert!(!world.answer().contains(secret));
    }
}

#[test]
fn what_may_be_a_password_in_an_alias_is_not_said_again() {
    let mut world = World::new("{}");
    let given = "https://me:s3cret-word@a.test/";
    for (tool, arguments) in [
        ("send_message", r#"{"agent":"me:s3cret-word@a","message":"x"}"#.into()),
        ("ping_agent", format!(r#"{{"alias":"{given}"}}"#)),
        ("disconnect_agent", format!(r#"{{"alias":"{given}"}}"#)),
        ("get_history", format!(r#"{{"alias":"{given}"}}"#)),
        ("clear_history", format!(r#"{{"alias":"{given}"}}"#)),
        ("check_inbox", r#"{"alias":"me:s3cret-word@a"}"#.into()),
    ] {
        world.call(tool, &arguments);
        let answer = world.answer();
        assert!(["unknown_agent", "invalid_argument"].contains(&code(&answer).as_str()), "{tool}: {answer}");
        assert!(!answer.contains("s3cret-word"), "{tool}: {answer}");
    }
}

/// A send whose progress is told, and its stream.
fn streaming() -> (World, ExchangeId) {
    let mut world = World::new("{}");
    world.connect(Some(STREAMING_CARD));
    let call = r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"send_message","arguments":{"agent":"a","message":"x"},"_meta":{"progressToken":1}}}"#;
    world.input(Input::Message { peer: PEER, text: call.into() });
    let (exchange, _) = world.request();
    world.head(exchange, 200, EVENTS, None);
    (world, exchange)
}

#[test]
fn what_an_agent_repeats_is_told_now_and_then() {
    let (mut world, exchange) = streaming();
    let event = format!("data: {}\n\n", result(WORKING));
    world.input(Input::Body { exchange, bytes: event.clone().into() });
    let update = r#"{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}"#;
    let event = format!("data: {}\n\n", result(update));
    let mut told = Vec::new();
    for _ in 0..3 {
        world.said.clear();
        world.input(Input::Body { exchange, bytes: event.repeat(500).into() });
        told.push(world.said.len());
        world.wait(1000);
    }
    assert!(told.iter().all(|told| *told <= 1) && told[2] == 1, "{told:?}");
}

#[test]
fn a_flood_of_words_is_told_ten_times_a_second_and_the_last_one_with_the_answer() {
    let (mut world, exchange) = streaming();
    world.input(Input::Body { exchange, bytes: format!("data: {}\n\n", result(WORKING)).into() });
    let words = |number: u32| {
        let update = format!(
            r#"{{"statusUpdate":{{"taskId":"t","contextId":"c","status":{{"state":"TASK_STATE_WORKING","message":{{"messageId":"m","role":"ROLE_AGENT","parts":[{{"text":"word {number}{}"}}]}}}}}}}}"#,
            "!".repeat(2000)
        );
        format!("data: {}\n\n", result(&update))
    };
    let said = |world: &mut World| {
        let said = core::mem::take(&mut world.said);
        assert!(said.iter().all(|text| text.len() < 1500), "words are cut");
        said
    };
    said(&mut world);
    let mut number = 0;
    for _ in 0..3 {
        let flood: String = (0..300).map(|more| words(number + more)).collect();
        number += 300;
        world.input(Input::Body { exchange, bytes: flood.into() });
        let told = said(&mut world).len();
        assert!((8..=10).contains(&told), "{told}");
        world.wait(1000);
        let told = said(&mut world);
        let [last] = told.as_slice() else { panic!("{told:?}") };
        assert!(last.contains(&format!("working: word {}!", number - 1)), "the last one wins: {last}");
    }
    let flood: String = (0..300).map(|more| words(number + more)).collect();
    world.input(Input::Body { exchange, bytes: flood.into() });
    said(&mut world);
    let done = r#"{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_COMPLETED","message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"done"}]}}}}"#;
    world.input(Input::Body { exchange, bytes: format!("data: {}\n\n", result(done)).into() });
    world.input(Input::End { exchange });
    let said = said(&mut world);
    let [last, answer] = said.as_slice() else { panic!("{said:?}") };
    assert!(last.contains("completed: done") && answer.contains(r#""id":9"#), "{last} {answer}");
}

#[test]
fn the_bytes_of_files_take_the_way_that_agents_of_0_3_agree_on() {
    let send = r#"{"agent":"a","parts":[{"raw":"//4A","media_type":"image/png"}]}"#;
    let card = |more: &str| {
        format!(
            r#"{{"name":"n","url":"https://a.test/rest","preferredTransport":"HTTP+JSON","protocolVersion":"0.3.0","additionalInterfaces":[{more}]}}"#
        )
    };
    let mut world = World::new("{}");
    world.connect(Some(&card(r#"{"url":"https://a.test/rpc","transport":"JSONRPC"}"#)));
    world.call("send_message", send);
    let request = world.reply(200, &result(OLD));
    assert_eq!((request.url.as_str(), method(&request)), ("https://a.test/rpc", "message/send".into()));
    assert!(!world.answer().contains("note:"));
    world.send();
    assert_eq!(world.reply(200, &result(OLD)).url, "https://a.test/rest/v1/message:send");
    world.answer();

    for more in ["", r#"{"url":"https://b.test/rpc","transport":"JSONRPC"}"#] {
        let mut world = World::new("{}");
        world.connect(Some(&card(more)));
        world.call("send_message", send);
        assert_eq!(world.reply(500, "").url, "https://a.test/rest/v1/message:send");
        assert!(world.answer().contains("note: agents differ in how they read the bytes of files"));
    }
}

#[test]
fn an_answer_to_another_request_ends_no_stream() {
    let completed = r#"{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED","message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"done"}]}}}}"#;
    for (ours, ends) in [(true, false), (false, true)] {
        let mut world = World::new("{}");
        world.connect(Some(STREAMING_CARD));
        world.send();
        let (exchange, request) = world.request();
        let own = at(request.body.as_deref().unwrap(), &["id"]).unwrap();
        world.head(exchange, 200, EVENTS, None);
        let event = |id: &str, value: &str| format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{value}}}\n\n");
        world.input(Input::Body { exchange, bytes: event(if ours { &own } else { "\"own\"" }, WORKING).into() });
        for other in ["424242".to_owned(), format!("\"{own}\"")] {
            world.input(Input::Body { exchange, bytes: event(&other, completed).into() });
        }
        world.input(Input::End { exchange });
        // A stream that ended before its task did is followed by a reading.
        assert_eq!(world.asked.iter().any(|(_, request)| method(request) == "GetTask"), ours, "{:?}", world.asked);
        assert_eq!(world.said.iter().any(|said| said.contains("done")), ends);
    }
}

#[test]
fn a_send_that_runs_while_its_agent_is_connected_again_belongs_to_the_conversation() {
    for (url, goes_on) in [("https://a.test", true), ("https://b.test", false)] {
        let mut world = World::new("{}");
        world.connect(Some(PLAIN_CARD));
        world.send();
        let (running, _) = world.request();
        let arguments = format!(r#"{{"alias":"a","agent_url":"{url}","headers":{{"X-New":"field"}}}}"#);
        let params = format!(r#"{{"name":"connect_agent","arguments":{arguments}}}"#);
        let text = format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{params}}}"#);
        world.input(Input::Message { peer: PEER, text });
        world.reply(200, PLAIN_CARD);
        world.answer();
        world.head(running, 200, JSON, None);
        let reply = result(r#"{"message":{"messageId":"m","role":"ROLE_AGENT","contextId":"c1","parts":[{"text":"late"}]}}"#);
        world.input(Input::Body { exchange: running, bytes: reply.into() });
        world.input(Input::End { exchange: running });
        assert!(world.answer().contains("late"));
        world.call("get_history", r#"{"agent":"a"}"#);
        assert!(world.answer().contains("late"), "the history is the alias's");
        world.send();
        let body = world.request().1.body.unwrap();
        assert_eq!(string_or_none(&body, &["params", "message", "contextId"]).as_deref(), goes_on.then_some("c1"));
    }
}

fn string_or_none(text: &str, path: &[&str]) -> Option<String> {
    at(text, path).map(|_| string(text, path))
}
