//! What random worlds found to be wrong once, each told as a short story.
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
use narrows::gateway::{Gateway, Secrets};
use narrows::io::{Cause, ExchangeId, Input, Output, PeerId, RequestId};
use narrows::time::Instant;
use support::case::{code, connect, connect_with_card, host, host_with, rpc, send, words};
use support::host::{Host, genesis};
use support::text::{at, string_at};
use support::{replay, wire};

const TOKEN: &str = "a-long/token+with==";

/// An agent that streams and names no version, and the exchange of a send to it.
fn streaming(declared: bool) -> (Host, u64, ExchangeId) {
    let mut host = host("{}");
    let number = host.call(1, "connect_agent", r#"{"alias":"bob","agent_url":"https://bob.test/a2a"}"#);
    let (exchange, _) = host.fetch();
    host.reply(exchange, 200, &wire::card(Dialect::JsonRpc10, "https://bob.test/a2a", true, declared, "bob"));
    host.result(number);
    let number = send(&mut host, "bob", "");
    let (exchange, _) = host.fetch();
    host.head(exchange, 200, &[("Content-Type", "text/event-stream")]);
    (host, number, exchange)
}

fn method(host: &mut Host) -> (ExchangeId, String) {
    let (exchange, request) = host.fetch();
    (exchange, string_at(request.body.as_deref().unwrap(), &["method"]).unwrap())
}

fn working(id: &str) -> String {
    rpc(&format!(r#"{{"task":{{"id":"{id}","status":{{"state":"working"}}}}}}"#))
}

#[test]
fn a_task_without_an_id_that_goes_on_ends_its_call() {
    let mut host = host_with("bob", "https://bob.test/a2a", "");
    let number = send(&mut host, "bob", "");
    let (exchange, _) = host.fetch();
    host.reply(exchange, 200, &working(""));
    assert_eq!(code(&host.result(number)).as_deref(), Some("protocol_error"));
    let (mut host, number, exchange) = streaming(true);
    host.body(exchange, format!("data: {}\n\n", working("")).as_bytes());
    host.fail(exchange, Cause::Reset);
    assert_eq!(code(&host.result(number)).as_deref(), Some("unreachable"));
    assert!(host.fetches.is_empty());
}

#[test]
fn a_last_event_without_its_blank_line_leads_to_one_reading() {
    let (mut host, _, exchange) = streaming(true);
    host.body(exchange, format!("data: {}\n\n", working("task-0")).as_bytes());
    let last = r#"{"statusUpdate":{"taskId":"task-0","status":{"state":"working"},"final":true}}"#;
    host.body(exchange, format!("data: {}\n", rpc(last)).as_bytes());
    host.end(exchange);
    assert_eq!(method(&mut host).1, "GetTask");
}

/// A stream that broke, up to the request that takes it up again.
fn resuming(declared: bool) -> (Host, u64, ExchangeId) {
    let (mut host, number, exchange) = streaming(declared);
    host.body(exchange, format!("data: {}\n\n", working("task-0")).as_bytes());
    host.end(exchange);
    let (read, _) = host.fetch();
    host.reply(read, 200, &rpc(r#"{"id":"task-0","status":{"state":"working"}}"#));
    let (exchange, name) = method(&mut host);
    assert_eq!(name, "SubscribeToTask");
    (host, number, exchange)
}

#[test]
fn an_empty_answer_to_a_resubscription_leaves_the_task_to_readings() {
    let (mut host, number, exchange) = resuming(true);
    host.reply(exchange, 200, r#"{"jsonrpc":"2.0","id":1,"result":null}"#);
    host.advance(400);
    let (exchange, name) = method(&mut host);
    assert_eq!(name, "GetTask");
    host.reply(exchange, 200, &rpc(r#"{"id":"task-0","status":{"state":"completed"}}"#));
    assert_eq!(code(&host.result(number)), None);
}

#[test]
fn an_agent_that_answered_in_one_version_is_not_asked_in_the_other() {
    let (mut host, _, exchange) = resuming(false);
    host.reply(exchange, 200, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}"#);
    host.advance(400);
    assert_eq!(method(&mut host).1, "GetTask");
}

#[test]
fn a_gateway_whose_configured_agents_have_not_answered_is_restored() {
    let mut host = host(r#"{"external_agents":[{"name":"bob","url":"https://bob.test"}]}"#);
    assert_eq!(host.watch.running().len(), 1);
    host.restart(2);
    assert!(host.said.is_empty());
    let number = host.call(1, "list_agents", "{}");
    assert!(words(&host.result(number)).starts_with("bob:"));
}

#[test]
fn a_credential_that_was_replaced_is_redacted_after_a_restore_too() {
    let mut host = host("{}");
    for token in [TOKEN, "another-long-token"] {
        connect(&mut host, "bob", "https://bob.test/a2a", &format!(r#","headers":{{"Authorization":"Bearer {token}"}}"#));
    }
    host.restart(2);
    let number = send(&mut host, "bob", "");
    let (exchange, _) = host.fetch();
    host.reply(exchange, 200, &rpc(&format!(r#"{{"message":{{"role":"agent","parts":[{{"text":"was {TOKEN}"}}]}}}}"#)));
    assert_eq!(words(&host.result(number)), "was [redacted]");
    // The first agent is gone, but what it was given may still come back.
    assert!(host.gateway.snapshot(Secrets::Keep).concat().contains(TOKEN));
    assert!(!host.gateway.snapshot(Secrets::Drop).concat().contains(TOKEN));
}

#[test]
fn a_credential_in_use_is_redacted_however_many_others_were_given() {
    let mut host = host("{}");
    connect(&mut host, "bob", "https://bob.test/a2a", &format!(r#","headers":{{"X-Key":"{TOKEN}"}}"#));
    for call in 0..70 {
        let fields: Vec<_> = (0..256).map(|field| format!(r#""X-{field}":"key-{call}-{field}-of-many""#)).collect();
        let arguments = format!(r#"{{"alias":"amy","agent_url":"https://amy.test","headers":{{{}}}}}"#, fields.join(","));
        let number = host.call(1, "connect_agent", &arguments);
        assert!(words(&host.result(number)).contains("at most 20"));
    }
    let number = send(&mut host, "bob", "");
    let (exchange, _) = host.fetch();
    host.reply(
        exchange,
        200,
        &rpc(&format!(r#"{{"message":{{"role":"agent","parts":[{{"text":"{TOKEN} key-0-0-of-many"}}]}}}}"#)),
    );
    assert_eq!(words(&host.result(number)), "[redacted] key-0-0-of-many");
}

#[test]
fn words_that_are_cut_or_stripped_hold_no_part_of_a_credential() {
    let page = format!("<p>{} {TOKEN}</p>", "x".repeat(185));
    let markup = "<html><body>no: to<b>ken-with-markup</body></html>".to_owned();
    let broken = format!("not JSON {}", &TOKEN[..12]);
    for (status, body) in [(500, page), (500, markup), (200, broken)] {
        let mut host = host("{}");
        let headers = format!(r#","headers":{{"X-Key":"{TOKEN}","X-Odd":"to<b>ken-with-markup"}}"#);
        connect(&mut host, "bob", "https://bob.test/a2a", &headers);
        let number = send(&mut host, "bob", "");
        let (exchange, _) = host.fetch();
        host.reply(exchange, status, &body);
        let said = words(&host.result(number));
        assert!(said.contains("[redacted]") && !said.contains("a-long") && !said.contains("with-markup"), "{said}");
    }
}

#[test]
fn a_credential_that_is_echoed_word_by_word_is_nowhere() {
    let (one, two) = TOKEN.split_at(11);
    let mut host = host("{}");
    connect(&mut host, "bob", "https://bob.test/a2a", &format!(r#","headers":{{"X-Key":"{TOKEN}"}}"#));
    let message = format!(
        r#"{{"message":{{"messageId":"m","role":"ROLE_AGENT","parts":[{{"text":"is {one}"}},{{"text":"{two} right?"}}]}}}}"#
    );
    let number = send(&mut host, "bob", r#","async":true"#);
    let (exchange, _) = host.fetch();
    host.reply(exchange, 200, &rpc(&message));
    host.result(number);
    let inbox = host.call(1, "read_inbox", r#"{"alias":"bob"}"#);
    let inbox = host.result(inbox);
    let number = send(&mut host, "bob", "");
    let (exchange, _) = host.fetch();
    host.reply(exchange, 200, &rpc(&message));
    for result in [inbox, host.result(number)] {
        assert!(result.contains(r#"{"text":"is [redacted]"},{"text":"[redacted] right?"}"#), "{result}");
        assert!(!result.contains(one) && !result.contains(two), "{result}");
    }
}

#[test]
fn a_credential_that_is_streamed_in_pieces_is_in_no_progress() {
    let (one, two) = TOKEN.split_at(11);
    let mut host = host("{}");
    let headers = format!(r#","headers":{{"X-Key":"{TOKEN}"}}"#);
    host.call(1, "connect_agent", &format!(r#"{{"alias":"bob","agent_url":"https://bob.test/a2a"{headers}}}"#));
    let (exchange, _) = host.fetch();
    host.reply(exchange, 200, &wire::card(Dialect::JsonRpc10, "https://bob.test/a2a", true, true, "bob"));
    host.said.clear();
    let number = host.request(
        1,
        "tools/call",
        r#"{"name":"send_message","arguments":{"agent":"bob","message":"hi"},"_meta":{"progressToken":"p"}}"#,
    );
    let (exchange, _) = host.fetch();
    host.head(exchange, 200, &[("Content-Type", "text/event-stream")]);
    let piece = |text: &str, append: bool| {
        let artifact = format!(r#"{{"artifactId":"a","parts":[{{"text":"{text}"}}]}}"#);
        let update = format!(r#"{{"taskId":"t","contextId":"c","append":{append},"artifact":{artifact}}}"#);
        format!("data: {}\n\n", rpc(&format!(r#"{{"artifactUpdate":{update}}}"#)))
    };
    let end = r#"{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}"#;
    for bytes in [piece(&format!("is {one}"), false), piece(&format!("{two} right?"), true), format!("data: {}\n\n", rpc(end))] {
        host.body(exchange, bytes.as_bytes());
    }
    host.end(exchange);
    let told: String = host.said.iter().map(|(_, text)| text.as_str()).collect();
    assert!(told.contains("artifact a: is [redacted]") && told.contains("artifact a: [redacted] right?"), "{told}");
    assert!(!told.contains(one) && !told.contains(two), "{told}");
    assert_eq!(words(&host.result(number)), "is [redacted] right?");
}

#[test]
fn a_message_that_names_no_conversation_answers_the_task_that_waited_too() {
    let mut host = host_with("bob", "https://bob.test/a2a", "");
    let waiting = r#"{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}"#;
    let message = r#"{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"thanks"}]}}"#;
    let sent: Vec<Option<String>> = [waiting, message, message]
        .map(|reply| {
            let number = send(&mut host, "bob", "");
            let (exchange, request) = host.fetch();
            host.reply(exchange, 200, &rpc(reply));
            host.result(number);
            string_at(request.body.as_deref().unwrap(), &["params", "message", "taskId"])
        })
        .to_vec();
    assert_eq!(sent, [None, Some("t".to_owned()), None]);
}

#[test]
fn history_is_redacted_before_it_is_cut() {
    let mut host = host(r#"{"history":{"max_entry_length":20}}"#);
    connect(&mut host, "bob", "https://bob.test/a2a", &format!(r#","headers":{{"X-Key":"{TOKEN}"}}"#));
    let number = send(&mut host, "bob", "");
    let (exchange, _) = host.fetch();
    host.reply(exchange, 200, &rpc(&format!(r#"{{"message":{{"role":"agent","parts":[{{"text":"the word {TOKEN}"}}]}}}}"#)));
    host.result(number);
    let number = host.call(1, "get_history", r#"{"agent":"bob"}"#);
    let response = string_at(&host.result(number), &["structuredContent", "entries", "0", "response"]);
    assert_eq!(response.as_deref(), Some("the word [redacted]"));
}

#[test]
fn an_address_with_a_credential_is_not_handed_on_and_stops_no_restore() {
    let mut host = host("{}");
    let headers = r#","headers":{"X-Key":"a-long-token"}"#;
    connect(&mut host, "bob", "https://bob.test/a2a?key=a-long-token", headers);
    connect(&mut host, "carol", "https://carol.test", "");
    let pieces = host.gateway.snapshot(Secrets::Drop);
    assert!(!pieces.concat().contains("a-long-token"));
    let mut restored = Gateway::restore(genesis(1, 0, 0), host.config.clone(), &pieces).unwrap();
    let params = r#"{"name":"list_agents","arguments":{}}"#;
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
    restored.handle_input(Instant::from_ms(0), Input::Message { peer: PeerId(1), text }).unwrap();
    let Some(Output::Message { text, .. }) = restored.poll_output() else { panic!() };
    assert!(text.contains("carol") && !text.contains("bob"), "{text}");
}

#[test]
fn what_an_agent_made_of_a_credential_does_not_reach_another_origin() {
    let mut host = host("{}");
    let number = host.call(
        1,
        "connect_agent",
        &format!(r#"{{"alias":"bob","agent_url":"https://bob.test/a2a","headers":{{"X-Key":"{TOKEN}"}}}}"#),
    );
    host.no_card();
    host.result(number);
    send(&mut host, "bob", "");
    let (exchange, _) = host.fetch();
    let context = format!(r#"{{"message":{{"role":"agent","contextId":"for {TOKEN}","parts":[{{"text":"x"}}]}}}}"#);
    host.reply(exchange, 200, &rpc(&context));
    let number = host.call(1, "get_agent_card", r#"{"agent":"bob"}"#);
    let (exchange, _) = host.fetch();
    host.reply(exchange, 200, &wire::card(Dialect::JsonRpc10, "https://elsewhere.test/a2a", false, true, "bob"));
    host.result(number);
    send(&mut host, "bob", "");
    let (_, request) = host.fetch();
    assert!(request.url.starts_with("https://elsewhere.test"));
    assert!(request.body.unwrap().contains("for [redacted]"));
}

#[test]
fn no_redirect_carries_a_credential_to_another_origin() {
    let mut host = host("{}");
    let arguments = r#"{"alias":"bob","agent_url":"https://bob.test","headers":{"X-Key":"a-long-token"}}"#;
    host.call(1, "connect_agent", arguments);
    let (exchange, _) = host.fetch();
    host.head(exchange, 302, &[("location", "https://evil.test/?told=a-long-token")]);
    let (_, request) = host.fetch();
    assert_eq!(request.url, "https://bob.test/.well-known/agent.json", "the next place of the card");
}

/// The trace of a connection whose headers are these, and of an agent that says the password in two pieces.
fn traced(headers: &str, told: [&str; 2]) -> (Host, Vec<String>) {
    let mut host = Host::new(3, "{}");
    host.begin_trace();
    host.open(1, "one");
    host.call(1, "connect_agent", &format!(r#"{{"alias":"bob","agent_url":"https://bob.test","headers":{headers}}}"#));
    let (exchange, _) = host.fetch();
    host.head(exchange, 500, &[]);
    told.iter().for_each(|piece| host.body(exchange, piece.as_bytes()));
    host.end(exchange);
    let lines = host.trace.clone();
    (host, lines)
}

#[test]
fn a_trace_shows_no_credential_however_it_is_told_and_replays() {
    for (headers, told, secrets) in [
        (r#"{"Authorization":"Basic dXNlcjpodW50ZXIyMg=="}"#, ["it is hunt", "er22"], ["hunter22", "dXNlcjpodW50ZXIyMg=="]),
        (r#"{"X-Key":"a-long\u002Btoken"}"#, ["a-long+to", "ken"], ["a-long+token", "a-long\\u002Btoken"]),
        (r#"{"X-Key":"a<long>token"}"#, ["a\\u003clong\\u003e", "token"], ["a<long>token", "a\\u003clong\\u003etoken"]),
        (r#"{"X-Key":"a-long-token"}"#, ["a-long-to", ""], ["a-long-token", "a-long-to"]),
    ] {
        let (_, lines) = traced(headers, told);
        let bodies: String = lines.iter().filter_map(|line| string_at(line, &["input", "text"])).collect();
        for secret in secrets {
            assert!(!bodies.contains(secret) && !lines.concat().contains(secret), "{secret} in {lines:#?}");
        }
        let (genesis, config, inputs) = replay::read(&lines);
        assert_eq!(replay::trace(genesis, config, inputs.into_iter()), lines);
    }
}

#[test]
fn a_credential_that_an_agent_writes_by_number_is_traced_by_none_of_its_letters_and_replays() {
    let by_number = |text: &str| text.bytes().map(|byte| format!("\\u{byte:04X}")).collect::<String>();
    let secret = "a-long/token";
    for told in [by_number(secret), format!("a-lo\\u006eg\\/tok{}", by_number("en")), format!("a-long/{}", by_number("token"))] {
        let body = format!(r#"{{"error":"\\ {told} \n\u00e9"}}"#);
        let cuts = (0..=body.len()).map(|cut| body.split_at(cut)).map(<[&str; 2]>::from);
        // The last one breaks off within the secret.
        let end = 13 + told.len();
        for told in cuts.chain([[&body[..end - 9], &body[end - 9..end - 3]]]) {
            let (host, lines) = traced(&format!(r#"{{"X-Key":"{secret}"}}"#), told);
            let bodies: String = lines.iter().filter_map(|line| string_at(line, &["input", "text"])).collect();
            let read = bodies.replace("\\u002F", "/").replace("\\u006e", "n").replace("\\u006E", "n").replace("\\/", "/");
            let letters = ["a-lon", "token", "u0074\\u006F", "u006C\\u006F"];
            assert!(bodies.contains("secret:1") && letters.iter().all(|part| !read.contains(part)), "{told:?} {bodies}");
            assert!(!host.said.iter().any(|(_, text)| text.contains("token") || text.contains("u0074")), "{told:?}");
            let (genesis, config, inputs) = replay::read(&lines);
            assert_eq!(replay::trace(genesis, config, inputs.into_iter()), lines, "{told:?}");
        }
    }
}

#[test]
fn an_answer_that_drips_keeps_its_reading_alive_in_a_replay_too() {
    let answer = rpc(r#"{"kind":"task","id":"task-0","status":{"state":"completed"}}"#);
    let (before, after) = answer.split_once("completed").unwrap();
    // A piece that may be the beginning of the credential comes late, or at a moment that was told already.
    for is_told in [false, true] {
        let mut host = Host::new(7, "{}");
        host.begin_trace();
        host.open(1, "one");
        connect(&mut host, "bob", "https://bob.test/a2a", r#","headers":{"X-Key":"can-be-kept"}"#);
        let number = send(&mut host, "bob", "");
        let (exchange, _) = host.fetch();
        host.reply(exchange, 200, &working("task-0"));
        host.advance(300);
        let (reading, _) = host.fetch();
        host.head(reading, 200, &[("Content-Type", "application/json")]);
        host.body(reading, before.as_bytes());
        host.clock += 29_000;
        if is_told {
            host.input(Input::Tick).unwrap();
        }
        host.body(reading, b"c");
        host.advance(20_000);
        host.body(reading, format!("ompleted{after}").as_bytes());
        host.end(reading);
        assert_eq!(code(&host.result(number)), None, "its reading lived");
        let (genesis, config, inputs) = replay::read(&host.trace);
        assert_eq!(replay::trace(genesis, config, inputs.into_iter()), host.trace, "{is_told}");
    }
}

#[test]
fn a_call_that_is_refused_is_traced_without_its_credentials() {
    let mut host = Host::new(3, r#"{"limits":{"calls_per_peer":1}}"#);
    host.begin_trace();
    host.open(1, "one");
    let arguments = r#"{"alias":"bob","agent_url":"https://bob.test","headers":{"X-Key":"a-long-token"}}"#;
    host.call(1, "get_agent_card", r#"{"agent":"https://carol.test"}"#);
    let number = host.call(1, "connect_agent", arguments);
    assert_eq!(code(&host.result(number)).as_deref(), Some("busy"));
    host.call(1, "no_such_tool", arguments);
    assert!(!host.trace.concat().contains("a-long-token"), "{:#?}", host.trace);
}

#[test]
fn a_trace_that_begins_after_a_restore_does_not_claim_to_begin_with_the_birth() {
    let mut host = host("{}");
    host.begin_trace();
    host.restart(2);
    host.advance(1);
    assert!(host.trace.iter().all(|line| at(line, &["genesis"]).is_none()), "{:#?}", host.trace);
}

#[test]
fn a_report_that_nobody_awaits_is_traced_without_what_it_holds() {
    let (mut host, _) = traced("{}", ["", ""]);
    host.trace.clear();
    let late = ExchangeId(1);
    host.input(Input::Body { exchange: late, bytes: b"words".to_vec() }).unwrap();
    host.input(Input::Failed { exchange: late, cause: Cause::Other, detail: "words".to_owned() }).unwrap();
    assert!(host.trace.len() == 2 && !host.trace.concat().contains("words"), "{:#?}", host.trace);
}

#[test]
fn outcomes_come_back_from_a_snapshot_in_their_order() {
    let mut host = host("{}");
    connect_with_card(&mut host, "bob", Dialect::JsonRpc10, false);
    for _ in 0..3 {
        send(&mut host, "bob", r#","async":true"#);
        let (exchange, _) = host.fetch();
        host.fail(exchange, Cause::Reset);
    }
    let list = |gateway: &mut Gateway| {
        let text = r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"check_inbox"}}"#.to_owned();
        gateway.handle_input(Instant::from_ms(0), Input::Message { peer: PeerId(1), text }).unwrap();
        let Some(Output::Message { text, .. }) = gateway.poll_output() else { panic!() };
        at(&text, &["result", "structuredContent", "entries"]).unwrap()
    };
    let piece = host.gateway.snapshot(Secrets::Keep).remove(0);
    let records = narrows::json::elements(support::text::raw(&at(&piece, &["records"]).unwrap())).unwrap().len();
    let reversed: Vec<String> = (0..records)
        .rev()
        .map(|index| format!(r#"{{"narrows":1,"records":[{}]}}"#, at(&piece, &["records", &index.to_string()]).unwrap()))
        .collect();
    let mut restored = Gateway::restore(genesis(1, 0, host.clock), host.config.clone(), &reversed).unwrap();
    assert_eq!(list(&mut restored), list(&mut host.gateway));
}

/// Posts a body; the response's head.
fn post(host: &mut Host, number: u64, more: &[(&str, &str)], body: &str) -> (u16, Vec<(String, String)>) {
    let request = RequestId(number);
    let fields = [("Host", "localhost"), ("Content-Type", "application/json")];
    let headers = fields.iter().chain(more).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    host.input(Input::Request { request, method: "POST".to_owned(), target: "/mcp".to_owned(), headers }).unwrap();
    host.input(Input::RequestBody { request, bytes: body.as_bytes().to_vec() }).unwrap();
    host.input(Input::RequestEnd { request }).unwrap();
    let Some(Output::ResponseHead { status, headers, .. }) = host.responses.pop_front() else { panic!("no response") };
    host.responses.clear();
    (status, headers)
}

#[test]
fn what_is_refused_is_traced_without_the_credentials_in_it() {
    let arguments = r#"{"alias":"bob","agent_url":"https://bob.test","headers":{"X-Key":"a-long-token"}}"#;
    let params = format!(r#"{{"name":"connect_agent","arguments":{arguments}}}"#);
    let call = |version: &str, id: &str| format!(r#"{{"jsonrpc":"{version}",{id}"method":"tools/call","params":{params}}}"#);
    let whole = call("2.0", "");
    let broken = whole.trim_end_matches('}').to_owned();
    let mut host = Host::new(3, "{}");
    host.begin_trace();
    host.open(1, "one");
    for text in [call("1.0", ""), broken.clone(), format!("[[{whole}]]")] {
        host.tell(1, &text);
        let unknown = [("Mcp-Session-Id", "none")];
        assert!([400, 404].contains(&post(&mut host, 5, &unknown, &text).0), "{text}");
    }
    assert_eq!(post(&mut host, 5, &[("Mcp-Session-Id", "none")], &call("2.0", r#""id":1,"#)).0, 404);
    host.input(Input::MessageTooLong { peer: PeerId(1), start: broken, end: String::new(), bytes: 50_000_000 }).unwrap();
    assert!(!host.trace.concat().contains("a-long-token"), "{:#?}", host.trace);
    let (genesis, config, inputs) = replay::read(&host.trace);
    assert_eq!(replay::trace(genesis, config, inputs.into_iter()), host.trace);
}

#[test]
fn a_session_after_a_restore_has_a_name_of_its_own_though_the_seed_is_the_same() {
    let mut host = Host::new(2, "{}");
    let mut names = Vec::new();
    for number in 1..=3 {
        let id = host.number();
        let params = r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#;
        let call = support::host::call(0, &id.to_string(), None, None);
        let posting = support::served::Posting { calls: vec![(id, call, None)], scope: format!("session-{number}") };
        host.watch.served.expect(RequestId(number), posting);
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{params}}}"#);
        let (_, headers) = post(&mut host, number, &[], &body);
        names.extend(headers.into_iter().filter(|(name, _)| name == "Mcp-Session-Id").map(|(_, name)| name));
        host.restart(2);
    }
    names.dedup();
    assert_eq!(names.len(), 3, "{names:?}");
}

#[test]
fn the_history_of_a_call_that_the_end_of_serving_ends_says_so() {
    let mut host = Host::new(4, "{}");
    host.open(1, "http/local");
    connect(&mut host, "bob", "https://bob.test/a2a", "");
    let (number, request) = (host.number(), RequestId(8));
    let call = support::host::call(0, &number.to_string(), None, None);
    let posting = support::served::Posting { calls: vec![(number, call, None)], scope: "http/local".to_owned() };
    host.watch.served.expect(request, posting);
    let version = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;
    let arguments = format!(r#"{{"agent":"bob","message":"call-{number}"}}"#);
    let params = format!(r#"{{"name":"send_message","arguments":{arguments},"_meta":{{{version}}}}}"#);
    let body = format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{params}}}"#);
    let fields = [("Host", "localhost"), ("Content-Type", "application/json"), ("MCP-Protocol-Version", "2026-07-28")];
    let more = [("Mcp-Method", "tools/call"), ("Mcp-Name", "send_message")];
    let headers = fields.iter().chain(&more).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    host.input(Input::Request { request, method: "POST".to_owned(), target: "/mcp".to_owned(), headers }).unwrap();
    host.input(Input::RequestBody { request, bytes: body.into_bytes() }).unwrap();
    host.input(Input::RequestEnd { request }).unwrap();
    host.input(Input::Stop).unwrap();
    assert_eq!(host.aborted.len(), 1);
    let number = host.call(1, "get_history", r#"{"agent":"bob"}"#);
    let response = string_at(&host.result(number), &["structuredContent", "entries", "0", "response"]);
    assert_eq!(response.as_deref(), Some("the gateway is stopping while this call was running"));
}
