//! Sending, reading, listing, canceling, watching: in every dialect.

use super::caller::{
    V10, answer_of, at, call, call_as, code, echo, ended, events, get, kinds, post, result, send_params, text, value,
};

#[test]
fn a_blocking_send_is_answered_with_the_finished_task() {
    let mut world = echo();
    let answer = result(&mut world, "SendMessage", &send_params("hello"));
    let task = &answer["task"];
    assert_eq!(text(task, "status.state"), "TASK_STATE_COMPLETED");
    assert_eq!(text(task, "artifacts.0.parts.0.text"), "hello");
    assert_eq!(text(task, "history.0.parts.0.text"), "hello");
    assert_eq!((text(task, "history.0.taskId"), text(task, "history.0.contextId")), (text(task, "id"), text(task, "contextId")));
    assert_eq!(text(task, "status.timestamp"), "2027-01-15T08:00:00.000Z");
    let read = result(&mut world, "GetTask", &format!(r#"{{"id":"{}"}}"#, text(task, "id")));
    assert_eq!(read, *task);
}

#[test]
fn the_answer_has_the_form_of_the_dialect() {
    let mut world = echo();
    let old = r#"{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]}}"#;
    let task = result(&mut world, "message/send", old);
    assert_eq!((text(&task, "kind"), text(&task, "status.state")), ("task".into(), "completed".into()));
    assert_eq!((text(&task, "artifacts.0.parts.0.kind"), text(&task, "history.0.role")), ("text".into(), "user".into()));
    let rest = post(&mut world, "/a2a/rest/message:send", &send_params("hi"));
    assert_eq!((rest.status, rest.header("content-type")), (200, Some("application/json")));
    assert_eq!(text(&value(&rest.body), "task.status.state"), "TASK_STATE_COMPLETED");
    let body = r#"{"request":{"messageId":"m","role":"ROLE_USER","content":[{"text":"hi"},{"data":{"data":{"n":9007199254740993}}},{"file":{"fileWithBytes":"dGNr","mimeType":"text/plain"}}]}}"#;
    let rest = post(&mut world, "/a2a/rest/v1/message:send", body);
    assert!(rest.body.contains(r#"{"data":{"data":{"n":9007199254740993}}}"#), "numbers survive: {}", rest.body);
    let task = value(&rest.body)["task"].clone();
    assert_eq!((text(&task, "history.0.content.0.text"), text(&task, "history.0.role")), ("hi".into(), "ROLE_USER".into()));
    assert_eq!(text(&task, "artifacts.0.parts.2.file.fileWithBytes"), "dGNr");
}

#[test]
fn every_endpoint_is_there_with_and_without_a_slash() {
    let mut world = echo();
    let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":{}}}"#, send_params("hi"));
    for target in ["/a2a", "/a2a/", "/api/a2a", "/api/a2a/", "/a2a/?x=1"] {
        let response = post(&mut world, target, &body);
        assert_eq!(response.status, 200, "{target}");
        assert!(response.body.contains("TASK_STATE_COMPLETED"), "{target}: {}", response.body);
    }
    for (target, allowed) in [("/a2a", "POST"), ("/a2a/rest/message:send", "POST"), ("/api/a2a", "POST")] {
        let response = get(&mut world, target);
        assert_eq!((response.status, response.header("allow")), (405, Some(allowed)), "{target}");
    }
    for target in ["/a2a/rest", "/a2a/rest/", "/a2a/rest/nothing", "/a2a/other", "/a2ax", "/a2a/rest/v1/tasks"] {
        assert_eq!(get(&mut world, target).status, 404, "{target}");
    }
    let mut world = super::world::World::new(r#"{"a2a":{"responder":"echo","listen_path":"/my/agent"}}"#);
    assert_eq!(post(&mut world, "/my/agent", &body).status, 200);
    assert_eq!(post(&mut world, "/my/agent/rest/message:send", &send_params("hi")).status, 200);
    assert_eq!(post(&mut world, "/a2a", &body).status, 404);
}

#[test]
fn a_stream_begins_with_the_task_and_ends_with_its_end() {
    let mut world = echo();
    let request = call(&mut world, "SendStreamingMessage", &send_params("hi"));
    assert!(world.done(request).is_stream());
    assert_eq!(kinds(&world, request), ["task submitted", "statusUpdate working", "artifactUpdate", "statusUpdate completed"]);
    assert!(events(&world, request).iter().all(|event| event.get("final").is_none()));
    let old = r#"{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]}}"#;
    let request = call(&mut world, "message/stream", old);
    let told: Vec<_> = events(&world, request).iter().map(|event| (text(event, "kind"), at(event, "final").as_bool())).collect();
    let status = |last| ("status-update".to_owned(), Some(last));
    assert_eq!(told, [("task".into(), None), status(false), ("artifact-update".into(), None), status(true)]);
    let rest = post(&mut world, "/a2a/rest/message:stream", &send_params("hi"));
    assert!(rest.is_stream() && rest.body.starts_with(r#"data: {"task":{"#), "{}", rest.body);
    let rest = post(
        &mut world,
        "/a2a/rest/v1/message:stream",
        r#"{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"x"}]}}"#,
    );
    assert!(rest.body.contains(r#""state":"TASK_STATE_COMPLETED""#) && rest.body.contains(r#""final":true"#), "{}", rest.body);
}

#[test]
fn an_immediate_send_is_answered_at_once() {
    let mut world = super::caller::function();
    let params =
        r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]},"configuration":{"returnImmediately":true}}"#;
    let task = result(&mut world, "SendMessage", params);
    assert_eq!(text(&task, "task.status.state"), "TASK_STATE_SUBMITTED");
    assert!(!text(&task, "task.contextId").is_empty());
    let old =
        r#"{"message":{"messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]},"configuration":{"blocking":false}}"#;
    assert_eq!(text(&result(&mut world, "message/send", old), "status.state"), "submitted");
    let blocking = call(&mut world, "SendMessage", &send_params("x"));
    assert!(!ended(&world, blocking));
}

#[test]
fn history_and_artifacts_are_shown_as_asked_for() {
    let mut world = echo();
    let task = result(&mut world, "SendMessage", &send_params("hi"));
    let id = text(&task, "task.id");
    let none = result(&mut world, "GetTask", &format!(r#"{{"id":"{id}","historyLength":0}}"#));
    assert!(none.get("history").is_none() && none.get("artifacts").is_some());
    let one = get(&mut world, &format!("/a2a/rest/tasks/{id}?historyLength=1"));
    assert_eq!(at(&value(&one.body), "history").as_array().unwrap().len(), 1);
    for wrong in [format!(r#"{{"id":"{id}","historyLength":-1}}"#), "{}".into(), "[]".into()] {
        assert_eq!(code(&mut world, "GetTask", &wrong), -32602, "{wrong}");
    }
    let params = r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]},"configuration":{"historyLength":0}}"#;
    assert!(result(&mut world, "SendMessage", params)["task"].get("history").is_none());
    let request = call(&mut world, "SendStreamingMessage", params);
    assert!(events(&world, request)[0]["task"].get("history").is_none(), "in a stream too");
    let one = params.replace(r#""historyLength":0"#, r#""historyLength":1"#);
    let request = call(&mut world, "SendStreamingMessage", &one);
    assert_eq!(at(&events(&world, request)[0], "task.history").as_array().unwrap().len(), 1);
}

#[test]
fn tasks_are_listed_in_pages_newest_first() {
    let mut world = echo();
    let mut ids = Vec::new();
    for words in ["one", "two", "three", "four", "five"] {
        world.pass(10);
        ids.push(text(&result(&mut world, "SendMessage", &send_params(words)), "task.id"));
    }
    ids.reverse();
    let (mut seen, mut token) = (Vec::new(), String::new());
    loop {
        let page = result(&mut world, "ListTasks", &format!(r#"{{"pageSize":2,"pageToken":"{token}"}}"#));
        assert_eq!(at(&page, "pageSize").as_u64(), Some(2));
        let tasks = at(&page, "tasks").as_array().unwrap();
        assert!(tasks.iter().all(|task| task.get("artifacts").is_none()), "artifacts are not asked for");
        seen.extend(tasks.iter().map(|task| text(task, "id")));
        token = text(&page, "nextPageToken");
        assert!(token.is_empty() || token.contains(seen.last().unwrap()), "it tells of no tasks but the caller's: {token}");
        if token.is_empty() {
            break;
        }
        // A task that comes later is on none of the pages that are left.
        world.pass(10);
        result(&mut world, "SendMessage", &send_params("later"));
    }
    assert_eq!(seen, ids);
    let page = get(&mut world, "/a2a/rest/tasks?pageSize=1&includeArtifacts=true&status=TASK_STATE_COMPLETED");
    assert!(at(&value(&page.body), "tasks.0.artifacts").is_array());
    assert_eq!(at(&result(&mut world, "ListTasks", r#"{"status":"TASK_STATE_WORKING"}"#), "tasks").as_array().unwrap().len(), 0);
    let since = r#"{"statusTimestampAfter":"2027-01-15T08:00:01Z"}"#;
    assert_eq!(at(&result(&mut world, "ListTasks", since), "tasks").as_array().unwrap().len(), 0);
    for wrong in [r#"{"pageSize":0}"#, r#"{"pageSize":101}"#, r#"{"pageToken":"x"}"#, r#"{"status":"no"}"#] {
        assert_eq!(code(&mut world, "ListTasks", wrong), -32602, "{wrong}");
    }
    assert_eq!(code(&mut world, "tasks/list", "{}"), -32601);
}

#[test]
fn unknown_tasks_are_not_found_and_ended_ones_stay() {
    let mut world = echo();
    let id = text(&result(&mut world, "SendMessage", &send_params("hi")), "task.id");
    for method in ["GetTask", "CancelTask", "SubscribeToTask", "tasks/get", "tasks/cancel"] {
        assert_eq!(code(&mut world, method, r#"{"id":"nope"}"#), -32001, "{method}");
    }
    for (params, code) in [(r#"{"id":"nope"}"#, -32001), ("{}", -32602)] {
        let request = call(&mut world, "tasks/resubscribe", params);
        let response = world.done(request);
        assert!(response.is_stream(), "a client of 0.3 reads nothing else: {response:?}");
        let event = value(response.body.strip_prefix("data: ").unwrap().trim_end());
        assert_eq!((at(&event, "id").as_u64(), at(&event, "error.code").as_i64()), (Some(7), Some(code)));
    }
    assert_eq!(code(&mut world, "CancelTask", &format!(r#"{{"id":"{id}"}}"#)), -32002);
    assert_eq!(code(&mut world, "SubscribeToTask", &format!(r#"{{"id":"{id}"}}"#)), -32004);
    assert_eq!(code(&mut world, "SendMessage", &format!(r#"{{"message":{}}}"#, super::caller::reply(&id, "more"))), -32004);
    assert_eq!(code(&mut world, "SendMessage", &format!(r#"{{"message":{}}}"#, super::caller::reply("nope", "more"))), -32001);
    let request = call(&mut world, "tasks/resubscribe", &format!(r#"{{"id":"{id}"}}"#));
    assert!(world.done(request).is_stream(), "a client of 0.3 gets the task and the end");
    assert_eq!(events(&world, request).len(), 1);
    let response = get(&mut world, "/a2a/rest/tasks/nope");
    assert_eq!(response.status, 404);
    assert_eq!(text(&value(&response.body), "error.details.0.reason"), "TASK_NOT_FOUND");
    let response = post(&mut world, &format!("/a2a/rest/tasks/{id}:cancel"), "");
    assert_eq!((response.status, text(&value(&response.body), "error.details.0.reason")), (400, "TASK_NOT_CANCELABLE".into()));
    let response = get(&mut world, "/a2a/rest/v1/tasks/nope");
    assert_eq!((response.status, at(&value(&response.body), "code").as_i64()), (404, Some(-32001)));
    assert_eq!(post(&mut world, &format!("/a2a/rest/v1/tasks/{id}:cancel"), "{}").status, 409);
}

#[test]
fn media_types_over_http_are_those_that_clients_know() {
    let mut world = echo();
    for (accept, wanted) in [("*/*", "application/json"), ("application/a2a+json, application/json", "application/a2a+json")] {
        let fields = [("Content-Type", "application/a2a+json"), ("Accept", accept), V10];
        let request = world.send("POST", "/a2a/rest/message:send", &fields, &send_params("hi"));
        assert_eq!(world.done(request).header("content-type"), Some(wanted));
    }
    let request = world.send("POST", "/a2a/rest/message:send", &[("Content-Type", "text/plain")], &send_params("hi"));
    let response = world.done(request);
    assert_eq!(
        (response.status, text(&value(&response.body), "error.details.0.reason")),
        (400, "CONTENT_TYPE_NOT_SUPPORTED".into())
    );
    let request = call_as(&mut world, &[("content-type", "text/plain")], "GetTask", "{}");
    assert_eq!(at(&answer_of(&world, request), "error.code").as_i64(), Some(-32602), "the first field counts");
}
