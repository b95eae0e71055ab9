//! Two tools in place of all those of the servers: one finds them, the other calls what was found.

use narrows::io::{Input, LinkEvent};
use narrows::json;

use crate::world::{MODERN, World, at, servers, string_at};

fn config(more: &str) -> String {
    format!(r#"{},"mcp":{{"search":true}}{more}}}"#, servers(&["files", "github"]).strip_suffix('}').unwrap())
}

fn ready(more: &str) -> World {
    let mut world = World::shaken(&config(more));
    for (server, tools) in [
        ("files", [("read_file", "Reads a file."), ("delete-file", "Deletes a file.")]),
        ("github", [("create_issue", "Opens an issue."), ("list_issues", "Lists issues.")]),
    ] {
        world.event(server, LinkEvent::Opened);
        world.answer(server, "server/discover", r#""error":{"code":-32601,"message":"no"}"#);
        world.answer(server, "initialize", r#""result":{"protocolVersion":"2025-11-25","capabilities":{}}"#);
        world.asked(server, "notifications/initialized");
        world.describe(server, &tools);
    }
    world.said.clear();
    world
}

/// What a search finds, and how many there are in all.
fn found(world: &mut World, arguments: &str) -> (Vec<String>, String) {
    world.call(1, "search_tools", &format!(r#","arguments":{arguments}"#));
    let answer = world.answered(1);
    let list = at(&answer, &["result", "structuredContent", "tools"]).unwrap_or_else(|| panic!("{answer}"));
    let elements = json::elements(json::parse(&list, 64).unwrap()).unwrap();
    let names = elements.iter().map(|tool| string_at(tool.get(), &["name"]).unwrap()).collect();
    (names, at(&answer, &["result", "structuredContent", "total"]).unwrap())
}

fn call(world: &mut World, id: u64, name: &str, arguments: &str) {
    world.call(id, "call_tool", &format!(r#","arguments":{{"name":"{name}"{arguments}}}"#));
}

#[test]
fn two_tools_are_listed_and_find_the_others_with_their_schemas() {
    let mut world = ready("");
    assert!(world.offered().is_empty());
    for params in ["{}".to_owned(), format!(r#"{{"_meta":{{{MODERN}}}}}"#)] {
        world.say(1, &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{params}}}"#));
        let list = at(&world.answered(1), &["result", "tools"]).unwrap();
        assert!(list.contains(r#""name":"search_tools""#) && list.contains(r#""name":"call_tool""#) && !list.contains("mcp_"));
    }
    assert_eq!(found(&mut world, r#"{"query":"issues"}"#).0, ["mcp_github_list_issues", "mcp_github_create_issue"]);
    assert_eq!(found(&mut world, r#"{"query":"file","limit":1}"#), (vec!["mcp_files_delete_file".into()], "2".into()));
    assert_eq!(found(&mut world, "{}").0.len(), 4);
    world.call(1, "search_tools", r#","arguments":{"query":"read"}"#);
    let answer = world.answered(1);
    let tool = at(&answer, &["result", "structuredContent", "tools", "0"]).unwrap();
    assert_eq!(
        tool,
        r#"{"name":"mcp_files_read_file","description":"[MCP:files] Reads a file.","inputSchema":{"type":"object"}}"#
    );
    let text = string_at(&answer, &["result", "content", "0", "text"]).unwrap();
    assert_eq!(text, "mcp_files_read_file: [MCP:files] Reads a file.\n  arguments: {\"type\":\"object\"}");
}

#[test]
fn a_call_of_what_was_found_is_a_call_of_the_tool() {
    let mut world = ready("");
    call(&mut world, 1, "mcp_files_delete_file", r#","arguments":{"path":"/x","n":1e400}"#);
    let told = world.read("files");
    assert_eq!(string_at(&told, &["params", "name"]).as_deref(), Some("delete-file"));
    assert_eq!(at(&told, &["params", "arguments"]).unwrap(), r#"{"path":"/x","n":1e400}"#);
    let id = at(&told, &["id"]).unwrap();
    world.line("files", &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[],"structuredContent":{{"a":1}}}}}}"#));
    assert_eq!(at(&world.answered(1), &["result", "structuredContent"]).unwrap(), r#"{"a":1}"#);
    call(&mut world, 2, "mcp_files_read_file", "");
    assert_eq!(string_at(&world.read("files"), &["params", "name"]).as_deref(), Some("read_file"));
    for (name, more, words) in [
        ("mcp_files_read_fle", "", "near are mcp_files_read_file"),
        ("send_message", "", "no tool is called send_message"),
        ("call_tool", "", "no tool is called call_tool"),
        ("mcp_files_read_file", r#","arguments":[]"#, "`arguments` must be an object"),
        ("mcp_files_read_file", r#","argments":{}"#, "argments"),
    ] {
        call(&mut world, 3, name, more);
        let (code, said) = world.error(3);
        assert!(code == "invalid_argument" && said.contains(words), "{said}");
    }
    assert!(world.is_quiet("files") && world.is_quiet("github"));
}

#[test]
fn the_policy_holds_a_call_by_its_own_name() {
    let mut world = ready(r#","approval":{"require_approval":["mcp_files_delete_*"]}"#);
    call(&mut world, 1, "mcp_files_delete_file", r#","arguments":{"path":"/x"}"#);
    assert!(world.is_quiet("files"));
    let (_, fields) = world.notices.iter().find(|(event, _)| event == "approval_proposed").unwrap();
    assert_eq!(string_at(fields, &["tool"]).as_deref(), Some("mcp_files_delete_file"));
    let approval = string_at(fields, &["id"]).unwrap();
    world.input(Input::Decision { approval, approved: true, reason: None });
    assert_eq!(string_at(&world.read("files"), &["params", "name"]).as_deref(), Some("delete-file"));
    call(&mut world, 2, "mcp_files_read_file", r#","arguments":{"password":"hunter2x"}"#);
    assert_eq!(world.error(2).0, "blocked");
    assert!(world.is_quiet("files"));
}

#[test]
fn what_a_caller_may_not_call_is_not_found() {
    let more = r#","agents":{"default":{"mcp_servers":["files"]}},"users":[{"id":"ada","tool_policy":{"deny":["*_delete_*"]}}],"caller":{"sender":"ada"}"#;
    let mut world = ready(more);
    assert_eq!(found(&mut world, "{}").0, ["mcp_files_read_file"]);
    assert_eq!(found(&mut world, r#"{"query":"issue"}"#), (Vec::new(), "0".into()));
    call(&mut world, 2, "mcp_github_create_issue", "");
    assert_eq!(world.error(2).0, "blocked");
}

#[test]
fn clients_are_not_told_of_a_list_that_stays() {
    let mut world = ready("");
    world.change("files", &[("read_file", "Reads a file."), ("new", "Something new.")]);
    assert!(world.said.is_empty(), "{:?}", world.said);
    assert_eq!(found(&mut world, r#"{"query":"new"}"#).0, ["mcp_files_new"]);
    let mut world = World::shaken(r#"{"mcp":{"search":true}}"#);
    world.say(1, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert!(!world.answered(1).contains("search_tools"), "there is nothing to find");
}
