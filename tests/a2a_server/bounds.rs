//! What is bounded: how many tasks, how large, how long.

use super::caller::{answer, at, begin, chunk, code, function, result, send_params, state, text};
use super::world::World;

fn state_of(world: &mut World, id: &str) -> String {
    let answer = answer(world, "GetTask", &format!(r#"{{"id":"{id}"}}"#));
    text(&answer, "result.status.state")
}

#[test]
fn the_oldest_finished_task_makes_room() {
    let mut world = World::new(r#"{"a2a":{"responder":"function"},"limits":{"tasks_per_principal":3}}"#);
    let (_, open) = begin(&mut world, "open");
    let (first, first_id) = begin(&mut world, "first");
    let (second, second_id) = begin(&mut world, "second");
    let params = send_params("one too many");
    let refused = answer(&mut world, "SendMessage", &params);
    assert_eq!(at(&refused, "error.code").as_i64(), Some(-32603));
    assert!(text(&refused, "error.message").contains("tasks_per_principal"));
    assert!(world.works.is_empty(), "what is refused starts nothing");
    state(&mut world, second, "COMPLETED");
    state(&mut world, first, "COMPLETED");
    begin(&mut world, "third");
    assert_eq!(state_of(&mut world, &first_id), "", "the oldest");
    assert_eq!(state_of(&mut world, &second_id), "TASK_STATE_COMPLETED");
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
fn all_tasks_of_a_principal_have_one_too() {
    let mut world = World::new(r#"{"a2a":{"responder":"function"},"limits":{"task_bytes":4000}}"#);
    let (old, old_id) = begin(&mut world, "x");
    chunk(&mut world, old, &"y".repeat(1500), true);
    state(&mut world, old, "COMPLETED");
    let (work, id) = begin(&mut world, "x");
    chunk(&mut world, work, &"y".repeat(2000), true);
    chunk(&mut world, work, &"y".repeat(1000), true);
    assert_eq!(state_of(&mut world, &old_id), "", "a finished one makes room");
    assert_eq!(state_of(&mut world, &id), "TASK_STATE_SUBMITTED");
    chunk(&mut world, work, &"y".repeat(2000), true);
    assert_eq!(state_of(&mut world, &id), "TASK_STATE_FAILED", "no other is left to make room");
    assert_eq!(code(&mut world, "SendMessage", &send_params(&"z".repeat(5000))), -32603);
}
