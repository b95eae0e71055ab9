//! Calls that wait for a person: through the whole gateway, with the client, the host and the HTTP face as those who decide.

use narrows::config::Config;
use narrows::gateway::{Gateway, Question, Secrets};
use narrows::io::{Input, LinkEvent, PeerId, RequestId};

use crate::world::{MODERN, World, at, genesis, servers, string_at};

/// The tools of a gateway's account server: seven that read, eight that write.
const READS: [&str; 7] = [
    "everyapi_status",
    "everyapi_topup",
    "everyapi_seller_list",
    "everyapi_seller_eligibility",
    "everyapi_edge_list",
    "everyapi_edge_status",
    "everyapi_admin_marketplace_status",
];
const WRITES: [&str; 8] = [
    "everyapi_seller_add_key",
    "everyapi_seller_withdraw",
    "everyapi_admin_marketplace_set",
    "everyapi_edge_remove",
    "everyapi_seller_add_oauth_codex_start",
    "everyapi_seller_add_oauth_codex_poll",
    "everyapi_seller_add_oauth_claude_start",
    "everyapi_seller_add_oauth_claude_complete",
];

const GLOBS: &str = r#"["mcp_everyapi_everyapi_seller_add_*","mcp_everyapi_everyapi_seller_withdraw","mcp_everyapi_everyapi_admin_marketplace_set","mcp_everyapi_everyapi_edge_remove"]"#;

const WITHDRAW: &str = "mcp_everyapi_everyapi_seller_withdraw";

