//! What is bounded: how many tasks, how large, how long.

use super::caller::{answer, at, begin, call, chunk, code, ended, function, kinds, post, reply, result};
use super::caller::{send_params, state, text, value};
use super::world::World;

fn state_of(world: &mut World, id: &str) -> String {
    let answer = answer(world, "GetTask", &format!(r#"{{"id":"{id}"}}"#));
    text(&answer, "result.status.state")
}

#[test]
fn the_task_that_ended_first_makes_room() {
    let mut world = World::new(r#"{"a2a":{"responder":"function"},"limits":{"tasks_per_principal":3}}"#);
    let (_, open) = begin(&mut world, "open");
    let (first, first_id) = begin(&mut world, "first");
    let (second, second_id) = begin(&mut world, "second");
    let params = send_params("one too many");
    let refused = answer(&mut world, "SendMessage", &params);
    assert_eq!(at(&refused, "error.code").as_i64(), Some(-32000));
    let over_http = post(&mut world, "/a2a/rest/message:send", &params);
    assert_eq!((over_http.status, text(&value(&over_http.body), "error.status")), (429, "RESOURCE_EXHAUSTED".into()));
    assert!(text(&refused, "error.message").contains("tasks_per_principal"));
    assert!(world.works.is_empty(), "what is refused starts nothing");
    state(&mut world, second, "COMPLETED");
    world.pass(1);
    state(&mut world, first, "COMPLETED");
    begin(&mut world, "third");
    assert_eq!(state_of(&mut world, &second_id), "");
    assert_eq!(state_of(&mut world, &first_id), "TASK_STATE_COMPLETED", "who watched it may come back for its end");
    assert_eq!(state_of(&mut world, &open), "TASK_STATE_SUBMITTED", "an open task is never forgotten for that");
}

#[test]
fn principals_do_not_push_each_other_out() {
    let tokens = r#"[{"token":"alpha-token","principal":"a"},{"token":"beta-token-2","principal":"b"}]"#;
    let mut world = World::new(&format!(
        r#"{{"a2a":{{"responder":"function"}},"limits":{{"tasks_per_principal":1}},"auth":{{"tokens":{tokens}}}}}"#
    ));
    for (token, status) in [("Bearer alpha-token", true), ("Bearer alpha-token", false), ("Bearer beta-token-2", true)] {
        let before = world.works.len();
        super::caller::call_as(&mut world, &[("Authorization", token)], "SendMessage", &send_params("x"));
        assert_eq!(world.works.len() > before, status, "{token}");
    }
}

#[test]
fn what_is_older_than_a_day_is_forgotten() {
    let mut world = function();
    let (done, done_id) = begin(&mut world, "done");
    state(&mut world, done, "COMPLETED");
    let (_, busy) = begin(&mut world, "busy");
    world.pass(24 * 3_600_000 - 1);
    assert_eq!(at(&result(&mut world, "ListTasks", "{}"), "totalSize").as_u64(), Some(2));
    world.pass(1);
    assert_eq!(at(&result(&mut world, "ListTasks", "{}"), "totalSize").as_u64(), Some(1));
    assert_eq!((state_of(&mut world, &done_id), state_of(&mut world, &busy)), (String::new(), "TASK_STATE_SUBMITTED".into()));
}

#[test]
fn artifacts_have_a_limit() {
    let mut world = World::new(r#"{"a2a":{"responder":"function"},"limits":{"artifact_bytes":2000}}"#);
    let (work, id) = begin(&mut world, "x");
    for _ in 0..3 {
        chunk(&mut world, work, &"y".repeat(700), true);
    }
    assert_eq!(state_of(&mut world, &id), "TASK_STATE_FAILED");
    assert_eq!(world.work_aborts, [work], "the function is told");
}

#[test]
fn an_open_task_that_is_too_old_ends_with_a_reason() {
    let mut world = World::new(r#"{"a2a":{"responder":"inbox"}}"#);
    let stream = call(&mut world, "SendStreamingMessage", &send_params("x"));
    let blocking = call(&mut world, "SendMessage", &send_params("y"));
    let pages = result(&mut world, "ListTasks", "{}");
    let ids: Vec<_> = at(&pages, "tasks").as_array().unwrap().iter().map(|task| text(task, "id")).collect();
    // What its caller says counts as something that happens to it.
    world.pass(3_600_000);
    let more = format!(r#"{{"message":{},"configuration":{{"returnImmediately":true}}}}"#, reply(&ids[0], "more"));
    result(&mut world, "SendMessage", &more);
    // Only what the gateway itself asks for wakes it.
    while let Some(deadline) = world.gateway.poll_timeout().filter(|deadline| deadline.at.as_ms() <= 24 * 3_600_000) {
        world.pass(deadline.at.as_ms() - world.now);
    }
    assert_eq!(world.now, 24 * 3_600_000, "at the day's end and not later");
    assert_eq!((state_of(&mut world, &ids[0]), ended(&world, blocking)), ("TASK_STATE_SUBMITTED".into(), false));
    assert_eq!((kinds(&world, stream).last().unwrap().as_str(), ended(&world, stream)), ("statusUpdate failed", true));
    let old = result(&mut world, "GetTask", &format!(r#"{{"id":"{}"}}"#, ids[1]));
    assert_eq!(text(&old, "status.message.parts.0.text"), "nothing happened to this task for a day");
    world.pass(3_600_000);
    assert!(world.done(blocking).body.contains("TASK_STATE_FAILED"));
    world.pass(24 * 3_600_000);
    assert_eq!(at(&result(&mut world, "ListTasks", "{}"), "totalSize").as_u64(), Some(0), "and is forgotten a day later");
    assert!(world.gateway.poll_timeout().is_none());
}

#[test]
fn messages_of_the_caller_have_a_limit() {
    let mut world = World::new(r#"{"a2a":{"responder":"function"},"limits":{"task_bytes":10000}}"#);
    let (done, done_id) = begin(&mut world, "done");
    state(&mut world, done, "COMPLETED");
    let (_, id) = begin(&mut world, "x");
    let more = |id: &str, words: &str| format!(r#"{{"message":{}}}"#, reply(id, words));
    call(&mut world, "SendMessage", &more(&id, &"y".repeat(5000)));
    let works = world.works.len();
    assert_eq!(code(&mut world, "SendMessage", &more(&id, &"y".repeat(5000))), -32000);
    // However it is said: in ids, in many small parts.
    let ids = format!(r#"{{"message":{}}}"#, reply(&id, &"z".repeat(1000)).replace("m-2", &"m".repeat(4000)));
    assert_eq!(code(&mut world, "SendMessage", &ids), -32000);
    let parts = format!(r#"{{"message":{}}}"#, reply(&id, "z").replace(r#"{"text":"z"}"#, &[r#"{"text":""}"#; 30].join(",")));
    assert_eq!(code(&mut world, "SendMessage", &parts), -32000);
    assert_eq!((world.works.len(), state_of(&mut world, &id)), (works, "TASK_STATE_SUBMITTED".into()));
    assert_eq!(state_of(&mut world, &done_id), "TASK_STATE_COMPLETED", "nothing is forgotten for what is refused");
    call(&mut world, "SendMessage", &more(&id, &"y".repeat(3000)));
    assert_eq!(world.works.len(), works + 1);
    assert_eq!(state_of(&mut world, &done_id), "", "a finished one makes room");
}

#[test]
fn all_tasks_of_a_principal_have_one_too() {
    let mut world = World::new(r#"{"a2a":{"responder":"function"},"limits":{"task_bytes":40000}}"#);
    let (old, old_id) = begin(&mut world, "x");
    chunk(&mut world, old, &"y".repeat(15_000), true);
    state(&mut world, old, "COMPLETED");
    let (work, id) = begin(&mut world, "x");
    chunk(&mut world, work, &"y".repeat(20_000), true);
    chunk(&mut world, work, &"y".repeat(10_000), true);
    assert_eq!(state_of(&mut world, &old_id), "", "a finished one makes room");
    assert_eq!(state_of(&mut world, &id), "TASK_STATE_SUBMITTED");
    chunk(&mut world, work, &"y".repeat(20_000), true);
    assert_eq!(state_of(&mut world, &id), "TASK_STATE_FAILED", "no other is left to make room");
    assert_eq!(code(&mut world, "SendMessage", &send_params(&"z".repeat(50_000))), -32000);
}
