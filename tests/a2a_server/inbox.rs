//! Tasks that are answered through MCP.

use super::caller::{answer_of, at, call, call_as, code, ended, events, kinds, reply, result, send_params, text, value};
use super::world::World;

fn inbox() -> World {
    World::new(r#"{"a2a":{}}"#)
}

/// The structure of a tool's result, and whether it is an error.
fn tool_as(world: &mut World, fields: &[(&str, &str)], name: &str, arguments: &str) -> (serde_json::Value, bool) {
    let params = format!(r#"{{"name":"{name}","arguments":{arguments}}}"#);
    let request = world.modern_as(fields, "1", "tools/call", name, &params);
    let answer = value(&world.done(request).body);
    (answer["result"]["structuredContent"].clone(), at(&answer, "result.isError").as_bool() == Some(true))
}

fn tool(world: &mut World, name: &str, arguments: &str) -> serde_json::Value {
    let (result, failed) = tool_as(world, &[], name, arguments);
    assert!(!failed, "{name}: {result}");
    result
}

#[test]
fn a_task_is_seen_and_answered() {
    let mut world = inbox();
    let stream = call(&mut world, "SendStreamingMessage", &send_params("what is for dinner?"));
    let seen = tool(&mut world, "check_inbox", "{}");
    let id = text(&seen, "inbound.0.task_id");
    assert_eq!((text(&seen, "inbound.0.from"), text(&seen, "inbound.0.state")), ("local".into(), "submitted".into()));
    assert_eq!(text(&seen, "inbound.0.text"), "what is for dinner?");
    assert_eq!(text(&tool(&mut world, "list_tasks", r#"{"state":"submitted"}"#), "tasks.0.id"), id);
    let arguments = format!(r#"{{"task_id":"{id}","state":"working","message":"thinking"}}"#);
    assert_eq!(text(&tool(&mut world, "respond_task", &arguments), "task.status.state"), "TASK_STATE_WORKING");
    let artifact = r#"{"name":"menu","parts":[{"text":"soup"},{"data":{"price":1e2}}]}"#;
    let arguments = format!(r#"{{"task_id":"{id}","state":"completed","artifact":{artifact},"message":"enjoy"}}"#);
    tool(&mut world, "respond_task", &arguments);
    assert_eq!(kinds(&world, stream), ["task submitted", "statusUpdate working", "artifactUpdate", "statusUpdate completed"]);
    assert!(world.body(stream).contains("1e2") && ended(&world, stream));
    assert_eq!(text(&events(&world, stream)[3], "statusUpdate.status.message.parts.0.text"), "enjoy");
    assert_eq!(at(&tool(&mut world, "check_inbox", "{}"), "inbound").as_array().unwrap().len(), 0);
    let (error, failed) = tool_as(&mut world, &[], "respond_task", &arguments);
    assert!(failed && text(&error, "error.message").contains("has ended"), "{error}");
}

#[test]
fn the_text_alone_tells_what_was_asked() {
    let mut world = inbox();
    let told = |world: &mut World, name: &str, arguments: &str| {
        let params = format!(r#"{{"name":"{name}","arguments":{arguments}}}"#);
        let request = world.modern_as(&[], "1", "tools/call", name, &params);
        text(&value(&world.done(request).body), "result.content.0.text")
    };
    call(&mut world, "SendStreamingMessage", &send_params("what is for dinner?"));
    let id = text(&tool(&mut world, "list_tasks", "{}"), "tasks.0.id");
    call(&mut world, "SendStreamingMessage", &format!(r#"{{"message":{}}}"#, reply(&id, "for five")));
    let line = format!("{id}: submitted (from local): what is for dinner?\nfor five");
    assert_eq!((told(&mut world, "check_inbox", "{}"), told(&mut world, "list_tasks", "{}")), (line.clone(), line));
    call(&mut world, "SendStreamingMessage", &send_params(&"é".repeat(3000)));
    let page = tool(&mut world, "list_tasks", r#"{"limit":1}"#);
    let (more, cursor) = (told(&mut world, "list_tasks", r#"{"limit":1}"#), text(&page, "next_cursor"));
    assert!(more.ends_with(&format!("é (and more)\nThere are more: cursor {cursor}")) && more.len() < 4200, "{more}");
}

#[test]
fn what_is_empty_is_told_as_what_it_is() {
    let mut world = inbox();
    call(&mut world, "SendStreamingMessage", &send_params("x"));
    let id = text(&tool(&mut world, "list_tasks", "{}"), "tasks.0.id");
    tool(&mut world, "respond_task", &format!(r#"{{"task_id":"{id}","state":"working","parts":[]}}"#));
    let arguments = format!(r#"{{"task_id":"{id}","state":"completed","artifact":{{}}}}"#);
    let (error, failed) = tool_as(&mut world, &[], "respond_task", &arguments);
    assert!(failed && text(&error, "error.message").contains("`artifact` is empty"), "{error}");
}

#[test]
fn more_is_asked_for_and_given() {
    let mut world = inbox();
    let blocking = call(&mut world, "SendMessage", &send_params("paint it"));
    let id = text(&tool(&mut world, "list_tasks", "{}"), "tasks.0.id");
    tool(&mut world, "respond_task", &format!(r#"{{"task_id":"{id}","state":"input-required","message":"which colour?"}}"#));
    let task = answer_of(&world, blocking)["result"]["task"].clone();
    assert_eq!(text(&task, "status.message.parts.0.text"), "which colour?");
    let blocking = call(&mut world, "SendMessage", &format!(r#"{{"message":{}}}"#, reply(&id, "blue")));
    let seen = tool(&mut world, "check_inbox", "{}");
    assert_eq!((text(&seen, "inbound.0.text"), text(&seen, "inbound.0.state")), ("blue".into(), "working".into()));
    tool(&mut world, "respond_task", &format!(r#"{{"task_id":"{id}","state":"failed"}}"#));
    assert_eq!(text(&answer_of(&world, blocking), "result.task.status.state"), "TASK_STATE_FAILED");
    assert_eq!(
        text(&answer_of(&world, blocking), "result.task.history.1.parts.0.text"),
        "which colour?",
        "what was asked is history"
    );
}

#[test]
fn a_canceled_task_is_not_answered() {
    let mut world = inbox();
    call(&mut world, "SendMessage", &send_params("x"));
    let id = text(&tool(&mut world, "list_tasks", "{}"), "tasks.0.id");
    result(&mut world, "CancelTask", &format!(r#"{{"id":"{id}"}}"#));
    let (error, failed) = tool_as(&mut world, &[], "respond_task", &format!(r#"{{"task_id":"{id}","state":"completed"}}"#));
    assert!(failed && text(&error, "error.message").contains("canceled"), "{error}");
    assert_eq!(code(&mut world, "SendMessage", &format!(r#"{{"message":{}}}"#, reply(&id, "x"))), -32004);
}

#[test]
fn arguments_are_checked() {
    let mut world = inbox();
    call(&mut world, "SendMessage", &send_params("x"));
    let id = text(&tool(&mut world, "list_tasks", "{}"), "tasks.0.id");
    for (arguments, words) in [
        (format!(r#"{{"task_id":"{id}"}}"#), "`state` is missing"),
        (format!(r#"{{"task_id":"{id}","state":"asleep"}}"#), "`state` must be"),
        (format!(r#"{{"task_id":"{id}","state":"completed","artifact":{{}}}}"#), "message"),
        (format!(r#"{{"task_id":"{id}","state":"completed","artifact":{{"message":"a","x":1}}}}"#), "`artifact.x`"),
        (format!(r#"{{"task_id":"{id}","state":"completed","parts":[{{}}]}}"#), "parts[0]"),
        (r#"{"task_id":"nope","state":"completed"}"#.into(), "no task nope"),
    ] {
        let (error, failed) = tool_as(&mut world, &[], "respond_task", &arguments);
        assert!(failed && text(&error, "error.message").contains(words), "{arguments}: {error}");
    }
    assert_eq!(text(&tool(&mut world, "list_tasks", "{}"), "tasks.0.status.state"), "TASK_STATE_SUBMITTED", "nothing changed");
}

#[test]
fn a_principal_answers_its_own_tasks_and_those_of_all_where_it_may() {
    let tokens = r#"[{"token":"alpha-token","principal":"a"},{"token":"beta-token-2","principal":"b"},{"token":"owner-token","principal":"o","may_answer":true}]"#;
    let mut world = World::new(&format!(r#"{{"a2a":{{}},"auth":{{"tokens":{tokens}}}}}"#));
    let token = |name: &'static str| ("Authorization", name);
    let (a, b, o) = (token("Bearer alpha-token"), token("Bearer beta-token-2"), token("Bearer owner-token"));
    call_as(&mut world, &[a], "SendMessage", &send_params("x"));
    let seen = |world: &mut World, who| {
        let list = tool_as(world, &[who], "check_inbox", "{}").0;
        at(&list, "inbound").as_array().unwrap().iter().map(|one| text(one, "task_id")).collect::<Vec<_>>()
    };
    let ids = seen(&mut world, a);
    assert_eq!((ids.len(), seen(&mut world, b).len(), seen(&mut world, o)), (1, 0, ids.clone()));
    let arguments = format!(r#"{{"task_id":"{}","state":"completed"}}"#, ids[0]);
    assert!(tool_as(&mut world, &[b], "respond_task", &arguments).1, "another one's task is as unknown as none");
    assert!(!tool_as(&mut world, &[o], "respond_task", &arguments).1);
}

#[test]
fn the_tools_are_offered_with_the_inbox_alone() {
    for (config, offered) in [
        (r#"{"a2a":{}}"#, true),
        ("{}", false),
        (r#"{"a2a":{"responder":"echo"}}"#, false),
        (r#"{"a2a":{"enabled":false}}"#, false),
    ] {
        let mut world = World::new(config);
        let request = world.modern("1", "tools/list", "", "{}");
        assert_eq!(world.done(request).body.contains(r#""name":"respond_task""#), offered, "{config}");
    }
}
