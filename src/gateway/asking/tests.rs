//! Questions in both eras, asked by the conformance suite's tools.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::config::Config;
use crate::gateway::{Gateway, Genesis, Secrets};
use crate::io::{Input, Output, PeerId, RequestId};
use crate::json;
use crate::table::Table;
use crate::time::{Instant, WallTime};

const ALL: &str = r#"{"elicitation":{},"sampling":{},"roots":{}}"#;

struct Host {
    gateway: Gateway,
    now: u64,
    /// the pieces of every record that is to be kept, by its key
    saved: Table<String, Vec<String>>,
}

fn genesis(seed: u8) -> Genesis {
    Genesis { seed: [seed; 32], now: Instant::from_ms(0), unix_ms: WallTime(1_800_000_000_000) }
}

/// A call with nothing but its name.
fn call(name: &str) -> String {
    format!(r#"{{"name":"{name}","arguments":{{}}}}"#)
}

impl Host {
    fn new(config: &str) -> Self {
        let gateway = Gateway::new(genesis(7), Config::from_json(config).unwrap());
        Self { gateway, now: 0, saved: Table::new() }
    }

    /// A host with a session of peer 1 that may be asked for these.
    fn asked_for(capabilities: &str) -> Self {
        let mut host = Self::new("{}");
        host.open(1, "one", capabilities);
        host
    }

    /// What is said to peers, or in responses.
    fn input(&mut self, input: Input) -> Vec<String> {
        self.gateway.handle_input(Instant::from_ms(self.now), input).unwrap();
        let mut said = Vec::new();
        while let Some(output) = self.gateway.poll_output() {
            match output {
                Output::Message { text, .. } | Output::ResponseBody { text, .. } => said.push(text),
                Output::ResponseHead { status, .. } => said.push(status.to_string()),
                Output::ResponseEnd { .. } => said.push("end".to_string()),
                Output::Save(save) => {
                    self.saved.insert(save.key.clone(), save.pieces());
                }
                Output::Fetch { .. } | Output::Abort { .. } | Output::Notice(_) => {}
                Output::Work { .. }
                | Output::WorkAbort { .. }
                | Output::Link { .. }
                | Output::Tokens { .. }
                | Output::Lookup(_) => {}
            }
        }
        said
    }

    fn open(&mut self, peer: u64, scope: &str, capabilities: &str) {
        self.input(Input::Open { peer: PeerId(peer), scope: scope.into() });
        let params = format!(r#"{{"protocolVersion":"2025-11-25","capabilities":{capabilities}}}"#);
        self.request(peer, 0, "initialize", &params);
    }

    fn say(&mut self, peer: u64, text: String) -> Vec<String> {
        self.input(Input::Message { peer: PeerId(peer), text })
    }

    fn request(&mut self, peer: u64, id: u64, method: &str, params: &str) -> Vec<String> {
        self.say(peer, format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#))
    }

    fn call(&mut self, peer: u64, id: u64, params: &str) -> Vec<String> {
        self.request(peer, id, "tools/call", params)
    }

    /// A modern request of peer 1 with these capabilities.
    fn modern(&mut self, capabilities: &str, method: &str, params: &str) -> String {
        let meta = format!(
            r#""_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{capabilities}}}"#
        );
        let said = self.request(1, 9, method, &format!("{{{meta},{}", params.trim_start_matches('{')));
        let [answer] = <[String; 1]>::try_from(said).unwrap();
        answer
    }

    fn answer(&mut self, peer: u64, id: &str, result: &str) -> Vec<String> {
        self.say(peer, format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{result}}}"#))
    }
}

fn member(text: &str, path: &[&str]) -> String {
    let mut raw = json::parse(text, 64).unwrap();
    for name in path {
        raw = json::members(raw).unwrap().get_any(name).unwrap_or_else(|| panic!("no {name} in {text}"));
    }
    json::string(raw).unwrap_or_else(|| raw.get().to_string())
}

/// The ids of the questions in what was said.
fn ids(said: &[String]) -> Vec<String> {
    said.iter().map(|text| member(text, &["id"])).collect()
}

const ACCEPTED: &str = r#"{"action":"accept","content":{"name":"Ada","ok":true,"color":"blue"}}"#;
const WRITTEN: &str = r#"{"role":"assistant","content":{"type":"text","text":"Hello"},"model":"m"}"#;
const ROOTS: &str = r#"{"roots":[{"uri":"file:///a"}]}"#;

#[test]
fn a_call_in_a_session_goes_on_when_it_is_answered() {
    let mut host = Host::asked_for(ALL);
    let said = host.call(1, 5, r#"{"name":"test_elicitation","arguments":{"message":"Who?"}}"#);
    assert_eq!(said.len(), 1);
    assert_eq!(member(&said[0], &["method"]), "elicitation/create");
    assert_eq!(member(&said[0], &["params", "message"]), "Who?");
    let id = member(&said[0], &["id"]);
    let said = host.answer(1, &id, r#"{"action":"accept","content":{"username":"ada"}}"#);
    assert_eq!(said.len(), 1);
    assert!(said[0].starts_with(r#"{"jsonrpc":"2.0","id":5,"result""#), "{said:?}");
    assert!(said[0].contains(r#"action=accept, content={\"username\":\"ada\"}"#), "{said:?}");
    assert_eq!(host.answer(1, &id, "{}"), [""; 0], "an answer counts once");
    assert_eq!(host.gateway.poll_timeout(), None);
}

#[test]
fn every_question_is_answered_before_the_call_goes_on() {
    let mut host = Host::asked_for(ALL);
    let said = host.call(1, 5, &call("test_input_required_result_multiple_inputs"));
    let methods: Vec<String> = said.iter().map(|text| member(text, &["method"])).collect();
    assert_eq!(methods, ["elicitation/create", "sampling/createMessage", "roots/list"]);
    let ids = ids(&said);
    assert_eq!(host.answer(1, &ids[2], ROOTS), [""; 0]);
    assert_eq!(host.answer(1, &ids[2], ROOTS), [""; 0], "the same one twice");
    assert_eq!(host.answer(1, &ids[0], ACCEPTED), [""; 0]);
    let said = host.answer(1, &ids[1], WRITTEN);
    assert!(said[0].contains("Hello Ada file:///a"), "{said:?}");
}

#[test]
fn an_answer_is_taken_from_whom_it_was_asked_of() {
    let mut host = Host::asked_for(ALL);
    host.open(2, "two", ALL);
    let said = host.call(1, 5, &call("test_input_required_result_elicitation"));
    let id = ids(&said).remove(0);
    assert_eq!(host.answer(2, &id, ACCEPTED), [""; 0]);
    for wrong in ["", "1", "-", "1-", "-0", "99-0", "1-7", "x-y", "18446744073709551616-0"] {
        assert_eq!(host.answer(1, wrong, ACCEPTED), [""; 0], "{wrong}");
    }
    let number = r#"{"jsonrpc":"2.0","id":7,"result":{}}"#.to_string();
    assert_eq!(host.say(1, number), [""; 0]);
    assert!(host.answer(1, &id, ACCEPTED)[0].contains("Hello, Ada!"));
}

#[test]
fn each_round_has_questions_of_its_own() {
    let mut host = Host::asked_for(ALL);
    let first = ids(&host.call(1, 5, &call("test_input_required_result_multi_round"))).remove(0);
    let said = host.answer(1, &first, ACCEPTED);
    let second = ids(&said).remove(0);
    assert!(said[0].contains("Step 2") && first != second, "{said:?}");
    assert_eq!(host.answer(1, &first, ACCEPTED), [""; 0], "the first round is over");
    assert!(host.answer(1, &second, ACCEPTED)[0].contains("Ada likes blue."));
}

#[test]
fn a_client_may_refuse_to_answer() {
    let mut host = Host::asked_for(ALL);
    let id = ids(&host.call(1, 5, r#"{"name":"test_sampling","arguments":{"prompt":"p"}}"#)).remove(0);
    let refusal = format!(r#"{{"jsonrpc":"2.0","id":"{id}","error":{{"code":-1,"message":"the user said no"}}}}"#);
    let said = host.say(1, refusal);
    assert!(said[0].contains(r#""isError":true"#) && said[0].contains("the user said no"), "{said:?}");
    let id = ids(&host.call(1, 6, &call("test_input_required_result_elicitation"))).remove(0);
    let again = host.answer(1, &id, r#"{"action":"decline"}"#);
    assert_eq!(member(&again[0], &["method"]), "elicitation/create", "this one insists");
}

#[test]
fn only_what_was_declared_is_asked() {
    let mut host = Host::asked_for(r#"{"sampling":{}}"#);
    let said = host.call(1, 5, &call("test_input_required_result_elicitation"));
    assert!(said[0].contains(r#""code":"unsupported""#) && said[0].contains("elicitation"), "{said:?}");
    let said = host.call(1, 6, &call("test_input_required_result_capabilities"));
    assert_eq!(said.len(), 1);
    assert_eq!(member(&said[0], &["method"]), "sampling/createMessage");
    let modern = host.modern(r#"{"elicitation":{}}"#, "tools/call", &call("test_missing_capability"));
    assert_eq!(member(&modern, &["error", "code"]), "-32021");
    assert_eq!(member(&modern, &["error", "data", "requiredCapabilities"]), r#"{"sampling":{}}"#);
    let modern = host.modern("{}", "prompts/get", r#"{"name":"test_input_required_result_prompt"}"#);
    assert_eq!(member(&modern, &["error", "code"]), "-32021");
}

#[test]
fn a_call_that_ended_is_told_nothing_more() {
    let mut host = Host::asked_for(ALL);
    let id = ids(&host.call(1, 5, &call("test_input_required_result_elicitation"))).remove(0);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#.to_string();
    assert_eq!(host.say(1, cancel), [""; 0]);
    assert_eq!(host.answer(1, &id, ACCEPTED), [""; 0]);
    let id = ids(&host.call(1, 6, &call("test_input_required_result_elicitation"))).remove(0);
    host.now = host.gateway.poll_timeout().unwrap().at.as_ms();
    let said = host.input(Input::Tick);
    assert_eq!(said.len(), 2);
    assert_eq!(member(&said[0], &["method"]), "notifications/cancelled");
    assert_eq!(member(&said[0], &["params", "requestId"]), id);
    assert!(said[1].contains(r#""code":"timeout""#), "{said:?}");
    assert_eq!(host.answer(1, &id, ACCEPTED), [""; 0]);
    host.call(1, 7, &call("test_input_required_result_elicitation"));
    assert_eq!(host.input(Input::Closed { peer: PeerId(1) }), [""; 0]);
    assert_eq!(host.gateway.poll_timeout(), None);
}

#[test]
fn answers_are_bounded() {
    let mut host = Host::new(r#"{"limits":{"message_bytes":400,"calls_per_peer":1}}"#);
    host.open(1, "one", ALL);
    let ids = ids(&host.call(1, 5, &call("test_input_required_result_multiple_inputs")));
    assert!(host.call(1, 6, &call("test_input_required_result_elicitation"))[0].contains(r#""code":"busy""#));
    let long = format!(r#"{{"roots":[],"x":"{}"}}"#, "x".repeat(300));
    assert_eq!(host.answer(1, &ids[2], &long), [""; 0]);
    let said = host.answer(1, &ids[1], &long);
    assert_eq!(member(&said[0], &["params", "requestId"]), ids[0], "the last one is no longer wanted");
    assert!(said[1].contains(r#""code":"too_large""#) && said[1].contains("message_bytes"), "{said:?}");
    assert_eq!(said.len(), 2);
    let id = self::ids(&host.call(1, 7, &call("test_input_required_result_elicitation"))).remove(0);
    let start = format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{"x":"#);
    let said = host.input(Input::MessageTooLong { peer: PeerId(1), start, end: String::new(), bytes: 401 });
    assert_eq!(said.len(), 1);
    assert!(said[0].contains(r#""id":7,"result""#) && said[0].contains("too_large"), "no error answers an answer: {said:?}");
}

#[test]
fn credentials_are_not_asked_about() {
    let mut host = Host::asked_for(ALL);
    let connect = r#"{"name":"connect_agent","arguments":{"alias":"a","agent_url":"https://agent.test","headers":{"Authorization":"Bearer hunter2hunter2"}}}"#;
    host.call(1, 4, connect);
    let params = r#"{"name":"test_sampling","arguments":{"prompt":"what is hunter2hunter2?"}}"#;
    let said = host.call(1, 5, params);
    assert!(said[0].contains("what is [redacted]?"), "{said:?}");
    let modern = host.modern(ALL, "tools/call", params);
    assert!(modern.contains("what is [redacted]?") && modern.contains("input_required"), "{modern}");
}

/// The call once more, with the answers and the state that belong to it.
fn retry(params: &str, answers: &str, state: &str) -> String {
    let inside = params.strip_suffix('}').unwrap();
    format!(r#"{inside},"inputResponses":{answers},"requestState":{}}}"#, json::Json::string(state).as_str())
}

#[test]
fn a_modern_call_is_asked_by_its_result() {
    let mut host = Host::asked_for("{}");
    let params = call("test_input_required_result_request_state");
    let asked = host.modern(ALL, "tools/call", &params);
    assert_eq!(member(&asked, &["result", "resultType"]), "input_required");
    assert_eq!(member(&asked, &["result", "inputRequests", "confirm", "method"]), "elicitation/create");
    let state = member(&asked, &["result", "requestState"]);
    let answers = format!(r#"{{"confirm":{ACCEPTED},"other":{{}}}}"#);
    let done = host.modern(ALL, "tools/call", &retry(&params, &answers, &state));
    assert!(done.contains("state-ok") && done.contains(r#""resultType":"complete""#), "{done}");
    assert_eq!(host.gateway.poll_timeout(), None, "nothing is kept");
    for (params, state) in [
        (params.clone(), format!("{state}-TAMPERED")),
        (params.clone(), state.replace("confirmed", "Confirmed")),
        (call("test_input_required_result_tampered_state"), state.clone()),
        (params.replace("{}", r#"{"a":1}"#), state.clone()),
    ] {
        let refused = host.modern(ALL, "tools/call", &retry(&params, &answers, &state));
        assert_eq!(member(&refused, &["error", "code"]), "-32602", "{params} {state}");
    }
    let number = format!(r#"{},"requestState":7}}"#, params.strip_suffix('}').unwrap());
    assert_eq!(member(&host.modern(ALL, "tools/call", &number), &["error", "code"]), "-32602");
    host.input(Input::Closed { peer: PeerId(1) });
    host.open(1, "somebody else", "{}");
    let refused = host.modern(ALL, "tools/call", &retry(&params, &answers, &state));
    assert_eq!(member(&refused, &["error", "code"]), "-32602");
}

#[test]
fn rounds_of_a_modern_call_hand_on_their_state() {
    let mut host = Host::asked_for("{}");
    let params = call("test_input_required_result_multi_round");
    let first = member(&host.modern(ALL, "tools/call", &params), &["result", "requestState"]);
    let said = host.modern(ALL, "tools/call", &retry(&params, &format!(r#"{{"step1":{ACCEPTED}}}"#), &first));
    assert!(said.contains("Step 2"), "{said}");
    let second = member(&said, &["result", "requestState"]);
    assert_ne!(first, second);
    let said = host.modern(ALL, "tools/call", &retry(&params, &format!(r#"{{"step2":{ACCEPTED}}}"#), &second));
    assert!(said.contains("Ada likes blue."), "{said}");
}

#[test]
fn a_prompt_may_ask_too() {
    let mut host = Host::asked_for(ALL);
    let params = r#"{"name":"test_input_required_result_prompt"}"#;
    let asked = host.modern(ALL, "prompts/get", params);
    assert_eq!(member(&asked, &["result", "resultType"]), "input_required");
    let answers = r#""inputResponses":{"user_context":{"action":"accept","content":{"context":"a test"}}}}"#;
    let done = host.modern(ALL, "prompts/get", &format!("{},{answers}", params.strip_suffix('}').unwrap()));
    assert!(done.contains("Context: a test") && done.contains(r#""resultType":"complete""#), "{done}");
    let said = host.request(1, 5, "prompts/get", params);
    let said = host.answer(1, &ids(&said)[0], r#"{"action":"decline"}"#);
    assert!(said[0].contains("No context was given.") && !said[0].contains("resultType"), "{said:?}");
    let said = host.request(1, 6, "prompts/get", params);
    let refusal = format!(r#"{{"jsonrpc":"2.0","id":"{}","error":{{"code":-1,"message":"no"}}}}"#, ids(&said)[0]);
    assert_eq!(member(&host.say(1, refusal)[0], &["error", "code"]), "-32603", "prompts fail by the protocol's errors");
}

#[test]
fn what_waits_for_its_client_survives_a_snapshot() {
    let mut host = Host::asked_for(ALL);
    let tool = call("test_input_required_result_multiple_inputs");
    let asked = ids(&host.call(1, 5, &tool));
    host.answer(1, &asked[1], WRITTEN);
    let state = member(&host.modern(ALL, "tools/call", &call("test_streaming_elicitation")), &["result", "requestState"]);
    let pieces = host.gateway.snapshot(Secrets::Keep);
    let restored = Gateway::restore(genesis(8), Config::default(), &pieces).unwrap();
    let mut host = Host { gateway: restored, now: 3, saved: Table::new() };
    assert!(host.gateway.poll_output().is_none(), "nothing is answered in its place");
    assert_eq!(host.answer(1, &asked[0], ACCEPTED), [""; 0]);
    assert_eq!(host.answer(1, &asked[1], WRITTEN), [""; 0], "answered before");
    assert!(host.answer(1, &asked[2], ROOTS)[0].contains("Hello Ada file:///a"));
    let answers = format!(r#"{{"confirm":{ACCEPTED}}}"#);
    let done = host.modern(ALL, "tools/call", &retry(&call("test_streaming_elicitation"), &answers, &state));
    assert!(done.contains("state-ok"), "{done}");
    assert_eq!(ids(&host.call(1, 6, &tool)).len(), 3, "the session still says what it may be asked");
}

#[test]
fn a_snapshot_to_hand_on_tells_neither_key_nor_arguments() {
    let mut host = Host::asked_for(ALL);
    host.call(1, 5, r#"{"name":"test_elicitation","arguments":{"message":"confidential"}}"#);
    let pieces = host.gateway.snapshot(Secrets::Drop);
    assert!(pieces.iter().all(|piece| !piece.contains("confidential") && !piece.contains("seal")), "{pieces:?}");
    let mut restored = Gateway::restore(genesis(8), Config::default(), &pieces).unwrap();
    let answer = core::iter::from_fn(|| restored.poll_output())
        .find_map(|output| if let Output::Message { text, .. } = output { Some(text) } else { None });
    assert!(answer.is_some_and(|text| text.contains(r#""code":"unreachable""#)), "it cannot go on without them");
}

impl Host {
    /// A POST to the MCP endpoint in a session; what was said in all responses.
    fn post(&mut self, request: u64, session: &str, body: &str) -> Vec<String> {
        let mut headers: Vec<(String, String)> = Vec::new();
        let fields =
            [("Host", "localhost"), ("Content-Type", "application/json"), ("Accept", "*/*"), ("Mcp-Session-Id", session)];
        for (name, value) in fields {
            headers.push((name.into(), value.into()));
        }
        let request = RequestId(request);
        self.input(Input::Request { request, method: "POST".into(), target: "/mcp".into(), headers });
        self.input(Input::RequestBody { request, bytes: body.into() });
        self.input(Input::RequestEnd { request })
    }

    /// Opens a session over HTTP; its name.
    fn session(&mut self) -> String {
        let params = format!(r#"{{"protocolVersion":"2025-11-25","capabilities":{ALL}}}"#);
        self.post(1, "", &format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{params}}}"#));
        let (name, _) = self.gateway.incoming.sessions.first().unwrap();
        name.clone()
    }
}

fn http_call(id: u64, name: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{}}}"#, call(name))
}

/// The id of the question in an event.
fn asked_in(event: &str) -> String {
    member(event.split("data: ").nth(1).unwrap().trim(), &["id"])
}

#[test]
fn over_http_questions_stand_on_the_stream_of_the_call() {
    let mut host = Host::new("{}");
    let session = host.session();
    let said = host.post(2, &session, &http_call(5, "test_input_required_result_elicitation"));
    assert_eq!((said.len(), said[0].as_str()), (3, "200"));
    assert!(said[1].contains("data:\n\n") && said[2].contains("elicitation/create"), "{said:?}");
    let id = asked_in(&said[2]);
    let said = host.post(3, &session, &format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{ACCEPTED}}}"#));
    assert_eq!(said[..2], ["202", "end"], "the answer itself is not answered");
    assert!(said[2].contains("Hello, Ada!") && said[3] == "end", "{said:?}");
    assert_eq!(host.post(4, &session, r#"{"jsonrpc":"2.0","id":"9-9","result":{}}"#), ["202", "end"]);
}

#[test]
fn a_question_waits_for_a_client_that_comes_back() {
    let mut host = Host::new("{}");
    let session = host.session();
    let said = host.post(2, &session, &http_call(5, "test_input_required_result_multi_round"));
    let id = asked_in(&said[2]);
    host.input(Input::RequestGone { request: RequestId(2) });
    let answer = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{ACCEPTED}}}"#);
    assert_eq!(host.post(3, &session, &answer(&id)), ["202", "end"], "nobody reads the second question yet");
    let mut headers: Vec<(String, String)> = Vec::new();
    for (name, value) in [("Host", "localhost"), ("Mcp-Session-Id", &session), ("Last-Event-ID", "2-1")] {
        headers.push((name.into(), value.into()));
    }
    let again = Input::Request { request: RequestId(4), method: "GET".into(), target: "/mcp".into(), headers };
    let said = host.input(again);
    assert!(said[1].contains("Step 2"), "{said:?}");
    let said = host.post(5, &session, &answer(&asked_in(&said[1])));
    assert!(said[2].contains("Ada likes blue.") && said[3] == "end", "{said:?}");
}

#[test]
fn a_gateway_that_stops_withdraws_its_questions() {
    let mut host = Host::new("{}");
    let session = host.session();
    let said = host.post(2, &session, &http_call(5, "test_input_required_result_elicitation"));
    let id = asked_in(&said[2]);
    let said = host.input(Input::Stop);
    assert!(said[0].contains("notifications/cancelled") && said[0].contains(&id), "{said:?}");
    assert!(said[1].contains(r#""code":"canceled""#) && said[2] == "end", "{said:?}");
}

#[test]
fn what_waits_for_its_client_survives_in_a_storage() {
    let mut host = Host::new(r#"{"storage":true}"#);
    host.open(1, "one", ALL);
    let asked = ids(&host.call(1, 5, &call("test_input_required_result_multiple_inputs")));
    host.answer(1, &asked[1], WRITTEN);
    let pieces: Vec<String> = host.saved.values().flatten().cloned().collect();
    let restored = Gateway::restore(genesis(8), Config::default(), &pieces).unwrap();
    let mut host = Host { gateway: restored, now: 3, saved: Table::new() };
    assert_eq!(host.answer(1, &asked[1], WRITTEN), [""; 0], "answered before");
    host.answer(1, &asked[0], ACCEPTED);
    assert!(host.answer(1, &asked[2], ROOTS)[0].contains("Hello Ada file:///a"));
}
