//! Servers that want to be told more before they answer (MCP 2026-07-28, multi-round-trip requests): asked on in the way
//! of the caller's era, answered once, and nothing of it for anybody else.

use narrows::config::Config;
use narrows::gateway::{Gateway, Secrets};
use narrows::io::{Input, PeerId};

use crate::world::{World, at, genesis, servers, string_at};

pub const ALL: &str = r#"{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{}}"#;
const TOOL: &str = "mcp_s_x";
/// A state with spellings that a parser would not write again.
const STATE: &str = r#""\u00e9\/ {\"a\":1.0}""#;
const CONFIRM: &str = r#""confirm":{"method":"elicitation/create","params":{"message":"Sure?","requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean"}}},"vendor":1e400,"_meta":{"progressToken":9,"a.test/b":1}}}"#;
const ACCEPTED: &str = r#"{"action":"accept","content":{"ok":true}}"#;

/// A world with a server without handshakes, and a client in a session that may be asked so much.
fn legacy_host(config: &str, capabilities: &str) -> World {
    let mut world = World::new(config);
    world.open(1);
    shake(&mut world, 1, capabilities);
    world.modern("s", &["x"]);
    world.said.clear();
    world
}

pub fn shake(world: &mut World, peer: u64, capabilities: &str) {
    let hands = format!(r#""protocolVersion":"2025-11-25","capabilities":{capabilities}"#);
    world.say(peer, &format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{{hands}}}}}"#));
}

/// The same with a client that shakes no hands.
fn modern_host(config: &str) -> World {
    let mut world = World::new(config);
    world.open(1);
    world.modern("s", &["x"]);
    world
}

pub fn modern_call(world: &mut World, peer: u64, id: u64, capabilities: &str, more: &str) {
    let meta = format!(
        r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{capabilities}"#
    );
    let params = format!(r#""name":"{TOOL}","_meta":{{{meta}}}{more}"#);
    world.say(peer, &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{{params}}}}}"#));
}

/// The server asks instead of answering; gives the request that it asked about.
fn ask(world: &mut World, requests: &str, state: &str) -> String {
    let call = world.read("s");
    let id = at(&call, &["id"]).unwrap();
    let result = format!(r#""resultType":"input_required","inputRequests":{{{requests}}}{state}"#);
    world.line("s", &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{{result}}}}}"#));
    call
}

