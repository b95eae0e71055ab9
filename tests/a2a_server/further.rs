//! Further messages for tasks that another agent works on: taken, refused, lost on the way.

use narrows::io::{Cause, Input};
use serde_json::Value;

use super::caller::{answer_of, at, call, code, events, kinds, reply, result, send_params, text};
use super::relay::{CHUNK, CONFIG, Upstream, asked, immediately, working, world};
use super::world::World;

/// A task that is worked on, which two messages are passed on for: its id, its stream, and both requests.
fn with_a_further_message(world: &mut World) -> (String, u64, Upstream, Upstream) {
    let (id, stream, first) = working(world, "one");
    result(world, "SendMessage", &immediately(&reply(&id, "two")));
    let second = asked(world);
    assert!(world.aborts.is_empty(), "the first goes on until the agent takes the second");
    (id, stream, first, second)
}

/// Ways in which a message does not get through.
fn fail(world: &mut World, way: usize, up: &Upstream) {
    let exchange = up.exchange;
    match way {
        0 => world.input(Input::Failed { exchange, cause: Cause::Reset, detail: "gone".into() }),
        1 => {
            let error = r#"{"code":-32603,"message":"oops"}"#;
            let body = format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, up.request["id"]);
            world.reply(exchange, "application/json", &body);
        }
        way => {
            let status = if way == 2 { 429 } else { 500 };
            world.input(Input::Head { exchange, status, headers: vec![] });
            world.input(Input::End { exchange });
        }
    }
}

