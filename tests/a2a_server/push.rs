//! Changes of tasks delivered to webhooks: in order, with credentials, until they are taken.

use narrows::io::{Cause, ExchangeId, Input, Request};

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
    assert!(world.gateway.poll_timeout().is_none(), "nothing is left to do");
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
fn a_dead_receiver_is_given_up() {
    let mut world = world();
    let (work, id) = begin(&mut world, "x");
    result(&mut world, "CreateTaskPushNotificationConfig", &format!(r#"{{"taskId":"{id}",{CONFIG}}}"#));
    state(&mut world, work, "WORKING");
    let mut tries = 0;
    while let Some((exchange, _)) = world.fetches.pop() {
        tries += 1;
        taken(&mut world, exchange, 503);
        if let Some(deadline) = world.gateway.poll_timeout() {
            world.pass(deadline.at.as_ms() - world.now);
        }
    }
    assert_eq!(tries, 9);
    state(&mut world, work, "COMPLETED");
    assert_eq!(kind(&delivery(&mut world).1), "statusUpdate COMPLETED", "a later change is a new attempt");
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
