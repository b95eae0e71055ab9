//! Inputs of the field on which gateways in front of MCP servers have failed.

use std::fs;
use std::path::Path;

use narrows::config::Config;
use narrows::io::LinkEvent;
use narrows::json;

use crate::remote;
use crate::world::{World, at, servers, string_at};

/// Calls a check with every record of a file, but for those that are `elsewhere`, each for its reason.
fn walk(file: &str, elsewhere: &[(&str, &str)], check: impl Fn(&str, &str, &str)) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cases").join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
    let mut passed = 0;
    for record in list(&text) {
        let id = string_at(&record, &["id"]).unwrap();
        if elsewhere.iter().any(|(other, _)| *other == id) {
            passed += 1;
        } else {
            check(&id, &at(&record, &["input"]).unwrap(), &at(&record, &["expected"]).unwrap());
        }
    }
    assert_eq!(passed, elsewhere.len(), "every record that is passed over is there");
}

fn list(text: &str) -> Vec<String> {
    let elements = json::elements(json::parse(text, 64).unwrap()).unwrap_or_else(|| panic!("no list: {text}"));
    elements.iter().map(|element| element.get().to_owned()).collect()
}

fn strings(text: &str) -> Vec<String> {
    list(text).iter().map(|element| string_at(element, &[]).unwrap()).collect()
}

/// The servers of a case and their tools.
fn named(input: &str) -> Vec<(String, Vec<String>)> {
    match at(input, &["servers"]) {
        Some(servers) => {
            let members = json::members(json::parse(&servers, 64).unwrap()).unwrap().keep();
            members.into_iter().map(|(name, tools)| (name, strings(tools.as_str()))).collect()
        }
        None => vec![(string_at(input, &["server"]).unwrap(), strings(&at(input, &["tools"]).unwrap()))],
    }
}

/// A world in which these servers are ready.
fn ready(named: &[(String, Vec<String>)]) -> World {
    let names: Vec<&str> = named.iter().map(|(name, _)| name.as_str()).collect();
    let mut world = World::shaken(&servers(&names));
    for (name, tools) in named {
        world.legacy(name, &tools.iter().map(String::as_str).collect::<Vec<_>>());
    }
    world
}

/// Every offered name reaches a tool of its own.
fn all_are_reached(world: &mut World, named: &[(String, Vec<String>)]) {
    let mut wanted: Vec<(String, String)> =
        named.iter().flat_map(|(server, tools)| tools.iter().map(move |tool| (server.clone(), tool.clone()))).collect();
    for (id, name) in (1..).zip(world.offered()) {
        world.call(id, &name, "");
        let (link, text) = world.written.pop_back().unwrap_or_else(|| panic!("{name} reaches nobody"));
        let server = world.running.iter().find(|(_, running)| **running == link).unwrap().0.clone();
        let reached = (server, string_at(&text, &["params", "name"]).unwrap());
        let found = wanted.iter().position(|pair| *pair == reached).unwrap_or_else(|| panic!("{reached:?} is reached twice"));
        wanted.remove(found);
    }
    assert_eq!(wanted, [], "nobody reaches these");
}