#[test]
fn a_further_message_that_does_not_get_through_leaves_the_first_its_answer() {
    for way in 0..4 {
        let mut world = world();
        let (_, stream, first, second) = with_a_further_message(&mut world);
        first.event(&mut world, CHUNK);
        fail(&mut world, way, &second);
        assert!(world.aborts.is_empty() && world.fetches.is_empty(), "{way}: {:?}", world.fetches);
        first.event(&mut world, &CHUNK.replace(r#""artifact":"#, r#""append":true,"artifact":"#));
        first.state(&mut world, "COMPLETED", "done");
        first.end(&mut world);
        let all = ["task submitted", "statusUpdate working", "artifactUpdate", "statusUpdate working", "artifactUpdate"];
        assert_eq!(kinds(&world, stream), [&all[..], &["statusUpdate completed"]].concat(), "{way}");
        let said = text(&events(&world, stream)[3], "statusUpdate.status.message.parts.0.text");
        assert!(said.contains("bistro"), "{way}: {said}");
        assert!(world.fetches.is_empty(), "{way}: nothing is canceled");
    }
}

#[test]
fn a_further_message_that_is_taken_brings_the_rest() {
    let mut world = world();
    let (_, stream, first, second) = with_a_further_message(&mut world);
    first.event(&mut world, CHUNK);
    second.begin(&mut world);
    assert_eq!(world.aborts, [first.exchange]);
    second.event(&mut world, CHUNK);
    second.state(&mut world, "COMPLETED", "done");
    second.end(&mut world);
    assert_eq!(kinds(&world, stream), ["task submitted", "statusUpdate working", "artifactUpdate", "statusUpdate completed"]);
}

#[test]
fn a_task_may_end_before_a_further_message_is_answered() {
    let mut world = world();
    let (id, stream, first, second) = with_a_further_message(&mut world);
    first.event(&mut world, CHUNK);
    first.state(&mut world, "COMPLETED", "done");
    first.end(&mut world);
    assert_eq!(kinds(&world, stream).last().unwrap(), "statusUpdate completed");
    assert_eq!((world.aborts.as_slice(), world.fetches.len()), (&[second.exchange][..], 0));
    let task = result(&mut world, "GetTask", &format!(r#"{{"id":"{id}"}}"#));
    assert_eq!(text(&task, "artifacts.0.parts.0.text"), "soup");
    // A cancellation ends both.
    let mut world = self::world();
    let (id, _, first, second) = with_a_further_message(&mut world);
    result(&mut world, "CancelTask", &format!(r#"{{"id":"{id}"}}"#));
    assert_eq!(asked(&mut world).method(), "CancelTask");
    world.aborts.sort();
    assert_eq!(world.aborts, [first.exchange, second.exchange]);
}

#[test]
fn what_waits_behind_a_message_that_does_not_get_through_is_passed_on() {
    let mut world = world();
    let (id, stream, first, second) = with_a_further_message(&mut world);
    result(&mut world, "SendMessage", &immediately(&reply(&id, "three")));
    assert!(world.fetches.is_empty());
    fail(&mut world, 2, &second);
    let third = asked(&mut world);
    assert_eq!(text(&third.request, "params.message.parts.0.text"), "three");
    assert!(world.aborts.is_empty());
    third.begin(&mut world);
    assert_eq!(world.aborts, [first.exchange]);
    third.state(&mut world, "COMPLETED", "done");
    third.end(&mut world);
    assert_eq!(kinds(&world, stream).last().unwrap(), "statusUpdate completed");
}

/// A task whose agent asks something.
fn that_waits(world: &mut World) -> String {
    let blocking = call(world, "SendMessage", &send_params("x"));
    let up = asked(world);
    up.begin(world);
    up.state(world, "INPUT_REQUIRED", "which?");
    text(&answer_of(world, blocking), "result.task.id")
}

#[test]
fn an_answer_that_does_not_reach_the_agent_may_be_given_again() {
    let mut world = world();
    let id = that_waits(&mut world);
    let answer = format!(r#"{{"message":{}}}"#, reply(&id, "blue"));
    let blocking = call(&mut world, "SendMessage", &answer);
    // The stream is refused, and so is the plain send after it.
    for _ in 0..2 {
        let exchange = asked(&mut world).exchange;
        world.input(Input::Failed { exchange, cause: Cause::Refused, detail: "connection refused".into() });
    }
    let task = answer_of(&world, blocking)["result"]["task"].clone();
    assert_eq!(text(&task, "status.state"), "TASK_STATE_INPUT_REQUIRED");
    assert!(text(&task, "status.message.parts.0.text").contains("refused"), "{task}");
    assert!(world.fetches.is_empty(), "{:?}", world.fetches);
    let stream = call(&mut world, "SendStreamingMessage", &answer);
    let up = asked(&mut world);
    assert_eq!(text(&up.request, "params.message.taskId"), "up-1");
    up.begin(&mut world);
    up.state(&mut world, "COMPLETED", "painted");
    up.end(&mut world);
    assert_eq!(kinds(&world, stream).last().unwrap(), "statusUpdate completed");
}

#[test]
fn what_became_of_an_answer_that_may_have_arrived_is_read() {
    for way in [0, 1, 3] {
        for state in ["INPUT_REQUIRED", "COMPLETED"] {
            let mut world = world();
            let id = that_waits(&mut world);
            let blocking = call(&mut world, "SendMessage", &format!(r#"{{"message":{}}}"#, reply(&id, "blue")));
            let up = asked(&mut world);
            fail(&mut world, way, &up);
            let read = asked(&mut world);
            assert_eq!((read.method(), text(&read.request, "params.id")), ("GetTask".into(), "up-1".into()));
            let task = format!(r#"{{"id":"up-1","contextId":"up-c","status":{{"state":"TASK_STATE_{state}"}}}}"#);
            read.answer(&mut world, &task);
            let task = answer_of(&world, blocking)["result"]["task"].clone();
            assert_eq!(text(&task, "status.state"), format!("TASK_STATE_{state}"), "{way}");
            assert!(world.fetches.is_empty(), "{way}: {:?}", world.fetches);
        }
    }
}

#[test]
fn the_rate_of_the_agent_costs_a_further_message_nothing() {
    let config = CONFIG.replacen('{', r#"{"rate_limit":{"rps":1,"burst":1},"#, 1);
    let mut world = World::new(&config);
    let id = that_waits(&mut world);
    let answer = format!(r#"{{"message":{}}}"#, reply(&id, "blue"));
    let refused = super::caller::answer(&mut world, "SendMessage", &answer);
    assert_eq!(at(&refused, "error.code").as_i64(), Some(-32000));
    assert!(text(&refused, "error.message").contains("retry after"), "{refused}");
    let task = result(&mut world, "GetTask", &format!(r#"{{"id":"{id}"}}"#));
    assert_eq!((text(&task, "status.state"), at(&task, "history.1")), ("TASK_STATE_INPUT_REQUIRED".into(), &Value::Null));
    world.pass(1000);
    call(&mut world, "SendMessage", &answer);
    let up = asked(&mut world);
    up.begin(&mut world);
    // While it is worked on as well.
    assert_eq!(code(&mut world, "SendMessage", &answer), -32000);
    assert!(!world.aborts.contains(&up.exchange) && world.fetches.is_empty());
}

#[test]
fn messages_that_are_all_refused_once_their_turn_comes_leave_the_task_to_its_agent() {
    let mut world = world();
    let (id, stream, _, second) = with_a_further_message(&mut world);
    let secret = immediately(&reply(&id, "ghp_abcdEFGH1234ijklMNOP5678qrstUVWX9012"));
    for _ in 0..300 {
        result(&mut world, "SendMessage", &secret);
    }
    second.begin(&mut world);
    assert!(world.fetches.is_empty());
    second.state(&mut world, "COMPLETED", "done");
    second.end(&mut world);
    assert_eq!(kinds(&world, stream).last().unwrap(), "statusUpdate completed");
}
