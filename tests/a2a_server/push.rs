//! Changes of tasks delivered to webhooks: in order, with credentials, until they are taken.

use narrows::io::{Cause, ExchangeId, Input, Reason, Request};

use super::caller::{at, begin, chunk, code, get, post, result, state, text, value};
use super::world::World;

const CONFIG: &str =
    r#""url":"https://hook.test/in","token":"tok-12345","authentication":{"scheme":"Bearer","credentials":"cred-12345"}"#;

fn world() -> World {
    World::new(r#"{"a2a":{"responder":"function"}}"#)
}

/// The delivery that is on its way.
fn delivery(world: &mut World) -> (ExchangeId, Request) {
    world.fetches.pop().expect("a delivery is on its way")
}

fn taken(world: &mut World, exchange: ExchangeId, status: u16) {
    world.input(Input::Head { exchange, status, headers: vec![] });
    world.input(Input::End { exchange });
}

fn header<'r>(request: &'r Request, name: &str) -> &'r str {
    request.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
}

fn kind(request: &Request) -> String {
    let body = value(request.body.as_ref().unwrap());
    let (name, inner) = body.as_object().unwrap().iter().next().unwrap();
    format!("{name} {}", text(inner, "status.state").replace("TASK_STATE_", "")).trim().to_owned()
}