/// A configuration with that server, those patterns and more.
fn guarded(approval: &str, more: &str) -> String {
    let servers = servers(&["everyapi"]);
    let servers = servers.strip_suffix('}').unwrap();
    format!(r#"{servers}{more},"approval":{{"require_approval":{GLOBS}{approval}}}}}"#)
}

fn ready_with(approval: &str, more: &str) -> World {
    let mut world = World::shaken(&guarded(approval, more));
    serve(&mut world);
    world
}

fn serve(world: &mut World) {
    let tools: Vec<&str> = READS.iter().chain(&WRITES).copied().collect();
    world.legacy("everyapi", &tools);
    world.said.clear();
    world.notices.clear();
}

fn ready() -> World {
    ready_with("", "")
}

/// The id of the request that was told last.
fn proposed(world: &World) -> String {
    let (_, fields) = world.notices.iter().rev().find(|(event, _)| event == "approval_proposed").expect("nothing was proposed");
    string_at(fields, &["id"]).unwrap()
}

fn decide(world: &mut World, id: &str, approved: bool) {
    world.input(Input::Decision { approval: id.to_owned(), approved, reason: None });
}

fn events(world: &World) -> Vec<&str> {
    world.notices.iter().map(|(event, _)| event.as_str()).filter(|event| event.starts_with("approval")).collect()
}

#[test]
fn four_patterns_hold_eight_tools_that_write_and_none_that_reads() {
    for tool in READS {
        let mut world = ready();
        world.call(1, &format!("mcp_everyapi_{tool}"), "");
        assert_eq!(string_at(&world.read("everyapi"), &["params", "name"]).as_deref(), Some(tool));
    }
    for tool in WRITES {
        let mut world = ready();
        world.call(1, &format!("mcp_everyapi_{tool}"), "");
        assert!(world.is_quiet("everyapi") && world.said.is_empty(), "{tool}");
        let id = proposed(&world);
        decide(&mut world, &id, true);
        assert_eq!(string_at(&world.read("everyapi"), &["params", "name"]).as_deref(), Some(tool));
        assert!(world.is_quiet("everyapi"));
    }
}

#[test]
fn an_approved_call_goes_out_once_and_is_told_step_by_step() {
    let mut world = ready();
    world.call(1, WITHDRAW, r#","arguments":{"amount":5}"#);
    let id = proposed(&world);
    decide(&mut world, &id, true);
    decide(&mut world, &id, true);
    let call = world.read("everyapi");
    assert_eq!(at(&call, &["params", "arguments"]).unwrap(), r#"{"amount":5}"#);
    assert!(world.is_quiet("everyapi"));
    let number = at(&call, &["id"]).unwrap();
    world.line("everyapi", &format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{{"content":[]}}}}"#));
    assert!(world.answered(1).contains(r#""content":[]"#));
    let want = ["approval_proposed", "approval_decided", "approval_executed", "approval_not_decided", "approval_returned"];
    assert_eq!(events(&world), want);
}

#[test]
fn a_rejected_call_fails_and_never_goes_out() {
    let mut world = ready();
    world.call(1, WITHDRAW, "");
    let id = proposed(&world);
    world.input(Input::Decision { approval: id.clone(), approved: false, reason: Some("not today".into()) });
    assert_eq!(world.error(1), ("approval_denied".into(), "not today".into()));
    decide(&mut world, &id, true);
    assert!(world.is_quiet("everyapi"));
}

#[test]
fn a_session_is_asked_once_for_a_tool_or_each_time() {
    for (cached, asked) in [("true", 1), ("false", 2)] {
        let mut world = ready_with(&format!(r#","cache_approvals_per_session":{cached}"#), "");
        for id in 1..=2 {
            world.call(id, WITHDRAW, &format!(r#","arguments":{{"amount":{id}}}"#));
            if world.is_quiet("everyapi") {
                let id = proposed(&world);
                decide(&mut world, &id, true);
            }
            world.read("everyapi");
        }
        let proposals = events(&world).into_iter().filter(|event| *event == "approval_proposed").count();
        assert_eq!(proposals, asked, "{cached}");
    }
}

#[test]
fn time_runs_out_as_it_is_configured() {
    let mut world = ready();
    world.call(1, WITHDRAW, "");
    let id = proposed(&world);
    world.advance(59_000);
    assert!(world.said.is_empty());
    world.advance(2_000);
    let text = world.answered(1);
    assert_eq!(string_at(&text, &["result", "structuredContent", "error", "reason"]).as_deref(), Some("expired"));
    decide(&mut world, &id, true);
    assert!(world.is_quiet("everyapi"));

    let mut world = ready_with(r#","timeout_fallback":"skip""#, "");
    world.call(1, WITHDRAW, "");
    world.advance(61_000);
    let text = world.answered(1);
    assert!(text.contains("skipped") && !text.contains("isError\":true"), "{text}");
    assert!(world.is_quiet("everyapi"));

    let mut world = ready_with(r#","timeout_fallback":"escalate""#, "");
    world.call(1, WITHDRAW, "");
    let id = proposed(&world);
    world.advance(61_000);
    assert!(world.said.is_empty());
    decide(&mut world, &id, true);
    world.read("everyapi");
}

#[test]
fn a_call_that_waits_says_so_and_may_be_cancelled() {
    let mut world = ready();
    world.call(1, WITHDRAW, r#","_meta":{"progressToken":"p"}"#);
    let id = proposed(&world);
    assert!(world.said.pop_front().unwrap().1.contains("waiting for an approval"));
    world.advance(16_000);
    assert!(world.said.pop_front().unwrap().1.contains("waiting for an approval"));
    world.say(1, r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    decide(&mut world, &id, true);
    assert!(world.is_quiet("everyapi") && world.said.is_empty());
}

#[test]
fn a_caller_who_left_runs_nothing() {
    let mut world = ready();
    world.call(1, WITHDRAW, "");
    let id = proposed(&world);
    world.input(Input::Closed { peer: PeerId(1) });
    decide(&mut world, &id, true);
    assert!(world.is_quiet("everyapi"));
}

#[test]
fn a_tool_that_changed_after_it_was_asked_is_not_called() {
    let mut world = ready_with("", r#","mcp":{"pins":false}"#);
    world.call(1, WITHDRAW, "");
    let id = proposed(&world);
    world.line("everyapi", r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    world.advance(1000);
    let changed =
        r#""result":{"tools":[{"name":"everyapi_seller_withdraw","description":"now more","inputSchema":{"type":"object"}}]}"#;
    world.answer("everyapi", "tools/list", changed);
    world.said.clear();
    decide(&mut world, &id, true);
    assert_eq!(world.error(1).0, "approval_denied");
    assert!(world.is_quiet("everyapi"));
}

#[test]
fn what_waits_in_a_session_is_bounded() {
    let mut world = ready();
    for id in 1..=6 {
        world.call(id, WITHDRAW, "");
    }
    assert_eq!(world.error(6).0, "busy");
    assert!(world.said.is_empty());
}

fn request(world: &mut World, number: u64, method: &str, target: &str, token: &str) -> (u16, String) {
    let fields = [("Authorization", format!("Bearer {token}"))];
    request_with(world, number, (method, target), if token.is_empty() { &[] } else { &fields }, "")
}

fn request_with(
    world: &mut World,
    number: u64,
    (method, target): (&str, &str),
    fields: &[(&str, String)],
    body: &str,
) -> (u16, String) {
    let mut headers = vec![("Host".to_owned(), "localhost".to_owned())];
    headers.extend(fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    let request = RequestId(number);
    world.responses.clear();
    world.input(Input::Request { request, method: method.into(), target: target.into(), headers });
    if world.responses.is_empty() {
        world.input(Input::RequestBody { request, bytes: body.as_bytes().to_vec() });
        world.input(Input::RequestEnd { request });
    }
    world.responses.pop().unwrap()
}

/// The code of the request that was told last.
fn code(world: &World) -> String {
    let (_, fields) = world.notices.iter().rev().find(|(event, _)| event == "approval_proposed").unwrap();
    string_at(fields, &["code"]).expect("a request has a code where there are no tokens")
}

#[test]
fn decisions_are_taken_over_http() {
    let mut world = ready_with("", r#","mcp_taint_policy":[{"tool":"*","skip_rules":["PiiEmail"]}]"#);
    world.call(1, WITHDRAW, r#","arguments":{"amount":5,"note":"ada@example.org"}"#);
    let id = proposed(&world);
    let (status, list) = request(&mut world, 1, "GET", "/api/approvals?state=pending", "");
    assert_eq!((status, string_at(&list, &["items", "0", "id"]).as_deref()), (200, Some(id.as_str())));
    assert!(list.contains("everyapi_seller_withdraw of everyapi with") && !list.contains("ada@example.org"), "{list}");
    let right = format!(r#"{{"code":"{}"}}"#, code(&world));
    for (method, target, body, status) in [
        ("GET", "/api/approvals?state=nothing".to_owned(), "", 400),
        ("GET", "/api/approvals/unknown".to_owned(), "", 404),
        ("POST", "/api/approvals/unknown/approve".to_owned(), "", 404),
        ("PUT", format!("/api/approvals/{id}/approve"), "", 405),
        ("POST", "/api/approvals".to_owned(), "", 405),
        ("GET", "/api/approvals/a/b/c".to_owned(), "", 404),
        ("POST", format!("/api/approvals/{id}/approve"), "[]", 400),
        ("GET", format!("/api/approvals/{id}"), "", 200),
        ("POST", format!("/api/approvals/{id}/approve"), &right, 200),
        ("POST", format!("/api/approvals/{id}/approve"), &right, 409),
        ("POST", format!("/api/approvals/{id}/reject"), &right, 409),
    ] {
        let (given, text) = request_with(&mut world, 2, (method, &target), &[], body);
        assert_eq!(given, status, "{method} {target}");
        let words = string_at(&text, &["error", "message"]);
        assert_eq!(words.is_some_and(|words| !words.is_empty()), status >= 400, "{method} {target}: {text}");
    }
    world.read("everyapi");
    assert!(world.is_quiet("everyapi"));
}

/// A call over HTTP of the era without sessions; what is told of it so far.
fn call_without_session(world: &mut World, number: u64, amount: &str) -> String {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{WITHDRAW}","arguments":{{"amount":{amount}}},"_meta":{{"progressToken":1,{MODERN}}}}}}}"#
    );
    let fields = [
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", WITHDRAW),
    ];
    let fields = fields.map(|(name, value)| (name, value.to_owned()));
    request_with(world, number, ("POST", "/mcp"), &fields, &body).1
}

/// An approval is remembered for a session, and what is none has no end at which it would be forgotten.
#[test]
fn without_a_session_every_call_asks() {
    let mut world = ready();
    for number in 1..=3 {
        world.notices.clear();
        call_without_session(&mut world, number, &number.to_string());
        let id = proposed(&world);
        decide(&mut world, &id, true);
        world.read("everyapi");
    }
}

#[test]
fn what_was_approved_is_forgotten_with_its_session() {
    let mut world = ready();
    let begin = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#;
    for _ in 0..2 {
        world.notices.clear();
        world.call(1, WITHDRAW, "");
        let id = proposed(&world);
        decide(&mut world, &id, true);
        world.read("everyapi");
        world.call(2, WITHDRAW, "");
        world.read("everyapi");
        world.input(Input::Closed { peer: PeerId(1) });
        world.written.clear();
        world.open(1);
        world.say(1, begin);
    }
}

#[test]
fn nothing_is_hidden_in_characters_that_nobody_sees() {
    let mut world = ready();
    let arguments = "{\"to\":\"bob\u{202e} moc.live@x\u{202c}\",\"z\u{200b}ero\":\"a\u{3164}d\u{e0041}\u{85}é\"}";
    world.call(1, WITHDRAW, &format!(r#","arguments":{arguments}"#));
    let summary = string_at(&world.notices.last().unwrap().1, &["summary"]).unwrap();
    let want = r#"{"to":"bob\u202e moc.live@x\u202c","z\u200bero":"a\u3164d\udb40\udc41\u0085é"}"#;
    assert!(summary.ends_with(want), "{summary}");
}

#[test]
fn nothing_is_hidden_behind_padding() {
    let mut world = ready_with("", r#","mcp_taint_policy":[{"tool":"*","skip_rules":["PiiEmail"]}]"#);
    let padding = "lorem ipsum ".repeat(400);
    let arguments =
        format!(r#"{{"note":"{padding}","amount":5000000,"to":"eve@example.org","more":"{padding}","end":"everything"}}"#);
    world.call(1, WITHDRAW, &format!(r#","arguments":{arguments},"_meta":{{"com.example/k":"v"}}"#));
    let (_, fields) = world.notices.last().unwrap().clone();
    let summary = string_at(&fields, &["summary"]).unwrap();
    assert!(summary.contains("characters are not shown here]") && summary.contains("everything"), "{summary}");
    let counted: usize = summary.split("… [").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(counted > 7000 && summary.chars().count() < 2100);
    let id = proposed(&world);
    let (_, told) = request(&mut world, 1, "GET", &format!("/api/approvals/{id}"), "");
    let want = arguments.replace("eve@example.org", "[redacted: pii_email]");
    assert_eq!(at(&told, &["arguments"]), Some(want));
    assert_eq!(string_at(&told, &["_meta", "com.example/k"]).as_deref(), Some("v"));
    decide(&mut world, &id, true);
    let (_, told) = request(&mut world, 2, "GET", &format!("/api/approvals/{id}"), "");
    assert_eq!(at(&told, &["arguments"]), None, "a call that went out is not kept");
}

/// Whoever asks over HTTP on this machine can say whatever anybody else on it can, but for what it was not told.
#[test]
fn without_tokens_whoever_asks_cannot_decide() {
    let mut world = ready();
    let told = call_without_session(&mut world, 1, "1");
    let (id, right) = (proposed(&world), code(&world));
    assert!(told.contains(&id) && !told.contains(&right), "{told}");
    let target = format!("/api/approvals/{id}/approve");
    for path in ["/api/approvals", &format!("/api/approvals/{id}")] {
        assert!(!request_with(&mut world, 2, ("GET", path), &[], "").1.contains(&right));
    }
    for body in ["", "{}", r#"{"code":""}"#, &format!(r#"{{"code":"{id}"}}"#), &format!(r#"{{"code":"{}"}}"#, &right[1..])] {
        assert_eq!(request_with(&mut world, 3, ("POST", &target), &[], body).0, 403, "{body}");
    }
    assert!(world.is_quiet("everyapi"));
    let right = format!(r#"{{"code":"{right}"}}"#);
    let (status, decided) = request_with(&mut world, 4, ("POST", &target), &[], &right);
    assert_eq!((status, string_at(&decided, &["decided_by"]).as_deref()), (200, Some("(code)")));
    world.read("everyapi");
}

#[test]
fn no_page_of_another_origin_sees_what_waits() {
    let mut world = ready();
    world.call(1, WITHDRAW, "");
    let right = format!(r#"{{"code":"{}"}}"#, code(&world));
    let target = format!("/api/approvals/{}/approve", proposed(&world));
    for origin in ["http://localhost:3000", "http://127.0.0.1", "https://localhost:8443", "null"] {
        let fields = [("Origin", origin.to_owned())];
        assert_eq!(request_with(&mut world, 1, ("GET", "/api/approvals"), &fields, "").0, 403, "{origin}");
        assert_eq!(request_with(&mut world, 1, ("OPTIONS", &target), &fields, "").0, 403, "{origin}");
        assert_eq!(request_with(&mut world, 1, ("POST", &target), &fields, &right).0, 403, "{origin}");
    }
    let same = [("Origin", "http://localhost".to_owned())];
    assert_eq!(request_with(&mut world, 2, ("GET", "/api/approvals"), &same, "").0, 200);
    assert_eq!(request_with(&mut world, 3, ("POST", &target), &same, &right).0, 200);
}

#[test]
fn a_code_is_for_gateways_without_tokens() {
    let tokens = r#","auth":{"tokens":[{"token":"token-of-bob","principal":"bob","may_approve":true}]}"#;
    let mut world = ready_with("", tokens);
    world.call(1, WITHDRAW, "");
    assert!(world.notices.iter().all(|(_, fields)| string_at(fields, &["code"]).is_none()));
}

#[test]
fn only_a_token_that_may_approve_decides() {
    let tokens = r#","auth":{"tokens":[{"token":"token-of-ada","principal":"ada"},{"token":"token-of-bob","principal":"bob","may_approve":true}]}"#;
    let mut world = ready_with("", tokens);
    world.call(1, WITHDRAW, "");
    let id = proposed(&world);
    let target = format!("/api/approvals/{id}/approve");
    assert_eq!(request(&mut world, 1, "POST", &target, "").0, 401);
    assert_eq!(request(&mut world, 2, "POST", &target, "token-of-ada").0, 403);
    assert_eq!(request(&mut world, 3, "GET", "/api/approvals", "token-of-ada").0, 403);
    assert!(world.is_quiet("everyapi"));
    assert_eq!(request(&mut world, 4, "POST", &target, "token-of-bob").0, 200);
    world.read("everyapi");
}

#[test]
fn what_stands_beside_the_arguments_is_shown_and_approved_with_them() {
    let call = |meta: &str| {
        let mut world = ready();
        world.call(1, WITHDRAW, &format!(r#","arguments":{{"amount":5}},"_meta":{{"com.example/to":{meta}}}"#));
        let (_, fields) = world.notices.last().unwrap().clone();
        (world, string_at(&fields, &["arguments_digest"]).unwrap(), string_at(&fields, &["summary"]).unwrap())
    };
    let (mut world, digest, summary) = call(r#""ada""#);
    assert!(summary.contains(r#"{"amount":5} and {"_meta":{"com.example/to":"ada"}}"#), "{summary}");
    assert_ne!(call(r#""eve""#).1, digest);
    let id = proposed(&world);
    decide(&mut world, &id, true);
    assert_eq!(string_at(&world.read("everyapi"), &["params", "_meta", "com.example/to"]).as_deref(), Some("ada"));
}

fn elicited(answer: &str) -> (World, String) {
    let mut world = World::new(&guarded("", ""));
    world.open(1);
    world.say(
        1,
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}}}}"#,
    );
    serve(&mut world);
    world.call(1, WITHDRAW, r#","arguments":{"amount":5}"#);
    let asked = world.said.pop_front().unwrap().1;
    assert_eq!(string_at(&asked, &["method"]).as_deref(), Some("elicitation/create"));
    assert!(asked.contains("amount"), "{asked}");
    let question = at(&asked, &["id"]).unwrap();
    world.say(1, &format!(r#"{{"jsonrpc":"2.0","id":{question},{answer}}}"#));
    (world, question)
}

#[test]
fn the_person_in_front_of_the_client_decides() {
    let (mut world, _) = elicited(r#""result":{"action":"accept","content":{"approve":true}}"#);
    world.read("everyapi");
    for no in [
        r#""result":{"action":"accept","content":{"approve":false}}"#,
        r#""result":{"action":"accept"}"#,
        r#""result":{"action":"decline"}"#,
        r#""result":{"action":"cancel"}"#,
    ] {
        let (mut world, _) = elicited(no);
        assert_eq!(world.error(1).0, "approval_denied", "{no}");
        assert!(world.is_quiet("everyapi"));
    }
    // A client that cannot ask leaves the decision to others.
    let (mut world, question) = elicited(r#""error":{"code":-32601,"message":"no"}"#);
    assert!(world.said.is_empty());
    let id = proposed(&world);
    world.say(1, &format!(r#"{{"jsonrpc":"2.0","id":{question},"result":{{"action":"accept","content":{{"approve":true}}}}}}"#));
    assert!(world.is_quiet("everyapi"));
    decide(&mut world, &id, true);
    world.read("everyapi");
}

#[test]
fn a_call_that_waits_survives_a_restart() {
    let config = guarded("", "");
    let mut world = World::shaken(&config);
    serve(&mut world);
    world.call(1, WITHDRAW, r#","arguments":{"amount":5},"_meta":{"com.example/to":"ada"}"#);
    let (id, code) = (proposed(&world), code(&world));
    let pieces = world.gateway.snapshot(Secrets::Keep);
    let restored = Gateway::restore(genesis(0), Config::from_json(&config).unwrap(), &pieces).unwrap();
    let mut world = World::with(restored);
    world.input(Input::Tick);
    serve(&mut world);
    assert!(world.is_quiet("everyapi"));
    let target = format!("/api/approvals/{id}/approve");
    assert_eq!(request_with(&mut world, 1, ("POST", &target), &[], "").0, 403);
    assert_eq!(request_with(&mut world, 1, ("POST", &target), &[], &format!(r#"{{"code":"{code}"}}"#)).0, 200);
    let call = world.read("everyapi");
    assert_eq!(at(&call, &["params", "arguments"]).unwrap(), r#"{"amount":5}"#);
    assert_eq!(at(&call, &["params", "_meta"]).unwrap(), r#"{"com.example/to":"ada"}"#);
    decide(&mut world, &id, true);
    assert!(world.is_quiet("everyapi"));
}

#[test]
fn agents_channels_and_users_are_held_to_their_lists() {
    for (more, allowed) in [
        (r#","agents":{"default":{"mcp_servers":["everyapi"]}}"#, true),
        (r#","agents":{"default":{"mcp_servers":["every"]}}"#, false),
        (r#","agents":{"cron":{"mcp_servers":[]}},"caller":{"agent":"cron"}"#, false),
        (r#","users":[{"id":"ada","tool_policy":{"deny":["*_status"]}}],"caller":{"sender":"ada"}"#, false),
        (r#","users":[{"id":"ada"}],"caller":{"sender":"ada"}"#, true),
    ] {
        let mut world = ready_with("", more);
        world.call(1, "mcp_everyapi_everyapi_status", "");
        assert_eq!(world.is_quiet("everyapi"), !allowed, "{more}");
        if !allowed {
            assert_eq!(world.error(1).0, "blocked");
        }
    }
    let mut world = ready_with("", r#","users":[{"id":"ada"}],"caller":{"sender":"eve"}"#);
    world.call(1, "mcp_everyapi_everyapi_status", "");
    assert!(world.is_quiet("everyapi"));
    proposed(&world);
}

/// Random worlds: whatever comes in whatever order, no call runs without its approval, and none twice.
#[test]
fn no_call_runs_without_its_approval_and_none_twice() {
    let mut seed = 1_u64;
    let mut next = |bound: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % bound
    };
    for _ in 0..60 {
        let mut world = ready_with(r#","cache_approvals_per_session":false"#, "");
        let (mut approved, mut ids): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        for call in 1..40 {
            match next(5) {
                0 | 1 => {
                    world.notices.clear();
                    world.call(call, WITHDRAW, &format!(r#","arguments":{{"n":{call}}}"#));
                    if world.notices.iter().any(|(event, _)| event == "approval_proposed") {
                        ids.push(proposed(&world));
                    }
                }
                2 | 3 if !ids.is_empty() => {
                    let id = ids[next(ids.len() as u64) as usize].clone();
                    world.notices.clear();
                    let yes = next(3) > 0;
                    decide(&mut world, &id, yes);
                    let decided = world.notices.iter().any(|(event, _)| event == "approval_decided");
                    if decided && yes {
                        approved.push(id);
                    }
                }
                _ => world.advance(next(30_000)),
            }
        }
        world.event("everyapi", LinkEvent::Stderr("x".into()));
        let mut seen = Vec::new();
        while let Some((_, text)) = world.written.pop_front() {
            if string_at(&text, &["method"]).as_deref() == Some("tools/call") {
                let number = at(&text, &["params", "arguments", "n"]).unwrap();
                assert!(!seen.contains(&number), "{number} ran twice");
                seen.push(number);
            }
        }
        assert_eq!(seen.len(), approved.len());
    }
}

/// The verdict and the last gate of an explanation.
fn explained(world: &World, question: &str) -> (String, String) {
    let question = Question::read(question).unwrap();
    let told = world.gateway.explain(&question).into_string();
    let verdict = string_at(&told, &["answers", "0", "verdict"]).unwrap();
    let trace = at(&told, &["answers", "0", "trace"]).unwrap();
    let last = narrows::json::elements(narrows::json::parse(&trace, 8).unwrap()).unwrap().len() - 1;
    (verdict, string_at(&trace, &[&last.to_string(), "gate"]).unwrap())
}

#[test]
fn an_explanation_says_what_becomes_of_the_call() {
    let mut world = ready();
    let verdict = |world: &World, tool: &str| explained(world, &format!(r#"{{"tool":"{tool}"}}"#));
    assert_eq!(verdict(&world, WITHDRAW), ("ask".into(), "waiver".into()));
    assert_eq!(verdict(&world, "mcp_everyapi_everyapi_status"), ("run".into(), "approval".into()));
    assert_eq!(verdict(&world, "mcp_everyapi_everyapi_nothing"), ("refused".into(), "name".into()));
    let question = r#"{"tool":"mcp_everyapi_everyapi_status","arguments":{"password":"hunter2x"}}"#;
    assert_eq!(explained(&world, question), ("refused".into(), "scan".into()));
    world.call(1, "mcp_everyapi_everyapi_status", r#","arguments":{"password":"hunter2x"}"#);
    assert_eq!(world.error(1).0, "blocked");
    assert!(world.written.is_empty() && world.notices.iter().all(|(event, _)| event != "approval_proposed"));
    let question = format!(r#"{{"tool":"{WITHDRAW}","approved_before":true}}"#);
    assert_eq!(explained(&world, &question), ("run".into(), "waiver".into()));
}
