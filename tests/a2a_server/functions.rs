//! Tasks that a function of the host works on: what it says reaches every caller, in order and once.

use narrows::io::{Input, Misuse, WorkId};
use narrows::time::Instant;

use super::caller::{
    answer_of, at, begin, call, chunk, code, ended, events, function, kinds, reply, result, send_params, state, text, update,
    value,
};

#[test]
fn work_is_ordered_with_what_was_sent() {
    let mut world = super::world::World::new(r#"{"a2a":{"responder":"function"}}"#);
    let params = r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":9007199254740993}]},"metadata":{"skill":"s","n":1e2}}"#;
    call(&mut world, "SendMessage", params);
    let (work, order) = world.works.pop().unwrap();
    assert_eq!(work, WorkId(1));
    let order_value = value(&order);
    assert_eq!((text(&order_value, "principal"), text(&order_value, "skill")), ("local".into(), "s".into()));
    assert_eq!(text(&order_value, "message.taskId"), text(&order_value, "task.id"));
    assert_eq!(text(&order_value, "message.contextId"), text(&order_value, "task.contextId"));
    assert!(!text(&order_value, "task.contextId").is_empty());
    assert!(order.contains("9007199254740993") && order.contains("1e2"), "{order}");
}

#[test]
fn updates_reach_the_blocking_caller_at_the_end() {
    let mut world = function();
    let request = call(&mut world, "SendMessage", &send_params("hi"));
    let work = world.works[0].0;
    state(&mut world, work, "WORKING");
    chunk(&mut world, work, "Hello ", false);
    chunk(&mut world, work, "world", true);
    assert!(!ended(&world, request));
    let done = r#"{"statusUpdate":{"status":{"state":"TASK_STATE_COMPLETED","message":{"role":"ROLE_AGENT","parts":[{"text":"done"}]}}}}"#;
    update(&mut world, work, done);
    let task = answer_of(&world, request)["result"]["task"].clone();
    assert_eq!(at(&task, "artifacts.0.parts").as_array().unwrap().len(), 2);
    assert_eq!(
        (text(&task, "status.message.parts.0.text"), text(&task, "status.message.taskId")),
        ("done".into(), text(&task, "id"))
    );
    assert!(!text(&task, "status.message.messageId").is_empty());
    world.input(Input::WorkEnd { work });
    assert_eq!(world.work_aborts, [], "a function that ended its task is not aborted");
}

#[test]
fn an_answer_without_a_task_is_a_whole_message() {
    let mut world = function();
    let params = r#"{"message":{"messageId":"m","contextId":"ctx-1","role":"ROLE_USER","parts":[{"text":"hi"}]}}"#;
    for (method, is_streamed) in [("SendMessage", false), ("SendStreamingMessage", true)] {
        let request = call(&mut world, method, params);
        let (work, order) = world.works.pop().unwrap();
        update(&mut world, work, r#"{"message":{"taskId":"theirs","parts":[{"text":"words"}]}}"#);
        let told = if is_streamed { events(&world, request)[0].clone() } else { answer_of(&world, request)["result"].clone() };
        let message = &told["message"];
        assert_eq!((text(message, "role"), text(message, "contextId")), ("ROLE_AGENT".into(), "ctx-1".into()), "{told}");
        assert_eq!(text(message, "contextId"), text(&value(&order), "task.contextId"));
        assert!(!text(message, "messageId").is_empty() && message.get("taskId").is_none(), "{told}");
    }
}

#[test]
fn a_caller_who_reads_is_told_of_its_task_before_the_first_word_of_a_slow_responder() {
    let mut world = function();
    let request = call(&mut world, "SendStreamingMessage", &send_params("hi"));
    let (work, order) = world.works.pop().unwrap();
    world.pass(1999);
    assert!(!world.responses.contains_key(&request));
    world.pass(1);
    assert_eq!(kinds(&world, request), ["task submitted"]);
    let id = text(&value(&order), "task.id");
    assert_eq!(text(&result(&mut world, "GetTask", &format!(r#"{{"id":"{id}"}}"#)), "id"), id);
    // What would have been a message without a task completes it.
    update(&mut world, work, r#"{"message":{"parts":[{"text":"words"}]}}"#);
    assert_eq!(kinds(&world, request), ["task submitted", "statusUpdate completed"]);
    assert!(ended(&world, request));
}

#[test]
fn what_comes_for_a_caller_who_left_before_the_first_word_is_found() {
    for method in ["SendMessage", "SendStreamingMessage"] {
        let mut world = function();
        let request = call(&mut world, method, &send_params("hi"));
        let (work, order) = world.works.pop().unwrap();
        world.gone(request);
        let get = format!(r#"{{"id":"{}"}}"#, text(&value(&order), "task.id"));
        assert_eq!(text(&result(&mut world, "GetTask", &get), "status.state"), "TASK_STATE_SUBMITTED", "{method}");
        update(&mut world, work, r#"{"message":{"parts":[{"text":"words"}]}}"#);
        let task = result(&mut world, "GetTask", &get);
        assert_eq!(text(&task, "status.message.parts.0.text"), "words", "{method}");
    }
}

#[test]
fn two_watchers_see_the_same_and_one_may_leave() {
    let mut world = function();
    let first = call(&mut world, "SendStreamingMessage", &send_params("hi"));
    let work = world.works[0].0;
    assert!(!world.responses.contains_key(&first), "nothing is known yet: an error would still be one");
    state(&mut world, work, "WORKING");
    chunk(&mut world, work, "a", false);
    let id = text(&events(&world, first)[0], "task.id");
    let second = call(&mut world, "SubscribeToTask", &format!(r#"{{"id":"{id}"}}"#));
    assert_eq!(kinds(&world, second), ["task working"], "a snapshot of what was");
    assert_eq!(text(&events(&world, second)[0], "task.artifacts.0.parts.0.text"), "a");
    let third = call(&mut world, "tasks/resubscribe", &format!(r#"{{"id":"{id}"}}"#));
    chunk(&mut world, work, "b", true);
    world.gone(first);
    chunk(&mut world, work, "c", true);
    state(&mut world, work, "COMPLETED");
    assert_eq!(kinds(&world, second), ["task working", "artifactUpdate", "artifactUpdate", "statusUpdate completed"]);
    assert_eq!(events(&world, third).len(), 4);
    assert_eq!(kinds(&world, first), ["task submitted", "statusUpdate working", "artifactUpdate", "artifactUpdate"]);
    assert!(ended(&world, second) && ended(&world, third) && world.work_aborts.is_empty());
}

#[test]
fn a_caller_that_left_stops_nothing() {
    let mut world = function();
    let request = call(&mut world, "SendMessage", &send_params("hi"));
    let work = world.works[0].0;
    world.gone(request);
    state(&mut world, work, "WORKING");
    world.input(Input::WorkEnd { work });
    let list = result(&mut world, "ListTasks", "{}");
    assert_eq!(text(&list, "tasks.0.status.state"), "TASK_STATE_COMPLETED", "an open task is completed by its end");
    assert_eq!(world.work_aborts, []);
}

#[test]
fn input_closes_the_stream_and_one_more_message_goes_on() {
    let mut world = function();
    let request = call(&mut world, "SendStreamingMessage", &send_params("hi"));
    let work = world.works.pop().unwrap().0;
    state(&mut world, work, "INPUT_REQUIRED");
    world.input(Input::WorkEnd { work });
    assert_eq!(kinds(&world, request), ["task submitted", "statusUpdate input_required"]);
    assert!(ended(&world, request));
    let task = events(&world, request)[0]["task"].clone();
    let (id, context) = (text(&task, "id"), text(&task, "contextId"));
    let wrong = format!(
        r#"{{"message":{{"messageId":"m","taskId":"{id}","contextId":"other","role":"ROLE_USER","parts":[{{"text":"x"}}]}}}}"#
    );
    assert_eq!(code(&mut world, "SendMessage", &wrong), -32602);
    let blocking = call(&mut world, "SendMessage", &format!(r#"{{"message":{}}}"#, reply(&id, "blue")));
    let (work, order) = world.works.pop().expect("a second piece of work");
    assert_eq!(text(&value(&order), "task.status.state"), "TASK_STATE_WORKING");
    assert_eq!(at(&value(&order), "task.history").as_array().unwrap().len(), 2);
    state(&mut world, work, "COMPLETED");
    let task = answer_of(&world, blocking)["result"]["task"].clone();
    assert_eq!((text(&task, "contextId"), text(&task, "history.1.parts.0.text")), (context, "blue".into()));
    let stream = call(&mut world, "SendStreamingMessage", &format!(r#"{{"message":{}}}"#, reply(&id, "again")));
    assert_eq!(at(&answer_of(&world, stream), "error.code").as_i64(), Some(-32004), "an early failure is a plain answer");
}

#[test]
fn a_login_keeps_the_stream_open() {
    let mut world = function();
    let stream = call(&mut world, "SendStreamingMessage", &send_params("hi"));
    let work = world.works.pop().unwrap().0;
    let blocking = call(&mut world, "SendMessage", &send_params("hi"));
    let other = world.works.pop().unwrap().0;
    for work in [work, other] {
        state(&mut world, work, "AUTH_REQUIRED");
    }
    assert!(!ended(&world, stream), "it may go on without a message");
    assert_eq!(text(&answer_of(&world, blocking), "result.task.status.state"), "TASK_STATE_AUTH_REQUIRED");
    state(&mut world, work, "WORKING");
    state(&mut world, work, "COMPLETED");
    assert_eq!(
        kinds(&world, stream),
        ["task submitted", "statusUpdate auth_required", "statusUpdate working", "statusUpdate completed"]
    );
    assert!(ended(&world, stream));
}

#[test]
fn cancellation_and_completion_have_one_winner() {
    let mut world = function();
    let (work, id) = begin(&mut world, "one");
    let stream = call(&mut world, "SubscribeToTask", &format!(r#"{{"id":"{id}"}}"#));
    let canceled = result(&mut world, "CancelTask", &format!(r#"{{"id":"{id}"}}"#));
    assert_eq!(text(&canceled, "status.state"), "TASK_STATE_CANCELED");
    assert_eq!(world.work_aborts, [work]);
    state(&mut world, work, "COMPLETED");
    chunk(&mut world, work, "late", false);
    let again = result(&mut world, "CancelTask", &format!(r#"{{"id":"{id}"}}"#));
    assert_eq!((text(&again, "status.state"), again.get("artifacts")), ("TASK_STATE_CANCELED".into(), None));
    assert_eq!(kinds(&world, stream), ["task submitted", "statusUpdate canceled"]);
    let (work, id) = begin(&mut world, "two");
    state(&mut world, work, "COMPLETED");
    assert_eq!(code(&mut world, "CancelTask", &format!(r#"{{"id":"{id}"}}"#)), -32002);
    assert_eq!(text(&result(&mut world, "GetTask", &format!(r#"{{"id":"{id}"}}"#)), "status.state"), "TASK_STATE_COMPLETED");
}

#[test]
fn a_message_may_be_the_whole_answer() {
    let mut world = function();
    let blocking = call(&mut world, "SendMessage", &send_params("hi"));
    let stream = call(&mut world, "SendStreamingMessage", &send_params("hi"));
    let works: Vec<WorkId> = world.works.iter().map(|(work, _)| *work).collect();
    for work in works {
        update(&mut world, work, r#"{"message":{"messageId":"a","role":"ROLE_AGENT","parts":[{"text":"no task"}]}}"#);
        world.input(Input::WorkEnd { work });
    }
    assert_eq!(text(&answer_of(&world, blocking), "result.message.parts.0.text"), "no task");
    assert_eq!((kinds(&world, stream), ended(&world, stream)), (vec!["message".to_owned()], true));
    assert_eq!(at(&result(&mut world, "ListTasks", "{}"), "totalSize").as_u64(), Some(0));
    // Whoever was told of a task already gets the message as its end.
    let (work, id) = begin(&mut world, "x");
    update(&mut world, work, r#"{"message":{"messageId":"a","role":"ROLE_AGENT","parts":[{"text":"after all"}]}}"#);
    let task = result(&mut world, "GetTask", &format!(r#"{{"id":"{id}"}}"#));
    assert_eq!(
        (text(&task, "status.state"), text(&task, "status.message.parts.0.text")),
        ("TASK_STATE_COMPLETED".into(), "after all".into())
    );
}

#[test]
fn a_failure_fails_the_task_with_its_words() {
    let mut world = function();
    let request = call(&mut world, "SendMessage", &send_params("hi"));
    let work = world.works[0].0;
    world.input(Input::WorkFailed { work, detail: "the oven broke".into() });
    let task = answer_of(&world, request)["result"]["task"].clone();
    assert_eq!(
        (text(&task, "status.state"), text(&task, "status.message.parts.0.text")),
        ("TASK_STATE_FAILED".into(), "the oven broke".into())
    );
    world.input(Input::WorkEnd { work });
    state(&mut world, work, "COMPLETED");
    assert_eq!(text(&result(&mut world, "ListTasks", "{}"), "tasks.0.status.state"), "TASK_STATE_FAILED");
}

#[test]
fn work_that_never_was_is_a_fault_of_the_host() {
    let mut world = function();
    let (work, _) = begin(&mut world, "x");
    let never = WorkId(work.0 + 1);
    let refuse =
        |world: &mut super::world::World, input: Input| world.gateway.handle_input(Instant::from_ms(0), input).unwrap_err();
    for input in [
        Input::Update { work: never, text: "{}".into() },
        Input::WorkEnd { work: never },
        Input::WorkFailed { work: never, detail: String::new() },
    ] {
        assert_eq!(refuse(&mut world, input), Misuse::WorkUnknown(never));
    }
    for text in ["", "[]", "{}", r#"{"weather":1}"#] {
        assert_eq!(refuse(&mut world, Input::Update { work, text: text.into() }), Misuse::Unreadable("text"), "{text}");
    }
}

#[test]
fn a_snapshot_counts_as_its_changes() {
    let mut world = function();
    let stream = call(&mut world, "SendStreamingMessage", &send_params("hi"));
    let work = world.works[0].0;
    update(
        &mut world,
        work,
        r#"{"task":{"id":"x","contextId":"theirs","status":{"state":"TASK_STATE_WORKING"},"artifacts":[{"artifactId":"a","parts":[{"text":"1"}]}]}}"#,
    );
    update(
        &mut world,
        work,
        r#"{"task":{"id":"x","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[{"text":"1"}]},{"artifactId":"b","parts":[{"text":"2"}]}]}}"#,
    );
    assert_eq!(
        kinds(&world, stream),
        ["task submitted", "artifactUpdate", "statusUpdate working", "artifactUpdate", "statusUpdate completed"]
    );
    let first = events(&world, stream)[0]["task"].clone();
    // Both ids are the gateway's.
    assert!(text(&first, "id") != "x" && !text(&first, "contextId").is_empty() && text(&first, "contextId") != "theirs");
}

#[test]
fn a_silent_stream_gets_a_comment() {
    let mut world = function();
    let stream = call(&mut world, "SendStreamingMessage", &send_params("hi"));
    let work = world.works[0].0;
    world.pass(2000);
    world.pass(15_000);
    assert!(world.body(stream).ends_with(": keep-alive\n\n"));
    state(&mut world, work, "WORKING");
    assert!(!world.body(stream).ends_with(": keep-alive\n\n"));
    world.pass(15_000);
    assert!(world.body(stream).ends_with(": keep-alive\n\n"));
    world.input(Input::Stop);
    assert!(ended(&world, stream));
    let refused = world.send("POST", "/a2a", &[], "{}");
    assert_eq!(world.done(refused).status, 503);
}

#[test]
fn a_stopping_gateway_answers_those_who_wait() {
    let mut world = function();
    let (waiting, silent) =
        (call(&mut world, "SendMessage", &send_params("a")), call(&mut world, "SendMessage", &send_params("b")));
    let work = world.works[0].0;
    state(&mut world, work, "WORKING");
    world.input(Input::Stop);
    assert_eq!(text(&answer_of(&world, waiting), "result.task.status.state"), "TASK_STATE_WORKING");
    assert_eq!(world.done(silent).status, 503);
}
