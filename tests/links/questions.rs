//! What servers with a handshake ask while a call runs: asked on of the client of that call in the way of its era, and
//! answered once.

use narrows::io::{Input, PeerId};

use crate::asking::{ALL, modern_call, question, shake, state_of};
use crate::world::{World, at, servers, string_at};

const TOOL: &str = "mcp_s_x";
const ASK: &str = r#""method":"elicitation/create","params":{"message":"Name?","requestedSchema":{"type":"object","properties":{}},"task":{"ttl":1},"_meta":{"progressToken":1}}"#;
const ACCEPTED: &str = r#"{"action":"accept","content":{"n":1e400}}"#;

/// A world with a server with a handshake, and a client in a session that may be asked so much.
fn world(capabilities: &str) -> World {
    let mut world = World::new(&servers(&["s"]));
    world.open(1);
    shake(&mut world, 1, capabilities);
    world.legacy("s", &["x"]);
    world.said.clear();
    world
}

/// The same with a client that shakes no hands.
fn modern(config: &str) -> World {
    let mut world = World::new(config);
    world.open(1);
    world.legacy("s", &["x"]);
    world
}

/// Calls and gives the id of the call at the server.
fn call(world: &mut World, id: u64) -> String {
    world.call(id, TOOL, "");
    at(&world.read("s"), &["id"]).unwrap()
}

fn ask(world: &mut World, id: &str) {
    world.line("s", &format!(r#"{{"jsonrpc":"2.0","id":{id},{ASK}}}"#));
}

fn complete(world: &mut World, id: &str) {
    world.line("s", &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[],"done":1}}}}"#));
}

/// The code of the error that the server was answered with.
fn refused(world: &mut World, id: &str) -> String {
    let text = world.read("s");
    assert_eq!(at(&text, &["id"]).as_deref(), Some(id), "{text}");
    at(&text, &["error", "code"]).unwrap_or_else(|| panic!("no error: {text}"))
}

