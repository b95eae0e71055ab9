//! What waits for a person outlives the gateway: a call whose client was asked by its result is brought back, one whose
//! connection went is made again, and each goes out once.

use narrows::config::Config;
use narrows::gateway::{Gateway, Genesis, Secrets};
use narrows::io::{Input, PeerId, Request, RequestId};

use crate::asking::{ALL, modern_call, state_of};
use crate::world::{MODERN, World, at, genesis, servers, string_at};

const TOOL: &str = "mcp_s_x";
const YES: &str = r#"{"action":"accept","content":{"approve":true}}"#;
const NO: &str = r#"{"action":"decline"}"#;
const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// A world whose every call waits, with callers over HTTP of whom eve decides, and a client at the door.
struct Story {
    config: String,
    world: World,
    requests: u64,
}

impl Story {
    fn new(more: &str) -> Self {
        Self::with(&format!(r#""require_approval":true,"cache_approvals_per_session":false{more}"#))
    }

    fn with(approval: &str) -> Self {
        let servers = servers(&["s"]);
        let servers = servers.strip_suffix('}').unwrap();
        let token = |name: &str, more: &str| format!(r#"{{"token":"token-of-{name}","principal":"{name}"{more}}}"#);
        let tokens = [token("ada", ""), token("bob", ""), token("eve", r#","may_approve":true"#)].join(",");
        let config = format!(r#"{servers},"storage":true,"auth":{{"tokens":[{tokens}]}},"approval":{{{approval}}}}}"#);
        let mut world = World::new(&config);
        world.open(1);
        world.legacy("s", &["x"]);
        Self { config, world, requests: 0 }
    }

    /// The gateway ends without a word, and goes on from what is kept, which is what a snapshot holds.
    fn restart(&mut self) {
        let now = self.world.now;
        let unix_ms = genesis(0).unix_ms;
        let birth = Genesis { seed: [9; 32], unix_ms: narrows::time::WallTime(unix_ms.0 + now as i64), ..genesis(now) };
        let restore = |pieces: &[String]| Gateway::restore(birth, Config::from_json(&self.config).unwrap(), pieces).unwrap();
        let kept: Vec<String> = self.world.saved.values().flatten().cloned().collect();
        let (from_kept, from_whole) = (restore(&kept), restore(&self.world.gateway.snapshot(Secrets::Keep)));
        assert_eq!(from_kept.snapshot(Secrets::Keep), from_whole.snapshot(Secrets::Keep));
        let saved = std::mem::take(&mut self.world.saved);
        self.world = World::with(from_kept);
        self.world.now = now;
        for (key, pieces) in saved {
            self.world.saved.entry(key).or_insert(pieces);
        }
        self.world.input(Input::Tick);
        // A client that went before the gateway ended is known no more.
        let _gone = self.world.try_input(Input::Closed { peer: PeerId(1) });
        self.world.open(1);
        self.world.legacy("s", &["x"]);
    }

    /// A request over HTTP: the status of its response and what it says so far.
    fn http(&mut self, (method, target): (&str, &str), name: &str, more: &[(&str, &str)], body: &str) -> (u16, String) {
        self.requests += 1;
        let request = RequestId(self.requests);
        let mut headers = vec![("Host".to_owned(), "localhost".to_owned())];
        headers.push(("Authorization".to_owned(), format!("Bearer token-of-{name}")));
        headers.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        self.world.responses.clear();
        self.world.input(Input::Request { request, method: method.into(), target: target.into(), headers });
        if self.world.responses.is_empty() {
            self.world.input(Input::RequestBody { request, bytes: body.as_bytes().to_vec() });
            self.world.input(Input::RequestEnd { request });
        }
        self.world.responses.last().cloned().unwrap_or_default()
    }

    /// A call of the era without sessions by a client that cannot be asked.
    fn call(&mut self, name: &str, arguments: &str, meta: &str) -> (u16, String) {
        let params = format!(r#"{{"name":"{TOOL}","arguments":{arguments},"_meta":{{{MODERN}{meta}}}}}"#);
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        let more = [
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", TOOL),
        ];
        self.http(("POST", "/mcp"), name, &more, &body)
    }

    fn decide(&mut self, id: &str, verb: &str) -> u16 {
        self.http(("POST", &format!("/api/approvals/{id}/{verb}")), "eve", &[], r#"{"reason":"as eve says"}"#).0
    }

    /// A request for an approval as whoever decides sees it.
    fn told(&mut self, id: &str) -> String {
        self.http(("GET", &format!("/api/approvals/{id}")), "eve", &[], "").1
    }

    fn state(&mut self, id: &str) -> String {
        string_at(&self.told(id), &["state"]).unwrap()
    }

    /// The ids of the requests that wait.
    fn pending(&mut self) -> Vec<String> {
        let list = self.http(("GET", "/api/approvals?state=pending"), "eve", &[], "").1;
        let items = at(&list, &["items"]).unwrap();
        let items = narrows::json::elements(narrows::json::parse(&items, 64).unwrap()).unwrap();
        items.iter().map(|item| string_at(item.get(), &["id"]).unwrap()).collect()
    }

    /// The arguments with which the one call went out.
    fn went_out(&mut self) -> String {
        let call = self.world.read("s");
        assert!(self.world.is_quiet("s"));
        assert_eq!(string_at(&call, &["method"]).as_deref(), Some("tools/call"));
        at(&call, &["params", "arguments"]).unwrap()
    }

    /// Calls as the client at the door does who can be asked; gives what brings it back, and the key of the question.
    fn park(&mut self) -> (String, String) {
        modern_call(&mut self.world, 1, 1, ALL, r#","arguments":{"q":1.0}"#);
        let answer = self.world.answered(1);
        let requests = at(&answer, &["result", "inputRequests"]).unwrap();
        let members = narrows::json::members(narrows::json::parse(&requests, 64).unwrap()).unwrap();
        let key = members.iter().next().unwrap().0.to_owned();
        (state_of(&answer), key)
    }

    fn come_back(&mut self, id: u64, state: &str, responses: &str) {
        let more = format!(r#","arguments":{{"q":1.0}},"requestState":{state},"inputResponses":{{{responses}}}"#);
        modern_call(&mut self.world, 1, id, ALL, &more);
    }

    /// The code of the error of JSON-RPC that a request was answered with.
    fn refused(&mut self, id: u64) -> Option<String> {
        at(&self.world.answered(id), &["error", "code"])
    }
}

#[test]
fn who_was_asked_by_a_result_comes_back_after_a_restart() {
    for (said, runs) in [(YES, true), (NO, false)] {
        let mut story = Story::new(r#","elicitation":true"#);
        let (state, key) = story.park();
        let [id] = story.pending().try_into().unwrap();
        story.restart();
        story.restart();
        assert_eq!(story.pending(), [id.as_str()]);
        // Whoever comes back without an answer is asked the same once more.
        story.come_back(2, &state, "");
        let again = story.world.answered(2);
        assert!(at(&again, &["result", "inputRequests", &key, "params", "message"]).unwrap().contains("Allow this call?"));
        story.come_back(3, &state_of(&again), &format!(r#""{key}":{said}"#));
        if runs {
            assert_eq!(story.went_out(), r#"{"q":1.0}"#);
        } else {
            assert_eq!(story.world.error(3).0, "approval_denied");
        }
        story.come_back(4, &state, &format!(r#""{key}":{said}"#));
        assert_eq!(story.refused(4).as_deref(), Some("-32602"));
        story.restart();
        story.come_back(5, &state, &format!(r#""{key}":{said}"#));
        assert_eq!(story.refused(5).as_deref(), Some("-32602"));
        assert!(story.world.is_quiet("s"));
        assert_eq!(story.state(&id), if runs { "executed" } else { "rejected" });
    }
}

/// How a process that serves a client on its own streams ends: without a word, as it is told to, or with its input.
const ENDS: [&[Input]; 3] = [&[], &[Input::Stop, Input::Closed { peer: PeerId(1) }], &[Input::Closed { peer: PeerId(1) }]];

#[test]
fn who_was_asked_by_a_result_comes_back_however_the_process_ended() {
    for end in ENDS {
        let mut story = Story::new(r#","elicitation":true"#);
        let (state, key) = story.park();
        let [id] = story.pending().try_into().unwrap();
        end.iter().for_each(|input| story.world.input(input.clone()));
        story.restart();
        assert_eq!(story.pending(), [id.as_str()], "{end:?}");
        story.come_back(2, &state, &format!(r#""{key}":{YES}"#));
        assert_eq!(story.went_out(), r#"{"q":1.0}"#);
        assert_eq!(story.state(&id), "executed");
    }
}

#[test]
fn who_was_asked_while_its_call_ran_is_told_that_it_ended_however_the_process_ended() {
    for end in ENDS {
        let mut story = Story::with(r#""require_approval":false"#);
        modern_call(&mut story.world, 1, 1, ALL, r#","arguments":{"q":1.0}"#);
        story.went_out();
        let ask = r#""method":"elicitation/create","params":{"message":"Name?","requestedSchema":{"type":"object"}}"#;
        story.world.line("s", &format!(r#"{{"jsonrpc":"2.0","id":7,{ask}}}"#));
        let state = state_of(&story.world.answered(1));
        end.iter().for_each(|input| story.world.input(input.clone()));
        story.restart();
        story.come_back(2, &state, "");
        let (code, words) = story.world.error(2);
        assert!(["unreachable", "canceled"].contains(&code.as_str()) && words.contains("while this call was running"), "{words}");
        assert!(story.world.is_quiet("s"));
    }
}

/// Where a process goes on without its client, another one of the same scope brings the answer.
#[test]
fn a_client_that_went_and_came_again_brings_its_answer() {
    for (said, runs) in [(YES, true), (NO, false)] {
        let mut story = Story::new(r#","elicitation":true"#);
        let (state, key) = story.park();
        story.world.input(Input::Closed { peer: PeerId(1) });
        story.world.open(1);
        story.come_back(2, &state, &format!(r#""{key}":{said}"#));
        if runs {
            assert_eq!(story.went_out(), r#"{"q":1.0}"#);
        } else {
            assert_eq!(story.world.error(2).0, "approval_denied");
        }
    }
}

#[test]
fn a_decision_before_and_one_after_the_restart_count_alike() {
    for (verb, before) in [("approve", true), ("approve", false), ("reject", true), ("reject", false)] {
        let mut story = Story::new(r#","elicitation":true"#);
        let (state, _) = story.park();
        let [id] = story.pending().try_into().unwrap();
        if before {
            assert_eq!(story.decide(&id, verb), 200);
        }
        story.restart();
        if !before {
            assert_eq!(story.decide(&id, verb), 200);
        }
        assert_eq!(story.decide(&id, verb), 409);
        assert!(story.world.is_quiet("s"));
        story.come_back(2, &state, "");
        if verb == "approve" {
            assert_eq!(story.went_out(), r#"{"q":1.0}"#);
        } else {
            assert_eq!(story.world.error(2), ("approval_denied".into(), "as eve says".into()));
        }
        story.restart();
        let told = story.told(&id);
        let read = |name| string_at(&told, &[name]);
        assert_eq!((read("decided_by").as_deref(), read("reason").as_deref()), (Some("eve"), Some("as eve says")));
        assert_eq!(story.decide(&id, verb), 409);
    }
}

#[test]
fn an_outcome_that_waits_for_its_client_waits_on() {
    let mut story = Story::new(r#","elicitation":true"#);
    let (state, _) = story.park();
    story.world.advance(61_000);
    story.restart();
    story.come_back(2, &state, "");
    assert_eq!(story.world.error(2).0, "approval_denied");
    // What ran at its server when the gateway ended is told as lost, and not begun again.
    let mut story = Story::with(r#""require_approval":false"#);
    modern_call(&mut story.world, 1, 1, ALL, r#","arguments":{"q":1.0}"#);
    assert_eq!(story.went_out(), r#"{"q":1.0}"#);
    let ask = r#""method":"elicitation/create","params":{"message":"Name?","requestedSchema":{"type":"object","properties":{}}}"#;
    story.world.line("s", &format!(r#"{{"jsonrpc":"2.0","id":7,{ask}}}"#));
    let state = state_of(&story.world.answered(1));
    story.restart();
    story.restart();
    story.come_back(2, &state, "");
    let (code, words) = story.world.error(2);
    assert!(code == "unreachable" && words.contains("restarted"), "{code} {words}");
    assert!(story.world.is_quiet("s"));
}

#[test]
fn whose_connection_went_makes_the_call_again_and_it_goes_out_once() {
    let mut story = Story::new("");
    story.call("ada", r#"{"a":1,"b":2}"#, r#","com.example/to":"eve""#);
    let [id] = story.pending().try_into().unwrap();
    story.restart();
    story.restart();
    assert_eq!(story.pending(), [id.as_str()]);
    let told: Vec<_> = story.world.notices.iter().filter(|(event, _)| event == "approval_pending").collect();
    let [(_, fields)] = told.as_slice() else { panic!("whoever decides is told once what waits: {told:?}") };
    assert_eq!(string_at(fields, &["id"]).as_deref(), Some(id.as_str()));
    assert!(fields.contains("x of s with") && !fields.contains("code"), "{fields}");
    assert_eq!(at(&story.told(&id), &["arguments"]).as_deref(), Some(r#"{"a":1,"b":2}"#));
    assert_eq!(story.decide(&id, "approve"), 200);
    assert!(story.world.is_quiet("s"), "nobody would hear of it");
    story.restart();
    assert_eq!(story.state(&id), "approved");
    // Other arguments, another caller and other members beside the arguments are other calls.
    story.call("ada", r#"{"a":1,"b":3}"#, r#","com.example/to":"eve""#);
    story.call("bob", r#"{"a":1,"b":2}"#, r#","com.example/to":"eve""#);
    story.call("ada", r#"{"a":1,"b":2}"#, "");
    assert!(story.world.is_quiet("s"));
    assert_eq!(story.pending().len(), 3);
    // The same call may be spelled otherwise, and belong to another trace.
    story.call("ada", r#"{"b":2,"a":1}"#, &format!(r#","com.example/to":"eve","traceparent":"{PARENT}""#));
    assert_eq!(story.went_out(), r#"{"a":1,"b":2}"#);
    assert_eq!(story.state(&id), "executed");
    story.call("ada", r#"{"a":1,"b":2}"#, r#","com.example/to":"eve""#);
    assert!(story.world.is_quiet("s"), "it is used up");
    assert_eq!(story.pending().len(), 4);
}

#[test]
fn a_call_made_again_waits_for_the_decision_that_its_first_waits_for() {
    for verb in ["approve", "reject"] {
        let mut story = Story::new("");
        story.call("ada", "{}", "");
        let [id] = story.pending().try_into().unwrap();
        story.restart();
        story.call("ada", "{}", "");
        assert_eq!(story.pending(), [id.as_str()]);
        assert_eq!(story.decide(&id, verb), 200);
        if verb == "approve" {
            assert_eq!(story.went_out(), "{}");
        } else {
            assert!(story.world.is_quiet("s"));
        }
        assert_eq!(story.decide(&id, "approve"), 409);
    }
}

#[test]
fn what_was_decided_against_a_call_is_told_once() {
    for verb in ["reject", ""] {
        let mut story = Story::new("");
        story.call("ada", "{}", "");
        let [id] = story.pending().try_into().unwrap();
        story.restart();
        if verb.is_empty() {
            story.world.advance(61_000);
        } else {
            assert_eq!(story.decide(&id, verb), 200);
        }
        story.restart();
        assert_eq!(story.pending(), [""; 0]);
        let (_, answer) = story.call("ada", "{}", "");
        assert!(answer.contains("approval_denied"), "{answer}");
        story.call("ada", "{}", "");
        assert_eq!(story.pending().len(), 1);
        assert!(story.world.is_quiet("s"));
    }
}

#[test]
fn a_gateway_that_is_told_to_stop_keeps_what_waits() {
    let mut story = Story::new("");
    story.call("ada", "{}", "");
    let [id] = story.pending().try_into().unwrap();
    story.world.input(Input::Stop);
    let (status, _) = story.world.responses.last().cloned().unwrap();
    assert_eq!(status, 503);
    story.restart();
    assert_eq!(story.decide(&id, "approve"), 200);
    story.call("ada", "{}", "");
    assert_eq!(story.went_out(), "{}");
}

#[test]
fn a_call_brought_back_in_another_trace_is_the_one_that_was_approved() {
    let mut story = Story::new(r#","elicitation":true"#);
    let (state, key) = story.park();
    let params = format!(
        r#"{{"name":"{TOOL}","arguments":{{"q":1.0}},"requestState":{state},"inputResponses":{{"{key}":{YES}}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{ALL},"traceparent":"{PARENT}"}}}}"#
    );
    story.world.say(1, &format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{params}}}"#));
    assert_eq!(story.went_out(), r#"{"q":1.0}"#);
}

/// What a session approved holds for it after a restart, as long as the policy is the same, and for no other session.
#[test]
fn what_a_session_approved_is_known_to_it_after_a_restart() {
    let mut story = Story::with(r#""require_approval":true,"cache_approvals_per_session":true"#);
    let begin = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#;
    let headers = |session: &str| {
        [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream"), ("Mcp-Session-Id", session)]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    let post = |story: &mut Story, session: &str, body: &str| {
        let headers = headers(session);
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).filter(|(_, value)| !value.is_empty()).collect();
        story.http(("POST", "/mcp"), "ada", &headers, body)
    };
    let call = |id: u64| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{TOOL}","arguments":{{"n":{id}}}}}}}"#)
    };
    post(&mut story, "", begin);
    let session = story.world.session.clone().unwrap();
    post(&mut story, &session, &call(1));
    let [id] = story.pending().try_into().unwrap();
    assert_eq!(story.decide(&id, "approve"), 200);
    assert_eq!(story.went_out(), r#"{"n":1}"#);
    story.restart();
    post(&mut story, &session, &call(2));
    assert_eq!(story.went_out(), r#"{"n":2}"#);
    post(&mut story, "", begin);
    let other = story.world.session.clone().unwrap();
    assert_ne!(other, session);
    post(&mut story, &other, &call(3));
    assert_eq!(story.pending().len(), 1);
    story.config = story.config.replace(r#""require_approval":true"#, r#""require_approval":["mcp_*"]"#);
    story.restart();
    post(&mut story, &session, &call(4));
    assert!(story.world.is_quiet("s"));
    assert_eq!(story.pending().len(), 2);
}

#[test]
fn what_waits_is_not_handed_on() {
    let mut story = Story::new(r#","elicitation":true"#);
    story.park();
    story.call("ada", "{}", "");
    let text = story.world.gateway.snapshot(Secrets::Drop).concat();
    assert!(!text.contains("approv") && !text.contains(r#""sink""#), "{text}");
}

/// How the card of each configured agent is asked for, by its URL.
fn looked_up(world: &mut World) -> Vec<(String, String)> {
    let token = |request: &Request| {
        request.headers.iter().find(|(name, _)| name == "X-Key").map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let mut looked_up: Vec<_> = world.fetches.drain(..).map(|(_, request)| (request.url.clone(), token(&request))).collect();
    looked_up.sort();
    looked_up
}

#[test]
fn agents_and_credentials_of_another_configuration_hold_in_scopes_that_are_restored() {
    let config = |agents: &str, token: &str| {
        format!(
            r#"{{"storage":true,"external_agents":[{agents}],"mcp_servers":[{{"name":"s","transport":{{"type":"http","url":"https://s.test/mcp"}},"headers":["X-Key: {token}"]}}]}}"#
        )
    };
    let agent = |name: &str, host: &str, token: &str| {
        format!(r#"{{"name":"{name}","url":"https://{host}.test/a2a","headers":{{"X-Key":"{token}"}}}}"#)
    };
    let card = |host: &str| format!("https://{host}.test/a2a/.well-known/agent-card.json");
    let both = [agent("same", "one", "token-one-111"), agent("ext", "two", "token-two-222")].join(",");
    let mut world = World::new(&config(&both, "server-key-one"));
    world.open(1);
    world.say(1, r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"connect_agent","arguments":{"alias":"own","agent_url":"https://own.test/a2a","headers":{"X-Key":"token-own-333"}}}}"#);
    let kept: Vec<String> = world.saved.values().flatten().cloned().collect();
    let from = |pieces: &[String], text: &str| {
        let mut world = World::with(Gateway::restore(genesis(9), Config::from_json(text).unwrap(), pieces).unwrap());
        world.now = 9;
        world.input(Input::Tick);
        world.fetches.retain(|(_, request)| !request.url.contains("s.test"));
        world
    };
    let aliases = |world: &World| {
        let list = world.gateway.snapshot(Secrets::Keep).join("");
        ["same", "ext", "own", "new"]
            .map(|alias| list.contains(&format!(r#""kind":"agent","scope":"scope-1","alias":"{alias}""#)))
    };
    for pieces in [kept, world.gateway.snapshot(Secrets::Keep)] {
        let mut same = from(&pieces, &config(&both, "server-key-one"));
        assert_eq!(looked_up(&mut same), []);
        assert_eq!(aliases(&same), [true, true, true, false]);
        // A token and a URL that are others, and one more.
        let changed = [
            agent("same", "one", "token-one-999"),
            agent("ext", "three", "token-two-222"),
            agent("new", "four", "token-new-444"),
            agent("own", "five", "token-five-5"),
        ];
        let mut world = from(&pieces, &config(&changed.join(","), "server-key-two"));
        let found = looked_up(&mut world);
        for (host, token) in [("one", "token-one-999"), ("three", "token-two-222"), ("four", "token-new-444")] {
            assert!(found.contains(&(card(host), token.into())), "{host}: {found:?}");
        }
        assert!(found.iter().all(|(_, token)| token != "token-one-111"), "{found:?}");
        // What servers are given now is nobody's to know either.
        let pieces = world.gateway.snapshot(Secrets::Keep).join("");
        assert!(pieces.contains("server-key-two"), "it is looked for");
        // All of them taken out.
        let mut world = from(core::slice::from_ref(&pieces), &config("", "server-key-two"));
        assert_eq!(looked_up(&mut world), []);
        assert_eq!(aliases(&world)[..2], [false, false]);
    }
    // Handed on without credentials, they have those of the configuration.
    let mut world = from(&world.gateway.snapshot(Secrets::Drop), &config(&both, "server-key-one"));
    let want = [(card("one"), "token-one-111".to_string()), (card("two"), "token-two-222".to_string())];
    assert_eq!(looked_up(&mut world), want);
}