fn complete(world: &mut World, call: &str) {
    let id = at(call, &["id"]).unwrap();
    world.line("s", &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","content":[],"done":1}}}}"#));
}

/// The next question to the client, as a request of its own, and its id.
pub fn question(world: &mut World) -> (String, String) {
    let (_, text) = world.said.pop_front().expect("a question");
    let id = at(&text, &["id"]).unwrap();
    (text, id)
}

pub fn state_of(answer: &str) -> String {
    at(answer, &["result", "requestState"]).unwrap_or_else(|| panic!("no state: {answer}"))
}

fn retry(world: &mut World, id: u64, state: &str, responses: &str) {
    modern_call(world, 1, id, ALL, &format!(r#","requestState":{state},"inputResponses":{{{responses}}}"#));
}

#[test]
fn a_client_in_a_session_is_asked_by_a_request_of_its_own() {
    let mut world = legacy_host(&servers(&["s"]), ALL);
    world.call(1, TOOL, r#","arguments":{"q":1.0}"#);
    let first = ask(&mut world, CONFIRM, &format!(r#","requestState":{STATE}"#));
    let declared = ["params", "_meta", "io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(at(&first, &declared).unwrap(), r#"{"elicitation":{"form":{},"url":{}},"roots":{},"sampling":{"tools":{}}}"#);
    let (text, id) = question(&mut world);
    assert_eq!(string_at(&text, &["method"]).as_deref(), Some("elicitation/create"));
    let params = r#"{"message":"[MCP:s] Sure?","requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean"}}},"vendor":1e400,"_meta":{"a.test/b":1}}"#;
    assert_eq!(at(&text, &["params"]).unwrap(), params);
    assert!(world.is_quiet("s"));
    world.say(1, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{ACCEPTED}}}"#));
    let second = world.read("s");
    assert_ne!(at(&second, &["id"]), at(&first, &["id"]));
    assert_eq!(at(&second, &["params", "arguments"]).unwrap(), r#"{"q":1.0}"#);
    assert_eq!(at(&second, &["params", "requestState"]).unwrap(), STATE);
    assert_eq!(at(&second, &["params", "inputResponses"]).unwrap(), format!(r#"{{"confirm":{ACCEPTED}}}"#));
    complete(&mut world, &second);
    assert_eq!(at(&world.answered(1), &["result"]).unwrap(), r#"{"content":[],"done":1}"#);
}

/// What waited because too much was told within a second is told before the answer, a question as any other.
#[test]
fn the_last_word_of_progress_comes_before_a_question_by_the_result() {
    let mut world = modern_host(&servers(&["s"]));
    let meta = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"progressToken":"p""#;
    let params = format!(r#"{{"name":"{TOOL}","_meta":{{{meta}}}}}"#);
    world.say(1, &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#));
    let call = world.read("s");
    let token = at(&call, &["params", "_meta", "progressToken"]).unwrap();
    for progress in 1..=15 {
        let params = format!(r#"{{"progressToken":{token},"progress":{progress}}}"#);
        world.line("s", &format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}"#));
    }
    let id = at(&call, &["id"]).unwrap();
    world.line(
        "s",
        &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"input_required","inputRequests":{{{CONFIRM}}}}}}}"#),
    );
    let told: Vec<_> = world.said.drain(..).map(|(_, text)| at(&text, &["params", "progress"])).collect();
    assert_eq!((told.len(), told[10].as_deref(), &told[11]), (12, Some("15"), &None));
    world.advance(2000);
    assert!(world.said.is_empty());
}

#[test]
fn a_client_without_a_session_is_asked_by_the_result_and_comes_back() {
    let mut world = modern_host(&servers(&["s"]));
    modern_call(&mut world, 1, 1, ALL, r#","arguments":{"q":1.0}"#);
    let first = ask(&mut world, CONFIRM, &format!(r#","requestState":{STATE}"#));
    let asked = world.answered(1);
    assert_eq!(string_at(&asked, &["result", "resultType"]).as_deref(), Some("input_required"));
    assert_eq!(string_at(&asked, &["result", "inputRequests", "confirm", "params", "message"]).as_deref(), Some("[MCP:s] Sure?"));
    let state = state_of(&asked);
    modern_call(
        &mut world,
        1,
        2,
        ALL,
        &format!(r#","arguments":{{"q":1.0}},"requestState":{state},"inputResponses":{{"confirm":{ACCEPTED}}}"#),
    );
    let second = world.read("s");
    assert_ne!(at(&second, &["id"]), at(&first, &["id"]));
    assert_eq!(at(&second, &["params", "requestState"]).unwrap(), STATE);
    assert_eq!(at(&second, &["params", "inputResponses"]).unwrap(), format!(r#"{{"confirm":{ACCEPTED}}}"#));
    complete(&mut world, &second);
    assert!(world.answered(2).contains(r#""done":1"#));
}

#[test]
fn a_server_that_gave_no_state_gets_none() {
    let mut world = modern_host(&servers(&["s"]));
    modern_call(&mut world, 1, 1, ALL, "");
    ask(&mut world, CONFIRM, "");
    let state = state_of(&world.answered(1));
    retry(&mut world, 2, &state, r#""confirm":{"action":"decline"}"#);
    let second = world.read("s");
    assert_eq!(at(&second, &["params", "requestState"]), None);
    assert_eq!(at(&second, &["params", "inputResponses"]).unwrap(), r#"{"confirm":{"action":"decline"}}"#);
}

#[test]
fn answers_that_nobody_asked_for_go_nowhere() {
    let mut world = modern_host(&servers(&["s"]));
    modern_call(&mut world, 1, 1, ALL, &format!(r#","inputResponses":{{"confirm":{ACCEPTED}}}"#));
    assert_eq!(at(&world.read("s"), &["params", "inputResponses"]), None);
}

#[test]
fn a_state_is_good_for_its_call_its_user_and_a_day() {
    let mut world = modern_host(&servers(&["s"]));
    modern_call(&mut world, 1, 1, ALL, "");
    ask(&mut world, CONFIRM, &format!(r#","requestState":{STATE}"#));
    let state = state_of(&world.answered(1));
    let refused = |world: &mut World, peer: u64, more: &str| {
        modern_call(world, peer, 9, ALL, more);
        let answer = world.answered(9);
        assert_eq!(at(&answer, &["error", "code"]).as_deref(), Some("-32602"), "{answer}");
        assert!(world.is_quiet("s"));
    };
    let tampered = state.replacen("round", "sound", 1);
    let responses = format!(r#","inputResponses":{{"confirm":{ACCEPTED}}}"#);
    refused(&mut world, 1, &format!(r#","requestState":{tampered}{responses}"#));
    refused(&mut world, 1, &format!(r#","requestState":{state},"arguments":{{"q":2}}{responses}"#));
    world.open(2);
    refused(&mut world, 2, &format!(r#","requestState":{state}{responses}"#));
    world.advance(86_400_000);
    refused(&mut world, 1, &format!(r#","requestState":{state}{responses}"#));
}

#[test]
fn a_client_is_asked_for_what_it_declared_alone() {
    for (declared, request) in [
        ("{}", r#""a":{"method":"roots/list"}"#),
        (r#"{"elicitation":{}}"#, r#""a":{"method":"elicitation/create","params":{"mode":"url","url":"https://a.test"}}"#),
        (r#"{"elicitation":{"url":{}}}"#, r#""a":{"method":"elicitation/create","params":{"message":"m"}}"#),
        (r#"{"sampling":{}}"#, r#""a":{"method":"sampling/createMessage","params":{"tools":[]}}"#),
    ] {
        let mut world = legacy_host(&servers(&["s"]), declared);
        world.call(1, TOOL, "");
        ask(&mut world, request, "");
        assert_eq!(world.error(1).0, "unsupported");
        let mut world = modern_host(&servers(&["s"]));
        modern_call(&mut world, 1, 1, declared, "");
        ask(&mut world, request, "");
        let answer = world.answered(1);
        assert_eq!(at(&answer, &["error", "code"]).as_deref(), Some("-32021"), "{answer}");
        assert!(at(&answer, &["error", "data", "requiredCapabilities"]).is_some() && world.is_quiet("s"));
    }
}

#[test]
fn what_a_person_answers_is_held_to_the_rules_for_what_leaves() {
    let token = ["gh", "p_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].concat();
    let answer = format!(r#"{{"action":"accept","content":{{"t":"{token}"}}}}"#);
    let mut world = legacy_host(&servers(&["s"]), ALL);
    world.call(1, TOOL, "");
    ask(&mut world, CONFIRM, "");
    let (_, id) = question(&mut world);
    world.say(1, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{answer}}}"#));
    let (code, words) = world.error(1);
    assert!(code == "blocked" && words.contains("$.content.t") && !words.contains(&token), "{words}");
    assert!(world.is_quiet("s"));

    let mut world = modern_host(&servers(&["s"]));
    modern_call(&mut world, 1, 1, ALL, "");
    ask(&mut world, CONFIRM, "");
    let state = state_of(&world.answered(1));
    retry(&mut world, 2, &state, &format!(r#""confirm":{answer}"#));
    assert!(world.answered(2).contains(r#""code":"blocked""#) && world.is_quiet("s"));
}

#[test]
fn a_client_that_refuses_ends_the_call() {
    let mut world = legacy_host(&servers(&["s"]), ALL);
    world.call(1, TOOL, "");
    ask(&mut world, r#""a":{"method":"sampling/createMessage","params":{"messages":[]}}"#, "");
    let (_, id) = question(&mut world);
    world.say(1, &format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-1,"message":"not now"}}}}"#));
    let (code, words) = world.error(1);
    assert!(code == "canceled" && words.contains("not now"), "{words}");
    assert!(world.is_quiet("s"));
}

#[test]
fn a_server_that_asks_nothing_is_asked_again_but_not_for_ever() {
    let mut world = legacy_host(&servers(&["s"]), ALL);
    world.call(1, TOOL, "");
    let mut rounds = 0;
    while !world.is_quiet("s") {
        rounds += 1;
        let call = ask(&mut world, "", &format!(r#","requestState":"{rounds}""#));
        let before = (rounds > 1).then(|| format!(r#""{}""#, rounds - 1));
        assert_eq!(at(&call, &["params", "requestState"]), before);
    }
    assert_eq!((rounds, world.error(1).0.as_str()), (65, "protocol_error"));
}

#[test]
fn questions_that_make_no_sense_are_the_server_s_fault() {
    let many: Vec<String> = (0..17).map(|at| format!(r#""{at}":{{"method":"roots/list"}}"#)).collect();
    for requests in ["", r#""a":{"method":"tasks/get"}"#, r#""a":7"#, &many.join(",")] {
        let mut world = legacy_host(&servers(&["s"]), ALL);
        world.call(1, TOOL, "");
        ask(&mut world, requests, "");
        assert_eq!(world.error(1).0, "protocol_error", "{requests}");
    }
}

#[test]
fn a_credential_in_the_state_of_a_server_is_not_given_to_the_client() {
    let config = r#"{"mcp_servers":[{"name":"s","transport":{"type":"stdio","command":"s"},"env":["KEY=hunter2hunter2"]}],"external_agents":[{"name":"a","url":"https://a.test","headers":{"Authorization":"Bearer hunter2hunter2"}}]}"#;
    let mut world = legacy_host(config, ALL);
    world.call(1, TOOL, "");
    ask(&mut world, CONFIRM, r#","requestState":"hunter2hunter2""#);
    let text = world.answered(1);
    assert!(text.contains("protocol_error") && !text.contains("hunter2"), "{text}");
}

/// A configuration in which every call of that tool waits for a person, each time.
fn guarded() -> String {
    let servers = servers(&["s"]);
    let servers = servers.strip_suffix('}').unwrap();
    format!(r#"{servers},"approval":{{"require_approval":["{TOOL}"],"cache_approvals_per_session":false,"elicitation":false}}}}"#)
}

fn approve(world: &mut World) {
    let (_, fields) = world.notices.iter().rev().find(|(event, _)| event == "approval_proposed").expect("nothing was proposed");
    let approval = string_at(fields, &["id"]).unwrap();
    world.input(Input::Decision { approval, approved: true, reason: None });
}

#[test]
fn an_approval_holds_for_all_rounds_of_its_call_and_for_each_once() {
    let mut world = modern_host(&guarded());
    modern_call(&mut world, 1, 1, ALL, "");
    assert!(world.is_quiet("s"));
    approve(&mut world);
    ask(&mut world, CONFIRM, "");
    let state = state_of(&world.answered(1));
    let responses = format!(r#""confirm":{ACCEPTED}"#);
    retry(&mut world, 2, &state, &responses);
    ask(&mut world, CONFIRM, "");
    let next = state_of(&world.answered(2));
    assert_ne!(next, state);
    // What was answered once is not answered again under the same approval.
    retry(&mut world, 3, &state, &responses);
    assert!(world.is_quiet("s"));
    retry(&mut world, 4, &next, &responses);
    let third = world.read("s");
    complete(&mut world, &third);
    assert!(world.answered(4).contains(r#""done":1"#) && world.is_quiet("s"));
}

#[test]
fn a_question_survives_a_restart() {
    let config = servers(&["s"]);
    let mut world = legacy_host(&config, ALL);
    world.call(1, TOOL, r#","arguments":{"q":1}"#);
    ask(&mut world, CONFIRM, &format!(r#","requestState":{STATE}"#));
    let (_, id) = question(&mut world);
    let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{ACCEPTED}}}"#);
    let pieces = world.gateway.snapshot(Secrets::Keep);
    for is_back in [true, false] {
        let restored = Gateway::restore(genesis(0), Config::from_json(&config).unwrap(), &pieces).unwrap();
        let mut world = World::with(restored);
        world.input(Input::Tick);
        if is_back {
            world.modern("s", &["x"]);
        }
        world.said.clear();
        world.say(1, &answer);
        if is_back {
            let second = world.read("s");
            assert_eq!(at(&second, &["params", "requestState"]).unwrap(), STATE);
            assert_eq!(at(&second, &["params", "arguments"]).unwrap(), r#"{"q":1}"#);
        } else {
            assert_eq!(world.error(1).0, "unreachable");
        }
    }
}

#[test]
fn a_state_survives_a_restart() {
    let config = servers(&["s"]);
    let mut world = modern_host(&config);
    modern_call(&mut world, 1, 1, ALL, "");
    ask(&mut world, CONFIRM, &format!(r#","requestState":{STATE}"#));
    let state = state_of(&world.answered(1));
    let pieces = world.gateway.snapshot(Secrets::Keep);
    let mut other = genesis(0);
    other.seed = [8; 32];
    let mut world = World::with(Gateway::restore(other, Config::from_json(&config).unwrap(), &pieces).unwrap());
    world.input(Input::Tick);
    world.modern("s", &["x"]);
    retry(&mut world, 2, &state, &format!(r#""confirm":{ACCEPTED}"#));
    assert_eq!(at(&world.read("s"), &["params", "requestState"]).unwrap(), STATE);
}

#[test]
fn an_approval_holds_for_the_rounds_after_a_restart() {
    let mut world = modern_host(&guarded());
    modern_call(&mut world, 1, 1, ALL, "");
    approve(&mut world);
    ask(&mut world, CONFIRM, "");
    let state = state_of(&world.answered(1));
    let pieces = world.gateway.snapshot(Secrets::Keep);
    let mut world = World::with(Gateway::restore(genesis(0), Config::from_json(&guarded()).unwrap(), &pieces).unwrap());
    world.input(Input::Tick);
    world.modern("s", &["x"]);
    for (id, is_first) in [(2, true), (3, false)] {
        retry(&mut world, id, &state, &format!(r#""confirm":{ACCEPTED}"#));
        assert_eq!(world.is_quiet("s"), !is_first);
        world.written.clear();
    }
}

/// A server with a handshake refuses a call until the user has opened a link.
fn refuse_for_links(world: &mut World) -> String {
    let call = world.read("s");
    let id = at(&call, &["id"]).unwrap();
    let link = r#"{"mode":"url","elicitationId":"e-1","url":"https://bank.test/pay","message":"Pay?"}"#;
    let error = format!(r#"{{"code":-32042,"message":"first pay","data":{{"elicitations":[{link}]}}}}"#);
    world.line("s", &format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#));
    call
}

#[test]
fn links_to_be_opened_first_are_a_question_of_the_era_without_sessions() {
    let mut world = World::new(&servers(&["s"]));
    world.open(1);
    world.legacy("s", &["x"]);
    modern_call(&mut world, 1, 1, ALL, "");
    refuse_for_links(&mut world);
    let answer = world.answered(1);
    let request = at(&answer, &["result", "inputRequests", "link-0"]).unwrap();
    let params = r#"{"mode":"url","url":"https://bank.test/pay","message":"[MCP:s] Pay?"}"#;
    assert_eq!(request, format!(r#"{{"method":"elicitation/create","params":{params}}}"#));
    let state = state_of(&answer);
    retry(&mut world, 2, &state, r#""link-0":{"action":"accept"}"#);
    // It is called once more as it was called first, and asks once more where the user was too quick.
    let second = refuse_for_links(&mut world);
    assert_eq!(at(&second, &["params"]).unwrap(), r#"{"name":"x","arguments":{}}"#);
    let state = state_of(&world.answered(2));
    retry(&mut world, 3, &state, r#""link-0":{"action":"decline"}"#);
    assert_eq!(world.error(3).0, "canceled");
    assert!(world.is_quiet("s"));
    retry(&mut world, 4, &state, r#""link-0":{"action":"accept"}"#);
    let third = world.read("s");
    complete(&mut world, &third);
    assert!(world.answered(4).contains(r#""done":1"#));
    // Who cannot open links is told what is needed, and who has the error of its own gets it as it is.
    modern_call(&mut world, 1, 5, r#"{"elicitation":{}}"#, "");
    refuse_for_links(&mut world);
    assert_eq!(at(&world.answered(5), &["error", "code"]).as_deref(), Some("-32021"));
    world.open(2);
    shake(&mut world, 2, ALL);
    world.said.clear();
    world.say(2, &format!(r#"{{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{{"name":"{TOOL}"}}}}"#));
    refuse_for_links(&mut world);
    let told = world.answered(6);
    assert_eq!(at(&told, &["error", "code"]).as_deref(), Some("-32042"));
    assert_eq!(string_at(&told, &["error", "data", "elicitations", "0", "elicitationId"]).as_deref(), Some("e-1"));
}

#[test]
fn a_link_has_an_id_where_its_client_needs_one() {
    let mut world = legacy_host(&servers(&["s"]), ALL);
    world.call(1, TOOL, "");
    let link = r#""pay":{"method":"elicitation/create","params":{"mode":"url","url":"https://bank.test/pay","message":"Pay?"}}"#;
    ask(&mut world, link, "");
    let (text, _) = question(&mut world);
    assert!(!string_at(&text, &["params", "elicitationId"]).unwrap().is_empty(), "{text}");
}

#[test]
fn a_client_that_leaves_or_cancels_is_asked_nothing_more() {
    let mut world = legacy_host(&servers(&["s"]), ALL);
    world.call(1, TOOL, "");
    ask(&mut world, CONFIRM, "");
    let (_, id) = question(&mut world);
    world.say(1, r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    world.say(1, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{ACCEPTED}}}"#));
    assert!(world.is_quiet("s") && world.said.is_empty());
    world.call(2, TOOL, "");
    ask(&mut world, CONFIRM, "");
    world.input(Input::Closed { peer: PeerId(1) });
    assert!(world.is_quiet("s"));
}