#[test]
fn a_handshake_declares_what_can_be_passed_on() {
    let mut world = World::new(&servers(&["s"]));
    world.open(1);
    world.event("s", narrows::io::LinkEvent::Opened);
    world.answer("s", "server/discover", r#""error":{"code":-32601,"message":"no"}"#);
    let text = world.read("s");
    let all = r#"{"elicitation":{"form":{},"url":{}},"roots":{},"sampling":{"tools":{}}}"#;
    assert_eq!(at(&text, &["params", "capabilities"]).unwrap(), all);
}

#[test]
fn the_client_of_the_call_is_asked_and_its_answer_goes_back() {
    let mut world = world(ALL);
    let number = call(&mut world, 1);
    ask(&mut world, r#""q-7""#);
    let (text, id) = question(&mut world);
    let params = r#"{"message":"[MCP:s] Name?","requestedSchema":{"type":"object","properties":{}}}"#;
    assert_eq!(at(&text, &["params"]).unwrap(), params);
    assert!(world.is_quiet("s"));
    world.say(1, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{ACCEPTED}}}"#));
    assert_eq!(world.read("s"), format!(r#"{{"jsonrpc":"2.0","id":"q-7","result":{ACCEPTED}}}"#));
    // An answer counts once.
    world.say(1, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{ACCEPTED}}}"#));
    assert!(world.is_quiet("s"));
    complete(&mut world, &number);
    assert!(world.answered(1).contains(r#""done":1"#));
}

#[test]
fn a_client_refuses_in_its_own_words() {
    let mut world = world(ALL);
    call(&mut world, 1);
    world.line("s", r#"{"jsonrpc":"2.0","id":0,"method":"sampling/createMessage","params":{"messages":[],"tools":[]}}"#);
    let (_, id) = question(&mut world);
    world.say(1, &format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-1,"message":"rejected"}}}}"#));
    assert_eq!(world.read("s"), r#"{"jsonrpc":"2.0","id":0,"error":{"code":-1,"message":"rejected"}}"#);
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let mut idle = world(ALL);
    ask(&mut idle, "1");
    assert_eq!(refused(&mut idle, "1"), "-32601", "no call runs");
    let mut unable = world(r#"{"sampling":{}}"#);
    call(&mut unable, 1);
    ask(&mut unable, "1");
    assert_eq!(refused(&mut unable, "1"), "-32601", "not declared");
    unable.line("s", r#"{"jsonrpc":"2.0","id":2,"method":"tasks/list"}"#);
    assert_eq!(refused(&mut unable, "2"), "-32601", "not known");
    let mut several = world(ALL);
    several.open(2);
    shake(&mut several, 2, ALL);
    call(&mut several, 1);
    several.say(2, &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{TOOL}"}}}}"#));
    several.read("s");
    ask(&mut several, "1");
    assert_eq!(refused(&mut several, "1"), "-32601", "nobody knows whose it is");
    let mut flood = world(ALL);
    call(&mut flood, 1);
    for id in 0..17 {
        ask(&mut flood, &id.to_string());
    }
    assert_eq!(refused(&mut flood, "16"), "-32603");
    assert!(flood.is_quiet("s"));
}

#[test]
fn what_may_not_leave_ends_the_call() {
    let token = ["gh", "p_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].concat();
    let mut world = world(ALL);
    let number = call(&mut world, 1);
    world.line("s", r#"{"jsonrpc":"2.0","id":5,"method":"roots/list"}"#);
    let (_, id) = question(&mut world);
    world.say(1, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"roots":[{{"uri":"file:///{token}"}}]}}}}"#));
    let (code, words) = world.error(1);
    assert!(code == "blocked" && words.contains("$.roots[0].uri") && !words.contains(&token), "{words}");
    assert_eq!(refused(&mut world, "5"), "-32603");
    let cancelled = world.read("s");
    assert_eq!(at(&cancelled, &["params", "requestId"]), Some(number));
    assert!(world.is_quiet("s"));
}

#[test]
fn a_question_that_needs_no_answer_is_taken_back() {
    let mut world = world(ALL);
    let number = call(&mut world, 1);
    ask(&mut world, "8");
    let (_, id) = question(&mut world);
    world.line("s", r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}"#);
    let text = world.said.pop_front().unwrap().1;
    assert_eq!(at(&text, &["params", "requestId"]), Some(id.clone()));
    world.say(1, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{ACCEPTED}}}"#));
    assert!(world.is_quiet("s"));
    ask(&mut world, "9");
    let (_, id) = question(&mut world);
    complete(&mut world, &number);
    let text = world.said.pop_front().unwrap().1;
    assert_eq!(at(&text, &["params", "requestId"]), Some(id));
    assert!(world.answered(1).contains(r#""done":1"#));
    // The client takes its call back: the server is told, and the client nothing more.
    let number = call(&mut world, 2);
    ask(&mut world, "10");
    world.said.clear();
    world.say(1, r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#);
    assert_eq!(refused(&mut world, "10"), "-32603");
    assert_eq!(at(&world.read("s"), &["params", "requestId"]), Some(number));
    assert!(world.said.is_empty());
}

#[test]
fn people_have_longer_than_servers() {
    let mut world = world(ALL);
    call(&mut world, 1);
    ask(&mut world, "1");
    let (_, id) = question(&mut world);
    world.advance(599_000);
    assert!(world.said.is_empty());
    world.say(1, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{ACCEPTED}}}"#));
    world.read("s");
    world.advance(30_000);
    assert_eq!(world.error(1).0, "timeout");
    world.read("s");
    call(&mut world, 2);
    world.said.clear();
    ask(&mut world, "2");
    world.advance(600_000);
    assert!(world.error(2).1.contains("10 minutes"));
}

const URL: &str = "https://s.test/mcp";

#[test]
fn over_http_the_stream_says_whose_question_it_is() {
    let mut world = World::new(&format!(r#"{{"mcp_servers":[{{"name":"s","transport":{{"type":"http","url":"{URL}"}}}}]}}"#));
    for peer in [1, 2] {
        world.open(peer);
        shake(&mut world, peer, ALL);
    }
    let reply = |world: &mut World, outcome: &str| {
        let (exchange, request) = world.fetch();
        let id = at(request.body.as_deref().unwrap_or("{}"), &["id"]).unwrap_or_default();
        world.reply(exchange, 200, &[], &format!(r#"{{"jsonrpc":"2.0","id":{id},{outcome}}}"#));
    };
    reply(&mut world, r#""error":{"code":-32601,"message":"no"}"#);
    reply(&mut world, r#""result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#);
    let (initialized, _) = world.fetch();
    world.reply(initialized, 202, &[], "");
    let (standing, _) = world.fetch();
    world.reply(standing, 405, &[], "");
    reply(&mut world, r#""result":{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}"#);
    world.said.clear();
    let mut streams = Vec::new();
    for peer in [1, 2] {
        world.say(peer, &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{TOOL}"}}}}"#));
        streams.push(world.fetch().0);
    }
    world.events(streams[1], &[], &format!("data: {{\"jsonrpc\":\"2.0\",\"id\":3,{ASK}}}\n\n"));
    let (peer, text) = world.said.pop_front().unwrap();
    assert_eq!(peer, PeerId(2));
    let id = at(&text, &["id"]).unwrap();
    // Nobody else answers it.
    world.say(1, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{ACCEPTED}}}"#));
    assert!(world.fetches.is_empty());
    world.say(2, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{ACCEPTED}}}"#));
    let (_, answer) = world.fetch();
    assert_eq!(answer.body.as_deref(), Some(format!(r#"{{"jsonrpc":"2.0","id":3,"result":{ACCEPTED}}}"#).as_str()));
}

/// The call of a client that was asked by its result waits for a new session of its server, and the policy changes meanwhile.
#[test]
fn a_request_that_was_answered_is_not_answered_again_under_another_policy() {
    let servers = format!(r#""mcp_servers":[{{"name":"s","transport":{{"type":"http","url":"{URL}"}}}}]"#);
    let mut world = World::new(&format!("{{{servers}}}"));
    world.open(1);
    let reply = |world: &mut World, session: &[(&str, &str)], outcome: &str| {
        let (exchange, request) = world.fetch();
        let id = at(request.body.as_deref().unwrap_or("{}"), &["id"]).unwrap_or_default();
        world.reply(exchange, 200, session, &format!(r#"{{"jsonrpc":"2.0","id":{id},{outcome}}}"#));
    };
    reply(&mut world, &[], r#""error":{"code":-32601,"message":"no"}"#);
    let shaken = r#""result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#;
    reply(&mut world, &[("mcp-session-id", "one")], shaken);
    let (initialized, _) = world.fetch();
    world.reply(initialized, 202, &[], "");
    let (standing, _) = world.fetch();
    world.events(standing, &[], "");
    reply(&mut world, &[], r#""result":{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}"#);
    modern_call(&mut world, 1, 1, ALL, "");
    let (call, _) = world.fetch();
    world.more(standing, &format!("data: {{\"jsonrpc\":\"2.0\",\"id\":3,{ASK}}}\n\n"));
    let state = state_of(&world.answered(1));
    world.reply(call, 404, &[], "");
    let config = format!(r#"{{{servers},"agents":{{"default":{{"mcp_servers":[]}}}}}}"#);
    world.input(Input::Configure { config: narrows::config::Config::from_json(&config).unwrap().into() });
    assert!(world.said.is_empty(), "{:?}", world.said);
    retry(&mut world, 2, &state, "");
    assert_eq!(world.error(2).0, "canceled");
}

fn retry(world: &mut World, id: u64, state: &str, responses: &str) {
    modern_call(world, 1, id, ALL, &format!(r#","requestState":{state},"inputResponses":{{{responses}}}"#));
}

/// The keys of the questions in a result.
fn asked(answer: &str) -> Vec<String> {
    let requests = at(answer, &["result", "inputRequests"]).unwrap_or_else(|| panic!("no questions: {answer}"));
    let members = narrows::json::members(narrows::json::parse(&requests, 64).unwrap()).unwrap();
    members.iter().map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn a_client_without_a_session_is_asked_by_the_result_while_the_call_goes_on() {
    let mut world = modern(&servers(&["s"]));
    modern_call(&mut world, 1, 1, ALL, "");
    let number = at(&world.read("s"), &["id"]).unwrap();
    ask(&mut world, "7");
    let first = world.answered(1);
    let keys = asked(&first);
    let key = &keys[0];
    assert_eq!(string_at(&first, &["result", "inputRequests", key, "method"]).as_deref(), Some("elicitation/create"));
    // Another question comes before the client does: it is told when the client is there.
    world.line("s", r#"{"jsonrpc":"2.0","id":8,"method":"roots/list"}"#);
    let state = state_of(&first);
    retry(&mut world, 2, &state, &format!(r#""{key}":{ACCEPTED}"#));
    assert_eq!(world.read("s"), format!(r#"{{"jsonrpc":"2.0","id":7,"result":{ACCEPTED}}}"#));
    let second = world.answered(2);
    let keys = asked(&second);
    assert_eq!((keys.len(), keys[0] == *key), (1, false));
    retry(&mut world, 3, &state_of(&second), &format!(r#""{}":{{"roots":[]}}"#, keys[0]));
    assert_eq!(world.read("s"), r#"{"jsonrpc":"2.0","id":8,"result":{"roots":[]}}"#);
    complete(&mut world, &number);
    let answer = world.answered(3);
    assert!(answer.contains(r#""done":1"#) && answer.contains(r#""resultType":"complete""#), "{answer}");
    retry(&mut world, 4, &state, "");
    assert_eq!(at(&world.answered(4), &["error", "code"]).as_deref(), Some("-32602"), "the call is over");
}

/// What a server asks by a result while its client is away comes too late: the request of that client has its answer.
#[test]
fn a_request_that_was_answered_with_a_question_is_not_answered_again() {
    let link = r#"{"mode":"url","url":"https://s.test/pay","elicitationId":"e","message":"Pay"}"#;
    let asks = format!(r#"{{"resultType":"input_required","inputRequests":{{"a":{{{ASK}}}}}}}"#);
    for outcome in [
        format!(r#""error":{{"code":-32042,"message":"pay","data":{{"elicitations":[{link}]}}}}"#),
        format!(r#""result":{asks}"#),
        r#""result":{"resultType":"input_required","requestState":"s"}"#.to_owned(),
    ] {
        let mut world = modern(&servers(&["s"]));
        modern_call(&mut world, 1, 1, ALL, "");
        let number = at(&world.read("s"), &["id"]).unwrap();
        ask(&mut world, "7");
        let state = state_of(&world.answered(1));
        world.line("s", &format!(r#"{{"jsonrpc":"2.0","id":{number},{outcome}}}"#));
        assert!(world.said.is_empty(), "{outcome}: {:?}", world.said);
        retry(&mut world, 2, &state, "");
        assert_eq!(world.error(2).0, "canceled", "{outcome}");
        retry(&mut world, 3, &state, "");
        assert_eq!(at(&world.answered(3), &["error", "code"]).as_deref(), Some("-32602"));
        assert!(world.is_quiet("s") && world.said.is_empty());
    }
}

#[test]
fn an_outcome_waits_for_its_client_for_a_while() {
    for (ms, is_there) in [(1000, true), (599_000, true), (601_000, false)] {
        let mut world = modern(&servers(&["s"]));
        modern_call(&mut world, 1, 1, ALL, "");
        let number = at(&world.read("s"), &["id"]).unwrap();
        ask(&mut world, "7");
        let state = state_of(&world.answered(1));
        complete(&mut world, &number);
        world.advance(ms);
        retry(&mut world, 2, &state, "");
        let answer = world.answered(2);
        assert_eq!(answer.contains(r#""done":1"#), is_there, "{answer}");
    }
}

#[test]
fn nobody_comes_back_to_another_s_call() {
    let mut world = modern(&servers(&["s"]));
    modern_call(&mut world, 1, 1, ALL, "");
    world.read("s");
    ask(&mut world, "7");
    let answer = world.answered(1);
    let (state, key) = (state_of(&answer), asked(&answer).remove(0));
    world.open(2);
    let more = format!(r#","requestState":{state},"inputResponses":{{"{key}":{ACCEPTED}}}"#);
    modern_call(&mut world, 2, 2, ALL, &more);
    assert_eq!(at(&world.answered(2), &["error", "code"]).as_deref(), Some("-32602"));
    assert!(world.is_quiet("s"));
    // Two at once are one too many.
    retry(&mut world, 3, &state, &format!(r#""{key}":{ACCEPTED}"#));
    world.read("s");
    retry(&mut world, 4, &state, &format!(r#""{key}":{ACCEPTED}"#));
    assert_eq!(at(&world.answered(4), &["error", "code"]).as_deref(), Some("-32602"));
    assert!(world.is_quiet("s"));
}

#[test]
fn a_client_that_is_gone_leaves_nothing_behind() {
    let mut world = modern(&servers(&["s"]));
    modern_call(&mut world, 1, 1, ALL, "");
    let number = at(&world.read("s"), &["id"]).unwrap();
    ask(&mut world, "7");
    world.input(Input::Closed { peer: PeerId(1) });
    assert_eq!(refused(&mut world, "7"), "-32603");
    assert_eq!(at(&world.read("s"), &["params", "requestId"]), Some(number));
}

#[test]
fn only_so_many_calls_wait_for_one_client() {
    let mut world = modern(&servers(&["s"]));
    for id in 1..=17 {
        modern_call(&mut world, 1, id, ALL, "");
        world.read("s");
        ask(&mut world, &id.to_string());
        if id < 17 {
            world.answered(id);
        }
    }
    assert_eq!(refused(&mut world, "17"), "-32601");
}

fn guarded(more: &str) -> String {
    let servers = servers(&["s"]);
    let servers = servers.strip_suffix('}').unwrap();
    format!(r#"{servers},"approval":{{"require_approval":["{TOOL}"],"cache_approvals_per_session":false{more}}}}}"#)
}

fn proposed(world: &World) -> String {
    let (_, fields) = world.notices.iter().rev().find(|(event, _)| event == "approval_proposed").expect("nothing was proposed");
    string_at(fields, &["id"]).unwrap()
}

#[test]
fn the_user_of_a_client_without_a_session_decides() {
    for (said, runs) in [
        (r#"{"action":"accept","content":{"approve":true}}"#, true),
        (r#"{"action":"accept","content":{"approve":false}}"#, false),
        (r#"{"action":"decline"}"#, false),
    ] {
        let mut world = modern(&guarded(""));
        modern_call(&mut world, 1, 1, ALL, r#","arguments":{"q":1.0}"#);
        let answer = world.answered(1);
        let (state, key) = (state_of(&answer), asked(&answer).remove(0));
        assert!(at(&answer, &["result", "inputRequests", &key, "params", "message"]).unwrap().contains("Allow this call?"));
        assert!(world.is_quiet("s"));
        let more = format!(r#","arguments":{{"q":1.0}},"requestState":{state},"inputResponses":{{"{key}":{said}}}"#);
        modern_call(&mut world, 1, 2, ALL, &more);
        if runs {
            let call = world.read("s");
            assert_eq!(at(&call, &["params", "arguments"]).unwrap(), r#"{"q":1.0}"#);
            complete(&mut world, &at(&call, &["id"]).unwrap());
            assert!(world.answered(2).contains(r#""done":1"#));
        } else {
            assert_eq!(world.error(2).0, "approval_denied");
        }
        modern_call(&mut world, 1, 3, ALL, &more);
        assert_eq!(at(&world.answered(3), &["error", "code"]).as_deref(), Some("-32602"));
        assert!(world.is_quiet("s"));
    }
}

#[test]
fn a_decision_elsewhere_counts_when_the_client_comes_back() {
    for approved in [true, false] {
        let mut world = modern(&guarded(""));
        modern_call(&mut world, 1, 1, ALL, "");
        let state = state_of(&world.answered(1));
        // Whoever comes back without an answer is asked again.
        retry(&mut world, 2, &state, "");
        let state = state_of(&world.answered(2));
        let approval = proposed(&world);
        world.input(Input::Decision { approval, approved, reason: None });
        assert!(world.is_quiet("s"));
        retry(&mut world, 3, &state, "");
        if approved {
            world.read("s");
        } else {
            assert_eq!(world.error(3).0, "approval_denied");
        }
    }
    let mut world = modern(&guarded(""));
    modern_call(&mut world, 1, 1, ALL, "");
    let state = state_of(&world.answered(1));
    let approval = proposed(&world);
    world.input(Input::Decision { approval, approved: true, reason: None });
    world.advance(61_000);
    retry(&mut world, 2, &state, "");
    assert_eq!(world.error(2).0, "approval_denied");
    assert!(world.is_quiet("s"), "an approval that nobody came back for is used up by nobody");
}

#[test]
fn who_comes_back_with_no_is_not_given_what_somebody_else_allowed() {
    let mut world = modern(&guarded(""));
    modern_call(&mut world, 1, 1, ALL, "");
    let answer = world.answered(1);
    let (state, key) = (state_of(&answer), asked(&answer).remove(0));
    let approval = proposed(&world);
    world.input(Input::Decision { approval, approved: true, reason: None });
    retry(&mut world, 2, &state, &format!(r#""{key}":{{"action":"decline"}}"#));
    assert_eq!(world.error(2).0, "approval_denied");
    assert!(world.is_quiet("s"));
}

#[test]
fn a_client_that_may_not_decide_is_not_asked() {
    for config in [guarded(r#","elicitation":false"#), guarded("")] {
        let mut world = modern(&config);
        modern_call(&mut world, 1, 1, if config.contains("false,\"elicitation\"") { ALL } else { "{}" }, "");
        assert!(world.said.is_empty() && world.is_quiet("s"));
        let approval = proposed(&world);
        world.input(Input::Decision { approval, approved: true, reason: None });
        world.read("s");
    }
}
