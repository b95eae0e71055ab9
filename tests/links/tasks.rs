//! The gateway as an agent whose skills are the tools of its servers.

use narrows::config::Config;
use narrows::gateway::{Gateway, Secrets};
use narrows::io::{Input, RequestId};
use narrows::json;

use crate::world::{World, at, genesis, servers, string_at};

fn config(more: &str) -> String {
    let servers = servers(&["kitchen"]);
    format!(r#"{},"a2a":{{"responder":"tool"}}{more}}}"#, servers.strip_suffix('}').unwrap())
}

const TOOLS: &str = r#""result":{"tools":[{"name":"cook","description":"Cooks a dish.","inputSchema":{"type":"object","properties":{"dish":{"type":"string"},"salt":{"type":"integer"}},"required":["dish"]}},{"name":"serve","inputSchema":{"type":"object","properties":{"a":{},"b":{}},"required":["a","b"]}}]}"#;

fn serve(world: &mut World) {
    world.event("kitchen", narrows::io::LinkEvent::Opened);
    world.answer("kitchen", "server/discover", r#""error":{"code":-32601,"message":"no"}"#);
    world.answer("kitchen", "initialize", r#""result":{"protocolVersion":"2025-11-25","capabilities":{}}"#);
    world.asked("kitchen", "notifications/initialized");
    world.answer("kitchen", "tools/list", TOOLS);
}

fn ready(more: &str) -> World {
    let mut world = World::shaken(&config(more));
    serve(&mut world);
    world
}

fn http(world: &mut World, method: &str, target: &str, body: &str) -> String {
    let headers =
        [("Host", "localhost"), ("Content-Type", "application/json"), ("A2A-Version", "1.0"), ("traceparent", TRACE_PARENT)];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let request = RequestId(1000 + world.responses.len() as u64);
    world.input(Input::Request { request, method: method.into(), target: target.into(), headers });
    world.input(Input::RequestBody { request, bytes: body.as_bytes().to_vec() });
    world.input(Input::RequestEnd { request });
    world.responses.last().unwrap().1.clone()
}

fn rpc(world: &mut World, method: &str, params: &str) -> String {
    http(world, "POST", "/a2a", &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#))
}

/// Sends a message to a skill; the id of its task.
fn send(world: &mut World, skill: &str, part: &str) -> String {
    let message = format!(r#"{{"messageId":"m","role":"ROLE_USER","parts":[{part}]}}"#);
    let more = r#""configuration":{"returnImmediately":true}"#;
    let answer = rpc(world, "SendMessage", &format!(r#"{{"message":{message},{more},"metadata":{{"skill":"{skill}"}}}}"#));
    string_at(&answer, &["result", "task", "id"]).unwrap_or_else(|| panic!("{answer}"))
}

fn task(world: &mut World, id: &str) -> String {
    let answer = rpc(world, "GetTask", &format!(r#"{{"id":"{id}"}}"#));
    at(&answer, &["result"]).unwrap_or_else(|| panic!("{answer}"))
}

/// The state of a task without its prefix, and the words to it.
fn state(world: &mut World, id: &str) -> (String, String) {
    let task = task(world, id);
    let state = string_at(&task, &["status", "state"]).unwrap();
    let words = string_at(&task, &["status", "message", "parts", "0", "text"]).unwrap_or_default();
    (state.replace("TASK_STATE_", ""), words)
}

/// The request that the server got, as its id.
fn called(world: &mut World, tool: &str, arguments: &str) -> String {
    let told = world.read("kitchen");
    assert_eq!(string_at(&told, &["params", "name"]).as_deref(), Some(tool), "{told}");
    assert_eq!(at(&told, &["params", "arguments"]).unwrap_or_default(), arguments);
    at(&told, &["id"]).unwrap()
}

fn answer(world: &mut World, id: &str, outcome: &str) {
    world.line("kitchen", &format!(r#"{{"jsonrpc":"2.0","id":{id},{outcome}}}"#));
}

const TRACE_PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

const COOK: &str = "mcp_kitchen_cook";

#[test]
fn a_text_or_data_goes_in_and_an_artifact_comes_out() {
    for (part, arguments) in
        [(r#"{"text":"soup"}"#, r#"{"dish":"soup"}"#), (r#"{"data":{"dish":"soup","salt":2}}"#, r#"{"dish":"soup","salt":2}"#)]
    {
        let mut world = ready("");
        let id = send(&mut world, COOK, part);
        let call = called(&mut world, "cook", arguments);
        assert_eq!(state(&mut world, &id).0, "WORKING");
        answer(
            &mut world,
            &call,
            r#""result":{"content":[{"type":"text","text":"done"},{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"resource_link","uri":"https://a.test/x","name":"x"},{"type":"odd","n":1e400}],"structuredContent":{"n":1e400}}"#,
        );
        let task = task(&mut world, &id);
        assert_eq!(string_at(&task, &["status", "state"]).as_deref(), Some("TASK_STATE_COMPLETED"));
        let parts = at(&task, &["artifacts", "0", "parts"]).unwrap();
        let parts = json::elements(json::parse(&parts, 16).unwrap()).unwrap().into_iter();
        let parts: Vec<_> = parts.map(|part| part.get().to_owned()).collect();
        assert_eq!(parts.len(), 5, "{parts:?}");
        assert!(parts[0].contains(r#""data":{"n":1e400}"#) && parts[1].contains(r#""text":"done""#), "{parts:?}");
        assert!(parts[2].contains(r#""raw":"AAAA""#) && parts[2].contains("image/png"), "{parts:?}");
        assert!(parts[3].contains("https://a.test/x") && parts[4].contains(r#""type":"odd""#), "{parts:?}");
    }
}

#[test]
fn progress_is_told_as_the_status() {
    let mut world = ready("");
    let id = send(&mut world, COOK, r#"{"text":"soup"}"#);
    let told = world.read("kitchen");
    let token = at(&told, &["params", "_meta", "progressToken"]).expect("a token");
    let trace = string_at(&told, &["params", "_meta", "traceparent"]).expect("the trace that the request belongs to");
    assert_eq!(trace.split('-').nth(1), TRACE_PARENT.split('-').nth(1));
    let progress = |more: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":1{more}}}}}"#
        )
    };
    world.line("kitchen", &progress(r#","message":"it boils""#));
    assert_eq!(state(&mut world, &id), ("WORKING".into(), "it boils".into()));
    world.line("kitchen", &progress(r#","total":4"#).replace(r#""progress":1"#, r#""progress":2"#));
    assert_eq!(state(&mut world, &id), ("WORKING".into(), "2 of 4".into()));
}

#[test]
fn what_fails_fails_the_task_with_the_reason() {
    for (outcome, words) in [
        (r#""result":{"content":[{"type":"text","text":"no gas"}],"isError":true}"#, "no gas"),
        (r#""error":{"code":-32000,"message":"the kitchen is closed"}"#, "the kitchen is closed"),
        (r#""result":{"resultType":"odd"}"#, "unknown type"),
    ] {
        let mut world = ready("");
        let id = send(&mut world, COOK, r#"{"text":"soup"}"#);
        let call = called(&mut world, "cook", r#"{"dish":"soup"}"#);
        answer(&mut world, &call, outcome);
        let (state, said) = state(&mut world, &id);
        assert!(state == "FAILED" && said.contains(words), "{state} {said}");
    }
    let mut world = ready("");
    for (skill, part, words) in [
        ("mcp_kitchen_bake", r#"{"text":"x"}"#, "no MCP server offers mcp_kitchen_bake"),
        ("mcp_kitchen_serve", r#"{"text":"x"}"#, "takes several arguments"),
        ("mcp_kitchen_serve", r#"{"data":{"a":1}}"#, "`b` is missing"),
        (COOK, r#"{"data":{"dish":"x","password":"hunter2x"}}"#, "may not leave"),
    ] {
        let id = send(&mut world, skill, part);
        let (state, said) = state(&mut world, &id);
        assert!(state == "FAILED" && said.contains(words), "{state} {said}");
    }
    assert!(world.is_quiet("kitchen"));
}

#[test]
fn what_needs_approval_is_input_required_until_somebody_decides() {
    for approved in [true, false] {
        let mut world = ready(r#","approval":{"require_approval":true}"#);
        let id = send(&mut world, COOK, r#"{"text":"soup"}"#);
        assert!(world.is_quiet("kitchen"));
        let (now, words) = state(&mut world, &id);
        let (_, fields) = world.notices.iter().find(|(event, _)| event == "approval_proposed").unwrap();
        let approval = string_at(fields, &["id"]).unwrap();
        assert!(now == "INPUT_REQUIRED" && words.contains(&approval), "{now} {words}");
        world.input(Input::Decision { approval, approved, reason: Some("not hungry".into()) });
        if approved {
            let call = called(&mut world, "cook", r#"{"dish":"soup"}"#);
            assert_eq!(state(&mut world, &id).0, "WORKING");
            answer(&mut world, &call, r#""result":{"content":[]}"#);
            assert_eq!(state(&mut world, &id).0, "COMPLETED");
        } else {
            assert_eq!(state(&mut world, &id), ("FAILED".into(), "not hungry".into()));
        }
        assert!(world.is_quiet("kitchen"));
    }
}

#[test]
fn words_to_a_task_that_waits_for_an_approval_leave_it_waiting() {
    let mut world = ready(r#","approval":{"require_approval":true}"#);
    let id = send(&mut world, COOK, r#"{"text":"soup"}"#);
    let before = state(&mut world, &id);
    let more = format!(r#"{{"messageId":"n","taskId":"{id}","role":"ROLE_USER","parts":[{{"text":"please"}}]}}"#);
    let answer = rpc(&mut world, "SendMessage", &format!(r#"{{"message":{more}}}"#));
    let told = string_at(&answer, &["result", "task", "status", "state"]);
    assert_eq!(told.as_deref(), Some("TASK_STATE_INPUT_REQUIRED"), "{answer}");
    assert_eq!(state(&mut world, &id), before);
    assert!(world.is_quiet("kitchen"));
}

#[test]
fn a_task_waits_until_it_is_known_which_tools_there_are() {
    let mut world = World::shaken(&config(""));
    let id = send(&mut world, COOK, r#"{"text":"soup"}"#);
    let other = send(&mut world, "mcp_kitchen_bake", r#"{"text":"bread"}"#);
    assert_eq!(state(&mut world, &id).0, "SUBMITTED");
    let nameless = send(&mut world, "", r#"{"text":"soup"}"#);
    let (now, words) = state(&mut world, &nameless);
    assert!(now == "FAILED" && words == "name the tool that is meant in `metadata.skill`", "{now} {words}");
    let pieces = world.gateway.snapshot(Secrets::Keep);
    let mut after = World::with(Gateway::restore(genesis(0), Config::from_json(&config("")).unwrap(), &pieces).unwrap());
    after.input(Input::Tick);
    for world in [&mut world, &mut after] {
        assert_eq!(state(world, &id).0, "SUBMITTED");
        serve(world);
        let call = called(world, "cook", r#"{"dish":"soup"}"#);
        assert_eq!(state(world, &id).0, "WORKING");
        answer(world, &call, r#""result":{"content":[]}"#);
        assert_eq!(state(world, &id).0, "COMPLETED");
        let (state, words) = state(world, &other);
        assert!(state == "FAILED" && words == "no MCP server offers mcp_kitchen_bake", "{state} {words}");
    }
}

/// A call that waits for its server is held against what is there by then, and its task hears of it.
#[test]
fn a_task_whose_call_waits_for_its_server_goes_on_under_another_policy_and_with_other_tools() {
    let guarded = r#","approval":{"require_approval":true}"#;
    let gone = r#""result":{"tools":[]}"#;
    for (more, tools, end) in [("", TOOLS, "WORKING"), (guarded, TOOLS, "INPUT_REQUIRED"), ("", gone, "FAILED")] {
        let mut world = ready("");
        world.event("kitchen", narrows::io::LinkEvent::Closed("ended".into()));
        world.advance(1500);
        world.event("kitchen", narrows::io::LinkEvent::Opened);
        let id = send(&mut world, COOK, r#"{"text":"soup"}"#);
        assert_eq!(state(&mut world, &id).0, "WORKING");
        world.input(Input::Configure { config: Config::from_json(&config(more)).unwrap().into() });
        world.answer("kitchen", "initialize", r#""result":{"protocolVersion":"2025-11-25","capabilities":{}}"#);
        world.asked("kitchen", "notifications/initialized");
        world.answer("kitchen", "tools/list", tools);
        assert_eq!(state(&mut world, &id).0, end);
        let proposed = world.notices.iter().filter(|(event, _)| event == "approval_proposed");
        let proposed: Vec<_> = proposed.map(|(_, fields)| string_at(fields, &["id"]).unwrap()).collect();
        assert_eq!(proposed.len(), usize::from(end == "INPUT_REQUIRED"), "who decides is asked once");
        for approval in proposed {
            world.input(Input::Decision { approval, approved: true, reason: None });
        }
        if end != "FAILED" {
            let call = called(&mut world, "cook", r#"{"dish":"soup"}"#);
            answer(&mut world, &call, r#""result":{"content":[]}"#);
            assert_eq!(state(&mut world, &id).0, "COMPLETED");
        }
        assert!(world.is_quiet("kitchen"));
    }
}

#[test]
fn a_task_whose_server_cannot_be_started_fails_with_that_reason() {
    let mut world = World::shaken(&config(""));
    let id = send(&mut world, COOK, r#"{"text":"soup"}"#);
    world.event("kitchen", narrows::io::LinkEvent::Closed("could not be started: no such file".into()));
    let (now, words) = state(&mut world, &id);
    assert!(now == "FAILED" && words.contains("'kitchen'") && words.contains("no such file"), "{now} {words}");
    let id = send(&mut world, COOK, r#"{"text":"soup"}"#);
    assert_eq!(state(&mut world, &id).0, "FAILED", "what went wrong once is no reason to wait");
}

#[test]
fn a_cancellation_passes_through() {
    let mut world = ready("");
    let id = send(&mut world, COOK, r#"{"text":"soup"}"#);
    let call = called(&mut world, "cook", r#"{"dish":"soup"}"#);
    rpc(&mut world, "CancelTask", &format!(r#"{{"id":"{id}"}}"#));
    let told = world.read("kitchen");
    assert_eq!(string_at(&told, &["method"]).as_deref(), Some("notifications/cancelled"));
    assert_eq!(at(&told, &["params", "requestId"]), Some(call.clone()));
    answer(&mut world, &call, r#""result":{"content":[]}"#);
    assert_eq!(state(&mut world, &id).0, "CANCELED");
}

#[test]
fn a_server_that_asks_back_fails_the_task() {
    let mut world = World::shaken(&config(""));
    world.event("kitchen", narrows::io::LinkEvent::Opened);
    let discovered = r#""result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete","ttlMs":0,"cacheScope":"private"}"#;
    world.answer("kitchen", "server/discover", discovered);
    world.answer("kitchen", "tools/list", TOOLS);
    while !world.is_quiet("kitchen") {
        world.read("kitchen");
    }
    let id = send(&mut world, COOK, r#"{"text":"soup"}"#);
    let call = called(&mut world, "cook", r#"{"dish":"soup"}"#);
    answer(
        &mut world,
        &call,
        r#""result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"salt?","requestedSchema":{"type":"object","properties":{}}}}}}"#,
    );
    assert_eq!(state(&mut world, &id).0, "FAILED");
}

#[test]
fn a_restart_fails_what_ran_and_says_so() {
    let mut world = ready("");
    let id = send(&mut world, COOK, r#"{"text":"soup"}"#);
    let pieces = world.gateway.snapshot(Secrets::Keep);
    let mut after = World::with(Gateway::restore(genesis(0), Config::from_json(&config("")).unwrap(), &pieces).unwrap());
    let (state, words) = state(&mut after, &id);
    assert!(state == "FAILED" && words.contains("restarted"), "{state} {words}");
}

#[test]
fn a_task_that_waits_for_an_approval_waits_on_after_a_restart() {
    let more = r#","approval":{"require_approval":true}"#;
    let mut world = ready(more);
    let id = send(&mut world, COOK, r#"{"text":"soup"}"#);
    let (_, fields) = world.notices.iter().find(|(event, _)| event == "approval_proposed").unwrap();
    let approval = string_at(fields, &["id"]).unwrap();
    let pieces = world.gateway.snapshot(Secrets::Keep);
    let mut after = World::with(Gateway::restore(genesis(0), Config::from_json(&config(more)).unwrap(), &pieces).unwrap());
    after.input(Input::Tick);
    serve(&mut after);
    assert_eq!(state(&mut after, &id).0, "INPUT_REQUIRED");
    after.input(Input::Decision { approval, approved: true, reason: None });
    let call = called(&mut after, "cook", r#"{"dish":"soup"}"#);
    answer(&mut after, &call, r#""result":{"content":[]}"#);
    assert_eq!(state(&mut after, &id).0, "COMPLETED");
    assert!(after.is_quiet("kitchen"));
}

#[test]
fn the_card_has_the_tools_as_skills() {
    let mut world = ready("");
    let card = http(&mut world, "GET", "/.well-known/agent-card.json", "");
    let skill = |at_: &str, name: &str| string_at(&card, &["skills", at_, name]).unwrap_or_else(|| panic!("{card}"));
    assert_eq!((skill("0", "id"), skill("0", "description")), (COOK.into(), "Cooks a dish.".into()));
    assert_eq!((skill("1", "id"), skill("1", "name")), ("mcp_kitchen_serve".into(), "serve".into()));
    let faults = Config::from_json(r#"{"a2a":{"responder":"tool:mcp_a_b"}}"#).unwrap_err().0;
    assert!(faults[0].contains("no `mcp_servers`"), "{faults:?}");
    let one = config("").replace(
        r#""responder":"tool""#,
        r#""responder":"echo","skills":[{"id":"dinner","name":"Dinner","responder":"tool:mcp_kitchen_cook"}]"#,
    );
    let read = Config::from_json(&one).unwrap();
    assert_eq!(Config::from_json(read.to_json().as_str()), Ok(read));
    let mut world = World::shaken(&one);
    serve(&mut world);
    send(&mut world, "dinner", r#"{"text":"soup"}"#);
    called(&mut world, "cook", r#"{"dish":"soup"}"#);
}
