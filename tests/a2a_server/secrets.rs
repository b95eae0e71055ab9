//! What may not leave for an agent, whichever way it would: passed on, sent through the plain API, or as an answer.

use serde_json::Value;

use super::caller::{at, call, ended, events, get, message, post, result, text, value};
use super::plain::{body, fault, known};
use super::relay::{asked, world};
use super::world::World;

/// Put together here, so that no token stands in this file in one piece.
fn token() -> String {
    ["gh", "p_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].concat()
}

fn secret_params() -> [String; 4] {
    let plain = message("hi");
    let inside = plain.strip_suffix('}').unwrap();
    [
        format!(r#"{{"message":{}}}"#, message(&token())),
        format!(r#"{{"message":{plain},"metadata":{{"k":"{}"}}}}"#, token()),
        format!(r#"{{"message":{inside},"metadata":{{"password":"x"}}}}}}"#),
        format!(r#"{{"message":{inside},"contextId":"{}"}}}}"#, token()),
    ]
}

#[test]
fn a_task_with_a_secret_is_not_passed_on_and_fails_with_the_reason() {
    for params in secret_params() {
        let mut world = world();
        let stream = call(&mut world, "SendStreamingMessage", &params);
        super::relay::give_cards(&mut world);
        assert!(world.fetches.is_empty(), "{params}");
        assert!(ended(&world, stream));
        let status = events(&world, stream).last().unwrap()["statusUpdate"]["status"].clone();
        assert_eq!(text(&status, "state"), "TASK_STATE_FAILED");
        assert!(text(&status, "message.parts.0.text").contains("may not leave: $.me"), "{status}");
        assert!(!at(&status, "message.parts").to_string().contains("A1b2C3"), "{status}");
    }
    let mut world = world();
    call(&mut world, "SendStreamingMessage", &format!(r#"{{"message":{}}}"#, message("hi")));
    assert_eq!(asked(&mut world).method(), "SendStreamingMessage");
}

#[test]
fn what_the_old_spelling_of_a_message_alone_holds_does_not_leave_either() {
    let mut world = world();
    let card = super::relay::CARD.replace(r#""protocolVersion":"1.0""#, r#""protocolVersion":"0.3""#);
    let part = format!(r#"{{"kind":"file","file":{{"uri":"https://files.test/x","name":"x"}},"filename":"{}"}}"#, token());
    let parts = format!(r#"{{"message":{{"messageId":"m","role":"user","parts":[{part}]}}}}"#);
    let stream = call(&mut world, "message/stream", &parts);
    while let Some((exchange, fetch)) = world.fetches.pop() {
        assert!(fetch.url.ends_with("agent-card.json"), "{:?}", fetch.body);
        world.reply(exchange, "application/json", &card);
    }
    assert!(world.body(stream).contains("may not leave"), "{}", world.body(stream));
}

#[test]
fn the_plain_api_refuses_it_and_begins_nothing() {
    for more in [
        format!(r#""message":"use {}""#, token()),
        format!(r#""message":"hi","session_id":"{}""#, token()),
        format!(r#""message":{{"parts":[{{"text":"hi"}}],"metadata":{{"k":"{}"}}}}"#, token()),
        r#""message":{"parts":[{"data":{"client_secret":"x"}}]}"#.to_owned(),
    ] {
        let mut world = known(r#"{"a2a":{}}"#);
        let refused = post(&mut world, "/api/a2a/send", &format!(r#"{{"agent_url":"https://agent.test/",{more}}}"#));
        assert_eq!(fault(&refused), (400, "blocked".into()), "{more}");
        assert!(world.fetches.is_empty() && !refused.body.contains("A1b2C3"), "{}", refused.body);
    }
    let mut world = known(r#"{"a2a":{},"mcp_taint_policy":[{"tool":"send_message","skip_rules":["WellKnownPrefix"]}]}"#);
    let text = format!(r#"{{"agent_url":"https://agent.test/","message":"use {}","wait":0}}"#, token());
    assert_eq!(post(&mut world, "/api/a2a/send", &text).status, 200);
    assert_eq!(world.fetches.len(), 1);
    let mut world = known(r#"{"a2a":{}}"#);
    let path = format!("/api/a2a/tasks/{}/status?url=https%3A%2F%2Fagent.test%2F", token());
    assert_eq!(fault(&get(&mut world, &path)), (400, "blocked".into()));
    assert!(world.fetches.is_empty());
}

#[test]
fn a_task_begun_through_the_plain_api_is_not_passed_on() {
    let mut world = world();
    let begun = post(&mut world, "/api/a2a/tasks", &format!(r#"{{"id":"t","message":"use {}"}}"#, token()));
    super::relay::give_cards(&mut world);
    assert!(world.fetches.is_empty());
    assert_eq!(begun.status, 202);
    let task = body(&get(&mut world, "/api/a2a/tasks/t"));
    assert_eq!(text(&task, "status.state"), "TASK_STATE_FAILED");
}

#[test]
fn an_answer_to_another_agent_holds_no_secret() {
    let mut world = World::new(r#"{"a2a":{}}"#);
    let task = result(
        &mut world,
        "SendMessage",
        &format!(r#"{{"message":{},"configuration":{{"returnImmediately":true}}}}"#, message("who?")),
    );
    let id = text(&task, "task.id");
    let mut respond = |more: &str| -> Value {
        let params = format!(r#"{{"name":"respond_task","arguments":{{"task_id":"{id}","state":"completed",{more}}}}}"#);
        let request = world.modern_as(&[], "1", "tools/call", "respond_task", &params);
        value(&world.done(request).body)["result"].clone()
    };
    for more in [
        format!(r#""message":"use {}""#, token()),
        format!(r#""artifact":{{"name":"a","parts":[{{"data":{{"k":"{}"}}}}]}}"#, token()),
        format!(r#""artifact":{{"name":"{}","message":"x"}}"#, token()),
    ] {
        let refused = respond(&more);
        assert_eq!(text(&refused, "structuredContent.error.code"), "blocked", "{more}");
    }
    assert_eq!(at(&respond(r#""message":"a person""#), "structuredContent.task.status.state"), "TASK_STATE_COMPLETED");
}