#[test]
fn configurations_are_kept_read_listed_and_deleted() {
    let mut world = world();
    let (_, id) = begin(&mut world, "x");
    let made = result(&mut world, "CreateTaskPushNotificationConfig", &format!(r#"{{"taskId":"{id}",{CONFIG}}}"#));
    let config = text(&made, "id");
    assert_eq!((text(&made, "taskId"), text(&made, "token"), config.is_empty()), (id.clone(), "tok-12345".into(), false));
    let one = format!(r#"{{"taskId":"{id}","id":"{config}"}}"#);
    assert_eq!(result(&mut world, "GetTaskPushNotificationConfig", &one), made);
    assert_eq!(result(&mut world, "ListTaskPushNotificationConfigs", &format!(r#"{{"taskId":"{id}"}}"#))["configs"][0], made);
    let place = format!("/a2a/rest/tasks/{id}/pushNotificationConfigs");
    assert_eq!(value(&get(&mut world, &format!("{place}/{config}")).body), made);
    assert_eq!(code(&mut world, "GetTaskPushNotificationConfig", &format!(r#"{{"taskId":"{id}","id":"nope"}}"#)), -32001);
    for _ in 0..2 {
        let request = world.send("DELETE", &format!("{place}/{config}"), &[], "");
        assert_eq!((world.done(request).status, world.done(request).body.as_str()), (204, ""), "deleting twice is fine");
    }
    assert_eq!(at(&value(&get(&mut world, &place).body), "configs").as_array().unwrap().len(), 0);
    let made = post(&mut world, &place, r#"{"id":"mine","url":"https://hook.test/"}"#);
    assert_eq!(text(&value(&made.body), "id"), "mine");
    // In 0.3 a configuration without an id is found by the task's.
    let old = format!(r#"{{"taskId":"{id}","pushNotificationConfig":{{"url":"https://hook.test/old"}}}}"#);
    let made = result(&mut world, "tasks/pushNotificationConfig/set", &old);
    assert_eq!(text(&made, "pushNotificationConfig.id"), id);
    let list = result(&mut world, "tasks/pushNotificationConfig/list", &format!(r#"{{"id":"{id}"}}"#));
    assert_eq!((list.as_array().unwrap().len(), text(&list, "0.pushNotificationConfig.id")), (2, "mine".into()));
    let read =
        result(&mut world, "tasks/pushNotificationConfig/get", &format!(r#"{{"id":"{id}","pushNotificationConfigId":"{id}"}}"#));
    assert_eq!(text(&read, "taskId"), id);
    assert!(
        result(
            &mut world,
            "tasks/pushNotificationConfig/delete",
            &format!(r#"{{"id":"{id}","pushNotificationConfigId":"mine"}}"#)
        )
        .is_null()
    );
}

#[test]
fn changes_are_delivered_one_after_the_other() {
    let mut world = world();
    let (work, id) = begin(&mut world, "x");
    result(&mut world, "CreateTaskPushNotificationConfig", &format!(r#"{{"taskId":"{id}",{CONFIG}}}"#));
    state(&mut world, work, "WORKING");
    chunk(&mut world, work, "a", false);
    state(&mut world, work, "COMPLETED");
    let mut kinds = Vec::new();
    while let Some((exchange, request)) = world.fetches.pop() {
        assert!(world.fetches.is_empty(), "one at a time");
        assert_eq!(
            (header(&request, "Authorization"), header(&request, "X-A2A-Notification-Token")),
            ("Bearer cred-12345", "tok-12345")
        );
        assert_eq!((header(&request, "Content-Type"), request.url.as_str()), ("application/a2a+json", "https://hook.test/in"));
        kinds.push(kind(&request));
        taken(&mut world, exchange, 202);
    }
    assert_eq!(kinds, ["statusUpdate WORKING", "artifactUpdate", "statusUpdate COMPLETED"]);
    let left = world.gateway.poll_timeout().map(|deadline| deadline.reason);
    assert_eq!(left, Some(Reason::TaskExpiry), "nothing is left to deliver");
}

#[test]
fn what_is_not_taken_is_tried_again_with_growing_waits() {
    let mut world = world();
    let (work, id) = begin(&mut world, "x");
    result(&mut world, "CreateTaskPushNotificationConfig", &format!(r#"{{"taskId":"{id}",{CONFIG}}}"#));
    state(&mut world, work, "WORKING");
    state(&mut world, work, "COMPLETED");
    for (round, wait_ms) in [1000, 2000, 4000, 8000].into_iter().enumerate() {
        let (exchange, request) = delivery(&mut world);
        assert_eq!(kind(&request), "statusUpdate WORKING", "the first change comes before the second");
        match round {
            0 => taken(&mut world, exchange, 500),
            1 => world.input(Input::Failed { exchange, cause: Cause::Refused, detail: String::new() }),
            2 => world.pass(30_000),
            _ => taken(&mut world, exchange, 429),
        }
        world.pass(wait_ms - 1);
        assert!(world.fetches.is_empty());
        world.pass(1);
    }
    let (exchange, request) = delivery(&mut world);
    assert_eq!(kind(&request), "statusUpdate WORKING");
    taken(&mut world, exchange, 200);
    let (exchange, request) = delivery(&mut world);
    assert_eq!(kind(&request), "statusUpdate COMPLETED");
    taken(&mut world, exchange, 200);
    assert!(world.fetches.is_empty());
}

#[test]
fn changes_wait_for_their_receiver_as_long_as_their_task_is_kept() {
    let mut world = world();
    let (work, id) = begin(&mut world, "x");
    result(&mut world, "CreateTaskPushNotificationConfig", &format!(r#"{{"taskId":"{id}",{CONFIG}}}"#));
    state(&mut world, work, "WORKING");
    state(&mut world, work, "COMPLETED");
    let (mut waits, mut tries) = (Vec::new(), 0);
    // Down for ten hours.
    while world.now < 10 * 3_600_000 {
        let (exchange, request) = delivery(&mut world);
        assert_eq!(kind(&request), "statusUpdate WORKING");
        taken(&mut world, exchange, 503);
        let deadline = world.gateway.poll_timeout().unwrap();
        waits.push(deadline.at.as_ms() - world.now);
        world.pass(deadline.at.as_ms() - world.now);
        tries += 1;
    }
    assert!(waits.is_sorted() && waits[0] == 1000 && *waits.last().unwrap() == 900_000, "{waits:?}");
    assert!(tries < 60, "{tries}");
    let mut kinds = Vec::new();
    while let Some((exchange, request)) = world.fetches.pop() {
        kinds.push(kind(&request));
        taken(&mut world, exchange, 200);
    }
    assert_eq!(kinds, ["statusUpdate WORKING", "statusUpdate COMPLETED"]);
}

#[test]
fn what_was_not_delivered_is_forgotten_with_its_task() {
    let mut world = world();
    let (work, id) = begin(&mut world, "x");
    result(&mut world, "CreateTaskPushNotificationConfig", &format!(r#"{{"taskId":"{id}",{CONFIG}}}"#));
    state(&mut world, work, "COMPLETED");
    let mut tries = 0;
    while let Some(deadline) = world.gateway.poll_timeout() {
        if let Some((exchange, _)) = world.fetches.pop() {
            taken(&mut world, exchange, 503);
            tries += 1;
        } else {
            world.pass(deadline.at.as_ms().saturating_sub(world.now));
        }
        assert!(tries < 200);
    }
    assert!(tries > 90 && world.now < 25 * 3_600_000, "{tries} until {}", world.now);
}

#[test]
fn nothing_is_lost_by_size() {
    let large = "y".repeat(9 << 20);
    for old in [false, true] {
        let mut world = world();
        world.checks = false;
        let (work, id) = begin(&mut world, "x");
        if old {
            let config = format!(r#"{{"taskId":"{id}","pushNotificationConfig":{{"url":"https://hook.test/"}}}}"#);
            result(&mut world, "tasks/pushNotificationConfig/set", &config);
        } else {
            result(&mut world, "CreateTaskPushNotificationConfig", &format!(r#"{{"taskId":"{id}",{CONFIG}}}"#));
        }
        state(&mut world, work, "WORKING");
        chunk(&mut world, work, &large, false);
        state(&mut world, work, "COMPLETED");
        let (first, _) = delivery(&mut world);
        taken(&mut world, first, 200);
        // What stands for all of them is said again as it was.
        let (second, told) = delivery(&mut world);
        taken(&mut world, second, 500);
        world.pass(1000);
        let (third, again) = delivery(&mut world);
        assert!(again.body == told.body);
        taken(&mut world, third, 200);
        assert!(world.fetches.is_empty());
        let whole = value(&again.body.unwrap());
        let task = if old { whole } else { whole["task"].clone() };
        assert!(text(&task, "status.state").to_lowercase().contains("completed"), "old: {old}");
        assert_eq!(text(&task, "artifacts.0.parts.0.text").len(), 9 << 20, "old: {old}");
    }
}

#[test]
fn a_receiver_of_0_3_gets_the_task_as_it_was_at_each_change() {
    let mut world = World::new(r#"{"a2a":{"responder":"echo"}}"#);
    let params = r#"{"message":{"messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]},"configuration":{"blocking":false,"pushNotificationConfig":{"url":"https://hook.test/"}}}"#;
    result(&mut world, "message/send", params);
    let mut told = Vec::new();
    while let Some((exchange, request)) = world.fetches.pop() {
        let body = value(request.body.as_ref().unwrap());
        told.push((text(&body, "status.state"), at(&body, "artifacts").as_array().map_or(0, Vec::len)));
        taken(&mut world, exchange, 200);
    }
    let told: Vec<_> = told.iter().map(|(state, artifacts)| (state.as_str(), *artifacts)).collect();
    assert_eq!(told, [("submitted", 0), ("working", 0), ("working", 1), ("completed", 1)]);
}

#[test]
fn what_a_caller_chose_for_itself_redacts_nothing() {
    let mut world = world();
    world.gateway.set_trace(true);
    let (_, other) = begin(&mut world, "another");
    let (work, id) = begin(&mut world, "x");
    for token in ["TASK_STATE_SUBMITTED", other.as_str(), "messageId-messageId", "another"] {
        let params = format!(r#"{{"taskId":"{id}","url":"https://hook.test/","token":"{token}"}}"#);
        result(&mut world, "CreateTaskPushNotificationConfig", &params);
    }
    let read = result(&mut world, "GetTask", &format!(r#"{{"id":"{other}"}}"#));
    assert_eq!((text(&read, "id"), text(&read, "status.state")), (other, "TASK_STATE_SUBMITTED".into()));
    assert_eq!(text(&read, "history.0.parts.0.text"), "another");
    state(&mut world, work, "WORKING");
    assert_eq!(header(&delivery(&mut world).1, "X-A2A-Notification-Token"), "another");
    let trace: String = std::iter::from_fn(|| world.gateway.poll_trace()).collect();
    assert!(!trace.contains("messageId-messageId"), "but no trace tells it");
}

#[test]
fn a_configuration_is_named_exactly() {
    let mut world = world();
    let (work, id) = begin(&mut world, "x");
    let create = |number: usize| format!(r#"{{"taskId":"{id}","id":"c{number}","url":"https://hook.test/{number}"}}"#);
    for number in 0..16 {
        result(&mut world, "CreateTaskPushNotificationConfig", &create(number));
    }
    let count = |world: &mut World| {
        let list = result(world, "ListTaskPushNotificationConfigs", &format!(r#"{{"taskId":"{id}"}}"#));
        at(&list, "configs").as_array().unwrap().len()
    };
    for method in ["GetTaskPushNotificationConfig", "DeleteTaskPushNotificationConfig"] {
        assert_eq!(code(&mut world, method, &format!(r#"{{"taskId":"{id}"}}"#)), -32602, "{method}");
    }
    let old = format!(r#"{{"id":"{id}"}}"#);
    assert_eq!(code(&mut world, "tasks/pushNotificationConfig/delete", &old), -32602);
    assert_eq!(code(&mut world, "tasks/pushNotificationConfig/get", &old), -32001, "which of them is not said");
    let request = world.send("DELETE", &format!("/a2a/rest/tasks/{id}/pushNotificationConfigs/{id}"), &[], "");
    assert_eq!((world.done(request).status, count(&mut world)), (204, 16));
    // One too many is refused, a known one replaced.
    assert_eq!(code(&mut world, "CreateTaskPushNotificationConfig", &create(16)), -32000);
    let send = format!(
        r#"{{"message":{},"configuration":{{"taskPushNotificationConfig":{{"url":"https://hook.test/"}}}}}}"#,
        super::caller::reply(&id, "more")
    );
    let works = world.works.len();
    assert_eq!((code(&mut world, "SendMessage", &send), world.works.len()), (-32000, works));
    result(&mut world, "CreateTaskPushNotificationConfig", &create(3).replace("hook.test/3", "hook.test/new"));
    assert_eq!(count(&mut world), 16);
    for number in 1..16 {
        let one = format!(r#"{{"taskId":"{id}","id":"c{number}"}}"#);
        result(&mut world, "DeleteTaskPushNotificationConfig", &one);
    }
    assert_eq!(text(&result(&mut world, "tasks/pushNotificationConfig/get", &old), "pushNotificationConfig.id"), "c0");
    // What waits for a place goes to the one that takes its place.
    state(&mut world, work, "WORKING");
    state(&mut world, work, "COMPLETED");
    let (first, _) = delivery(&mut world);
    result(&mut world, "CreateTaskPushNotificationConfig", &create(0).replace("hook.test/0", "hook.test/moved"));
    assert_eq!(world.aborts, [first]);
    let mut kinds = Vec::new();
    while let Some((exchange, request)) = world.fetches.pop() {
        assert_eq!(request.url, "https://hook.test/moved");
        kinds.push(kind(&request));
        taken(&mut world, exchange, 200);
    }
    assert_eq!(kinds, ["statusUpdate WORKING", "statusUpdate COMPLETED"]);
    let long = format!(r#"{{"taskId":"{id}","url":"https://hook.test/","token":"{}"}}"#, "t".repeat(9000));
    let with = |authentication: &str| create(0).replace(r#""url""#, &format!(r#""authentication":{authentication},"url""#));
    for wrong in [&long, &with(r#"{"scheme":"Bad Scheme"}"#), &with(r#""x""#), &with(r#"{"scheme":5}"#)] {
        assert_eq!(code(&mut world, "CreateTaskPushNotificationConfig", wrong), -32602);
    }
}

#[test]
fn a_receiver_of_0_3_gets_the_task() {
    let mut world = world();
    let params = r#"{"message":{"messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]},"configuration":{"blocking":false,"pushNotificationConfig":{"url":"https://hook.test/","token":"tok-12345"}}}"#;
    let task = result(&mut world, "message/send", params);
    let (exchange, request) = delivery(&mut world);
    let body = value(request.body.as_ref().unwrap());
    assert_eq!(
        (text(&body, "kind"), text(&body, "id"), text(&body, "status.state")),
        ("task".into(), text(&task, "id"), "submitted".into())
    );
    assert_eq!((header(&request, "Content-Type"), header(&request, "Authorization")), ("application/json", ""));
    taken(&mut world, exchange, 200);
}

#[test]
fn a_deleted_configuration_gets_nothing_more() {
    let mut world = world();
    let (work, id) = begin(&mut world, "x");
    let made = result(&mut world, "CreateTaskPushNotificationConfig", &format!(r#"{{"taskId":"{id}",{CONFIG}}}"#));
    state(&mut world, work, "WORKING");
    let (exchange, _) = delivery(&mut world);
    result(&mut world, "DeleteTaskPushNotificationConfig", &format!(r#"{{"taskId":"{id}","id":"{}"}}"#, text(&made, "id")));
    assert_eq!(world.aborts, [exchange]);
    state(&mut world, work, "COMPLETED");
    assert!(world.fetches.is_empty());
}

#[test]
fn addresses_are_checked() {
    for (network, url, refused) in [
        ("true", "http://127.0.0.1:9/hook", false),
        ("false", "http://127.0.0.1:9/hook", true),
        ("false", "http://0x7f000001/", true),
        ("false", "http://100.64.1.1/", true),
        ("false", "http://[::ffff:10.0.0.1]/", true),
        ("false", "https://hook.test/", false),
        ("true", "http://169.254.169.254/latest", true),
        ("true", "ftp://hook.test/", true),
        ("true", "https://user:pass@hook.test/", true),
    ] {
        let mut world = World::new(&format!(r#"{{"a2a":{{"responder":"function"}},"network":{{"allow_private":{network}}}}}"#));
        let (_, id) = begin(&mut world, "x");
        let params = format!(r#"{{"taskId":"{id}","url":"{url}"}}"#);
        let code = code(&mut world, "CreateTaskPushNotificationConfig", &params);
        assert_eq!(code, if refused { -32602 } else { 0 }, "{url}");
        let send = format!(
            r#"{{"message":{},"configuration":{{"taskPushNotificationConfig":{{"url":"{url}"}},"returnImmediately":true}}}}"#,
            super::caller::message("x")
        );
        assert_eq!(super::caller::code(&mut world, "SendMessage", &send), if refused { -32602 } else { 0 }, "{url}");
    }
}
