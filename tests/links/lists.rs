//! The tools of servers beside the gateway's own.

use narrows::io::LinkEvent;

use crate::world::{MODERN, World, at, servers, string_at};

#[test]
fn tools_come_after_the_own_ones_in_both_eras_as_their_servers_told_them() {
    let mut world = World::shaken(&servers(&["My-Files"]));
    world.event("My-Files", LinkEvent::Opened);
    world.answer("My-Files", "server/discover", r#""error":{"code":-32601,"message":"no"}"#);
    world.answer("My-Files", "initialize", r#""result":{"protocolVersion":"2024-11-05","capabilities":{}}"#);
    world.asked("My-Files", "notifications/initialized");
    let tool = r#"{"name":"Read.File","title":"Read","description":"Reads.","inputSchema":{"type":"object","$defs":{"n":{"maximum":1e400}}},"annotations":{"destructiveHint":true,"vendor":[1]},"x-y":null}"#;
    world.answer("My-Files", "tools/list", &format!(r#""result":{{"tools":[{tool}],"vendor":1}}"#));
    let want = tool.replace(
        r#""name":"Read.File","title":"Read","description":"Reads.","#,
        r#""name":"mcp_my_files_read_file","description":"[MCP:My-Files] Reads.","title":"Read","#,
    );
    for params in ["{}".to_owned(), format!(r#"{{"_meta":{{{MODERN}}}}}"#)] {
        world.said.clear();
        world.say(1, &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{params}}}"#));
        let answer = world.answered(1);
        let list = at(&answer, &["result", "tools"]).unwrap();
        let last = narrows::json::elements(narrows::json::parse(&list, 64).unwrap()).unwrap();
        assert_eq!(last.last().unwrap().get(), want);
        assert_eq!(string_at(last[0].get(), &["name"]).as_deref(), Some("broadcast_message"));
    }
}

#[test]
fn clients_are_told_of_changes_and_only_of_those() {
    let mut world = World::shaken(&servers(&["a"]));
    world.open(2);
    world.say(2, &format!(r#"{{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{{"notifications":{{"toolsListChanged":true}},"_meta":{{{MODERN}}}}}}}"#));
    let acknowledged = world.said.pop_back().unwrap().1;
    assert_eq!(at(&acknowledged, &["params", "notifications"]).as_deref(), Some(r#"{"toolsListChanged":true}"#));
    world.open(3);
    world.say(3, &format!(r#"{{"jsonrpc":"2.0","id":"m","method":"subscriptions/listen","params":{{"notifications":{{"promptsListChanged":true}},"_meta":{{{MODERN}}}}}}}"#));
    assert_eq!(at(&world.said.pop_back().unwrap().1, &["params", "notifications"]).as_deref(), Some("{}"));
    world.said.clear();
    world.legacy("a", &["x"]);
    let told: Vec<_> = world.said.drain(..).map(|(peer, text)| (peer.0, text)).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[0], (1, r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}"#.to_owned()));
    assert_eq!(told[1], (2, r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}"#.to_owned()));
    // The same list again is no change.
    world.advance(1000);
    world.line("a", r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    world.list("a", &["x"]);
    assert!(world.said.is_empty());
    world.advance(1000);
    world.line("a", r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    world.list("a", &["x", "y"]);
    assert_eq!(world.said.len(), 2);
    assert_eq!(world.offered(), ["mcp_a_x", "mcp_a_y"]);
}

#[test]
fn a_list_that_changes_all_the_time_is_read_now_and_then() {
    let mut world = World::shaken(&servers(&["a"]));
    world.legacy("a", &["x"]);
    for _ in 0..100 {
        world.line("a", r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    }
    assert!(world.is_quiet("a"));
    world.advance(1000);
    world.list("a", &["y"]);
    assert!(world.is_quiet("a"));
    assert_eq!(world.offered(), ["mcp_a_y"]);
}

#[test]
fn a_list_that_cannot_be_read_again_stays() {
    let mut world = World::shaken(&servers(&["a"]));
    world.legacy("a", &["x"]);
    world.advance(1000);
    world.line("a", r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    world.answer("a", "tools/list", r#""error":{"code":-32603,"message":"oops"}"#);
    assert_eq!(world.offered(), ["mcp_a_x"]);
    world.advance(1000);
    world.line("a", r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    world.asked("a", "tools/list");
    world.advance(30_000);
    assert_eq!((world.offered(), world.closed.len()), (vec!["mcp_a_x".to_owned()], 0));
}

#[test]
fn a_caller_sees_the_tools_that_it_may_call() {
    let pair = servers(&["a", "b"]);
    let pair = pair.strip_suffix('}').unwrap();
    for (more, want) in [
        ("", &["mcp_a_x", "mcp_a_y", "mcp_b_x"][..]),
        (r#","agents":{"default":{"mcp_servers":["b"]}}"#, &["mcp_b_x"]),
        (r#","agents":{"default":{"mcp_servers":["*"]},"cron":{"mcp_servers":[]}},"caller":{"agent":"cron"}"#, &[]),
        (
            r#","approval":{"channel_rules":[{"channel":"chat","denied_tools":["mcp_a_*"]}]},"caller":{"channel":"chat"}"#,
            &["mcp_b_x"],
        ),
        (r#","users":[{"id":"ada","tool_policy":{"allow":["mcp_a_y"]}}],"caller":{"sender":"ada"}"#, &["mcp_a_y"]),
        (r#","approval":{"require_approval":true}"#, &["mcp_a_x", "mcp_a_y", "mcp_b_x"]),
    ] {
        let mut world = World::shaken(&format!("{pair}{more}}}"));
        world.legacy("a", &["x", "y"]);
        world.legacy("b", &["x"]);
        assert_eq!(world.offered(), want, "{more}");
        world.call(1, "mcp_a_xx", "");
        assert_eq!(world.answered(1).contains("mcp_a_x,"), want.contains(&"mcp_a_x"), "{more}");
    }
}

#[test]
fn a_call_before_its_server_told_its_tools_says_so() {
    let mut world = World::shaken(&servers(&["a", "my-b"]));
    world.call(1, "mcp_my_b_x", "");
    let (code, words) = world.error(1);
    assert_eq!(code, "unreachable");
    assert!(words.contains("MCP server 'my-b' is still connecting"), "{words}");
    world.call(2, "mcp_c_x", "");
    assert!(world.answered(2).contains("unknown tool: mcp_c_x"));
    world.legacy("my-b", &["x"]);
    world.call(3, "mcp_my_b_y", "");
    assert!(world.answered(3).contains("unknown tool: mcp_my_b_y"));
    world.call(4, "mcp_my_b_x", "");
    world.read("my-b");
    world.event("a", LinkEvent::Stderr("no such file".into()));
    world.event("a", LinkEvent::Closed("exited with 1".into()));
    world.call(5, "mcp_a_x", "");
    let (_, words) = world.error(5);
    assert!(words.contains("is not connected") && words.contains("no such file"), "{words}");
    let agents = r#","agents":{"default":{"mcp_servers":[]}}}"#;
    let mut world = World::shaken(&[servers(&["a"]).strip_suffix('}').unwrap(), agents].concat());
    world.call(1, "mcp_a_x", "");
    assert!(world.answered(1).contains("unknown tool"));
}

#[test]
fn all_pages_are_read() {
    let mut world = World::shaken(&servers(&["a"]));
    world.event("a", LinkEvent::Opened);
    world.answer("a", "server/discover", r#""error":{"code":-32601,"message":"no"}"#);
    world.answer("a", "initialize", r#""result":{"protocolVersion":"2025-11-25","capabilities":{}}"#);
    world.asked("a", "notifications/initialized");
    for (page, cursor) in [("x", r#","nextCursor":"""#), ("y", r#","nextCursor":"2""#), ("z", "")] {
        world.answer("a", "tools/list", &format!(r#""result":{{"tools":[{{"name":"{page}","inputSchema":{{}}}}]{cursor}}}"#));
        let next = world.written.back().map(|(_, text)| at(text, &["params", "cursor"]));
        assert_eq!(next.is_some(), !cursor.is_empty());
    }
    assert_eq!(world.offered(), ["mcp_a_x", "mcp_a_y", "mcp_a_z"]);
}

#[test]
fn tools_that_would_share_a_name_are_both_told_apart_and_both_reached() {
    let mut world = World::shaken(&servers(&["a", "a_b"]));
    world.legacy("a", &["b_c"]);
    assert_eq!(world.offered(), ["mcp_a_b_c"]);
    world.legacy("a_b", &["c"]);
    let names = world.offered();
    assert!(names.len() == 2 && names.iter().all(|name| name.starts_with("mcp_a_b_c_")), "{names:?}");
    assert!(world.notices.iter().any(|(event, fields)| event == "tool_names_shared" && fields.contains(&names[0])));
    for (id, (name, server, tool)) in [(&names[0], "a", "b_c"), (&names[1], "a_b", "c")].into_iter().enumerate() {
        world.call(u64::try_from(id).unwrap(), name, "");
        assert_eq!(string_at(&world.read(server), &["params", "name"]).as_deref(), Some(tool));
    }
    world.call(7, "mcp_a_b_c", "");
    let answer = world.answered(7);
    assert_eq!(at(&answer, &["error", "code"]).as_deref(), Some("-32602"));
    assert!(names.iter().all(|name| answer.contains(name.as_str())), "near names are told: {answer}");
}

#[test]
fn one_server_that_is_down_leaves_the_others() {
    let mut world = World::shaken(&servers(&["a", "b"]));
    world.event("a", LinkEvent::Closed("not found".into()));
    world.legacy("b", &["x"]);
    assert_eq!(world.offered(), ["mcp_b_x"]);
}

#[test]
fn a_list_that_changed_while_it_was_not_told_is_asked_for_again_after_a_while() {
    let mut world = World::shaken(&servers(&["a"]));
    world.legacy("a", &["x"]);
    world.advance(2000);
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    world.line("a", changed);
    world.asked("a", "tools/list");
    world.line("a", changed);
    world.advance(30_000);
    assert!(world.notices.iter().any(|(event, _)| event == "link_list_kept") && world.is_quiet("a"));
    world.advance(1000);
    world.list("a", &["x", "y"]);
    assert_eq!(world.offered(), ["mcp_a_x", "mcp_a_y"]);
}

#[test]
fn patterns_that_fit_no_tool_are_told_of_once_all_are_known() {
    let servers = servers(&["a", "b"]);
    let servers = servers.strip_suffix('}').unwrap();
    let policy = r#""approval":{"require_approval":["mcp_a_wriet","mcp_b_*"],"channel_rules":[{"channel":"c","denied_tools":["mcp_c_*","mcp_a_x"]}]},"mcp_taint_policy":[{"tool":"send_message","skip_rules":["PiiEmail"]}]"#;
    let mut world = World::shaken(&format!("{servers},{policy}}}"));
    let told = |world: &World| world.notices.iter().filter(|(event, _)| event == "patterns_idle").cloned().collect::<Vec<_>>();
    world.legacy("a", &["x"]);
    assert!(told(&world).is_empty(), "the other server may have them");
    world.legacy("b", &["y"]);
    world.change("a", &[("x", "otherwise"), ("z", "")]);
    let all = told(&world);
    assert_eq!(all, [("patterns_idle".to_owned(), r#"{"patterns":["mcp_a_wriet","mcp_c_*"]}"#.to_owned())]);
}