#[test]
fn tool_naming() {
    let policy = "patterns and scans are the policy's";
    let elsewhere =
        [("name-008", policy), ("name-010", policy), ("name-014", "a snapshot of another version is refused, whatever is in it")];
    walk("tool-naming.json", &elsewhere, |id, input, expected| match id {
        "name-001" | "name-002" | "name-005" | "name-011" | "name-013" => {
            let named = named(input);
            let mut world = ready(&named);
            let names = world.offered();
            assert!(
                names
                    .iter()
                    .all(|name| name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
            );
            assert_eq!(names, ready(&named).offered(), "{id}: a restart changes no name");
            if let (Some(call), Some(route)) = (string_at(input, &["call"]), at(expected, &["routes_to"])) {
                // A name that two tools would share is nobody's, and both others are told.
                let shared = names.iter().all(|name| *name != call);
                world.call(99, &call, "");
                if shared {
                    let answer = world.answered(99);
                    assert!(answer.contains("-32602") && names.iter().all(|name| answer.contains(name.as_str())), "{answer}");
                } else {
                    let [server, tool] = strings(&route).try_into().unwrap();
                    assert_eq!(string_at(&world.read(&server), &["params", "name"]), Some(tool));
                }
            }
            if let Some(collision) = at(expected, &["collision"]) {
                assert!(strings(&collision).iter().all(|name| !names.contains(name)));
                assert!(world.notices.iter().any(|(event, _)| event == "tool_names_shared"));
            }
            if let Some(own) = at(expected, &["names"]) {
                assert_eq!(names, strings(&own)[1..]);
            }
            all_are_reached(&mut world, &named);
        }
        "name-004" => {
            let names: Vec<String> = named(input).into_iter().map(|(name, _)| name).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let faults = Config::from_json(&servers(&names)).unwrap_err().0;
            assert!(names.iter().all(|name| faults[0].contains(name)), "{faults:?}");
        }
        "name-007" => {
            let tools = ["a".repeat(70), "B.c".to_owned(), "b_C".to_owned(), "é".to_owned(), " ".to_owned()];
            let named = vec![("s p".to_owned(), tools.to_vec()), ("t".repeat(60), tools.to_vec())];
            all_are_reached(&mut ready(&named), &named);
        }
        unknown => panic!("nothing checks {unknown}"),
    });
}

/// A world with one server, whose list is this.
fn listing(tools: &str) -> World {
    let mut world = World::shaken(&servers(&["odd"]));
    world.event("odd", LinkEvent::Opened);
    world.answer("odd", "server/discover", r#""error":{"code":-32601,"message":"no"}"#);
    world.answer("odd", "initialize", r#""result":{"protocolVersion":"2025-11-25","capabilities":{}}"#);
    world.asked("odd", "notifications/initialized");
    world.answer("odd", "tools/list", &format!(r#""result":{{"tools":{tools}}}"#));
    world
}

fn config(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cases/configs").join(name)).unwrap()
}

#[test]
fn odd_names_are_all_reached_but_the_empty_one() {
    let text = config("tools-03-odd-names.json");
    let tools = at(&text, &["tools"]).unwrap();
    let mut world = listing(&tools);
    let names: Vec<String> = list(&tools).iter().map(|tool| string_at(tool, &["name"]).unwrap()).collect();
    let named = vec![("odd".to_owned(), names.into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>())];
    assert_eq!(named[0].1.len(), 13);
    let offered = world.offered();
    assert!(
        offered.iter().all(|name| name.len() <= 64 && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')))
    );
    assert!(world.notices.iter().any(|(event, fields)| event == "link_tool" && fields.contains("empty name")));
    all_are_reached(&mut world, &named);
}

#[test]
fn an_empty_cursor_is_a_cursor_and_null_is_none() {
    let text = config("tools-05-pages.json");
    let mut world = World::shaken(&servers(&["odd"]));
    world.event("odd", LinkEvent::Opened);
    world.answer("odd", "server/discover", r#""error":{"code":-32601,"message":"no"}"#);
    world.answer("odd", "initialize", r#""result":{"protocolVersion":"2025-11-25","capabilities":{}}"#);
    world.asked("odd", "notifications/initialized");
    for page in list(&at(&text, &["pages"]).unwrap()) {
        let asked = world.read("odd");
        assert_eq!(at(&asked, &["params", "cursor"]), at(&page, &["cursor"]));
        let (id, name) = (at(&asked, &["id"]).unwrap(), string_at(&page, &["tools", "0", "name"]).unwrap());
        let next = at(&page, &["nextCursor"]).unwrap();
        let result = format!(r#"{{"tools":[{{"name":"{name}","inputSchema":{{"type":"object"}}}}],"nextCursor":{next}}}"#);
        world.line("odd", &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
    }
    assert_eq!(world.offered(), ["mcp_odd_a", "mcp_odd_b", "mcp_odd_c"]);
    assert!(world.is_quiet("odd"));
}

/// What a server gets of calls with those arguments, or the code of their refusal.
fn forwarded(calls: &[String], expected: &[String]) {
    for (call, expected) in calls.iter().zip(expected) {
        let mut world = listing(r#"[{"name":"x","inputSchema":{"type":"object"}}]"#);
        let arguments = at(call, &["arguments"]).map(|raw| format!(r#","arguments":{raw}"#)).unwrap_or_default();
        world.call(1, "mcp_odd_x", &arguments);
        if let Some(code) = string_at(expected, &[]) {
            assert_eq!(at(&world.answered(1), &["error", "code"]), Some(code), "{call}");
        } else {
            let compact = |raw: String| json::compact(&raw).into_owned();
            let sent = at(&world.read("odd"), &["params", "arguments"]).map(compact);
            assert_eq!(sent, Some(compact(expected.clone())), "{call}");
        }
    }
}

#[test]
fn schemas() {
    walk("schema.json", &[], |id, input, expected| {
        let good = r#"{"name":"good","inputSchema":{"type":"object"}}"#;
        if id == "schema-005" {
            return forwarded(&list(&at(input, &["calls"]).unwrap()), &list(&at(expected, &["forwarded"]).unwrap()));
        }
        if id == "schema-007" {
            return forwarded(&[input.to_string()], &[at(expected, &["forwarded"]).unwrap()]);
        }
        if id == "schema-004" {
            let bad = &list(&at(input, &["tools"]).unwrap())[1];
            let mut world = listing(&format!("[{good},{bad}]"));
            world.call(1, "mcp_odd_good", "");
            assert_eq!(string_at(&world.read("odd"), &["params", "name"]).as_deref(), Some("good"));
            return;
        }
        let schema = json::Json::parse(&at(input, &["inputSchema"]).unwrap(), 16).unwrap().into_string();
        let mut world = listing(&format!(r#"[{{"name":"x","inputSchema":{schema}}},{good}]"#));
        assert_eq!(world.offered(), ["mcp_odd_x", "mcp_odd_good"]);
        world.say(1, r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#);
        let listed = world.answered(7);
        let tool = list(&at(&listed, &["result", "tools"]).unwrap()).into_iter().find(|tool| tool.contains("mcp_odd_x")).unwrap();
        assert_eq!(at(&tool, &["inputSchema"]), Some(schema), "{id}");
        world.call(8, "mcp_odd_x", "");
        world.asked("odd", "tools/call");
    });
}

#[test]
fn tool_results() {
    let agents = "it is about agents";
    let elsewhere = [("out-002", agents), ("out-004", agents), ("out-005", agents), ("out-007", agents)];
    walk("tool-results.json", &elsewhere, |id, input, _| {
        assert_eq!(id, "out-001");
        let mut world = World::shaken(&servers(&["a"]));
        world.event("a", LinkEvent::Opened);
        world.answer("a", "server/discover", r#""error":{"code":-32601,"message":"no"}"#);
        world.answer("a", "initialize", r#""result":{"protocolVersion":"2025-11-25","capabilities":{}}"#);
        world.asked("a", "notifications/initialized");
        let schema = at(input, &["outputSchema"]).unwrap();
        world.answer(
            "a",
            "tools/list",
            &format!(r#""result":{{"tools":[{{"name":"x","inputSchema":{{}},"outputSchema":{schema}}}]}}"#),
        );
        world.call(1, "mcp_a_x", "");
        let result = at(input, &["result"]).unwrap();
        world.answer("a", "tools/call", &format!(r#""result":{result}"#));
        assert_eq!(at(&world.answered(1), &["result"]), json::Json::parse(&result, 16).ok().map(json::Json::into_string));
    });
}

#[test]
fn lines_of_servers() {
    let lines = "it is about bytes, which hosts cut into lines";
    let elsewhere = ["stdio-001", "stdio-002", "stdio-007", "stdio-010"].map(|id| (id, lines));
    walk("stdio-framing.json", &elsewhere, |id, input, expected| {
        let mut world = World::shaken(&servers(&["a"]));
        world.event("a", LinkEvent::Opened);
        if id == "stdio-011" {
            world.event("a", LinkEvent::Closed("ended with exit code 1".into()));
            world.event("a", LinkEvent::Opened);
            world.asked("a", "initialize");
            world.event("a", LinkEvent::Stderr(string_at(input, &["child", "stderr"]).unwrap()));
            world.event("a", LinkEvent::Closed("ended with exit code 1".into()));
            let (_, fields) = world.notices.last().unwrap();
            assert!(fields.contains("exit code 1") && fields.contains("SyntaxError: x"), "{fields}");
            return;
        }
        world.answer("a", "server/discover", r#""error":{"code":-32601,"message":"no"}"#);
        let lines = strings(&at(input, &["lines"]).unwrap());
        // Hosts drop lines that are blank.
        let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).filter(|line| !line.is_empty()).collect();
        if id == "stdio-004" {
            let handshake = world.asked("a", "initialize");
            for line in lines {
                world.line("a", &line.replace(r#""id":0"#, &format!(r#""id":{handshake}"#)));
            }
            world.asked("a", "notifications/initialized");
            world.list("a", &["x"]);
            let (_, fields) = world.notices.iter().find(|(event, _)| event == "link_ready").unwrap();
            let ignored: u64 = at(expected, &["ignored"]).unwrap().parse().unwrap();
            assert_eq!(at(fields, &["noise"]), Some((ignored - 1).to_string()), "but for the blank one");
            return;
        }
        world.handshake("a", &["x"]);
        world.call(1, "mcp_a_x", "");
        let call = world.asked("a", "tools/call");
        for line in lines {
            world.line("a", &line.replace(r#""id":1"#, &format!(r#""id":{call}"#)));
        }
        let result = at(&world.answered(1), &["result"]).unwrap();
        assert_eq!(at(&result, &["ok"]), at(expected, &["id1", "ok"]), "{id}");
        assert!(world.is_quiet("a"));
    });
}

#[test]
fn sessions_and_reconnection() {
    let served = "it is about clients that the gateway serves";
    let elsewhere =
        [("sess-005", served), ("sess-010", served), ("sess-007", "it is about processes, which hosts start and end")];
    walk("sessions-reconnection.json", &elsewhere, |id, input, expected| match id {
        "sess-001" => remote::session_over(1, 404, "Session not found"),
        "sess-017" => {
            let statuses = list(&at(input, &["responses"]).unwrap());
            let refusals: Vec<u16> =
                statuses.iter().map(|status| status.parse().unwrap()).filter(|status| *status != 200).collect();
            remote::standing_again(&refusals);
        }
        "sess-004" => {
            let calls = at(input, &["in_flight"]).unwrap().parse().unwrap();
            assert_eq!(at(expected, &["initialize_count"]).as_deref(), Some("1"));
            remote::session_over(calls, at(input, &["resp"]).unwrap().parse().unwrap(), "Session not found");
        }
        "sess-002" => remote::call_that_fails(&string_at(input, &["send_failure"]).unwrap()),
        "sess-008" => {
            let accepted = list(&at(expected, &["accepted"]).unwrap());
            for (version, accepted) in list(&at(input, &["server_versions"]).unwrap()).iter().zip(accepted) {
                let mut world = World::shaken(&servers(&["a"]));
                world.event("a", LinkEvent::Opened);
                world.answer("a", "server/discover", r#""error":{"code":-32601,"message":"no"}"#);
                world.answer("a", "initialize", &format!(r#""result":{{"protocolVersion":{version},"capabilities":{{}}}}"#));
                assert_eq!(world.closed.is_empty(), accepted == "true", "{version}");
            }
        }
        "sess-011" | "sess-013" => remote::versions_of_a_session("2025-06-18"),
        "sess-014" => remote::version_at_once(&string_at(input, &["responses", "0", "body"]).unwrap()),
        "sess-016" => remote::names_in_header_fields(),
        unknown => panic!("nothing checks {unknown}"),
    });
}
